"""One world as arrays with a row for every slot, as a Gymnasium environment.

No agent leaves: an idle or dead agent keeps its row.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from interplay.connect.readers import require_one_world
from interplay.core.copying import CopiedWhole
from interplay.core.errors import UserError
from interplay.core.masks import to_gymnasium
from interplay.core.world import TimeStep, World
from interplay.registry import make_world


class DenseEnv(CopiedWhole, gymnasium.Env[dict[str, np.ndarray], Any]):
    """A batch of one with A slots: observations, actions and rewards have A rows.

    A reward is an array (A,), which Gymnasium's own algorithms do not take. Infos hold

    - ``acting``, ``terminated`` and ``truncated``, (A,) bool;
    - ``action_mask`` where there are illegal choices, in the form of ``action_space.sample(mask)``, rows of idle agents included;
    - ``metrics/NAME``, a float or (A,) floats, 0 until the world is over.

    Args:
        world: with ``num_worlds == 1``, one kind of agent, and actions that are no Dict.
    """

    def __init__(self, world: World) -> None:
        require_one_world(world)
        if len(world.kinds) > 1 or isinstance(world.kinds[0].action_space, spaces.Dict):
            raise UserError(f"{world.id}: its agents' spaces make no single array; use interplay.make")
        self.world = world
        self.agents = world.agents
        self.observation_space = spaces.Dict(
            {name: batch_space(part, len(self.agents)) for name, part in world.observation_space.items()}
        )
        self.action_space = _rows_of(world.action_space, len(self.agents))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Starts an episode; the seed names it, None goes on with the world's own stream."""
        super().reset(seed=seed)
        timestep = self.world.reset(seeds=seed)
        return _seen(timestep), self._info(timestep)

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], Any, bool, bool, dict[str, Any]]:
        """Returns observations, rewards (A,), terminated, truncated (both of the world) and infos.

        Args:
            action: (A, ...).
        """
        timestep = self.world.step(np.asarray(action)[np.newaxis])
        over, cut = bool(timestep.over[0]), bool(timestep.truncated[0].any())
        return (
            _seen(timestep),
            timestep.reward[0].copy(),
            over and not cut,
            over and cut,
            self._info(timestep),
        )

    def close(self) -> None:
        self.world.close()

    def _info(self, timestep: TimeStep) -> dict[str, Any]:
        info: dict[str, Any] = {
            name: getattr(timestep, name)[0].copy() for name in ("acting", "terminated", "truncated")
        }
        if timestep.action_mask is not None:
            rows = [to_gymnasium(self.world.action_space, row) for row in timestep.action_mask["action"][0]]
            info["action_mask"] = tuple(rows)
        over = bool(timestep.over[0])
        for name, values in self.world.metrics.items():
            value = np.asarray(values[0], np.float64)
            value = value.copy() if over else np.zeros_like(value)
            info[f"metrics/{name}"] = value if value.ndim else float(value)
        return info


def make_dense(world_id: str, *, seed: int = 0, **options: Any) -> DenseEnv:
    """Makes one world as a `DenseEnv`.

    Args:
        world_id: a registered id, or anything else that `interplay.make_world` takes.
        seed: names the stream of episodes for `reset` without a seed.
        **options: the world's settings.

    Example:
        >>> env = make_dense("werewolf/6")
        >>> observation, info = env.reset(seed=1)
        >>> observation["status_map"].shape, info["acting"].sum(), env.action_space.shape  # two wolves
        ((6, 6), np.int64(2), (6, 1))
        >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        >>> reward.shape
        (6,)
    """
    return DenseEnv(make_world(world_id, num_worlds=1, seed=seed, **options))


def _rows_of(space: spaces.Space[Any], count: int) -> spaces.Space[Any]:
    if isinstance(space, spaces.MultiDiscrete):  # gymnasium would make a Box of it, which has no masks
        start = np.broadcast_to(space.start, (count, *space.nvec.shape))
        return spaces.MultiDiscrete(
            np.tile(space.nvec, (count, 1)), dtype=space.start.dtype.type, start=start
        )
    return batch_space(space, count)


def _seen(timestep: TimeStep) -> dict[str, np.ndarray]:
    return {name: field[0].copy() for name, field in timestep.observation.items()}
