"""Look of matplotlib figures for papers: size, fonts, curves, matrices, grid of panels, title and legend."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.view.extras import load
from interplay.view.palette import INK, POPULATIONS

WIDTHS = {"column": 3.25, "page": 6.75}  # inches: one column and both of ICML's style
SMALLEST, LARGEST = 1.0, 40.0  # inches a side
FONTS = (4.0, 40.0)  # points
FONT = 9.0  # points by default
ACROSS, NARROWEST = 3, 2.0  # panels side by side at most, and inches of one at least
LOWEST = 0.7  # inches of a panel's height, labels included
GAP = 0.06  # inches between parts of a figure

# Colours of lines on white, without yellow, which is too pale. Markers and, after seven, dashes distinguish lines in grey.
LINES = (*POPULATIONS[:6], INK)
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", ":", "-.")
_GRID = "#dee2e6"
MARKED = 8  # markers along a curve
_WRITTEN = 14  # most players of a matrix with numbers in its cells
_LUMINANCE = np.array([0.299, 0.587, 0.114])


class FigureLook(NamedTuple):
    """Look of a figure.

    Attributes:
        width, height: inches; None: as its panels need.
        font: points of the labels of axes; other texts are one point smaller or larger.
        title: above the panels; empty: the default.
    """

    width: float | None = None
    height: float | None = None
    font: float = FONT
    title: str = ""


AS_NEEDED = FigureLook()


class LineLook(NamedTuple):
    """Colour, marker and dash of a line."""

    colour: str
    marker: str
    dash: str


def line_look(number: int, count: int) -> LineLook:
    """The look of line `number` of `count`; a single one has no marker.

    Example:
        >>> line_look(0, 1), line_look(7, 9)
        (LineLook(colour='#0072b2', marker='', dash='-'), LineLook(colour='#0072b2', marker='*', dash='--'))
    """
    marker = MARKS[number % len(MARKS)] if count > 1 else ""
    return LineLook(LINES[number % len(LINES)], marker, DASHES[number // len(LINES) % len(DASHES)])


def plain_axes(axes: Any, grid: str = "both") -> None:
    """Removes the upper and the right spine, and draws a pale grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def draw_curve(
    axes: Any,
    x: np.ndarray,
    middle: np.ndarray,
    band: Sequence[np.ndarray] | None,
    look: LineLook,
    number: int,
    label: str,
) -> None:
    """Draws a line with a band (lower and upper end), if there is one."""
    if band is not None:
        axes.fill_between(x, *band, color=look.colour, alpha=0.2, linewidth=0)
    (line,) = axes.plot(x, middle, color=look.colour, linewidth=1.8, label=label)
    mark(line, look, number)


def mark(line: Any, look: LineLook, number: int) -> None:
    """Gives a drawn line its dash and a few markers, offset from those of other lines."""
    if line.get_linestyle() == "None":  # points
        line.set_marker(look.marker or line.get_marker())
        return
    points = len(line.get_xdata())
    apart = max(points // MARKED, 1)
    line.set(linestyle=look.dash, marker=look.marker or "None", markersize=5.0)
    line.set(markeredgecolor="white", markeredgewidth=0.4)
    line.set_markevery((number * max(apart // 3, 1) % apart, apart))


def draw_matrix(
    axes: Any,
    values: np.ndarray,
    names: Sequence[str],
    title: str,
    colours: str = "RdBu",
    highest: float = 100.0,
    form: str = ".0f",
) -> Any:
    """Draws numbers from 0 to `highest` as coloured cells, and returns the image; cells of NaN are hatched."""
    image = axes.imshow(values, cmap=colours, vmin=0.0, vmax=highest, aspect="auto")
    axes.patch.set(facecolor="#e9ecef", edgecolor="#adb5bd", hatch="////", linewidth=0)
    size = 10 if len(names) <= 8 else 8 if len(names) <= 30 else 6
    if len(names) <= _WRITTEN:
        light = image.cmap(image.norm(values))[..., :3] @ _LUMINANCE > 0.5
        for i, j in np.argwhere(np.isfinite(values)):
            colour = "black" if light[i, j] else "white"
            axes.text(j, i, f"{values[i, j]:{form}}", ha="center", va="center", color=colour, fontsize=size)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=size)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.set_title(title, fontsize=10)
    return image


def figure_look(size: str = "", font_size: float | None = None, title: str = "") -> FigureLook:
    """Parses the look that a user typed.

    Args:
        size: ``5.5``, ``5.5x3``, ``column`` or ``page x 2.5``: width, or width and height, in inches; empty: as the panels need.
        font_size: points.
        title: above the panels.

    Raises:
        UserError: for another size or font.

    Example:
        >>> figure_look("column x 2.5")[:2], figure_look("5.5")[:2]
        ((3.25, 2.5), (5.5, None))
    """
    if font_size is not None and not FONTS[0] <= font_size <= FONTS[1]:
        raise UserError(f"font size = {font_size:g}: give {FONTS[0]:g} to {FONTS[1]:g} points")
    width, height = _inches(size) if size.strip() else (None, None)
    return FigureLook(width, height, FONT if font_size is None else font_size, title)


def _inches(size: str) -> tuple[float, float | None]:
    words = [part.strip() for part in re.split(r"\s*[x×,]\s*", size.strip().lower())]
    sides = [
        WIDTHS.get(word) if number == 0 and word in WIDTHS else _number(word)
        for number, word in enumerate(words)
    ]
    if len(sides) > 2 or not all(side is not None and SMALLEST <= side <= LARGEST for side in sides):
        raise UserError(
            f"size = {size}: give inches from {SMALLEST:g} to {LARGEST:g}, WIDTH or WIDTHxHEIGHT; a width may be {' or '.join(WIDTHS)}"
        )
    return float(sides[0] or 0.0), sides[1] if len(sides) > 1 else None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def panel_grid(count: int, width: float | None) -> tuple[int, int]:
    """Rows and columns of panels: at most three side by side, fewer in a narrow figure.

    Example:
        >>> [panel_grid(count, None) for count in (1, 3, 4, 5, 6, 7)]
        [(1, 1), (1, 3), (2, 2), (2, 3), (2, 3), (3, 3)]
        >>> panel_grid(6, 3.25), panel_grid(6, 5.5)
        ((6, 1), (3, 2))
    """
    most = ACROSS if width is None else max(1, min(ACROSS, int(width / NARROWEST)))
    rows = math.ceil(count / most)
    return rows, math.ceil(count / rows)


@contextmanager
def fonts(look: FigureLook) -> Iterator[None]:
    """Sets matplotlib's font sizes to those of a look; text between dollar signs is no formula."""
    size = look.font
    sizes = {
        "font.size": size,
        "axes.labelsize": size,
        "axes.titlesize": size,
        "xtick.labelsize": size - 1,
        "ytick.labelsize": size - 1,
        "legend.fontsize": size - 1,
        "figure.titlesize": size + 1,
    }
    with load("matplotlib", "plot", "figures").rc_context({**sizes, "text.parse_math": False}):
        yield


def frame_figure(
    figure: Any, look: FigureLook, title: str, notes: str = "", rows: int = 1, panel_height: float = 2.6
) -> None:
    """Puts a title above the panels, and one legend and notes below them, outside of the axes.

    Call it inside `fonts`, when all panels are drawn. The legend has each label of the panels once.

    Args:
        figure: with a constrained layout.
        look: its height is kept; without one the figure becomes as high as its parts.
        title: empty for none.
        notes: below the legend, in small letters.
        panel_height: inches, if the look has no height.

    Raises:
        UserError: if the look's height leaves no room for panels.
    """
    canvas = load("matplotlib.backends.backend_agg", "plot", "figures").FigureCanvasAgg(figure)
    renderer, width = canvas.get_renderer(), figure.get_size_inches()[0]
    room = width - 2 * GAP
    heading = wrapped(renderer, title, look.font + 1, room)
    below = wrapped(renderer, notes, look.font - 2, room)
    legend = _legend(figure, renderer, room)
    legend_height = 0.0 if legend is None else legend.get_window_extent(renderer).height / figure.dpi + GAP
    top = _height(heading, look.font + 1)
    bottom = _height(below, look.font - 2) + legend_height
    least = rows * LOWEST + top + bottom
    if look.height is not None and look.height < least:
        raise UserError(
            f"size: {look.height:g} inches of height have no room for {rows} row{'s' * (rows > 1)} of panels, title and legend; "
            f"give {math.ceil(10 * least) / 10:g} or more, or a smaller font"
        )
    height = rows * panel_height + top + bottom if look.height is None else look.height
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, bottom / height, 1, 1 - (top + bottom) / height))
    if heading:
        figure.suptitle(heading, y=1 - GAP / height, va="top").set_in_layout(False)
    if below:
        text = figure.supxlabel(below, y=GAP / height, va="bottom", fontsize=look.font - 2)
        text.set_in_layout(False)
    if legend is not None:
        legend.set_bbox_to_anchor((0.5, (bottom - legend_height + GAP / 2) / height))
    _fit_labels(figure, renderer)


def _fit_labels(figure: Any, renderer: Any) -> None:
    """Breaks titles and labels that are longer than their axes into lines."""
    figure.draw_without_rendering()  # which lays the axes out
    for axes in figure.axes:
        box = axes.get_window_extent(renderer)
        across, up = box.width / figure.dpi, box.height / figure.dpi
        for text, room in ((axes.title, across), (axes.xaxis.label, across), (axes.yaxis.label, up)):
            text.set_text(wrapped(renderer, text.get_text(), text.get_fontsize(), max(room, 0.5)))


def _legend(figure: Any, renderer: Any, room: float) -> Any:
    """One legend for all panels, in as many columns as fit into `room` inches; None without labels."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if not found:
        return None
    import matplotlib

    size = float(matplotlib.rcParams["legend.fontsize"])
    labels = [wrapped(renderer, label, size, room - 4 * size / 72) for label in found]
    legend, rows = None, 0
    for most in range(min(len(labels), 6), 0, -1):
        if math.ceil(len(labels) / most) == rows:
            continue
        rows = math.ceil(len(labels) / most)
        columns = math.ceil(len(labels) / rows)
        if legend is not None:
            legend.remove()
        legend = figure.legend(
            list(found.values()),
            labels,
            loc="lower center",
            ncols=columns,
            frameon=False,
            borderaxespad=0.0,
            borderpad=0.0,
            columnspacing=1.5,
        )
        legend.set_in_layout(False)
        if legend.get_window_extent(renderer).width / figure.dpi <= room:
            break
    return legend


def _height(text: str, size: float) -> float:
    """Inches of a text with a gap."""
    return (1.25 * size / 72 * (text.count("\n") + 1) + GAP) if text else 0.0


def wrapped(renderer: Any, text: str, size: float, room: float) -> str:
    """Breaks a text into lines of at most `room` inches; longer words are cut."""
    from matplotlib.font_manager import FontProperties

    font, most = FontProperties(size=size), room * renderer.dpi

    def fits(words: str) -> bool:
        return bool(renderer.get_text_width_height_descent(words, font, False)[0] <= most)

    lines = [""]
    for word in text.split():
        if fits(longer := f"{lines[-1]} {word}".lstrip()):
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and not fits(lines[-1] + letter):
                lines.append("")
            lines[-1] += letter
    return "\n".join(lines)
