"""A scripted player's knowledge beside its observation: its pack, and earlier public boards.

If the world hides roles and the pack (``obs.role``, ``obs.pack``), they are inferred from the player's own mask: in a phase of the pack,
the living players that it may not name are the pack, itself included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import LAST_SHOT, phase_names
from interplay.worlds.werewolf.roles import WEREWOLF
from interplay.worlds.werewolf.state import NONE

# Kinds of phases for rules.
OTHER, PUBLIC_TALK, PACK_TALK, KILL, EXECUTION, SHOT = range(6)


def kinds_of_phases(settings: WerewolfSettings) -> np.ndarray:
    """The kind of each phase by its number: (P,) uint8."""
    names = phase_names(settings.rows)
    kinds = np.full(len(names), OTHER, np.uint8)
    kinds[LAST_SHOT] = SHOT
    for row in settings.table:
        talk = PUBLIC_TALK if row.audience == "public" else PACK_TALK
        kinds[names.index(row.name)] = {"kill": KILL, "execution": EXECUTION}.get(row.resolver, talk)
    return kinds


def public_phases(settings: WerewolfSettings) -> np.ndarray:
    """Whether each phase, by number, has a public board: (P,) bool."""
    names = phase_names(settings.rows)
    public = np.zeros(len(names), bool)
    for row in settings.table:
        public[names.index(row.name)] = row.audience == "public"
    return public


def phases_of_the_pack(settings: WerewolfSettings, roles_known: bool) -> np.ndarray:
    """The phases, by number, in which a player's mask reveals the pack: (P,) bool.

    Unless `roles_known`, only phases count in which only wolves act.
    """
    names = phase_names(settings.rows)
    telling = np.zeros(len(names), bool)
    for row in settings.table:
        wolf = row.actors.get("werewolf", row.actors.get("all"))
        actions = {wolf} if roles_known else set(row.actors.values())
        telling[names.index(row.name)] = actions <= {"speak_in_pack", "attack"}
    return telling


class Pack:
    """The known packs of a batch.

    Attributes:
        members: (W, A, A) bool, the pack as known to each seat; else empty.
        wolf: (W, A) bool, seats that know to be wolves.
    """

    def __init__(self, settings: WerewolfSettings, num_worlds: int) -> None:
        n = settings.n_players
        self._telling = phases_of_the_pack(settings, settings.obs.role)
        self.members = np.zeros((num_worlds, n, n), bool)
        self.wolf = np.zeros((num_worlds, n), bool)

    def forget(self, which: np.ndarray) -> None:
        """Clears the restarted worlds, (W,) bool."""
        self.members[which] = False
        self.wolf[which] = False

    def look(self, seen: Mapping[str, np.ndarray], mask: np.ndarray, acting: np.ndarray) -> None:
        """Reads a time step."""
        if "pack" in seen:
            np.not_equal(seen["pack"], 0, out=self.members)
        else:
            sees = acting & self._telling[seen["phase"]]
            if "role" in seen:
                sees &= seen["role"] == WEREWOLF
            learn_pack(mask, sees, seen["status_map"], self.members)
        if "role" in seen:
            np.equal(seen["role"], WEREWOLF, out=self.wolf)
        else:
            self.members.any(axis=-1, out=self.wolf)


class Memory:
    """The public boards, kept after the next phase replaces them, for every form of board.

    Attributes:
        boards: `Boards`.
        before: (W,) int16, the next phase at the last update; -1 after a restart.
        pack_spoke: (W,) bool, whether the newest board is the pack's.
    """

    def __init__(self, settings: WerewolfSettings, num_worlds: int) -> None:
        n, b, length = settings.n_players, settings.names, settings.word_length
        self._kinds = kinds_of_phases(settings)
        self._public = public_phases(settings)
        self._no_words = np.zeros((num_worlds, n, 0), np.int16)
        self.boards = Boards(
            targets=np.full((num_worlds, n, b), NONE, np.int16),
            words=np.full((num_worlds, n, length), NONE, np.int16),
            talk_targets=np.full((num_worlds, n, b), NONE, np.int16),
            talk_words=np.full((num_worlds, n, length), NONE, np.int16),
            seen=np.zeros(num_worlds, bool),
        )
        self.before = np.full(num_worlds, NONE, np.int16)
        self.pack_spoke = np.zeros(num_worlds, bool)

    def forget(self, which: np.ndarray) -> None:
        """Clears the restarted worlds, (W,) bool."""
        clear_boards(which, self.boards)
        self.before[which] = NONE
        self.pack_spoke[which] = False

    def look(self, seen: Mapping[str, np.ndarray]) -> None:
        """Reads a time step; it must be called for each."""
        split = "public_phase" in seen
        number = seen["public_phase"][:, 0] if split else self.before
        public = (number != NONE) & self._public[number]
        talks = public & (self._kinds[number] == PUBLIC_TALK)
        targets = by_name(seen["public_targets" if split else "targets"][:, 0], 2)
        words = self._words(seen, ("public_signals", "public_claims") if split else ("signal", "claims"))
        keep_boards(targets, words, public, talks, self.boards)
        ended = self.before != NONE
        ended &= np.isin(self._kinds[self.before], (PUBLIC_TALK, PACK_TALK, KILL, EXECUTION))
        self.pack_spoke[ended] = ~self._public[self.before[ended]]
        self.before[:] = seen["phase"][:, 0]

    def _words(self, seen: Mapping[str, np.ndarray], fields: tuple[str, str]) -> np.ndarray:
        parts = [seen[field][:, 0] for field in fields if field in seen]
        if len(parts) > 1:
            return np.concatenate(parts, axis=-1)
        return parts[0] if parts else self._no_words


def by_name(board: np.ndarray, axis: int) -> np.ndarray:
    """Adds the axis for the names of a ballot, which observations omit for one name."""
    return board if board.ndim > axis else board[..., None]


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
