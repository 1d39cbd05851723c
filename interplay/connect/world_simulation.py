"""One world as a simulation in the world's own order, for all adapters of managers.

The acting mask becomes `next_agent`, so a `DynamicOrderManager` steps acting agents only. Worlds go through `to_aec` and the
OpenSpiel adapters so (there under a `RavelActionWrapper`, as OpenSpiel's actions are numbers).
"""

from __future__ import annotations

from typing import Any

from interplay.connect.pettingzoo import WorldEnv, make
from interplay.core.errors import UserError
from interplay.core.masks import as_gymnasium
from interplay.sim import Agent, DynamicOrderSimulation


class WorldSimulation(DynamicOrderSimulation):
    """A world of one life per agent; for a `DynamicOrderManager`.

    Observations are those of the world's last step: no agent sees the choices of others in the same step, in any order. A reward
    adds up from action to action, so rewards of idle agents (sleepers, the dead) are kept until their next report.

    Args:
        env: the world as a PettingZoo environment, as `interplay.make` gives it.

    Raises:
        UserError: where slots live more than once.
    """

    def __init__(self, env: WorldEnv) -> None:
        if env.renames or env.slots:
            raise UserError(
                f"{env.world.id}: its slots live more than once, a simulation's agents only once; use interplay.make or SB3VecEnv"
            )
        self.env = env
        self.agents = {
            name: Agent(
                id=name, observation_space=env.observation_space(name), action_space=env.action_space(name)
            )
            for name in env.possible_agents
        }
        self.finalize()

    def reset(self, seed: int | None = None, **kwargs: Any) -> None:
        """Starts an episode; the seed names it."""
        self._observations, self._infos = self.env.reset(seed=seed)
        self._earned = dict.fromkeys(self.agents, 0.0)
        self._ended: set[str] = set()
        self._truncated: set[str] = set()
        self._ask(set())

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Steps with the actions of the acting agents."""
        for name in self.next_agent:  # their rewards were reported
            self._earned[name] = 0.0
        observations, rewards, terminated, truncated, infos = self.env.step(action)
        self._observations |= observations
        self._infos |= infos
        for name, reward in rewards.items():
            self._earned[name] += reward
        ended = {name for flags in (terminated, truncated) for name in flags if flags[name]}
        self._ended |= ended
        self._truncated |= {name for name in truncated if truncated[name]}
        self._ask(ended)

    def _ask(self, ended: set[str]) -> None:
        """Sets `next_agent`: acting agents and, once, those that have just ended, in slot order."""
        self.next_agent = [
            name
            for name in self.agents
            if name in ended or (name not in self._ended and self._infos[name]["acting"])
        ]

    def render(self, **kwargs: Any) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return self._observations[agent_id]

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """The agent's reward since its last action."""
        return self._earned[agent_id]

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the agent's life has ended."""
        return agent_id in self._ended

    def get_truncated(self, agent_id: str, **kwargs: Any) -> bool:
        return agent_id in self._truncated

    def get_all_done(self, **kwargs: Any) -> bool:
        return not self.env.agents

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's legal choices in gymnasium's form; None: all."""
        row = self._infos[agent_id].get("action_mask")
        return None if row is None else as_gymnasium(self.agents[agent_id].action_space, row)

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        """The agent's ``metrics/NAME``, 0 until its life has ended."""
        return {key: value for key, value in self._infos[agent_id].items() if key.startswith("metrics/")}


def world_to_simulation(world_id: str, **options: Any) -> WorldSimulation:
    """Makes one world as a simulation.

    Args:
        world_id: a registered id, or anything else that `interplay.make` takes.
        **options: of `interplay.make`, the world's settings among them.

    Example:
        >>> from interplay.connect import to_aec
        >>> from interplay.sim.managers import DynamicOrderManager
        >>> env = to_aec(DynamicOrderManager(world_to_simulation("werewolf/6")))
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     observation, reward, terminated, truncated, info = env.last()
        ...     mask = info.get("action_mask")
        ...     env.step(None if terminated or truncated else env.action_space(agent).sample(mask))
        >>> env.agents
        []
    """
    return WorldSimulation(make(world_id, **options))
