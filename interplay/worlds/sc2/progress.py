"""Finished upgrades, and what is being made and how far it is (specification interfaces 10: ZergTechObsItf, ZergUnitProgObsItf)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.worlds.sc2.features import BUILT as BUILDINGS
from interplay.worlds.sc2.ids import UNITS, UPGRADES
from interplay.worlds.sc2.things import MORPH, THINGS, Price
from interplay.worlds.sc2.view import BUILT, KIND, ORDER, PROGRESS, View

TECHS = (
    *("burrow", "centrifugal_hooks", "chitinous_plating", "muscular_augments", "glial_reconstitution"),
    *("infestor_energy", "zergling_attack_speed", "zergling_move_speed"),
    *(f"{name}_{level}" for name in ("flyer_armour", "flyer_weapons", "ground_armour", "melee", "missile") for level in (1, 2, 3)),
)  # fmt: skip
"""The 23 upgrades that are observed."""
TIMED = BUILDINGS[3:]
"""The 13 buildings with progress: all but spine, spore and extractor."""
_MORPHS = tuple(thing for thing in THINGS if thing.kind == MORPH)


def techs(view: View) -> np.ndarray:
    """(23,) float32, 1 for own finished upgrades."""
    return np.array([UPGRADES[name] in view.upgrades for name in TECHS], np.float32)


class ProgressTracker:
    """What a player makes: (72,) float32, 13 buildings, then 23 upgrades, each whether it is in progress and how far (0 to 1).

    A drone on its way to a building counts as in progress. The protocol gives morphs no progress, so each morphing building has a
    clock of its own, by its tag. Of several equal ones the most advanced is shown.
    """

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._begun: dict[tuple[int, int], int] = {}  # (tag, ability) -> loop

    def read(self, view: View) -> np.ndarray:
        """Reads the next view of the match."""
        shares = self._morphs(view)
        rows = np.zeros((len(TIMED) + len(TECHS), 2), np.float32)
        for row, name in zip(rows, TIMED, strict=False):
            found = [*self._sites(view, name), *shares.get(name, [])]
            if found:
                row[:] = 1, max(found)
        for row, name in zip(rows[len(TIMED) :], TECHS, strict=True):
            at_work = view.own & (view.units[:, ORDER] == self._prices[name].ability)
            if at_work.any():
                row[:] = 1, view.units[at_work, PROGRESS].max()
        return rows.ravel()

    def _sites(self, view: View, name: str) -> list[float]:
        """Progress of unfinished buildings, and 0 for each drone on its way."""
        unfinished = view.own & ~view.finished & (view.units[:, KIND] == UNITS[name])
        drones = view.own & (view.units[:, KIND] == UNITS["drone"])
        going = drones & (view.units[:, ORDER] == self._prices[name].ability)
        return [*view.units[unfinished, BUILT].tolist(), *[0.0] * int(going.sum())]

    def _morphs(self, view: View) -> dict[str, list[float]]:
        """Building -> progress of each morph to it, by the clocks."""
        begun: dict[tuple[int, int], int] = {}
        shares: dict[str, list[float]] = {}
        for thing in _MORPHS:
            price = self._prices[thing.name]
            morphing = (
                view.own & (view.units[:, KIND] != UNITS["drone"]) & (view.units[:, ORDER] == price.ability)
            )
            for tag in view.tags[morphing].tolist():
                key = tag, price.ability
                begun[key] = self._begun.get(key, view.loop)
                share = min((view.loop - begun[key]) / price.loops, 1.0)
                shares.setdefault(thing.name, []).append(share)
        self._begun = begun
        return shares
