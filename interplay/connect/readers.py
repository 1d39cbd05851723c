"""The arrays of one kind of agents as dictionaries by name, and actions back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.connect.choices import by_row
from interplay.connect.flat import FORMS, FlatActions, flat_observation_space, flat_rows
from interplay.core import masks
from interplay.core.errors import UserError
from interplay.core.world import World

Members = list[tuple[int, str]]


class KindReader:
    """Splits the arrays of one kind into per-agent dictionaries, and stacks their actions.

    Args:
        world: a batch of one.
        index: of the kind.
        mask_in_observation: observations are ``{"observation": ..., "action_mask": (choices,) int8}``.

    Attributes:
        members: slots and names.
        plain_space: of observations without the mask.
        observation_space: of observations as returned.
        action_space: its ``sample`` takes a mask row.
        choices: length of a mask row.
    """

    def __init__(self, world: World, index: int, mask_in_observation: bool = False) -> None:
        kind = world.kinds[index]
        self.name = kind.name
        self.members: Members = [(slot, world.agents[slot]) for slot in kind.slots]
        self.mask_in_observation = mask_in_observation
        self._given = kind
        self._choose_spaces(world)
        self.choices = masks.length(self.action_space)
        self.observation_space: spaces.Space[Any] = self.plain_space
        if mask_in_observation:
            # Where there is nothing to choose from there is a lone 1, as empty masks are refused by PettingZoo's tests.
            legal = spaces.Box(0, 1, (max(self.choices, 1),), np.int8)
            self.observation_space = spaces.Dict({"observation": self.plain_space, "action_mask": legal})
        self._idle = idle(self.action_space)

    def _choose_spaces(self, world: World) -> None:
        self.plain_space: spaces.Space[Any] = self._given.observation_space
        self.action_space = by_row(self._given.action_space)
        self._whole = {
            key for key, part in self._given.observation_space.items() if isinstance(part, spaces.Box)
        }

    def batch(self, actions: Mapping[str, Any], acting: Any) -> Any:
        """(1, A_kind, ...) actions; idle agents may be left out."""
        try:
            rows = [actions[name] for _, name in self.members]
        except KeyError:
            rows = [
                actions[name] if name in actions or acting(slot) else self._idle
                for slot, name in self.members
            ]
        return self._stacked(rows)

    def observe(self, fields: Any, rows: np.ndarray | None, listed: Sequence[bool]) -> dict[str, Any]:
        """The observations of the listed agents.

        Args:
            fields: name -> (1, A_kind, ...).
            rows: (A_kind, choices) bool, as `legal` gives; None: everything is legal.
            listed: (A,) by slot.
        """
        found = self._seen(fields, listed)
        if not self.mask_in_observation:
            return found
        shown = self._shown(rows)
        return {
            name: {"observation": found[name], "action_mask": shown[column]}
            for column, (slot, name) in enumerate(self.members)
            if listed[slot]
        }

    def blank(self, rows: np.ndarray | None = None) -> Any:
        """The observation of an absent agent, with the mask of the first of `rows`."""
        seen = idle(self.plain_space)
        if not self.mask_in_observation:
            return seen
        return {"observation": seen, "action_mask": self._shown(rows)[0]}

    def legal(self, mask: Any) -> np.ndarray | None:
        """(A_kind, choices) bool of a `TimeStep.action_mask` of the kind, a copy; None: all legal."""
        if mask is None or not self.choices:
            return None
        return masks.rows_of(self._given.action_space, mask, len(self.members))

    def masks(self, mask: Any, listed: Sequence[bool]) -> dict[str, np.ndarray]:
        """The masks of the listed agents, (choices,) bool each; empty where the kind has none."""
        return self.named(self.legal(mask), listed)

    def named(self, rows: np.ndarray | None, listed: Sequence[bool]) -> dict[str, np.ndarray]:
        """Rows of the kind by the names of the listed agents."""
        if rows is None:
            return {}
        return {name: rows[column] for column, (slot, name) in enumerate(self.members) if listed[slot]}

    def all_legal(self) -> np.ndarray:
        """(A_kind, choices) bool, everything legal."""
        return np.ones((len(self.members), self.choices), bool)

    def only_idle(self) -> np.ndarray:
        """(choices,) bool: one legal action, the first choice of every head."""
        row = np.zeros(self.choices, bool)
        counts = _counts(self.action_space)
        row[np.cumsum([0, *counts[:-1]])[: len(counts)]] = True
        return row

    def _seen(self, fields: Any, listed: Sequence[bool]) -> dict[str, Any]:
        """Copies each field once for all agents, then returns rows of it."""
        rows = [(key, field[0].copy()) for key, field in fields.items()]
        return {
            name: {key: row[column, ...] if key in self._whole else row[column] for key, row in rows}
            for column, (slot, name) in enumerate(self.members)
            if listed[slot]
        }

    def _shown(self, rows: np.ndarray | None) -> np.ndarray:
        if rows is None or not self.choices:
            return np.ones((len(self.members), max(self.choices, 1)), np.int8)
        return rows.astype(np.int8)

    def _stacked(self, rows: list[Any]) -> Any:
        return _stack(self.action_space, rows)


class FlatReader(KindReader):
    """A `KindReader` of flat rows: observations (numbers,) float32, actions from 0 (`interplay.connect.flat`).

    Args:
        world, index, mask_in_observation: as above.
        single: an action is one number.
    """

    def __init__(
        self, world: World, index: int, mask_in_observation: bool = False, single: bool = False
    ) -> None:
        self._single = single
        super().__init__(world, index, mask_in_observation)

    def _choose_spaces(self, world: World) -> None:
        kind = self._given
        owner = world.id if len(world.kinds) == 1 else f"{world.id} {kind.name}"
        self.plain_space = flat_observation_space(kind.observation_space)
        self._actions = FlatActions(owner, kind.action_space, self._single)
        self.action_space = self._actions.space

    def legal(self, mask: Any) -> np.ndarray | None:
        if mask is None or not self.choices:
            return None
        return self._actions.masks(mask, len(self.members))

    def _seen(self, fields: Any, listed: Sequence[bool]) -> dict[str, Any]:
        rows = flat_rows(self._given.observation_space, fields)
        return {name: rows[column] for column, (slot, name) in enumerate(self.members) if listed[slot]}

    def _stacked(self, rows: list[Any]) -> Any:
        return self._actions.batch(rows)


def require_one_world(world: World) -> None:
    """Refuses a batch of several worlds, of which all but the first would be dropped."""
    if world.num_worlds != 1:
        raise UserError(f"{world.id}: num_worlds = {world.num_worlds}, this environment is one world; pass 1")


def readers_of(world: World, flat: bool | str, mask_in_observation: bool = False) -> list[KindReader]:
    """A reader for each kind of a world: as it is, flat, or flat with one number for an action."""
    require_one_world(world)
    if not any(flat is form or (isinstance(flat, str) and flat == form) for form in FORMS):
        raise UserError(f'{world.id}: flat = {flat!r}; choose False, True or "discrete"')
    numbers = range(len(world.kinds))
    if flat:
        return [FlatReader(world, k, mask_in_observation, single=flat == "discrete") for k in numbers]
    return [KindReader(world, k, mask_in_observation) for k in numbers]


def idle(space: spaces.Space[Any]) -> Any:
    """A point of the space near 0, for idle agents' actions and absent agents' observations."""
    if isinstance(space, spaces.Dict):
        return {key: idle(part) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(idle(part) for part in space.spaces)
    if isinstance(space, spaces.Box):
        return np.asarray(np.clip(np.zeros(space.shape, space.dtype), space.low, space.high))
    start = getattr(space, "start", 0)
    return np.broadcast_to(start, space.shape or ()).astype(space.dtype)


def _counts(space: spaces.Space[Any]) -> list[int]:
    """Choices of every head of a space, Dicts included."""
    if isinstance(space, spaces.Dict):
        return [count for part in space.spaces.values() for count in _counts(part)]
    return [] if isinstance(space, spaces.Box) else list(masks.action_choices(space))


def _stack(space: spaces.Space[Any], rows: list[Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _stack(part, [row[key] for row in rows]) for key, part in space.spaces.items()}
    return np.array(rows)[np.newaxis]
