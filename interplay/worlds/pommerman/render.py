"""State -> drawing primitives: board, items, flames, bombs with their lives, players."""

from __future__ import annotations

import numpy as np

from interplay.core.fog import EVERYTHING, Visible
from interplay.core.scene import Canvas
from interplay.worlds.pommerman.config import FLAME_LIFE, PommermanSettings
from interplay.worlds.pommerman.state import (
    DOWN,
    EXTRA_BOMB,
    KICK,
    LEFT,
    MORE_RANGE,
    RIGHT,
    RIGID,
    STOP,
    UP,
    WOOD,
    PommermanState,
)

FLOOR, STONE = "#f1efe8", "#5c6068"
CRATE = "#c99b61"
BOMB_BODY, BOMB_TEXT = "#23262d", "#ffffff"
FIRE = ((255, 205, 92), (246, 140, 46), (217, 72, 15))  # by the observations left, from one to three
REACH = "#d9480f"
UNSEEN = "#8d8a7c"
# Item -> name of its layer, colour, sign.
ITEMS = {
    EXTRA_BOMB: ("extra bombs", "#23262d", "plus"),
    MORE_RANGE: ("ranges", "#d9480f", "triangle"),
    KICK: ("kicks", "#0b7285", "diamond"),
}
_ACROSS = np.array([0, 0, 0, -1, 1])  # by direction
_DOWN = np.array([0, -1, 1, 0, 0])
assert tuple(range(5)) == (STOP, UP, DOWN, LEFT, RIGHT)
_OUTCOMES = {1: "won", 0: "tied", -1: "lost"}


def draw(
    canvas: Canvas, state: PommermanState, settings: PommermanSettings, w: int, eyes: int | None = None
) -> None:
    """Draws world `w`; row i of the layer ``agents`` is slot i.

    With `eyes`, a player, its fog is drawn; None draws the windows of all living players.
    """
    size = settings.size
    canvas.show(0, 0, size, size, up="south")
    ground, flame = _inner(state.ground[w], size), _inner(state.flame[w], size)
    row, col = (axis.reshape(-1) for axis in np.indices((size, size)))
    canvas.tiles("ground", np.zeros((size, size), np.uint8), palette=(FLOOR,))
    x, y = col + 0.5, row + 0.5
    stone, wood = ((ground != kind).reshape(-1) for kind in (RIGID, WOOD))
    canvas.boxes("stone", x, y, 0.5, 0.5, colour=STONE, absent=stone, legend="rigid wall")
    canvas.boxes("wood", x, y, 0.44, 0.44, colour=CRATE, absent=wood, glyph="crate", legend="wood")
    draw_fire(canvas, row, col, flame.reshape(-1))
    for item, (name, colour, sign) in ITEMS.items():
        absent = (ground != item).reshape(-1)
        canvas.circles(name, x, y, 0.3, colour=colour, absent=absent, glyph=sign, legend=f"item: {name}")
    draw_bombs(canvas, state, settings, w)
    draw_agents(canvas, state, settings, w)
    if settings.fog is not None:
        draw_fog(canvas, state, settings, w, row, col, eyes)
    draw_counts(canvas, state, settings, w)


def visible(state: PommermanState, settings: PommermanSettings, w: int, slot: int) -> Visible:
    """The layers and rows that a player sees: those in its window.

    The reach of bombs is hidden, because it may depend on walls outside the window.
    """
    if settings.fog is None:
        return EVERYTHING
    size = settings.size
    row, col = (axis.reshape(-1) for axis in np.indices((size, size)))
    x, y = _places(state, settings, w)
    window = np.maximum(abs(col + 0.5 - x[slot]), abs(row + 0.5 - y[slot])) <= settings.fog
    plain = window & (_inner(state.flame[w], size).reshape(-1) == 0)  # flames hide the ground below them
    own = np.arange(settings.players) == slot
    agent, bomb = state.agent[w], state.bomb[w]
    near = np.maximum(abs(x - x[slot]), abs(y - y[slot])) <= settings.fog
    down, across = np.divmod(bomb["cell"].astype(np.int64), size + 2)
    seen = np.maximum(abs(across - 0.5 - x[slot]), abs(down - 0.5 - y[slot])) <= settings.fog
    # Bombs are sorted by age: their row numbers would reveal bombs out of view.
    bombs = np.flatnonzero(seen & (np.arange(settings.bombs) < int(state.room["bombs"][w])))
    return {
        "ground": window.reshape(size, size),
        "stone": plain,
        "wood": plain,
        "flames": window,
        **{name: plain for name, _, _ in ITEMS.values()},
        **dict.fromkeys(("bombs", "lives", "slides"), bombs),
        "agents": own | (near & agent["alive"]),
        "agents/mark.kicks": own,
        "windows": np.tile(own, 4),
        "players": own,
    }


def draw_fire(canvas: Canvas, row: np.ndarray, col: np.ndarray, flame: np.ndarray) -> None:
    """Flames, darker and larger the longer they last."""
    colour = np.array(FIRE, np.uint8)[np.clip(flame, 1, FLAME_LIFE) - 1]
    half = 0.26 + 0.08 * flame
    words = {"flames": "#{:02x}{:02x}{:02x}".format(*FIRE[0])}
    canvas.boxes("flames", col + 0.5, row + 0.5, half, half, colour=colour, absent=flame == 0, legend=words)


def draw_bombs(canvas: Canvas, state: PommermanState, settings: PommermanSettings, w: int) -> None:
    """Bombs with the steps left, their reach, and their direction."""
    bomb, side = state.bomb[w], settings.size + 2
    absent = np.arange(settings.bombs) >= int(state.room["bombs"][w])
    row, col = np.divmod(bomb["cell"].astype(np.int64), side)
    x, y = col - 0.5, row - 0.5
    jump = np.ones(settings.bombs, bool)  # rows move up when an older bomb explodes
    ends = _reach(state, settings, w)
    for name, one, other in (("reach", LEFT, RIGHT), ("reach, down", UP, DOWN)):
        canvas.segments(
            name,
            x + _ACROSS[one] * ends[:, one],
            y + _DOWN[one] * ends[:, one],
            x + _ACROSS[other] * ends[:, other],
            y + _DOWN[other] * ends[:, other],
            colour=REACH,
            width=0.06,
            dashed=True,
            absent=absent,
            jump=jump,
            opacity=0.5,
        )
    canvas.circles(
        "bombs", x, y, 0.42, colour=BOMB_BODY, absent=absent, jump=jump, legend="bomb, with its steps left"
    )
    canvas.labels(
        "lives",
        x,
        y,
        [str(life) for life in bomb["life"]],
        colour=BOMB_TEXT,
        absent=absent,
        jump=jump,
        size=0.46,
        halo=False,
    )
    slides = bomb["direction"].astype(np.int64)
    canvas.segments(
        "slides",
        x + 0.38 * _ACROSS[slides],
        y + 0.38 * _DOWN[slides],
        x + 0.8 * _ACROSS[slides],
        y + 0.8 * _DOWN[slides],
        colour=BOMB_BODY,
        width=0.12,
        absent=absent | (slides == STOP),
        jump=jump,
    )


def draw_agents(canvas: Canvas, state: PommermanState, settings: PommermanSettings, w: int) -> None:
    """Players in the colours of their sides; dead ones leave a faint mark."""
    agent, x, y = state.agent[w], *_places(state, settings, w)
    sides = _sides(settings)
    canvas.circles(
        "agents",
        x,
        y,
        0.34,
        colour=sides,
        dimmed=~agent["alive"],
        jump=np.full(settings.players, state.room["steps"][w] == 0),
        glyph="team",
        marks={"kicks": agent["kick"] & agent["alive"]},
        legend=[f"{'team' if settings.teams else 'player'} {side}" for side in range(int(sides.max()) + 1)],
        labels=[str(number) for number in range(settings.players)],
    )


def draw_fog(
    canvas: Canvas,
    state: PommermanState,
    settings: PommermanSettings,
    w: int,
    row: np.ndarray,
    col: np.ndarray,
    eyes: int | None,
) -> None:
    """The window of each living player; with `eyes`, fog over the cells outside that player's."""
    x, y = _places(state, settings, w)
    reach = (settings.fog or 0) + 0.5
    left, right = np.clip(x - reach, 0, settings.size), np.clip(x + reach, 0, settings.size)
    top, bottom = np.clip(y - reach, 0, settings.size), np.clip(y + reach, 0, settings.size)
    sides = _sides(settings)
    hidden = np.zeros(len(row), bool)
    if eyes is not None:
        hidden = np.maximum(np.abs(col + 0.5 - x[eyes]), np.abs(row + 0.5 - y[eyes])) > reach
    canvas.boxes("unseen", col + 0.5, row + 0.5, 0.5, 0.5, colour=UNSEEN, absent=~hidden, opacity=0.75)
    absent = ~state.agent["alive"][w] if eyes is None else np.arange(settings.players) != eyes
    inset = 0.05 + 0.06 * sides  # so that windows with one edge can be told apart
    left, right, top, bottom = left + inset, right - inset, top + inset, bottom - inset
    canvas.segments(
        "windows",
        np.concatenate([left, left, left, right]),
        np.concatenate([top, bottom, top, top]),
        np.concatenate([right, right, left, right]),
        np.concatenate([top, bottom, bottom, bottom]),
        colour=np.tile(sides, 4),
        width=0.05,
        absent=np.tile(absent, 4),
        opacity=0.6,
    )


def draw_counts(canvas: Canvas, state: PommermanState, settings: PommermanSettings, w: int) -> None:
    """The caption, and a table of the players."""
    agent, over = state.agent[w], bool(state.room["over"][w])
    row = [int(state.room["steps"][w]), int(agent["alive"].sum()), int(state.room["bombs"][w])]
    canvas.table("status", ["step", "alive", "bombs"], [row], caption=True)
    rows = [
        [
            f"player {number}",
            _OUTCOMES[int(one["outcome"])] if over else "alive" if one["alive"] else "dead",
            f"{one['ammo']} in hand",
            f"range {one['blast']}",
            "kicks" if one["kick"] else "",
        ]
        for number, one in enumerate(agent)
    ]
    canvas.table("players", ["player", "state", "bombs", "range", "kick"], rows)


def _reach(state: PommermanState, settings: PommermanSettings, w: int) -> np.ndarray:
    """(K, 5) reach of each live bomb's fire from its centre, in cells, by direction."""
    ground, side = state.ground[w], settings.size + 2
    ends = np.zeros((settings.bombs, 5))
    for k, bomb in enumerate(state.bomb[w, : int(state.room["bombs"][w])]):
        for direction in (UP, DOWN, LEFT, RIGHT):
            cell, cells = int(bomb["cell"]), 0
            while cells < bomb["blast"] - 1 and ground[cell] != WOOD:
                cell += int(_DOWN[direction]) * side + int(_ACROSS[direction])
                if ground[cell] == RIGID:
                    break
                cells += 1
            ends[k, direction] = cells + 0.5
    return ends


def _sides(settings: PommermanSettings) -> np.ndarray:
    """(A,) uint8, the team of each player, or its own number."""
    return (np.arange(settings.players) % (2 if settings.teams else settings.players)).astype(np.uint8)


def _inner(cells: np.ndarray, size: int) -> np.ndarray:
    """(N, N) without the rim."""
    return np.asarray(cells).reshape(size + 2, size + 2)[1:-1, 1:-1]


def _places(state: PommermanState, settings: PommermanSettings, w: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the players' cell centres, (A,) each."""
    row, col = np.divmod(state.agent["cell"][w].astype(np.int64), settings.size + 2)
    return col - 0.5, row - 0.5
