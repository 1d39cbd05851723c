"""The random streams of a game: each a function of (seed of the world, episode, stream, number of the draw) alone.

So a tie never shifts what is dealt, an illegal choice never shifts a tie, and a world's game is the same in every batch. The
number of a draw is made of the step, or of the step and the seat.
"""

import numpy as np

from interplay.kernels.splitmix import episode_start, wrapping

DEAL, TIES, ILLEGAL, ARMS = range(1, 5)

_APART = np.uint64(0xD1B54A32D192ED03)


@wrapping
def start(seed, episode, stream):
    """Where a stream's counter starts."""
    return episode_start(seed ^ (np.uint64(stream) * _APART), episode)
