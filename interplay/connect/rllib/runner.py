"""RLlib's environment runner for worlds of ours: all worlds of a runner are one batch."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.env_runner import ENV_STEP_FAILURE
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.utils import _gym_env_creator
from ray.rllib.utils import force_list
from ray.rllib.utils import metrics as names
from ray.rllib.utils.spaces.space_utils import clip_action, unsquash_action
from ray.rllib.utils.torch_utils import convert_to_torch_tensor
from ray.tune.registry import ENV_CREATOR, _global_registry

from interplay.connect.rllib.batch import WorldBatch
from interplay.connect.rllib.fragments import Fragments, Rows
from interplay.core.errors import UserError

PER_STEP = (
    "on_environment_created",
    "on_episode_created",
    "on_episode_start",
    "on_episode_step",
    "on_episode_end",
)


class BatchedEnvRunner(MultiAgentEnvRunner):
    """Steps ``num_envs_per_env_runner`` worlds as one batch, with one forward pass of a module for all its agents.

    Set it by ``config.env_runners(env_runner_cls=BatchedEnvRunner)``; the environment is one that `world_to_rllib` or
    `MaskedMultiAgentEnv` makes, of a world with ``flat=True``. Samples, metrics and states are those of RLlib's own runner, with
    these differences:

    - A world restarts in the step that ends it; RLlib's runner takes a further call for that.
    - Infos in episodes are empty, and the getters of a `MultiAgentEpisode` by steps of the environment raise: read its
      `agent_episodes`.
    - World w of runner k begins with seed ``seed + k W + w``, so that no two runners have a world in common.

    For PPO. Connectors between environment and module, callbacks of steps and episodes, and modules with a state are refused.
    """

    env: Any
    _rows: Fragments

    def __init__(self, config: Any, **kwargs: Any) -> None:
        _refuse_unread(config)
        self._finished: list[tuple[Any, ...]] = []  # of `_log_episode_metrics`
        super().__init__(config=config, **kwargs)
        modules = self.module.values() if self.module is not None else ()
        if any(module.is_stateful() for module in modules):
            raise UserError("BatchedEnvRunner keeps no states of modules; leave env_runner_cls out")

    def make_env(self) -> None:
        """Makes the batch of worlds from one environment."""
        if self.env is not None:
            self.env.close()
        config = self.config
        made, context = config.env, config.env_config
        if not isinstance(context, EnvContext):
            context = EnvContext(context, worker_index=self.worker_index, num_workers=config.num_env_runners)
        if isinstance(made, str) and _global_registry.contains(ENV_CREATOR, made):
            one = _global_registry.get(ENV_CREATOR, made)(context)
        else:
            one = _gym_env_creator(context, made)
        fit = unsquash_action if config.normalize_actions else clip_action if config.clip_actions else None
        self.num_envs = config.num_envs_per_env_runner
        self.env = WorldBatch(one, self.num_envs, fit)
        self._needs_initial_reset = True

    def _reset_envs(self, episodes: Any, shared_data: Any, explore: bool) -> None:
        """Restarts all worlds and drops their samples; the base class calls it."""
        if self._needs_initial_reset:
            seed = self._seed
            if seed is not None:
                seed += (self.worker_index or 0) * (self.num_envs - 1)  # RLlib has added the index once
            self._try_env_reset(seed=seed)
        else:
            self.env.restart(np.ones(self.num_envs, bool))
        self._modules = list(self.module.keys())
        self._rows = Fragments(self.env.agents, self.num_envs, self._modules, self._new_episode)
        self._began = np.full(self.num_envs, time.perf_counter())

    def _new_episode(self, env_index: int, episodes: Any = None) -> MultiAgentEpisode:
        return MultiAgentEpisode(
            observation_space=self.env.single_observation_spaces,
            action_space=self.env.single_action_spaces,
            agent_to_module_mapping_fn=self.config.policy_mapping_fn,
        )

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[MultiAgentEpisode]:
        if random_actions:
            raise UserError("BatchedEnvRunner draws no random actions; leave env_runner_cls out")
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._reset_envs_and_episodes(explore)
        rows, by_agents = self._rows, self.config.count_steps_by == "agent_steps"
        shown, of_module = np.zeros_like(rows.steps), np.zeros(len(self._modules), np.int64)
        steps = ended = 0
        while (
            (shown.sum() if by_agents else steps) < num_timesteps
            if num_timesteps is not None
            else num_episodes is not None and ended < num_episodes
        ):
            timestep = self._try_env_step(self._act(explore, steps))
            if isinstance(timestep, str) and timestep == ENV_STEP_FAILURE:  # the worlds are made anew
                return self._sample(num_timesteps=num_timesteps, num_episodes=num_episodes, explore=explore)
            steps += self.num_envs
            seen, last = rows.step(timestep)
            shown += seen
            of_module += np.bincount(rows.module[seen], minlength=len(of_module))
            self._keep_last(last)
            over = np.asarray(~rows.listed.any(axis=1))
            if over.any():
                counted = np.flatnonzero(over)[: None if num_episodes is None else num_episodes - ended]
                ended += len(counted)
                self._close(counted.tolist())
                self.env.restart(over)
                rows.begin(over)
                self._began[over] = time.perf_counter()
        if num_timesteps is not None:
            self._keep_last(self.env.world.timestep.acting & rows.listed & (rows.steps > 0))
            for w in np.flatnonzero(rows.length > rows.begun).tolist():
                rows.close(w)
        self._needs_initial_reset = num_episodes is not None
        self._count(steps, shown.sum(axis=0), of_module, ended)
        return rows.take(self._weights_seq_no)

    def _act(self, explore: bool, steps: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """The actions of all acting agents: module -> slots, actions."""
        rows, modules = self._rows, self._modules
        acting = self.env.world.timestep.acting & rows.listed
        read = {
            m: self.env.read(acting & (rows.module == m)) for m in np.unique(rows.module[acting]).tolist()
        }
        if not read:
            return {}
        batch = {
            modules[m]: {Columns.OBS: convert_to_torch_tensor(seen.get("", dict(seen)), device=self._device)}
            for m, (_, seen) in read.items()
        }
        with self.metrics.log_time(names.RLMODULE_INFERENCE_TIMER):
            if explore:
                runners = self.config.num_env_runners or 1
                t = (self.num_env_steps_sampled_lifetime // runners + steps) * runners
                outputs = self.module.forward_exploration(batch, t=t)
            else:
                outputs = self.module.forward_inference(batch)
        actions = {}
        for m, (slots, seen) in read.items():
            acted = _chosen(self.module[modules[m]], outputs[modules[m]], explore)
            rows.act(m, slots, seen, acted)
            actions[m] = (slots, acted[Columns.ACTIONS])
        return actions

    def _keep_last(self, which: np.ndarray) -> None:
        """Keeps the observations after the last steps of agents, a mask (W, A)."""
        for m in np.unique(self._rows.module[which]).tolist():
            self._rows.end(m, *self.env.read(which & (self._rows.module == m)))

    # -- metrics --------------------------------------------------------------------------------------------

    def _close(self, worlds: list[int]) -> None:
        """Closes episodes that have ended, and keeps their numbers for `get_metrics`."""
        rows, agents, modules = self._rows, self.env.agents, self._modules
        for w in worlds:
            stepped = np.flatnonzero(rows.agent_steps[w]).tolist()
            returns = {agents[a]: float(rows.returns[w, a]) for a in stepped}
            steps = {agents[a]: int(rows.agent_steps[w, a]) for a in stepped}
            of_modules: dict[str, float] = defaultdict(float)
            for a in stepped:
                of_modules[modules[rows.module[w, a]]] += returns[agents[a]]
            seconds = time.perf_counter() - self._began[w]
            self._finished.append(
                (int(rows.length[w]), sum(returns.values()), seconds, returns, of_modules, steps)
            )
            rows.close(w)

    def _count(self, steps: int, of_agents: np.ndarray, of_modules: np.ndarray, episodes: int) -> None:
        """Logs the sums of a sample under the names of RLlib's runner, of each also the sum of all samples."""
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=steps)
        agents = ((names.NUM_AGENT_STEPS_SAMPLED, agent) for agent in self.env.agents)
        modules = ((names.NUM_MODULE_STEPS_SAMPLED, module) for module in self._modules)
        keys = ((names.NUM_ENV_STEPS_SAMPLED,), (names.NUM_EPISODES,), *agents, *modules)
        for (name, *rest), number in zip(keys, (steps, episodes, *of_agents, *of_modules), strict=True):
            if number:
                rate = {"with_throughput": True} if name == names.NUM_ENV_STEPS_SAMPLED else {}
                self.metrics.log_value((name, *rest), int(number), reduce="sum")
                lifetime = (f"{name}_lifetime", *rest)
                self.metrics.log_value(lifetime, int(number), reduce="lifetime_sum", **rate)

    def get_metrics(self) -> Any:
        for numbers in self._finished:
            self._log_episode_metrics(*numbers)
        self._finished.clear()
        return self.metrics.reduce()


def _chosen(module: Any, outputs: dict[str, Any], explore: bool) -> Rows:
    """A module's outputs with actions, drawn from its distribution as RLlib's connector `GetActions` does."""
    outputs = dict(outputs)
    if Columns.ACTIONS not in outputs:
        kind = module.get_exploration_action_dist_cls() if explore else module.get_inference_action_dist_cls()
        distribution = kind.from_logits(outputs[Columns.ACTION_DIST_INPUTS])
        if not explore:
            distribution = distribution.to_deterministic()
        outputs[Columns.ACTIONS] = distribution.sample()
        if Columns.ACTION_LOGP not in outputs:
            outputs[Columns.ACTION_LOGP] = distribution.logp(outputs[Columns.ACTIONS])
    return {name: value.cpu().numpy() for name, value in outputs.items() if isinstance(value, torch.Tensor)}


def _refuse_unread(config: Any) -> None:
    """Refuses settings that change the samples of RLlib's runner and would not change these."""
    kinds = force_list(config.callbacks_class)
    unread = {
        "algorithms but PPO": not isinstance(config, PPOConfig),
        "connectors": config._env_to_module_connector or config._module_to_env_connector,
        "pipelines without their default connectors": not (
            config.add_default_connectors_to_env_to_module_pipeline
            and config.add_default_connectors_to_module_to_env_pipeline
        ),
        "episodes_to_numpy=False": not config.episodes_to_numpy,
        **{
            name: getattr(config, f"callbacks_{name}")
            or any(getattr(kind, name, None) is not getattr(RLlibCallback, name) for kind in kinds)
            for name in PER_STEP
        },
    }
    found = ", ".join(name for name, given in unread.items() if given)
    if found:
        raise UserError(f"BatchedEnvRunner does not read {found}; leave env_runner_cls out")
