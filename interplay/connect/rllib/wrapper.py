"""A simulation under a manager as an RLlib `MultiAgentEnv`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from interplay.connect.refusals import require_manager
from interplay.connect.rllib.actions import mask_row, mask_space, offered, taken_of_all
from interplay.sim import is_agent
from interplay.sim.batch.managed import ends_of
from interplay.sim.managers import SimulationManager


class MultiAgentWrapper(MultiAgentEnv):
    """A manager for RLlib: agents with an observation act next, which keeps every manager's order.

    Whole-number Boxes among the actions are offered as MultiDiscrete, and shifted back. A time limit, the manager's or the
    simulation's own, truncates ``__all__``; an agent that is truncated earlier is named. `unwrapped` is this object, as RLlib
    reads spaces from it.

    Args:
        action_masks: observations become ``{"observations": ..., "action_mask": ...}``, the second a float32 for each choice,
            1 where it is legal: the form of RLlib's own masking modules.

    Attributes:
        possible_agents: the ids of all learning agents.
        agents: the unfinished ones and those of the last step's report, which RLlib's own check of environments requires.
        observation_spaces, action_spaces: id -> space; `observation_space`, `action_space` the same as Dict spaces.
    """

    def __init__(self, sim: SimulationManager, action_masks: bool = False) -> None:
        require_manager(sim, "sim")
        self.sim = sim
        self.action_masks = action_masks
        learning = {name: agent for name, agent in sim.agents.items() if is_agent(agent)}
        self.possible_agents = list(learning)
        self.agents = list(learning)
        self._agent_ids = set(learning)
        super().__init__()
        self.metadata: dict[str, Any] = {"render_modes": []}  # per object: RLlib writes into it
        self._given = {name: agent.action_space for name, agent in learning.items()}
        self._observed = {name: agent.observation_space for name, agent in learning.items()}
        self.action_spaces = {name: offered(space) for name, space in self._given.items()}
        self.observation_spaces = {
            name: self._space_seen(name, agent.observation_space) for name, agent in learning.items()
        }
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode: the observations of the agents that act first, and an empty dict.

        Args:
            seed: of the episode.
            options: ignored.
            **kwargs: passed to the simulation's `reset`.
        """
        observations = self.sim.reset(seed=seed, **kwargs)
        self.agents = list(self.possible_agents)
        return self._seen(observations), {}

    def step(
        self, action_dict: dict[str, Any], **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Observations, rewards, terminateds, truncateds and infos of agents that act next or have just finished."""
        given = taken_of_all(self._given, action_dict)
        observations, rewards, dones, infos = self.sim.step(given, **kwargs)
        over = bool(dones["__all__"])
        terminateds, stopped = ends_of(self.sim, dones, observations)
        cut = over and any(stopped.values())
        # At the end no agent by itself: RLlib's episodes would take an end of every single agent for a termination.
        truncateds = {name: True for name in stopped if stopped[name] and not over}
        going = set() if over else set(self.possible_agents) - self.sim.done_agents
        self.agents = [name for name in self.possible_agents if name in going or name in observations]
        ends = terminateds | {"__all__": over and not cut}, truncateds | {"__all__": cut}
        return self._seen(observations), rewards, *ends, infos

    def render(self, *args: Any, **kwargs: Any) -> Any:
        return self.sim.render(*args, **kwargs)

    def close(self) -> None:
        self.sim.close()

    def _space_seen(self, name: str, space: spaces.Space) -> spaces.Space:
        if not self.action_masks:
            return space
        return spaces.Dict({"observations": space, "action_mask": mask_space(self._given[name])})

    def _seen(self, observations: dict[str, Any]) -> dict[str, Any]:
        tidied = {name: tidy(self._observed[name], point) for name, point in observations.items()}
        if not self.action_masks:
            return tidied
        return {name: {"observations": tidied[name], "action_mask": self._mask(name)} for name in tidied}

    def _mask(self, name: str) -> Any:
        # Finished agents get a full row, which is not used: an empty row is no distribution.
        legal = None if name in self.sim.done_agents else self.sim.sim.get_action_mask(name)
        return mask_row(self._given[name], legal)


def tidy(space: spaces.Space, point: Any) -> Any:
    """A point with lists and bare numbers as arrays of the space's type and shape.

    RLlib takes a list for a nest of its own. A point outside the space stays as it is; RLlib refuses it.

    Example:
        >>> tidy(spaces.Dict(mask=spaces.MultiBinary(1), at=spaces.Discrete(3)), {"mask": [True], "at": 2})
        {'mask': array([1], dtype=int8), 'at': 2}
    """
    if isinstance(space, spaces.Dict) and isinstance(point, Mapping) and point.keys() == space.spaces.keys():
        return {key: tidy(space.spaces[key], part) for key, part in point.items()}
    if (
        isinstance(space, spaces.Tuple)
        and isinstance(point, list | tuple)
        and len(point) == len(space.spaces)
    ):
        return tuple(tidy(part, own) for part, own in zip(space.spaces, point, strict=True))
    if not isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
        return point
    array = np.asarray(point)
    if array.dtype.kind not in "biuf" or array.size != np.prod(space.shape):
        return point
    return array.astype(space.dtype, copy=False).reshape(space.shape)
