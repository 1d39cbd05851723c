"""Flags of XLA are tried before they are given, once for each jaxlib."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.train.parallel import flags

KNOWN, UNKNOWN = "--xla_cpu_multi_thread_eigen=false", "--xla_of_tomorrow=1"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_unknown_flags_are_left_out_and_tried_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert flags.known([KNOWN, UNKNOWN]) == [KNOWN]
    monkeypatch.setattr(flags.sys, "executable", "/of/no/python")
    assert flags.known([UNKNOWN]) == []
    assert flags.known([KNOWN]) == [KNOWN]


def test_what_cannot_be_tried_is_given(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags.sys, "executable", "/of/no/python")
    assert flags.known([UNKNOWN]) == [UNKNOWN]
    assert not list(cache.iterdir())


def test_a_damaged_file_is_written_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "_unknown", lambda tried: [UNKNOWN])
    flags.known([KNOWN, UNKNOWN])
    (written,) = cache.iterdir()
    for damaged in ("", "[1]", '{"--xla_of_tomorrow=1": 3}'):
        written.write_text(damaged)
        assert flags.known([KNOWN, UNKNOWN]) == [KNOWN]


PINNED = """
import os, sys
import jax
if sys.argv[1:] == ["begun"]:
    jax.devices()
assert not jax.config.jax_platforms
import interplay.train.parallel.xla
print(jax.config.jax_platforms, os.environ["JAX_PLATFORMS"], jax.devices()[0].platform)
"""


@pytest.mark.parametrize("words", [[], ["begun"]])
def test_training_pins_the_cpu_though_jax_was_imported_before(words: list[str]) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"}
    asked = [sys.executable, "-c", PINNED, *words]
    said = subprocess.run(asked, env=variables, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["cpu", "cpu", "cpu"]


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other processors have no such instruction sets"
)
def test_programs_are_compiled_for_one_thread_and_one_instruction_set() -> None:
    """Whatever this processor has; a run would have other bits elsewhere."""
    variables = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    code = "from interplay.train.parallel.xla import describe; print(describe()['xla_flags'])"
    said = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["--xla_cpu_multi_thread_eigen=false", "--xla_cpu_max_isa=AVX2"]


def test_the_oldest_programs_go_first(tmp_path: Path) -> None:
    from interplay.train.parallel.xla import _trim

    for age, (name, size) in enumerate({"new": 300, "middle": 400, "old": 200}.items()):
        (tmp_path / name).write_bytes(bytes(size))
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    _trim(tmp_path, 700)
    assert {file.name for file in tmp_path.iterdir()} == {"new", "middle"}
    _trim(tmp_path, 299)
    assert not list(tmp_path.iterdir())
