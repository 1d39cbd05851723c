"""Managers stand between a trainer and a simulation and decide the order of turns.

``reset()`` returns observations, ``step(actions)`` four dicts, observations, rewards, dones and infos, of the agents that act
next and of those that have just finished. ``dones["__all__"]`` is True when the episode is over.
Source: manual 2.1.3 and 7.2; specification 2.3 and 7.
"""

from __future__ import annotations

import copy
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.sim.agents import is_agent
from interplay.sim.checks import Checked, flag, is_exactly, refuse, require
from interplay.sim.simulation import AgentBasedSimulation, DynamicOrderSimulation

if TYPE_CHECKING:
    from interplay.core.world import World

Output = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


class SimulationManager(ABC):
    """Calls a simulation's `reset`, `step` and getters in the manager's order.

    Args:
        time_limit: steps after which an episode is cut; None = never.

    Attributes:
        agents: id -> agent.
        done_agents: ids of agents that take no part any more.
        truncated: whether the episode was cut by the time limit.

    Raises:
        AssertionError: for anything but a simulation, or a time limit that is no positive int.
    """

    def __init__(self, sim: AgentBasedSimulation, time_limit: int | None = None, **kwargs: Any) -> None:
        require(
            isinstance(sim, AgentBasedSimulation),
            f"sim {sim!r} is no AgentBasedSimulation; a manager needs one",
        )
        fits = time_limit is None or (is_exactly(time_limit, int) and time_limit > 0)
        require(fits, f"time_limit {time_limit!r} is no positive int; give a number of steps or None")
        self.sim = sim
        self.time_limit = time_limit
        self.done_agents: set[str] = set()
        self.truncated = False
        self._steps = 0
        self._begun = False
        self._look()

    @property
    def agents(self) -> dict[str, Any]:
        """The simulation's agents."""
        return self.sim.agents

    def render(self, **kwargs: Any) -> Any:
        """Has the simulation draw itself."""
        return self.sim.render(**kwargs)

    def close(self) -> None:
        """Closes the simulation."""
        self.sim.close()

    def reset(self, seed: int | None = None, **kwargs: Any) -> dict[str, Any]:
        """Starts an episode.

        Args:
            seed: of the episode: the same seed gives the same one on every machine.
            **kwargs: passed to the simulation's `reset`.

        Returns:
            The observations of the agents that act first.
        """
        if seed is not None:
            self.sim.reseed(seed)
            if _takes(self.sim.unwrapped.reset, "seed"):
                kwargs["seed"] = seed
        self.sim.reset(**kwargs)
        self._look()
        self.done_agents = self._outsiders()
        self.truncated, self._steps, self._begun = False, 0, True
        return {agent_id: self.sim.get_obs(agent_id) for agent_id in self._first()}

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        """Steps the simulation.

        Args:
            action_dict: id -> action.
            **kwargs: passed to the simulation's `step`.

        Returns:
            Observations, rewards, dones and infos by id; dones has the key ``__all__`` besides.

        Raises:
            AssertionError: before the first reset, for what is no dict, and for the action of a finished or unknown agent; nothing
                has happened then.
        """
        sim, agents, done_agents = self.sim, self.agents, self.done_agents
        if not self._begun:
            refuse(f"{type(sim.unwrapped).__name__} is stepped before its first reset; reset it")
        if type(action_dict) is not dict and not isinstance(action_dict, Mapping):
            refuse(f"actions {action_dict!r} are no dict; give id -> action")
        for agent_id in action_dict:
            if agent_id in done_agents or agent_id not in agents:
                self._refuse(agent_id)
        sim.step(self._arrange(action_dict), **kwargs)
        self._steps += 1
        over = bool(sim.get_all_done())
        cut = not over and self.time_limit is not None and self._steps >= self.time_limit
        output: Output | None = None
        for group in (self._left(),) if over or cut else self._next():
            report = sim.report(group)
            done_agents.update([agent_id for agent_id, done in report[2].items() if done])
            output = report if output is None else _together(output, report)
        output = output or ({}, {}, {}, {})
        dones = output[2]
        nobody_left = done_agents.issuperset(self._awaited())
        self.truncated = cut and not nobody_left
        dones["__all__"] = over or cut or nobody_left
        return output

    def vectorize(self, num_worlds: int, seed: int = 0, first_world: int = 0, threads: int = 1) -> World:
        """Copies of this manager and its simulation as one `World`, stepped in this process.

        A declared grid world becomes a `interplay.gridworld.world.GridWorld`, stepped by kernels; any other simulation a
        `SimulationWorld`, with its copies stepped one by one.

        The copies are deep ones, best made before the first reset. Where the simulation holds what cannot be copied (a window, a
        connection), where copying is slow, or for worker processes, name a function that makes a new one:
        ``SimulationWorld("module:function", num_worlds, processes=2)`` (`interplay.sim.adapt`).

        Args:
            num_worlds: how many.
            seed, first_world: name the copies' random streams.
            threads: of kernels.

        Raises:
            UserError: if it cannot be copied, or a space has no array form.
        """
        special: World | None = self.sim.as_batch(
            self, num_worlds, seed=seed, first_world=first_world, threads=threads
        )
        if special is not None:
            return special
        general: World = load("interplay.sim.adapt:SimulationWorld")(
            self._copied, num_worlds, seed, first_world=first_world
        )
        return general

    def _copied(self) -> SimulationManager:
        try:
            return copy.deepcopy(self)
        except Exception as error:
            raise UserError(
                f"{type(self.sim.unwrapped).__name__} cannot be copied ({type(error).__name__}: {error}); "
                "give SimulationWorld a function that makes a new one"
            ) from error

    def _look(self) -> None:
        """Reads which agents may act; they may change from one episode to the next."""
        self._learning = tuple(agent_id for agent_id, agent in self.agents.items() if is_agent(agent))

    def _left(self) -> list[str]:
        """Ids of learning agents that have not finished, in the order of the dictionary."""
        return [agent_id for agent_id in self._learning if agent_id not in self.done_agents]

    def _awaited(self) -> Collection[str]:
        """Ids of agents that keep the episode going until they have finished."""
        return self._learning

    def _outsiders(self) -> set[str]:
        """Ids of agents that never act."""
        return set(self.agents).difference(self._learning)

    def _refuse(self, agent_id: str) -> None:
        require(
            agent_id in self.agents, f"action for {agent_id!r}, which is not in the simulation; leave it out"
        )
        require(False, f"action for {agent_id}, which is done; leave it out")

    def _arrange(self, action_dict: dict[str, Any]) -> dict[str, Any]:
        """The actions in the order in which the simulation gets them."""
        return action_dict

    @abstractmethod
    def _first(self) -> Iterable[str]:
        """Ids of agents reported by `reset`."""

    @abstractmethod
    def _next(self) -> Iterable[list[str]]:
        """Groups of ids reported by a step; `done_agents` is updated after each group."""


class Line(Iterator[str]):
    """Cycles through ids; unlike `itertools.cycle` it can be copied on every Python."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._at = -1

    def __next__(self) -> str:
        if not self._ids:
            raise StopIteration
        self._at = (self._at + 1) % len(self._ids)
        return self._ids[self._at]


class TurnBasedManager(SimulationManager):
    """One agent after another, in the order of the dictionary.

    A step reports the next agent in line, and the agents before it in line that have just finished.

    Args:
        **kwargs: of `SimulationManager`.

    Attributes:
        agent_order: the line: an endless iterator of ids, which begins anew at every reset.
    """

    def __init__(self, sim: AgentBasedSimulation, **kwargs: Any) -> None:
        super().__init__(sim, **kwargs)
        self.agent_order: Iterator[str] = Line(self._learning)

    def _first(self) -> Iterable[str]:
        self.agent_order = Line(self._learning)
        return itertools.islice(self.agent_order, 1)

    def _next(self) -> Iterator[list[str]]:
        for agent_id in itertools.islice(self.agent_order, len(self._learning)):
            if agent_id not in self.done_agents:
                yield [agent_id]
                if agent_id not in self.done_agents:
                    return


class AllStepManager(SimulationManager):
    """Every unfinished agent acts in every step.

    Args:
        randomize_action_input: pass the actions on in a random order.
        **kwargs: of `SimulationManager`.
    """

    def __init__(
        self, sim: AgentBasedSimulation, randomize_action_input: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(sim, **kwargs)
        self.randomize_action_input = randomize_action_input

    randomize_action_input = Checked(flag, "Whether the actions are handed over in a random order.")

    def _arrange(self, action_dict: dict[str, Any]) -> dict[str, Any]:
        if not self.randomize_action_input:
            return action_dict
        order = list(action_dict)
        self.sim.unwrapped.shuffle(order)
        return {agent_id: action_dict[agent_id] for agent_id in order}

    def _first(self) -> Iterable[str]:
        return self._learning

    def _next(self) -> Iterable[list[str]]:
        return (self._left(),)


class DynamicOrderManager(SimulationManager):
    """The simulation determines the order by its `next_agent`.

    Unless it is over, the simulation has to name an unfinished agent: a loop without an acting agent would never end, so `reset`
    and `step` refuse it. Where the simulation reports all agents as done, the episode is over, and the remaining ones are reported.
    A simulation in which no agent learns goes on until it is over, or until all its agents have finished.

    Args:
        sim: a `DynamicOrderSimulation`.
        **kwargs: of `SimulationManager`.

    Raises:
        AssertionError: for another simulation; from `reset` and `step`, if an unfinished simulation names no agent to act.
    """

    def __init__(self, sim: DynamicOrderSimulation, **kwargs: Any) -> None:
        require(
            isinstance(
                sim.unwrapped if isinstance(sim, AgentBasedSimulation) else sim, DynamicOrderSimulation
            ),
            f"sim {sim!r} is no DynamicOrderSimulation; use the TurnBasedManager or the AllStepManager",
        )
        super().__init__(sim, **kwargs)

    def reset(self, seed: int | None = None, **kwargs: Any) -> dict[str, Any]:
        first = super().reset(seed, **kwargs)
        if not first and self._learning:
            self._nobody()
        return first

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        output = super().step(action_dict, **kwargs)
        dones = output[2]
        if dones["__all__"] or not self._learning or not all(dones[agent_id] for agent_id in output[0]):
            return output
        left = self._left()
        if not all(self.sim.get_done(agent_id) for agent_id in left):
            if not output[0]:
                self._nobody()
            return output  # an agent has just finished; the simulation names the next one without an action
        self.done_agents.update(left)
        output = _together(output, self.sim.report(left))
        output[2]["__all__"] = True
        return output

    def _nobody(self) -> None:
        named = ", ".join(map(str, self._chosen())) or "no agent"
        require(
            False,
            f"{type(self.sim.unwrapped).__name__} goes on without an agent to act: next_agent names {named}; "
            "name one that has not finished, or let get_all_done return True",
        )

    def _awaited(self) -> Collection[str]:
        return self._learning or self.agents

    def _outsiders(self) -> set[str]:
        return set()  # the simulation may name agents that never act

    def _first(self) -> Iterable[str]:
        return self._chosen()

    def _next(self) -> Iterable[list[str]]:
        return ([agent_id for agent_id in self._chosen() if agent_id not in self.done_agents],)

    def _chosen(self) -> list[str]:
        chosen = self.sim.unwrapped.next_agent  # type: ignore[attr-defined]
        if isinstance(chosen, list | tuple):
            return list(chosen)
        return [agent_id for agent_id in self.agents if agent_id in chosen]  # sets have no order


def _together(one: Output, other: Output) -> Output:
    return one[0] | other[0], one[1] | other[1], one[2] | other[2], one[3] | other[3]


def _takes(function: Any, name: str) -> bool:
    """Whether a function accepts a keyword."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
