"""A simulation with one learning agent, under a manager, as a Gymnasium `Env`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from interplay.connect.pictures import SimulationPictures
from interplay.connect.refusals import require_manager
from interplay.core.masks import drawable
from interplay.sim import is_agent
from interplay.sim.batch.managed import ends_of
from interplay.sim.checks import require
from interplay.sim.managers import SimulationManager


class GymWrapper(SimulationPictures, gymnasium.Env[Any, Any]):
    """A manager with exactly one learning agent, as a Gymnasium environment.

    Where the simulation has an action mask, infos hold it as ``action_mask``, in the form that ``action_space.sample(mask)`` takes.
    Returned data is a copy. `unwrapped` is this object, as Gymnasium needs it; the manager is `sim`.

    Args:
        sim: the manager; it may have further agents that cannot learn.
        render_mode: ``"rgb_array"`` makes `render` give pixels; None leaves it to the simulation's own `render`.

    Attributes:
        agent: the learning agent.
        agent_id: its id.

    Example:
        >>> from interplay.sim.managers import AllStepManager
        >>> from interplay.worlds.corridor.simulation import MultiCorridor
        >>> env = GymWrapper(AllStepManager(MultiCorridor(end=6, num_agents=1)))
        >>> observation, info = env.reset(seed=1)
        >>> env.step(2)[1:4]
        (-1, False, False)
    """

    def __init__(self, sim: SimulationManager, render_mode: str | None = None) -> None:
        require_manager(sim, "sim")
        learning = [name for name, agent in sim.agents.items() if is_agent(agent)]
        require(
            len(learning) == 1,
            f"{len(learning)} agents learn ({', '.join(learning) or 'none'}); a Gymnasium environment has exactly one",
        )
        self.sim = sim
        self._set_render_mode(render_mode)
        self.agent_id = learning[0]
        self.agent = sim.agents[self.agent_id]
        self.observation_space = self.agent.observation_space
        self.action_space = self.agent.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The first observation and an info that is empty but for an action mask."""
        super().reset(seed=seed)
        return fresh(self.sim.reset(seed=seed)[self.agent_id]), self._info({})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        """Observation, reward, terminated, truncated (by a time limit) and info."""
        observations, rewards, dones, infos = self.sim.step({self.agent_id: action})
        name = self.agent_id
        terminated, truncated = (flags[name] for flags in ends_of(self.sim, dones, [name]))
        info = fresh(infos[name]) if terminated or truncated else self._info(infos[name])
        return fresh(observations[name]), rewards[name], terminated, truncated, info

    def close(self) -> None:
        self.sim.close()

    def _info(self, info: Any) -> Any:
        mask = drawable(self.action_space, self.sim.sim.get_action_mask(self.agent_id))
        return fresh(info) if mask is None else fresh({**info, "action_mask": mask})


def fresh(data: Any) -> Any:
    """Copies dicts, lists, tuples and arrays deeply; other values stay themselves.

    Example:
        >>> own = {"place": np.zeros(2), "name": "a"}
        >>> fresh(own)["place"] is own["place"], fresh(own)["name"] is own["name"]
        (False, True)
    """
    if isinstance(data, np.ndarray):
        return data.copy()
    if isinstance(data, dict):
        return {key: fresh(part) for key, part in data.items()}
    if type(data) in (list, tuple):
        return type(data)(fresh(part) for part in data)
    return data
