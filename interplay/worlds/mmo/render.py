"""State -> drawing primitives (specification 15): the map, the agents on it, the attacks, births and deaths of the last tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.scene import DOTS
from interplay.worlds.mmo.state import ALIVE, CAUSES, CUT

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.mmo.world import MmoWorld

SHORE = 2  # tiles of lava shown around the interior
GROUND = ("lava", "water", "grass", "scrub", "forest", "stone")
RADIUS = 0.45  # tiles, of an agent
APART = 0.24  # tiles between the middle of a shared tile and its agents
BIRTH = "#ffffff"
DEATH = "#20242b"
# Style -> colour, width in tiles, dashed; red, green and blue as in 2019 (specification 14). Dash patterns differ too, for readers
# who cannot tell the colours apart.
STYLES: dict[str, tuple[str, float, bool | str]] = {
    "melee": ("#c92a2a", 0.22, False),
    "range": ("#14701f", 0.14, True),
    "mage": ("#1c4fd6", 0.14, DOTS),
}


def draw(canvas: Canvas, world: MmoWorld, w: int) -> None:
    """Draws world `w`: row i of the layer ``agents`` is slot i.

    Births, deaths and attacks last one tick and have rows only where they happened, in the order of slots: empty rows of thousands of
    agents would cost more than the rest.
    """
    ended = world.timestep.terminated[w]
    draw_ground(canvas, world, w)
    draw_deaths(canvas, world, w, ended)
    x, y, size = places(world, w)
    draw_births(canvas, world, w, x, y, size)
    draw_agents(canvas, world, w, x, y, size)
    draw_blows(canvas, world, w, x, y)
    draw_counts(canvas, world, w)


def draw_ground(canvas: Canvas, world: MmoWorld, w: int) -> None:
    """The interior and a strip of the lava around it."""
    border, side = world.settings.border, world.settings.side
    first = max(border - SHORE, 0)
    canvas.show(first, first, side - first, side - first, up="south")
    ground = world.state.tiles[w, first : side - first, first : side - first]
    canvas.tiles("ground", ground, palette="terrain", origin=(first, first), legend=GROUND)


def places(world: MmoWorld, w: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Drawn places of agents and their radii, (N,) each; those that share a tile stand around its middle."""
    agent, side = world.state.agent[w], world.settings.side
    slots = np.flatnonzero(agent["alive"])
    tile = agent["row"][slots].astype(np.int64) * side + agent["col"][slots]
    # Sorting integers is several times faster than sorting places, and each carries its slot.
    tile, order = np.divmod(np.sort(tile * len(agent) + slots), len(agent))
    begins = np.flatnonzero(np.diff(tile, prepend=-1))  # of each tile, in order
    counts = np.diff(begins, append=len(slots))
    rank, number = np.zeros(len(agent), np.int64), np.ones(len(agent), np.int64)
    rank[order] = np.arange(len(slots)) - np.repeat(begins, counts)
    number[order] = np.repeat(counts, counts)
    several = number > 1
    turn = 2 * np.pi * rank[several] / number[several] - np.pi / 4
    x, y = agent["col"] + 0.5, agent["row"] + 0.5
    x[several] += APART * np.cos(turn)
    y[several] += APART * np.sin(turn)
    size = np.where(several, 0.55, 1.0) * RADIUS
    return x, y, size


def draw_agents(
    canvas: Canvas, world: MmoWorld, w: int, x: np.ndarray, y: np.ndarray, size: np.ndarray
) -> None:
    """The living: colour and shape of the population, stores, and signs for the frozen and the immune."""
    agent, s = world.state.agent[w], world.settings
    protected = s.combat and s.immunity in ("full", "health_only")
    canvas.circles(
        "agents",
        x,
        y,
        size,
        colour=agent["population"].astype(np.uint8),
        absent=~agent["alive"],
        jump=newborn(world, w),
        glyph="team",
        legend=[f"population {number}" for number in range(s.npop)],
        bars={name: (agent[name], getattr(s, name)) for name in ("health", "food", "water")},
        marks={
            "frozen": agent["freeze"] > 1,
            "immune": agent["life"] < (s.immunity_ticks if protected else 0),
        },
    )


def newborn(world: MmoWorld, w: int) -> np.ndarray:
    """(N,) bool, born in the last tick."""
    agent = world.state.agent[w]
    return agent["alive"] & (agent["life"] == 0)


def draw_births(
    canvas: Canvas, world: MmoWorld, w: int, x: np.ndarray, y: np.ndarray, size: np.ndarray
) -> None:
    """A ring around each newcomer."""
    born = np.flatnonzero(newborn(world, w))
    canvas.circles(
        "births",
        x[born],
        y[born],
        1.9 * size[born],
        colour=BIRTH,
        fill=False,
        width=0.2,
        jump=np.ones(len(born), bool),
        legend="newborn",
    )


def draw_deaths(canvas: Canvas, world: MmoWorld, w: int, ended: np.ndarray) -> None:
    """A cross and the cause at each death; unknown places, of slots already taken again, are left out."""
    agent, cause = world.state.agent[w], world.state.tally["ended_cause"][w]
    gone = np.flatnonzero(ended & ~agent["alive"] & (cause != ALIVE) & (cause != CUT))
    x, y = agent["col"][gone] + 0.5, agent["row"][gone] + 0.5
    still = np.ones(len(gone), bool)
    for name, sign in (("deaths", 1), ("deaths, crossed", -1)):
        canvas.segments(
            name,
            x - 0.35,
            y - 0.35 * sign,
            x + 0.35,
            y + 0.35 * sign,
            colour=DEATH,
            width=0.14,
            jump=still,
        )
    words = [CAUSES[cause[slot]] for slot in gone]
    canvas.labels("causes", x, y + 0.9, words, colour=DEATH, jump=still)


def draw_blows(canvas: Canvas, world: MmoWorld, w: int, x: np.ndarray, y: np.ndarray) -> None:
    """The attacks that landed: a line from the attacker to the target's place, and a ring there."""
    blows, gone = {name: column[w] for name, column in world.blows.items()}, world.timestep.terminated[w]
    x, y = (np.where(gone, blows[name] + 0.5, at) for name, at in (("col", x), ("row", y)))
    for number, (name, (colour, width, dashed)) in enumerate(STYLES.items()):
        slots = np.flatnonzero((blows["struck"] >= 0) & (blows["style"] == number))
        to_x = blows["col"][slots] + blows["struck_col"][slots] + 0.5
        to_y = blows["row"][slots] + blows["struck_row"][slots] + 0.5
        still = np.ones(len(slots), bool)
        canvas.segments(
            name,
            x[slots],
            y[slots],
            to_x,
            to_y,
            colour=colour,
            width=width,
            dashed=dashed,
            jump=still,
            legend=name,
        )
        canvas.circles(
            f"{name} hits",
            to_x,
            to_y,
            0.5,
            colour=colour,
            fill=False,
            width=0.7 * width,
            jump=still,
        )


def draw_counts(canvas: Canvas, world: MmoWorld, w: int) -> None:
    """The caption, and the number of living agents of each population."""
    room = world.state.room[w]
    births, deaths = int(room["births"]), int(room["deaths"])
    mean_life = round(float(room["life_ticks"]) / deaths, 1) if deaths else "-"
    row = [int(room["tick"]), int(room["living"]), births, deaths, mean_life]
    canvas.table("status", ["tick", "living", "births", "deaths", "mean life"], [row], caption=True)
    standing = [[number, int(count)] for number, count in enumerate(world.state.standing[w])]
    canvas.table("populations", ["population", "living"], standing)


def visible(world: MmoWorld, w: int, slot: int) -> dict[str, np.ndarray]:
    """The part of the scene that an agent sees: tiles and agents of its crop. Attacks are not observed, not even its own."""
    agent, settings = world.state.agent[w], world.settings
    if not agent["alive"][slot]:
        return {}
    first = max(settings.border - SHORE, 0)
    side = np.arange(first, settings.side - first)
    row, col = int(agent["row"][slot]), int(agent["col"][slot])
    rows, cols = abs(side - row) <= settings.vision, abs(side - col) <= settings.vision
    near = np.maximum(abs(agent["row"].astype(int) - row), abs(agent["col"].astype(int) - col))
    seen = agent["alive"] & (near <= settings.vision)
    births = np.flatnonzero(seen[newborn(world, w)])  # of the rows of that layer
    return {"ground": rows[:, None] & cols, "agents": seen, "births": births}
