"""How scripted players choose: kernels that draw names and words from the masks (specification 11).

Draws are a function of (seed of the policy in this world, episode, step, seat) alone, so what a player does depends neither on
the batch nor on who else is asked. What the whole pack, or the whole village, draws together has a number in the seats' place.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, random_bits, wrapping

TOGETHER = 512  # stands for a seat in what several players draw as one; seats are fewer
AT_RANDOM, BY_RULE, WORDS = (
    0,
    600,
    900,
)  # where a seat's draws of a step begin: at random, names and words by rule

_STEP, _SEAT = np.uint64(20), np.uint64(10)
_FRACTION, _SPARE = np.uint64(48), np.uint64(16)
_LOW = np.uint64((1 << 48) - 1)
_MOST = np.uint64(1 << 24)  # choices that one draw may be split into: each is uniform but for 2**-24
_ONE = np.uint64(1)


class Stream(NamedTuple):
    """Where draws come from."""

    seed: np.ndarray  # (W,) uint64
    episode: np.ndarray  # (W,) uint64
    step: np.ndarray  # (W,) uint64


class Heads(NamedTuple):
    """The form of an action and of its mask."""

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
    """Takes a number below `bound` (uint64) out of a draw of which a 48-bit fraction is left, or out of the next draw.

    Args:
        start: of the counter.
        number: of the next draw.
        fraction: what is left of the last one.
        room: product of the bounds that it was split by.
        bound: at most 2**15.

    Returns:
        The number taken, and `number`, `fraction` and `room` of who goes on.
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
    """Writes the legal names (pass among them) into `heads.legal`, in ascending order; returns how many."""
    count = 0
    for j in range(heads.players + 1):
        heads.legal[count] = np.uint64(j)
        count += mask[w, a, j]
    return count


@kernel
def play_at_random(mask, acting, heads, stream, action):
    """Draws all names and symbols of all who act, uniformly among the legal ones.

    Args:
        mask: (W, A, choices) bool; symbols are all legal or only 0 is.
        acting: (W, A) bool; other rows stay as they are.
        heads: `Heads`.
        stream: `Stream`.
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
    """As `list_legal` for the names that a rule wants; all but pass, where none of those is legal."""
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
    """Draws the names of those whom a rule leads, uniformly among the legal ones that it wants.

    Where none of these is legal any legal name is drawn, by each on its own; where only pass is, nothing changes.

    Args:
        mask: (W, A, choices) bool.
        led: (W, A) bool.
        wanted: (W, A, A) bool.
        whole: one name fills the ballot, instead of a draw for each name on it.
        together: all who are led in a world share their draws.
        heads: `Heads`.
        stream: `Stream`.
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
