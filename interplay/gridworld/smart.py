"""Simulations declared as lists of components (manual 3.1.5; specification 2.10 and 7)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.core.errors import Refused
from interplay.core.masks import is_legal
from interplay.gridworld.actors.actor import ActionResult
from interplay.gridworld.batch import Batch, Parts
from interplay.gridworld.declare import make_components, refuse_misspelt
from interplay.gridworld.dones import BoardDone
from interplay.gridworld.grid import Grid
from interplay.gridworld.simulation import GridWorldSimulation
from interplay.gridworld.wrappers import ComponentWrapper
from interplay.sim.agents import is_agent
from interplay.sim.checks import is_exactly, refuse, require
from interplay.sim.managers import AllStepManager, SimulationManager, TurnBasedManager
from interplay.sim.simulation import Report

if TYPE_CHECKING:
    from interplay.core.world import World
    from interplay.gridworld.board import Array, Board

_log = logging.getLogger("interplay")
_GETTERS = ("get_obs", "get_reward", "get_done", "get_info")
# Methods that the kernels of a batch replace.
_STEPPED = (
    *("reset", "step", "get_obs", "get_reward", "get_done", "get_all_done", "get_action_mask"),
    *("report", "shuffle", "reseed"),
)
_UNSUITABLE = (TypeError, ValueError, KeyError, IndexError, OverflowError)  # raised for invalid actions


class SmartGridWorldSimulation(GridWorldSimulation):
    """A simulation declared by its components.

    A component is given as a class, a registered name, a pair of one of those and a dict of its own keyword arguments, a pair
    of a component wrapper and its component, or a function of (agents, grid). Lists keep their order, sets are sorted by name.
    A subclass may leave out ``actors`` and write `step` itself.

    In a step the actors act in their order, and within each the agents in the order of their actions; agents that died earlier in the step
    are skipped. Reward components receive every result and add to `rewards`, which `get_reward` returns once.

    Args:
        states: the beginning of episodes.
        observers: their channels together are an observation.
        dones: an agent is done if it is by one of them.
        actors: possible actions.
        rewards: rewards of actions and results.
        action_masks: report which choices would work, and refuse the others. Otherwise an impossible move, say, fails.
        **kwargs: agents and grid, from a builder, and keyword arguments of the components.

    Attributes:
        states, actors, observers, dones, reward_components: tuples of components.

    Example:
        >>> from interplay.gridworld.agents import GridObservingAgent, MovingAgent
        >>> class Walker(GridObservingAgent, MovingAgent): pass
        >>> sim = SmartGridWorldSimulation.build_sim(
        ...     3, 3, agents={"a": Walker(id="a", encoding=1, move_range=1, view_range=1)},
        ...     states=["PositionState"], actors=["MoveActor"], observers=["AbsolutePositionObserver"],
        ...     dones=["ActiveDone"], rewards=["StepPenalty"])
        >>> sim.reset()
        >>> sim.step({"a": {"move": np.array([0, 0])}})
        >>> sim.get_reward("a"), sim.get_done("a")
        (-0.01, False)
    """

    def __init__(
        self,
        states: Any = None,
        observers: Any = None,
        dones: Any = None,
        actors: Any = None,
        rewards: Any = None,
        action_masks: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        require(
            is_exactly(action_masks, bool), f"action_masks {action_masks!r} is no bool; give True or False"
        )
        self.action_masks = action_masks
        kwargs["agents"], kwargs["grid"] = self.agents, self.grid
        self.states = make_components("state", states, kwargs)
        self.actors = make_components("actor", actors, kwargs)
        self.observers = make_components("observer", observers, kwargs)
        self.dones = make_components("done", dones, kwargs)
        self.reward_components = make_components("reward", rewards, kwargs)
        parts = (*self.states, *self.actors, *self.observers, *self.dones, *self.reward_components)
        inner = (part.unwrapped if isinstance(part, ComponentWrapper) else part for part in parts)
        readers = [type(self), Grid, *map(type, parts), *map(type, inner)]
        refuse_misspelt(type(self).__name__, kwargs, readers)
        self.rewards: MutableMapping[str, float] = Earnings(self)
        self._batch: Batch | None = None
        if type(self) is SmartGridWorldSimulation:
            self.finalize()

    # -- the simulation ------------------------------------------------------------------------------------------------

    def reset(self, **kwargs: Any) -> None:
        require(bool(self.states), f"{type(self).__name__}: no states; pass states=['PositionState', ...]")
        for state in self.states:
            state.reset(**kwargs)
        self.grid._rows.reward[:] = 0.0
        for component in self.reward_components:
            component.reset(**kwargs)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Advances one step; actions are id -> channel -> action."""
        require(
            bool(self.actors),
            f"{type(self).__name__}: no actors; pass actors=['MoveActor', ...] or write step",
        )
        if self.action_masks:
            self._refuse_illegal(action)
        if self._is_batched:
            self._step_batch(action)
        else:
            self._step_parts(action, kwargs)
        for state in self.states:
            state.end_step()

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        """The agent's observation, channel -> value."""
        require(bool(self.observers), f"{type(self).__name__}: no observers; pass observers=[...]")
        agent = self.agents[agent_id]
        if len(self.observers) == 1:
            return self.observers[0].get_obs(agent, **kwargs)
        return {
            key: value
            for observer in self.observers
            for key, value in observer.get_obs(agent, **kwargs).items()
        }

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """The agent's reward since the last call."""
        earned = self.rewards[agent_id]
        self.rewards[agent_id] = 0.0
        return earned

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether a done component ends the agent."""
        require(bool(self.dones), f"{type(self).__name__}: no dones; pass dones=['ActiveDone', ...]")
        agent = self.agents[agent_id]
        return any(done.get_done(agent, **kwargs) for done in self.dones)

    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether a done component ends the simulation."""
        if not self.dones:
            refuse(f"{type(self).__name__}: no dones; pass dones=['ActiveDone', ...]")
        return any(done.get_all_done(**kwargs) for done in self.dones)

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """Channel -> its gymnasium mask; None without `action_masks`, or if every choice of the agent would work."""
        if not self.action_masks:
            return None
        agent = self.agents[agent_id]
        masks = {actor.key: actor.action_mask(agent) for actor in self.actors if actor.supports(agent)}
        found = {key: masks.get(key) for key in agent.action_space.spaces}
        return found if any(mask is not None for mask in found.values()) else None

    def measure(self, board: Board) -> Mapping[str, Array]:
        """Metrics of the simulation, from the arrays of any number of worlds: name -> (W,) or (W, learning agents).

        Copies made by `vectorize` have them among their metrics.
        """
        return {}

    def report(self, agent_ids: Iterable[str]) -> Report:
        """Returns what the getters return, with one call of each observer for agents of one kind."""
        if not self._looks_at_once:
            return super().report(agent_ids)
        ids = list(agent_ids)
        agents = [self.agents[agent_id] for agent_id in ids]
        slots = np.array(self._slots_of(agents), np.int32)
        views = [observer.look_at_once(agents, slots) for observer in self.observers]
        if len(views) == 1:
            seen = dict(zip(ids, views[0], strict=True))
        else:
            seen = {
                agent_id: {key: value for part in parts for key, value in part.items()}
                for agent_id, *parts in zip(ids, *views, strict=True)
            }
        earned = self._grid._rows.reward
        rewards = dict(zip(ids, earned[slots].tolist(), strict=True))
        earned[slots] = 0.0
        first, *rest = self.dones
        if isinstance(first, BoardDone):
            dones = dict(zip(ids, first.done_at_once(agents, slots), strict=True))
        else:
            dones = {agent_id: first.get_done(agent) for agent_id, agent in zip(ids, agents, strict=True)}
        for done in rest:
            for agent_id, agent in zip(ids, agents, strict=True):
                dones[agent_id] = dones[agent_id] or done.get_done(agent)
        return seen, rewards, dones, {agent_id: {} for agent_id in ids}

    def _slots_of(self, agents: list[Any]) -> list[int]:
        """The agents' slots on the grid, which they rejoin if another simulation has taken them over."""
        rows = self._grid._rows
        slots = [agent._slot for agent in agents if agent._rows is rows]
        return slots if len(slots) == len(agents) else [self._grid.slot_of(agent) for agent in agents]

    @cached_property
    def _looks_at_once(self) -> bool:
        """Whether all observers are built in and no subclass overrides a getter; components do not change."""
        others = Parts(observers=self.observers).others
        return bool(self.observers and self.dones) and not _overridden(self, _GETTERS) and not others

    # -- one step, for all at once or agent by agent -------------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        return Parts(self.states, self.actors, self.observers, self.dones, self.reward_components)

    @cached_property
    def _is_batched(self) -> bool:
        """Whether all actors and rewards work on whole boards; components do not change."""
        return not Parts(actors=self.actors, rewards=self.reward_components).others

    @property
    def batch(self) -> Batch:
        """The components at work on this simulation's own grid."""
        if self._batch is None or self._batch.board is not self.grid.board:
            parts = Parts(actors=self.actors, rewards=self.reward_components)
            self._batch = Batch(parts, self.grid, self.grid.board)
        return self._batch

    def _step_batch(self, action_dict: dict[str, Any]) -> None:
        batch, agents = self.batch, self.agents
        acting = [agents[agent_id] for agent_id in action_dict]
        slots = self._slots_of(acting)
        batch.turn.order[0, : len(slots)] = slots
        batch.turn.length[0] = len(slots)
        actions = list(action_dict.values())
        for actor, codes, users, everybody in zip(
            self.actors, batch.codes, batch.users, batch.used_by_all, strict=True
        ):
            if everybody:
                self._encode(actor, acting, actions, slots, codes[0])
            else:
                mine = [place for place, slot in enumerate(slots) if users[slot]]
                some, what, where = ([given[place] for place in mine] for given in (acting, actions, slots))
                self._encode(actor, some, what, where, codes[0])
        wrong = batch.first_invalid()
        if wrong is not None:
            slot, actor = wrong
            refused = self._grid.agents[slot]
            actor._refuse(refused, action_dict[refused.id][actor.key])
        batch.act(0, 1)

    @staticmethod
    def _encode(actor: Any, agents: list[Any], actions: list[Any], slots: list[int], codes: Array) -> None:
        key = actor.key
        try:
            actor.encode_all(agents, [action[key] for action in actions], slots, codes)
        except _UNSUITABLE:
            for agent, action, slot in zip(agents, actions, slots, strict=True):  # to name the agent
                try:
                    actor.encode_all([agent], [action[key]], [slot], codes)
                except _UNSUITABLE as error:
                    raise Refused(
                        f"agent {agent.id}: action {action!r} does not suit {type(actor).__name__}; "
                        f"choose from {agent.action_space}"
                    ) from error

    def _refuse_illegal(self, action_dict: dict[str, Any]) -> None:
        for agent_id, action in action_dict.items():
            agent = self.agents[agent_id]
            for key, mask in (self.get_action_mask(agent_id) or {}).items():
                legal = mask is None or key not in action
                if not legal and not is_legal(agent.action_space[key], mask, action[key]):
                    refuse(
                        f"agent {agent_id}: {key} action {action[key]!r} is illegal now; choose where its mask is 1"
                    )

    def _step_parts(self, action_dict: dict[str, Any], kwargs: dict[str, Any]) -> None:
        agents = self.agents
        for actor in self.actors:
            for agent_id, action in action_dict.items():
                agent = agents[agent_id]
                if agent.active and actor.supports(agent):
                    self._collect(agent, actor, actor.process_action(agent, action, **kwargs))
        present = [agents[agent_id] for agent_id in action_dict]
        for component in self.reward_components:
            component.end_step(present)

    def _collect(self, agent: Any, actor: Any, answer: Any) -> None:
        result: ActionResult = actor.as_result(answer)
        for component in self.reward_components:
            component.collect(agent, actor.key, result)

    # -- many copies -----------------------------------------------------------------------------------------------------

    def as_batch(
        self,
        manager: SimulationManager,
        num_worlds: int,
        seed: int = 0,
        first_world: int = 0,
        threads: int = 1,
    ) -> World | None:
        from interplay.gridworld.world import GridWorld

        reason = reason_against(self, manager)
        if reason:
            _log.warning(
                "%s: its copies are stepped one by one in Python, because %s", type(self).__name__, reason
            )
            return None
        return GridWorld(self, manager, num_worlds, seed, first_world, threads)


def with_defaults(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments with the usual components in place of missing ones."""
    return {**given, **{family: parts for family, parts in usual.items() if given.get(family) is None}}


def reason_against(sim: SmartGridWorldSimulation, manager: SimulationManager) -> str:
    """The reason why kernels alone cannot step copies of a simulation; empty if they can."""
    if own := _overridden(sim, _STEPPED):
        return f"it writes {', '.join(own)} itself"
    if sim.parts.others:
        return f"{', '.join(sim.parts.others)} work for one world only"
    if type(manager) not in (AllStepManager, TurnBasedManager):
        return f"a {type(manager).__name__} decides who acts"
    missing = [name for name in ("states", "actors", "observers", "dones") if not getattr(sim, name)]
    return f"it has no {', '.join(missing)}" if missing else ""


def _overridden(sim: SmartGridWorldSimulation, names: Iterable[str]) -> list[str]:
    """The methods among these that a subclass overrides."""
    return [name for name in names if getattr(type(sim), name) is not getattr(SmartGridWorldSimulation, name)]


class Earnings(MutableMapping[str, float]):
    """Uncollected earnings of learning agents: id -> number, stored in the board."""

    def __init__(self, sim: GridWorldSimulation) -> None:
        self._sim = sim

    def __getitem__(self, agent_id: str) -> float:
        agent = self._sim.agents[agent_id]
        if not is_agent(agent):
            raise KeyError(agent_id)
        return agent._rows.reward.item(agent._slot)

    def __setitem__(self, agent_id: str, value: float) -> None:
        agent = self._sim.agents[agent_id]
        if not is_agent(agent):
            raise KeyError(agent_id)
        agent._rows.reward[agent._slot] = value

    def __delitem__(self, agent_id: str) -> None:
        raise TypeError("earnings of agents stay; set them to 0")

    def __iter__(self) -> Iterator[str]:
        return (agent_id for agent_id, agent in self._sim.agents.items() if is_agent(agent))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))
