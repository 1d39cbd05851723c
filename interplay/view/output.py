"""Writes pictures and videos atomically."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file, replacing
from interplay.view.extras import load

FIGURES = (".png", ".pdf", ".svg")  # suffixes of `save_figure`
DPI = 150  # pixels per inch of a PNG


def check_output(path: str | Path, suffixes: Sequence[str]) -> Path:
    """Checks the suffix of a file and that its folder can be written to."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        raise UserError(
            f"{target}: unknown kind of file {target.suffix!r}; end the name in {' or '.join(suffixes)}"
        )
    if not target.parent.is_dir():
        raise UserError(f"{target}: there is no folder {target.parent}; make it first")
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise UserError(f"{target}: cannot be written; choose another name or folder")
    return target


def write_picture(path: str | Path, suffixes: Sequence[str], encode: Callable[[io.BytesIO], object]) -> Path:
    """Encodes a picture in memory, then writes the file: encoders may not report a full disk.

    Args:
        suffixes: allowed ones.
        encode: writes the picture into the given buffer.
    """
    target, memory = check_output(path, suffixes), io.BytesIO()
    encode(memory)
    with os_errors_as_user_errors("writing", target):
        replace_file(target, memory.getbuffer().tobytes(), "picture")
    return target


def begin_figure(out: str | Path, purpose: str, size: tuple[float, float], dpi: int = DPI) -> Any:
    """An empty figure of matplotlib for `save_figure`; checks the file before anything is drawn.

    Args:
        out: a ``.png``, ``.pdf`` or ``.svg`` in an existing folder.
        size: width and height in inches.
        dpi: pixels per inch.
    """
    check_output(out, FIGURES)
    return load("matplotlib.figure", "plot", purpose).Figure(figsize=size, dpi=dpi, layout="constrained")


def save_figure(figure: Any, path: str | Path) -> Path:
    """Writes a figure as PNG, PDF or SVG, with equal bytes for equal figures; see `write_picture`.

    Letters in PDF and SVG are text. Text between dollar signs is no formula.
    """
    import matplotlib

    kind = Path(path).suffix.lower().removeprefix(".")
    # No dates, no random ids; fonts as text that can be selected and edited.
    undated = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    settings: dict[Any, Any] = {
        "text.parse_math": False,  # for texts that are made while drawing
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "interplay",
    }

    def encode(memory: io.BytesIO) -> None:
        with matplotlib.rc_context(settings):
            for text in figure.findobj(lambda artist: hasattr(artist, "set_parse_math")):
                text.set_parse_math(False)
            figure.savefig(memory, format=kind, metadata=undated[kind])

    return write_picture(path, FIGURES, encode)


@contextmanager
def writing(path: str | Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Yields a temporary file with the same suffix, which is fsynced and renamed to `path` at the end.

    After an error the temporary file is removed, and the old file stays. For files too large for memory.
    """
    target = check_output(path, suffixes)
    with os_errors_as_user_errors("writing", target), replacing(target, "video") as temporary:
        yield temporary
