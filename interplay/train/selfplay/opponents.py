"""Guests in a run's worlds: scripted policies, and trained ones with fixed weights.

The run's networks do not compute their rows, which are not kept, and their actions do not count as agent-steps. Their memory is saved
with the shard, so a resumed run continues with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.player_calls import of_player
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.evaluate.policy_map import PopulationView, merge_actions
from interplay.interfaces.world import InterfacedWorld


def inside(world: World) -> World:
    """The world that guests play: the one behind the run's interfaces."""
    return world.inner if isinstance(world, InterfacedWorld) else world


_STREAM = 0x0990  # key of the opponents' streams


class Guest(NamedTuple):
    """A policy that plays in a run's worlds without learning.

    Attributes:
        name: of its memory in checkpoints, and in errors: ``opponents.<name>``.
        policy: not started.
        population: number of the only population that it observes; None: it observes all.
    """

    name: str
    policy: Policy
    population: int | None = None


class Opponents:
    """The guests in one shard's worlds.

    Args:
        numbers: their player numbers in `act`.
        key: of their random streams: the run's seed, the shard, and their first update.
    """

    def __init__(
        self, world: World, guests: Sequence[Guest], numbers: Sequence[int], key: tuple[int, int, int]
    ) -> None:
        self._world, self.guests, self._numbers = world, tuple(guests), tuple(numbers)
        self._played = inside(world)
        self.begin(key)

    def begin(self, key: tuple[int, int, int]) -> None:
        """Starts all policies anew, with the streams of `key`."""
        for index, (_, policy, population) in enumerate(self.guests):
            seed = int(seeding.generator(_STREAM, *key, index).integers(2**63))
            seen = self._played if population is None else PopulationView(self._played, (population,))
            policy.start(cast(World, seen), seed)

    def act(self, actions: Any, timestep: TimeStep, player: np.ndarray) -> Any:
        """Replaces the networks' actions by the guests' in their slots.

        Args:
            actions: of the networks, in the form of `World.step`.
            player: (W, A), number of the player of each slot.
        """
        if not self.guests:
            return actions
        players, chosen = np.zeros(player.shape, np.int64), [actions]
        if self._played is not self._world:
            timestep = self._played.timestep
        timestep = timestep.read_only()
        for index, (guest, number) in enumerate(zip(self.guests, self._numbers, strict=True), 1):
            own = timestep.acting & (player == number)
            players[own] = index
            chosen.append(of_player(guest.policy, guest.policy.act, timestep._replace(acting=own)))
        if self._played is self._world:
            return merge_actions(self._world, chosen, players)
        assert isinstance(self._world, InterfacedWorld)
        self._world.override(merge_actions(self._played, [chosen[1], *chosen[1:]], players), players > 0)
        return actions

    def forget(self, which: np.ndarray) -> None:
        """Clears the memory for the worlds in the (W,) mask, which were reset."""
        for guest in self.guests:
            guest.policy.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        """The guests' memory: ``guest/name`` -> array."""
        return {
            f"{name}/{part}": array
            for name, policy, _ in self.guests
            for part, array in policy.save().items()
        }

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores `save`."""
        for name, policy, _ in self.guests:
            prefix = f"{name}/"
            try:
                policy.load({k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)})
            except UserError as error:
                raise UserError(f"opponents.{name}: {error}; resume with the run's own opponents") from None
