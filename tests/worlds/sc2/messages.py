"""Observations of the protocol's own types, from a few words."""

from __future__ import annotations

from typing import Any

from s2clientprotocol import sc2api_pb2 as sc

from interplay.worlds.sc2.ids import ENEMY, NEUTRAL, SELF, UNITS, UPGRADES
from interplay.worlds.sc2.regions import Ground, ground_of
from interplay.worlds.sc2.things import Price, prices_of
from interplay.worlds.sc2.view import View, read_view
from tests.worlds.sc2.zerg import FIELD, GEYSER, data

SIDES = {"own": SELF, "enemy": ENEMY, "neutral": NEUTRAL}
OTHER = {"field": FIELD, "geyser": GEYSER}


def observation(*units: dict[str, Any], loop: int = 0, upgrades: tuple[str, ...] = (), **player: Any) -> Any:
    """A `ResponseObservation`; `score` among the player's numbers goes to the score."""
    found = sc.ResponseObservation()
    seen = found.observation
    seen.game_loop = loop
    score = player.pop("score", {})
    seen.player_common.CopyFrom(sc.PlayerCommon(player_id=1, **player))
    for name, value in score.items():
        setattr(seen.score.score_details, name, value)
    seen.raw_data.player.upgrade_ids.extend(UPGRADES[name] for name in upgrades)
    for number, unit in enumerate(units):
        seen.raw_data.units.add(**{"tag": 100 + number, "build_progress": 1.0, "display_type": 1, **unit})
    return found


def unit(
    side: str, name: str, x: float, y: float, order: int = 0, target: int = 0, **fields: Any
) -> dict[str, Any]:
    """One unit; its first order by ability and target."""
    orders = (
        [{"ability_id": order, "target_unit_tag": target, "progress": fields.pop("progress", 0.0)}]
        if order
        else []
    )
    number = UNITS[name] if name in UNITS else OTHER[name]
    return {"alliance": SIDES[side], "unit_type": number, "pos": {"x": x, "y": y}, "orders": orders, **fields}


def view(*units: dict[str, Any], **rest: Any) -> View:
    """The view of an observation."""
    return read_view(observation(*units, **rest))


def east(*areas: tuple[float, float]) -> Ground:
    """A map of 90 x 60; the player starts in the south-east."""
    return _ground((80.5, 10.5), areas)


def west(*areas: tuple[float, float]) -> Ground:
    """The same map, seen from the other start."""
    return _ground((9.5, 49.5), areas)


def _ground(start: tuple[float, float], areas: tuple[tuple[float, float], ...]) -> Ground:
    """Resources out of sight, as snapshots without contents."""
    fields = [unit("neutral", "field", x, y, display_type=2) for x, y in areas]
    return ground_of(90, 60, view(unit("own", "hatchery", *start), *fields), data())


def prices() -> dict[str, Price]:
    """Of the stand-in."""
    return prices_of(data())
