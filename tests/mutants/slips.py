"""Slips as data: one wrong edit each, of the kind people make, and the tests that ought to notice it.

``slips/<room>.toml`` holds a room's slips; see README.md for how to add one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "slips"
_KEYS = {"file", "old", "new", "tests", "story", "plain", "survives"}


@dataclass(frozen=True)
class Slip:
    """One wrong edit.

    Attributes:
        room: whose score it counts in; the name of the file that holds it.
        file: that is edited, from the repository's root.
        old: text that occurs in it exactly once.
        new: what stands there instead.
        tests: files, or single tests (``file::name``), that ought to notice; quick ones first.
        story: what somebody did wrong, in a few words; it names the slip.
        plain: ask the tests with kernels in plain Python (``NUMBA_DISABLE_JIT=1``), which spares the compilation.
        survives: why nothing can or need notice; empty where something should.
    """

    room: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    story: str
    plain: bool = False
    survives: str = ""

    def slipped(self, text: str) -> str:
        """The file's text with the slip in it.

        Raises:
            ValueError: if `old` does not occur exactly once.
        """
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self.room}: {self.story}: the old text occurs {count} times in {self.file}")
        return text.replace(self.old, self.new)


def read_slips(folder: Path = FOLDER, rooms: Iterable[str] = ()) -> list[Slip]:
    """All slips, or those of some rooms, in the order of the files.

    Raises:
        ValueError: for a room that has no file, or a slip with a key that means nothing.
    """
    wanted = set(rooms)
    files = sorted(folder.glob("*.toml"))
    unknown = wanted - {path.stem for path in files}
    if unknown:
        raise ValueError(
            f"no slips of {', '.join(sorted(unknown))}; there are {', '.join(p.stem for p in files)}"
        )
    return [slip for path in files if not wanted or path.stem in wanted for slip in _room(path)]


def _room(path: Path) -> list[Slip]:
    found = []
    for row in tomllib.loads(path.read_text())["slip"]:
        odd = set(row) - _KEYS
        if odd:
            raise ValueError(f"{path.name}: {row.get('story')}: unknown key {sorted(odd)[0]}")
        found.append(Slip(path.stem, **{**row, "tests": tuple(row["tests"])}))
    return found
