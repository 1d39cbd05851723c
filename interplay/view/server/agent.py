"""Describes one agent for the page (docs/specs/viewer.md 8)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.core.world import World
from interplay.view.run_log import one_line
from interplay.view.server.heads import Heads, heads_of, numbers, place_of
from interplay.view.server.observation import describe_observation


def describe_agent(
    world: World,
    slot: int,
    tick: int,
    policy: str,
    heads: Heads | None = None,
    earned: float | None = None,
    look: Any = None,
    chosen: Any = None,
    present: bool | None = None,
    note: str | None = None,
) -> dict[str, Any]:
    """Describes an agent of a batch of one at the current time step.

    Args:
        tick: the page's number of this time step.
        heads: of its kind; None: they are made.
        earned: its return so far; None if unknown.
        look: outputs of its network (`interplay.train.play.by_name.Look`); None if unknown.
        chosen: the actions of its kind in the last step, (1, A, ...); None after a reset.
        present: whether the slot has an agent; None: as in the current time step.
        note: for the user, on missing parts.
    """
    step = world.timestep
    kind, column = place_of(world, slot)
    heads = heads or heads_of(world)[kind.name]
    acting = bool(step.acting[0, slot])
    alive = np.asarray(world.metrics.get("alive", 0))
    if alive.ndim == 2:
        present = bool(alive[0, slot])
    legal = (
        heads.legal(world.by_kind(step.action_mask)[kind.name], len(kind.slots))[column] if acting else None
    )
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
        "reward": _number(step.reward[0, slot]),
        "return": _number(earned),
        "value": value[0] if value else None,
        "metrics": {
            one_line(name): _number(array[0, slot])
            for name, array in world.metrics.items()
            if np.ndim(array) == 2
        },
        "heads": heads.describe(legal, look),
        "observation": describe_observation(
            world, slot, world.by_kind(step.observation)[kind.name], column, look
        ),
        "chosen": None if chosen is None else heads.choices(chosen, column),
    }


def _number(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
