"""Events of survival: contacts, items picked up, used, given and dropped, and deaths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from interplay.core.world import Array
from interplay.evaluate.lifetimes.survival_world.moments import Moment
from interplay.planar.sight import NOTHING, WALL
from interplay.worlds.survival.state import EMPTY, NO_SIDE, ZONE

KINDS = ("contact", "pick-up", "use", "gift", "drop", "death")
CONTACT, PICK_UP, USE, GIFT, DROP, DEATH = range(len(KINDS))
# First on the melee ray, or held.
THINGS = ("nothing", "wall", "opponent", "mate", "box", "heal", "box item", "other item")
NOTHING_THERE, A_WALL, OPPONENT, MATE, BOX, HEAL, BOX_ITEM, OTHER_ITEM = range(len(THINGS))
CAUSES = ("zone", "blow", "other")  # of death; other: a user-defined mechanic
EARLY = 5  # first steps of a contact, counted separately so that long contacts do not dominate

EVENT = np.dtype(
    [
        ("world", np.int32),
        ("step", np.int32),  # of the episode, from 1; of a contact, its first
        ("agent", np.int16),
        ("kind", np.uint8),  # index into KINDS
        ("what", np.uint8),  # contact: OPPONENT; items: index into THINGS; death: index into CAUSES
        # Contact: the opponent; gift: the taker, -1 none; death by a blow: the side of the attacker; else -1.
        ("other", np.int16),
        # Contact: its length; use, gift, drop: since the pick-up, -1 unknown; else 0.
        ("steps", np.int32),
        ("early", np.int16),  # contact: steps among its first EARLY
        ("strikes", np.int32),  # contact: steps in which the agent struck
        ("early_strikes", np.int16),  # contact: those among its first EARLY steps
        ("health", np.int32),  # at the start of the step
        ("x", np.float32),  # m, at the end of the step
        ("y", np.float32),
        ("radius", np.float32),  # m, of the zone in effect
        ("outside", np.bool_),  # of it
    ]
)


class EventRecorder:
    """Lists events, and counts objects on the melee ray and agents inside the zone.

    A contact is an unbroken run of steps in which an agent's melee segment meets the same opponent first, so that the agent could strike
    it. Contacts are listed when they end; `events` closes those that go on.

    Attributes:
        on_ray: (A, len(THINGS), 2) int64, [..., 0] steps in which the ray met this first, [..., 1] those with a strike.
        inside: (A, 2) int64, steps survived outside [0] and inside [1].
        standing: (steps, 2) int64 by step of the episode: living agents, and those of them inside.
        present: (W, A) bool, agents that were alive, in episodes that went on, as the recording began.

    Example:
        >>> from interplay import make_world
        >>> from interplay.core.policy import RandomPolicy
        >>> from interplay.evaluate.lifetimes.survival_world.moments import moment_reader
        >>> from interplay.evaluate.lifetimes.tick import watch
        >>> world = make_world("survival/1v1-heals-mid", num_worlds=4)
        >>> recorder = EventRecorder(world)
        >>> ticks = watch(world, RandomPolicy(), [recorder], ticks=1600, reader=moment_reader)
        >>> deaths = recorder.events()[recorder.events()["kind"] == DEATH]
        >>> len(deaths) >= 4
        True
    """

    def __init__(self, world: Any) -> None:
        rules, agents = world.rules, world.rules.agents
        self._rows: list[Array] = []
        self._things = _things(rules)
        self._sides = np.asarray(world.state.sides, np.int64)
        shape = world.num_worlds, agents
        self._facing = np.full(shape, NOTHING, np.int64)  # the opponent on the ray, or NOTHING
        self._contact = np.zeros(shape, EVENT)  # the current contact
        # Step in which a body was picked up by its holder.
        self._taken = np.full((*shape, rules.num_bodies), -1, np.int64)
        self.on_ray = np.zeros((agents, len(THINGS), 2), np.int64)
        self.inside = np.zeros((agents, 2), np.int64)
        self.standing = np.zeros((0, 2), np.int64)
        self.present = np.zeros(shape, bool)
        self._begun = False

    def add(self, moment: Moment) -> None:
        """Adds one step."""
        if not self._begun:
            self.present = moment.acted | (moment.alive & (moment.steps == 0)[:, None])
            self._begun = True
        self._begin_anew(moment)
        self._add_contacts(moment)
        for rows, kind in ((moment.used, USE), (moment.given, GIFT), (moment.dropped, DROP)):
            self._add_parted(moment, rows, kind)
        self._add_picked(moment)
        self._add_deaths(moment)
        self._count(moment)

    def events(self) -> Array:
        """(E,) `EVENT`, sorted by world, step and agent; current contacts are included so far."""
        going_on = self._contact[self._facing != NOTHING]
        found = np.concatenate([*self._rows, going_on]) if self._rows else going_on
        return found[np.lexsort((found["kind"], found["agent"], found["step"], found["world"]))]

    def _begin_anew(self, moment: Moment) -> None:
        """Ends contacts and clears pick-ups in worlds between two episodes."""
        self._close(np.where(moment.going[:, None], False, self._facing != NOTHING))
        self._taken[moment.steps == 0] = -1

    def _add_contacts(self, moment: Moment) -> None:
        facing = self._opponents(moment)
        same = (facing == self._facing) & (facing != NOTHING)
        self._close((self._facing != NOTHING) & ~same)
        for w, a in np.argwhere((facing != NOTHING) & ~same):
            self._contact[w, a] = self._row(moment, w, a, CONTACT, OPPONENT, facing[w, a])
        self._facing = facing
        on = facing != NOTHING
        contact = self._contact
        contact["steps"] += on
        early = on & (contact["steps"] <= EARLY)
        contact["early"] += early
        contact["strikes"] += on & moment.struck
        contact["early_strikes"] += early & moment.struck

    def _opponents(self, moment: Moment) -> Array:
        """(W, A) the opponent on each ray, or NOTHING."""
        agents = moment.acted.shape[1]
        other = np.clip(moment.ray, 0, agents - 1)
        theirs = (moment.ray >= 0) & (moment.ray < agents) & (self._sides[other] != self._sides)
        return np.where(theirs & moment.acted, moment.ray, NOTHING)

    def _close(self, ended: Array) -> None:
        if ended.any():
            self._rows.append(self._contact[ended].copy())
            self._facing[ended] = NOTHING

    def _add_parted(self, moment: Moment, rows: Array, kind: int) -> None:
        """Adds events of items used, given or dropped."""
        for w, a in np.argwhere((rows != EMPTY) & moment.acted):
            item = rows[w, a]
            taker = moment.taker[w, a] if kind == GIFT else -1
            event = self._row(moment, w, a, kind, self._things[item], taker)
            since = self._taken[w, a, item]
            event["steps"] = moment.steps[w] - since if since >= 0 else -1
            self._rows.append(event.reshape(1))
            if taker >= 0:
                self._taken[w, taker, item] = moment.steps[w]
            self._taken[w, a, item] = -1

    def _add_picked(self, moment: Moment) -> None:
        for w, a, k in np.argwhere(moment.picked != EMPTY):
            item = moment.picked[w, a, k]
            self._rows.append(self._row(moment, w, a, PICK_UP, self._things[item], -1).reshape(1))
            self._taken[w, a, item] = moment.steps[w]

    def _add_deaths(self, moment: Moment) -> None:
        for w, a in np.argwhere(moment.died):
            cause = moment.cause[w, a]
            what = CAUSES.index("zone" if cause == ZONE else "other" if cause == NO_SIDE else "blow")
            self._rows.append(self._row(moment, w, a, DEATH, what, max(cause, -1)).reshape(1))
            self._taken[w, a] = -1

    def _count(self, moment: Moment) -> None:
        agents = moment.acted.shape[1]
        thing = np.where(
            moment.ray >= 0, self._things[moment.ray], np.where(moment.ray == WALL, A_WALL, NOTHING_THERE)
        )
        mates = (moment.ray >= 0) & (moment.ray < agents) & (self._facing == NOTHING)
        thing = np.where(mates, MATE, thing)
        _, slot = np.nonzero(moment.acted)
        np.add.at(self.on_ray[..., 0], (slot, thing[moment.acted]), 1)
        np.add.at(self.on_ray[..., 1], (slot, thing[moment.acted]), moment.struck[moment.acted])
        lived = moment.alive & moment.going[:, None]
        world, slot = np.nonzero(lived)
        np.add.at(self.inside, (slot, (~moment.outside[lived]).astype(int)), 1)
        steps = moment.steps[world]
        if steps.size and steps.max() >= len(self.standing):
            longer = np.zeros((int(steps.max()) + 1, 2), np.int64)
            longer[: len(self.standing)] = self.standing
            self.standing = longer
        np.add.at(self.standing[:, 0], steps, 1)
        np.add.at(self.standing[:, 1], steps, ~moment.outside[lived])

    def _row(self, moment: Moment, w: int, a: int, kind: int, what: int, other: int) -> Array:
        """() EVENT with the fields common to all kinds."""
        event = np.zeros((), EVENT)
        event["world"], event["step"], event["agent"] = w, moment.steps[w], a
        event["kind"], event["what"], event["other"] = kind, what, other
        event["health"], event["radius"] = moment.before[w, a], moment.circle[w, 2]
        event["x"], event["y"] = moment.position[w, a]
        event["outside"] = moment.outside[w, a]
        return event


def named(events: Array, kinds: Iterable[int]) -> Array:
    """The events of some kinds."""
    return events[np.isin(events["kind"], list(kinds))]


def _things(rules: Any) -> Array:
    """(N,) index into THINGS of each body row; agents are opponents."""
    row = np.arange(rules.num_bodies)
    ends = [rules.agents, rules.first_heal, rules.first_box_item, rules.first_other]
    return np.array([OPPONENT, BOX, HEAL, BOX_ITEM, OTHER_ITEM])[np.searchsorted(ends, row, side="right")]
