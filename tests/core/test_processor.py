"""Kernels are compiled for one processor, whatever the machine's own, and nobody else's functions are."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from interplay.core import jit, processor


def features(**other: bool) -> dict[str, bool]:
    return {**dict.fromkeys(processor._LEVEL_3_NEEDS, True), "avx512f": True, **other}


@pytest.mark.parametrize(
    ("triple", "here", "expected"),
    [
        ("x86_64-unknown-linux-gnu", features(), "x86-64-v3"),
        ("x86_64-unknown-linux-gnu", features(fma=False), "x86-64"),
        ("x86_64-unknown-linux-gnu", {}, "x86-64"),
        ("aarch64-unknown-linux-gnu", features(), "generic"),
    ],
)
def test_the_processor_is_a_level_and_no_machine(monkeypatch, triple, here, expected):
    monkeypatch.setattr(processor.llvm, "get_process_triple", lambda: triple)
    monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: here)
    assert processor.processor() == expected


@jit.kernel
def sums(values, out):
    for i in range(len(values)):
        out[i] = values[i] * 3 + i


@numba.njit
def of_somebody_else(values, out):
    sums(values, out)
    out[0] = 7


@numba.njit
def theirs(x):
    return max(x, 1) + 1


@jit.kernel
def through_theirs(x):
    return theirs(x) * 2


def test_kernels_and_other_peoples_functions_call_each_other():
    out = np.zeros(5, np.int64)
    of_somebody_else(np.arange(5), out)
    assert out.tolist() == [7, 4, 8, 12, 16]
    assert through_theirs(4) == 10
    assert through_theirs(0.5) == 4.0


@pytest.mark.skipif(bool(os.environ.get("NUMBA_CPU_NAME")), reason="somebody has named a processor")
def test_kernels_keep_to_the_level_and_other_functions_to_the_machine():
    ours = sums.targetctx.codegen()
    machines = of_somebody_else.targetctx.codegen()
    assert ours.magic_tuple()[1:] == (processor.processor(), "")
    assert machines.magic_tuple()[1] == numba.core.codegen.ll.get_host_cpu_name()
    sums(np.arange(64), np.zeros(64, np.int64))
    (assembly,) = sums.inspect_asm().values() if sums.overloads else ("",)
    assert "zmm" not in assembly  # of AVX-512, which the level lacks


SHOWN = (
    "from interplay.core import jit\n@jit.kernel\ndef act(x):\n    return x + 1\n"
    "act(1); print(act.targetctx.codegen().magic_tuple()[1])"
)


def test_who_names_a_processor_gets_it(tmp_path):
    (tmp_path / "shown.py").write_text(SHOWN)
    environment = {**os.environ, "INTERPLAY_CACHE": str(tmp_path / "cache"), "NUMBA_CPU_NAME": "nehalem"}
    environment["NUMBA_CPU_FEATURES"] = ""
    done = subprocess.run(
        [sys.executable, "shown.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "nehalem\n"


@jit.phase
def refuse(x):
    if x < 0:
        raise ValueError("below zero")


@jit.kernel
def root(x):
    refuse(x)
    return x**0.5


def test_a_phase_has_no_machine_code_and_raises_out_of_its_kernel(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path))  # so that it is compiled here
    assert root(4.0) == 2.0
    with pytest.raises(ValueError, match="below zero"):
        root(-1.0)
    (inside,) = refuse.overloads.values()
    assert inside.library.get_pointer_to_function(inside.fndesc.llvm_func_name) == 0
    (whole,) = root.overloads.values()
    assert whole.library.get_pointer_to_function(whole.fndesc.llvm_func_name) != 0
    name, environment = inside.fndesc.env_name, inside.environment
    address = whole.codegen._engine.get_global_value_address(name)
    assert ctypes.c_void_p.from_address(address).value == id(
        environment
    )  # as Numba leaves it without a phase
