"""The random streams of a game, functions of world's seed, episode, stream and draw number.

So ties, deals and illegal choices never shift each other, and a world's game is the same in every batch. A draw's number is made of
the step, or of the step and the seat.
"""

import numpy as np

from interplay.kernels.splitmix import episode_start, wrapping

DEAL, TIES, ILLEGAL, ARMS = range(1, 5)

_APART = np.uint64(0xD1B54A32D192ED03)


@wrapping
def start(seed, episode, stream):
    """The start of a stream's counter."""
    return episode_start(seed ^ (np.uint64(stream) * _APART), episode)
