"""A world of ours as an RLlib `MultiAgentEnv`."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv
from ray.rllib.env.multi_agent_env import MultiAgentEnv

import interplay
from interplay.connect.rllib.actions import offered, taken_of_all
from interplay.core.errors import UserError

Members = dict[str, Any]


class WorldMultiAgentEnv(MultiAgentEnv):
    """A PettingZoo parallel environment, as `interplay.make` gives, for RLlib.

    Only acting agents get observations: one with ``{"acting": False}`` in its info gets none until it acts again or its life ends,
    but its rewards go on. `agents` are those of the last step's report, those that ended in it included, as RLlib's own check of
    environments requires.

    RLlib ends an episode when all its agents have ended: agents that join in that step are left out.
    """

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        self.env: Any = env
        self.possible_agents = list(env.possible_agents)
        self.agents = list(self.possible_agents)
        super().__init__()
        self.metadata = dict(env.metadata)
        self.render_mode = getattr(env, "render_mode", None)
        self._given = {name: env.action_space(name) for name in self.possible_agents}
        self.action_spaces = {name: offered(space) for name, space in self._given.items()}
        self.observation_spaces = {name: env.observation_space(name) for name in self.possible_agents}
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Members, Members]:
        """Starts an episode: observations and infos of the acting agents."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self.agents = list(self.env.agents)
        shown = [name for name in observations if infos.get(name, {}).get("acting", True)]
        return {name: observations[name] for name in shown}, {name: infos.get(name, {}) for name in shown}

    def step(self, action_dict: Members) -> tuple[Members, Members, Members, Members, Members]:
        """Returns observations, rewards, terminateds, truncateds and infos; ``__all__`` is the world's end.

        Where ``__all__`` is truncated no agent is by itself: RLlib's episodes take an end of every single agent for a termination,
        and would not bootstrap the last values.
        """
        before = set(self.env.agents)
        given = taken_of_all(self._given, action_dict)
        observations, rewards, terminated, truncated, infos = self.env.step(given)
        over = before.isdisjoint(self.env.agents)
        joined = set(self.env.agents) if over else set()
        self.agents = [name for name in dict.fromkeys((*rewards, *observations)) if name not in joined]
        cut = over and any(truncated.values())
        # In some environments an agent that has just joined has no flags.
        ended = {name for flags in (terminated, truncated) for name in flags if flags[name]}
        shown = [n for n in observations if n in ended or infos.get(n, {}).get("acting", True)]
        shown = [name for name in shown if name not in joined]
        return (
            {name: observations[name] for name in shown},
            {name: reward for name, reward in rewards.items() if name not in joined},
            {**{name: bool(terminated.get(name)) for name in shown}, "__all__": over and not cut},
            {**{name: bool(truncated.get(name)) and not cut for name in shown}, "__all__": cut},
            {name: infos.get(name, {}) for name in shown},
        )

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()


def world_to_rllib(world_id: str, *, lives: int | None = None, **options: Any) -> WorldMultiAgentEnv:
    """Makes one world as an RLlib environment.

    Args:
        world_id: a registered id, or anything else that `interplay.make` takes.
        lives: of an episode, where slots live more than once: RLlib needs all agents beforehand. See `WorldEnv`.
        **options: of `interplay.make`, the world's settings among them.

    Example:
        >>> env = world_to_rllib("survival/1v1-heals-low", zone_cooldown=10)
        >>> sorted(env.reset(seed=1)[0])
        ['agent_0', 'agent_1']
    """
    env = interplay.make(world_id, lives=lives, **options)
    if env.renames and lives is None:
        raise UserError(f"{world_id}: RLlib needs all agents beforehand, here each life is one; pass lives=N")
    return WorldMultiAgentEnv(env)
