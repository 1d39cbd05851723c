"""A traced network: inputs, outputs, constants and a sequence of steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
