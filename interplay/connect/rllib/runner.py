"""RLlib's environment runner for worlds of ours: all worlds of a runner are one batch."""

from __future__ import annotations

import time
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
    - Infos in episodes are empty.
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
        self.env, self.num_envs = (
            WorldBatch(one, config.num_envs_per_env_runner, fit),
            config.num_envs_per_env_runner,
        )
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
        self._rows = Fragments(self.env.agents, self.num_envs, list(self.module.keys()), self._new_episode)
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
        while True:
            sampled = self._play(num_timesteps, num_episodes, explore)
            if sampled is not None:
                break
            self._reset_envs_and_episodes(explore)  # a world failed, and RLlib has made the batch anew
        self._needs_initial_reset = num_episodes is not None
        return sampled

    def _play(
        self, num_timesteps: int | None, num_episodes: int | None, explore: bool
    ) -> list[MultiAgentEpisode] | None:
        """Steps until there are enough steps or episodes; None if a step failed."""
        rows, worlds = self._rows, self.num_envs
        shown = np.zeros_like(rows.steps)
        of_module = np.zeros(len(self.module), np.int64)
        steps = ended = 0

        def is_enough() -> bool:
            if num_timesteps is None:
                return num_episodes is not None and ended >= num_episodes
            by_agents = self.config.count_steps_by == "agent_steps"
            return bool((shown.sum() if by_agents else steps * worlds) >= num_timesteps)

        while not is_enough():
            timestep = self._try_env_step(self._act(explore, steps * worlds))
            if isinstance(timestep, str) and timestep == ENV_STEP_FAILURE:
                return None
            steps += 1
            seen, last = rows.step(timestep)
            shown += seen
            of_module += np.bincount(rows.module[seen], minlength=len(of_module))
            self._keep_last(last)
            over = ~rows.listed.any(axis=1)
            if over.any():
                which = np.flatnonzero(over)[: None if num_episodes is None else num_episodes - ended]
                ended += len(which)
                self._close(which)
                self.env.restart(over)
                rows.begin(over)
                self._began[over] = time.perf_counter()
        if num_timesteps is not None:
            self._keep_last(self.env.world.timestep.acting & rows.listed & (rows.steps > 0))
            for w in np.flatnonzero(rows.length > rows.begun):
                rows.close(int(w))
        self._count(steps * worlds, shown.sum(axis=0), of_module, ended)
        return rows.take(self._weights_seq_no)

    def _act(self, explore: bool, steps: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """The actions of all acting agents: module -> slots, actions."""
        rows, modules = self._rows, list(self.module.keys())
        acting = self.env.world.timestep.acting & rows.listed
        read = {
            m: self.env.read(acting & (rows.module == m)) for m in np.unique(rows.module[acting]).tolist()
        }
        if not read:
            return {}
        batch = {
            modules[m]: {Columns.OBS: convert_to_torch_tensor(_point(seen), device=self._device)}
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

    def _close(self, worlds: np.ndarray) -> None:
        """Closes episodes that have ended, and keeps their numbers for `get_metrics`."""
        rows, modules = self._rows, list(self.module.keys())
        for w in worlds.tolist():
            stepped = np.flatnonzero(rows.agent_steps[w]).tolist()
            returns = {self.env.agents[a]: float(rows.returns[w, a]) for a in stepped}
            steps = {self.env.agents[a]: int(rows.agent_steps[w, a]) for a in stepped}
            of_modules = dict.fromkeys((modules[rows.module[w, a]] for a in stepped), 0.0)
            for a in stepped:
                of_modules[modules[rows.module[w, a]]] += float(rows.returns[w, a])
            seconds = time.perf_counter() - self._began[w]
            numbers = (int(rows.length[w]), sum(returns.values()), seconds, returns, of_modules, steps)
            self._finished.append(numbers)
            rows.close(w)

    def _count(self, steps: int, of_agents: np.ndarray, of_modules: np.ndarray, episodes: int) -> None:
        """Logs the sums of a sample under the names of RLlib's runner."""
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=steps)
        sums: list[tuple[Any, Any, int]] = [
            (names.NUM_ENV_STEPS_SAMPLED, names.NUM_ENV_STEPS_SAMPLED_LIFETIME, steps),
            (names.NUM_EPISODES, names.NUM_EPISODES_LIFETIME, episodes),
        ]
        for agent, number in zip(self.env.agents, of_agents.tolist(), strict=True):
            keys = (names.NUM_AGENT_STEPS_SAMPLED, agent), (names.NUM_AGENT_STEPS_SAMPLED_LIFETIME, agent)
            sums.append((*keys, number))
        for module, number in zip(self.module.keys(), of_modules.tolist(), strict=True):
            keys = (names.NUM_MODULE_STEPS_SAMPLED, module), (names.NUM_MODULE_STEPS_SAMPLED_LIFETIME, module)
            sums.append((*keys, number))
        for now, lifetime, number in sums:
            if number:
                self.metrics.log_value(now, number, reduce="sum")
                rate = {"with_throughput": True} if now == names.NUM_ENV_STEPS_SAMPLED else {}
                self.metrics.log_value(lifetime, number, reduce="lifetime_sum", **rate)

    def get_metrics(self) -> Any:
        for numbers in self._finished:
            self._log_episode_metrics(*numbers)
        self._finished.clear()
        return self.metrics.reduce()


def _point(seen: Rows) -> Any:
    """Rows of observations as the module reads them; a copy, of which modules may take parts out."""
    return seen[""] if "" in seen else dict(seen)


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
    """Refuses settings that change RLlib's samples and would not change these."""
    callbacks = [
        name
        for name in PER_STEP
        if getattr(config, f"callbacks_{name}") is not None
        or any(
            getattr(kind, name, None) is not getattr(RLlibCallback, name)
            for kind in force_list(config.callbacks_class)
        )
    ]
    unread = {
        f"a {type(config).__name__}, only PPO's": not isinstance(config, PPOConfig),
        "env_to_module_connector": config._env_to_module_connector is not None,
        "module_to_env_connector": config._module_to_env_connector is not None,
        "pipelines without default connectors": not (
            config.add_default_connectors_to_env_to_module_pipeline
            and config.add_default_connectors_to_module_to_env_pipeline
        ),
        "episodes_to_numpy=False": not config.episodes_to_numpy,
        f"callbacks {', '.join(callbacks)}": bool(callbacks),
    }
    found = [name for name, given in unread.items() if given]
    if found:
        raise UserError(f"BatchedEnvRunner does not read {'; '.join(found)}; leave env_runner_cls out")
