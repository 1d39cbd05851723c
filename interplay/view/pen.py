"""Draws antialiased primitives in a world's units on a pygame surface.

Shapes are drawn several times too large and scaled down once (area average), since pygame's antialiased calls support
neither thick slanted lines nor opacity. Text is written afterwards at the final size, so that it stays crisp.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, overload

import numpy as np

from interplay.core.scene import DOTS, Bounds
from interplay.view.extras import load_pygame
from interplay.view.palette import MARKS, PAPER, RGB, rgb

THIN: float = MARKS["thin"]  # pixels, a line of width 0
DASHES: tuple[float, float] = tuple(
    MARKS["dashes"]
)  # pixels of a dash and of a gap; more for wide lines, or they would look like dots
SPARSE, LEAST_DOT = (
    float(MARKS["sparse"]),
    float(MARKS["least_dot"]),
)  # pixels from one dot of a line to the next, and across a dot, at least
MAX_FONT = 400
FAR = 2.0**16  # sub-pixels; places are clipped there, as pygame's integers are small

Points = np.ndarray  # (V, 2) in the world's units


class Text(NamedTuple):
    """A text for the last pass, in pixels of the final picture."""

    words: str
    x: float
    y: float
    size: int
    colour: RGB
    anchor: tuple[float, float]  # point of the text at (x, y): (0, 0) top left, (1, 1) bottom right
    halo: bool


class Pen:
    """Draws one picture.

    Args:
        ground: colour of the page.
        sharpness: sub-pixels per pixel along each axis; a power of two, else the scaling is not exact.
    """

    def __init__(self, width: int, height: int, ground: RGB, sharpness: int = 4) -> None:
        self.pygame = load_pygame()
        self.width, self.height, self.sharpness = width, height, sharpness
        self.surface = self.pygame.Surface((width * self.sharpness, height * self.sharpness), 0, 32)
        self.surface.fill(ground)
        self.texts: list[Text] = []
        self.bounds: Bounds = (0.0, 0.0, float(width), float(height))
        self.scale, self.origin, self.flip = 1.0, np.zeros(2), 1.0

    def look_at(self, bounds: Bounds, up: str, area: tuple[float, float, float, float]) -> None:
        """Fits the world's `bounds` into `area` (left, top, width, height in pixels), centred and undistorted."""
        self.bounds = bounds
        x0, y0, x1, y1 = bounds
        left, top, width, height = area
        self.scale = min(width / (x1 - x0), height / (y1 - y0))
        self.flip = -1.0 if up == "north" else 1.0
        middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2 * self.flip])
        self.origin = np.array([left + width / 2, top + height / 2]) - self.scale * middle

    @contextmanager
    def within_bounds(self) -> Iterator[None]:
        """Clips shapes to the scene's bounds."""
        x0, y0, x1, y1 = self.bounds
        corners = self._fine(np.array([[x0, y0], [x1, y1]]))
        low, high = corners.min(axis=0), corners.max(axis=0)
        before = self.surface.get_clip()
        self.surface.set_clip((*low, *(high - low)))
        yield
        self.surface.set_clip(before)

    @overload
    def pixel(self, x: float, y: float) -> tuple[float, float]: ...
    @overload
    def pixel(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def pixel(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Places of the world in pixels of the final picture."""
        return self.scale * x + self.origin[0], self.scale * self.flip * y + self.origin[1]

    def pixels(self, width: float) -> float:
        """A width in pixels of the final picture, at least `THIN`."""
        return min(max(width * self.scale, THIN), FAR)

    # -- shapes; positions in the world's units, widths in pixels of the final picture --------------------

    def disc(self, x: float, y: float, radius: float, colour: RGB, opacity: float = 1.0) -> None:
        """A filled disc."""
        if opacity < 1.0:
            self.polygon(arc(x, y, radius), colour, opacity)
            return
        px, py = self._fine(np.array([[x, y]]))[0]
        size = min(radius * self.scale * self.sharpness, FAR)
        self.pygame.draw.circle(self.surface, colour, (px, py), max(size, self.sharpness * 0.75))

    def ring(
        self,
        x: float,
        y: float,
        radius: float,
        colour: RGB,
        width: float,
        opacity: float = 1.0,
        dashed: bool = False,
    ) -> None:
        """The outline of a disc."""
        if not dashed and opacity == 1.0:
            half = min(width * self.sharpness / 2, FAR)
            size = min(radius * self.scale * self.sharpness, FAR) + half
            centre = self._fine(np.array([[x, y]]))[0]
            self.pygame.draw.circle(self.surface, colour, centre, size, max(1, round(2 * half)))
            return
        turns = int(max(24, min(240, radius * self.scale)))
        points = arc(x, y, radius, turns)
        if dashed:
            for i in range(0, turns, 4):
                self.path(points[[j % turns for j in range(i, i + 3)]], colour, width, opacity)
        else:
            self.path(np.vstack([points, points[:1]]), colour, width, opacity)

    def polygon(self, points: Points, colour: RGB, opacity: float = 1.0) -> None:
        """A filled polygon."""
        self._fill(self._fine(points), colour, opacity)

    def outline(self, points: Points, colour: RGB, width: float, opacity: float = 1.0) -> None:
        """The closed outline of a polygon."""
        self.path(np.vstack([points, points[:1]]), colour, width, opacity)

    def path(
        self, points: Points, colour: RGB, width: float, opacity: float = 1.0, dashed: bool | str = False
    ) -> None:
        """A line through the points with round joints; dashes are blunt, as round ends would close their gaps."""
        fine = self._fine(points)
        if dashed == DOTS:
            for start, _ in dashes(fine, 0, max(SPARSE, 2 * width) * self.sharpness):
                self._dot(start, colour, width, opacity)
        elif dashed:
            on, off = max(DASHES[0], 2 * width), max(DASHES[1], width)
            for start, end in dashes(fine, on * self.sharpness, off * self.sharpness):
                self._fill(bar(start, end, width * self.sharpness / 2), colour, opacity)
        else:
            self._stroke(fine, colour, width, opacity)

    def rectangle(self, left: float, top: float, width: float, height: float, colour: RGB) -> None:
        """A filled upright rectangle in pixels of the final picture."""
        box = [round(min(max(part * self.sharpness, -FAR), FAR)) for part in (left, top, width, height)]
        if box[2] > 0 and box[3] > 0:
            self.pygame.draw.rect(self.surface, colour, box)

    def tiles(self, colours: np.ndarray, x: float, y: float, cell: float) -> None:
        """A picture of one (H, L, 3) uint8 colour per tile, its smallest corner at (x, y)."""
        height, length = colours.shape[:2]
        if self.flip < 0:
            colours, y = colours[::-1], y + cell * height
        corner = self._exact(np.array([[x, y]]))[0]
        side = cell * self.scale * self.sharpness
        size = (np.array([length, height]) * side).round()
        if size.prod() > 4 * np.prod(self.surface.get_size()):
            self._tiles_in_view(colours, corner, side)
            return
        picture = self.pygame.surfarray.make_surface(colours.swapaxes(0, 1))
        self.surface.blit(self.pygame.transform.scale(picture, np.maximum(size, 1).astype(int)), corner)

    def write(
        self,
        words: str,
        x: float,
        y: float,
        size: float,
        colour: RGB,
        anchor: tuple[float, float] = (0.5, 0.5),
        halo: bool = True,
    ) -> None:
        """A text at pixel (x, y) of the final picture, above every shape."""
        plain = "".join(c if c.isprintable() else " " for c in words)
        if plain.strip():
            self.texts.append(Text(plain, x, y, int(min(max(size, 8), MAX_FONT)), colour, anchor, halo))

    def forget_texts_outside(self) -> None:
        """Drops texts placed outside of the scene's bounds."""
        x0, y0, x1, y1 = self.bounds
        (left, top), (right, low) = self.pixel(x0, y0), self.pixel(x1, y1)
        top, low = sorted((top, low))
        self.texts = [text for text in self.texts if left <= text.x <= right and top <= text.y <= low]

    def picture(self) -> np.ndarray:
        """The finished picture, (height, width, 3) uint8."""
        small = self.pygame.transform.smoothscale(self.surface, (self.width, self.height))
        for text in self.texts:
            self._put(small, text)
        pixels = np.frombuffer(self.pygame.image.tobytes(small, "RGB"), np.uint8)
        return pixels.reshape(self.height, self.width, 3).copy()

    # -- how ----------------------------------------------------------------------------------------------

    def _exact(self, points: Points) -> np.ndarray:
        return (
            np.asarray(points, float) * (self.scale, self.scale * self.flip) + self.origin
        ) * self.sharpness

    def _fine(self, points: Points) -> np.ndarray:
        fine: np.ndarray = np.clip(self._exact(points), -FAR, FAR)
        return fine

    def _tiles_in_view(self, colours: np.ndarray, corner: np.ndarray, side: float) -> None:
        """Draws only the visible part of a ground, which as a whole would not fit into memory."""
        seen, at = [], []
        for axis, pixels in enumerate(self.surface.get_size()):
            tile = np.floor((np.arange(pixels) + 0.5 - corner[axis]) / side)
            inside = np.flatnonzero((tile >= 0) & (tile < colours.shape[1 - axis]))
            if not len(inside):
                return
            seen.append(tile[inside].astype(int))
            at.append(int(inside[0]))
        columns, rows = seen
        picture = self.pygame.surfarray.make_surface(colours[rows][:, columns].swapaxes(0, 1))
        self.surface.blit(picture, at)

    def _stroke(self, fine: np.ndarray, colour: RGB, width: float, opacity: float) -> None:
        half = width * self.sharpness / 2
        if opacity < 1.0 and len(fine) > 2:
            # Pieces that overlap at the joints would show as darker dots, so the whole path is one layer.
            self._blend(
                fine, half, lambda surface, shift: self._pieces(surface, fine - shift, colour, half), opacity
            )
        elif opacity < 1.0:
            self._fill(bar(fine[0], fine[1], half), colour, opacity)
        else:
            self._pieces(self.surface, fine, colour, half)

    def _pieces(self, surface: Any, fine: np.ndarray, colour: RGB, half: float) -> None:
        for start, end in itertools.pairwise(fine):
            self.pygame.draw.polygon(surface, colour, bar(start, end, half))
            self.pygame.draw.circle(surface, colour, end, half)
        self.pygame.draw.circle(surface, colour, fine[0], half)

    def _dot(self, fine: np.ndarray, colour: RGB, width: float, opacity: float) -> None:
        self._fill(arc(fine[0], fine[1], max(width, LEAST_DOT) * self.sharpness / 2, 16), colour, opacity)

    def _fill(self, fine: np.ndarray, colour: RGB, opacity: float) -> None:
        if opacity >= 1.0:
            self.pygame.draw.polygon(self.surface, colour, fine)
        else:
            self._blend(
                fine,
                0,
                lambda surface, shift: self.pygame.draw.polygon(surface, colour, fine - shift),
                opacity,
            )

    def _blend(self, fine: np.ndarray, margin: float, draw: Any, opacity: float) -> None:
        size = np.array(self.surface.get_size())
        low = np.clip(np.floor(fine.min(axis=0) - margin), 0, size).astype(int)
        high = np.clip(np.ceil(fine.max(axis=0) + margin) + 1, 0, size).astype(int)
        if (high <= low).any():
            return
        layer = self.surface.subsurface((*low, *(high - low))).copy()
        draw(layer, low)
        layer.set_alpha(round(255 * opacity))
        self.surface.blit(layer, low)

    def _put(self, surface: Any, text: Text) -> None:
        font = _font(self.pygame, text.size)
        width, height = font.size(text.words)
        left, top = text.x - width * text.anchor[0], text.y - height * text.anchor[1]
        at = (round(min(max(left, -FAR), FAR)), round(min(max(top, -FAR), FAR)))
        if text.halo:
            back = font.render(text.words, True, rgb(PAPER))
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1)):
                surface.blit(back, (at[0] + dx, at[1] + dy))
        surface.blit(font.render(text.words, True, text.colour), at)


def arc(x: float, y: float, radius: float, turns: int = 48) -> Points:
    """Points around a circle, (turns, 2)."""
    angle = np.linspace(0, 2 * np.pi, turns, endpoint=False)
    return np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)


def bar(start: np.ndarray, end: np.ndarray, half: float) -> np.ndarray:
    """The rectangle of half width `half` around a line, (4, 2)."""
    along = end - start
    length = float(np.hypot(*along))
    side = np.array([-along[1], along[0]]) * (half / length if length else 0.0)
    return np.array([start + side, end + side, end - side, start - side])


def dashes(points: np.ndarray, on: float, off: float) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    """Cuts each piece of a line into dashes of length `on` with gaps of `off`."""
    cut = []
    for start, end in itertools.pairwise(points):
        length = float(np.hypot(*(end - start)))
        unit = (end - start) / length if length else np.zeros(2)
        for begin in np.arange(0.0, length, on + off):
            cut.append((start + unit * begin, start + unit * min(begin + on, length)))
    return cut


def text_width(words: str, size: float) -> float:
    """Width of a text in pixels."""
    width: int = _font(load_pygame(), int(size)).size(words)[0]
    return width


_FONTS: dict[int, Any] = {}


def _font(pygame: Any, size: int) -> Any:
    # pygame's own font, so that a picture looks the same on every machine.
    if not pygame.font.get_init():
        pygame.font.init()
        _FONTS.clear()
    if size not in _FONTS:
        if not _FONTS:
            pygame.register_quit(_FONTS.clear)  # environments may quit pygame, which invalidates fonts
        _FONTS[size] = pygame.font.Font(None, size)
    return _FONTS[size]
