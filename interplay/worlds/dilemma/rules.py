"""The rules: both move at the same time, are paid, and the game ends after so many rounds or by chance.

Phases act on the worlds in a mask and write; helpers answer. Plain NumPy over the whole batch: where speed matters, phases are
kernels over one world instead (`interplay.core.jit`, read `interplay/worlds/survival/rules/`).
"""

from __future__ import annotations

import numpy as np

from interplay.core import seeding
from interplay.core.world import Outputs
from interplay.kernels.philox import draw_uniform
from interplay.worlds.dilemma.config import DilemmaSettings
from interplay.worlds.dilemma.state import COOPERATE, NONE, DilemmaState


def begin_episodes(state: DilemmaState, which: np.ndarray, seeds: np.ndarray | None) -> None:
    """Sets everything of the worlds in `which` (W,), and nothing of the others."""
    seeding.begin_episode(state.stream, which, seeds)
    state.rounds[which] = 0
    state.cooperations[which] = 0
    state.last[which] = NONE


def step(state: DilemmaState, outputs: Outputs, settings: DilemmaSettings, action: np.ndarray) -> None:
    """One round in every world that is not over; those stand still. The outputs come cleared."""
    going = ~outputs.over
    pay(outputs, settings, action, going)
    remember_moves(state, action, going)
    end_games(state, outputs, settings, going)


def pay(outputs: Outputs, settings: DilemmaSettings, action: np.ndarray, going: np.ndarray) -> None:
    """Each is paid for its own move against the other's."""
    paid = payoffs(settings)[action, action[:, ::-1]]
    outputs.reward[going] = paid[going]


def remember_moves(state: DilemmaState, action: np.ndarray, going: np.ndarray) -> None:
    """What both will see, and what the metrics count."""
    state.last[going] = action[going]
    state.cooperations[going] += action[going] == COOPERATE
    state.rounds[going] += 1


def end_games(state: DilemmaState, outputs: Outputs, settings: DilemmaSettings, going: np.ndarray) -> None:
    """A game of fixed length terminates with it; one that ends by chance terminates so, or is cut at its longest."""
    last = going & (state.rounds == settings.rounds)
    ended, cut = last, np.zeros_like(last)
    if settings.ending > 0:
        ended = np.zeros_like(last)
        ended[going] = draw_uniform(state.stream, going, 1)[:, 0] < settings.ending
        cut = last & ~ended
    outputs.terminated[ended] = True
    outputs.truncated[cut] = True
    outputs.over[ended | cut] = True
    outputs.acting[outputs.over] = False


def payoffs(settings: DilemmaSettings) -> np.ndarray:
    """(2, 2): own move, the other's move -> reward.

    Example:
        >>> payoffs(DilemmaSettings()).tolist()
        [[3.0, 0.0], [5.0, 1.0]]
    """
    return np.array([[settings.reward, settings.sucker], [settings.temptation, settings.punishment]])
