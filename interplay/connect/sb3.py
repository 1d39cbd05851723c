"""A batch of worlds as a Stable-Baselines3 `VecEnv`, with one policy for all agents.

Every slot of every world is one environment of the `VecEnv` (parameter sharing, as in the survival paper): environment
``w * A + a`` is slot a of world w. The worlds are stepped together, and arrays are copied once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.connect.flat import FlatActions
from interplay.core.copying import CopiedWhole
from interplay.core.errors import MissingExtraError, UserError
from interplay.core.spaces import action_choices
from interplay.core.world import TimeStep, World

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError(
        'this adapter needs Stable-Baselines3; install it with pip install "interplay[sb3]"'
    ) from error


class SB3VecEnv(CopiedWhole, VecEnv):
    """Worlds of one kind of agent, as SB3's algorithms take them.

    - A world that is over restarts at once: `step` returns the first observations of its next episode. Infos hold
      ``terminal_observation``, ``TimeLimit.truncated`` and ``episode`` (return r, length l, seconds t since the start), so SB3
      logs episodes without a Monitor.
    - A slot with a dead agent that goes on earning stays in place, with the world's rows for the dead, until the world is over.
    - A slot is done in the step that ends its life; its rows until its next life, or the world's end, are no episode.
    - Lengths count from the slot's first action: 0 for an agent that died before (a villager of werewolf in the first night).
    - Choices are counted from 0 on one axis in observations and actions, as SB3 needs for one-hot rows: spaces with a start or
      two axes, MultiBinary and whole-number Boxes are offered as Discrete or MultiDiscrete.
    - Where slots live more than once, each life is an episode, with a blank ``terminal_observation`` if the slot lives again. SB3
      would learn from empty slots, so an empty slot is refused there.

    Args:
        world: any batch with one kind of agent.

    Raises:
        UserError: if agents differ in kind, or actions are a Dict, or whole numbers without bounds; from `reset` and `step`, if the
            world has respawns and a slot stands empty.

    Example:
        >>> from stable_baselines3 import PPO
        >>> env = SB3VecEnv(world)  # doctest: +SKIP
        >>> PPO("MultiInputPolicy", env).learn(100_000)  # doctest: +SKIP
    """

    def __init__(self, world: World) -> None:
        if len(world.kinds) > 1:
            names = ", ".join(kind.name for kind in world.kinds)
            raise UserError(
                f"{world.id}: SB3 trains one policy, this world has the kinds {names}; use our trainer"
            )
        if isinstance(world.action_space, spaces.Dict):
            raise UserError(f"{world.id}: SB3 has no Dict action space; use our trainer")
        if _is_endless(world.action_space):
            raise UserError(f"{world.id}: SB3 draws no whole numbers of {world.action_space}; give it bounds")
        self.world = world
        self._shape = (world.num_worlds, len(world.agents))
        self._action: Any = None
        self._seed: int | None = None
        self._returns = np.zeros(self._shape)
        self._lengths = np.zeros(self._shape, np.int64)
        self._lived = np.zeros(self._shape, bool)
        self._started = time.monotonic()
        seen = spaces.Dict({name: _shown(part) for name, part in world.observation_space.spaces.items()})
        self._seen = {name: part.shape or () for name, part in seen.spaces.items()}
        starts = {name: getattr(part, "start", 0) for name, part in world.observation_space.spaces.items()}
        self._starts = {name: np.ravel(start) for name, start in starts.items() if np.any(start)}
        self._flat = None if _is_known(world.action_space) else FlatActions(world.id, world.action_space)
        offered = self._flat.space if self._flat else world.action_space
        super().__init__(self._shape[0] * self._shape[1], seen, offered)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seed of the next `reset`; None continues the worlds' own streams."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> dict[str, np.ndarray]:
        """Restarts all worlds: field name -> (num_envs, ...)."""
        timestep = self.world.reset(seeds=self._seed)
        self._seed = None
        self._begin(np.ones(self._shape, bool))
        self._lived[:] = timestep.acting
        self._refuse_empty_slots(timestep)
        return self._observe(timestep)

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions (num_envs, ...) for `step_wait`."""
        given, one = np.asarray(actions), self.action_space.shape or ()
        if given.size != math.prod((self.num_envs, *one)):
            raise UserError(
                f"{self.world.id}: actions have shape {given.shape}, expected {(self.num_envs, *one)} (environments, ...)"
            )
        given = given.reshape(self.num_envs, *one)
        if self._flat is not None:
            given = self._flat.batch(list(given))
        self._action = given.reshape(*self._shape, *(self.world.action_space.shape or ()))

    def step_wait(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Steps all worlds and restarts those that are over."""
        timestep = self.world.step(self._action)
        self._returns += timestep.reward
        self._lengths += self._lived
        # A slot that stood empty when its world ended is done too: its next row is of another episode.
        done = timestep.terminated | timestep.truncated | timestep.over[:, np.newaxis]
        rewards = timestep.reward.reshape(-1).copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            self._tell_ends(timestep, done, infos)
            self._begin(done)
            if timestep.over.any():
                timestep = self.world.reset(timestep.over.copy())
        self._lived |= timestep.acting
        self._refuse_empty_slots(timestep)
        return self._observe(timestep), rewards, done.reshape(-1), infos

    def close(self) -> None:
        self.world.close()

    def action_masks(self) -> np.ndarray:
        """(num_envs, choices) bool, True = legal, for sb3-contrib's MaskablePPO."""
        timestep = self.world.timestep
        legal = np.ones((*self._shape, sum(action_choices(self.action_space))), bool)
        if timestep.action_mask is not None:
            # Idle agents keep a full row, which is not used: an empty row is no distribution.
            legal[timestep.acting] = timestep.action_mask["action"][timestep.acting]
        return legal.reshape(self.num_envs, -1)

    # -- SB3's methods for single environments ----------------------------------------------------

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """``render_mode``, or an attribute of this object or the world, once per environment."""
        if attr_name == "render_mode":
            value: Any = "rgb_array"
        else:
            owner = self if hasattr(type(self), attr_name) else self.world
            value = getattr(owner, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the worlds share their settings.

        Raises:
            UserError: always.
        """
        raise UserError(f"{self.world.id}: {attr_name} cannot be set through SB3; pass options to make_world")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Rows of a method of this object, one per environment; SB3 calls ``action_masks``."""
        rows = getattr(self, method_name)(*args, **kwargs)
        return [rows[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """True for Monitor, which is not needed here."""
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    def get_images(self) -> list[np.ndarray]:
        """A picture of each world, (W,) uint8 arrays."""
        from interplay.view.picture import render_world

        return [render_world(self.world, w) for w in range(self.world.num_worlds)]

    # -- parts of a step --------------------------------------------------------------------------

    def _observe(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        # A copy: SB3 reads the previous observations after the next step.
        return {
            name: self._rows(name, field, self.num_envs).copy()
            for name, field in timestep.observation.items()
        }

    def _rows(self, name: str, field: np.ndarray, *lead: int) -> np.ndarray:
        rows = np.reshape(field, (*lead, *self._seen[name]))
        if name not in self._starts:
            return rows
        start = self._starts[name].reshape(self._seen[name])
        return np.maximum(rows - start, 0).astype(rows.dtype)  # rows of absent agents hold zeros

    def _refuse_empty_slots(self, timestep: TimeStep) -> None:
        if not self.world.respawns or timestep.acting.all():
            return
        w, a = np.argwhere(~timestep.acting)[0]
        raise UserError(
            f"{self.world.id}: {self.world.agents[a]} of world {w} stands empty, SB3 would learn from it; use our trainer, or "
            'settings that fill every slot (mmo: respawn = "immediate", cap_draw = "fixed", prefill = slots)'
        )

    def _tell_ends(self, timestep: TimeStep, done: np.ndarray, infos: list[dict[str, Any]]) -> None:
        elapsed = round(time.monotonic() - self._started, 6)
        agents = self._shape[1]
        for w, a in np.argwhere(done):
            info = infos[w * agents + a]
            # Copies: what a view would show is overwritten when the world restarts.
            info["terminal_observation"] = {
                k: self._last_row(k, field[w, a], blank=bool(timestep.acting[w, a]))
                for k, field in timestep.observation.items()
            }
            info["TimeLimit.truncated"] = bool(timestep.truncated[w, a] and not timestep.terminated[w, a])
            if self._lived[w, a] or timestep.terminated[w, a] or timestep.truncated[w, a]:
                info["episode"] = {
                    "r": round(float(self._returns[w, a]), 6),
                    "l": int(self._lengths[w, a]),
                    "t": elapsed,
                }

    def _last_row(self, name: str, row: np.ndarray, blank: bool) -> np.ndarray:
        shaped = self._rows(name, row)
        return np.zeros_like(shaped) if blank else shaped.copy()

    def _begin(self, done: np.ndarray) -> None:
        self._returns[done] = 0.0
        self._lengths[done] = 0
        self._lived[done] = False


def _shown(part: Any) -> Any:
    """An observation space that SB3 can encode, with choices from 0 on one axis."""
    if isinstance(part, spaces.Box) and part.shape == ():
        dtype: Any = part.dtype
        return spaces.Box(part.low.reshape(1), part.high.reshape(1), (1,), dtype)
    if isinstance(part, spaces.Discrete):
        return spaces.Discrete(part.n, dtype=part.dtype)  # type: ignore[arg-type]
    if isinstance(part, spaces.MultiDiscrete):
        return spaces.MultiDiscrete(part.nvec.ravel(), dtype=part.dtype)  # type: ignore[arg-type]
    if isinstance(part, spaces.MultiBinary):
        return spaces.MultiBinary(int(np.prod(part.shape)))
    return part


def _is_endless(space: spaces.Space[Any]) -> bool:
    """Whether actions are whole numbers without bounds."""
    return (
        isinstance(space, spaces.Box) and np.dtype(space.dtype).kind != "f" and not space.is_bounded("both")
    )


def _is_known(space: spaces.Space[Any]) -> bool:
    """Whether SB3's actions equal the space's: real numbers, or choices from 0 on one axis."""
    if isinstance(space, spaces.Box):
        return np.dtype(space.dtype).kind == "f"
    flat = isinstance(space, spaces.Discrete) or (
        isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1
    )
    return flat and not np.any(space.start)  # type: ignore[attr-defined]
