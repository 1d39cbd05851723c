"""What a kernel is made of: every name that it uses changes its digest."""

import dis
import enum
import importlib
import pkgutil
import types
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numba import int64
from numba.extending import intrinsic

import interplay
from interplay.core.jit import kernel
from interplay.core.kernel_cache import KernelCache
from interplay.core.kernel_key import Unhashable, kernel_key

pytestmark = pytest.mark.slow

LIMIT = 3.0
TABLE = np.array([1.0, 2.0])


class Pair(NamedTuple):
    one: int
    two: int


class Colour(enum.IntEnum):
    RED = 1


class Box:
    pass


BOX = Box()


def helper(x):
    return x + LIMIT


def user(x):
    return helper(x) + TABLE[0] + Colour.RED


@pytest.mark.parametrize(
    ("name", "value"),
    [("LIMIT", 4.0), ("LIMIT", 3), ("TABLE", np.array([1.0, 3.0])), ("TABLE", np.array([1, 2]))],
)
def test_a_changed_global_is_another_kernel(monkeypatch, name, value):
    before = kernel_key(user)
    monkeypatch.setitem(globals(), name, value)
    assert kernel_key(user) != before


def test_an_intrinsic_that_generates_other_code_is_another_kernel():
    def code_of(number):
        @intrinsic
        def constant(_context):
            def generate(context, _builder, _signature, _arguments):
                return context.get_constant(int64, number)

            return int64(), generate

        return kernel_key(lambda: constant())

    assert code_of(1) == code_of(1)
    assert code_of(1) != code_of(2)


def test_a_changed_helper_constant_of_an_enum_or_default_is_another_kernel(monkeypatch):
    before = kernel_key(user)
    monkeypatch.setitem(globals(), "helper", lambda x: x - LIMIT)
    assert kernel_key(user) != before
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "Colour", enum.IntEnum("Colour", {"RED": 2}, module=__name__))
    assert kernel_key(user) != before
    monkeypatch.undo()
    assert kernel_key(user) == before
    keys = {kernel_key(make(k)) for k in (1, 2)}
    assert len(keys) == 2


def make(k):
    def inner(x, y=k):
        return x + k + y

    return inner


def with_default(k):
    def inner(x, y=k):
        return x + y

    return inner


def with_keyword_default(k):
    def inner(x, *, y=k):
        return x + y

    return inner


@pytest.mark.parametrize("making", [with_default, with_keyword_default])
def test_a_changed_default_alone_is_another_kernel(making):
    assert kernel_key(making(1)) == kernel_key(making(1))
    assert kernel_key(making(1)) != kernel_key(making(2))


@pytest.mark.parametrize("body", ["x + shelf.SIZE", "sum([x + shelf.SIZE for _ in range(3)])"])
def test_a_changed_number_read_off_a_module_is_another_kernel(body):
    namespace = {"shelf": types.ModuleType("shelf")}
    namespace["shelf"].SIZE = 1
    exec(f"def user(x):\n    return {body}", namespace)
    before = kernel_key(namespace["user"])
    namespace["shelf"].SIZE = 2
    assert kernel_key(namespace["user"]) != before


def test_bytes_that_only_look_alike_are_told_apart():
    functions = [
        lambda: (1, 2),
        lambda: (12,),
        lambda: ("1", 2),
        lambda: "1, 2",
        lambda: 1,
        lambda: 1.0,
        lambda: True,
    ]
    assert len({kernel_key(function) for function in functions}) == len(functions)


@pytest.mark.parametrize("name", ["BOX", "Box"])
def test_what_cannot_be_seen_to_change_is_refused(name):
    namespace = {"BOX": BOX, "Box": Box}
    exec(f"def user(x):\n    return {name}", namespace)
    with pytest.raises(Unhashable, match=f"user uses {name}"):
        kernel_key(namespace["user"])


@cache
def kernels():
    """Every kernel of the package that is kept on disk."""
    found = {}
    for module in pkgutil.walk_packages(interplay.__path__, "interplay."):
        if module.name.split(".")[1] in ("cli", "connect", "train", "view", "experiment"):
            continue  # no kernels there: they only import those below
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(getattr(value, "_cache", None), KernelCache) and value.__module__ == module.name:
                found[f"{module.name}.{name}"] = value
    return found


def reached(function, met=None):
    """(function, global) of every number that a kernel reaches: its own walk, by the bytecode alone."""
    met = {} if met is None else met
    plain = getattr(function, "py_func", function)
    if id(plain) in met or not isinstance(plain, types.FunctionType):
        return
    met[id(plain)] = plain
    for instruction in dis.get_instructions(plain):
        if instruction.opname != "LOAD_GLOBAL":
            continue
        name = instruction.argval
        value = plain.__globals__.get(name)
        if isinstance(value, bool | int | float | np.generic | tuple | np.ndarray):
            yield plain, name
        elif hasattr(value, "py_func") or isinstance(value, types.FunctionType):
            yield from reached(value, met)


def test_the_package_has_kernels_and_all_can_be_told_apart():
    assert len(kernels()) > 80
    assert len({kernel_key(one) for one in kernels().values()}) == len(kernels())


def test_every_number_that_a_kernel_of_the_package_reaches_is_part_of_its_key(monkeypatch):
    tried, met = 0, set()
    for name, compiled in kernels().items():
        before = None
        for function, constant in reached(compiled):
            place = (function.__module__, function.__qualname__, constant)
            if place in met:
                continue  # another kernel has answered for it
            met.add(place)
            before = before or kernel_key(compiled)
            with monkeypatch.context() as patch:
                patch.setitem(function.__globals__, constant, "something else")
                assert kernel_key(compiled) != before, (
                    f"{name} does not see {constant} of {function.__module__}"
                )
            tried += 1
    assert tried > 300


def test_a_kernel_sees_werewolfs_numbers():
    """The stale cache that made this module: constants in files without a kernel."""
    from interplay.worlds.werewolf.rules import draws, step

    before = kernel_key(step.step_worlds)
    old = draws._APART
    try:
        draws._APART = np.uint64(old + np.uint64(2))
        assert kernel_key(step.step_worlds) != before
    finally:
        draws._APART = old
    assert kernel_key(step.step_worlds) == before


def test_kernels_are_kept_by_key():
    @kernel
    def mine(x):
        return x + 1

    assert isinstance(mine._cache, KernelCache)
