"""Runs with agents that observe and act through interfaces (``interfaces``, specification interfaces 2 to 4).

Training steps an `InterfacedWorld`. Policies that do not learn play the inner world, each through its own interfaces or none, so
scripted policies and policies trained with different interfaces can meet in one match.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from interplay.core.agent_names import fits_pattern
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.interfaces.policy import InterfacedPolicy
from interplay.interfaces.world import InterfacedWorld
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.settings import TrainSettings

MakeWorld = Callable[..., Any]  # make_world(num_worlds=, seed=, first_world=) -> World
Patterns = Mapping[str, Sequence[str]]


def through_interfaces(settings: TrainSettings, make: MakeWorld) -> MakeWorld:
    """Wraps a world factory in the settings' interfaces, if there are any."""
    if not settings.interfaces:
        return make
    return functools.partial(make_interfaced, make, settings.interfaces, _patterns(settings))


def make_interfaced(
    make: MakeWorld, interfaces: Mapping[str, Any], patterns: Patterns, **own: Any
) -> InterfacedWorld:
    """Makes a world behind interfaces; `own` is passed to `make`."""
    world = make(**own)
    return InterfacedWorld(world, interfaces, _slots(world, patterns))


class InterfacedTrainedPolicy(InterfacedPolicy):
    """A trained policy with the interfaces of its run, which plays the plain world."""

    policy: TrainedPolicy
    no_memory = (*InterfacedPolicy.no_memory, "settings", "names", "words", "also")

    def __init__(self, policy: TrainedPolicy) -> None:
        super().__init__(policy, policy.settings.interfaces)
        self.settings, self.names, self.guesses = policy.settings, policy.names, False
        self.words = policy.words

    make_world: MakeWorld | None = None  # as of `TrainedPolicy`
    words: str = ""
    also: str = ""

    @property
    def greedy(self) -> bool:
        """As of `TrainedPolicy`."""
        return self.policy.greedy

    @property
    def beside(self) -> Mapping[str, Policy]:
        """As of `TrainedPolicy`."""
        return self.policy.beside

    def start(self, world: World, seed: int = 0) -> None:
        self._named = _slots(world, _patterns(self.settings))
        super().start(world, seed)

    def act(self, timestep: Any, infos: Any = None) -> Any:
        """Actions for every slot of a batch."""
        if isinstance(timestep, Mapping):
            self.look()
        return super().act(timestep)

    def forget(self, which: np.ndarray | None = None) -> None:
        if which is None:
            which = np.ones(self.world.num_worlds, bool)
        super().forget(which)

    def look(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: interfaces have memory, so an observation alone has no outputs."""
        raise UserError(
            f"{self.name}: it sees through interfaces, which have memory, so an observation alone has no action, value or "
            "probability; train without interfaces"
        )

    values = probabilities = beliefs = look

    def export(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: interfaces are not part of a network."""
        raise UserError(
            f"{self.name}: it sees through interfaces, which no exported file holds; train without interfaces"
        )

    to_numpy = export

    def load_weights(self, tensors: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Replaces the weights from the next `start` on."""
        self.policy.load_weights(tensors)


def with_interfaces(policy: TrainedPolicy) -> TrainedPolicy | InterfacedTrainedPolicy:
    """Wraps a trained policy in its run's interfaces, if it has any."""
    return InterfacedTrainedPolicy(policy) if policy.settings.interfaces else policy


def _patterns(settings: TrainSettings) -> Patterns:
    return {**settings.sides.groups, **settings.population.groups}


def _slots(world: World, patterns: Patterns) -> dict[str, list[int]]:
    return {
        name: [
            slot for slot, agent in enumerate(world.agents) if any(fits_pattern(agent, one) for one in own)
        ]
        for name, own in patterns.items()
    }
