"""A batch of environments as a `World`, for simulations and other libraries' environments."""

from __future__ import annotations

import copy
import inspect
import random
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.loading import load
from interplay.core.spaces import action_choices
from interplay.core.world import TimeStep, World
from interplay.sim.batch.layout import KindLayout, Leaf
from interplay.sim.batch.managed import ManagedSimulation, as_environment
from interplay.sim.batch.worker_pool import SerialPool, WorkerPool

PIXELS = "rgb_array"


class EnvironmentBatch(World):
    """W environments, stepped together in this process or in several; subclasses define `save`.

    Metrics are an episode's length and return, and the numbers of infos (`interplay.sim.batch.info_numbers`).

    Time steps are read-only views.

    Args:
        factory: ``"module:function"``, or, with ``processes=0``, any function that makes an environment.
        num_worlds: W.
        seed, first_world: name the worlds' random streams.
        processes: 0 steps all environments in this process; N > 0 in N worker processes.
        kwargs: passed to the factory.
        accept: turns what the factory made into an environment, or refuses it.

    Raises:
        UserError: if the factory cannot be found or what it makes is refused, or a space has no array form.
    """

    copied = False  # each world steps a copy of one environment

    def __init__(
        self,
        factory: str | Callable[..., Any],
        num_worlds: int,
        seed: int,
        processes: int,
        first_world: int,
        kwargs: Mapping[str, Any] | None,
        accept: Callable[[Any], Any] = as_environment,
    ) -> None:
        _check_numbers(num_worlds, processes)
        named = isinstance(factory, str)
        if processes and not named:
            raise UserError(
                f'processes = {processes}: worker processes import the factory; name it as "module:function"'
            )
        options = dict(kwargs or {})
        self._pool: SerialPool | WorkerPool
        if processes:
            self._pool = WorkerPool(str(factory), options, num_worlds, processes, accept)
        else:
            make = load(factory, users=True) if isinstance(factory, str) else factory
            self._pool = SerialPool(partial(make, **options), num_worlds, accept)
            # Pictures are for a single environment; larger batches are for training.
            if num_worlds == 1 and asked_for_pixels(make, self._pool.environment(0), options):
                self._pool.close()
                self._pool = SerialPool(partial(make, **options, render_mode=PIXELS), num_worlds, accept)
        layout = self._pool.layout
        self.id = str(factory) if named else layout.name
        agents = [str(agent) for agent in layout.agents]
        super().__init__(num_worlds, agents, [kind.kind for kind in layout.kinds], seed, first_world)
        self._layouts = layout.kinds
        self.later_metrics = layout.metrics is None
        self._buffers = self._pool.buffers
        self._stream = seeding.new_stream(num_worlds)
        self._lengths = np.zeros(num_worlds, np.int64)
        self._returns = np.zeros((num_worlds, len(agents)))
        self._step_of_buffers = self._time_step()
        self._heads = [(kind, leaf, _starts(kind, leaf)) for kind in layout.kinds for leaf in kind.masks]

    @property
    def shown(self) -> TimeStep:
        """The time step that every call fills anew; zeros before the first reset."""
        return self._step_of_buffers

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        numbers = self._pool.numbers
        names = sorted(numbers) if self.later_metrics else numbers
        return self._counted | {name: numbers[name] for name in names}

    @property
    def lasting_metrics(self) -> Mapping[str, np.ndarray]:
        return self._counted if self.later_metrics else self.metrics

    @property
    def _counted(self) -> dict[str, np.ndarray]:
        return {"episode_length": self._lengths, "episode_return": self._returns}

    def close(self) -> None:
        self._pool.close()

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        seeding.begin_episode(self._stream, which, seeds)
        self._buffers["which"][:] = which
        self._buffers["seed"][:] = environment_seeds(self._stream)
        self._lengths[which] = 0
        self._returns[which] = 0.0
        self._pool.reset()
        self._refuse_stuck()
        if self.copied and self.num_worlds > 1:
            self.copied = False
            self._warn_of_unseeded()
        return self._step_of_buffers

    def _warn_of_unseeded(self) -> None:
        """Warns where two copies of an environment draw the same after a reset."""
        one, two = (_next_draws(self._pool.environment(w)) for w in (0, 1))
        equal = [name for name in one if one[name] == two.get(name)]
        if equal and self._buffers["seed"][0] != self._buffers["seed"][1]:
            warnings.warn(
                f"{self.id}: reset() does not use its seed: {equal[0]} draws the same in every copy of the environment; "
                "seed it there, or hand over a function that makes one",
                stacklevel=2,
            )

    def _step(self, action: Any) -> TimeStep:
        by_kind = self.by_kind(action)
        for kind in self._layouts:
            for leaf in kind.action:
                value = by_kind[kind.kind.name]
                self._buffers[kind.key("action", leaf)][:] = value[leaf.name] if leaf.path else value
        self._advance()
        return self._step_of_buffers

    def _advance(self) -> None:
        """Steps with the actions in the buffers."""
        self._lengths += ~self._buffers["over"]
        self._buffers["which"][:] = True
        self._pool.step()
        self._refuse_stuck()
        self._returns += self._buffers["reward"]

    def _refuse_stuck(self) -> None:
        """Refuses masks without a legal choice; rows of idle agents are all True."""
        for kind, leaf, starts in self._heads:
            legal = self._buffers[kind.key("mask", leaf)]
            free = np.logical_or.reduceat(legal, starts, axis=-1).all(axis=-1)
            if not free.all():
                w, column = np.argwhere(~free)[0]
                raise UserError(
                    f"world {w}, step {self._lengths[w]}: the action mask of {self.agents[kind.kind.slots[column]]} allows no "
                    f'{leaf.name}; allow a choice, or set info["acting"] = False for an idle agent'
                )

    def _time_step(self) -> TimeStep:
        seen = {kind.kind.name: self._observation(kind) for kind in self._layouts}
        legal = {
            kind.kind.name: {leaf.name: _shown(self._buffers[kind.key("mask", leaf)]) for leaf in kind.masks}
            for kind in self._layouts
        }
        one = self._layouts[0].kind.name if len(self._layouts) == 1 else ""
        return TimeStep(
            observation=seen[one] if one else seen,
            action_mask=(legal[one] if one else legal) if any(legal.values()) else None,
            **{
                name: _shown(self._buffers[name])
                for name in ("reward", "acting", "terminated", "truncated", "over")
            },
        )

    def _observation(self, kind: KindLayout) -> dict[str, np.ndarray]:
        return {leaf.name: _shown(self._buffers[kind.key("observation", leaf)]) for leaf in kind.observation}


def environment_seeds(stream: np.ndarray) -> np.ndarray:
    """The environments' reset seeds (W,) int64, 31 bits, one per world and episode.

    Args:
        stream: (W, 3) uint64, see `interplay.core.seeding`.
    """
    mixed = mix64(mix64(stream[:, seeding.SEED]) + stream[:, seeding.EPISODE])
    return (mixed >> np.uint64(33)).astype(np.int64)


def _next_draws(env: Any) -> dict[str, float]:
    """The next number of each random generator among an environment's attributes."""
    outer = env.manager.sim.unwrapped if isinstance(env, ManagedSimulation) else env
    inner = getattr(outer, "env", outer)
    own = vars(outer) | getattr(getattr(inner, "unwrapped", inner), "__dict__", {})
    kinds = (np.random.Generator, np.random.RandomState, random.Random)
    return {name: copy.deepcopy(rng).random() for name, rng in own.items() if isinstance(rng, kinds)}


def _starts(kind: KindLayout, leaf: Leaf) -> np.ndarray:
    """The first column of each head in a leaf's mask."""
    space = kind.kind.action_space
    counts = action_choices(space.spaces[leaf.name] if isinstance(space, spaces.Dict) else space)
    return np.cumsum([0, *counts[:-1]])


def _check_numbers(num_worlds: int, processes: int) -> None:
    if processes < 0:
        raise UserError(f"processes = {processes}: pass 0 for none, or how many")
    if num_worlds < 1:
        raise UserError(f"num_worlds = {num_worlds}: a batch has at least one world; pass num_worlds >= 1")


def _shown(array: np.ndarray) -> np.ndarray:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def own_picture(env: Any) -> np.ndarray | None:
    """(height, width, 3) uint8 of an environment made with ``render_mode="rgb_array"``; else None.

    Raises:
        UserError: if `render` returns no picture.
    """
    if getattr(env, "render_mode", None) != PIXELS or not callable(getattr(env, "render", None)):
        return None
    given = env.render()
    picture = np.asarray(given)
    if picture.ndim != 3 or picture.shape[2] not in (3, 4) or picture.dtype != np.uint8 or not picture.size:
        raise UserError(
            f"render() of {type(env).__name__} gave {picture.dtype}{picture.shape}; {PIXELS} is (height, width, 3) uint8, mend it"
        )
    return np.ascontiguousarray(picture[..., :3])


def draws_unasked(env: Any) -> bool:
    """Whether an environment can draw itself but was made without a render mode."""
    modes = (getattr(env, "metadata", None) or {}).get("render_modes") or ()
    return PIXELS in modes and getattr(env, "render_mode", None) is None


def asked_for_pixels(make: Callable[..., Any], made: Any, options: Mapping[str, Any]) -> bool:
    """Whether to make an environment again with ``render_mode="rgb_array"``, which its options leave open.

    Args:
        make: the function that made it.
        made: the environment.
        options: that `make` was called with.
    """
    if "render_mode" in options or not draws_unasked(made):
        return False
    try:
        parameters = inspect.signature(make).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        return "render_mode" in parameters or (takes_all and _hands_on(make))
    except (TypeError, ValueError):  # no signature to read
        return False


def _hands_on(make: Any) -> bool:
    """Whether a function is PettingZoo's or Gymnasium's, which pass all keywords to the environment."""
    while isinstance(make, partial):
        make = make.func
    packages = ("gymnasium", "pettingzoo")
    return str(getattr(make, "__module__", "")).partition(".")[0] in packages
