"""Turns a trained policy's network into a program and writes it to a file."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.files import replace_file
from interplay.train import networks
from interplay.train.distributions import Distribution, Part
from interplay.train.export.plain import FORMAT, PlainPolicy
from interplay.train.export.trace import Array, Program, Step, trace
from interplay.train.networks import entities
from interplay.train.networks.layers import without_branches
from interplay.train.play.by_name import find_network, mark_of
from interplay.train.policy_network import MARK

if TYPE_CHECKING:
    from interplay.train.play.trained_policy import TrainedPolicy

SUFFIXES = (".onnx", ".npz")
MASK, MEMORY = "action_mask", "memory"


def write(policy: TrainedPolicy, path: str | Path, agent: str | None) -> Path:
    """Writes the network of an agent; see `TrainedPolicy.export`."""
    target = Path(path)
    if target.suffix not in SUFFIXES:
        raise UserError(
            f"{target}: a policy is written as {' or '.join(SUFFIXES)}; choose one of these endings"
        )
    if not target.parent.is_dir():
        raise UserError(f"{target}: there is no folder {target.parent}; make it first")
    if target.suffix == ".onnx":
        from interplay.train.export.onnx_file import as_onnx

        replace_file(target, as_onnx(make_program(policy, agent)), "policy")
        return target
    program = make_program(policy, agent)
    stream = io.BytesIO()
    text = np.frombuffer(json.dumps(as_json(program)).encode(), np.uint8)
    np.savez(stream, allow_pickle=False, program=text, **program.constants)
    replace_file(target, stream.getvalue(), "policy")
    return target


def to_plain(policy: TrainedPolicy, agent: str | None) -> PlainPolicy:
    """The network of an agent as a NumPy function."""
    program = make_program(policy, agent)
    return PlainPolicy(as_json(program), program.constants)


def as_json(program: Program) -> dict[str, Any]:
    """A program without its constants, as input of `plain`."""
    return {
        "format": FORMAT,
        "about": program.about,
        "inputs": [list(own) for own in program.inputs],
        "outputs": program.outputs,
        "steps": [[step.op, step.inputs, *step.output, step.params] for step in program.steps],
    }


def make_program(policy: TrainedPolicy, agent: str | None) -> Program:
    """The program of an agent's network."""
    kind, population = find_network(policy, agent)
    own = policy.networks[kind.name]
    network = own.of_population(policy.inference[kind.name], population)
    leaves = kind.observation_space.spaces
    odd = [key for key in leaves if key in (MASK, MEMORY)]
    if odd:
        raise UserError(
            f"{policy.name}: its observation has a leaf {odd[0]!r}, the name of another input; rename it"
        )
    inputs = [Array(key, (-1, *(part.shape or ())), own.layout.dtype_of(key)) for key, part in leaves.items()]
    masked, mark = bool(policy.masked_parts(kind)), mark_of(policy, kind, agent)
    if masked:
        inputs.append(Array(MASK, (-1, own.distribution.choices), "bool"))
    if own.memory:
        inputs.append(Array(MEMORY, (-1, own.memory), "float32"))

    starts = np.concatenate([_starts(part) for part in own.distribution.parts])

    def forward(*arrays: jax.Array) -> dict[str, jax.Array]:
        given = dict(zip((one.name for one in inputs), arrays, strict=True))
        seen_of = {key: given[key] for key in leaves}
        if mark is not None:  # a constant of the program, which is this agent's
            seen_of[MARK] = jnp.broadcast_to(mark, (arrays[0].shape[0], len(mark)))
        seen = networks.prepare(network, own.layout.shown(seen_of))
        with without_branches():
            outputs = own.forward(network, _in_place(seen), given.get(MASK), given.get(MEMORY))
        action = own.distribution.in_units(outputs["action"], jnp)
        return outputs | {"action": action + starts if starts.any() else action}

    about = {
        "world": policy.settings.world.id,
        "kind": kind.name,
        "population": policy.names[population],
        "network": policy.settings.network.kind,
        "action_space": str(kind.action_space),
        "action": "choices of a Discrete count from 0, those of a MultiDiscrete or whole-number Box from its start; numbers of a Box are in its units and within its bounds",
    }
    program = with_whole_choices(trace(policy.name, forward, inputs, about), own.distribution)
    return with_space_dtypes(program, leaves)


def _starts(part: Part) -> np.ndarray:
    """Offsets of a part's action columns: the start of a MultiDiscrete, which a whole-number Box becomes."""
    if not isinstance(part.space, spaces.MultiDiscrete):
        return np.zeros(part.columns, np.float32)
    return np.ravel(part.space.start).astype(np.float32)


def with_space_dtypes(program: Program, leaves: Mapping[str, spaces.Space[Any]]) -> Program:
    """The program with inputs in the dtypes of the observation space: 64-bit numbers are narrowed first, as in training."""
    inputs, casts, narrow = [], [], {}
    for own in program.inputs:
        dtype = np.dtype(leaves[own.name].dtype).name if own.name in leaves else own.dtype
        if dtype != own.dtype:
            narrow[own.name] = f"{own.name}/narrow"
            casts.append(Step("cast", (own.name,), own._replace(name=narrow[own.name]), {}))
        inputs.append(own._replace(dtype=dtype))
    steps = [step._replace(inputs=tuple(narrow.get(n, n) for n in step.inputs)) for step in program.steps]
    outputs = {name: narrow.get(own, own) for name, own in program.outputs.items()}
    shapes = ", ".join(f"{own.name} {own.dtype}{own.shape[1:]}" for own in inputs)
    about = {**program.about, "inputs": shapes}
    return program._replace(inputs=tuple(inputs), outputs=outputs, steps=(*casts, *steps), about=about)


def with_whole_choices(program: Program, distribution: Distribution) -> Program:
    """The program with choices as int64, (B,) of a Discrete space and (B, heads) of several; a Box is unchanged."""
    if any(not part.choices for part in distribution.parts):
        return program
    whole = Array("action/whole", (-1, distribution.columns), "int64")
    steps = [Step("cast", (program.outputs["action"],), whole, {})]
    if isinstance(distribution.space, spaces.Discrete):
        steps.append(Step("reshape", (whole.name,), Array("action/row", (-1,), "int64"), {}))
    return program._replace(
        outputs={**program.outputs, "action": steps[-1].output.name}, steps=(*program.steps, *steps)
    )


def _in_place(seen: Any) -> Any:
    """Packed entities with empty rows marked as hidden: attention over all rows without a plan, with equal results."""
    if isinstance(seen, entities.Packed) and seen.hidden is None:
        return seen._replace(hidden=jnp.arange(seen.rows.shape[1])[None] >= seen.attended[:, None])
    return seen
