"""Scripted players. They read only observations, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.survival.config import SurvivalSettings
from interplay.worlds.survival.rules.fight import ATTACK, DROP, FORWARD, GIVE, LEFT, TURN, USE
from interplay.worlds.survival.world import action_heads

BRAKING_SECONDS = 0.4  # horizon over which a body's own speed counts in steering
MARGIN = 0.7  # share of the zone's radius that counts as well inside
AIM = 0.15  # rad, error of the heading that is accepted


class Senses(NamedTuple):
    """One observation of all agents, in metres and radians; hidden things are masked, not removed."""

    position: np.ndarray  # (W, A, 2)
    velocity: np.ndarray  # (W, A, 2)
    angle: np.ndarray  # (W, A)
    spin: np.ndarray  # (W, A)
    refuge: np.ndarray  # (W, A, 2) inside the zone, as near as possible to the next one's centre
    safe: np.ndarray  # (W, A) bool, well inside the zone


class ZoneFollower(Policy):
    """Stays in the zone, on the side of the next one; never attacks or picks up on purpose.

    Without a zone it stays in place.
    """

    name = "zone"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        space: Any = world.action_space
        self._heads, self._top = heads_of(world), int(space.nvec[0]) - 1

    def act(self, timestep: TimeStep) -> np.ndarray:
        seen = timestep.observation
        senses = read_senses(seen)
        action = np.zeros((*senses.angle.shape, DROP + 1), np.int64)
        goal, gaze = self.choose(senses, seen, action)
        self._steer(senses, goal, gaze, action)
        return action[..., self._heads]

    def choose(self, senses: Senses, seen: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Destination (W, A, 2) and heading (W, A) rad; sets other heads of `action` in place."""
        return senses.refuge, direction(senses.refuge - senses.position)

    def _steer(self, senses: Senses, goal: np.ndarray, gaze: np.ndarray, action: np.ndarray) -> None:
        wish = goal - senses.position - BRAKING_SECONDS * senses.velocity
        cosine, sine = np.cos(senses.angle), np.sin(senses.angle)
        forward = cosine * wish[..., 0] + sine * wish[..., 1]
        left = cosine * wish[..., 1] - sine * wish[..., 0]
        turn = wrap(gaze - senses.angle) - BRAKING_SECONDS * senses.spin
        for head, value, least in ((FORWARD, forward, 0.1), (LEFT, left, 0.1), (TURN, turn, AIM)):
            push = np.where(np.abs(value) > least, np.sign(value), 0.0)
            action[..., head] = ((push + 1.0) * 0.5 * self._top).astype(np.int64)


class HealCollector(ZoneFollower):
    """Follows the zone, fetches visible heals and uses them at once; looks around if there are none."""

    name = "collector"

    def choose(self, senses: Senses, seen: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        goal = senses.refuge
        gaze = np.where(senses.safe, senses.angle + 1.5, direction(goal - senses.position))
        if "heal_slot" not in seen:
            return goal, gaze
        action[..., USE] = seen["heal_slot_mask"][..., 0] == 0
        if "heals" not in seen:
            return goal, gaze
        found, heal = nearest(senses.position, seen["heals"], seen["heals_mask"] == 0)
        goal = np.where(found[..., None], heal, goal)
        return goal, np.where(found, direction(heal - senses.position), gaze)


class Hunter(HealCollector):
    """Collects, and chases and attacks any opponent in sight."""

    name = "hunter"

    def choose(self, senses: Senses, seen: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        goal, gaze = super().choose(senses, seen, action)
        if "others" not in seen:
            return goal, gaze
        others = seen["others"]
        teams = others.shape[-1] == 9
        prey = seen["others_mask"] == 0
        if teams:
            prey = prey & (others[..., 1] != seen["agent"][..., None, 1])
        found, enemy = nearest(senses.position, others[..., 2 + teams : 4 + teams], prey)
        towards = direction(enemy - senses.position)
        near = np.linalg.norm(enemy - senses.position, axis=-1) < 2.5
        action[..., ATTACK] = found & near
        return np.where(found[..., None], enemy, goal), np.where(found, towards, gaze)


# Heads after the three of motion, by number, if only the space is known. Three could also be use, give and drop, so in that world
# a player needs the settings.
BINARY: tuple[list[int], ...] = ([], [ATTACK], [USE, GIVE], [ATTACK, USE, GIVE], [ATTACK, USE, GIVE, DROP])


def heads_of(world: World) -> list[int]:
    """The action heads of a world; modules that are off have none."""
    settings = getattr(world, "settings", None)  # a seat of another program has only spaces
    if isinstance(settings, SurvivalSettings):
        return list(action_heads(settings))
    space: Any = world.action_space
    return [FORWARD, LEFT, TURN, *BINARY[len(space.nvec) - 3]]


def read_senses(seen: Any) -> Senses:
    """The agents' own rows and the zone."""
    own = seen["agent"].astype(np.float64)
    first = own.shape[-1] - 7  # health; before it the id and, with teams, the team
    position = own[..., first + 1 : first + 3]
    refuge, safe = (
        read_zone(seen["zone"], position) if "zone" in seen else (position, np.ones(own.shape[:-1], bool))
    )
    return Senses(
        position=position,
        velocity=own[..., first + 4 : first + 6],
        angle=own[..., first + 3],
        spin=own[..., first + 6],
        refuge=refuge,
        safe=safe,
    )


def read_zone(field: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Refuge (W, A, 2) in the zone, and whether (W, A) agents at these positions are well inside."""
    zone = field.astype(np.float64)
    centre, radius = zone[..., :2], zone[..., 2]
    ahead = np.where(zone[..., 5, None] > 0.0, zone[..., 3:5] - centre, 0.0)
    reach = np.maximum(np.linalg.norm(ahead, axis=-1), 1e-9)
    refuge = centre + ahead * np.minimum(1.0, MARGIN * radius / reach)[..., None]
    return refuge, np.linalg.norm(centre - position, axis=-1) < MARGIN * radius


def nearest(position: np.ndarray, places: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether any place is wanted (W, A), and the nearest such place (W, A, 2)."""
    away = np.linalg.norm(places - position[..., None, :], axis=-1)
    best = np.where(wanted, away, np.inf).argmin(axis=-1)
    return np.any(wanted, axis=-1), np.take_along_axis(places, best[..., None, None], axis=-2)[..., 0, :]


def direction(vector: np.ndarray) -> np.ndarray:
    """The angle of (..., 2) vectors, rad."""
    return np.arctan2(vector[..., 1], vector[..., 0])


def wrap(angle: np.ndarray) -> np.ndarray:
    """The same angle in -pi .. pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


POLICIES = by_name(RandomPolicy, ZoneFollower, HealCollector, Hunter)
