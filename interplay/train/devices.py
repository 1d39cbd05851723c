"""Where the networks are computed: on the processor, or on graphics cards that the settings name.

The processor stays jax's default device. Only a learner's parameters are *committed* to a card, and compiled calls that take them follow:
what has no parameters, and every other process, uses no card.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.parallel import xla
from interplay.train.parallel.flags import known
from interplay.train.run.progress import tell
from interplay.train.settings import TrainGroup, TrainSettings

CPU = "cpu"
AXIS = "devices"  # of the mesh
assert xla  # imported for its effect: its flags come first
ON_CPU = {"precision": "float32", "devices": 1}  # all that there is without a card
PRODUCTS = {"float32": "highest", "tf32": "TF32_TF32_F32", "bfloat16": "BF16_BF16_F32"}  # as jax calls them
_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")
# Bits are the same in every run; and without Triton's products programs compile in seconds (docs/results/devices.md).
_FLAGS = ["--xla_gpu_exclude_nondeterministic_ops=true", "--xla_gpu_enable_triton_gemm=false"]


def with_device(settings: TrainSettings) -> TrainSettings:
    """The settings with a device in the place of ``auto``, so that resuming keeps it; found without jax, which begins once."""
    if settings.train.device != "auto":
        return settings
    found = "gpu" if settings.train.workers == 1 and _has_cuda() and has_card() else CPU
    own: dict[str, Any] = {"device": found} | (ON_CPU if found == CPU else {})
    for key, value in own.items():
        if key != "device" and value != (given := getattr(settings.train, key)):
            tell(f"train.device = auto finds no card: train.{key} is {value}, not {given}")
    return changed(settings, {"train": own}, "train")


def open_device(train: TrainGroup) -> Any:
    """The device of jax that the parameters are committed to, or the sharding that gives them whole to each of several.

    Call it before anything is computed in this process: a card is found then, or not at all.

    Returns:
        None for the processor, where nothing is committed.

    Raises:
        UserError: if it is not there, with the cure.
    """
    name, count = train.device, train.devices
    if name == CPU:
        if jax.config.jax_platforms != CPU:  # type: ignore[attr-defined]  # JAX_PLATFORMS names others
            jax.config.update("jax_default_device", jax.devices(CPU)[0])
        return None
    kind, _, number = name.partition(":")
    devices = jax.devices(CPU) if kind == "host" else _open_cards(name)
    chosen = devices[int(number or 0) :][:count]
    if len(chosen) < count:
        asked = name if count == 1 else f"{name} with train.devices = {count}"
        there = " and ".join(f"{kind}:{i}" for i in range(len(devices)))
        raise UserError(
            f"train.device = {asked}: there {'are' if len(devices) > 1 else 'is'} {there} on this machine"
        )
    return chosen[0] if count == 1 else NamedSharding(Mesh(np.array(chosen), (AXIS,)), PartitionSpec())


def put(tree: Any, device: Any) -> Any:
    """Arrays on a device of `open_device`; None: as they are."""
    return tree if device is None else jax.device_put(tree, device)


def put_rows(rows: Any, beside: Any, device: Any, divided: bool = True) -> Any:
    """Arrays (S, N, ...) and others on a device of `open_device`.

    Where rows are `divided` over several devices, each has its part of the N rows, if N can be divided evenly.
    """
    given = (rows, beside)
    if not isinstance(device, NamedSharding):
        return put(given, device)
    divided = divided and jax.tree.leaves(rows)[0].shape[1] % device.mesh.size == 0
    place = NamedSharding(device.mesh, PartitionSpec(None, AXIS)) if divided else device
    return jax.device_put(given, (place, device))


def on_each(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """A function that each of several devices computes, all of them with all arguments and the same results; on one device itself."""
    if not isinstance(device, NamedSharding):
        return function
    whole = PartitionSpec()
    mapped: Callable[..., Any] = jax.shard_map(
        function, mesh=device.mesh, in_specs=whole, out_specs=whole, check_vma=False
    )
    return mapped


def describe(train: TrainGroup) -> str:
    """The device in words, e.g. ``gpu (NVIDIA H100)`` or ``gpu (2 x NVIDIA H100, tf32)``."""
    device = open_device(train)
    if device is None:
        return train.device
    several = f"{train.devices} x " if train.devices > 1 else ""
    first = device.mesh.devices[0] if isinstance(device, NamedSharding) else device
    products = "" if train.precision == "float32" else f", {train.precision}"
    return f"{train.device} ({several}{first.device_kind}{products})"


@contextlib.contextmanager
def told_as_lost_card(name: str, run: object, algorithm: str = "ppo") -> Iterator[None]:
    """Turns an error of a card in mid-run into one line.

    Args:
        name: ``train.device``.
        run: its folder.
        algorithm: of the run; its minibatch is named where memory ends.

    Raises:
        UserError: for it.
    """
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if name == CPU:
            raise
        first = str(error).strip().partition("\n")[0][:200]
        if "RESOURCE_EXHAUSTED" in first:
            raise UserError(
                f"training: not enough memory on {name} ({first}); lower {algorithm}.minibatch or network.width, or see nvidia-smi "
                f"for other processes; go on with `interplay resume {run}`, without the card with --device cpu"
            ) from error
        raise UserError(
            f"training on {name}: {first}; go on with `interplay resume {run}`, without the card with --device cpu"
        ) from error


def _open_cards(name: str) -> Sequence[Any]:
    """The cards of this machine, one at least."""
    if not _has_cuda():
        raise UserError(
            f'train.device = {name}: this jax ({jax.__version__}) has no CUDA; pip install "interplay[cuda12]", or leave it out'
        )
    devices = _cards()
    if not devices:
        raise UserError(
            f"train.device = {name}: jax sees no GPU, or had begun without it in this process; look at nvidia-smi, or leave it out"
        )
    return devices


def _has_cuda() -> bool:
    return any(find_spec(plugin) is not None for plugin in _PLUGINS)


def has_card() -> bool:
    """Whether the system has a card of NVIDIA's that is not hidden from this process, on Linux or under WSL."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def _cards() -> Sequence[Any]:
    """The cards that jax finds; where it has begun without them none.

    The processor remains the default, products have the precision of their numbers, and a process takes of a card what it needs.
    """
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    given = os.environ.get("XLA_FLAGS", "")
    ours = known([flag for flag in _FLAGS if flag.split("=")[0] not in given])
    os.environ["XLA_FLAGS"] = " ".join([*ours, given]).strip()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.pop("NPROC", None)  # it bounds the threads that compile for a card, too
    jax.config.update("jax_platforms", "cuda,cpu")
    try:
        devices = jax.devices("cuda")
        jax.config.update("jax_default_device", jax.devices(CPU)[0])
        jax.config.update("jax_default_matmul_precision", "highest")
    except RuntimeError:  # whatever it is that jax has against the card, its own words name a backend
        jax.config.update("jax_platforms", platforms)
        return []
    return devices
