"""State -> drawing primitives: the field, the units with their remaining points, their attacks; and what a unit sees of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from interplay.core.fog import Visible
from interplay.core.scene import Canvas, rgb
from interplay.worlds.battle.config import SIGHT_RANGE, TICKS, BattleSettings
from interplay.worlds.battle.state import FIRST_ATTACK, RED, BattleState
from interplay.worlds.battle.units import UNITS

if TYPE_CHECKING:
    from interplay.worlds.battle.world import BattleWorld

FLOOR, LINE, EDGE = "#f3f1ea", "#e3dfd3", "#a8a294"
SIDES = ("red", "blue")
# Sides differ in lightness too: dark with light letters, light with dark ones.
BODIES, LETTERS = ("#b02a37", "#7cb8ec"), ("#ffffff", "#10304d")
SHOTS = ("#d6336c", "#1971c2")
EMPTY, HEALTH, LOW, SHIELD, COOLING = "#d5d2c8", "#2f9e44", "#e8590c", "#3b8eea", "#868e96"
SHADOW = "#495057"
MARGIN = 1.25  # around the field: units and bars at its edge
CELL = 2.0  # of the lines on the floor: the cells of image interfaces
LITTLE = 0.4  # of the health: below it the bar changes
BAR, GAP = 0.16, 0.04  # height of a bar, and the gap between two
# Layers by what a unit sees of them (`observe.see_enemies` and `see_allies`).
_GROUND = ("floor", "columns", "rows", "edge")
_UNITS = ("shadows", "agents", "types", "no health", "health", "no shield", "shield")
_OWN = ("aims", "shots", "cooldown")  # not observed of other units
_OUTCOMES = {1: "red has won", 0: "nobody has won", -1: "blue has won"}


def draw(canvas: Canvas, state: BattleState, body: np.ndarray, settings: BattleSettings, w: int) -> None:
    """Draws world `w`; row i of the layer ``agents`` is slot i."""
    half_x, half_y = settings.width / 2, settings.height / 2
    canvas.show(-half_x - MARGIN, -half_y - MARGIN, half_x + MARGIN, half_y + MARGIN, up="north")
    draw_field(canvas, half_x, half_y)
    draw_attacks(canvas, state, body, settings, w)
    draw_units(canvas, state, body, settings, w)
    draw_bars(canvas, state, body, w)
    draw_counts(canvas, state, settings, w)


def draw_field(canvas: Canvas, half_x: float, half_y: float) -> None:
    """The floor with its cells, and the solid edge."""
    canvas.boxes("floor", [0.0], [0.0], half_x, half_y, colour=FLOOR)
    x, y = np.arange(-half_x + CELL, half_x, CELL), np.arange(-half_y + CELL, half_y, CELL)
    canvas.segments("columns", x, np.full(len(x), -half_y), x, np.full(len(x), half_y), colour=LINE)
    canvas.segments("rows", np.full(len(y), -half_x), y, np.full(len(y), half_x), y, colour=LINE)
    canvas.boxes("edge", [0.0], [0.0], half_x, half_y, colour=EDGE, fill=False, width=0.12)


def draw_attacks(
    canvas: Canvas, state: BattleState, body: np.ndarray, settings: BattleSettings, w: int
) -> None:
    """A line from each unit to its target: thick where it has shot in this decision, dashed while it approaches."""
    unit, reds = state.unit[w], len(settings.sides[RED])
    slots = np.arange(len(body))
    enemies = np.where(slots < reds, len(body) - reds, reds)
    choice = unit["last"].astype(np.int64) - FIRST_ATTACK
    attacks = (choice >= 0) & (choice < enemies) & unit["alive"]
    target = np.where(attacks, choice + np.where(slots < reds, reds, 0), 0)
    shot = attacks & (body["period"] > 0) & (unit["cooldown"] > body["period"] - TICKS)
    for name, rows, width, dashed, words in (
        ("aims", attacks & ~shot & unit["alive"][target], 0.05, True, "attack to come"),
        ("shots", shot, 0.12, False, "attack"),
    ):
        canvas.segments(
            name,
            *(unit["x"], unit["y"], unit["x"][target], unit["y"][target]),
            colour=_by_side(SHOTS, slots, reds),
            absent=~rows,
            jump=np.ones(len(body), bool),
            width=width,
            dashed=dashed,
            opacity=0.75,
            legend={f"{side}: {words}": colour for side, colour in zip(SIDES, SHOTS, strict=True)},
        )


def draw_units(
    canvas: Canvas, state: BattleState, body: np.ndarray, settings: BattleSettings, w: int
) -> None:
    """The units to scale, with the letter of their type; fliers above a shadow, the dead as a faint mark."""
    unit, slots, reds = state.unit[w], np.arange(len(body)), len(settings.sides[RED])
    jump = np.full(len(body), state.room["steps"][w] == 0)
    grounded = ~(unit["alive"] & body["flies"])
    lower = unit["y"] - 0.9 * body["radius"]
    canvas.circles(
        "shadows",
        *(unit["x"], lower, 0.9 * body["radius"]),
        colour=SHADOW,
        absent=grounded,
        jump=jump,
        outline=False,
        opacity=0.3,
        legend="shadow of a flier" if body["flies"].any() else "",
    )
    canvas.circles(
        "agents",
        *(unit["x"], unit["y"], body["radius"]),
        angle=_headings(state, settings, w),
        sight=_cone(body, settings),
        colour=_by_side(BODIES, slots, reds),
        absent=~unit["present"],
        dimmed=~unit["alive"],
        jump=jump,
        bars=stats(unit, body),
        show_bars=False,  # `draw_bars` does, each as wide as its unit
        legend=dict(zip(SIDES, BODIES, strict=True)),
    )
    letters = [UNITS[name].letter for side in settings.sides for name in side]
    canvas.labels(
        "types",
        *(unit["x"], unit["y"], letters),
        colour=_by_side(LETTERS, slots, reds),
        absent=~unit["alive"],
        size=1.3 * body["radius"],
        halo=False,
    )


def stats(unit: np.ndarray, body: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Remaining health of each unit, and shields where a side has some, for the table of the page."""
    names = ("health", "shield") if (body["shield"] > 0).any() else ("health",)
    return {name: (unit[name], body[name]) for name in names}


def _headings(state: BattleState, settings: BattleSettings, w: int) -> np.ndarray | None:
    """(A,) rad on the field where units have a direction; blue sees the field mirrored."""
    if not settings.look_directions:
        return None
    turn = 2 * np.pi * state.look[w] / settings.look_directions
    return np.where(np.arange(len(turn)) < len(settings.sides[RED]), turn, np.pi - turn)


def _cone(body: np.ndarray, settings: BattleSettings) -> tuple[np.ndarray | float, float] | None:
    """Length and angle of the field of view, where units have a direction."""
    if not settings.look_directions:
        return None
    return body["sight"] if settings.unit_ranges else SIGHT_RANGE, 2 * np.pi / settings.look_directions


def draw_bars(canvas: Canvas, state: BattleState, body: np.ndarray, w: int) -> None:
    """Health and shield above each living unit; below it the time until its next shot."""
    unit = state.unit[w]
    dead = ~unit["alive"]
    health = unit["health"] / body["health"]
    above = unit["y"] + body["radius"] + GAP + BAR / 2
    has_shield = body["shield"] > 0
    shield = unit["shield"] / np.where(has_shield, body["shield"], 1.0)
    cooling = np.clip(unit["cooldown"] / np.where(body["period"] > 0, body["period"], 1.0), 0, 1)
    good = np.array([rgb(HEALTH), rgb(LOW)], np.uint8)[(health < LITTLE).astype(int)]
    full = np.ones(len(body))
    _bars(canvas, "no health", unit, body, above, full, EMPTY, dead)
    words = {"health": HEALTH, f"health below {LITTLE:.0%}": LOW}
    _bars(canvas, "health", unit, body, above, health, good, dead, words)
    above = above + BAR + GAP
    shields = "shield" if has_shield.any() else ""
    _bars(canvas, "no shield", unit, body, above, full, EMPTY, dead | ~has_shield)
    _bars(canvas, "shield", unit, body, above, shield, SHIELD, dead | ~has_shield | (shield <= 0), shields)
    below = unit["y"] - body["radius"] - GAP - BAR / 2
    _bars(
        canvas, "cooldown", unit, body, below, cooling, COOLING, dead | (cooling <= 0), "until the next shot"
    )


def draw_counts(canvas: Canvas, state: BattleState, settings: BattleSettings, w: int) -> None:
    """The caption, and the units left of each side."""
    unit, reds = state.unit[w], len(settings.sides[RED])
    sides = unit[:reds], unit[reds:]
    counts = [f"{int(side['alive'].sum())} of {int(side['present'].sum())}" for side in sides]
    steps = int(state.room["steps"][w])
    decided = not all(side["alive"].any() for side in sides)
    over = decided or steps >= settings.limit
    result = _OUTCOMES[int(state.room["outcome"][w])] if over else "fighting"
    canvas.table("status", ["decision", "red", "blue", "state"], [[steps, *counts, result]], caption=True)
    rows = [
        [name, count, float(side["health"].sum().round(1)), float(side["shield"].sum().round(1))]
        for name, count, side in zip(SIDES, counts, sides, strict=True)
    ]
    canvas.table("sides", ["side", "alive", "health", "shield"], rows)


def visible(world: BattleWorld, w: int, slot: int) -> Visible:
    """The field, the units in sight and their observed attributes; a dead unit sees the field alone."""
    seen = np.asarray(units_in_sight(world, w, slot))
    own = np.arange(len(seen)) == slot
    visible_layers = dict.fromkeys(_GROUND, True) | dict.fromkeys(_UNITS, seen) | dict.fromkeys(_OWN, own)
    if world.settings.look_directions:
        visible_layers["agents/angle"] = own
    if world.settings.see_field:
        visible_layers["cooldown"] = seen
    return visible_layers


def units_in_sight(world: BattleWorld, w: int, slot: int) -> np.ndarray:
    """(A,) bool, the unit itself among them."""
    unit, settings = world.state.unit[w], world.settings
    alive = np.asarray(unit["alive"])
    own = np.arange(len(unit)) == slot
    if settings.see_field:
        return own | alive
    if not alive[slot]:
        return own
    dx, dy = unit["x"] - unit["x"][slot], unit["y"] - unit["y"][slot]
    gap = np.hypot(dx, dy)
    seen = gap < (world.body["sight"][slot] if settings.unit_ranges else SIGHT_RANGE)
    reds = len(settings.sides[RED])
    if settings.look_directions:
        turn = 2 * np.pi * world.state.look[w, slot] / settings.look_directions
        ahead = 1.0 if slot < reds else -1.0
        along = ahead * dx * np.cos(turn) + dy * np.sin(turn)
        seen &= along >= float(world.table[0]["look_cosine"]) * gap
    if world.table[0]["notice_chance"] < 1.0:
        enemies = slice(reds, len(unit)) if slot < reds else slice(0, reds)
        count = len(range(*enemies.indices(len(unit))))
        seen[enemies] &= world.state.known[w, slot, :count]
    return own | (alive & seen)


def _bars(
    canvas: Canvas,
    name: str,
    unit: np.ndarray,
    body: np.ndarray,
    y: np.ndarray,
    share: np.ndarray,
    colour: str | np.ndarray,
    absent: np.ndarray,
    legend: str | Mapping[str, str] = "",
) -> None:
    """Bars from the units' left edges, as wide as the units where the share is 1."""
    half = np.maximum(body["radius"], 0.4)
    centre = unit["x"] - half * (1 - share)
    canvas.boxes(name, centre, y, half * share, BAR / 2, colour=colour, absent=absent, legend=legend)


def _by_side(colours: tuple[str, str], slots: np.ndarray, reds: int) -> np.ndarray:
    """(A, 3) uint8, the colour of each unit's side."""
    return np.array([rgb(colour) for colour in colours], np.uint8)[(slots >= reds).astype(int)]
