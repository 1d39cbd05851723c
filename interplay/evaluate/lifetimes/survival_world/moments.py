"""One step of the survival world as recorders read it; no other recorder reads that world's state.

What agents see and strike lies in the middle of a step and is gone when it ends. So the first half of each step, up to the
blows, is made again on a copy of the world as it was before, by the same compiled phases.
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

LOST = -1  # of `Moment.taker`: nobody got the gift
_COPIED = ("body", "agent", "room", "inventory")  # what the phases up to the blows write


class Moment(NamedTuple):
    """What a step did; W worlds, A agents, S slots of an inventory. Metres, steps, hit points, body rows.

    Attributes:
        going: (W,) bool, the world made a step; elsewhere it was over or has just been reset, and nothing below counts.
        steps: (W,) of the episode, this one included.
        acted: (W, A) bool, alive as the step began.
        alive: (W, A) bool, alive now.
        position: (W, A, 2), now; of the dead, where they fell.
        before: (W, A) health as the step began.
        circle: (W, 3) x, y and radius of the zone that this step judged by, as it was before it moved.
        outside: (W, A) bool, stands outside of that circle; nobody does where there is no zone.
        ray: (W, A) what the melee segment met first as blows were struck: a body row, `sight.WALL` or `sight.NOBODY`.
        struck: (W, A) bool, chose to attack and was ready to.
        used, given, dropped: (W, A) row of the item, or `EMPTY`.
        taker: (W, A) the slot that got the gift, or `LOST`.
        picked: (W, A, S) rows of the items picked up, in order, then `EMPTY`.
        died: (W, A) bool, in this step.
        cause: (W, A) what last changed the health: a side, `state.NOBODY` or `state.ZONE`.
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
    """Reads the step that a batch of `SurvivalWorld`s has just made; to be called after every reset and every step.

    Phases in Python (modules of one's own) are not made again: what they move before the blows is not in `ray`.

    Args:
        world: the batch, before the first step that counts.
    """

    def __init__(self, world: Any) -> None:
        self._table = as_table(world.rules)
        self._before = _copy(world.state)

    def __call__(self, world: Any) -> Moment:
        """The moment; its arrays are its own."""
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
        """Gifts one giver after the other, as the rules make them: only so it is told who gave to whom."""
        wishes = middle.action[:, :, GIVE].copy()
        given, taker = np.full(wishes.shape, EMPTY), np.full(wishes.shape, LOST)
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
            return np.full(middle.agent.shape, EMPTY)
        held, last = middle.agent["held"].copy(), _last(middle)
        self._run(world, middle, going, phases.DROP_ITEMS)
        found: Array = np.where((middle.agent["held"] < held) & (middle.action[:, :, DROP] == 1), last, EMPTY)
        return found

    def _run(self, world: Any, state: Any, going: Array, *numbers: int) -> None:
        plan = np.array([[number, 0, 0] for number in numbers])
        phases.run_phases(state, self._table, world.simulation.scratch, plan, going, 0, 0, len(going))


def moment_reader(world: World) -> Callable[[World], Moment]:
    """What reads the steps of a world from here on, as the world announces it in `World.instruments`.

    Raises:
        UserError: for any world but survival.
    """
    if "moments" not in world.instruments:
        raise UserError(
            f"{world.id}: its agents neither strike nor use items as those of survival do; "
            "analyse a world such as survival/1v1-all-high"
        )
    reader: Callable[[World], Moment] = load(world.instruments["moments"])(world)
    return reader


def _copy(state: Any) -> Any:
    return state._replace(**{name: getattr(state, name).copy() for name in _COPIED})


def _outside(position: Array, circle: Array) -> Array:
    away = position - circle[:, None, :2]
    radius = circle[:, 2:]
    found: Array = (radius == 0.0) | ((away * away).sum(axis=2) > radius * radius)
    return found


def _last(state: Any) -> Array:
    """(W, A) row of the item in each agent's last filled slot, or `EMPTY`."""
    held = state.agent["held"]
    last = np.take_along_axis(state.inventory, np.maximum(held - 1, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(held > 0, last, EMPTY)


def _picked(state: Any, middle: Any, alive: Array) -> Array:
    """Pick-ups only append: what stands in slots that were free before."""
    slots = np.arange(state.inventory.shape[2])
    new = (slots >= middle.agent["held"][:, :, None]) & alive[:, :, None]
    picked = np.where(new, state.inventory, EMPTY)
    order = np.argsort(picked == EMPTY, axis=2, kind="stable")
    return np.take_along_axis(picked, order, axis=2)
