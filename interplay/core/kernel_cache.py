"""Compiled kernels on disk: a file per kernel and types of arguments, named by its sources.

A file's name is a digest of the kernel with everything that it uses (`kernel_key`), the argument types, the
processor and the versions of Python, Numba, llvmlite and NumPy. So an entry can be missing but never stale, working
trees share entries, and the package's location does not matter. The first 32 bytes are a checksum of
the rest: a file that a power loss cut is removed and compiled again.

The folder is private: entries are machine code, and write access to it means running programs as the user. A
wheel has entries of its own inside the package (`interplay.core.shipped`), which are looked up first.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
from functools import cache, cached_property
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from interplay.core import shipped
from interplay.core.kernel_key import kernel_key

_CHECKSUM = hashlib.sha256().digest_size
_reported: set[str] = set()


def cache_root() -> Path:
    """Where compiled code is kept: ``INTERPLAY_CACHE``, else the user's cache folder."""
    given = os.environ.get("INTERPLAY_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or (
        Path.home() / "Library" / "Caches" if sys.platform == "darwin" else Path.home() / ".cache"
    )
    return Path(base) / "interplay"


@cache
def private_folder(path: Path) -> Path | None:
    """Makes a folder that only the user may enter; if that is impossible, prints one line and returns None.

    A folder of another user, or one that others may write to, is not used.
    """
    reason = _unusable(path)
    if reason is None:
        return path
    print_once(f"compiled code is not kept in {path}: {reason}; or let INTERPLAY_CACHE name another folder")
    return None


def _unusable(path: Path) -> str | None:
    """Why a folder, created here if it is missing, is not safe for compiled code."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.mkdir(mode=0o700, exist_ok=True)
        found = path.stat()
    except OSError as error:
        return error.strerror or str(error)
    if hasattr(os, "geteuid"):
        if found.st_uid != os.geteuid():
            return "it belongs to another user"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to it; chmod go-w {path}"
    return None if os.access(path, os.W_OK | os.X_OK) else "it cannot be written to"


def print_once(line: str) -> None:
    """One line on standard error, once in the life of the process."""
    if line not in _reported:
        _reported.add(line)
        print(f"interplay: {line}", file=sys.stderr, flush=True)


class KernelCache(_Cache):
    """Numba's cache of one function, with our own files.

    Args:
        options: how it is compiled; part of every entry's name.
    """

    def __init__(self, function: Any, options: str) -> None:
        self._function, self._options = function, options
        self._enabled = True

    @cached_property
    def key(self) -> str:
        """The digest of the function from `kernel_key`; computed at first use, since its globals may be defined later."""
        return kernel_key(self._function)

    @property
    def cache_path(self) -> str:
        """The folder of this function's entries that were compiled here."""
        return str(cache_root() / "kernels" / self._function.__module__)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None if it has to be compiled."""
        target_context.refresh()
        if not self._enabled:
            return None
        name = self._name(sig, target_context.codegen())
        files = [shipped.FOLDER / name]
        if self._is_private():
            files.append(self._file(name))
        for file in files:
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(_read_sound(file)))
            except FileNotFoundError:
                continue
            except Exception as error:  # cut, altered, or of a build that only looked the same
                self._give_up(file, error)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps a compiled function; where that is impossible the run goes on without."""
        if not can_travel(data):
            return
        if not self._enabled or not self._is_private():
            return
        file = self._file(self._name(sig, data.codegen))
        payload = dumps(data._reduce())
        temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        try:
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            print_once(f"compiled kernels are not kept in {file.parent}: {error.strerror}")

    def enable(self) -> None:
        """Reads and writes entries again."""
        self._enabled = True

    def disable(self) -> None:
        """Neither reads nor writes entries."""
        self._enabled = False

    def flush(self) -> None:
        """Removes this function's entries."""
        for file in Path(self.cache_path).glob(f"{self._function.__qualname__}-*.kernel"):
            file.unlink(missing_ok=True)

    def _give_up(self, file: Path, error: Exception) -> None:
        """Removes a damaged entry of the cache; the package's own files are left as they were installed."""
        if file.is_relative_to(shipped.FOLDER):
            print_once(
                f"the package's compiled kernel {file} is damaged ({error}); install the package again"
            )
        else:
            file.unlink(missing_ok=True)
            print_once(f"the compiled kernel {file} was damaged ({error}); it is compiled again")

    def _is_private(self) -> bool:
        """Whether no other user may write into the folders of the entries; missing ones are created."""
        folder = Path(self.cache_path)
        return all(private_folder(path) is not None for path in (folder.parents[1], folder.parent, folder))

    def _file(self, name: str) -> Path:
        return cache_root() / "kernels" / name

    def _name(self, sig: Any, codegen: Any) -> str:
        """The entry's path below a folder of entries."""
        arguments = sig.args if hasattr(sig, "args") else sig
        described = [self.key, self._options, repr(made_with()), repr(codegen.magic_tuple())]
        described += [describe_type(argument) for argument in arguments]
        digest = hashlib.sha256("\n".join(described).encode()).hexdigest()[:32]
        return f"{self._function.__module__}/{self._function.__qualname__}-{digest}.kernel"


def can_travel(compiled: Any) -> bool:
    """Whether Numba can bring a compiled function back in another process."""
    return not compiled.lifted and not compiled.library.has_dynamic_globals


def describe_type(kind: Any) -> str:
    """A type of Numba's in words that two different types never share.

    Numba's own name of a NamedTuple lacks the names of its fields: two fields that change places would not show.
    """
    tuples: tuple[Any, Any] = (types.BaseNamedTuple, types.BaseTuple)
    if isinstance(kind, tuples[0]):
        home = kind.instance_class
        fields = [f"{name}: {describe_type(part)}" for name, part in zip(kind.fields, kind, strict=True)]
        return f"{home.__module__}.{home.__qualname__}({', '.join(fields)})"
    if isinstance(kind, tuples[1]):
        return f"({', '.join(describe_type(part) for part in kind)})"
    return f"{type(kind).__name__} {kind}"


@cache
def made_with() -> dict[str, str]:
    """The versions that machine code depends on, and the flags of the compiler.

    Of Python what its bytecode and its C interface go by, and of NumPy the feature release, which Numba compiles
    differently for: later releases of either that only mend faults go on with the same kernels.
    """
    config: Any = numba.config
    flags = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    return {
        "Python": f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')} {MAGIC_NUMBER.hex()}",
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy": ".".join(np.__version__.split(".")[:2]),
        "flags": repr([(flag, getattr(config, flag, None)) for flag in flags]),
    }


def _read_sound(file: Path) -> bytes:
    data = file.read_bytes()
    if hashlib.sha256(data[_CHECKSUM:]).digest() != data[:_CHECKSUM]:
        raise ValueError("its checksum does not match")
    return data[_CHECKSUM:]
