"""Whether a run fits into memory: what it needs at least is counted before anything is made.

Only what is surely touched is counted, so a run that would have fitted is never refused; one that is refused could not have made its
first update.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import Kind, World
from interplay.train import networks
from interplay.train.algorithms import make_rule
from interplay.train.discrete_leaves import input_space
from interplay.train.populations import Populations
from interplay.train.run.free_memory import free_bytes
from interplay.train.settings import TrainSettings, VdnGroup
from interplay.train.settings.algorithms import BUILT_IN

_COPIES = 4  # of the parameters, in float32: themselves, Adam's two moments, a gradient
_PER_STEP = 14  # bytes per slot and step: reward, value and bootstrap, and whether it acts and ends
_CURE = "lower num_worlds, the rollout, the minibatch or the network"


class Need(NamedTuple):
    """A part of a run in memory.

    Attributes:
        keys: settings that it depends on, most important first.
        what: in words.
        size: bytes, at least.
    """

    keys: tuple[str, ...]
    what: str
    size: int


def check_room(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Refuses a run that memory cannot hold.

    Args:
        settings: of the run.
        world: a batch of one of its worlds.
        populations: of the run.

    Raises:
        UserError: naming the keys and the bytes.
    """
    free = free_bytes()
    if free is None:
        return
    needs = [_worlds(settings, world), _steps(settings, world, populations)]
    needs += [_minibatch(settings, world), _networks(settings, world, populations)]
    if settings.train.evaluate_against:
        needs.append(_worlds(settings, world, "train.evaluate_episodes"))
    worst = max(needs, key=lambda need: need.size)
    total = sum(need.size for need in needs)
    if total <= free:
        return
    named = ", ".join(f"{key} = {_value(settings, key)}" for key in worst.keys)
    also = "" if worst.size > free else f", the whole run {in_words(total)}"
    raise UserError(
        f"{named}: {worst.what} at least {in_words(worst.size)} of memory{also}; {in_words(free)} are free, "
        f"lower {' or '.join(worst.keys)}"
    )


@contextlib.contextmanager
def told_as_lack_of_room(doing: str = "training") -> Iterator[None]:
    """Turns the errors by which NumPy, Python and XLA say that memory is short into one line.

    Raises:
        UserError: for them.
    """
    try:
        yield
    except MemoryError as error:
        raise UserError(_short(doing, error)) from error
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise UserError(_short(doing, error)) from error


def in_words(size: int) -> str:
    """Bytes as people say them.

    Example:
        >>> in_words(999), in_words(24_300_000_000), in_words(10**25)
        ('999 bytes', '24.3 GB', '1e+25 bytes')
    """
    for unit, power in (("bytes", 0), ("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12), ("PB", 15), ("EB", 18)):
        if size < 10 ** (power + 3):
            return f"{size} bytes" if power == 0 else f"{size / 10**power:.3g} {unit}"
    return f"{float(size):.0e} bytes" if size < 10**300 else "more than 1e300 bytes"


def _short(doing: str, error: BaseException) -> str:
    detail = " ".join(str(error).split())
    return f"{doing}: not enough memory{f' ({detail[:200]})' if detail else ''}; {_CURE}"


def _worlds(settings: TrainSettings, world: World, key: str = "num_worlds") -> Need:
    state = getattr(world, "state", ())
    arrays = [array for array in state if isinstance(array, np.ndarray)] if isinstance(state, tuple) else []
    each = max(sum(array.nbytes for array in arrays), _seen(world))
    return Need((key,), "the worlds need", each * _value(settings, key))


def _steps(settings: TrainSettings, world: World, populations: Populations) -> Need:
    """What is kept of every step of an update; rows that wait for their lives to end are not counted."""
    rule = make_rule(settings)
    group = settings.algorithm if hasattr(settings, settings.algorithm) else "policy_gradient"
    keys: tuple[str, ...] = (f"{group}.rollout",)
    if rule.horizon:
        keys = (*keys, f"{group}.horizon")
    steps, per_step = rule.horizon + rule.rollout, _PER_STEP * len(world.agents)
    if (
        settings.factored is None
        and not rule.horizon
        and len(populations.names) == 1
        and not world.persistent
    ):
        # Of those who wait nothing is kept in most steps, and somebody acts in every step of such a world.
        per_step += min((_row(kind) for kind in world.kinds), default=0)
    return Need((*keys, "num_worlds"), "the steps of an update need", steps * settings.num_worlds * per_step)


def _minibatch(settings: TrainSettings, world: World) -> Need:
    """What a gradient step reads at once; where all samples are learnt from together that is a block."""
    if settings.factored is not None:
        return _replay(settings, settings.factored, world)
    minibatch = make_rule(settings).minibatch
    if minibatch is None or settings.algorithm not in BUILT_IN:
        return Need(("num_worlds",), "a batch needs", 0)
    largest = max((_row(kind) for kind in world.kinds), default=0)
    share = max(minibatch // settings.train.shards, 1)
    size = share * settings.train.shards * 4 + share * largest
    return Need((f"{settings.algorithm}.minibatch",), "a minibatch needs", size)


def _replay(settings: TrainSettings, group: VdnGroup, world: World) -> Need:
    """What is kept to learn from when the run has come to its end, or the replay is full."""
    slots, teams = len(world.agents), len(world.teams or (0,))
    kept = min(group.replay, settings.steps // slots)
    members = slots // teams * min((_row(kind) for kind in world.kinds), default=0)
    return Need((f"{settings.algorithm}.replay",), "the replay needs", kept * members)


def _networks(settings: TrainSettings, world: World, populations: Populations) -> Need:
    size = (
        sum(_parameters(settings, kind) for kind in world.kinds) * 4 * _COPIES * max(len(populations.own), 1)
    )
    keys = ("network.hidden",) if settings.network.kind == "mlp" else ("network.width", "network.tail")
    return Need(keys, "the networks need", size * settings.train.workers)


def _parameters(settings: TrainSettings, kind: Kind) -> int:
    """How many numbers a network has, found without making it; 0 where a user's own does not tell."""
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
        return 0  # it is made in earnest soon, and says then what is wrong
    leaves = jax.tree.leaves(eqx.filter(shapes, lambda leaf: hasattr(leaf, "shape")))
    return sum(math.prod(leaf.shape) for leaf in leaves)


def _row(kind: Kind) -> int:
    """Bytes of one agent's step in a rollout, at least: its observation as it is kept, action, log-probability and value."""
    seen = sum(
        math.prod(part.shape or ()) * min(np.dtype(part.dtype or np.float32).itemsize, 4)
        for part in kind.observation_space.spaces.values()
    )
    return seen + 4 * 3


def _seen(world: World) -> int:
    """Bytes of the observations of one world."""
    return sum(
        len(kind.slots) * sum(_bytes(part) for part in kind.observation_space.spaces.values())
        for kind in world.kinds
    )


def _bytes(space: spaces.Space[Any]) -> int:
    return math.prod(space.shape or ()) * np.dtype(space.dtype or np.float32).itemsize


def _value(settings: TrainSettings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return list(value) if isinstance(value, tuple) else value
