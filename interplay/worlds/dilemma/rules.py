"""The state and the rules: both move at once and are paid; the game ends after some rounds, or by chance.

Axes: W worlds, A = 2 agents.

Phases act on the worlds in a mask. This is plain NumPy over the batch; fast worlds write phases as kernels over one world
(`interplay.core.jit`; see `interplay/worlds/survival/rules/`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.world import Outputs
from interplay.kernels.philox import draw_uniform
from interplay.worlds.dilemma.config import DilemmaSettings

AGENTS = 2
COOPERATE, DEFECT = range(2)  # actions
NONE = -1  # no move yet


class DilemmaState(NamedTuple):
    """The saved state of W games besides the outputs, which `ArrayWorld` keeps."""

    stream: np.ndarray  # (W, 3) uint64, the world's random stream, see core.seeding
    rounds: np.ndarray  # (W,) int64, played in this episode
    last: np.ndarray  # (W, A) int64, the last move, or NONE
    cooperations: np.ndarray  # (W, A) int64, rounds of this episode in which the agent cooperated


def allocate_state(num_worlds: int) -> DilemmaState:
    """The arrays of W games before the first reset."""
    slots = (num_worlds, AGENTS)
    return DilemmaState(
        stream=seeding.new_stream(num_worlds),
        rounds=np.zeros(num_worlds, np.int64),
        last=np.full(slots, NONE, np.int64),
        cooperations=np.zeros(slots, np.int64),
    )


def begin_episodes(state: DilemmaState, which: np.ndarray, seeds: np.ndarray | None) -> None:
    """Resets the worlds in `which` (W,) only."""
    seeding.begin_episode(state.stream, which, seeds)
    state.rounds[which] = 0
    state.cooperations[which] = 0
    state.last[which] = NONE


def step(state: DilemmaState, outputs: Outputs, settings: DilemmaSettings, action: np.ndarray) -> None:
    """Plays one round in every world that is not over. The outputs come cleared."""
    going = ~outputs.over
    pay(outputs, settings, action, going)
    remember_moves(state, action, going)
    end_games(state, outputs, settings, going)


def pay(outputs: Outputs, settings: DilemmaSettings, action: np.ndarray, going: np.ndarray) -> None:
    """Pays each agent for its own move against the other's."""
    paid = payoffs(settings)[action, action[:, ::-1]]
    outputs.reward[going] = paid[going]


def remember_moves(state: DilemmaState, action: np.ndarray, going: np.ndarray) -> None:
    """Stores the moves for observations and metrics."""
    state.last[going] = action[going]
    state.cooperations[going] += action[going] == COOPERATE
    state.rounds[going] += 1


def end_games(state: DilemmaState, outputs: Outputs, settings: DilemmaSettings, going: np.ndarray) -> None:
    """Terminates games at their fixed length, or by chance; the latter are truncated at their longest."""
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
