"""Pictures and videos that are there whole or not at all."""

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

FIGURES = (".png", ".pdf", ".svg")  # kinds of files of `save_figure`
DPI = 150  # pixels per inch of a figure that is a PNG


def check_output(path: str | Path, suffixes: Sequence[str]) -> Path:
    """Checks the suffix of a file that is to be written and that its folder can be written to.

    Raises:
        UserError: naming the file and the suffixes or folders that would do.
    """
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
    """Writes a picture that is encoded in memory first: encoders do not always say that a disk is full.

    Args:
        path: of the file; its folder must exist.
        suffixes: that it may have.
        encode: writes the picture into the memory that it is given.

    Raises:
        UserError: for another suffix, or if the file cannot be written; what stood there stands then.
    """
    target, memory = check_output(path, suffixes), io.BytesIO()
    encode(memory)
    with os_errors_as_user_errors("writing", target):
        replace_file(target, memory.getbuffer().tobytes(), "picture")
    return target


def begin_figure(out: str | Path, purpose: str, size: tuple[float, float], dpi: int = DPI) -> Any:
    """An empty figure of matplotlib for `save_figure`; an unwritable file is refused before anything is drawn.

    Args:
        out: a ``.png``, ``.pdf`` or ``.svg`` in a folder that exists.
        purpose: what needs matplotlib, in the plural.
        size: width and height in inches.
        dpi: pixels per inch.

    Raises:
        UserError: for an unwritable file, or if matplotlib is not installed.
    """
    check_output(out, FIGURES)
    return load("matplotlib.figure", "plot", purpose).Figure(figsize=size, dpi=dpi, layout="constrained")


def save_figure(figure: Any, path: str | Path) -> Path:
    """Writes a figure of matplotlib as PNG, PDF or SVG, the same bytes for the same figure; see `write_picture`.

    PDF and SVG hold their letters as text. Names of runs, players and columns are words: what stands between two dollar signs is
    no formula.
    """
    import matplotlib

    kind = Path(path).suffix.lower().removeprefix(".")
    # No dates, no random ids; fonts as text that a reader can select and an editor can change.
    undated = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    settings: dict[Any, Any] = {
        "text.parse_math": False,  # for texts that are made while it draws
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
    """Gives a temporary name in the same folder, with the same suffix; at the end it is fsynced and renamed.

    For what is too large for the memory. If anything goes wrong the temporary file is removed and what stood at `path` before
    stands there still.
    """
    target = check_output(path, suffixes)
    with os_errors_as_user_errors("writing", target), replacing(target, "video") as temporary:
        yield temporary
