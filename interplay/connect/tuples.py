"""One world as a Gymnasium environment of tuples with a place for each agent.

That is the form of EPyMARL's gymma, lb-foraging and rware. All agents stay to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.pettingzoo import make
from interplay.core.copying import CopiedWhole

Seen = tuple[Any, ...]


class TupleEnv(CopiedWhole, gymnasium.Env[Seen, Any]):
    """A PettingZoo environment with a fixed set of agents, in the order of `possible_agents`.

    Infos hold the metrics as plain numbers, the mean over agents, when the episode has ended, and are empty before.

    Args:
        env: for example ``interplay.make(id, flat="discrete", keep_dead=True)``.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own form

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        self.env = env
        self.names = list(env.possible_agents)
        self.n_agents = len(self.names)
        self.observation_space = spaces.Tuple([env.observation_space(name) for name in self.names])
        self.action_space = spaces.Tuple([env.action_space(name) for name in self.names])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Starts an episode; the seed names it."""
        super().reset(seed=seed)
        observations, _ = self.env.reset(seed=seed, options=options)
        return tuple(observations[name] for name in self.names), {}

    def step(self, action: Sequence[Any]) -> tuple[Seen, list[float], bool, bool, dict[str, Any]]:  # type: ignore[override]
        """Takes all actions in order; returns observations, rewards, terminated, truncated and infos."""
        given = dict(zip(self.names, action, strict=True))
        observations, rewards, ended, cut, infos = self.env.step(given)
        first = self.names[0]
        info = {} if self.env.agents else _means(infos)
        seen = tuple(observations[name] for name in self.names)
        return seen, [rewards[name] for name in self.names], ended[first], cut[first], info

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()


def make_tuples(world_id: str, **options: Any) -> TupleEnv:
    """Makes one world as a `TupleEnv`: flat observations, actions of one number, all agents stay.

    Args:
        world_id: a registered id, or anything else that `interplay.make` takes.
        **options: of `interplay.make`, the world's settings among them.

    Example:
        >>> env = make_tuples("simulation/multi-corridor")
        >>> observation, info = env.reset(seed=1)
        >>> len(observation), observation[0].shape, env.action_space[0]
        (5, (3,), Discrete(3))
        >>> env.step([2] * 5)[1]
        [-7.0, -1.0, -1.0, -5.0, 98.0]
    """
    form = (
        {"flat": "discrete"} if options.get("agents") == "slots" else {"flat": "discrete", "keep_dead": True}
    )
    return TupleEnv(make(world_id, **{**form, **options}))


def _means(infos: dict[str, dict[str, Any]]) -> dict[str, float]:
    names = [key for key in next(iter(infos.values())) if key.startswith("metrics/")]
    return {name: float(np.mean([info[name] for info in infos.values()])) for name in names}
