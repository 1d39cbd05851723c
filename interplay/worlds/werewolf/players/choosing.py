"""Kernels that draw names and words of scripted players from the masks (specification 11).

A draw depends only on the policy's seed in this world, the episode, the step and the seat, not on the batch or other players.
Joint draws of a pack or village use `TOGETHER` in place of the seat.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, random_bits, wrapping

TOGETHER = 512  # in place of the seat in joint draws; above every seat number
AT_RANDOM, BY_RULE, WORDS = 0, 600, 900  # first draw of a seat in a step: random, names, words by rule

_STEP, _SEAT = np.uint64(20), np.uint64(10)
_FRACTION, _SPARE = np.uint64(48), np.uint64(16)
_LOW = np.uint64((1 << 48) - 1)
_MOST = np.uint64(1 << 24)  # choices into which one draw is split, so that each is uniform up to 2**-24
_ONE = np.uint64(1)


class Stream(NamedTuple):
    """State of the random draws."""

    seed: np.ndarray  # (W,) uint64
    episode: np.ndarray  # (W,) uint64
    step: np.ndarray  # (W,) uint64


class Heads(NamedTuple):
    """The layout of an action and its mask."""

    players: int  # n; as a name: pass
    names: int  # b
    symbols: np.ndarray  # (L,) uint64, choices at each place of the word
    legal: np.ndarray  # (n + 1,) uint64, a working array


@wrapping
def begin(stream, w, a, k):
    """The start of a world's counter, and the number of a seat's k-th draw in this step."""
    number = (stream.step[w] << _STEP) | (np.uint64(a) << _SEAT) | np.uint64(k)
    return episode_start(stream.seed[w], stream.episode[w]), number


@wrapping
def split(start, number, fraction, room, bound):
    """Draws a number below `bound` from what is left of the last draw, or from the next one.

    Args:
        start: of the counter.
        number: of the next draw.
        fraction: 48 bits left of the last draw.
        room: product of the bounds taken from it so far.
        bound: uint64, at most 2**15.

    Returns:
        The number drawn, and the new `number`, `fraction` and `room`.
    """
    room *= bound
    if room > _MOST:
        fraction = random_bits(start, number) >> _SPARE
        number += _ONE
        room = bound
    scaled = fraction * bound
    return scaled >> _FRACTION, number, scaled & _LOW, room


@phase
def list_legal(mask, heads, w, a):
    """Writes the legal names, including pass, into `heads.legal` in ascending order; returns how many."""
    count = 0
    for j in range(heads.players + 1):
        heads.legal[count] = np.uint64(j)
        count += mask[w, a, j]
    return count


@kernel
def play_at_random(mask, acting, heads, stream, action):
    """Draws all names and symbols of acting seats, uniformly among the legal ones.

    Args:
        mask: (W, A, choices) bool; symbols are all legal or only 0 is.
        acting: (W, A) bool; other rows are unchanged.
        action: (W, A, b + L) int16, written.
    """
    names, length = heads.names, heads.symbols.shape[0]
    for w in range(action.shape[0]):
        for a in range(action.shape[1]):
            if not acting[w, a]:
                continue
            start, number = begin(stream, w, a, AT_RANDOM)
            fraction, room = np.uint64(0), _MOST
            legal = np.uint64(list_legal(mask, heads, w, a))
            for slot in range(names):
                pick, number, fraction, room = split(start, number, fraction, room, legal)
                action[w, a, slot] = heads.legal[pick]
            column = names * (heads.players + 1)
            for place in range(length):
                count = heads.symbols[place]
                column += np.int64(count)
                bound = count if mask[w, a, column - 1] else _ONE
                pick, number, fraction, room = split(start, number, fraction, room, bound)
                action[w, a, names + place] = pick


@phase
def list_wanted(mask, heads, wanted, w, a):
    """As `list_legal` for legal wanted names; if there are none, all legal names but pass."""
    count = 0
    for j in range(heads.players):
        heads.legal[count] = np.uint64(j)
        count += mask[w, a, j] and wanted[w, a, j]
    if count == 0:
        for j in range(heads.players):
            heads.legal[count] = np.uint64(j)
            count += mask[w, a, j]
        return count, False
    return count, True


@kernel
def name_among(mask, led, wanted, whole, together, heads, stream, action):
    """Draws the names of rule-led seats, uniformly among the legal names that the rule wants.

    If none of these is legal, each seat draws any legal name; if only pass is legal, nothing changes.

    Args:
        mask: (W, A, choices) bool.
        led: (W, A) bool, seats led by the rule.
        wanted: (W, A, A) bool.
        whole: one name fills the ballot, instead of a draw for each name on it.
        together: all led seats of a world share their draws.
        action: (W, A, b + L) int16, written.
    """
    for w in range(action.shape[0]):
        for a in range(action.shape[1]):
            if not led[w, a]:
                continue
            count, found = list_wanted(mask, heads, wanted, w, a)
            if count == 0:
                continue
            start, number = begin(stream, w, TOGETHER if together and found else a, BY_RULE)
            fraction, room = np.uint64(0), _MOST
            name = np.uint64(0)
            for slot in range(heads.names):
                if slot == 0 or not whole:
                    pick, number, fraction, room = split(start, number, fraction, room, np.uint64(count))
                    name = heads.legal[pick]
                action[w, a, slot] = name
