"""Compiled functions that are only inlined into kernels, and the process that helps to compile them.

A phase that returns nothing may be compiled by another process until its code is needed (`interplay.core.helping`). The second half
of this file is that process.
"""

from __future__ import annotations

import gc
import itertools
import secrets
import signal
from functools import cache, cached_property
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, ClassVar

import numba
from numba.core import event, typing
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import CompileResult
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import make_concrete_template

from interplay.core.helping import HELPER, Made, Name, serve
from interplay.core.kernel_cache import can_travel
from interplay.core.kernel_key import kernel_key, returns_nothing
from interplay.core.processor import InlinedDispatcher
from interplay.core.waiting import WAITING

_HELPER_IDS = 1 << 41  # from here on helpers number what they compile


class PhaseDispatcher(InlinedDispatcher):
    """A compiled function without a wrapper for Python: Numba itself would follow a null pointer through it."""

    @cached_property
    def name(self) -> Name:
        """The module, and the function in it."""
        return self.py_func.__module__, self.py_func.__qualname__

    @cached_property
    def _delegated(self) -> set[Any]:
        return set()

    @cached_property
    def _acts(self) -> bool:
        return returns_nothing(self.py_func.__code__)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Called by Numba where a caller's types are inferred: the signature, and code now or later."""
        signature, folded = self.fold_argument_types(args, kws)
        types = tuple(folded)
        if not self._is_elsewhere(types):
            return super().get_call_template(args, kws)
        key = self.py_func.__name__
        returned = typing.signature(numba.none, *types)
        return make_concrete_template(f"CallTemplate({key})", key, [returned]), signature, types, {}

    def _is_elsewhere(self, types: Any) -> bool:
        """Whether the helper compiles this; hands it over if the helper is free and it is not compiled yet."""
        if types in self._delegated:
            return True
        made = types in self.overloads or (self.name, types) in HELPER.made
        if made or not self._acts or not HELPER.take(self.name, types):
            return False
        self._delegated.add(types)
        return True

    def get_overload(self, sig: Any) -> Any:
        """Called by Numba where a caller's code is made."""
        types, _ = normalize_signature(sig)
        if types in self._delegated:
            self._delegated.discard(types)
            if (self.name, types) not in HELPER.made:
                HELPER.wait()
            self.compile(types)
        return super().get_overload(sig)

    def compile(self, sig: Any) -> Any:
        """Compiles for types of arguments, unless that is done, here or by the helper."""
        types, _ = normalize_signature(sig)
        parts = HELPER.made.pop((self.name, types), None)
        if parts is not None and types not in self.overloads:
            result = CompileResult._rebuild(self.targetctx, *parts)
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)
        return super().compile(sig)

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is a phase, called by kernels; wrap it in a @kernel")


def help_out(descriptor: int, module: str) -> None:
    """The helper's main function: imports a module, and compiles phases for the process at the other end of a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted main process ends the helper
    HELPER.wanted = False
    WAITING.quiet = True
    gc.disable()
    # Numba numbers what it compiles, and takes two functions with one name and number for the same when it links them.
    FunctionIdentity._unique_ids = itertools.count(_HELPER_IDS + secrets.randbits(40))
    import_module(module)
    event.register("numba:compile", _CompiledPhases())
    serve(Connection(descriptor), _make)


class _CompiledPhases(event.Listener):
    """In the helper: notes which phases are compiled."""

    met: ClassVar[list[tuple[PhaseDispatcher, Any]]] = []

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], PhaseDispatcher):
            self.met.append((event.data["dispatcher"], event.data["args"]))

    def on_end(self, event: Any) -> None:
        pass


def _make(kernel: tuple[Name, str], phase: Name, types: Any) -> Made:
    """A compiled phase with those inside it; nothing if the kernel's digest is another one in this process."""
    name, key = kernel
    if _key(name) != key:
        return {}
    wanted = _named(phase)
    _CompiledPhases.met[:] = [(wanted, types)]  # it may have been compiled for another kernel before
    wanted.compile(types)
    made: dict[Any, Any] = {(met.name, types): met.overloads[types] for met, types in _CompiledPhases.met}
    return {
        named: result._reduce()
        for named, result in made.items()
        if can_travel(result) and result.fndesc.uid >= _HELPER_IDS
    }


@cache
def _key(name: Name) -> str:
    return kernel_key(_named(name))


def _named(name: Name) -> Any:
    return getattr(import_module(name[0]), name[1])
