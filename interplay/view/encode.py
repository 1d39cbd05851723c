"""Encodes videos and animations with PyAV, frame by frame. Needs the extra ``video``."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.view.extras import load
from interplay.view.palette import BAR_GOOD, BAR_LOW, BAR_MORE, BARS, POPULATIONS, rgb

FRAMES_PER_SECOND = 30
# Encoders by preference, with their options: H.264 plays everywhere; mpeg4 is in every build of FFmpeg.
MP4_CODECS: dict[str, dict[str, str]] = {
    "libx264": {"crf": "20", "preset": "veryfast"},
    "libopenh264": {},
    "mpeg4": {"qscale": "3"},
}
LOOK_AHEAD = 32  # pictures from which an animation's 256 colours are chosen

Picture = np.ndarray  # (height, width, 3) uint8
FrameOf = Callable[[Picture, int], Any]  # a picture and its number -> the encoder's frame


def write_video(
    path: Path, pictures: Iterator[Picture], frames_per_second: int | Fraction = FRAMES_PER_SECOND
) -> int:
    """Encodes pictures of one size as they come, and returns the number of frames.

    Args:
        path: ``.mp4`` or ``.gif``.
        pictures: at least one.

    Raises:
        UserError: for no picture, or if PyAV is missing or lacks an encoder.
        OSError: e.g. for a full disk.
    """
    av = load("av", "video", "videos")
    begin, form, ahead = _begin_mp4, "mp4", 1  # pictures that are needed before the file begins
    if path.suffix.lower() == ".gif":
        begin, form, ahead = _begin_gif, "gif", LOOK_AHEAD
    first = list(islice(pictures, ahead))
    if not first:
        raise UserError(f"{path}: no frames; record at least one")
    with path.open("wb", buffering=0) as file:
        sink = Sink(file)
        try:
            with av.open(sink, "w", format=form) as container:
                stream, frame_of = begin(av, container, first, frames_per_second)
                for number, picture in enumerate(chain(first, pictures)):
                    container.mux(stream.encode(frame_of(picture, number)))
                container.mux(stream.encode(None))
        except UserError:
            raise
        except Exception:
            sink.check()  # the disk's error explains more than the encoder's
            raise
        sink.check()
    return number + 1


class Sink(io.RawIOBase):
    """A file for encoders that keeps the error of a failed write, which encoders may swallow."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._failed: OSError | None = None

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Writes all bytes."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._failed = self._failed or error
            raise
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def check(self) -> None:
        """Raises the first error of `write`."""
        if self._failed is not None:
            raise self._failed


def _begin_mp4(av: Any, container: Any, first: list[Picture], rate: int | Fraction) -> tuple[Any, FrameOf]:
    """The stream of a new file, and how its frames are made."""
    name = next((name for name in MP4_CODECS if name in av.codecs_available), None)
    if name is None:
        raise UserError(
            "this build of av has no H.264 or MPEG-4 encoder; write a .gif, or install av from PyPI"
        )
    stream = container.add_stream(name, rate=rate, options=MP4_CODECS[name])
    stream.height, stream.width = _even(first[0]).shape[:2]
    stream.pix_fmt = "yuv420p"
    return stream, lambda picture, _: av.VideoFrame.from_ndarray(_even(picture), format="rgb24")


def _even(picture: Picture) -> Picture:
    # yuv420p halves the colour planes, so both sides must be even: the last row or column is repeated.
    height, width = picture.shape[:2]
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


def _begin_gif(av: Any, container: Any, first: list[Picture], rate: int | Fraction) -> tuple[Any, FrameOf]:
    """As `_begin_mp4`; the colours are chosen from the first pictures."""
    colours = choose_colours(first)
    table = nearest_colours(colours)
    argb = np.full((256, 4), 255, np.uint8)
    argb[: len(colours), 1:] = colours
    stream = container.add_stream("gif", rate=rate)
    stream.height, stream.width = first[0].shape[:2]
    stream.pix_fmt = "pal8"

    def frame_of(picture: Picture, number: int) -> Any:
        frame = av.VideoFrame.from_ndarray((table[cell_of(picture)], argb), format="pal8")
        frame.pts, frame.time_base = number, Fraction(1, rate)
        return frame

    return stream, frame_of


def cell_of(picture: Picture) -> np.ndarray:
    """Each pixel's cell in a colour cube of 32 x 32 x 32, (height, width) uint16."""
    red, green, blue = (picture[..., i].astype(np.uint16) >> 3 for i in range(3))
    return red << 10 | green << 5 | blue


def choose_colours(pictures: list[Picture]) -> np.ndarray:
    """At most 256 colours for an animation, (K, 3) uint8: the most frequent ones, and those of the palette."""
    known = np.array([rgb(name) for name in (*POPULATIONS, *BARS, BAR_GOOD, BAR_LOW, BAR_MORE)], np.uint8)
    pixels = np.concatenate([picture.reshape(-1, 3) for picture in pictures])
    cells = cell_of(pixels)
    counts = np.bincount(cells, minlength=32768)
    frequent = np.argsort(-counts, kind="stable")[: 256 - len(known)]
    frequent = frequent[counts[frequent] > 0]
    # A cell is shown by the mean of its pixels, so that large even areas keep their exact colour.
    sums = np.stack([np.bincount(cells, pixels[:, i], 32768)[frequent] for i in range(3)], axis=1)
    means = np.rint(sums / counts[frequent, None]).astype(np.uint8)
    return np.concatenate([means, known])


def nearest_colours(colours: np.ndarray) -> np.ndarray:
    """The number of the nearest colour for each cell of the colour cube, (32768,) uint8."""
    cells = np.arange(32768)
    middle = np.stack([cells >> 10, cells >> 5 & 31, cells & 31], axis=1) * 8.0 + 4.0
    own = colours.astype(float)
    # |a - b|^2 without the term that is equal for all colours
    distance = (own**2).sum(axis=1) - 2 * middle @ own.T
    best = distance.argmin(axis=1)
    # A cell that contains a colour takes it, although the cell's middle may be nearer to another.
    best[cell_of(colours)[::-1]] = np.arange(len(colours))[::-1]
    return best.astype(np.uint8)
