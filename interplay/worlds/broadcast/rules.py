"""Messages: reception and averaging. Source: manual 6.2.3, specification 9.5.

Axes: W worlds, A agents. A step's broadcasts are first marked, then `average` reads all messages as they were sent.
"""

import numpy as np

from interplay.core.jit import kernel
from interplay.gridworld.rules.attacks import gather
from interplay.kernels.philox import uniform


@kernel
def begin_messages(stream, which, initial, message, heard, received):
    """Sets the messages of the worlds in ``which``, given or drawn from -1..1, and clears receptions.

    Args:
        which: (W,) bool.
        initial: (A,) float64; NaN = drawn, infinite = no broadcaster.
        message: (W, A) float64, written; so are heard (W, A, A) uint8 and received (W, A, A) float64.
    """
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        for a in range(message.shape[1]):
            message[w, a] = 0.0
            if np.isnan(initial[a]):
                message[w, a] = 2.0 * uniform(stream[w, 0], stream[w, 1], stream[w, 2]) - 1.0
                stream[w, 2] += np.uint64(1)
            elif np.isfinite(initial[a]):
                message[w, a] = initial[a]
            for other in range(message.shape[1]):
                heard[w, a, other] = 0
                received[w, a, other] = 0.0


@kernel
def broadcast(agents, cells, mapping, stream, w, a, reach, found):
    """Performs one broadcast; returns the number of receivers, listed in ``found`` (A,) int32.

    Args:
        mapping: (E + 1, E + 1) bool, sender's x receiver's encoding.
        reach: cells in each direction.
    """
    stream[w, 2] += np.uint64(1)  # each broadcast has its own draw
    return gather(agents, cells, mapping, w, a, reach, found)


@kernel
def broadcast_all(
    agents,
    cells,
    mapping,
    stream,
    order,
    count,
    codes,
    senders,
    reaches,
    found,
    heard,
    attempted,
    num_hits,
    hits,
    lo,
    hi,
):
    """The broadcasts of all acting agents in the worlds lo..hi-1, in their order.

    Args:
        order, count: (W, A), (W,) acting slots, and how many.
        codes: (W, A, 1) int32, 1 = broadcast.
        senders: (A,) bool; reaches: (A,) int32.
        found: (A,) int32, scratch of this thread.
        heard: (W, A, A) uint8, marked: receiver, sender.
        attempted: (W, A) uint8, num_hits (W, A) int32 and hits (W, A, A) int32, written.
    """
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            attempted[w, a] = 0
            num_hits[w, a] = 0
        for i in range(count[w]):
            a = order[w, i]
            if not senders[a] or not agents[w, a].active:
                continue
            stream[w, 2] += np.uint64(1)
            if codes[w, a, 0] == 0:
                continue
            number = gather(agents, cells, mapping, w, a, reaches[a], found)
            attempted[w, a] = 1
            num_hits[w, a] = number
            for k in range(number):
                hits[w, a, k] = found[k]
                heard[w, found[k], a] = 1


@kernel
def average(acted, listeners, message, heard, received, lo, hi):
    """Sets each message to the mean of itself and those heard, in the worlds lo..hi-1.

    Args:
        acted: (W,) int64; worlds with 0 are skipped.
        listeners: (A,) bool, agents with messages.
        message, heard: as in `begin_messages`; heard is cleared.
        received: (W, A, A) float64, written: receiver, sender; 0 = nothing. The diagonal is scratch and ends at 0.
    """
    for w in range(lo, hi):
        if acted[w] == 0:
            continue
        for a in range(message.shape[1]):
            if not listeners[a]:
                continue
            total, number = message[w, a], 1
            for other in range(message.shape[1]):
                received[w, a, other] = 0.0
                if heard[w, a, other]:
                    received[w, a, other] = message[w, other]
                    total += message[w, other]
                    number += 1
                    heard[w, a, other] = 0
            received[w, a, a] = total / number  # kept aside: other agents still read the old message
        for a in range(message.shape[1]):
            if listeners[a]:
                message[w, a] = min(max(received[w, a, a], -1.0), 1.0)
                received[w, a, a] = 0.0


@kernel
def evaluate_consensus(message, talkers, tolerance, done, over, lo, hi):
    """Marks agents near the mean message in ``done`` (W, A), worlds where all are in ``over`` (W,); uint8."""
    for w in range(lo, hi):
        total, number = 0.0, 0
        for a in range(message.shape[1]):
            if talkers[a]:
                total += message[w, a]
                number += 1
        agreed = 0
        for a in range(message.shape[1]):
            if talkers[a] and abs(message[w, a] - total / number) <= tolerance:
                done[w, a] = 1
                agreed += 1
        if agreed == number:
            over[w] = 1
