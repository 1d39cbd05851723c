"""Several policies in one world, each for its own slots or populations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.player_calls import of_player
from interplay.core.policy import Policy
from interplay.core.spaces import check_action
from interplay.core.world import TimeStep, World

Others = Policy | Callable[[str], Policy]


class SharedPlay(Policy):
    """Policies that share a world: each sees its own slots as the only acting ones."""

    _players: Sequence[Policy]

    @property
    def actions(self) -> str:  # type: ignore[override]
        """How the trained policies act: "sampled", "greedy", or both joined by "and"."""
        return " and ".join(
            sorted({policy.actions for policy in getattr(self, "_players", ()) if policy.actions})
        )

    @abstractmethod
    def players(self) -> np.ndarray:
        """Index of each slot's current player: (A,), or (W, A) if it differs between worlds."""

    def forget(self, which: np.ndarray) -> None:
        for policy in self._players:
            policy.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        """State of every player."""
        return {
            f"{index}/{name}": array
            for index, policy in enumerate(self._players)
            for name, array in policy.save().items()
        }

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        for index, policy in enumerate(self._players):
            prefix = f"{index}/"
            policy.load({k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)})

    def act(self, timestep: TimeStep) -> Any:
        player, timestep = self.players(), timestep.read_only()
        actions = [
            of_player(policy, policy.act, timestep._replace(acting=timestep.acting & (player == index)))
            for index, policy in enumerate(self._players)
        ]
        try:
            return merge_actions(self.world, actions, player)
        except (LookupError, TypeError, ValueError):
            for policy, action in zip(self._players, actions, strict=True):
                of_player(policy, _check_actions, self.world, action)
            raise


def act(policy: Policy, timestep: TimeStep) -> Any:
    """A policy's actions, with `of_player`'s errors and lines for it, or for each of those that share the world."""
    if isinstance(policy, SharedPlay):
        return policy.act(timestep)
    return of_player(policy, policy.act, timestep.read_only())


class PolicyMap(SharedPlay):
    """Maps slots or populations to policies.

    By slot, the same policy acts for a slot all the time. By population, `World.population` is read at every act: the policy of an
    agent's population acts, whatever its slot, and sees its own populations as 0, 1, ... (`PopulationView`).

    Args:
        policies: index or name of a slot or population -> policy. Slots with the same object share its memory and random stream.
        others: acts for all that are not named; a function maps each name to its policy.
        by: what the keys of `policies` name.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> ours, theirs = RandomPolicy(), RandomPolicy()
        >>> PolicyMap({0: ours, 1: ours, 2: theirs}, by="population").name
        'random for 0, 1; random for 2'
        >>> PolicyMap({"agent_0": ours}, others=theirs).name
        'random for agent_0; random for the others'
    """

    def __init__(
        self,
        policies: Mapping[int | str, Policy] | Mapping[int, Policy] | Mapping[str, Policy],
        others: Others | None = None,
        by: Literal["slot", "population"] = "slot",
    ) -> None:
        self._policies: dict[int | str, Policy] = dict(policies)  # type: ignore[arg-type]
        self._others, self._by = others, by
        parts = [
            f"{policy.name} for {', '.join(str(key) for key, p in self._policies.items() if p is policy)}"
            for policy in _distinct(self._policies.values())
        ]
        if isinstance(others, Policy):
            parts.append(f"{others.name} for the others")
        self.name = "; ".join(parts)

    def start(self, world: World, seed: int = 0) -> None:
        """Assigns policies and starts each on its own random stream."""
        super().start(world, seed)
        names = world.agents if self._by == "slot" else population_names(world)
        named = {self._index(key, names): policy for key, policy in self._policies.items()}
        acting = [named[i] if i in named else self._other(name, i) for i, name in enumerate(names)]
        self._players = _distinct(acting)
        self._player = np.zeros(len(names), np.int64)
        for number, policy in enumerate(self._players):
            own = tuple(i for i, actor in enumerate(acting) if actor is policy)
            self._player[list(own)] = number
            seen = world if self._by == "slot" else cast(World, PopulationView(world, own))
            policy.start(seen, int(seeding.world_seeds(seed, len(self._players))[number]))

    def players(self) -> np.ndarray:
        return self._player if self._by == "slot" else self._player[self.world.population]

    def _index(self, key: int | str, names: Sequence[str]) -> int:
        if key in names:
            return names.index(str(key))
        if isinstance(key, int) and 0 <= key < len(names):
            return key
        known = f"there are {', '.join(names)}"
        near = did_you_mean(key, names, known) if isinstance(key, str) else known
        raise UserError(f"{self.world.id}: no {self._by} {key!r}; {near}")

    def _other(self, name: str, index: int) -> Policy:
        if self._others is None:
            raise UserError(f"{self.world.id}: no policy for {self._by} {index} ({name}); pass others")
        return self._others if isinstance(self._others, Policy) else self._others(name)


class PopulationView:
    """A world as seen by the policy of some populations, which are renumbered 0, 1, ... in ascending order.

    All other attributes are those of the world.

    Args:
        populations: indices of the policy's populations in the world.
    """

    def __init__(self, world: World, populations: tuple[int, ...]) -> None:
        self._world = world
        self.num_populations = len(populations)
        names = world.population_names
        self.population_names = None if names is None else tuple(names[k] for k in populations)
        self._number = np.zeros(max(world.num_populations, 1), np.uint8)
        self._number[list(populations)] = np.arange(len(populations))

    @property
    def population(self) -> np.ndarray:
        """(W, A) uint8 below `num_populations`; 0 in slots of other policies' populations."""
        return self._number[self._world.population]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


def merge_actions(world: World, actions: Sequence[Any], player: np.ndarray) -> Any:
    """Selects for every slot the action of its player.

    Args:
        actions: each player's actions for all slots, as `World.step` takes them.
        player: (A,) or (W, A) index into `actions`.
    """
    by_kind = [world.by_kind(action) for action in actions]
    merged = {
        kind.name: _merge([a[kind.name] for a in by_kind], player[..., list(kind.slots)])
        for kind in world.kinds
    }
    return merged if len(world.kinds) > 1 else merged[world.kinds[0].name]


def _check_actions(world: World, action: Any) -> None:
    given = world.by_kind(action)
    for kind in world.kinds:
        check_action(world.id, kind.action_space, given[kind.name], world.num_worlds, len(kind.slots))


def _merge(actions: list[Any], player: np.ndarray) -> Any:
    """`merge_actions` for one kind; `actions` are (W, A, ...) arrays or mappings of such."""
    if isinstance(actions[0], Mapping):
        return {key: _merge([a[key] for a in actions], player) for key in actions[0]}
    merged = np.array(actions[0], np.result_type(*actions))
    player = np.broadcast_to(player, merged.shape[:2])
    for index, action in enumerate(actions[1:], 1):
        own = player == index
        merged[own] = np.asarray(action)[own]
    return merged


def _distinct(policies: Any) -> list[Policy]:
    """Distinct objects, in order of first appearance."""
    return list({id(policy): policy for policy in policies}.values())


def population_names(world: World) -> tuple[str, ...]:
    """Names of the populations, by default pop0, pop1, ..."""
    return world.population_names or tuple(f"pop{number}" for number in range(world.num_populations))
