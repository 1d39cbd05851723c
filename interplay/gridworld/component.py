"""The base of every component of a grid world: it has agents and a grid, and works for some or all agents.

Source: manual 3.1.3 and 7.5.1; specification 2.5 to 2.10 and 7.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import Refused
from interplay.core.ranges import Range
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array
from interplay.gridworld.build import check_agents
from interplay.gridworld.grid import Grid
from interplay.sim.checks import require


class GridWorldBaseComponent(ABC):  # noqa: B024 - families add their methods
    """Base of all components.

    Args:
        agents: id -> agent; they join the grid.
        only: the agents that the component works for: ids, encodings, or a function of the agent. None = all it can.

    Attributes:
        needs: the class of agents that the component can handle.
    """

    needs: type = GridWorldAgent

    def __init__(
        self,
        agents: dict[str, Any] | None = None,
        grid: Grid | None = None,
        only: Collection[Any] | Callable[[GridWorldAgent], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        require(isinstance(grid, Grid), f"{name}: grid {grid!r} is no Grid; give one")
        check_agents(agents, f"{name}: agents")
        assert grid is not None
        assert agents is not None
        require(
            only is None or callable(only) or (isinstance(only, Collection) and not isinstance(only, str)),
            f"{name}: only {only!r} is no function and no set or list; give ids, encodings or a function of the agent",
        )
        if agents and isinstance(only, Collection):
            known = {*agents, *(agent.encoding for agent in agents.values())}
            unknown = [one for one in only if one not in known]
            require(
                not unknown,
                f"{name}: only names {unknown}, which match no agent; the agents are {', '.join(agents)}",
            )
        self._agents, self._grid = agents, grid
        self._only = only
        grid.join(agents.values())

    @property
    def agents(self) -> dict[str, Any]:
        return self._agents

    @property
    def grid(self) -> Grid:
        return self._grid

    @property
    def rng(self) -> np.random.Generator:
        """Generator for user-defined components, seeded by the simulation."""
        return self.grid.rng

    @property
    def rows(self) -> int:
        return self.grid.rows

    @property
    def cols(self) -> int:
        return self.grid.cols

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        """Whether the component can handle an agent; components override it."""
        return isinstance(agent, self.needs)

    def supports(self, agent: GridWorldAgent) -> bool:
        """Whether the component works for an agent: it is supported and passes `only`."""
        if not self._supported_agent(agent):
            return False
        if self._only is None:
            return True
        if callable(self._only):
            return bool(self._only(agent))
        return agent.id in self._only or agent.encoding in self._only

    def supported(self) -> list[GridWorldAgent]:
        """The agents that the component works for, in the order of the dict."""
        return [agent for agent in self._agents.values() if self.supports(agent)]

    def supported_slots(self) -> Array:
        """(A,) bool over the grid's slots: the agents that the component works for."""
        return self._slots_of(self.supported())

    @property
    def users(self) -> Array:
        """`supported_slots`, cached until an agent joins the grid or the component: kernels read it in every step."""
        return self._remembered("_users", self.supported_slots)

    @property
    def members(self) -> Array:
        """(A,) bool over the grid's slots: the component's own agents, supported or not. Cached as `users`."""
        return self._remembered("_members", lambda: self._slots_of(self._agents.values()))

    def _slots_of(self, agents: Iterable[GridWorldAgent]) -> Array:
        slots = [self._grid.slot_of(agent) for agent in agents]  # some agents may join only now
        flags = np.zeros(len(self._grid.agents), bool)
        flags[slots] = True
        return flags

    def _remembered(self, name: str, find: Callable[[], Array]) -> Array:
        known = self.__dict__.get(name)
        number = len(self._agents)
        if known is None or known[0] != number or len(known[1]) != len(self._grid.agents):
            known = self.__dict__[name] = number, find()
        return known[1]

    def arrays(self) -> dict[str, Array]:
        """Arrays of the component that belong to the state, with the world axis first: saved with a batch.

        A component serves one board, this simulation's or that of a batch. It makes its arrays for as many worlds as its first board has.
        """
        return {}

    def ranges(self) -> dict[str, Range]:
        """Allowed values of `arrays`: name -> range (`interplay.core.ranges`); bools need none."""
        return {}

    def reach(self, agent: GridWorldAgent, name: str) -> int:
        """A range of an agent in cells; "FULL" becomes the whole grid and is written back (T2)."""
        if getattr(agent, name) == "FULL":
            setattr(agent, name, max(self.rows, self.cols) - 1)
        return getattr(agent, name)

    @property
    def largest_encoding(self) -> int:
        """Among all agents."""
        return max((agent.encoding for agent in self._agents.values()), default=0)


def attach(agent: Any, kind: str, key: str, space: spaces.Space, null: Any) -> None:
    """Adds a channel to an agent's space and null point, replacing one of that key (A10).

    Args:
        kind: ``"observation"`` or ``"action"``.
        null: the channel's null point; None = it has none.
    """
    whole = getattr(agent, f"{kind}_space")
    if isinstance(whole, spaces.Dict):
        whole = spaces.Dict({**whole.spaces, key: space})
    elif isinstance(whole, dict):
        whole = {**whole, key: space}
    else:
        raise Refused(
            f"agent {agent.id}: {kind}_space {whole!r} has no channels; components need a dict of spaces"
        )
    setattr(agent, f"{kind}_space", whole)
    if null is None:
        return
    point = getattr(agent, f"null_{kind}")
    setattr(agent, f"null_{kind}", {**(point if isinstance(point, dict) else {}), key: null})
