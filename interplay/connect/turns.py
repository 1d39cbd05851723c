"""Environments in turns, and of one agent, as PettingZoo parallel environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
from pettingzoo.utils.env import AECEnv

from interplay.connect.turn_rewards import TurnRewards
from interplay.core.errors import UserError
from interplay.sim.batch import answers
from interplay.sim.batch.answers import require_seed
from interplay.sim.batch.managed import as_environment
from interplay.sim.managers import DynamicOrderManager

ALONE = "agent"  # of a Gymnasium environment
MASK, MASKS = "action_mask", "action_masks"
ATTRIBUTES = (
    "agents",
    "agent_selection",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
    "infos",
)

Step = tuple[dict[Any, Any], dict[Any, float], dict[Any, bool], dict[Any, bool], dict[Any, Any]]


class TurnsEnv:
    """An `AECEnv` as a parallel environment in which one listed agent acts at a time.

    One step is one turn; infos hold ``acting``. A finished agent stays listed until PettingZoo's loop would step it with None,
    which takes no step of its own: until then it may still be paid. Rewards are those of ``last()``
    (`interplay.connect.turn_rewards`).

    Raises:
        UserError: if its agents are not known beforehand, or its `reset` takes no seed.
    """

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        if not getattr(env, "possible_agents", None):
            raise UserError(f"{name_of(env)} has no possible_agents; set them in the constructor")
        require_seed("a PettingZoo AECEnv", env.reset)
        self.env = env
        self.metadata = env.metadata
        self.render_mode = getattr(env, "render_mode", None)
        self.possible_agents = list(env.possible_agents)
        self.agents: list[Any] = []
        self.state_space = getattr(env, "state_space", None)
        self.infos_stand = True
        self._rewards = TurnRewards(env)

    def observation_space(self, agent: Any) -> Any:
        return self.env.observation_space(agent)

    def action_space(self, agent: Any) -> Any:
        return self.env.action_space(agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Starts an episode: observations and infos of all agents."""
        self.env.reset(seed=seed, options=options)
        for name in ATTRIBUTES:
            if not hasattr(self.env, name):
                raise UserError(
                    f"{name_of(self.env)} has no {name} after reset(); an AECEnv sets {', '.join(ATTRIBUTES)}"
                )
        self.agents = list(self.env.agents)
        self._rewards.reset()
        return self._observe(self.agents), self._infos(self.agents)

    def step(self, actions: Mapping[Any, Any]) -> Step:
        """Takes the action of the agent that has its turn."""
        before, turn = list(self.agents), self.env.agent_selection
        self._rewards.take_turn(turn)
        self.env.step(actions[turn])
        names = dict.fromkeys((*before, *self.env.agents))
        rewards = self._rewards.credit_turn(turn, names)
        terminated = {name: bool(self.env.terminations.get(name, False)) for name in names}
        truncated = {name: bool(self.env.truncations.get(name, False)) for name in names}
        seen, infos = self._observe(names), self._infos(names)
        if self._step_finished(rewards):
            infos |= self._infos(self.env.agents)
        self.agents = list(self.env.agents)
        for name in self.agents:
            terminated[name] = truncated[name] = False  # reported when it has been stepped with None
        return seen, rewards, terminated, truncated, infos

    def _step_finished(self, rewards: dict[Any, float]) -> bool:
        """Steps finished agents with None while it is their turn; whether there was one."""
        stepped = False
        while self.env.agents and self._finished(name := self.env.agent_selection):
            stepped = True
            rewards[name] += self._rewards.credit(name)
            self.env.step(None)
            if name in self.env.agents:
                raise UserError(
                    f"{name} has finished, and step(None) at its turn does not take it out of agents; "
                    "begin step() with: if it is terminated or truncated, return self._was_dead_step(action)"
                )
        return stepped

    def state(self) -> Any:
        return self.env.state()

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _finished(self, name: Any) -> bool:
        return bool(self.env.terminations.get(name, False) or self.env.truncations.get(name, False))

    def _observe(self, names: Iterable[Any]) -> dict[Any, Any]:
        return {name: self.env.observe(name) for name in names}

    def _infos(self, names: Iterable[Any]) -> dict[Any, Any]:
        turn = self.env.agent_selection
        return {name: {**self.env.infos.get(name, {}), "acting": name == turn} for name in names}


class AloneEnv:
    """A `gymnasium.Env` as a parallel environment with one agent, ``"agent"``.

    An ``action_masks()`` of the environment, sb3-contrib's convention, becomes its info's ``"action_mask"``.

    Raises:
        UserError: if its `reset` takes no seed; from `reset` and `step`, for what is not of Gymnasium's form.

    Attributes:
        in_form: `step` is known to return PettingZoo's form.
    """

    in_form = True

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        require_seed(answers.ALONE.name, env.reset)
        self.env = env
        self.metadata = {**(env.metadata or {}), "name": name_of(env)}
        self.render_mode = env.render_mode
        self.possible_agents = [ALONE]
        self.agents: list[str] = []
        self._masks = env.get_wrapper_attr(MASKS) if env.has_wrapper_attr(MASKS) else None

    def observation_space(self, agent: str) -> Any:
        return self.env.observation_space

    def action_space(self, agent: str) -> Any:
        return self.env.action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        seen, info = answers.of_reset(self.env.reset(seed=seed, options=options), answers.ALONE)
        self.agents = [ALONE]
        return {ALONE: seen}, {ALONE: self._masked(info)}

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Goes on with the agent's action."""
        given = answers.of_step(self.env.step(actions[ALONE]), answers.ALONE)
        seen, reward, terminated, truncated, info = given
        if terminated or truncated:
            self.agents = []
        ends = {ALONE: bool(terminated)}, {ALONE: bool(truncated)}
        return {ALONE: seen}, {ALONE: float(reward)}, *ends, {ALONE: self._masked(info)}

    def _masked(self, info: dict[str, Any]) -> dict[str, Any]:
        return info if self._masks is None or MASK in info else {**info, MASK: self._masks()}

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()


def as_parallel(made: Any) -> Any:
    """Wraps AEC, Gymnasium and RLlib environments and managers as parallel environments."""
    if _is_rllib(made):
        from interplay.connect.rllib.simulation import multi_agent_to_simulation

        return as_environment(DynamicOrderManager(multi_agent_to_simulation(made)))
    if isinstance(made, gymnasium.Env):
        return AloneEnv(made)
    return TurnsEnv(made) if isinstance(made, AECEnv) else as_environment(made)


def _is_rllib(made: Any) -> bool:
    """Whether an environment is a `MultiAgentEnv`, without an import of ray."""
    return any(c.__name__ == "MultiAgentEnv" and c.__module__.startswith("ray.") for c in type(made).__mro__)


def name_of(env: Any) -> str:
    """An environment's Gymnasium id, its metadata's name, or its class."""
    spec = getattr(env, "spec", None)
    metadata = getattr(env, "metadata", None) or {}
    return str(getattr(spec, "id", None) or metadata.get("name") or type(env).__name__)
