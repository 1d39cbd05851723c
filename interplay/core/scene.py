"""A world's appearance, described once for every renderer: pictures, videos, recordings, the page.

A world's ``draw(canvas, world)`` calls the `Canvas`. The resulting `Scene` is plain data: layers in the
order in which they were declared (the order in which they are painted), each with named columns of equal
length. Row i of a layer means the same thing from frame to frame (for agents: the slot), so that a viewer can
glide between frames and a recording can store differences.

A Python number, string or bool passed to a canvas method is a constant of the layer and is written once. An array, a list or a
NumPy scalar is a column and may differ in every frame. `Scene.check_follows` refuses constants that change.

Units are the world's own; x runs to the right, y down, or up with ``up="north"``. Angles are radians from +x
towards +y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.layers import Layer, LayerBuilder, cells, strings

if TYPE_CHECKING:
    from interplay.core.world import World

MAX_LAYERS = 64
DOTS = "dots"  # how a line may be broken besides dashes
ALIGNMENTS = {
    "left": 0.0,
    "centre": 0.5,
    "right": 1.0,
}  # of labels -> the share of a text that lies left of its place
Bounds = tuple[float, float, float, float]


class Scene(NamedTuple):
    """One frame.

    Attributes:
        bounds: (x0, y0, x1, y1), the part of the world to show, in the world's units; None for a scene of tables.
        up: ``"south"``: y grows down the screen; ``"north"``: y grows up.
        layers: in painting order.
        picture: (height, width, 3) uint8 that is shown instead of the layers, for worlds with a renderer of their own; otherwise None.
    """

    bounds: Bounds | None
    up: Literal["north", "south"]
    layers: tuple[Layer, ...]
    picture: np.ndarray | None = None

    def layer(self, name: str) -> Layer:
        """The layer called `name`; KeyError where there is none."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)

    def check_follows(self, first: Scene) -> None:
        """Refuses this frame after `first` unless it has the same layers with the same columns and constants."""
        was = [(layer.name, layer.kind) for layer in first.layers]
        now = [(layer.name, layer.kind) for layer in self.layers]
        if was != now:
            odd = sorted({name for name, _ in set(was) ^ set(now)}) or ["their order"]
            raise UserError(
                f"scene: the layers changed after the first frame ({', '.join(odd)}); "
                "declare the same layers in every frame and mark rows that are not there as absent"
            )
        for old, new in zip(first.layers, self.layers, strict=True):
            new.check_follows(old)


class Canvas:
    """Records one scene, one method call per layer.

    Args:
        bounds: (x0, y0, x1, y1) with x0 < x1 and y0 < y1; None = the world's draw sets it with `show`.
        up: ``"south"`` (y down, tiles) or ``"north"`` (y up, planar worlds).

    Arguments that all geometric layers take (N rows):
        colour: a palette number, a ``"#rrggbb"`` string, (N,) palette numbers or (N, 3) uint8 red, green, blue.
        absent: (N,) bool, rows that are not drawn; their other values may be anything, NaN included.
        jump: (N,) bool, rows that a viewer must not glide to from the last frame (births, respawns, rows of another thing).
        dimmed: (N,) bool, drawn faintly (dead but present).
        opacity: 0..1, a constant.
        legend: names of the things in the legend of pictures and of the page; empty = none. For circles one text for
            each palette number, or one for all; for layers with a colour per row also text -> ``"#rrggbb"``. Bars
            and marks have their own. Labels have none.

    Raises:
        UserError: from every method, for a name that is used twice, more than 64 layers, columns of unequal
            length, values that are not finite or out of range.

    Example:
        >>> canvas = Canvas(bounds=(0, 0, 10, 10))
        >>> canvas.circles("agents", [1.0, 2.0], [3.0, 4.0], radius=0.5, colour=[0, 1])
        >>> canvas.scene().layer("agents").rows
        2
    """

    def __init__(self, bounds: Sequence[float] | None = None, up: str = "south") -> None:
        self.bounds: Bounds | None = None
        self.up: Literal["north", "south"] = "south"
        self._layers: dict[str, Layer] = {}
        self._picture: np.ndarray | None = None
        self.up = _direction(up)
        if bounds is not None:
            self.show(*bounds, up=up)

    def show(self, x0: float, y0: float, x1: float, y1: float, up: str = "south") -> None:
        """Sets the part of the world that the scene shows and the direction of y."""
        bounds = (float(x0), float(y0), float(x1), float(y1))
        if not (np.isfinite(bounds).all() and x0 < x1 and y0 < y1):
            raise UserError(
                f"canvas: bounds = {bounds}; pass finite numbers x0, y0, x1, y1 with x0 < x1, y0 < y1"
            )
        self.bounds, self.up = bounds, _direction(up)

    def picture(self, pixels: np.ndarray) -> None:
        """Shows a finished picture instead of what is drawn otherwise, which transcripts go on telling."""
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
            raise UserError(
                f"canvas: a picture of {pixels.dtype}{pixels.shape}; pass (height, width, 3) uint8"
            )
        self._picture = pixels

    def tiles(
        self,
        name: str,
        ids: Any,
        palette: str | Sequence[str] = "terrain",
        origin: Sequence[float] = (0, 0),
        cell: float = 1.0,
        legend: Sequence[str] = (),
    ) -> None:
        """A ground of square tiles.

        Args:
            ids: (H, L) integers 0..255, row 0 at the smallest y.
            palette: ``"terrain"`` or the colour of each id, as ``"#rrggbb"``.
            origin: x and y of the corner of ids[0, 0].
            legend: what each colour of the palette is, for the legend of pictures; empty = nothing.
        """
        build = LayerBuilder(name, "tiles")
        build.tiles(ids)
        build.palette(palette)
        build.constant("origin", (float(origin[0]), float(origin[1])))
        if not cell > 0:
            raise build.wrong(f"cell = {cell}; the side of a tile is above 0")
        build.constant("cell", float(cell))
        if legend:
            build.constant("legend", strings(name, tuple(legend), len(legend)))
        self._add(build)

    def circles(
        self,
        name: str,
        x: Any,
        y: Any,
        radius: Any = 0.5,
        angle: Any = None,
        colour: Any = 0,
        *,
        absent: Any = None,
        jump: Any = None,
        dimmed: Any = None,
        fill: bool = True,
        outline: bool = True,
        dashed: bool = False,
        width: float = 0.0,
        opacity: float = 1.0,
        glyph: str = "",
        bars: Mapping[str, tuple[Any, Any]] | None = None,
        show_bars: bool = True,
        marks: Mapping[str, Any] | None = None,
        sight: Sequence[Any] | None = None,
        labels: Sequence[str] | None = None,
        legend: str | Sequence[str] | Mapping[str, str] = "",
    ) -> None:
        """Discs, or outlines with ``fill=False``.

        Args:
            radius: constant or (N,).
            angle: heading, constant or (N,); None = no heading line.
            colour, absent, jump, dimmed, opacity: see the class.
            fill: False draws the outline only.
            outline: False draws no dark rim around filled discs.
            dashed: with ``fill=False``, in dashes.
            width: of the line with ``fill=False``, in the world's units; 0 = a thin line.
            glyph: a second sign besides colour, drawn inside: ``"team"`` (the shape that belongs to the colour),
                ``"plus"``, or a shape of the palette (``"square"``, ``"triangle"``, ...); empty = none.
            bars: name -> (value, full value), drawn above the disc; values may exceed the full value.
            show_bars: False if the world draws them itself: then they are only numbers in the page's table and panel.
            marks: name -> (N,) bool, states worth a sign (frozen, immune), at most 5.
            sight: (depth, angle), (depth, angle, chords) or (depth, angle, chords, blockers): a cone around the heading,
                `angle` rad from edge to edge, its arc drawn with that many chords (default 16). It ends at
                obstacles: the discs and boxes of the layers in `blockers`, outlines of
                boxes from inside. Rows that are absent or dimmed, or contain the eye, block nothing.
        """
        build = LayerBuilder(name, "circles")
        build.places(x=x, y=y)
        build.number("radius", radius, minimum=0.0)
        if angle is not None:
            build.number("angle", angle)
        self._style(build, colour, absent, jump, dimmed, opacity)
        build.constants(
            fill=bool(fill),
            outline=bool(outline),
            dashed=bool(dashed),
            width=float(width),
            glyph=str(glyph),
        )
        build.legend(legend)
        build.bars(bars or {}, show_bars)
        build.marks(marks or {})
        if sight is not None:
            build.sight(*sight)
        if labels is not None:
            build.text = strings(name, labels, build.rows)
        self._add(build)

    def boxes(
        self,
        name: str,
        x: Any,
        y: Any,
        half_x: Any,
        half_y: Any,
        angle: Any = 0.0,
        colour: Any = 0,
        *,
        absent: Any = None,
        jump: Any = None,
        dimmed: Any = None,
        fill: bool = True,
        width: float = 0.0,
        opacity: float = 1.0,
        glyph: str = "",
        legend: str | Mapping[str, str] = "",
    ) -> None:
        """Oriented rectangles.

        Args:
            half_x, half_y: half extents in the box's own frame, constant or (N,).
            angle: of the box's x axis, constant or (N,).
            colour, absent, jump, dimmed, opacity: see the class.
            fill, width: as for `circles`.
            glyph: ``"crate"`` draws the boards of a crate; empty = none.
        """
        build = LayerBuilder(name, "boxes")
        build.places(x=x, y=y)
        build.number("half_x", half_x, minimum=0.0)
        build.number("half_y", half_y, minimum=0.0)
        build.number("angle", angle)
        self._style(build, colour, absent, jump, dimmed, opacity)
        build.constants(fill=bool(fill), width=float(width), glyph=str(glyph))
        build.legend(legend)
        self._add(build)

    def segments(
        self,
        name: str,
        x0: Any,
        y0: Any,
        x1: Any,
        y1: Any,
        colour: Any = 0,
        *,
        absent: Any = None,
        jump: Any = None,
        dimmed: Any = None,
        dashed: bool | str = False,
        width: float = 0.0,
        opacity: float = 1.0,
        legend: str | Mapping[str, str] = "",
    ) -> None:
        """Straight lines from (x0, y0) to (x1, y1), (N,) each.

        Args:
            x0, y0, x1, y1: (N,) the ends.
            colour, absent, jump, dimmed, opacity, legend: see the class.
            dashed: True draws dashes, ``"dots"`` dots, which differ without colour.
            width: in the world's units; 0 = a thin line.
        """
        build = LayerBuilder(name, "segments")
        build.places(x0=x0, y0=y0, x1=x1, y1=y1)
        if isinstance(dashed, str) and dashed != DOTS:
            raise build.wrong(f'dashed = {dashed!r:.60}; pass True for dashes, "{DOTS}", or False')
        broken = dashed if isinstance(dashed, str) else bool(dashed)
        self._style(build, colour, absent, jump, dimmed, opacity)
        build.constants(dashed=broken, width=float(width))
        build.legend(legend)
        self._add(build)

    def polygons(
        self,
        name: str,
        x: Any,
        y: Any,
        colour: Any = 0,
        *,
        absent: Any = None,
        jump: Any = None,
        dimmed: Any = None,
        fill: bool = True,
        width: float = 0.0,
        opacity: float = 1.0,
        legend: str | Mapping[str, str] = "",
    ) -> None:
        """Polygons with V corners each: x and y are (N, V), or (V,) for one polygon."""
        build = LayerBuilder(name, "polygons")
        build.corners(x, y)
        self._style(build, colour, absent, jump, dimmed, opacity)
        build.constants(fill=bool(fill), width=float(width))
        build.legend(legend)
        self._add(build)

    def labels(
        self,
        name: str,
        x: Any,
        y: Any,
        texts: Sequence[str],
        colour: Any = "#20242b",
        *,
        absent: Any = None,
        jump: Any = None,
        size: Any = 0.7,
        align: str = "centre",
        halo: bool = True,
    ) -> None:
        """Short texts at (x, y), (N,) each. Text is never interpreted.

        Args:
            x, y: (N,) places of the texts, at the middle of their height.
            colour, absent, jump: see the class.
            size: height of a line in the world's units, constant or (N,).
            align: whether (x, y) is the text's ``"left"`` end, its ``"centre"`` or its ``"right"`` end.
            halo: a light rim, so that the text can be read on any ground; False where the ground is known.
        """
        if align not in ALIGNMENTS:
            raise UserError(f'canvas layer "{name}": align = {align!r}; choose from {", ".join(ALIGNMENTS)}')
        build = LayerBuilder(name, "labels")
        build.places(x=x, y=y)
        build.number("size", size, minimum=0.0)
        build.constants(align=align, halo=bool(halo))
        build.colour(colour)
        build.flags(absent=absent, jump=jump)
        build.text = strings(name, texts, build.rows)
        self._add(build)

    def table(
        self,
        name: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        caption: bool = False,
        history: Sequence[str] = (),
        heads: str = "",
    ) -> None:
        """A table of numbers and texts.

        Args:
            rows: cells (str, int, float, bool or None), one per title. Text is never interpreted.
            caption: its first row is a line below the picture (step, phase, counts).
            history: titles of columns for which the page shows the cells of earlier steps side by side, one line per row of the table.
            heads: the table with the step of these cells in its first cell.
        """
        build = LayerBuilder(name, "table")
        build.constants(titles=strings(name, columns, len(columns)), caption=bool(caption))
        if history:
            build.constants(history=_columns_among(name, history, columns), heads=str(heads))
        build.text = cells(name, rows, len(columns))
        build.rows = len(build.text)
        self._add(build)

    def scene(self) -> Scene:
        """The scene drawn so far."""
        placed = [layer.name for layer in self._layers.values() if layer.kind != "table"]
        if placed and self.bounds is None:
            raise UserError(
                f'canvas: layer "{placed[0]}" has places but the scene no bounds; call canvas.show(x0, y0, x1, y1) in draw'
            )
        tables = [layer.name for layer in self._layers.values() if layer.kind == "table"]
        for layer in self._layers.values():
            heads = layer.options.get("heads")
            if heads and heads not in tables:
                raise UserError(
                    f'canvas layer "{layer.name}": heads = {heads!r:.60}, but there is no such table; name one of {", ".join(tables)}'
                )
        return Scene(self.bounds, self.up, tuple(self._layers.values()), self._picture)

    def _style(
        self, build: LayerBuilder, colour: Any, absent: Any, jump: Any, dimmed: Any, opacity: float
    ) -> None:
        if not 0.0 <= opacity <= 1.0:
            raise build.wrong(f"opacity = {opacity}; pass a number from 0 (clear) to 1")
        build.colour(colour)
        build.flags(absent=absent, jump=jump, dimmed=dimmed)
        build.constant("opacity", float(opacity))

    def _add(self, build: LayerBuilder) -> None:
        layer = build.layer()
        if layer.name in self._layers:
            raise UserError(f'canvas: layer "{layer.name}" is drawn twice; give each layer its own name')
        if len(self._layers) == MAX_LAYERS:
            raise UserError(
                f'canvas: layer "{layer.name}" would be number {MAX_LAYERS + 1}; a scene has at most {MAX_LAYERS} layers, draw many things as rows of one'
            )
        self._layers[layer.name] = layer


def scene_of(world: World, index: int = 0) -> Scene:
    """Draws world `index` of a batch.

    Raises:
        UserError: if there is no such world or its `draw` draws something invalid.
        RuntimeError: if the world was never reset.
    """
    if not 0 <= index < world.num_worlds:
        raise UserError(
            f"{world.id}: world {index} of a batch of {world.num_worlds}; name one of 0..{world.num_worlds - 1}"
        )
    canvas = Canvas()
    world.draw(canvas, index)
    return canvas.scene()


def rgb(colour: str) -> np.ndarray:
    """(3,) uint8 of ``"#rrggbb"``, for layers with a colour per row."""
    return np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)


def _direction(up: str) -> Literal["north", "south"]:
    if up not in ("north", "south"):
        raise UserError(f'canvas: up = {up!r}; choose "north" (y grows up the screen) or "south"')
    return "north" if up == "north" else "south"


def _columns_among(name: str, chosen: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Titles of columns that a table has, each once."""
    wrong = [chosen] if isinstance(chosen, str) else [title for title in chosen if title not in columns]
    if wrong:
        raise UserError(
            f'canvas layer "{name}": history = {wrong[0]!r:.60} is no list of its columns; choose from {list(columns)!r:.200}'
        )
    return tuple(dict.fromkeys(chosen))
