"""Actors that attack (manual 3.2.12; specification T7 to T16)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.gridworld.actors.actor import BoardActor, Outcome, Turn, as_ints
from interplay.gridworld.actors.move import place_name
from interplay.gridworld.agents import AttackingAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.grid import as_mapping, as_matrix
from interplay.gridworld.rules import attacks, masks
from interplay.sim.checks import Checked, flag, require
from interplay.sim.spaces import Box


class AttackActorBaseComponent(BoardActor):
    """The common part of the four attackers.

    A target is active, mapped, within range and not hidden by a blocker. Attacks succeed with the attacker's accuracy while it has ammo.
    Health falls by the attacker's strength; an agent without health is inactive and off the grid.

    Args:
        attack_mapping: encoding -> encodings, an int or a set, that it can attack.
        stacked_attacks: several attacks of a turn may hit the same agent.
    """

    form = attacks.ANY
    key = "attack"
    needs = AttackingAgent

    def __init__(self, attack_mapping: Any = None, stacked_attacks: bool = False, **kwargs: Any) -> None:
        # Spaces depend on the mapping, so it is read before the base attaches them.
        self._agents = kwargs.get("agents") or {}
        self.attack_mapping = attack_mapping
        self.stacked_attacks = stacked_attacks
        self.width = 1
        super().__init__(**kwargs)
        for agent in self.supported():
            self.reach(agent, "attack_range")  # replaces "FULL", whether spaces depend on it or not
        self.width = max([self._codes_of(agent) for agent in self.supported()], default=1)
        self._matrix = as_matrix(self.attack_mapping, self.grid.top)
        self._scratch: dict[int, tuple[Array, ...]] = {}

    @property
    def attack_mapping(self) -> dict[int, set[int]]:
        """Encoding -> encodings that it can attack."""
        return self._attack_mapping

    @attack_mapping.setter
    def attack_mapping(self, value: Any) -> None:
        mapping = as_mapping(value, "attack_mapping")
        known = {agent.encoding for agent in self._agents.values()}
        for one, others in mapping.items():
            for encoding in (one, *others):
                require(
                    encoding in known,
                    f"attack_mapping: no agent has encoding {encoding}; known are {sorted(known)}",
                )
        self._attack_mapping = mapping

    stacked_attacks = Checked(flag, "Whether several attacks of a turn may hit the same agent.")

    def process_action(  # type: ignore[override]
        self, attacking_agent: Any, action_dict: dict[str, Any], **kwargs: Any
    ) -> tuple[bool, list[Any]]:
        """Carries out an agent's attacks.

        Returns:
            Whether it tried to attack, and the agents that were hit.
        """
        if not self.supports(attacking_agent):
            return False, []
        value = action_dict[self.key]
        codes = self._checked(attacking_agent, value)
        board, slot = self._grid.board, self._grid.slot_of(attacking_agent)
        scratch, hits, kills = self._room(board.agents.shape[1], self._attacks_of(attacking_agent))
        agents, cells, stream = board
        form = self.form, self.stacked_attacks
        made = attacks.attack(agents, cells, self.matrix, stream, 0, slot, *form, codes, scratch, hits, kills)
        members = self._grid._agents
        return made >= 0, [members[hit] for hit in hits[: max(made, 0)].tolist()]

    @property
    def matrix(self) -> Array:
        """`attack_mapping` as a matrix (E + 1, E + 1) bool."""
        if len(self._matrix) <= self._grid.top:
            self._matrix = as_matrix(self.attack_mapping, self._grid.top)
        return self._matrix

    def _checked(self, agent: Any, value: Any) -> Array:
        codes = np.zeros(self.width, np.int64)
        try:
            self.encode(agent, value, codes)
        except (TypeError, ValueError, KeyError, OverflowError):
            self._refuse(agent, value)
        low, high = self.bounds(agent)
        if (codes < low).any() or (codes > high).any():
            self._refuse(agent, value)
        return codes

    def _room(self, number: int, attacks: int) -> tuple[Array, ...]:
        """Scratch and results for one agent's attacks, among a number of agents."""
        length = self._bounded(attacks)
        room = self._scratch.get(number)
        if room is None or len(room[1]) < length:  # an agent's number of attacks may have grown
            room = self._scratch[number] = (
                np.zeros((2, number), np.int32),
                np.zeros(length, np.int32),
                np.zeros(length, np.uint8),
            )
        return room

    def idle_choices(self, agent: Any) -> dict[str, str]:
        return {head: names[0] for head, names in (self.choice_names(agent) or {}).items()}

    def most_hits(self) -> int:
        return self._bounded(max([self._attacks_of(agent) for agent in self.supported()], default=0))

    def _bounded(self, attacks: int) -> int:
        """The largest number of hits of so many attacks."""
        return max(1, attacks if self.stacked_attacks else min(attacks, len(self.grid.agents)))

    def entries(self, agent: Any) -> int:
        """Nothing, and each cell in range."""
        return 1 + (2 * self.reach(agent, "attack_range") + 1) ** 2

    def find_legal(
        self, board: Board, overlap: Array, slots: Array, queried: Array, out: Array, lo: int, hi: int
    ) -> None:
        by_encoding = self.form == attacks.BY_ENCODING
        scratch = np.zeros(board.agents.shape[1], np.int32)
        masks.mask_attacks(
            board.agents, board.cells, self.matrix, by_encoding, slots, queried, scratch, out, lo, hi
        )

    @abstractmethod
    def _codes_of(self, agent: Any) -> int:
        """Number of codes of an agent's action."""

    @abstractmethod
    def _attacks_of(self, agent: Any) -> int:
        """Maximum number of attacks of an agent in one turn."""

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        agents, cells, stream = board
        scratch = np.zeros((2, agents.shape[1]), np.int32)  # one for each thread
        how = *turn, self.form, self.stacked_attacks, codes, self.users, scratch
        results = outcome.attempted, outcome.num_hits, outcome.hits, outcome.kills
        attacks.attack_all(agents, cells, self.matrix, stream, *how, *results, lo, hi)


class BinaryAttackActor(AttackActorBaseComponent):
    """The action is a number of attacks, up to `simultaneous_attacks`; each picks any target in range."""

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return spaces.Discrete(agent.simultaneous_attacks + 1), 0

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        return {self.key: _times(agent)}

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        return 0, agent.simultaneous_attacks

    def entries(self, agent: Any) -> int:
        """Nothing, and any target."""
        return 2

    def entry_of(self, agent: Any, point: Any) -> int | None:
        return min(int(point), 1)

    def find_legal(
        self, board: Board, overlap: Array, slots: Array, queried: Array, out: Array, lo: int, hi: int
    ) -> None:
        cells = np.zeros((*out.shape[:2], super().entries(self._grid.agents[slots[0]])), bool)
        super().find_legal(board, overlap, slots, queried, cells, lo, hi)
        out[lo:hi, :, 0] = True
        out[lo:hi, :, 1] = cells[lo:hi, :, 1:].any(axis=2)

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        codes[..., 0] = as_ints(value, codes.shape[:-1])

    def encode_all(self, agents: list[Any], values: list[Any], slots: list[int], codes: Array) -> None:
        codes[slots, 0] = as_ints(values, (len(slots),))

    def _codes_of(self, agent: Any) -> int:
        return 1

    def _attacks_of(self, agent: Any) -> int:
        return int(agent.simultaneous_attacks)


class EncodingBasedAttackActor(AttackActorBaseComponent):
    """The action is a number of attacks for each encoding."""

    form = attacks.BY_ENCODING

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        encodings = self._targets(agent)
        parts: Any = {encoding: spaces.Discrete(agent.simultaneous_attacks + 1) for encoding in encodings}
        return spaces.Dict(parts), dict.fromkeys(encodings, 0)

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        # In the order of a world's action space; its parts have these names with dots.
        return {f"attack encoding {encoding}": _times(agent) for encoding in self._targets(agent)}

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        high = np.zeros(self.width, np.int64)
        used = self._codes_of(agent)
        high[0:used:2], high[1:used:2] = self.grid.top, agent.simultaneous_attacks
        return 0, high

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        if set(value) != set(self._targets(agent)):
            raise ValueError
        for place, (encoding, number) in enumerate(value.items()):
            codes[..., 2 * place] = encoding
            codes[..., 2 * place + 1] = as_ints(number, codes.shape[:-1])

    def entries(self, agent: Any) -> int:
        """Nothing, and each encoding."""
        return self.grid.top + 1

    def entry_of(self, agent: Any, point: Any) -> int | None:
        wanted = [encoding for encoding, number in point.items() if number]
        return None if len(wanted) > 1 else (wanted or [0])[0]

    def choice_entries(self, agent: Any, path: tuple[Any, ...] = ()) -> Array | None:
        if len(path) == 1 and self.supports(agent):
            return np.array([0] + [int(path[0])] * agent.simultaneous_attacks)
        return super().choice_entries(agent, path)

    def action_mask(self, agent: Any) -> Any:
        """Encoding -> mask of the number of attacks on it."""
        if not self.supports(agent):
            return None
        legal, number = self.legal_here(agent), agent.simultaneous_attacks
        return {
            encoding: np.array([1] + [legal[encoding]] * number, np.int8) for encoding in self._targets(agent)
        }

    def _targets(self, agent: Any) -> list[int]:
        return sorted(self.attack_mapping.get(agent.encoding, ()))

    def _codes_of(self, agent: Any) -> int:
        return 2 * max(1, len(self._targets(agent)))

    def _attacks_of(self, agent: Any) -> int:
        return len(self._targets(agent)) * int(agent.simultaneous_attacks)


class SelectiveAttackActor(AttackActorBaseComponent):
    """The action is a number of attacks for each cell in range."""

    form = attacks.BY_CELL

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        side = 2 * self.reach(agent, "attack_range") + 1
        return Box(0, agent.simultaneous_attacks, (side, side), int), np.zeros((side, side), int)

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        return {f"attack {cell}": _times(agent) for cell in _cell_names(self.reach(agent, "attack_range"))}

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        high = np.zeros(self.width, np.int64)
        high[: self._codes_of(agent)] = agent.simultaneous_attacks
        return 0, high

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        side, batch = 2 * self.reach(agent, "attack_range") + 1, codes.shape[:-1]
        cells = as_ints(value, (*batch, side, side))
        codes[..., : side**2] = cells.reshape(*batch, side**2)

    def action_mask(self, agent: Any) -> Any:
        """(side, side) int8: 1 for each cell with a possible target."""
        if not self.supports(agent):
            return None
        side = 2 * self.reach(agent, "attack_range") + 1
        return self.legal_here(agent)[1:].reshape(side, side).astype(np.int8)

    def _codes_of(self, agent: Any) -> int:
        return (2 * self.reach(agent, "attack_range") + 1) ** 2

    def _attacks_of(self, agent: Any) -> int:
        return self._codes_of(agent) * int(agent.simultaneous_attacks)


class RestrictedSelectiveAttackActor(AttackActorBaseComponent):
    """The action is a cell for each attack: 0 none, 1 top left, 2 to the right of it, row by row."""

    form = attacks.CELLS_NAMED

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        number = agent.simultaneous_attacks
        return spaces.MultiDiscrete([self._cells(agent) + 1] * number), np.zeros(number, int)

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        number = int(agent.simultaneous_attacks)
        heads = ["attack"] if number == 1 else [f"attack {place + 1}" for place in range(number)]
        return dict.fromkeys(heads, ("none", *_cell_names(self.reach(agent, "attack_range"))))

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        high = np.zeros(self.width, np.int64)
        high[: self._codes_of(agent)] = self._cells(agent)
        return 0, high

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        number = int(agent.simultaneous_attacks)
        codes[..., :number] = as_ints(value, (*codes.shape[:-1], number))

    def entry_of(self, agent: Any, point: Any) -> int | None:
        return int(point[0]) if len(point) == 1 else None

    def choice_entries(self, agent: Any, path: tuple[Any, ...] = ()) -> Array | None:
        if self.supports(agent) and isinstance(agent.action_space[self.key], spaces.MultiDiscrete):
            return np.tile(np.arange(self.entries(agent)), agent.simultaneous_attacks)
        return super().choice_entries(agent, path)

    def action_mask(self, agent: Any) -> Any:
        """For each attack (cells + 1,) int8: none, or the cells with a possible target."""
        if not self.supports(agent):
            return None
        legal = self.legal_here(agent).astype(np.int8)
        return tuple(legal.copy() for _ in range(agent.simultaneous_attacks))

    def _cells(self, agent: Any) -> int:
        return (2 * self.reach(agent, "attack_range") + 1) ** 2

    def _codes_of(self, agent: Any) -> int:
        return int(agent.simultaneous_attacks)

    def _attacks_of(self, agent: Any) -> int:
        return int(agent.simultaneous_attacks)


def _times(agent: Any) -> tuple[str, ...]:
    """Names of numbers of attacks."""
    number = int(agent.simultaneous_attacks)
    return (
        ("no attack", "attack") if number == 1 else tuple(f"{times} attacks" for times in range(number + 1))
    )


def _cell_names(reach: int) -> tuple[str, ...]:
    """Names of the cells around an agent, row by row."""
    steps = range(-reach, reach + 1)
    cells = (
        f"{place_name(down, 'up', 'down')} {place_name(right, 'left', 'right')}".strip()
        for down in steps
        for right in steps
    )
    return tuple(cell or "here" for cell in cells)
