"""Environments with one planted fault each, by name: fault -> the class, and what the checker's report has to name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

BYTES = spaces.Box(0, 255, (2,), np.uint8)
REAL = spaces.Box(-10, 10, (2,), np.float32)
FAULTS: dict[str, tuple[type[ParallelEnv], tuple[str, ...]]] = {}


class Sound(ParallelEnv):
    """Two agents, `left` and `right`, six steps to the episode; nothing is wrong."""

    metadata: ClassVar[dict[str, Any]] = {"name": "planted"}
    possible_agents: ClassVar[list[str]] = ["left", "right"]
    space: spaces.Space[Any] = REAL
    actions: spaces.Space[Any] = spaces.Discrete(2)

    def observation_space(self, agent: str) -> Any:
        return self.space

    def action_space(self, agent: str) -> Any:
        return self.actions

    def seen(self, agent: str) -> Any:
        return np.full(2, self.t, np.float32)

    def reward(self, agent: str) -> Any:
        return 1.0

    def end(self, over: bool) -> Any:
        return over

    def info(self, agent: str) -> dict[str, Any]:
        return {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.t, self.agents = 0, list(self.possible_agents)
        return self._seen(), {name: self.info(name) for name in self.agents}

    def step(self, actions: Any) -> Any:
        self.t += 1
        names, over = self.agents, self.t == 6
        self.agents = [] if over else list(names)
        return (
            self._seen(),
            {name: self.reward(name) for name in names},
            {name: self.end(over) for name in names},
            dict.fromkeys(names, False),
            {name: self.info(name) for name in names},
        )

    def _seen(self) -> dict[str, Any]:
        return {name: self.seen(name) for name in self.possible_agents}


def fault(name: str, *words: str) -> Callable[[type[ParallelEnv]], type[ParallelEnv]]:
    """Registers a class under the fault that it has, with the words that a report of it holds."""

    def keep(cls: type[ParallelEnv]) -> type[ParallelEnv]:
        FAULTS[name] = (cls, words)
        return cls

    return keep


@fault("a float picture in a uint8 space", "left", "0.7", "float64", "uint8")
class FloatPicture(Sound):
    space = BYTES

    def seen(self, agent: str) -> Any:
        return np.full(2, 0.7)


@fault("300 in a uint8 space, of one agent and late", "right", "300", "step 3")
class TooLarge(Sound):
    space = BYTES

    def seen(self, agent: str) -> Any:
        return np.full(2, 300 if (agent, self.t) == ("right", 3) else 7)


@fault("-1 in a uint8 space", "left", "-1", "uint8")
class Negative(Sound):
    space = BYTES

    def seen(self, agent: str) -> Any:
        return np.array([4, -1])


@fault("2.7 in a Discrete", "left", "2.7", "Discrete(4)")
class Between(Sound):
    space = spaces.Discrete(4)

    def seen(self, agent: str) -> Any:
        return 2.7


@fault("7 in a Discrete of 4", "left", "7", "Discrete(4)")
class Beyond(Sound):
    space = spaces.Discrete(4)

    def seen(self, agent: str) -> Any:
        return 7


@fault("0 in a Discrete from 1", "left", "0", "Discrete(3, start=1)")
class Below(Sound):
    space = spaces.Discrete(3, start=1)

    def seen(self, agent: str) -> Any:
        return 0


@fault("-1 in the second of a MultiDiscrete", "left", "-1", "MultiDiscrete")
class NegativeChoice(Sound):
    space = spaces.MultiDiscrete([2, 2])

    def seen(self, agent: str) -> Any:
        return np.array([1, -1])


@fault("2 in a MultiBinary", "left", "2", "MultiBinary(2)")
class NeitherBit(Sound):
    space = spaces.MultiBinary(2)

    def seen(self, agent: str) -> Any:
        return np.array([0, 2])


@fault("outside a Box", "in-space", "left", "11")
class Outside(Sound):
    def seen(self, agent: str) -> Any:
        return np.array([0, 11], np.float32)


@fault("a number beyond float32", "left", "inf", "float32")
class BeyondFloat32(Sound):
    space = spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def seen(self, agent: str) -> Any:
        return np.array([0.0, 1e40])


@fault("NaN in a leaf, late", "right", "deep.x", "nan", "step 4")
class NotANumber(Sound):
    space = spaces.Dict(deep=spaces.Dict(x=REAL, y=REAL))

    def seen(self, agent: str) -> Any:
        bad = np.nan if (agent, self.t) == ("right", 4) else 0.0
        return {"deep": {"x": np.array([0.0, bad], np.float32), "y": np.zeros(2, np.float32)}}


@fault("NaN where continuous actions are played", "left", "nan")
class NotANumberOfMovers(NotANumber):
    space = REAL
    actions = spaces.Box(-1, 1, (2,), np.float32)

    def seen(self, agent: str) -> Any:
        return np.full(2, np.nan, np.float32)


@fault("complex numbers", "left", "complex128")
class Complex(Sound):
    def seen(self, agent: str) -> Any:
        return np.zeros(2, complex)


@fault("None for an observation", "left", "None")
class NoObservation(Sound):
    def seen(self, agent: str) -> Any:
        return None


@fault("an object array", "left", "object")
class Objects(Sound):
    def seen(self, agent: str) -> Any:
        return np.array([1.0, None], object)


@fault("rows of unequal length", "left", "inhomogeneous")
class Ragged(Sound):
    def seen(self, agent: str) -> Any:
        return [[1.0], [1.0, 2.0]]


@fault("a leaf that is not there", "left", "y", "KeyError")
class Missing(Sound):
    space = spaces.Dict(x=REAL, y=REAL)

    def seen(self, agent: str) -> Any:
        return {"x": np.zeros(2, np.float32)}


@fault("another shape", "left", "(3,)", "(2,)")
class OtherShape(Sound):
    def seen(self, agent: str) -> Any:
        return np.zeros(3, np.float32)


@fault("two leaves of one dotted name", "a.b")
class Clash(Sound):
    space = spaces.Dict({"a.b": REAL, "a": spaces.Dict(b=REAL)})

    def seen(self, agent: str) -> Any:
        return {"a.b": np.zeros(2, np.float32), "a": {"b": np.ones(2, np.float32)}}


@fault("two action heads of one dotted name", "a.b")
class ClashOfActions(Sound):
    actions = spaces.Dict({"a.b": spaces.Discrete(2), "a": spaces.Dict(b=spaces.Discrete(2))})


@fault("a NaN reward", "reward", "left", "nan", "step 1")
class NoReward(Sound):
    def reward(self, agent: str) -> Any:
        return np.nan


@fault("None for a reward", "reward", "left", "None")
class NoneReward(Sound):
    def reward(self, agent: str) -> Any:
        return None


@fault("a reward beyond float32", "reward", "left", "inf")
class HugeReward(Sound):
    def reward(self, agent: str) -> Any:
        return 1e40


@fault("two numbers for a reward", "reward", "left", "[1. 2.]")
class TwoRewards(Sound):
    def reward(self, agent: str) -> Any:
        return np.array([1.0, 2.0])


@fault("words for ends", "end", "left", "False")
class WordsForEnds(Sound):
    def end(self, over: bool) -> Any:
        return str(over)


@fault("a mask of logits", "action mask", "-inf")
class MaskOfLogits(Sound):
    def info(self, agent: str) -> dict[str, Any]:
        return {"action_mask": np.array([0.0, -np.inf])}


@fault("a mask that is too short", "action mask", "2", "1")
class ShortMask(Sound):
    def info(self, agent: str) -> dict[str, Any]:
        return {"action_mask": np.ones(1, np.int8)}


@fault("a mask of zeros", "mask", "left")
class MaskOfZeros(Sound):
    def info(self, agent: str) -> dict[str, Any]:
        return {"action_mask": np.zeros(2, np.int8)}


@fault("draws from the global generator", "global-random", "np.random")
class GlobalDraws(Sound):
    def seen(self, agent: str) -> Any:
        return np.random.rand(2).astype(np.float32)  # noqa: NPY002


@fault("draws that no seed decides", "determinism")
class OwnDraws(Sound):
    def seen(self, agent: str) -> Any:
        return np.random.default_rng().random(2, np.float32)


@fault("a step that blocks", "world 0", "step 2", "planted.py", "line")
class Blocks(Sound):
    def reward(self, agent: str) -> Any:
        if self.t == 2:
            threading.Event().wait()
        return 1.0
