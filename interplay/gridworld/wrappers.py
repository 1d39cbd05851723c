"""Component wrappers: they change the channels of a component (manual 3.2.17 and 3.2.18; specification K1)."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces

from interplay.core.controls import joined
from interplay.gridworld.actors.actor import ActorBaseComponent, BoardActor, Outcome, Turn
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent, attach
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import ObserverBaseComponent
from interplay.sim.agents import is_unset
from interplay.sim.checks import refuse, require
from interplay.sim.wrappers import ravel_discrete_wrapper as ravelling

_MOST_NAMED = 1024  # points of a ravelled channel that have names
_LARGEST_TABLE = 2**16  # actions of a wrapped channel whose codes are kept in a table


class ComponentWrapper(GridWorldBaseComponent):
    """Base of component wrappers; agents and grid are those of the wrapped component."""

    def __init__(self, component: Any) -> None:
        self._component = component

    @property
    def wrapped_component(self) -> Any:
        """The component one layer below."""
        return self._component

    @property
    def unwrapped(self) -> Any:
        """The component below all wrappers."""
        inner = self._component
        return inner.unwrapped if isinstance(inner, ComponentWrapper) else inner

    @property
    def agents(self) -> dict[str, Any]:
        return self._component.agents

    @property
    def grid(self) -> Grid:
        return self._component.grid

    def _supported_agent(self, agent: Any) -> bool:
        return bool(self._component._supported_agent(agent))

    def supports(self, agent: Any) -> bool:
        return bool(self._component.supports(agent))

    def supported(self) -> list[Any]:
        return list(self._component.supported())

    def supported_slots(self) -> Array:
        return self._component.supported_slots()

    @abstractmethod
    def check_space(self, space: Any) -> bool:
        """Whether the space can be wrapped."""

    @abstractmethod
    def wrap_space(self, space: Any) -> spaces.Space:
        """The wrapped space."""

    @abstractmethod
    def wrap_point(self, space: Any, point: Any) -> Any:
        """An incoming point as one of `space`, the original space."""

    @abstractmethod
    def unwrap_point(self, space: Any, point: Any) -> Any:
        """A point of `space`, the original space, as seen from outside."""


class ActorWrapper(ComponentWrapper, ActorBaseComponent):
    """Wraps an actor: changes its channel of the agents' action spaces and decodes incoming actions.

    Attributes:
        from_space: id -> the original space of the channel.
    """

    def __init__(self, component: Any) -> None:
        name = type(self).__name__
        require(isinstance(component, ActorBaseComponent), f"{name}: {component!r} is no actor; give one")
        super().__init__(component)
        self.from_space: dict[str, spaces.Space] = {}
        self._tables: dict[str, Array] = {}
        self._nothing: dict[str, Any] = {}  # id -> the number that does nothing; None: there is none
        for agent in self.supported():
            space = agent.action_space[self.key]
            require(
                self.check_space(space),
                f"{name}: {space}, the {self.key} channel of {agent.id}, cannot be wrapped",
            )
            self.from_space[agent.id] = space
            null = {} if is_unset(agent.null_action) else agent.null_action
            point = self.unwrap_point(space, null[self.key]) if self.key in null else None
            self._nothing[agent.id] = point
            attach(agent, "action", self.key, self.wrap_space(space), point)

    @property
    def key(self) -> str:
        return self._component.key

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> Any:
        """Decodes the channel and passes the action on."""
        if self.supports(agent):
            point = self._decoded(agent, action_dict[self.key])
            action_dict = {**action_dict, self.key: point}
        return self._component.process_action(agent, action_dict, **kwargs)

    def as_result(self, answer: Any) -> Any:
        return self._component.as_result(answer)

    def action_mask(self, agent: Any) -> Any:
        """Numbers that would work now; None if one of them is no single entry of the board."""
        if not self.batched:
            return None
        entries = self.choice_entries(agent)
        return None if entries is None else self.unwrapped.legal_here(agent)[entries].astype(np.int8)

    def original(self, agent: Any, choice: Any) -> Any:
        """A number as a point of the channel of the actor below all wrappers."""
        point = self.wrap_point(self.from_space[agent.id], choice)
        inner = self._component
        return inner.original(agent, point) if isinstance(inner, ActorWrapper) else point

    def idle_choices(self, agent: Any) -> dict[str, str]:
        """As of the wrapped actor, with the present names."""
        names, idle = self.choice_names(agent) or {}, self._component.idle_choices(agent)
        if not names or not idle or self._nothing.get(agent.id) is None:
            return {}
        return {head: choices[int(self._nothing[agent.id])] for head, choices in names.items()}

    def entries(self, agent: Any) -> int:
        return int(self._component.entries(agent))

    def entry_of(self, agent: Any, point: Any) -> int | None:
        return self._component.entry_of(agent, point)

    def find_legal(self, *where: Any) -> None:
        self._component.find_legal(*where)

    def choice_entries(self, agent: Any, path: tuple[Any, ...] = ()) -> Array | None:
        return BoardActor.choice_entries(self, agent) if self.batched else None  # type: ignore[arg-type]

    def _decoded(self, agent: Any, point: Any) -> Any:
        wrapped = agent.action_space[self.key]
        if not wrapped.contains(point):
            refuse(f"agent {agent.id}: {self.key} action {point!r} is outside {wrapped}; choose from it")
        return self.wrap_point(self.from_space[agent.id], point)

    # -- for a batch: as the wrapped actor, once the action is decoded ----------------------------------------------

    @property
    def width(self) -> int:
        return int(self._component.width)

    @property
    def batched(self) -> bool:
        """Whether the innermost actor works on batches, and every channel has a table of its codes."""
        return isinstance(self.unwrapped, BoardActor) and all(
            isinstance(agent.action_space[self.key], spaces.Discrete)
            and agent.action_space[self.key].n <= _LARGEST_TABLE
            for agent in self.supported()
        )

    def meaning(self, agent: Any) -> str:
        """The original space, as different ones may have equal wrapped spaces."""
        return f"{self.from_space[agent.id]} {self._component.meaning(agent)}"

    def _table(self, agent: Any) -> Array:
        """The codes of each number, (n, width)."""
        table = self._tables.get(agent.id)
        if table is None:
            space = self.from_space[agent.id]
            points = int(agent.action_space[self.key].n)
            table = np.zeros((points, self.width), np.int64)
            for number in range(points):
                self._component.encode(agent, self.wrap_point(space, number), table[number])
            self._tables[agent.id] = table
        return table

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        """Writes numbers as codes, (..., width)."""
        table = self._table(agent)
        if np.ndim(value) == 0 and not 0 <= value < len(table):
            self._decoded(agent, value)
        codes[...] = table[value]

    def encode_all(self, agents: list[Any], values: list[Any], slots: list[int], codes: Array) -> None:
        """Writes one number for each agent as codes, (A, width)."""
        for agent, value, slot in zip(agents, values, slots, strict=True):
            self.encode(agent, value, codes[slot])

    def _refuse(self, agent: Any, value: Any) -> NoReturn:
        self._component._refuse(agent, value)
        raise AssertionError  # for the type checker

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        self._component.run(board, overlap, turn, codes, outcome, lo, hi)

    def outcome(self, num_worlds: int, num_agents: int) -> Outcome:
        return self._component.outcome(num_worlds, num_agents)

    def limits(self) -> tuple[Array, Array, Array]:
        return self._component.limits()


class RavelActionWrapper(ActorWrapper):
    """Turns a channel of bounded integers into one Discrete number."""

    def check_space(self, space: Any) -> bool:
        return ravelling.check_space(space)

    def wrap_space(self, space: Any) -> spaces.Discrete:
        return ravelling.ravel_space(space)

    def wrap_point(self, space: Any, point: Any) -> Any:
        return ravelling.unravel(space, point)

    def unwrap_point(self, space: Any, point: Any) -> int:
        return ravelling.ravel(space, point)

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]] | None:
        """Those of the wrapped actor, concatenated, without idle ones; None if there would be too many to read."""
        parts = self._component.choice_names(agent)
        if parts is None or prod(map(len, parts.values())) > _MOST_NAMED:
            return None
        idle = self._component.idle_choices(agent)
        nothing = next(iter(idle.values()), "")
        named = [[nothing if name == idle.get(head) else name for name in parts[head]] for head in parts]
        names = joined(named, nothing)
        return {self.key: names} if len(set(names)) == len(names) else None


class ExclusiveChannelActionWrapper(ActorWrapper):
    """Turns a Dict channel into one Discrete number that sets at most one of its parts.

    0 is nothing; then come the other points of the first part, of the second, and so on: k parts of n points each make
    k (n - 1) + 1.
    """

    def check_space(self, space: Any) -> bool:
        return isinstance(space, spaces.Dict) and all(map(ravelling.check_space, space.spaces.values()))

    def wrap_space(self, space: Any) -> spaces.Discrete:
        return spaces.Discrete(
            1 + sum(int(ravelling.ravel_space(part).n) - 1 for part in space.spaces.values())
        )

    def wrap_point(self, space: Any, point: Any) -> dict[Any, Any]:
        rest = int(point)
        parts = {}
        for key, part in space.spaces.items():
            points = int(ravelling.ravel_space(part).n) - 1
            mine = rest if 0 < rest <= points else 0
            parts[key] = ravelling.unravel(part, mine)
            rest -= points if rest > 0 else 0
            rest = 0 if mine else rest
        return parts

    def unwrap_point(self, space: Any, point: Any) -> int:
        before = 0
        for key, part in space.spaces.items():
            number = ravelling.ravel(part, point[key])
            if number:
                return before + number
            before += int(ravelling.ravel_space(part).n) - 1
        return 0

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]] | None:
        """``none``, then head by head the others."""
        parts = self._component.choice_names(agent)
        if parts is None:
            return None
        others = (
            head if len(choices) == 2 else f"{head}: {name}"
            for head, choices in parts.items()
            for name in choices[1:]
        )
        return {self.key: ("none", *others)}


class ObserverWrapper(ComponentWrapper, ObserverBaseComponent):
    """Wraps an observer: changes its channel of the agents' observation spaces and encodes its observations.

    Attributes:
        from_space: id -> the original space of the channel.
    """

    def __init__(self, component: Any) -> None:
        name = type(self).__name__
        require(
            isinstance(component, ObserverBaseComponent), f"{name}: {component!r} is no observer; give one"
        )
        super().__init__(component)
        self.from_space: dict[str, spaces.Space] = {}
        for agent in self.agents.values():
            channels = getattr(agent, "observation_space", {})
            if not self.supports(agent) or self.key not in channels:
                continue
            space = channels[self.key]
            require(
                self.check_space(space),
                f"{name}: {space}, the {self.key} channel of {agent.id}, cannot be wrapped",
            )
            self.from_space[agent.id] = space
            null = {} if is_unset(agent.null_observation) else agent.null_observation
            point = self.wrap_point(space, null[self.key]) if self.key in null else None
            attach(agent, "observation", self.key, self.wrap_space(space), point)

    @property
    def key(self) -> str:
        return self._component.key

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        """The wrapped observer's observation, encoded."""
        seen = self._component.get_obs(agent, **kwargs)
        space = self.from_space.get(agent.id)
        return seen if space is None else {key: self.wrap_point(space, point) for key, point in seen.items()}
