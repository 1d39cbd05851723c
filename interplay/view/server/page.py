"""Serves the files of the built page, ``interplay/view/static`` (docs/specs/viewer.md 6 and 14)."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from interplay.core.reading import MIB, read_bytes

STATIC = Path(__file__).resolve().parents[1] / "static"
INDEX = "index.html"
MISSING = (
    "the page was not built, as there was no Node when interplay was installed; install Node 20 or later, then run `make page` in a "
    "checkout that is installed with --editable, or `pip install .` there again, and load this address again"
)
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
}
_MOST = 16 * MIB  # of a file
_HASHED = re.compile(r".+-[0-9A-Za-z]{4,}\.(js|css)")


class Page:
    """The files of the page; names are looked up in a listing and never joined to a path."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder

    @property
    def built(self) -> bool:
        """Whether the page was built."""
        return INDEX in self._files()

    def index(self, request: Request) -> Response:
        """``/``."""
        files = self._files()
        if INDEX not in files:
            return PlainTextResponse(f"{MISSING}\n", 503)
        return _file(files[INDEX], "no-cache")

    def file(self, request: Request) -> Response:
        """``/static/NAME``; browsers may cache files for ever whose names contain a hash of the content."""
        found = self._files().get(request.path_params["name"])
        if found is None:
            return PlainTextResponse("no such file", 404)
        hashed = _HASHED.fullmatch(found.name) is not None
        return _file(found, "public, max-age=31536000, immutable" if hashed else "no-cache")

    def _files(self) -> dict[str, Path]:
        if not self._folder.is_dir():
            return {}
        return {
            path.name: path for path in self._folder.iterdir() if path.is_file() and not path.is_symlink()
        }


def _file(path: Path, caching: str) -> Response:
    kind = _KINDS.get(path.suffix, "application/octet-stream")
    return Response(read_bytes(path, _MOST, links=False), headers={"cache-control": caching}, media_type=kind)
