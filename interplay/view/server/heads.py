"""Action spaces as heads for people: choices, legality, and the default action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.controls import Controls, controls_of, names_of
from interplay.core.errors import UserError
from interplay.core.masks import rows_of
from interplay.core.spaces import action_choices
from interplay.core.world import Array, Kind, World
from interplay.view.run_log import finite

WHOLE = "action"  # of an action space that is no Dict


class Head(NamedTuple):
    """One component of an action.

    Attributes:
        name: unique, for the page.
        key: of the part of a Dict; ``action`` for other spaces.
        place: flat index in that part; a Box is a head as a whole.
        start: the world's number of the first choice; the page counts from 0.
        choices: their number; 0 for a Box.
        column: of its first choice in a row of the mask.
        low, high: of a Box, flat; infinite ends are None.
        labels: names of the choices, or of the numbers of a Box; may be empty.
    """

    name: str
    key: str
    place: int
    start: int
    choices: int
    column: int
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    labels: tuple[str, ...] = ()


class Heads:
    """The heads of one kind of agents.

    Args:
        names: of heads and choices (`interplay.core.controls.names_of`); None: from the space.
        idle: head -> default choice.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        names: Mapping[str, tuple[str, ...]] | None = None,
        idle: Mapping[str, str] | None = None,
    ) -> None:
        self._space, self._idle = space, dict(idle or {})
        self._parts = dict(space.spaces) if isinstance(space, spaces.Dict) else {WHOLE: space}
        found = tuple(self._find())
        self.heads = (
            found
            if names is None
            else tuple(
                head._replace(name=name, labels=labels)
                for head, (name, labels) in zip(found, names.items(), strict=True)
            )
        )
        self._by_name = {head.name: head for head in self.heads}

    def _find(self) -> Iterator[Head]:
        column = 0
        for key, part in self._parts.items():
            if isinstance(part, spaces.Box):
                low, high = (
                    tuple(finite(x) for x in end.reshape(-1).tolist()) for end in (part.low, part.high)
                )
                yield Head(key, key, 0, 0, 0, column, low, high)
                continue
            counts = action_choices(part)
            starts = np.broadcast_to(np.asarray(getattr(part, "start", 0)), part.shape or ()).reshape(-1)
            for place, (count, start) in enumerate(zip(counts, starts.tolist(), strict=True)):
                name = key if len(counts) == 1 else f"{key} {place + 1}"
                yield Head(name, key, place, int(start), count, column)
                column += count

    def legal(self, mask: Any, agents: int) -> Array:
        """(A, choices) bool, from a kind's mask; all true without one."""
        return rows_of(self._space, {} if mask is None else mask, agents)

    def describe(self, legal: Array | None = None, look: Any = None) -> list[dict[str, Any]]:
        """Describes all heads for the page.

        Args:
            legal: (choices,) bool of the agent; None if unknown.
            look: outputs of the agent's network (probabilities, mean); None if unknown.
        """
        described: list[dict[str, Any]] = []
        at = 0
        for head in self.heads:
            found: dict[str, Any] = {"name": head.name, "labels": list(head.labels) or None}
            if head.choices:
                own = slice(head.column, head.column + head.choices)
                probabilities = (
                    look.probabilities[own] if look is not None and len(look.probabilities) else None
                )
                found |= {"kind": "discrete", "n": head.choices, "probabilities": numbers(probabilities)}
                found["legal"] = None if legal is None else legal[own].tolist()
            else:
                mean = look.mean[at : at + len(head.low)] if look is not None and len(look.mean) else None
                at += len(head.low)
                found |= {
                    "kind": "box",
                    "low": list(head.low),
                    "high": list(head.high),
                    "mean": numbers(mean),
                }
            described.append(found)
        return described

    def read(self, given: Mapping[str, Any], legal: Array) -> dict[str, Array]:
        """A person's action: key of the part -> array of the space's shape; heads that are not named are idle.

        Args:
            given: head -> number of the choice, or the numbers of a Box.
            legal: (choices,) bool.
        """
        action = self.idle(legal)
        for name, value in given.items():
            head = self._by_name.get(name)
            if head is None:
                raise UserError(f"head {name[:60]!r}: unknown; choose from {', '.join(self._by_name)}")
            if not head.choices:
                action[head.key][...] = self._read_box(head, value)
                continue
            if isinstance(value, list) or not 0 <= value < head.choices:
                raise UserError(f"{name} = {str(value)[:60]}; choose from 0..{head.choices - 1}")
            if not legal[head.column + value]:
                chosen = head.labels[value] if head.labels else value
                raise UserError(f"{name} = {chosen} is not legal now; choose another one")
            action[head.key].reshape(-1)[head.place] = head.start + value
        return action

    def _read_box(self, head: Head, value: Any) -> Array:
        part = self._parts[head.key]
        assert isinstance(part, spaces.Box)
        if not isinstance(value, list) or len(value) != len(head.low):
            raise UserError(f"{head.name} = {str(value)[:60]}; give a list of {len(head.low)} numbers")
        found = np.array(value, float).reshape(part.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            kept = found.astype(part.dtype)  # may overflow if the ends are infinite
        if not (np.isfinite(kept) & (found >= part.low) & (found <= part.high)).all():
            raise UserError(f"{head.name} = {str(value)[:60]}: out of range; stay between low and high")
        if np.dtype(part.dtype).kind in "iu" and (found != kept).any():
            raise UserError(f"{head.name} = {str(value)[:60]}: no whole numbers; round them")
        return kept

    def idle(self, legal: Array) -> dict[str, Array]:
        """The default action: the world's default choice, else the first legal one; for a Box the numbers nearest to 0."""
        action = {
            key: np.clip(np.zeros(part.shape, part.dtype), part.low, part.high)
            if isinstance(part, spaces.Box)
            else np.zeros(part.shape or (), np.int64)
            for key, part in self._parts.items()
        }
        for head in self.heads:
            if head.choices:
                own = legal[head.column : head.column + head.choices]
                usual = head.labels.index(self._idle[head.name]) if head.name in self._idle else 0
                choice = usual if own[usual] else int(own.argmax())
                action[head.key].reshape(-1)[head.place] = head.start + choice
        return action

    def numbered(self, named: Mapping[str, str]) -> dict[str, int]:
        """Choices by name, as numbers."""
        return {head: self._by_name[head].labels.index(choice) for head, choice in named.items()}

    def keys(self, controls: Controls) -> dict[str, list[dict[str, int]]]:
        """Key -> numbers of heads and choices that the page sends for it."""
        places = {head.name: place for place, head in enumerate(self.heads)}
        return {
            key: [{"head": places[head], "choice": choice} for head, choice in self.numbered(chosen).items()]
            for key, chosen in controls.keys.items()
        }

    def put(self, tree: Any, column: int, action: Mapping[str, Array]) -> None:
        """Writes an agent's action into those of a kind, (1, A, ...), at its column."""
        for key, value in action.items():
            leaf = tree[key] if isinstance(self._space, spaces.Dict) else tree
            leaf[0, column] = value

    def choices(self, tree: Any, column: int) -> dict[str, Any]:
        """The agent's action at a column of a kind's actions, head by head."""
        chosen: dict[str, Any] = {}
        for head in self.heads:
            leaf = tree[head.key] if isinstance(self._space, spaces.Dict) else tree
            own = np.asarray(leaf)[0, column].reshape(-1)
            chosen[head.name] = int(own[head.place]) - head.start if head.choices else numbers(own)
        return chosen


class Seat(NamedTuple):
    """A slot's kind of agents, its column among that kind's, and its heads."""

    kind: Kind
    column: int
    heads: Heads

    def legal(self, world: World) -> Array:
        """(choices,) bool at the current time step."""
        mask = world.by_kind(world.timestep.action_mask)[self.kind.name]
        return self.heads.legal(mask, len(self.kind.slots))[self.column]


def seats_of(world: World) -> dict[int, Seat]:
    """The seat of each slot, with heads named as in the world."""
    seats = {}
    for kind in world.kinds:
        controls = controls_of(world, kind.slots[0])
        idle = None if controls is None else controls.idle
        heads = Heads(kind.action_space, names_of(world, kind.name), idle)
        seats |= {slot: Seat(kind, column, heads) for column, slot in enumerate(kind.slots)}
    return seats


def writable(tree: Any) -> Any:
    """A copy of a batch's actions that may be written to."""
    if isinstance(tree, Mapping):
        return {key: writable(part) for key, part in tree.items()}
    return np.array(tree)


def numbers(array: Any) -> list[float | int | None] | None:
    """A flat list for JSON, with None for infinite values and NaN; None for no array."""
    if array is None:
        return None
    flat = np.asarray(array).reshape(-1)
    if flat.dtype.kind != "f":
        return [int(x) for x in flat.tolist()]
    return [finite(x) for x in flat.tolist()]
