"""The digest of a kernel: kernels with the same digest compile to the same machine code.

A compiler reads a function's bytecode and the values of its globals and closure at that moment: constants, other
kernels with all of theirs, record types, NamedTuples. These values are hashed, not the files: an
edited constant three modules away changes the digest, an edited comment does not
(`docs/decisions/0002-kernel-cache.md`). A global of a kind that cannot be hashed is refused, so
no value can be used in a kernel and be missing from its digest.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import inspect
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

# Their functions are identified by their names; their versions are part of every digest (`kernel_cache`).
_FOREIGN = ("numpy", "math", "numba", "llvmlite", "builtins", "operator", "typing", "cmath")
_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class Unhashable(TypeError):
    """A kernel uses something of which a change could not be noticed."""


def kernel_key(function: Any) -> str:
    """The digest of a function and of everything that it uses, as hex digits.

    Args:
        function: a Python function, or a compiled one (anything with ``py_func``).

    Raises:
        Unhashable: if it uses a global that cannot be put into bytes.

    Example:
        >>> def twice(x):
        ...     return 2 * x
        >>> kernel_key(twice) == kernel_key(twice)
        True
    """
    digest = hashlib.sha256()
    met: dict[int, FunctionType] = {}  # kept, so that no id is used twice
    waiting = [_plain(function)]
    while waiting:
        current = waiting.pop(0)
        if id(current) in met:
            continue
        met[id(current)] = current
        for name, value in _used(current):
            digest.update(f"{name}=".encode())
            digest.update(_bytes(value, f"{current.__qualname__} uses {name}", waiting))
    return digest.hexdigest()


def returns_nothing(code: CodeType) -> bool:
    """Whether every path through a function returns None, as far as its bytecode shows; no generator does.

    Example:
        >>> def act(x):
        ...     if x[0]:
        ...         return
        ...     x[0] = 1
        >>> returns_nothing(act.__code__), returns_nothing((lambda x: x or None).__code__)
        (True, False)
    """
    if code.co_flags & inspect.CO_GENERATOR:
        return False
    loaded: Any = ()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "RETURN_VALUE" and (instruction.is_jump_target or loaded is not None):
            return False
        if instruction.opname == "RETURN_CONST" and instruction.argval is not None:
            return False
        loaded = instruction.argval if instruction.opname == "LOAD_CONST" else ()
    return True


def _plain(function: Any) -> FunctionType:
    """The Python function of a compiled one."""
    plain: FunctionType = inspect.unwrap(getattr(function, "py_func", function))
    return plain


def _used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """A function's code, defaults, closure and the globals that its code names, each with a name."""
    yield "code", function.__code__
    yield "defaults", function.__defaults__
    yield "keyword defaults", tuple(sorted((function.__kwdefaults__ or {}).items()))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for name, attributes in sorted(_globals(function.__code__).items()):
        value = function.__globals__.get(name, getattr(builtins, name, None))
        yield name, value
        if isinstance(value, ModuleType) and not _is_foreign(value.__name__):
            for attribute in sorted(attributes):  # `draws.start(...)`
                yield f"{name}.{attribute}", getattr(value, attribute, None)


def _globals(code: CodeType) -> dict[str, set[str]]:
    """The globals that a code object and the code inside it (comprehensions, inner functions) look up, with the
    attributes read from each.
    """
    found: dict[str, set[str]] = {}
    loaded = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            loaded = instruction.argval
            found.setdefault(loaded, set())
        elif loaded and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            found[loaded].add(instruction.argval)
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME", "CACHE"):
            loaded = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for name, attributes in _globals(constant).items():
                found.setdefault(name, set()).update(attributes)
    return found


def _bytes(value: Any, what: str, waiting: list[FunctionType]) -> bytes:
    """A value as bytes; functions are appended to the list of pending ones, and represented by their names."""
    if isinstance(value, _SCALARS):
        return f"{type(value).__name__} {value!r};".encode()
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.hasobject:
            raise Unhashable(f"{what}: an array of objects; use numbers")
        return f"{value.dtype!r} {np.shape(value)} ".encode() + np.ascontiguousarray(value).tobytes() + b";"
    if isinstance(value, tuple | list | frozenset):
        parts = value if not isinstance(value, frozenset) else sorted(value, key=repr)
        inside = b"".join(_bytes(part, what, waiting) for part in parts)
        return _bytes(type(value), what, waiting) + f" {len(value)} (".encode() + inside + b");"
    if isinstance(value, CodeType):
        return _code_bytes(value, what, waiting)
    if isinstance(value, np.dtype):
        return f"dtype {value!r} {value.fields!r};".encode()
    if isinstance(value, type):
        return _class_bytes(value, what)
    if isinstance(value, ModuleType):
        if "." in what.rpartition(" uses ")[2] and not _is_foreign(value.__name__):
            raise Unhashable(f"{what}, a module inside a module; import its names")
        return f"module {value.__name__};".encode()
    return _function_bytes(value, what, waiting)


def _class_bytes(value: type, what: str) -> bytes:
    described = f"class {value.__module__}.{value.__qualname__}"
    if issubclass(value, enum.Enum):
        described += repr([(member.name, member.value) for member in value])
    elif issubclass(value, tuple) and hasattr(value, "_fields"):
        described += repr((value._fields, getattr(value, "_field_defaults", {})))
    elif not _is_foreign(value.__module__):
        raise Unhashable(f"{what}, a class, whose changes the cache cannot see; use a NamedTuple or an Enum")
    return f"{described};".encode()


def _function_bytes(value: Any, what: str, waiting: list[FunctionType]) -> bytes:
    value = getattr(value, "_defn", value)  # what Numba's intrinsics generate code with
    home = getattr(value, "__module__", None) or type(value).__module__
    if isinstance(value, BuiltinFunctionType | np.ufunc) or _is_foreign(home):
        return f"{home}.{getattr(value, '__qualname__', getattr(value, '__name__', repr(value)))};".encode()
    plain = _plain(value) if hasattr(value, "py_func") or isinstance(value, FunctionType) else None
    if plain is None:
        raise Unhashable(
            f"{what}, a {type(value).__name__}: the kernel cache could not see it change; use a number, a tuple, an array or a kernel"
        )
    waiting.append(plain)
    return f"function {plain.__module__}.{plain.__qualname__};".encode()


def _code_bytes(code: CodeType, what: str, waiting: list[FunctionType]) -> bytes:
    """Bytecode, constants and names; not the place in the file, which changes nothing."""
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    return b"code " + b"".join(_bytes(part, what, waiting) for part in (*parts, *counts, code.co_consts))


def _is_foreign(module: str) -> bool:
    return module.partition(".")[0] in _FOREIGN
