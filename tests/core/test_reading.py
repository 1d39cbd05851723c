"""The one reader of files from outside: whatever stands there, it is read or refused in one line, and nobody waits."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest

from interplay.core import reading
from interplay.core.errors import UserError
from interplay.core.reading_arrays import read_npz

WRONG_JSON = {
    "NaN": "NaN is not finite",
    "[Infinity]": "Infinity is not finite",
    '{"a": -1e999}': "-1e999 is not finite",
    '{"a": 1, "b": 2, "a": 1}': "the key 'a' stands twice",
    "[" * 100_000 + "]" * 100_000: "nested deeper",
    "[" * 70 + "]" * 70: "nested deeper",
    '{"a":' * 70 + "1" + "}" * 70: "nested deeper",
    "9" * 5000: "more than 40 digits",
    "-" + "9" * 41: "more than 40 digits",
    '"\\ud800"': "half a character",
    '{"\\udc00": 1}': "half a character",
    "\ufeff{}": "byte order mark",
    "{} {}": "Extra data",
    "": "Expecting value",
    '"a\nb"': "Invalid control character",
    "{'a': 1}": "Expecting property name",
    "0x10": "Extra data",
}


def test_a_key_that_stands_twice_among_many_is_found_at_once():
    text = "{" + ",".join(f'"{i}": 0' for i in range(200_000)) + ', "199999": 1}'
    start = time.process_time()
    with pytest.raises(ValueError, match="the key '199999' stands twice"):
        reading.parse_json(text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("text", WRONG_JSON)
def test_json_that_is_not_strict_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(text.encode())
    with pytest.raises(UserError, match=re.escape(WRONG_JSON[text])) as caught:
        reading.read_json(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "data", [b"\xff", b'"\xed\xa0\x80"', '"ä"'.encode("latin-1"), '{"a": 1}'.encode("utf-16")]
)
def test_json_is_utf_8(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(UserError, match="is not JSON"):
        reading.read_json(tmp_path / "a")


def test_sound_json_comes_back_as_it_was() -> None:
    text = '{"a": [1, -2.5e-320, 18446744073709551615, true, null, "\\ud83d\\ude00 [[[ {{{"], "b": {"c": []}}'
    assert reading.parse_json(text) == {
        "a": [1, -2.5e-320, 2**64 - 1, True, None, "\U0001f600 [[[ {{{"],
        "b": {"c": []},
    }
    assert reading.parse_json("[" * 60 + "]" * 60) is not None


def test_nesting_is_counted_to_the_last_level() -> None:
    def nested(levels: int) -> str:
        return "[" * levels + "]" * levels

    for parse in (reading.parse_json, lambda text: reading.parse_toml(f"a = {text[1:-1]}")):
        assert parse(nested(reading.DEPTH)) is not None
        with pytest.raises(ValueError, match="nested deeper"):
            parse(nested(reading.DEPTH + 1))


def test_special_files_are_refused_without_waiting(tmp_path: Path) -> None:
    pipe, link, loop = (tmp_path / name for name in ("pipe", "link", "loop"))
    os.mkfifo(pipe)
    (tmp_path / "file").write_text("{}")
    link.symlink_to("file")
    loop.symlink_to("loop")
    for path in (pipe, Path("/dev/zero"), link, loop, tmp_path):
        for read in (
            reading.read_json,
            reading.read_toml,
            reading.read_text,
            lambda p, links: [*reading.read_json_lines(p, links)],
        ):
            with pytest.raises(UserError, match=re.escape(str(path))):
                read(path, links=False)
    assert reading.read_json(link) == {}  # a typed name may be a link


def test_a_missing_file_and_no_name_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        reading.read_json(tmp_path / "none")
    with pytest.raises(UserError, match="is no name of a file"):
        reading.read_json("a\0b")


def test_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "big"
    with file.open("wb") as sparse:
        sparse.truncate(2**42)
    for read in (reading.read_json, reading.read_toml, reading.read_text, read_npz):
        with pytest.raises(UserError, match="4,398,046,511,104 bytes"):
            read(file)
    with pytest.raises(UserError, match="are read at most"):
        reading.read_bytes(file)


def test_a_file_that_grows_while_it_is_read_is_refused_and_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "growing"
    file.write_bytes(b"x" * 10)
    look, sizes = reading._check_kind, []

    def look_then_grow(path: Path | str, found: os.stat_result, limit: int) -> None:
        look(path, found, limit)
        sizes.append(found.st_size)
        if len(sizes) == 2:  # it is looked at twice
            file.write_bytes(b"x" * 30)

    monkeypatch.setattr(reading, "_check_kind", look_then_grow)
    with pytest.raises(UserError, match="20 are read at most"):
        reading.read_bytes(file, 20)
    assert sizes == [10, 10]


def test_lines_are_read_one_by_one_and_a_torn_one_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b'{"a": 1}\n\n{"a": 2}\n{"a": ')
    assert list(reading.read_json_lines(file)) == [(1, {"a": 1}), (3, {"a": 2})]
    for bad in (b"[1]\n", b'{"a": -1e999}\n', b"{}{}\n", b"\x00\n", b'{"a": 1, "a": 1}\n'):
        file.write_bytes(b'{"a": 1}\n' + bad)
        with pytest.raises(UserError, match=r"log: line 2 is"):
            list(reading.read_json_lines(file))
    file.write_bytes(b'{"a": 1}\n' + b" " * (reading.LINE + 1))
    with pytest.raises(UserError, match="line 2 is damaged"):
        list(reading.read_json_lines(file))


def test_archives_of_arrays_hold_what_they_say(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    arrays = {
        "x": np.arange(6.0).reshape(2, 3),
        "flags": np.array([True, False]),
        "none": np.zeros((0, 3), np.int8),
    }
    np.savez_compressed(file, **arrays)
    found = read_npz(file)
    sound = {n: (a.tolist(), a.dtype) for n, a in arrays.items()}
    assert {name: (a.tolist(), a.dtype) for name, a in found.items()} == sound
    data, missed = file.read_bytes(), []
    for at in range(0, len(data), 3):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with contextlib.suppress(UserError):
            again = read_npz(file)
            # Dates and versions in the archive's headers mean nothing.
            if {n: (a.tolist(), a.dtype) for n, a in again.items()} != sound:
                missed.append(at)
    assert missed == []


@pytest.mark.parametrize(
    "array", [np.array([{}], object), np.zeros(2, [("a", np.int8)]), np.array(["2020"], "M8[Y]")]
)
def test_archives_hold_numbers_alone(tmp_path: Path, array: np.ndarray) -> None:
    np.savez(tmp_path / "a.npz", x=array)
    with pytest.raises(UserError, match="is no archive of arrays"):
        read_npz(tmp_path / "a.npz")


def test_an_archive_does_not_unpack_to_more_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(10**6))
    monkeypatch.setattr("interplay.core.reading_arrays.UNPACKED", 10**6)
    with pytest.raises(UserError, match="unpacks to more than"):
        read_npz(tmp_path / "a.npz")
