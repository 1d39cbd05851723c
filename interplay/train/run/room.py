"""Refuses worlds and networks that memory cannot hold, before minutes are spent on making them.

Only memory that is surely used is counted, so a run that fits is never refused. Other allocations fail at once.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np

from interplay.core.errors import UserError, one_line
from interplay.core.world import Kind, World
from interplay.train import networks
from interplay.train.observations import input_space
from interplay.train.populations import Populations
from interplay.train.settings import TrainSettings

_COPIES = 4  # of the parameters, in float32: themselves, Adam's two moments, a gradient
_NO_MEMORY = ("RESOURCE_EXHAUSTED", "array is too big", "Maximum allowed dimension")  # of XLA, NumPy
_CURE = "lower num_worlds, the rollout, the minibatch or the network"


class Need(NamedTuple):
    """Memory of a part of a run.

    Attributes:
        setting: it depends on, with its value.
        size: bytes, at least.
    """

    setting: str
    size: int


def check_room(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Refuses a run that memory cannot hold; `world` is a batch of one."""
    free = free_bytes()
    needs = [_worlds(world, "num_worlds", settings.num_worlds), _networks(settings, world, populations)]
    if settings.train.evaluate_against:
        needs.append(_worlds(world, "train.evaluate_episodes", settings.train.evaluate_episodes))
    for need in needs:
        if free is not None and need.size > free:
            raise UserError(
                f"{need.setting} needs at least {in_words(need.size)} of memory, {in_words(free)} are free; lower it"
            )


@contextlib.contextmanager
def memory_errors_as_user_errors() -> Iterator[None]:
    """Turns out-of-memory errors of NumPy, Python and XLA into one line."""
    try:
        yield
    except (MemoryError, ValueError, jax.errors.JaxRuntimeError) as error:
        detail = one_line(error)
        if not isinstance(error, MemoryError) and not any(part in detail for part in _NO_MEMORY):
            raise
        raise UserError(
            f"training: not enough memory{f' ({detail[:200]})' if detail else ''}; {_CURE}"
        ) from error


def in_words(size: int) -> str:
    """Bytes as text.

    Example:
        >>> in_words(999), in_words(24_300_000_000), in_words(10**25)
        ('999 bytes', '24.3 GB', '1e+25 bytes')
    """
    for unit, power in (("bytes", 0), ("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12), ("PB", 15), ("EB", 18)):
        if size < 10 ** (power + 3):
            return f"{size} bytes" if power == 0 else f"{size / 10**power:.3g} {unit}"
    return f"{float(size):.0e} bytes" if size < 10**300 else "more than 1e300 bytes"


def _worlds(world: World, key: str, count: int) -> Need:
    state = getattr(world, "state", ())
    arrays = [array for array in state if isinstance(array, np.ndarray)] if isinstance(state, tuple) else []
    observed = sum(
        len(kind.slots) * math.prod(part.shape or ()) * np.dtype(part.dtype or np.float32).itemsize
        for kind in world.kinds
        for part in kind.observation_space.spaces.values()
    )
    return Need(f"{key} = {count}", max(sum(array.nbytes for array in arrays), observed) * count)


def _networks(settings: TrainSettings, world: World, populations: Populations) -> Need:
    network = settings.network
    sets = max(len(populations.own), 1) * settings.train.workers
    size = sum(_parameters(settings, kind) for kind in world.kinds) * 4 * _COPIES * sets
    if network.kind == "mlp":
        return Need(f"network.hidden = {list(network.hidden)}", size)
    return Need(f"network.width = {network.width}, network.tail = {network.tail}", size)


def _parameters(settings: TrainSettings, kind: Kind) -> int:
    """The number of a network's parameters, without making it; 0 for a user-defined one that cannot be traced."""
    try:
        shapes = eqx.filter_eval_shape(
            networks.make_network,
            settings.network,
            input_space(kind.observation_space, settings.network),
            kind.action_space,
            key=jax.random.key(0),
        )
    except UserError:
        raise
    except Exception:
        return 0  # making it will raise the same error
    leaves = jax.tree.leaves(eqx.filter(shapes, lambda leaf: hasattr(leaf, "shape")))
    return sum(math.prod(leaf.shape) for leaf in leaves)


_GROUPS = Path("/sys/fs/cgroup")


def free_bytes() -> int | None:
    """The smallest of the three limits in bytes, swap included; None if all are unknown."""
    known = [bytes_ for bytes_ in (_machine(), _container(), _process()) if bytes_ is not None]
    return min(known, default=None)


def _machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        table = {
            name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)
        }
        return table["MemAvailable"] + table.get("SwapFree", 0)
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _container() -> int | None:
    """Of the control group, version 2 or 1; its inactive file cache counts as free."""
    try:
        own = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
    except OSError:
        return None
    folders = [_GROUPS, *(_GROUPS / own / up for up in ("", ".."))] if own else [_GROUPS]
    free = [
        _left(folder, "memory.max", "memory.current", "inactive_file") for folder in dict.fromkeys(folders)
    ]
    old = _GROUPS / "memory"
    free.append(_left(old, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
    return min((bytes_ for bytes_ in free if bytes_ is not None), default=None)


def _left(folder: Path, limit: str, used: str, given_back: str) -> int | None:
    try:
        most, now = (folder / limit).read_text().strip(), int((folder / used).read_text())
        if not most.isdigit() or int(most) >= 1 << 60:  # no limit, in version 2 and 1
            return None
        files = [line.split() for line in (folder / "memory.stat").read_text().splitlines()]
    except (OSError, ValueError):
        return None
    cache = next((int(words[1]) for words in files if len(words) == 2 and words[0] == given_back), 0)
    return max(int(most) - now + cache, 0)


def _process() -> int | None:
    """Of the address space, where it is limited (`ulimit -v`)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(most - pages * os.sysconf("SC_PAGE_SIZE"), 0)
    except (ImportError, OSError, ValueError, IndexError):
        return None
