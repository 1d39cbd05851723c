"""Scripted players (specification 16.1). They read only observations, as a learner does, and act for all agents.

Draws come from each player's own stream: a pure function of the seed, the tick, the world and the slot.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.policy import Policy, by_name
from interplay.core.ranges import ANYTHING, Range, exactly
from interplay.core.world import TimeStep, World
from interplay.worlds.mmo import foraging, tactics
from interplay.worlds.mmo.config import COLUMNS, MmoSettings
from interplay.worlds.mmo.search import allocate_scratch


class MmoPolicy(Policy):
    """Base of the players of this world: the stream and the form of the actions."""

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        space: Any = world.action_space
        self._choices = space.nvec.astype(np.int64)
        self._stream = foraging.Stream(
            seed=seeding.world_seeds(seed, world.num_worlds, world.first_world),
            episode=np.zeros(world.num_worlds, np.uint64),
            tick=np.zeros(world.num_worlds, np.uint64),
        )

    def memory_ranges(self) -> Mapping[str, Range]:
        """Choices and rules must equal those that `start` made; stream and scratch are free."""
        made = ("_choices", "_rules/")
        return {
            path: exactly(array) if path.startswith(made) else ANYTHING
            for path, array in self.save().items()
            if array.ndim and path != "rng"
        }

    def forget(self, which: np.ndarray) -> None:
        self._stream.episode[which] += np.uint64(1)
        self._stream.tick[which] = 0

    def act(self, timestep: TimeStep) -> np.ndarray:
        """Moves and attacks, (W, A, heads) int64; 0 for idle slots."""
        action = np.zeros((*timestep.acting.shape, len(self._choices)), np.int64)
        self.choose(timestep, action)
        self._stream.tick[:] += np.uint64(1)
        return action

    @abstractmethod
    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        """Writes the actions of all acting agents."""


class Random(MmoPolicy):
    """Draws move and style uniformly among the legal choices, or among all if a head has none."""

    name = "random"
    legal = True

    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        mask: Any = timestep.action_mask
        tactics.play_at_random(
            mask["action"], timestep.acting, self._choices, self.legal, self._stream, action
        )


class Uniform(Random):
    """Draws move and style uniformly, legal or not."""

    name = "uniform"
    legal = False


class Forager(MmoPolicy):
    """Goes to the nearest food or water, by which it has less of; with none in sight, towards the map's centre."""

    name = "forager"
    player = tactics.FORAGE

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: MmoSettings = world.settings  # type: ignore[attr-defined]
        self._rules = rules_of(settings)
        self._scratch = allocate_scratch(settings.view)

    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        seen, mask = timestep.observation, timestep.action_mask
        assert mask is not None
        senses = foraging.Senses(
            seen["tiles"], seen["entities"], seen["count"], mask["action"], timestep.acting
        )
        tactics.play(self.player, senses, self._rules, self._stream, self._scratch, action)


class Fighter(Forager):
    """Forages and attacks agents in reach; approaches the frozen and weaker, avoids the stronger."""

    name = "fighter"
    player = tactics.FIGHT


class Fleer(Forager):
    """Forages, and keeps its distance from every agent that could hit it."""

    name = "fleer"
    player = tactics.FLEE


def rules_of(settings: MmoSettings) -> foraging.Rules:
    """A player's prior knowledge of a world with these settings."""
    scale, offset = decoding(settings)
    protected = settings.immunity in ("full", "health_only")
    return foraging.Rules(
        scale=scale,
        offset=offset,
        middle=np.full(2, (settings.side - 1) / 2),
        reach=max(settings.reach),
        full_water=settings.water - 2 * settings.drain,
        combat=settings.combat,
        spares_own=not settings.friendly_fire,
        immune_until=settings.immunity_ticks if protected else 0,
        elder_age=settings.elder_age if settings.immunity == "elders" else -1,
        none_first=settings.no_attack,
    )


def decoding(settings: MmoSettings) -> tuple[np.ndarray, np.ndarray]:
    """Scale and offset of each column of an entity row, (11,) float64 each: value = number * scale + offset."""
    ground = settings.side - settings.border
    scale, offset = np.ones(COLUMNS), np.zeros(COLUMNS)
    if settings.compact:
        scale[foraging.LIFE] = 8
        place = [foraging.ROW, foraging.COLUMN]
        scale[place] = offset[place] = (settings.side - 1) / 2
        scale[place] /= 127
        return scale, offset
    for column, most in (
        (foraging.LIFE, 100),
        (foraging.HEALTH, settings.health),
        (foraging.FOOD, settings.food),
        (foraging.WATER, settings.water),
        (foraging.ROW, ground),
        (foraging.COLUMN, ground),
        (foraging.FREEZE, 2),
    ):
        scale[column], offset[column] = most, most / 2
    return scale, offset


POLICIES = by_name(Random, Uniform, Forager, Fighter, Fleer)
