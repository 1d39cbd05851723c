"""The append-only log: truncation, damage, duplicates, a failing disk."""

from __future__ import annotations

import contextlib
import os

import pytest

from interplay.core.errors import UserError
from interplay.evaluate.tournaments import results_log
from interplay.evaluate.tournaments.results_log import ResultsLog
from tests.machines.write_points import failing

ROWS = {f"0-1/{n}": {"scores": [n + 0.1, -n / 3]} for n in range(4)}


def written(path) -> bytes:
    with ResultsLog(path) as log:
        for key, row in ROWS.items():
            log.append({key: row})
    return path.read_bytes()


def test_a_file_cut_at_any_byte_keeps_every_whole_line(tmp_path):
    whole = written(tmp_path / "whole")
    for length in range(len(whole) + 1):
        path = tmp_path / "torn"
        path.write_bytes(whole[:length])
        lines = whole[:length].count(b"\n")
        with ResultsLog(path) as log:
            assert list(log.results) == list(ROWS)[:lines]
            log.append({key: ROWS[key] for key in log.missing(ROWS)})
        assert path.read_bytes() == whole


def test_a_result_is_taken_once(tmp_path):
    whole = written(tmp_path / "log")
    with ResultsLog(tmp_path / "log") as log:
        log.append({"0-1/0": {"scores": [9, 9]}})
        assert log.results == ROWS
    assert (tmp_path / "log").read_bytes() == whole


def test_two_lines_that_contradict_each_other_are_named(tmp_path):
    path = tmp_path / "log"
    whole = written(path)
    path.write_bytes(whole + results_log._line({"key": "0-1/1", "scores": [7, 7]}).encode())
    with pytest.raises(UserError, match=r"line 5 .* 0-1/1"):
        ResultsLog(path)


def test_a_failing_disk_leaves_no_torn_line(tmp_path):
    path = tmp_path / "log"
    whole = written(path)

    with ResultsLog(path) as log:
        with pytest.raises(UserError, match="the disk is full"), failing("results: part written"):
            log.append({"0-1/9": {"scores": [1, 2]}})
        assert "0-1/9" not in log.results
    assert path.read_bytes() == whole


def test_nan_is_not_written(tmp_path):
    with ResultsLog(tmp_path / "log") as log, pytest.raises(ValueError, match="JSON"):
        log.append({"0-1/0": {"scores": [float("nan")]}})
    assert os.path.getsize(tmp_path / "log") == 0


def test_a_changed_number_is_seen(tmp_path):
    """Any flipped bit: the line is refused, or unchanged in value."""
    path = tmp_path / "log"
    whole = written(path)
    missed = []
    for at in range(len(whole)):
        for mask in (1, 0x20):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
            with contextlib.suppress(UserError), ResultsLog(path) as log:
                if not log.results.items() <= ROWS.items():
                    missed.append((at, mask))
    assert missed == []


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"3",
        b"\x00\x00",
        b'{"scores": [1]}',
        b'{"key": "0-1/9", "scores": [1.0, 0.0]}',
        b'{"key": "0-1/9", "scores": [1.0, NaN]}',
        b'{"key": "0-1/9", "key": "0-1/8", "scores": [1.0, 0.0]}',
        b'{"key": 3, "scores": [1.0, 0.0]}',
        b'{"key": "0-1/9\xff", "scores": [1.0, 0.0]}',
    ],
)
def test_a_damaged_line_or_one_without_a_checksum_is_named(tmp_path, line):
    path = tmp_path / "log"
    lines = written(path).splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], line + b"\n", *lines[1:]]))
    with pytest.raises(UserError, match="line 2 is damaged") as caught:
        ResultsLog(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes().count(b"\n") == 5


def test_numbers_are_kept_as_numbers_bit_for_bit(tmp_path):
    scores = [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, 1 / 3]
    with ResultsLog(tmp_path / "log") as log:
        log.append({"0-1/0": {"scores": scores}})
    with ResultsLog(tmp_path / "log") as log:
        kept = log.results["0-1/0"]["scores"]
    assert [(type(a), repr(a)) for a in kept] == [(type(a), repr(a)) for a in scores]
