"""What notebooks show: pictures and videos."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Mapping
from pathlib import Path

INLINE = 32 * 2**20  # bytes; a larger video is named, not shown
_KINDS = {".mp4": "video/mp4", ".gif": "image/gif", ".png": "image/png"}


class Media(os.PathLike[str]):
    """A picture or a video that was written; notebooks show it.

    Args:
        path: the file.
        players: side -> its player in words, of what was played for it.

    Attributes:
        path, players: as given.
    """

    def __init__(self, path: str | Path, players: Mapping[str, str] | None = None) -> None:
        self.path, self.players = Path(path), dict(players or {})

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """The file itself, inside the page, so that the notebook shows it wherever it is opened."""
        kind = _KINDS.get(self.path.suffix.lower())
        size = self.path.stat().st_size if self.path.is_file() else 0
        if kind is None or not 0 < size <= INLINE:
            return html.escape(str(self.path))
        data = f"data:{kind};base64,{base64.b64encode(self.path.read_bytes()).decode()}"
        if kind.startswith("video"):
            return f'<video controls loop autoplay muted src="{data}"></video>'
        return f'<img src="{data}" alt="{html.escape(self.path.name)}">'
