"""One step of the survival world, the input of its recorders.

Targets of strikes exist only in the middle of a step. So the first half of each step, up to the blows, is repeated on a copy of the
previous state by the same compiled phases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.jit import as_table
from interplay.core.loading import load
from interplay.core.world import Array, World
from interplay.worlds.survival.rules import step as phases
from interplay.worlds.survival.rules.fight import ATTACK, DROP, GIVE, melee_targets
from interplay.worlds.survival.state import EMPTY

LOST = -1  # of `Moment.taker`: no taker
_COPIED = ("body", "agent", "room", "inventory")  # written by the phases up to the blows


class Moment(NamedTuple):
    """A step of W worlds, A agents, S slots of an inventory. Units: metres, steps, hit points, body rows.

    Attributes:
        going: (W,) bool, the world made a step; if not (over or just reset), its other fields are invalid.
        steps: (W,) of the episode, this one included.
        acted: (W, A) bool, alive at the start of the step.
        alive: (W, A) bool, alive at its end.
        position: (W, A, 2), at its end; for the dead, the place of death.
        before: (W, A) health at the start of the step.
        circle: (W, 3) x, y and radius of the zone in effect, before it moves.
        outside: (W, A) bool, outside of that circle; False without a zone.
        ray: (W, A) first hit of the melee segment at the time of the blows: a body row, `sight.WALL` or `sight.NOTHING`.
        struck: (W, A) bool, chose to attack and was ready.
        used, given, dropped: (W, A) row of the item, or `EMPTY`.
        taker: (W, A) the slot that received the gift, or `LOST`.
        picked: (W, A, S) rows of the items picked up, in order, then `EMPTY`.
        died: (W, A) bool, in this step.
        cause: (W, A) source of the last damage: a side, `state.NO_SIDE` or `state.ZONE`.
    """

    going: Array
    steps: Array
    acted: Array
    alive: Array
    position: Array
    before: Array
    circle: Array
    outside: Array
    ray: Array
    struck: Array
    used: Array
    given: Array
    dropped: Array
    taker: Array
    picked: Array
    died: Array
    cause: Array


class MomentReader:
    """Reads the last step of a batch of `SurvivalWorld`s; must be called after every reset and step.

    User-defined phases in Python are not repeated: their movements before the blows are missing in `ray`.

    Args:
        world: the batch, before the first step that counts.
    """

    def __init__(self, world: Any) -> None:
        self._table = as_table(world.rules)
        self._before = _copy(world.state)

    def __call__(self, world: Any) -> Moment:
        """The moment; its arrays are copies."""
        state, rules, middle = world.state, world.rules, self._before
        self._before = _copy(state)
        agents = rules.agents
        going = ~middle.room["over"] & (state.room["steps"] == middle.room["steps"] + 1)
        acted = middle.body["present"][:, :agents] & going[:, None]
        before, ready = middle.body["health"][:, :agents].copy(), middle.agent["cooldown"] == 0
        circle = np.stack([middle.room[name] for name in ("zone_x", "zone_y", "zone_r")], axis=1)
        middle = middle._replace(action=state.action.copy())
        self._run(world, middle, going, phases.DROP_BROKEN_BOXES)
        if rules.inventory:
            self._run(world, middle, going, phases.USE_ITEMS)
        given, taker = self._give(world, middle, going)
        dropped = self._drop(world, middle, going)
        ray = np.zeros(acted.shape, np.int64)
        melee_targets(middle, self._table, ray)
        position = np.stack([state.body["x"], state.body["y"]], axis=2)[:, :agents]
        alive = state.body["present"][:, :agents].copy()
        return Moment(
            going=going,
            steps=state.room["steps"].copy(),
            acted=acted,
            alive=alive,
            position=position,
            before=before,
            circle=circle,
            outside=_outside(position, circle) & bool(rules.zone),
            ray=ray,
            struck=acted & ready & bool(rules.melee) & (state.action[:, :, ATTACK] == 1),
            used=np.where(acted, state.agent["used"], EMPTY),
            given=given,
            dropped=dropped,
            taker=taker,
            picked=_picked(state, middle, alive & going[:, None]),
            died=state.agent["died"] & going[:, None],
            cause=state.body["cause"][:, :agents].copy(),
        )

    def _give(self, world: Any, middle: Any, going: Array) -> tuple[Array, Array]:
        """Repeats gifts giver by giver, in the order of the rules, to identify each taker."""
        wishes = middle.action[:, :, GIVE].copy()
        given, taker = np.full(wishes.shape, EMPTY, np.int64), np.full(wishes.shape, LOST)
        if not world.rules.inventory:
            return given, taker
        for a in np.flatnonzero(wishes.any(axis=0)):
            middle.action[:, :, GIVE] = 0
            middle.action[:, a, GIVE] = wishes[:, a]
            held, last = middle.agent["held"].copy(), _last(middle)[:, a]
            self._run(world, middle, going, phases.GIVE_ITEMS)
            change = middle.agent["held"] - held
            given[:, a] = np.where(change[:, a] < 0, last, EMPTY)
            taker[:, a] = np.where((change > 0).any(axis=1), change.argmax(axis=1), LOST)
        return given, taker

    def _drop(self, world: Any, middle: Any, going: Array) -> Array:
        if not world.rules.drop_action:
            return np.full(middle.agent.shape, EMPTY, np.int64)
        held, last = middle.agent["held"].copy(), _last(middle)
        self._run(world, middle, going, phases.DROP_ITEMS)
        return np.where((middle.agent["held"] < held) & (middle.action[:, :, DROP] == 1), last, EMPTY)

    def _run(self, world: Any, state: Any, going: Array, *numbers: int) -> None:
        plan = np.array([[number, 0, 0] for number in numbers])
        phases.run_phases(state, self._table, world.simulation.scratch, plan, going, 0, 0, len(going))


def moment_reader(world: World) -> Callable[[World], Moment]:
    """The reader of a world's steps from now on, named in `World.instruments`."""
    if "moments" not in world.instruments:
        raise UserError(
            f"{world.id}: its agents neither strike nor use items as those of survival do; "
            "analyse a world such as survival/1v1-all-high"
        )
    return load(world.instruments["moments"])(world)


def _copy(state: Any) -> Any:
    return state._replace(**{name: getattr(state, name).copy() for name in _COPIED})


def _outside(position: Array, circle: Array) -> Array:
    away = position - circle[:, None, :2]
    radius = circle[:, 2:]
    return (radius == 0.0) | ((away * away).sum(axis=2) > radius * radius)


def _last(state: Any) -> Array:
    """(W, A) row of the item in each agent's last filled slot, or `EMPTY`."""
    held = state.agent["held"]
    last = np.take_along_axis(state.inventory, np.maximum(held - 1, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(held > 0, last, EMPTY)


def _picked(state: Any, middle: Any, alive: Array) -> Array:
    """Rows in slots that were free before; pick-ups only append."""
    slots = np.arange(state.inventory.shape[2])
    new = (slots >= middle.agent["held"][:, :, None]) & alive[:, :, None]
    picked = np.where(new, state.inventory, EMPTY)
    order = np.argsort(picked == EMPTY, axis=2, kind="stable")
    return np.take_along_axis(picked, order, axis=2)
