"""Turns a jaxpr into a `Program`; supports the primitives of our networks and refuses others."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core

from interplay.core.errors import UserError
from interplay.train.export import plain

# A length that depends on the number of rows B is negative: -3 is 3 B. Shapes of arrays with rows begin with -1.
Dims = tuple[int, ...]


class Array(NamedTuple):
    """One array: its name, shape and dtype."""

    name: str
    shape: Dims
    dtype: str


class Step(NamedTuple):
    """One operation.

    Attributes:
        op: a name in `plain.OPERATIONS`.
        inputs: names of arrays.
        output: its result.
        params: numbers and texts by name.
    """

    op: str
    inputs: tuple[str, ...]
    output: Array
    params: dict[str, Any]


class Program(NamedTuple):
    """A network.

    Attributes:
        inputs: of B rows.
        outputs: name -> name of the array.
        constants: name -> array.
        steps: in order.
        about: texts and numbers, as in `plain.PlainPolicy`.
    """

    inputs: tuple[Array, ...]
    outputs: dict[str, str]
    constants: dict[str, np.ndarray]
    steps: tuple[Step, ...]
    about: dict[str, Any]


SAME = {  # primitives that are one step without parameters
    "add": "add", "add_any": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum",
    "pow": "power", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "and": "logical_and", "or": "logical_or", "not": "logical_not", "tanh": "tanh", "exp": "exp", "exp2": "exp2", "log": "log",
    "log1p": "log1p", "neg": "negative", "logistic": "logistic", "sqrt": "sqrt", "rsqrt": "rsqrt", "abs": "abs", "floor": "floor",
    "sign": "sign", "stop_gradient": "identity", "copy": "identity", "copy_p": "identity", "convert_element_type": "cast",
    "reshape": "reshape", "squeeze": "reshape", "expand_dims": "reshape",
}  # fmt: skip
INLINE = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr",
          "custom_vjp_call": "call_jaxpr", "remat2": "jaxpr", "checkpoint": "jaxpr"}  # fmt: skip
REDUCTIONS = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min"}
ROWS = "b"  # the symbol of B in traced shapes


def trace(
    owner: str, function: Callable[..., dict[str, jax.Array]], inputs: Sequence[Array], about: dict[str, Any]
) -> Program:
    """Traces a function of arrays with any number of rows.

    Args:
        function: an array per input -> {name: array}.
        inputs: their shapes begin with -1.
    """
    (rows,) = jax.export.symbolic_shape(ROWS)
    shapes = [jax.ShapeDtypeStruct((rows, *own.shape[1:]), own.dtype) for own in inputs]
    names: list[str] = []

    def flat(*arrays: jax.Array) -> list[jax.Array]:
        outputs = function(*arrays)
        names[:] = list(outputs)
        return list(outputs.values())

    try:
        closed = jax.make_jaxpr(flat)(*shapes)
    except (TypeError, ValueError, jax.errors.JAXTypeError) as error:
        raise UserError(
            f"{owner}: its network cannot be traced for any number of rows ({str(error).partition(chr(10))[0]}); "
            "it cannot be exported, play it with interplay"
        ) from error
    writer = _Writer(owner)
    given: list[Any] = [own.name for own in inputs]
    outputs = writer.run(closed.jaxpr, [np.asarray(value) for value in closed.consts], given)
    # Outputs need names, constant ones too.
    found = {name: writer.named(value) for name, value in zip(names, outputs, strict=True)}
    return Program(tuple(inputs), found, *writer.needed(found.values()), about)


class _Writer:
    """Writes steps; a value is the name of an array that depends on the inputs, or a constant array."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._steps: list[Step] = []
        self._constants: dict[str, np.ndarray] = {}
        self._known: dict[tuple[Any, ...], str] = {}

    def run(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Writes the steps of a jaxpr; returns the values of its outputs."""
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        values |= dict(zip(jaxpr.invars, inputs, strict=True))

        def value(atom: Any) -> Any:
            return np.asarray(atom.val) if isinstance(atom, core.Literal) else values[atom]

        for equation in jaxpr.eqns:
            made = self._write(equation, [value(atom) for atom in equation.invars])
            values |= dict(zip(equation.outvars, made, strict=True))
        return [value(atom) for atom in jaxpr.outvars]

    def named(self, value: Any) -> str:
        """The name of a value; equal constants share one."""
        if isinstance(value, str):
            return value
        array = np.asarray(value)
        key = (array.shape, array.dtype.str, array.tobytes())
        if key not in self._known:
            self._known[key] = f"c{len(self._known)}"
            self._constants[self._known[key]] = array
        return self._known[key]

    def needed(self, outputs: Any) -> tuple[dict[str, np.ndarray], tuple[Step, ...]]:
        """Constants and steps that outputs depend on."""
        wanted, kept = set(outputs), []
        for step in reversed(self._steps):
            if step.output.name in wanted:
                kept.append(step)
                wanted.update(step.inputs)
        return {name: array for name, array in self._constants.items() if name in wanted}, tuple(kept[::-1])

    # -- one equation ---------------------------------------------------------------------------------

    def _write(self, equation: Any, given: list[Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        if name in INLINE:
            inner = params[INLINE[name]]
            closed = (
                (inner.jaxpr, [np.asarray(const) for const in inner.consts])
                if hasattr(inner, "jaxpr")
                else (inner, [])
            )
            return self.run(*closed, given)
        if name == "optimization_barrier":
            return given
        if name == "cond":
            return self._choose(equation, given)
        if name == "split":
            return self._split(equation, given[0])
        if name == "unstack":
            return self._unstack(equation, given[0])
        out = equation.outvars[0].aval
        shape, dtype = self._dims(out.shape), out.dtype.name
        if name in SAME:
            return [self._step(SAME[name], given, shape, dtype)]
        if name in REDUCTIONS:
            return [
                self._step(REDUCTIONS[name], given, shape, dtype, axes=[int(axis) for axis in params["axes"]])
            ]
        special = getattr(self, f"_{name}", None)
        if special is None:
            raise self._refusal(name)
        return [special(equation, given, shape, dtype)]

    def _step(self, op: str, given: Sequence[Any], shape: Dims, dtype: str, **params: Any) -> Any:
        """Writes one step, or computes it if its inputs are constant."""
        if not any(isinstance(value, str) for value in given) and all(length >= 0 for length in shape):
            result = plain.OPERATIONS[op](shape, params, *given)
            return np.asarray(result, dtype)
        output = Array(f"v{len(self._steps)}", shape, dtype)
        self._steps.append(Step(op, tuple(self.named(value) for value in given), output, params))
        return output.name

    def _dims(self, shape: Sequence[Any]) -> Dims:
        return tuple(self._length(length) for length in shape)

    def _length(self, length: Any) -> int:
        """A length as in `Dims`."""
        if isinstance(length, int | np.integer):
            return int(length)
        one, two = (int(length._evaluate({ROWS: rows})) for rows in (1, 2))
        if two != 2 * one:
            raise self._refusal(f"an array of length {length}")
        return -one

    def _refusal(self, what: str) -> UserError:
        return UserError(f"{self._owner}: its network cannot be exported ({what}); play it with interplay")

    # -- primitives with parameters -------------------------------------------------------------------

    def _select_n(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        which, *cases = given
        chosen = cases[0]
        if equation.invars[0].aval.dtype == bool:
            return self._step("where", [which, cases[1], chosen], shape, dtype)
        for number, case in enumerate(cases[1:], 1):
            is_it = self._step(
                "equal", [which, np.int32(number)], self._dims(equation.invars[0].aval.shape), "bool"
            )
            chosen = self._step("where", [is_it, case, chosen], shape, dtype)
        return chosen

    def _square(self, _: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        return self._step("multiply", [given[0], given[0]], shape, dtype)

    def _integer_pow(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        return self._step("power", [given[0], np.asarray(equation.params["y"], dtype)], shape, dtype)

    def _round(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        if equation.params["rounding_method"] != jax.lax.RoundingMethod.TO_NEAREST_EVEN:
            raise self._refusal("rounding away from zero")
        return self._step("rint", given, shape, dtype)

    def _transpose(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        return self._step(
            "transpose", given, shape, dtype, axes=[int(axis) for axis in equation.params["permutation"]]
        )

    def _broadcast_in_dim(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        kept = equation.params["broadcast_dimensions"]
        before = [kept.index(axis) if axis in kept else -1 for axis in range(len(shape))]
        return self._step("broadcast", given[:1], shape, dtype, before=before)

    def _iota(self, equation: Any, _: list[Any], shape: Dims, dtype: str) -> Any:
        axis = equation.params["dimension"]
        if shape[axis] < 0:
            raise self._refusal("a count of the rows")
        before = [0 if other == axis else -1 for other in range(len(shape))]
        return self._step("broadcast", [np.arange(shape[axis], dtype=dtype)], shape, dtype, before=before)

    def _concatenate(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        return self._step("concatenate", given, shape, dtype, axis=int(equation.params["dimension"]))

    def _stack(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        axis = int(equation.params["axis"])
        one = (*shape[:axis], 1, *shape[axis + 1 :])
        parts = [self._step("reshape", [value], one, dtype) for value in given]
        return self._step("concatenate", parts, shape, dtype, axis=axis)

    def _slice(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        params = equation.params
        own = equation.invars[0].aval.shape
        starts, stops = params["start_indices"], params["limit_indices"]
        return self._cut(given[0], own, starts, stops, shape, dtype, params["strides"])

    def _cut(
        self,
        value: Any,
        own: Sequence[Any],
        starts: Any,
        stops: Any,
        shape: Dims,
        dtype: str,
        strides: Sequence[int] | None = None,
    ) -> Any:
        """Slices an array; an axis of rows stays whole."""
        start, stop = [], []
        for length, first, last in zip(own, starts, stops, strict=True):
            if isinstance(length, int):
                start.append(int(first))
                stop.append(int(last))
            elif str(first) == "0" and str(last) == str(length):
                start.append(0)
                stop.append(-1)
            else:
                raise self._refusal("a part of the rows")
        stride = [int(one) for one in strides or [1] * len(own)]
        return self._step("slice", [value], shape, dtype, start=start, stop=stop, stride=stride)

    def _split(self, equation: Any, value: Any) -> list[Any]:
        own, axis, at, parts = equation.invars[0].aval.shape, equation.params["axis"], 0, []
        for out in equation.outvars:
            starts, stops = [0] * len(own), list(own)
            starts[axis], stops[axis] = at, at + out.aval.shape[axis]
            at = stops[axis]
            shape, dtype = self._dims(out.aval.shape), out.aval.dtype.name
            parts.append(self._cut(value, own, starts, stops, shape, dtype))
        return parts

    def _unstack(self, equation: Any, value: Any) -> list[Any]:
        own, axis, parts = equation.invars[0].aval.shape, int(equation.params["axis"]), []
        for at, out in enumerate(equation.outvars):
            starts, stops, shape = [0] * len(own), list(own), list(self._dims(own))
            starts[axis], stops[axis], shape[axis] = at, at + 1, 1
            part = self._cut(value, own, starts, stops, tuple(shape), out.aval.dtype.name)
            parts.append(self._step("reshape", [part], self._dims(out.aval.shape), out.aval.dtype.name))
        return parts

    def _pad(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        around = equation.params["padding_config"]
        if any(low < 0 or high < 0 or inside for low, high, inside in around):
            raise self._refusal("pad")
        return self._step(
            "pad", given, shape, dtype, around=[[int(low), int(high)] for low, high, _ in around]
        )

    def _argmax(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        return self._step("argmax", given, shape, dtype, axis=int(equation.params["axes"][0]))

    def _cumsum(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        if equation.params["reverse"]:
            raise self._refusal("cumsum backwards")
        return self._step("cumsum", given, shape, dtype, axis=int(equation.params["axis"]))

    def _dot_general(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]
        ranks = [len(variable.aval.shape) for variable in equation.invars]
        letters = iter(string.ascii_lowercase)
        left = [next(letters) for _ in range(ranks[0])]
        right = [""] * ranks[1]
        for mine, theirs in zip((*left_sum, *left_batch), (*right_sum, *right_batch), strict=True):
            right[theirs] = left[mine]
        right = [letter or next(letters) for letter in right]
        batch = [left[axis] for axis in left_batch]
        free = [left[axis] for axis in range(ranks[0]) if axis not in (*left_sum, *left_batch)]
        others = [right[axis] for axis in range(ranks[1]) if axis not in (*right_sum, *right_batch)]
        equation_text = f"{''.join(left)},{''.join(right)}->{''.join((*batch, *free, *others))}"
        return self._step("product", given, shape, dtype, equation=equation_text)

    def _gather(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        """Gathers a static part, rows of a table, or elements by an index per row."""
        numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
        own, (value, index) = equation.invars[0].aval.shape, given
        if not isinstance(index, str) and index.ndim == 1:
            starts: list[Any] = [0] * len(own)
            for axis, start in zip(numbers.start_index_map, index, strict=True):
                starts[axis] = int(start)
            stops = [size if start == 0 else start + size for start, size in zip(starts, sizes, strict=True)]
            part = self._cut(value, own, starts, stops, self._dims(sizes), dtype)
            return self._step("reshape", [part], shape, dtype)
        where = self._dims(equation.invars[1].aval.shape)
        if len(numbers.start_index_map) != 1 or numbers.collapsed_slice_dims != numbers.start_index_map:
            raise self._refusal("gather")
        axis = int(numbers.start_index_map[0])
        flat = self._step("reshape", [index], where[:-1], equation.invars[1].aval.dtype.name)
        if not numbers.operand_batching_dims:
            leading = len(where) - 1
            whole = all(sizes[other] == own[other] for other in range(len(own)) if other != axis)
            if axis != 0 or not whole or numbers.offset_dims != tuple(range(leading, len(shape))):
                raise self._refusal("gather")
            return self._step("take", [value, flat], shape, dtype, axis=0)
        batching = numbers.operand_batching_dims
        if (
            batching != tuple(range(axis))
            or numbers.start_indices_batching_dims != batching
            or len(where) != axis + 2
        ):
            raise self._refusal("gather")
        before = [*range(axis + 1), *[-1] * (len(shape) - axis - 1)]
        kind = equation.invars[1].aval.dtype.name
        wide = self._step("broadcast", [flat], shape, kind, before=before)
        return self._step("take_along", [value, wide], shape, dtype, axis=axis)

    def _dynamic_slice(self, equation: Any, given: list[Any], shape: Dims, dtype: str) -> Any:
        value, *starts = given
        own, sizes = equation.invars[0].aval.shape, equation.params["slice_sizes"]
        if any(isinstance(start, str) for start in starts):
            raise self._refusal("dynamic_slice")
        stops = [
            size if int(start) == 0 else int(start) + size for start, size in zip(starts, sizes, strict=True)
        ]
        return self._cut(value, own, [int(start) for start in starts], stops, shape, dtype)

    def _choose(self, equation: Any, given: list[Any]) -> list[Any]:
        """Computes all branches, which are pure, and selects one."""
        index, *operands = given
        branches = equation.params["branches"]
        results = [
            self.run(one.jaxpr, [np.asarray(const) for const in one.consts], operands) for one in branches
        ]
        chosen = results[0]
        for number, result in enumerate(results[1:], 1):
            is_it = self._step("equal", [index, np.int32(number)], (), "bool")
            chosen = [
                self._step("where", [is_it, mine, other], self._dims(out.aval.shape), out.aval.dtype.name)
                for mine, other, out in zip(result, chosen, equation.outvars, strict=True)
            ]
        return chosen
