"""Writes a program as an ONNX model; needs the extra ``onnx``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from interplay import __version__
from interplay.core.errors import UserError
from interplay.train.export.trace import Array, Dims, Program, Step

OPSET, IR = 17, 8  # of 2022, for older runtimes too
SAME = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max", "minimum": "Min", "power": "Pow",
    "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "logical_and": "And", "logical_or": "Or", "logical_not": "Not", "tanh": "Tanh", "exp": "Exp", "log": "Log", "negative": "Neg",
    "logistic": "Sigmoid", "sqrt": "Sqrt", "abs": "Abs", "floor": "Floor", "sign": "Sign", "rint": "Round", "identity": "Identity", "where": "Where",
}  # fmt: skip
AS_IT_IS = ("identity", "logical_and", "logical_or", "logical_not")
COMPARISONS = ("equal", "less", "less_equal", "greater", "greater_equal")  # return bools
NARROW = ("bool", "int8", "uint8", "int16", "uint16")  # runtimes lack most operations on these


def as_onnx(program: Program) -> bytes:
    """The bytes of the model, checked by onnx.

    Inputs have the names of the observation's leaves and any number of rows; outputs are those of `plain.PlainPolicy`.

    Raises:
        UserError: if onnx is not installed.
    """
    try:
        onnx = import_module("onnx")
    except ImportError as error:
        raise UserError(
            'exporting to ONNX needs onnx; install it with pip install "interplay[onnx]"'
        ) from error
    graph = _Graph(onnx, program)
    for step in program.steps:
        graph.add(step)
    model = graph.model(program)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


class _Graph:
    """Collects nodes and constants step by step."""

    def __init__(self, onnx: Any, program: Program) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: dict[str, np.ndarray] = dict(program.constants)
        self._dtypes = {own.name: own.dtype for own in program.inputs}
        self._dtypes |= {name: array.dtype.name for name, array in program.constants.items()}
        self._dtypes |= {step.output.name: step.output.dtype for step in program.steps}
        self._first = program.inputs[0].name
        self._lengths: dict[int, str] = {}
        self._made = 0

    def model(self, program: Program) -> Any:
        """The whole model."""
        helper, numpy_helper = self._onnx.helper, self._onnx.numpy_helper
        arrays = {own.name: own for own in program.inputs}
        arrays |= {step.output.name: step.output for step in program.steps}
        outputs = []
        for name, own in program.outputs.items():
            self._node("Identity", [own], f"out/{name}")
            shape = arrays[own].shape if own in arrays else program.constants[own].shape
            outputs.append(self._info(Array(f"out/{name}", shape, self._dtypes[own])))
        # An output may not have an input's name, as with memory.
        taken = {own.name for own in program.inputs}
        for info, node, name in zip(outputs, self._nodes[-len(outputs) :], program.outputs, strict=True):
            info.name = node.output[0] = f"{name}_next" if name in taken else name
        constants = [
            numpy_helper.from_array(np.array(array, order="C"), name)
            for name, array in self._constants.items()
        ]
        graph = helper.make_graph(
            self._nodes, "policy", [self._info(own) for own in program.inputs], outputs, constants
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph,
            producer_name="interplay",
            producer_version=__version__,
            ir_version=IR,
            opset_imports=[opset],
        )
        helper.set_model_props(model, {name: str(value) for name, value in program.about.items()})
        return model

    def add(self, step: Step) -> None:
        """Writes a step as one node or a few."""
        if step.op in SAME:
            self._plainly(step)
        else:
            special: Callable[[Step], None] = getattr(self, f"_{step.op}")
            special(step)

    # -- parts ----------------------------------------------------------------------------------------

    def _node(self, op: str, inputs: list[str], output: str = "", **params: Any) -> str:
        if not output:
            self._made += 1
            output = f"n{self._made}"
        self._nodes.append(self._onnx.helper.make_node(op, inputs, [output], **params))
        return output

    def _constant(self, values: Any, dtype: Any = np.int64) -> str:
        self._made += 1
        name = f"k{self._made}"
        self._constants[name] = np.asarray(values, dtype)
        return name

    def _type(self, dtype: str) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _info(self, own: Array) -> Any:
        lengths = [f"{-length if length < -1 else ''}B" if length < 0 else length for length in own.shape]
        return self._onnx.helper.make_tensor_value_info(own.name, self._type(own.dtype), lengths)

    def _as(self, name: str, dtype: str) -> str:
        """An array cast to a dtype."""
        return name if self._dtypes.get(name) == dtype else self._node("Cast", [name], to=self._type(dtype))

    def _shape(self, shape: Dims) -> str:
        """A shape as an array, with the number of rows filled in."""
        if all(length >= 0 for length in shape):
            return self._constant(shape)
        return self._node("Concat", [self._length(length) for length in shape], axis=0)

    def _length(self, length: int) -> str:
        if length >= 0:
            return self._constant([length])
        if length not in self._lengths:
            rows = self._node("Shape", [self._first], start=0, end=1)
            self._lengths[length] = self._node("Mul", [rows, self._constant([-length])])
        return self._lengths[length]

    def _reshaped(self, name: str, shape: Dims, output: str = "") -> str:
        open_axes = [axis for axis, length in enumerate(shape) if length < 0]
        if len(open_axes) == 1 and 0 not in shape:
            return self._node(
                "Reshape", [name, self._constant([max(length, -1) for length in shape])], output
            )
        return self._node("Reshape", [name, self._shape(shape)], output, allowzero=1)

    # -- steps ----------------------------------------------------------------------------------------

    def _plainly(self, step: Step) -> None:
        """Writes one node; narrow integers are computed as int32, for which runtimes have all operations."""
        given, dtype = list(step.inputs), step.output.dtype
        if step.op in AS_IT_IS:
            self._node(SAME[step.op], given, step.output.name)
            return
        first = step.op == "where"  # whose condition stays a bool
        given[first:] = [
            self._as(name, "int32") if self._dtypes[name] in NARROW else name for name in given[first:]
        ]
        if dtype not in NARROW or step.op in COMPARISONS:
            self._node(SAME[step.op], given, step.output.name)
        else:
            self._node("Cast", [self._node(SAME[step.op], given)], step.output.name, to=self._type(dtype))

    def _not_equal(self, step: Step) -> None:
        given = [self._as(name, "int32") if self._dtypes[name] in NARROW else name for name in step.inputs]
        self._node("Not", [self._node("Equal", given)], step.output.name)

    def _cast(self, step: Step) -> None:
        self._node("Cast", list(step.inputs), step.output.name, to=self._type(step.output.dtype))

    def _exp2(self, step: Step) -> None:
        log2 = self._constant(np.log(2.0), step.output.dtype)
        self._node("Exp", [self._node("Mul", [step.inputs[0], log2])], step.output.name)

    def _log1p(self, step: Step) -> None:
        one = self._constant(1.0, step.output.dtype)
        self._node("Log", [self._node("Add", [step.inputs[0], one])], step.output.name)

    def _rsqrt(self, step: Step) -> None:
        self._node("Reciprocal", [self._node("Sqrt", [step.inputs[0]])], step.output.name)

    def _reshape(self, step: Step) -> None:
        self._reshaped(step.inputs[0], step.output.shape, step.output.name)

    def _transpose(self, step: Step) -> None:
        self._node("Transpose", [step.inputs[0]], step.output.name, perm=step.params["axes"])

    def _broadcast(self, step: Step) -> None:
        new = [axis for axis, before in enumerate(step.params["before"]) if before < 0]
        wide = self._node("Unsqueeze", [step.inputs[0], self._constant(new)]) if new else step.inputs[0]
        self._node("Expand", [wide, self._shape(step.output.shape)], step.output.name)

    def _concatenate(self, step: Step) -> None:
        self._node("Concat", list(step.inputs), step.output.name, axis=step.params["axis"])

    def _slice(self, step: Step) -> None:
        stops = [np.iinfo(np.int64).max if stop < 0 else stop for stop in step.params["stop"]]
        axes = list(range(len(stops)))
        parts = [self._constant(one) for one in (step.params["start"], stops, axes, step.params["stride"])]
        self._node("Slice", [step.inputs[0], *parts], step.output.name)

    def _pad(self, step: Step) -> None:
        around = step.params["around"]
        pads = self._constant([low for low, _ in around] + [high for _, high in around])
        self._node("Pad", [step.inputs[0], pads, step.inputs[1]], step.output.name)

    def _sum(self, step: Step) -> None:
        axes = self._constant(step.params["axes"])
        self._node("ReduceSum", [step.inputs[0], axes], step.output.name, keepdims=0)

    def _max(self, step: Step) -> None:
        self._reduced("ReduceMax", step)

    def _min(self, step: Step) -> None:
        self._reduced("ReduceMin", step)

    def _reduced(self, op: str, step: Step) -> None:
        name, dtype = step.inputs[0], step.output.dtype
        if dtype not in NARROW:
            self._node(op, [name], step.output.name, axes=step.params["axes"], keepdims=0)
            return
        found = self._node(op, [self._as(name, "int32")], axes=step.params["axes"], keepdims=0)
        self._node("Cast", [found], step.output.name, to=self._type(dtype))

    def _argmax(self, step: Step) -> None:
        found = self._node("ArgMax", [step.inputs[0]], axis=step.params["axis"], keepdims=0)
        self._node("Cast", [found], step.output.name, to=self._type(step.output.dtype))

    def _cumsum(self, step: Step) -> None:
        self._node("CumSum", [step.inputs[0], self._constant(step.params["axis"])], step.output.name)

    def _product(self, step: Step) -> None:
        given = [self._as(name, step.output.dtype) for name in step.inputs]
        if step.params["equation"] == "ab,bc->ac":
            self._node("MatMul", given, step.output.name)
        else:
            self._node("Einsum", given, step.output.name, equation=step.params["equation"])

    def _take(self, step: Step) -> None:
        self._node("Gather", list(step.inputs), step.output.name, axis=step.params["axis"])

    def _take_along(self, step: Step) -> None:
        self._node("GatherElements", list(step.inputs), step.output.name, axis=step.params["axis"])
