"""A trained network as a NumPy function, from one ``.npz`` file.

This file needs only NumPy: copy it beside the ``.npz`` to use a policy without this package::

    from plain import load
    network = load("policy.npz")
    outputs = network({"observation": rows, "memory": memory})  # every array with a first axis of B rows
    outputs["probabilities"], outputs["action"], outputs["value"], outputs["memory"]

``network.inputs`` lists the inputs. ``action_mask`` and ``memory`` are optional: by default all choices are legal and memory is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1
Arrays = dict[str, np.ndarray]


class PlainPolicy:
    """A network without state.

    Args:
        program: inputs, outputs and steps, as in the file.
        constants: name -> array.

    Attributes:
        inputs: name -> (shape of one row, dtype).
        outputs: names of the outputs.
        about: world, kind, population and spaces.
    """

    def __init__(self, program: Mapping[str, Any], constants: Mapping[str, np.ndarray]) -> None:
        if program.get("format") != FORMAT:
            raise ValueError(
                f"format {program.get('format')!r} of an exported policy is not {FORMAT}; export it again"
            )
        self._steps, self._constants = program["steps"], dict(constants)
        self._outputs: dict[str, str] = program["outputs"]
        self.inputs = {name: (tuple(shape[1:]), dtype) for name, shape, dtype in program["inputs"]}
        self.outputs = tuple(self._outputs)
        self.about: dict[str, Any] = program["about"]

    def __call__(self, observation: Mapping[str, Any]) -> Arrays:
        """The outputs for B rows.

        Args:
            observation: input -> (B, ...); ``action_mask`` (B, choices) bool and ``memory`` (B, size) are optional.

        Returns:
            ``logits`` and ``probabilities`` (B, choices), ``mean`` and ``deviation`` of Box actions, the likeliest ``action`` (of choices int64
            (B,) counted from 0 of a Discrete space, (B, heads) of several; with a Box (B, columns) float32), ``value`` (B,), ``memory``
            (B, size) for the next call; those that the network has.

        Raises:
            ValueError: for an input that is missing, unknown, or of another shape.
        """
        odd = sorted(set(observation) - set(self.inputs))
        if odd:
            raise ValueError(f"unknown input {odd[0]!r}; there are {', '.join(self.inputs)}")
        given = {name: np.asarray(array) for name, array in observation.items()}
        rows = next((len(array) for array in given.values()), 0)
        values = dict(self._constants)
        for name, (shape, dtype) in self.inputs.items():
            array = given.get(name)
            if array is None:
                if name not in ("action_mask", "memory"):
                    raise ValueError(f"input {name!r} is missing; pass an array of shape (B, {shape})")
                array = np.ones((rows, *shape), bool) if name == "action_mask" else np.zeros((rows, *shape))
            if array.shape != (rows, *shape):
                raise ValueError(f"input {name!r} has shape {array.shape}; pass {(rows, *shape)}")
            values[name] = array.astype(dtype)
        for op, inputs, output, shape, dtype, params in self._steps:
            lengths = tuple(-length * rows if length < 0 else length for length in shape)
            result = OPERATIONS[op](lengths, params, *(values[name] for name in inputs))
            values[output] = np.asarray(result, dtype)
        return {name: values[own] for name, own in self._outputs.items()}


def load(path: str | Path) -> PlainPolicy:
    """Reads an exported policy; executes nothing from the file."""
    with np.load(path, allow_pickle=False) as file:
        program = json.loads(file["program"].tobytes())
        return PlainPolicy(program, {name: file[name] for name in file.files if name != "program"})


# -- operations: (shape of the result, parameters of the step, arrays) -> array -------------------------------------------


def _broadcast(lengths: Any, params: Any, x: np.ndarray) -> np.ndarray:
    """`before` holds for each axis of the result the axis of x; -1: a new one."""
    return np.broadcast_to(x.reshape([x.shape[i] if i >= 0 else 1 for i in params["before"]]), lengths)


def _slice(_: Any, params: Any, x: np.ndarray) -> np.ndarray:
    cuts = zip(params["start"], params["stop"], params["stride"], strict=True)
    return x[tuple(slice(start, None if stop < 0 else stop, stride) for start, stop, stride in cuts)]


def _product(_: Any, params: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if params["equation"] == "ab,bc->ac":
        return np.asarray(x @ y)
    return np.asarray(np.einsum(params["equation"], x, y, optimize=True))


def _with(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, __, *arrays: function(*arrays)


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, params, x: function(x, axis=tuple(params["axes"]))


_NUMPY = (
    "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_not tanh exp exp2 log log1p negative sqrt abs floor sign rint"
)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _with(getattr(np, name)) for name in _NUMPY.split()},
    "identity": _with(lambda x: x),
    "cast": _with(lambda x: x),  # every result is cast to its dtype
    "logistic": _with(lambda x: 0.5 * (np.tanh(0.5 * x) + 1.0)),  # 1 / (1 + exp(-x)) without overflow
    "rsqrt": _with(lambda x: 1.0 / np.sqrt(x)),
    "where": _with(np.where),
    "reshape": lambda lengths, _, x: x.reshape(lengths),
    "transpose": lambda _, params, x: x.transpose(params["axes"]),
    "broadcast": _broadcast,
    "concatenate": lambda _, params, *arrays: np.concatenate(arrays, params["axis"]),
    "slice": _slice,
    "pad": lambda _, params, x, value: np.pad(x, params["around"], constant_values=value),
    "sum": _over(np.sum),
    "max": _over(np.max),
    "min": _over(np.min),
    "argmax": lambda _, params, x: x.argmax(params["axis"]),
    "cumsum": lambda _, params, x: np.cumsum(x, params["axis"]),
    "product": _product,
    "take": lambda _, params, x, index: np.take(x, index.astype(np.int64), params["axis"]),
    "take_along": lambda _, params, x, index: np.take_along_axis(x, index.astype(np.int64), params["axis"]),
}
