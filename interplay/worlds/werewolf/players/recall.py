"""Kernels for the memory of scripted players: their pack, and replaced public boards."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.state import NONE


class Boards(NamedTuple):
    """Public boards of each world."""

    targets: np.ndarray  # (W, A, b) int16, the last one; -1 = no entry
    words: np.ndarray  # (W, A, L) int16
    talk_targets: np.ndarray  # (W, A, b) int16, the last one of a public talk
    talk_words: np.ndarray  # (W, A, L) int16
    seen: np.ndarray  # (W,) bool, whether there was one


@kernel
def learn_pack(mask, sees, alive, members):
    """Adds the living seats that a pack member may not name to its pack.

    Args:
        mask: (W, A, choices) bool.
        sees: (W, A) bool, seats with a mask that reveals the pack.
        alive: (W, A, A) 0 or 1.
        members: (W, A, A) bool, written.
    """
    n = members.shape[1]
    for w in range(members.shape[0]):
        for a in range(n):
            for j in range(n if sees[w, a] else 0):
                if alive[w, a, j] and not mask[w, a, j]:
                    members[w, a, j] = True


@kernel
def keep_boards(targets, words, which, talks, boards):
    """Copies the shown boards into `Boards`.

    Args:
        targets: (W, A, b) int16.
        words: (W, A, L) int16.
        which: (W,) bool, worlds with a public board.
        talks: (W,) bool, whether it is a talk's.
    """
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        boards.seen[w] = True
        copy_board(targets[w], boards.targets[w])
        copy_board(words[w], boards.words[w])
        if talks[w]:
            copy_board(targets[w], boards.talk_targets[w])
            copy_board(words[w], boards.talk_words[w])


@kernel
def clear_boards(which, boards):
    """Clears the boards of some worlds."""
    for w in range(which.shape[0]):
        if which[w]:
            boards.seen[w] = False
            boards.targets[w] = NONE
            boards.words[w] = NONE
            boards.talk_targets[w] = NONE
            boards.talk_words[w] = NONE


@phase
def copy_board(shown, kept):
    for i in range(kept.shape[0]):
        for k in range(kept.shape[1]):
            kept[i, k] = shown[i, k]
