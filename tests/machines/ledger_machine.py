"""The results of a tournament under kills, full disks, torn and repeated lines: every result counts exactly once.

The law: what `append` returned for is there, as it was, in that order, whatever happens later; of an append that was cut short a
beginning of its results is there, whole, and the rest is missing and can be played again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.folder import RESULTS, SETTINGS, TournamentFolder
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings, make_settings
from tests.machines.counting import Counting
from tests.machines.write_points import AtPoint, Killed, quick_disk

KEYS = st.lists(st.integers(0, 40).map(lambda n: f"0-1/{n}"), min_size=1, max_size=5, unique=True)
POINTS = st.tuples(st.sampled_from(("results: part written", "results: written")), st.integers(1, 2))


def settings(seed: int = 0) -> RoundRobinSettings:
    return make_settings(world="some/world", players=("a", "b"), identities=("a", "b"), seed=seed)


def result(key: str, version: int = 0) -> dict[str, Any]:
    """What came of a match; floats that need all their digits."""
    number = int(key.rpartition("/")[2])
    return {"scores": [number / 3 + version, -(number**0.5)], "steps": number}


class LedgerMachine(Counting):
    """A tournament's folder, opened and closed, with what has to be in it."""

    @initialize()
    def begin(self) -> None:
        self.note("begin")
        self.home = tempfile.TemporaryDirectory(prefix="interplay-ledger-", dir=quick_disk())
        self.path = Path(self.home.name) / "cup"
        self.settings = settings()
        self.expected: dict[str, dict[str, Any]] = {}
        self.folder: TournamentFolder[RoundRobinSettings] | None = None
        self.open()

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.close()
            self.home.cleanup()

    @property
    def results(self) -> Path:
        return self.path / RESULTS

    def open(self) -> TournamentFolder[RoundRobinSettings]:
        """Opens the folder if it is closed, and looks at what is in it."""
        if self.folder is None:
            self.folder = TournamentFolder(self.path, self.settings, resume=(self.path / SETTINGS).exists())
            self.hold_against_the_file()
        return self.folder

    def close(self) -> None:
        if self.folder is not None:
            self.folder.close()
            self.folder = None

    def hold_against_the_file(self) -> None:
        """Memory, file and expectation are one; the file has each result on one line."""
        log = self.open().log
        assert log.results == self.expected
        assert list(log.results) == list(self.expected)
        data = self.results.read_bytes()
        assert data.endswith(b"\n") or not data
        lines = [json.loads(line) for line in data.splitlines()]
        assert [line.pop("key") for line in lines] == list(self.expected)
        assert all(len(line.pop("check")) > 8 for line in lines), "every line has its checksum"
        assert lines == list(self.expected.values())

    # -- rules -------------------------------------------------------------------------------------

    @rule(keys=KEYS)
    def append(self, keys: list[str]) -> None:
        self.note("append")
        missing = self.open().log.missing(keys)
        assert missing == [key for key in keys if key not in self.expected]
        self.open().log.append({key: result(key) for key in keys})
        self.expected |= {key: result(key) for key in missing}
        self.hold_against_the_file()

    @rule(keys=KEYS)
    def append_again_and_otherwise(self, keys: list[str]) -> None:
        self.note("append again")
        known = [key for key in keys if key in self.expected]
        self.open().log.append({key: result(key, version=1) for key in known})
        self.hold_against_the_file()

    @rule()
    def reopen(self) -> None:
        self.note("reopen")
        self.close()
        self.open()

    @rule(keys=KEYS, point=POINTS)
    def be_killed(self, keys: list[str], point: tuple[str, int]) -> None:
        self.note("kill between write points")
        log, new = self.open().log, [key for key in keys if key not in self.expected]
        with AtPoint(*point, Killed()), contextlib.suppress(Killed):
            log.append(
                {key: result(key) for key in keys}
            )  # or killed a moment later, if the point is not reached
        self.close()
        there = list(read_log(self.results))
        assert there[: len(self.expected)] == list(self.expected)
        whole = there[len(self.expected) :]
        assert whole == new[: len(whole)], "of what was cut short a beginning is there"
        if point != ("results: part written", 1):
            assert whole == new, "all of it was written before the kill"
        self.expected |= {key: result(key) for key in whole}
        self.open()

    @rule(keys=KEYS, code=st.sampled_from((errno.ENOSPC, errno.EIO, errno.EDQUOT)), part=st.integers(1, 2))
    def disk_fails(self, keys: list[str], code: int, part: int) -> None:
        self.note("disk fails")
        log, before = self.open().log, self.results.read_bytes()
        fault = OSError(code, os.strerror(code))
        with (
            AtPoint("results: part written", part, fault),
            pytest.raises(UserError, match="writing the results"),
        ):
            log.append({key: result(key) for key in keys})  # fmt: skip
        assert self.results.read_bytes() == before
        self.hold_against_the_file()

    @rule(key=st.integers(0, 40), share=st.floats(0, 0.99))
    def torn_line(self, key: int, share: float) -> None:
        self.note("torn line")
        self.close()
        name = f"0-1/{key}"
        line = line_of(name)
        with self.results.open("ab") as file:
            file.write(line[: int((len(line) - 1) * share)])
        self.open()

    @precondition(lambda self: self.expected)
    @rule(index=st.integers(0, 40), otherwise=st.booleans())
    def repeated_line(self, index: int, otherwise: bool) -> None:
        """The same line twice counts once; two that contradict each other are refused, and nothing is lost."""
        self.note("repeated line")
        self.close()
        before = self.results.read_bytes()
        name = list(self.expected)[index % len(self.expected)]
        with self.results.open("ab") as file:
            file.write(line_of(name, int(otherwise)))
        if otherwise:
            with pytest.raises(UserError, match=f"contradicts an earlier result of {name}"):
                self.open()
        else:
            with TournamentFolder(self.path, self.settings, resume=True) as folder:
                assert folder.log.results == self.expected
        self.results.write_bytes(before)
        self.open()

    @precondition(lambda self: self.expected)
    @rule(index=st.integers(0, 40), bad=st.sampled_from((b"{", b"3", b'{"scores": [1]}', b"\x00", b"\xff")))
    def damaged_line(self, index: int, bad: bytes) -> None:
        self.note("damaged line")
        self.close()
        before = self.results.read_bytes()
        lines = before.splitlines(keepends=True)
        at = index % len(lines)
        self.results.write_bytes(b"".join([*lines[:at], bad + b"\n", *lines[at:]]))
        with pytest.raises(UserError, match=f"line {at + 1} is damaged"):
            self.open()
        self.results.write_bytes(before)
        self.open()

    @precondition(lambda self: self.expected)
    @rule(index=st.integers(0, 40))
    def changed_number(self, index: int) -> None:
        """A digit that is another one on the disk is seen, though the line is sound JSON."""
        self.note("changed number")
        self.close()
        before = self.results.read_bytes()
        lines = before.splitlines(keepends=True)
        at = index % len(lines)
        steps = self.expected[list(self.expected)[at]]["steps"]
        old, new = (f'"steps": {number}'.encode() for number in (steps, steps + 1))
        assert old in lines[at]
        self.results.write_bytes(b"".join([*lines[:at], lines[at].replace(old, new), *lines[at + 1 :]]))
        with pytest.raises(UserError, match=f"line {at + 1} is damaged"):
            self.open()
        self.results.write_bytes(before)
        self.open()

    @precondition(lambda self: self.expected)
    @rule(index=st.integers(0, 40))
    def somebody_deletes_a_line(self, index: int) -> None:
        """Its match is missing again, and only that."""
        self.note("deleted line")
        self.close()
        lines = self.results.read_bytes().splitlines(keepends=True)
        at = index % len(lines)
        name = list(self.expected)[at]
        del lines[at], self.expected[name]
        self.results.write_bytes(b"".join(lines))
        assert self.open().log.missing([name]) == [name]

    @rule(seed=st.integers(1, 3))
    def another_tournament(self, seed: int) -> None:
        self.note("another tournament")
        self.close()
        with pytest.raises(UserError, match="holds another tournament: seed"):
            TournamentFolder(self.path, settings(seed), resume=True)
        with pytest.raises(UserError, match="go on with it by --resume"):
            TournamentFolder(self.path, self.settings)
        self.open()

    @rule()
    def somebody_else_writes(self) -> None:
        self.note("second process")
        self.open()
        with pytest.raises(UserError, match="is in use by process"):
            TournamentFolder(self.path, self.settings, resume=True)

    @rule(text=st.text(max_size=20), point=st.sampled_from(("", "opened", "half written", "written")))
    def write_ratings(self, text: str, point: str) -> None:
        """A kill leaves the old ratings or the new ones."""
        self.note("ratings")
        folder, file = self.open(), self.path / "ratings.json"
        before = file.read_bytes() if file.exists() else None
        if not point:
            folder.write_ratings({"text": text})
            assert json.loads(file.read_bytes()) == {"world": self.settings.world, "text": text}
            return
        with AtPoint(f"ratings.json: {point}", 1, Killed()), pytest.raises(Killed):
            folder.write_ratings({"text": text})
        assert (file.read_bytes() if file.exists() else None) == before


def line_of(key: str, version: int = 0) -> bytes:
    """A line as another process would write it."""
    with tempfile.TemporaryDirectory(dir=quick_disk()) as folder:
        with ResultsLog(Path(folder) / "one") as log:
            log.append({key: result(key, version)})
        return (Path(folder) / "one").read_bytes()


def read_log(path: Path) -> dict[str, Any]:
    """What a new reader finds in the file."""
    with ResultsLog(path) as log:
        return dict(log.results)
