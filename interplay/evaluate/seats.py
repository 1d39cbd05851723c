"""Several policies in one world: who acts in which slot, by seat or by whatever else says so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World


class Table(Policy):
    """Players who share a world: `sitting` says whose action a slot takes; each sees its own slots as the only ones that act."""

    _players: Sequence[Policy]

    @abstractmethod
    def sitting(self) -> np.ndarray:
        """Index into the players: (A,), or (W, A) where it differs from world to world."""

    def forget(self, which: np.ndarray) -> None:
        for policy in self._players:
            policy.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        """What every player remembers."""
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
        player = self.sitting()
        actions = [
            policy.act(timestep._replace(acting=timestep.acting & (player == index)))
            for index, policy in enumerate(self._players)
        ]
        return choose(self.world, actions, player)


class Seats(Table):
    """Lets a policy of its own act in each slot.

    Args:
        seats: slot number or agent name -> policy; a policy may sit in several slots.
        default: who acts in the slots that are not named.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> Seats({0: RandomPolicy()}, default=RandomPolicy()).name
        'random, random elsewhere'
    """

    def __init__(self, seats: Mapping[int | str, Policy], default: Policy | None = None) -> None:
        self._seats = dict(seats)
        self._default = default
        names = [f"{policy.name} as {slot}" for slot, policy in self._seats.items()]
        if default is not None:
            names = [policy.name for policy in self._seats.values()] + [f"{default.name} elsewhere"]
        self.name = ", ".join(names)

    def start(self, world: World, seed: int = 0) -> None:
        """Seats everybody; each policy gets a stream of its own.

        Raises:
            UserError: if a seat does not exist or stays empty.
        """
        super().start(world, seed)
        sitting = [self._default] * len(world.agents)
        for name, policy in self._seats.items():
            sitting[self._slot(name)] = policy
        players: list[Policy] = []
        self._player = np.zeros(len(world.agents), np.int64)
        for slot, sitter in enumerate(sitting):
            if sitter is None:
                raise UserError(
                    f"{world.id}: nobody sits in slot {slot} ({world.agents[slot]}); pass a default"
                )
            if not any(sitter is other for other in players):
                players.append(sitter)
            self._player[slot] = next(i for i, other in enumerate(players) if other is sitter)
        self._players = players
        for policy, own in zip(players, seeding.world_seeds(seed, len(players)), strict=True):
            policy.start(world, int(own))

    def sitting(self) -> np.ndarray:
        return self._player

    def _slot(self, name: int | str) -> int:
        agents = self.world.agents
        if name in agents:
            return agents.index(str(name))
        if isinstance(name, int) and 0 <= name < len(agents):
            return name
        raise UserError(
            f"{self.world.id}: no seat {name!r}; seats are 0..{len(agents) - 1} or {', '.join(agents)}"
        )


def choose(world: World, actions: Sequence[Any], player: np.ndarray) -> Any:
    """Of every slot, the action of the player who acts there.

    Args:
        world: whose kinds of agents these are.
        actions: of each player for all slots, in the form `World.step` takes.
        player: (A,) or (W, A) index into `actions`.
    """
    by_kind = [world.by_kind(action) for action in actions]
    chosen = {
        kind.name: _choose([a[kind.name] for a in by_kind], player[..., list(kind.slots)])
        for kind in world.kinds
    }
    return chosen if len(world.kinds) > 1 else chosen[world.kinds[0].name]


def _choose(actions: list[Any], player: np.ndarray) -> Any:
    """As `choose` for one kind, leaf by leaf; `actions` are (W, A, ...) arrays or mappings of such."""
    if isinstance(actions[0], Mapping):
        return {key: _choose([a[key] for a in actions], player) for key in actions[0]}
    chosen = np.array(actions[0])
    player = np.broadcast_to(player, chosen.shape[:2])
    for index, action in enumerate(actions[1:], 1):
        own = player == index
        chosen[own] = np.asarray(action)[own]
    return chosen
