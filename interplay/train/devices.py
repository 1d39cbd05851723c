"""The devices that compute the networks: the processor, or the GPUs that the settings name.

The processor stays jax's default device. Only a learner's parameters are *committed* to a GPU, and compiled calls that take them
follow. Calls without parameters, and other processes, use no GPU.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
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
assert xla  # imported for its effect: it sets XLA's flags
ON_CPU = {"precision": "float32", "devices": 1}  # the only values without a GPU
PRODUCTS = {"float32": "highest", "bfloat16": "BF16_BF16_F32"}  # jax's names
_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")
# The first flag makes runs repeat bit for bit; without Triton's products programs compile in seconds (docs/results/devices.md).
_FLAGS = ["--xla_gpu_exclude_nondeterministic_ops=true", "--xla_gpu_enable_triton_gemm=false"]


def with_device(settings: TrainSettings) -> TrainSettings:
    """Replaces ``auto`` by a device, so that resuming keeps it; jax is not initialised."""
    if settings.train.device != "auto":
        return settings
    found = "gpu" if settings.train.workers == 1 and auto_is_card() else CPU
    own: dict[str, Any] = {"device": found} | (ON_CPU if found == CPU else {})
    for key, value in own.items():
        if key != "device" and value != (given := getattr(settings.train, key)):
            tell(f"train.device = auto finds no card: train.{key} is {value}, not {given}")
    return changed(settings, {"train": own}, "train")


def auto_is_card() -> bool:
    """Whether ``auto`` is a GPU here, for a run of one worker."""
    return _has_cuda() and has_card()


def open_device(train: TrainGroup) -> Any:
    """The jax device for the parameters, or the sharding that replicates them on several; None for the processor.

    Call it before anything is computed in this process: jax finds a GPU only then.
    """
    name, count = train.device, train.devices
    if name == CPU:
        if jax.config.jax_platforms != CPU:  # type: ignore[attr-defined]  # JAX_PLATFORMS names others
            jax.config.update("jax_default_device", jax.local_devices(backend=CPU)[0])
        return None
    kind, _, number = name.partition(":")
    devices = jax.local_devices(backend=CPU) if kind == "host" else _open_cards(name)
    chosen = devices[int(number or 0) :][:count]
    if len(chosen) < count:
        asked = name if count == 1 else f"{name} with train.devices = {count}"
        there = " and ".join(f"{kind}:{i}" for i in range(len(devices)))
        raise UserError(
            f"train.device = {asked}: there {'are' if len(devices) > 1 else 'is'} {there} on this machine"
        )
    return chosen[0] if count == 1 else NamedSharding(Mesh(np.array(chosen), (AXIS,)), PartitionSpec())


def put(tree: Any, device: Any) -> Any:
    """Puts arrays on a device of `open_device`; None leaves them."""
    return tree if device is None else jax.device_put(tree, device)


def put_rows(rows: Any, beside: Any, device: Any, divided: bool = True) -> Any:
    """Puts arrays (S, N, ...) and others on a device of `open_device`.

    With `divided`, several devices get a part of the N rows each, if N divides evenly.
    """
    given = (rows, beside)
    if not isinstance(device, NamedSharding):
        return put(given, device)
    divided = divided and jax.tree.leaves(rows)[0].shape[1] % device.mesh.size == 0
    place = NamedSharding(device.mesh, PartitionSpec(None, AXIS)) if divided else device
    return jax.device_put(given, (place, device))


def on_each(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """Maps a function over several devices, with replicated arguments and results; on one device unchanged."""
    if not isinstance(device, NamedSharding):
        return function
    whole = PartitionSpec()
    return jax.shard_map(function, mesh=device.mesh, in_specs=whole, out_specs=whole, check_vma=False)


def describe(train: TrainGroup) -> str:
    """For example ``gpu (NVIDIA H100)`` or ``gpu (2 x NVIDIA H100, bfloat16)``."""
    device = open_device(train)
    if device is None:
        return train.device
    several = f"{train.devices} x " if train.devices > 1 else ""
    first = device.mesh.devices[0] if isinstance(device, NamedSharding) else device
    products = "" if train.precision == "float32" else f", {train.precision}"
    return f"{train.device} ({several}{first.device_kind}{products})"


@contextlib.contextmanager
def gpu_errors_as_user_errors(name: str, run: object, algorithm: str = "ppo") -> Iterator[None]:
    """Turns a GPU's error during a run into a `UserError` of one line.

    Args:
        name: ``train.device``.
        run: its folder.
        algorithm: of the run; the message for a lack of memory names its minibatch.
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
    """The GPUs of this machine, at least one."""
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
    """Whether an NVIDIA GPU is visible to this process, on Linux or under WSL."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def _cards() -> Sequence[Any]:
    """The GPUs that jax finds; none if jax was initialised without them.

    The processor remains the default device, matrix products keep full precision, and GPU memory is not preallocated.
    """
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    given = os.environ.get("XLA_FLAGS", "")
    ours = known([flag for flag in _FLAGS if flag.split("=")[0] not in given])
    os.environ["XLA_FLAGS"] = " ".join([*ours, given]).strip()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.pop("NPROC", None)  # it would bound the threads that compile for a GPU
    jax.config.update("jax_platforms", "cuda,cpu")
    try:
        devices = jax.devices("cuda")
        jax.config.update("jax_default_device", jax.devices(CPU)[0])
        jax.config.update("jax_default_matmul_precision", "highest")
    except RuntimeError:  # jax's own message names only a backend; the caller's names the setting
        jax.config.update("jax_platforms", platforms)
        return []
    return devices


MINUTE = 60.0  # seconds of a run on the processor before the hint about a GPU
UPDATES = 5  # updates on a GPU before the hint about small minibatches
FEW_ROWS = 4096


class DeviceHints:
    """The hint that a run shows about its device.

    Example:
        >>> asked = TrainSettings(world={"id": "pong/2p"}, train={"device": "gpu"})
        >>> hints = DeviceHints(asked)
        >>> [hints.add(seconds=1.0, updates=updates) for updates in (4, 5, 6)]
        ['', 'minibatches of 512 rows wait for their launches on a GPU; 16,384 and more keep it busy, see --preset gpu', '']
    """

    def __init__(self, settings: TrainSettings) -> None:
        self._on_cpu = settings.train.device == CPU
        rule = None if settings.factored is not None else getattr(settings, settings.algorithm, None)
        self._rows = getattr(rule, "minibatch", None)  # of replay they are team-steps
        self._done = False

    def add(self, seconds: float, updates: int) -> str:
        """Returns the hint that is due, or "".

        Args:
            seconds, updates: since this process began to train.
        """
        if self._done or (seconds < MINUTE if self._on_cpu else updates < UPDATES):
            return ""
        self._done = True
        if self._on_cpu:
            return _unused_card() if has_card() else ""
        if self._rows is None or self._rows >= FEW_ROWS:
            return ""
        return (
            f"minibatches of {self._rows:,} rows wait for their launches on a GPU; 16,384 and more keep it busy, "
            "see --preset gpu"
        )


def _unused_card() -> str:
    """The hint about an unused GPU, with the name from nvidia-smi."""
    asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        answer = ""
    name = answer.strip().partition("\n")[0][:80]
    return f"this run does not use the GPU{f' ({name})' if name else ''}; docs/gpu.md has when --device gpu is worth it"
