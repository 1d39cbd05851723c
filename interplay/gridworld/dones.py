"""Done components: ends of agents and of the simulation (manual 3.2.13 to 3.2.16; specification 2.10)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.grid import as_mapping, as_matrix
from interplay.gridworld.rules import scores
from interplay.sim.checks import Checked, flag, is_exactly, require

_NO_TARGETS = np.zeros(0, np.int32)
_NO_ENCODINGS = np.zeros((0, 0), bool)


class DoneBaseComponent(GridWorldBaseComponent):
    """Base of done components."""

    @abstractmethod
    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        """Whether an agent has finished."""

    @abstractmethod
    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether the simulation is over."""


class BoardDone(DoneBaseComponent):
    """A done component that also evaluates a whole batch at once."""

    form = scores.ACTIVE

    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        done, _ = self._evaluate_here()
        return bool(done[0, self._grid.slot_of(agent)])

    def get_all_done(self, **kwargs: Any) -> bool:
        _, over = self._evaluate_here()
        return bool(over[0])

    def done_at_once(self, agents: list[Any], slots: Array) -> list[bool]:
        """`get_done` of several agents in these slots."""
        return [self.get_done(agent) for agent in agents]

    def _evaluate_here(self) -> tuple[Array, Array]:
        board = self._grid.board
        done, over = self.__dict__.get("_answers") or (None, None)
        if done is None or over is None or done.shape != board.agents.shape:
            done, over = np.zeros(board.agents.shape, np.uint8), np.zeros(1, np.uint8)
            self.__dict__["_answers"] = done, over
        done[:] = 0
        over[:] = 0
        self.evaluate(board, done, over, 0, 1)
        return done, over

    def evaluate(self, board: Board, done: Array, over: Array, lo: int, hi: int) -> None:
        """Adds its results for the worlds lo..hi-1 to ``done`` (W, A) and ``over`` (W,), uint8."""
        groups = self.users, self.members, *self._mapped()
        scores.evaluate_dones(board.agents, self.form, *groups, done, over, lo, hi)

    def _mapped(self) -> tuple[Array, Array, bool]:
        """Slots of targets (A,), encodings (E + 1, E + 1), and whether one encoding ends it."""
        return _NO_TARGETS, _NO_ENCODINGS, False


class ActiveDone(BoardDone):
    """Inactive agents are done; the simulation is over when no agent is active."""

    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        return not agent.active and self.supports(agent)

    def done_at_once(self, agents: list[Any], slots: Array) -> list[bool]:
        if self._only is not None or type(self).get_done is not ActiveDone.get_done:
            return super().done_at_once(agents, slots)
        return [not active for active in self._grid._rows.active[slots].tolist()]


class OneTeamRemainingDone(ActiveDone):
    """Inactive agents are done; the simulation is over when at most one encoding is active (D3)."""

    form = scores.ONE_TEAM


class TargetedDone(BoardDone):
    """The common part of done components with a target for each agent.

    Args:
        target_mapping: id -> id of its target. Other agents are never done.
    """

    def __init__(self, target_mapping: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_mapping = target_mapping  # type: ignore[assignment]

    @property
    def target_mapping(self) -> dict[str, str]:
        """Id -> id of its target."""
        return self._target_mapping

    @target_mapping.setter
    def target_mapping(self, value: dict[str, str]) -> None:
        self._target_mapping = target_ids(value, self.agents, type(self).__name__)
        self.__dict__.pop("_targets", None)

    def _mapped(self) -> tuple[Array, Array, bool]:
        targets = self._remembered("_targets", lambda: target_slots(self._target_mapping, self))
        return targets, _NO_ENCODINGS, False


class TargetAgentOverlapDone(TargetedDone):
    """An agent is done while it stands on its target; the simulation is over while all mapped agents do (D1)."""

    form = scores.OVERLAP


class TargetAgentInactiveDone(TargetedDone):
    """An agent is done when its target is inactive; the simulation is over when all targets are."""

    form = scores.TARGET_INACTIVE


class TargetEncodingInactiveDone(BoardDone):
    """An agent is done when no agent of its encoding's target encodings is active (D2).

    Args:
        target_mapping: encoding -> encodings, an int or a set; not its own.
        sim_ends_if_one_done: the simulation is over when one mapped encoding is done, not only when all are.
    """

    form = scores.ENCODING_INACTIVE

    def __init__(self, target_mapping: Any = None, sim_ends_if_one_done: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_mapping = target_mapping
        self.sim_ends_if_one_done = sim_ends_if_one_done

    @property
    def target_mapping(self) -> dict[int, set[int]]:
        """Encoding -> encodings that it targets."""
        return self._target_mapping

    @target_mapping.setter
    def target_mapping(self, value: Any) -> None:
        mapping = as_mapping(value, "TargetEncodingInactiveDone: target_mapping")
        known = {agent.encoding for agent in self.agents.values()}
        for one, others in mapping.items():
            require(
                one not in others, f"TargetEncodingInactiveDone: encoding {one} targets itself; leave it out"
            )
            for encoding in (one, *others):
                require(
                    encoding in known,
                    f"TargetEncodingInactiveDone: no agent has encoding {encoding}; known are {sorted(known)}",
                )
        self._target_mapping = mapping
        self._encodings = self._as_matrix()

    sim_ends_if_one_done = Checked(flag, "Whether one encoding that is done ends the simulation.")

    def _as_matrix(self) -> Array:
        """The mapping of the encodings of supported agents."""
        mine = {agent.encoding for agent in self.supported()}
        mapping = {one: others for one, others in self._target_mapping.items() if one in mine}
        return as_matrix(mapping, self._grid.top)

    def _mapped(self) -> tuple[Array, Array, bool]:
        if len(self._encodings) <= self._grid.top:
            self._encodings = self._as_matrix()
        return _NO_TARGETS, self._encodings, self.sim_ends_if_one_done


def target_ids(value: Any, agents: Mapping[str, Any], name: str) -> dict[str, str]:
    """A checked mapping of ids to ids of the simulation."""
    require(
        is_exactly(value, dict), f"{name}: target_mapping {value!r} is no dict; give id -> id of its target"
    )
    for pair in value.items():
        for agent_id in pair:
            if isinstance(agent_id, Collection) and not isinstance(agent_id, str):
                raise TypeError(
                    f"{name}: target_mapping holds {agent_id!r}; each agent has one target, give its id"
                )
            require(agent_id in agents, f"{name}: target_mapping names {agent_id!r}, not in the simulation")
    return dict(value)


def target_slots(mapping: Mapping[str, str], component: GridWorldBaseComponent) -> Array:
    """The slot of each slot's target, (A,) int32; -1 = none, also for unsupported agents."""
    grid, agents = component.grid, component.agents
    slots = np.full(len(grid.agents), -1, np.int32)
    for agent_id, target_id in mapping.items():
        if component.supports(agents[agent_id]):
            slots[grid.slot_of(agents[agent_id])] = grid.slot_of(agents[target_id])
    return slots
