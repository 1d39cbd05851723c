"""A grid world as a scene: a ground of cells and a shape for each active agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.loading import load
from interplay.core.scene import Canvas
from interplay.gridworld.board import Array, Board
from interplay.sim.agents import is_agent

_WEST, _EAST = 1, 3  # codes of directions
_CORNERS = 24  # of every shape, so that all agents are rows of one layer
_GROUND = ("#f4f4f1", "#eceae4")
_COLOURS = {
    "black": "#20242b",
    "white": "#ffffff",
    "gray": "#8a8f98",
    "grey": "#8a8f98",
    "red": "#d5473d",
    "green": "#3f9b52",
    "blue": "#3b6fc4",
    "yellow": "#e8c02f",
    "orange": "#e5862a",
    "purple": "#8a55b5",
    "pink": "#e58fb1",
    "brown": "#8c6239",
    "cyan": "#3fb5c4",
    "magenta": "#c24aa5",
}

_LETTERS = {
    "k": "black",
    "w": "white",
    "r": "red",
    "g": "green",
    "b": "blue",
    "y": "yellow",
    "c": "cyan",
    "m": "magenta",
}


def draw_board(canvas: Canvas, board: Board, agents: Sequence[Any], world: int) -> None:
    """Draws one world of a board.

    Args:
        agents: by slot, for their shapes, colours and sizes.
    """
    rows, cols = board.cells.shape[1:]
    canvas.show(0, 0, cols, rows, up="south")
    ground = (np.add.outer(np.arange(rows), np.arange(cols)) % 2).astype(np.uint8)
    canvas.tiles("ground", ground, palette=_GROUND)
    if not agents:
        return
    table = board.agents[world]
    present = table["active"] & table["placed"]
    x, y, scale = _places(table, present)
    outlines = np.stack(
        [outline(_shape(agent, facing)) for agent, facing in zip(agents, table["orientation"], strict=True)]
    )
    sizes = np.array([0.42 * min(2.0, (agent.render_size / 200) ** 0.5) for agent in agents]) * scale
    sizes = np.minimum(sizes, 0.5)
    colours = np.array([colour_of(agent.render_color) for agent in agents], np.uint8)
    names = np.array([_layer(agent) for agent in agents])
    wander = np.array([getattr(agent, "through_tunnels", False) for agent in agents], bool)
    emerged = wander & _emerged(table, cols)
    for layer in sorted(set(names), key=lambda name: (name == "agents", name)):  # learning agents on top
        which = names == layer
        canvas.polygons(
            layer,
            (x[:, None] + outlines[:, :, 0] * sizes[:, None])[which],
            (y[:, None] + outlines[:, :, 1] * sizes[:, None])[which],
            colour=colours[which],
            absent=~present[which],
            jump=emerged[which] if wander[which].any() else None,
            legend=words_of([agent for agent, there in zip(agents, which, strict=True) if there]),
        )


def words_of(agents: Sequence[Any]) -> dict[str, str]:
    """Names of agents -> "#rrggbb": the class, and the encoding if a class has several colours."""
    looks: dict[str, dict[str, int]] = {}
    for agent in agents:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(agent).__name__.removesuffix("Agent")).lower()
        colour = "#{:02x}{:02x}{:02x}".format(*colour_of(agent.render_color))
        plain = kind in ("", "grid world")  # no class of its own
        looks.setdefault(f"encoding {agent.encoding}" if plain else kind, {}).setdefault(
            colour, agent.encoding
        )
    return {
        kind if len(colours) == 1 else f"{kind}, encoding {encoding}": colour
        for kind, colours in looks.items()
        for colour, encoding in colours.items()
    }


def visible_board(board: Board, agents: Sequence[Any], world: int, own: int, seen: Array) -> dict[str, Array]:
    """The part of the scene that an agent sees.

    Args:
        board, agents, world: as of `draw_board`.
        own: the agent's slot of the board.
        seen: (rows, cols) bool, the visible cells.
    """
    table, (rows, cols) = board.agents[world], seen.shape
    there = seen[np.clip(table["row"], 0, rows - 1), np.clip(table["col"], 0, cols - 1)]
    shown = there & table["active"] & table["placed"]
    shown[own] = True
    names = np.array([_layer(agent) for agent in agents])
    return {"ground": seen, **{str(name): shown[names == name] for name in set(names)}}


def _layer(agent: Any) -> str:
    """Layer of an agent: learning agents share one, with agent i of the world in row i; others by class, or by encoding."""
    if is_agent(agent):
        return "agents"
    name = type(agent).__name__.removesuffix("Agent").lower()
    return (
        name
        if name != "gridworld"
        else f"{chr(ord('a') + (agent.encoding - 1) % 26)}: encoding {agent.encoding % 40}"
    )


def _shape(agent: Any, facing: int) -> str:
    """An agent's shape; ``drawn_facing`` means a triangle in its direction."""
    return "<v>^"[facing - 1] if facing > 0 and getattr(agent, "drawn_facing", False) else agent.render_shape


def _emerged(table: Array, cols: int) -> Array:
    """(A,) bool, agents at one end of a row that face the other: they came through a tunnel, and must not glide across the map."""
    west, east = table["orientation"] == _WEST, table["orientation"] == _EAST
    return (table["col"] == 0) & east | (table["col"] == cols - 1) & west


def _places(table: Array, present: Array) -> tuple[Array, Array, Array]:
    """Centres, and sizes relative to an agent alone in its cell: several are arranged around the cell's centre."""
    x, y = table["col"] + 0.5, table["row"] + 0.5
    scale = np.ones(len(table))
    cells: dict[tuple[int, int], list[int]] = {}
    for slot in np.flatnonzero(present).tolist():
        cells.setdefault((int(table["row"][slot]), int(table["col"][slot])), []).append(slot)
    for several in cells.values():
        if len(several) > 1:
            for place, slot in enumerate(several):
                turn = 2 * np.pi * place / len(several) - np.pi / 4
                x[slot] += 0.22 * np.cos(turn)
                y[slot] += 0.22 * np.sin(turn)
                scale[slot] = 0.55
    return x, y, scale


def outline(shape: str) -> Array:
    """Corners (24, 2) of one of the shapes of `interplay.gridworld.agents.SHAPES` in a circle of radius 1, y down."""
    regular = {"s": (4, 45.0), "D": (4, 0.0), "p": (5, -90.0), "h": (6, -90.0), "H": (6, 0.0), "8": (8, 22.5)}
    if shape in regular:
        number, first = regular[shape]
        return _along(_ring(number, first) * (1.25 if shape == "s" else 1.0))
    pointing = {">": 0.0, "4": 0.0, "v": 90.0, "1": 90.0, "<": 180.0, "3": 180.0, "^": -90.0, "2": -90.0}
    if shape in pointing:
        return _along(_ring(3, pointing[shape]))
    if shape == "d":
        return _along(_ring(4, 0.0) * np.array([0.6, 1.0]))
    if shape == "*":
        points = _ring(10, -90.0)
        points[1::2] *= 0.42
        return _along(points)
    if shape in ("P", "+", "x", "X"):
        arm = 0.36 if shape in ("P", "X") else 0.2
        corner = [(arm, arm), (1.0, arm), (1.0, -arm)]
        cross = np.array([_turned(point, -90.0 * k) for k in range(4) for point in corner])
        return _along(cross if shape in ("P", "+") else np.array([_turned(point, 45.0) for point in cross]))
    return _ring(_CORNERS, 0.0)


def colour_of(colour: Any) -> tuple[int, int, int]:
    """Red, green and blue of a name, a letter of matplotlib's or ``"#rrggbb"``; gray for unknown colours."""
    text = str(colour)
    text = _COLOURS.get(_LETTERS.get(text, text).lower(), text)
    if len(text) != 7 or text[0] != "#" or any(letter not in "0123456789abcdefABCDEF" for letter in text[1:]):
        text = _COLOURS["gray"]
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _ring(number: int, first: float) -> Array:
    turn = np.deg2rad(first + 360.0 * np.arange(number) / number)
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _turned(point: Any, degrees: float) -> tuple[float, float]:
    cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return float(point[0] * cos - point[1] * sin), float(point[0] * sin + point[1] * cos)


def _along(points: Array) -> Array:
    """The same outline with 24 corners: the last is repeated."""
    return np.concatenate([points, np.repeat(points[-1:], _CORNERS - len(points), axis=0)])


def render(sim: Any, fig: Any = None, gridlines: bool = True, background_color: str = "w") -> Any:
    """Draws the present state; see `GridWorldSimulation.render`."""
    canvas = Canvas()
    sim.draw(canvas)
    scene = canvas.scene()
    rows, cols = sim.grid.rows, sim.grid.cols
    longest = max(rows, cols)
    size = (max(64, 512 * cols // longest), max(64, 512 * rows // longest))
    # Imported by name: pictures are a layer above simulations.
    picture = load("interplay.view.picture:render")(scene, size)
    if fig is None:
        return picture
    axes = fig.gca()
    if axes.images:
        axes.images[0].set_data(picture)
    else:
        axes.imshow(picture, extent=(0, cols, rows, 0))
        axes.set_facecolor(background_color)
        axes.set_xticks(range(cols + 1), labels=[])
        axes.set_yticks(range(rows + 1), labels=[])
        axes.grid(gridlines)
    fig.canvas.draw_idle()
    return fig
