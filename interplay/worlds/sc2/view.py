"""A player's raw observation as arrays, built once per observation; everything else reads these."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from interplay.worlds.sc2.ids import ENEMY, NEUTRAL, SELF

# Columns of a unit's numbers.
KIND, ALLIANCE, X, Y, HEALTH, FULL_HEALTH, BUILT, ENERGY, FLYING, ASSIGNED, IDEAL, MINERALS, GAS = range(13)
ORDER, PROGRESS = 13, 14  # ability of the first order, 0 for none, and its progress
NUMBERS = 15
PLAYER = (
    *("minerals", "vespene", "food_used", "food_cap", "food_army", "food_workers"),
    *("idle_worker_count", "army_count"),
)
SCORES = (
    *("total_value_units", "total_value_structures", "killed_value_units", "killed_value_structures"),
    *("collected_minerals", "collected_vespene", "collection_rate_minerals", "collection_rate_vespene"),
    *("spent_minerals", "spent_vespene"),
)
CATEGORIES = ("none", "army", "economy", "technology", "upgrade")


class _Fields(NamedTuple):
    """One observation of one player; n units."""

    loop: int  # game loops since the start
    player: np.ndarray  # (8,) float64, see PLAYER
    score: np.ndarray  # (10,) float64, see SCORES
    lost: float  # value of own units and buildings lost, minerals + gas
    upgrades: frozenset[int]  # finished
    units: np.ndarray  # (n, NUMBERS) float64
    tags: np.ndarray  # (n,) uint64
    targets: np.ndarray  # (n,) uint64 target of the first order, 0 for none


class View(_Fields):
    """The arrays of an observation, and masks over its units, computed once."""

    @cached_property
    def kinds(self) -> np.ndarray:
        """(n,) int64 unit types."""
        return self.units[:, KIND].astype(np.int64)

    @cached_property
    def places(self) -> np.ndarray:
        """(n, 2)."""
        return self.units[:, X : Y + 1]

    @cached_property
    def own(self) -> np.ndarray:
        """(n,) bool."""
        return self.units[:, ALLIANCE] == SELF

    @cached_property
    def enemy(self) -> np.ndarray:
        """(n,) bool."""
        return self.units[:, ALLIANCE] == ENEMY

    @cached_property
    def neutral(self) -> np.ndarray:
        """(n,) bool."""
        return self.units[:, ALLIANCE] == NEUTRAL

    @cached_property
    def finished(self) -> np.ndarray:
        """(n,) bool, no longer being built."""
        return self.units[:, BUILT] >= 1.0


def read_view(answer: Any) -> View:
    """The arrays of a `ResponseObservation`."""
    seen = answer.observation
    raw, common, score = seen.raw_data, seen.player_common, seen.score.score_details
    rows, tags, targets = [], [], []
    for unit in raw.units:
        place = unit.pos
        ability, progress, target = 0, 0.0, 0
        for order in unit.orders:
            ability, progress, target = order.ability_id, order.progress, order.target_unit_tag
            break
        tags.append(unit.tag)
        targets.append(target)
        rows.append(
            (
                unit.unit_type,
                unit.alliance,
                place.x,
                place.y,
                unit.health,
                unit.health_max,
                unit.build_progress,
                unit.energy,
                unit.is_flying,
                unit.assigned_harvesters,
                unit.ideal_harvesters,
                unit.mineral_contents,
                unit.vespene_contents,
                ability,
                progress,
            )
        )
    return View(
        loop=seen.game_loop,
        player=np.array([getattr(common, name) for name in PLAYER], np.float64),
        score=np.array([getattr(score, name) for name in SCORES], np.float64),
        lost=sum(
            getattr(of, name) for of in (score.lost_minerals, score.lost_vespene) for name in CATEGORIES
        ),
        upgrades=frozenset(raw.player.upgrade_ids),
        units=np.array(rows, np.float64).reshape(-1, NUMBERS),
        tags=np.array(tags, np.uint64),
        targets=np.array(targets, np.uint64),
    )
