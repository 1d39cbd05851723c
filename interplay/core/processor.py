"""The instruction set of kernels: a fixed one, so that neither bits nor compiled code depend on the machine.

On x86-64 it is the level v3 (AVX2, FMA; every server and most desktops since 2013), or the oldest level on a
machine without v3; elsewhere the platform's own baseline. Only our kernels use it: other functions of
Numba in the same process keep the machine's own. ``NUMBA_CPU_NAME`` overrides it.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, config
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.core.utils import threadsafe_cached_property

LEVEL_3 = "x86-64-v3"
# LLVM's names of what the level adds to those that every x86-64 has.
_LEVEL_3_NEEDS = [
    "cx16",
    "sahf",
    "popcnt",
    "sse3",
    "ssse3",
    "sse4.1",
    "sse4.2",
    "avx",
    "avx2",
    "bmi",
    "bmi2",
    "f16c",
    "fma",
    "lzcnt",
    "movbe",
    "xsave",
]


_INSIDE: dict[str, Any] = {}  # environments of phases, by the names of the variables that point to them


def processor() -> str:
    """The processor that this machine's kernels are compiled for, in LLVM's words."""
    if not llvm.get_process_triple().startswith("x86_64"):
        return "generic"
    here = llvm.get_host_cpu_features()
    return LEVEL_3 if all(here.get(feature) for feature in _LEVEL_3_NEEDS) else "x86-64"


class _Codegen(codegen.JITCPUCodegen):
    """Numba's, for a processor that is named instead of found."""

    def _get_host_cpu_name(self) -> str:
        return processor()

    def _get_host_cpu_features(self) -> str:
        return ""  # those of the processor named


class _Whole(codegen.JITCodeLibrary):
    """A kernel's code, with the environments of the phases inlined into it."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        generator: Any = self._codegen
        for variable in self._final_module.global_variables:
            if variable.name in _INSIDE:
                generator.set_env(variable.name, _INSIDE[variable.name])


class _Inside(codegen.JITCodeLibrary):
    """Code that is only inlined into kernels: no machine code is made of it, which saves a tenth of all compilation."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()


class _KernelCodegen(_Codegen):
    _library_class = _Whole


class _PhaseCodegen(_Codegen):
    _library_class = _Inside

    def set_env(self, env_name: str, env: Any) -> None:
        _INSIDE[env_name] = env


class _Target(CPUTarget):
    """Numba's target with another code generator: functions of both may call each other."""

    def __init__(self, generator: type[_Codegen]) -> None:
        super().__init__("cpu")
        self._generator = generator

    @threadsafe_cached_property
    def _toplevel_target_context(self) -> CPUContext:
        context = cpu_target.target_context
        if config.CPU_NAME is not None:  # type: ignore[attr-defined]
            return context
        return context.subtarget(_internal_codegen=self._generator("interplay"))

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context


class FixedDispatcher(CPUDispatcher):
    """A compiled function with machine code that does not depend on the machine that compiles it."""

    targetdescr = _Target(_KernelCodegen)


class InlinedDispatcher(FixedDispatcher):
    """The same of a function that only other compiled functions call."""

    targetdescr = _Target(_PhaseCodegen)
