"""What users write is read, or refused in one line, however odd it is."""

from __future__ import annotations

import codecs
import time

import pytest

from interplay.core.errors import UserError
from interplay.core.reading import toml_of

DIGITS = "9" * 5_000
DEEP = 100_000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (codecs.BOM_UTF8 + b"seed = 1", "byte order mark, save it without"),
        ("seed = 1".encode("utf-16"), "is not TOML"),
        (b"\xff\x00", "is not TOML"),
        (b"seed = 1\nseed = 2", "is not TOML"),
        (b"a = " + b"[" * DEEP, "nested deeper than 64 levels"),
        (b"a = " + b"[" * 900 + b"]" * 900, "nested deeper than 64 levels"),
        (b"a = " + b"{a=" * 900 + b"1" + b"}" * 900, "nested deeper than 64 levels"),
        (b"[" + b".".join([b"a"] * DEEP) + b"]\nx = 1", "nested deeper than 64 levels"),
        (b"a = {" + b" . ".join([b'"a"'] * DEEP) + b"}", "nested deeper than 64 levels"),
        (b"a = " + b"x" * 500_000, "is not TOML"),
        (b'[a]\nb = ["x", "x\\u0000"]', "holds a NUL"),
        (f"seed = {DIGITS}".encode(), "more than 40 digits"),
        (f"seed = 0x{'f' * 20_000}".encode(), "more than 40 digits"),
        (f"a.b = [1, {2**64}]".encode(), "a whole number has 65 bits"),
        (f"a = -{2**64}".encode(), "65 bits"),
        (b"a = '" + b"x" * 5_000 + b"\n", "is not TOML"),
    ],
)
def test_an_odd_file_is_one_line(data, message):
    began = time.perf_counter()
    with pytest.raises(UserError, match=message) as refused:
        toml_of(data, "odd.toml")
    assert str(refused.value).startswith("odd.toml")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert time.perf_counter() - began < 5


def test_what_a_setting_may_be_is_read():
    deep = "[" * 40 + "1" + "]" * 40
    assert toml_of(f"a = {2**64 - 1}\nb = -5\nc = {deep}".encode(), "x")["a"] == 2**64 - 1
