"""Describes one agent for the page: its observation part by part, with the world's guides to it (docs/specs/viewer.md 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.guides import Guide
from interplay.core.world import Array, World
from interplay.view.palette import TERRAIN
from interplay.view.run_log import finite, one_line
from interplay.view.server.config import CELLS, OBSERVED
from interplay.view.server.heads import Seat, numbers, seats_of

PIECE = " · "  # between the name of a field and that of a piece of it
CROP = 5  # cells a side from which on a 2D array of whole numbers is a picture
STACKED = 8  # most channels of an array of uint8 that is a stack of pictures, the newest last


def describe_agent(
    world: World,
    slot: int,
    tick: int,
    policy: str,
    seat: Seat | None = None,
    earned: float | None = None,
    look: Any = None,
    chosen: Any = None,
    present: bool | None = None,
    note: str | None = None,
) -> dict[str, Any]:
    """Describes an agent of a batch of one at the current time step.

    Args:
        tick: the page's number of this time step.
        seat: of the slot; None: it is made.
        earned: its return so far; None if unknown.
        look: outputs of its network (`interplay.train.play.by_name.Look`); None if unknown.
        chosen: the actions of its kind in the last step, (1, A, ...); None after a reset.
        present: whether the slot has an agent; None: as in the current time step.
        note: for the user, on missing parts.
    """
    step = world.timestep
    kind, column, heads = seat = seat or seats_of(world)[slot]
    acting = bool(step.acting[0, slot])
    alive = np.asarray(world.metrics.get("alive", 0))
    if alive.ndim == 2:
        present = bool(alive[0, slot])
    legal = seat.legal(world) if acting else None
    team = next((n for n, slots in enumerate(world.teams or ()) if slot in slots), None)
    value = None if look is None or look.value is None else numbers(look.value)
    return {
        "slot": slot,
        "tick": tick,
        "name": one_line(str(world.agents[slot])),
        "present": acting if present is None else present,
        "acting": acting,
        "team": team,
        "policy": one_line(policy),
        "note": note,
        "reward": finite(step.reward[0, slot]),
        "return": finite(earned),
        "value": value[0] if value else None,
        "metrics": {
            one_line(name): finite(array[0, slot])
            for name, array in world.metrics.items()
            if np.ndim(array) == 2
        },
        "heads": heads.describe(legal, look),
        "observation": describe_observation(
            world, slot, world.by_kind(step.observation)[kind.name], column, look
        ),
        "chosen": None if chosen is None else heads.choices(chosen, column),
    }


def describe_observation(
    world: World, slot: int, fields: Mapping[str, Any], column: int, look: Any = None
) -> list[dict[str, Any]]:
    """Describes the parts of an agent's observation in a batch of one.

    Args:
        fields: field -> (1, A, ...), of the agent's kind.
        column: of the agent among its kind.
        look: outputs of its network (attention is shown beside rows); None if unknown.
    """
    guides = world.observation_guides(0, slot)
    own = {name: np.asarray(array)[0, column] for name, array in fields.items()}
    masks = {guide.hidden for parts in guides.values() for guide in parts}
    described = []
    for name, array in own.items():
        if name not in masks:  # masks show in the rows that they hide
            weights = _attention(look, name)
            for guide, part in _parts(guides.get(name) or (_guess(array),), array):
                described.append(_describe(name, guide, part, own, weights))
    return described


def _parts(guides: Sequence[Guide], array: Array) -> Iterator[tuple[Guide, Array]]:
    """Splits a field into its consecutive pieces; the rest is a piece of its own."""
    if len(guides) == 1:
        yield guides[0], array[..., -1] if guides[0].kind == "crop" and array.ndim == 3 else array
        return
    flat, at = array.reshape(-1), 0
    for guide in guides:
        count = _size(guide)
        part = flat[at : at + count]
        if count and part.size == count:
            yield guide, part.reshape(guide.rows, -1) if guide.kind == "rows" and guide.rows else part
        at += count
    if flat[at:].any():
        yield Guide(title="others"), flat[at:]


def _size(guide: Guide) -> int:
    """Number of elements of a part that others follow."""
    if guide.kind == "text":
        return guide.rows
    return len(guide.angles) or len(guide.names) * max(guide.rows, 1)


def _guess(array: Array) -> Guide:
    """A guide to a field without one."""
    if array.ndim == 2 and min(array.shape) >= CROP and array.dtype.kind in "biu":
        return Guide("crop")
    if array.ndim == 3 and array.dtype == np.uint8 and array.shape[2] <= STACKED:
        return Guide("crop", title="newest")
    return Guide("rows" if array.ndim == 2 else "numbers")


def _describe(
    name: str, guide: Guide, part: Array, own: Mapping[str, Array], weights: Sequence[float]
) -> dict[str, Any]:
    few = part.size <= (CELLS if guide.kind == "crop" else OBSERVED)
    found: dict[str, Any] = {
        "name": one_line(f"{name}{PIECE}{guide.title}" if guide.title else name),
        "shape": list(part.shape),
        "values": numbers(part) if few else None,
        "kind": guide.kind,
    }
    if guide.names and guide.kind != "text":
        found["names"] = [one_line(str(one)) for one in guide.names]
    if guide.kind == "crop":
        found["palette"] = list(TERRAIN if guide.palette == "terrain" else guide.palette)
    part = np.atleast_1d(part)
    there = np.arange(len(part)) < (len(part) if guide.shown is None else guide.shown)
    if guide.hidden:
        there &= own[guide.hidden].reshape(-1)[: len(part)] == 0
    if few and not there.all():  # what is hidden from the agent is hidden from its player
        found["values"] = numbers(
            np.where(there.reshape(-1, *[1] * (part.ndim - 1)), part.astype(float), np.nan)
        )
    if guide.kind == "text" and few:
        return {**found, "values": [], "text": _text(guide, part[there])}
    if guide.kind == "rays" and part.shape == (len(guide.angles),):
        lengths = np.where(there, part.astype(float) * guide.unit, np.nan)
        return {**found, "values": numbers(lengths), "angles": np.asarray(guide.angles, float).tolist()}
    if guide.kind in ("rays", "text"):
        return {**found, "kind": "numbers"}  # too many, or not as many as directions
    if guide.kind != "rows" or part.ndim != 2:
        return found
    if not there.all():
        found["there"] = there.tolist()
    if len(guide.slots):
        found["slots"] = [int(one) if one >= 0 else None for one in guide.slots][: len(part)]
    if len(weights) == len(part):
        found["weights"] = list(weights)
    return found


def _text(guide: Guide, letters: Array) -> str:
    """Decodes words, or bytes up to the first 0; invalid numbers are left out."""
    numbers = np.nan_to_num(letters.astype(float).reshape(-1), nan=-1.0, posinf=-1.0, neginf=-1.0)
    if guide.names:
        return " ".join(str(guide.names[int(n)]) for n in numbers if 0 <= n < len(guide.names))
    data = bytes(int(n) for n in numbers if 0 <= n < 256)
    return data.partition(b"\0")[0].decode("utf-8", "replace")


def _attention(look: Any, name: str) -> list[float]:
    """Attention to each row of a field, the mean over heads and queries; empty if unknown."""
    attention = getattr(look, "attention", None)
    if attention is None:
        return []
    keys = [place for place, key in enumerate(look.attended) if key.startswith(f"{name}[")]
    mean = np.asarray(attention, float).mean(axis=(0, 1))
    found = mean[keys] if keys and max(keys) < len(mean) else np.zeros(0)
    return found.tolist() if np.isfinite(found).all() else []
