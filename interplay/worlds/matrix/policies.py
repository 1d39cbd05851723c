"""Scripted players. They read only the observation and act for all agents of the batch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.ranges import Range, index
from interplay.core.world import TimeStep, World
from interplay.worlds.matrix import config


class Recall(Policy):
    """Remembers the cue and names it."""

    name = "optimal"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._cues = world.observation_space["cue"].shape[0]  # type: ignore[index]
        self._cue = np.zeros((world.num_worlds, len(world.agents)), np.int64)

    def forget(self, which: np.ndarray) -> None:
        self._cue[which] = 0

    def memory_ranges(self) -> Mapping[str, Range]:
        return {"_cue": index(self._cues)}

    def act(self, timestep: TimeStep) -> np.ndarray:
        seen = timestep.observation["cue"]
        self._cue = np.where(seen.any(axis=-1), seen.argmax(axis=-1), self._cue)
        return self._cue


class Constant(Policy):
    """Always takes one choice."""

    choice: int

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.full(timestep.acting.shape, self.choice, np.int64)


class Climb(Constant):
    """Both choose the pair with the highest payoff."""

    name = "optimal"
    choice = int(np.argmax(np.max(config.CLIMBING, axis=1)))


class Cautious(Constant):
    """Maximises the worst-case payoff."""

    name = "cautious"
    choice = int(np.argmax(np.min(config.CLIMBING, axis=1)))


class Rock(Constant):
    name, choice = "rock", 0


class Paper(Constant):
    name, choice = "paper", 1


class Scissors(Constant):
    name, choice = "scissors", 2


class Name(Policy):
    """Names its own cue."""

    name = "optimal"

    def act(self, timestep: TimeStep) -> np.ndarray:
        named: np.ndarray = timestep.observation["cue"].argmax(axis=-1)
        return named


RECALL = by_name(RandomPolicy, Recall)
CLIMBING = by_name(RandomPolicy, Climb, Cautious)
ROCK_PAPER_SCISSORS = by_name(RandomPolicy, Rock, Paper, Scissors)
CREDIT = by_name(RandomPolicy, Name)
