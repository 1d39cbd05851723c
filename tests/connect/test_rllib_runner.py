"""`BatchedEnvRunner`: RLlib's own runner over `WorldMultiAgentEnv` is the second road to every sample."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import psutil
import pytest

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

import ray
import torch
from ray.rllib.algorithms.impala import IMPALAConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import interplay
from interplay.connect.rllib import BatchedEnvRunner, MaskedMultiAgentEnv, world_to_rllib
from interplay.core.errors import UserError

pytestmark = pytest.mark.slow

WORLDS, STEPS = 3, 23  # of a fragment
METRICS = (
    "num_env_steps_sampled",
    "num_env_steps_sampled_lifetime",
    "num_agent_steps_sampled",
    "num_agent_steps_sampled_lifetime",
    "num_module_steps_sampled",
    "num_module_steps_sampled_lifetime",
    "num_episodes",
    "num_episodes_lifetime",
    "episode_len_mean",
    "episode_len_min",
    "episode_len_max",
    "episode_return_mean",
    "episode_return_min",
    "episode_return_max",
    "agent_episode_returns_mean",
    "module_episode_returns_mean",
    "agent_steps",
    "weights_seq_no",
)
LOSSES = ("total_loss", "policy_loss", "vf_loss", "entropy")

MAKERS = {
    "interplay-plain": lambda config: world_to_rllib(**config, flat=True),
    "interplay-nested": lambda config: world_to_rllib(**config),
    "interplay-masked": lambda config: MaskedMultiAgentEnv(interplay.make(**config, flat=True)),
    "interplay-foreign": lambda config: ParallelPettingZooEnv(interplay.make("dilemma/fixed", flat=True)),
}


@pytest.fixture
def cluster(monkeypatch):
    """A Ray of this test's own, which another one on this machine does not meet."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def configured(world_id: str, masked: bool = False, modules: int = 2, **settings: Any) -> PPOConfig:
    """PPO with two small modules, which the agents share by their places."""
    for name, make in MAKERS.items():
        register_env(name, make)  # each Ray has a registry of its own
    policies = [f"policy_{m}" for m in range(modules)]

    def mapped(agent: str, episode: Any, **kwargs: Any) -> str:
        return policies[agent == "target" if "target" in world_id else sum(agent.encode()) % modules]

    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule if masked else None, model_config={"fcnet_hiddens": [16]}
    )
    return (
        PPOConfig()
        .environment(
            "interplay-masked" if masked else "interplay-plain",
            env_config={"world_id": world_id, **settings},
            disable_env_checking=True,
        )
        .env_runners(env_runner_cls=BatchedEnvRunner, num_env_runners=0, num_envs_per_env_runner=WORLDS)
        .multi_agent(policies=set(policies), policy_mapping_fn=mapped)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(policies, spec)))
        .debugging(seed=11)
    )


class Ours(BatchedEnvRunner):
    """Keeps the world of each episode."""

    worlds: list[tuple[str, int]]

    def _new_episode(self, env_index: int, episodes: Any = None) -> Any:
        episode = super()._new_episode(env_index, episodes)
        self.worlds = [*getattr(self, "worlds", []), (episode.id_, env_index)]
        return episode


class Theirs(MultiAgentEnvRunner):
    """Keeps the world of each episode."""

    worlds: list[tuple[str, int]]

    def _new_episode(self, env_index: int, episodes: Any = None) -> None:
        super()._new_episode(env_index, episodes)
        given = self._ongoing_episodes if episodes is None else episodes
        self.worlds = [*getattr(self, "worlds", []), (given[env_index].id_, env_index)]


def play(runner: Any, fragments: int) -> dict[tuple[int, int], tuple[Any, dict[str, dict[str, Any]]]]:
    """World and number of its episode -> the last part of the episode, and its agents' parts joined."""
    parts: dict[str, list[Any]] = defaultdict(list)
    for _ in range(fragments):
        for episode in runner.sample(num_timesteps=WORLDS * STEPS, explore=False):
            parts[episode.id_].append(episode)
    episodes: dict[tuple[int, int], Any] = {}
    for name, world in runner.worlds:
        if name not in parts:
            continue
        agents, steps = defaultdict(list), 0
        for chunk in parts[name]:
            assert chunk.env_t_started == steps
            steps = chunk.env_t
            for agent, part in chunk.agent_episodes.items():
                assert part.t_started == sum(map(len, agents[agent]))
                agents[agent].append(part)
        number = sum(w == world for w, _ in episodes)
        episodes[world, number] = parts[name][-1], {agent: join(chunk) for agent, chunk in agents.items()}
    return episodes


def join(parts: list[Any]) -> dict[str, Any]:
    """One agent's parts of an episode; each begins with the observation with which the one before ends."""
    seen = [rows(part.get_observations()) for part in parts]
    for before, after in pairwise(seen):
        assert np.array_equal(before[-1], after[0])
    return {
        "seen": np.concatenate([one[:-1] for one in seen] + [seen[-1][-1:]]),
        "actions": np.concatenate([part.get_actions() for part in parts]),
        "rewards": np.concatenate([part.get_rewards() for part in parts]),
        "terminated": parts[-1].is_terminated,
        "truncated": parts[-1].is_truncated and not parts[-1].is_terminated,
        "both": parts[-1].is_truncated and parts[-1].is_terminated,  # RLlib's, in the step of a limit
        "module": parts[-1].module_id,
        "logits": np.concatenate([part.get_extra_model_outputs("action_dist_inputs") for part in parts]),
    }


def rows(seen: Any) -> np.ndarray:
    return (
        np.concatenate([seen["observations"], seen["action_mask"]], axis=1)
        if isinstance(seen, dict)
        else seen
    )


@pytest.mark.parametrize(
    ("world_id", "masked", "settings"),
    [
        ("simulation/multi-corridor", False, {}),  # agents end by themselves
        (
            "simulation/multi-corridor-turns",
            False,
            {"num_agents": 3, "time_limit": 14},
        ),  # steps last over cuts
        ("survival/1v1-heals-low", False, {"zone_cooldown": 3, "zone_damage": 9}),  # the dead stay and earn
        ("gridworld/reach-the-target", False, {}),  # two kinds of agents
        ("gridworld/multi-maze", False, {"time_limit": 30}),  # a time limit
        ("werewolf/6", True, {"illegal": "raise"}),  # nights in which some act; masks of several heads
        ("battle/3m", True, {}),  # masks of one head
        ("navigation/town", False, {"time_limit": 20}),  # real numbers, which RLlib scales
    ],
)
def test_samples_are_those_of_rllibs_own_runner(world_id, masked, settings):
    config = configured(world_id, masked, **settings)
    ours, theirs = Ours(config=config), Theirs(config=config)
    theirs.module.set_state(ours.module.get_state())
    mine, other = play(ours, 4), play(theirs, 4)
    compared = 0
    assert not any(part["both"] for _, agents in mine.values() for part in agents.values())
    for key in mine.keys() & other.keys():  # RLlib's runner is some steps behind: a restart takes it a call
        (last, agents), (their_last, their_agents) = mine[key], other[key]
        whole = last.is_done and their_last.is_done
        if whole:
            assert agents.keys() == their_agents.keys()
            # RLlib calls an episode that one of several agents outlives to its time limit terminated.
            assert (last.env_t, last.is_truncated) == (their_last.env_t, their_last.is_truncated)
        for agent in agents.keys() & their_agents.keys():
            compare(agents[agent], their_agents[agent], whole)
            compared += len(agents[agent]["actions"])
    assert compared > 2 * STEPS * WORLDS
    assert any(last.is_done for last, _ in mine.values())
    assert not all(last.is_done for last, _ in mine.values())


def compare(ours: dict[str, Any], theirs: dict[str, Any], whole: bool) -> None:
    steps = min(len(ours["actions"]), len(theirs["actions"]))
    names = ("module", *(("terminated", "truncated") if whole else ()))
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}
    if whole:
        assert len(ours["actions"]) == len(theirs["actions"])
    assert np.array_equal(ours["seen"][: steps + 1], theirs["seen"][: steps + 1])
    assert np.array_equal(ours["actions"][:steps], theirs["actions"][:steps])
    np.testing.assert_allclose(ours["rewards"][:steps], theirs["rewards"][:steps], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ours["logits"][:steps], theirs["logits"][:steps], rtol=1e-4, atol=1e-5)


def test_a_first_update_has_the_losses_of_rllibs_own_runner():
    """Greedy, as RLlib draws for agents in another order; all episodes end in one step, so both fragments are cut there."""
    config = configured("simulation/multi-corridor", time_limit=15).training(lr=0.01, lambda_=0.9)
    found = []
    for kind in (BatchedEnvRunner, MultiAgentEnvRunner):
        runner = kind(config=config)
        learner = config.build_learner(spaces=runner.get_spaces())
        draw = np.random.default_rng(4)
        weights = {
            module: {
                name: draw.normal(0, 0.3, part.shape).astype(np.float32)
                for name, part in sorted(parts.items())
            }
            for module, parts in sorted(learner.module.get_state().items())
        }
        learner.module.set_state(weights)
        runner.module.set_state(weights)
        episodes = runner.sample(num_timesteps=WORLDS * STEPS, explore=False)
        assert sum(episode.is_truncated for episode in episodes) == WORLDS
        results = learner.update(episodes=episodes, timesteps={"num_env_steps_sampled_lifetime": 0})
        found.append({(m, name): float(results[m][name].peek()) for m in weights for name in LOSSES})
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    assert len(set(map(abs, found[0].values()))) == len(found[0])


def test_metrics_are_those_of_rllibs_own_runner():
    config = configured("simulation/multi-corridor", time_limit=15)
    ours, theirs = BatchedEnvRunner(config=config), MultiAgentEnvRunner(config=config)
    theirs.module.set_state(ours.module.get_state())
    found = []
    for runner in (ours, theirs):
        for fragments in (3, 2):
            for _ in range(fragments):
                runner.sample(num_timesteps=WORLDS * STEPS, explore=False)
            metrics = runner.get_metrics()
            found.append({name: peeked(metrics[name]) for name in METRICS})
    assert found[:2] == found[2:]
    assert found[0]["num_episodes"] == WORLDS * (3 * STEPS // 15)
    assert found[0]["episode_return_mean"] != found[1]["episode_return_mean"]


def peeked(stats: Any) -> Any:
    if isinstance(stats, dict):
        return {name: peeked(part) for name, part in stats.items()}
    return pytest.approx(float(stats.peek()), rel=1e-6)


def test_whole_episodes_are_those_of_rllibs_own_runner():
    """As evaluation takes them: seeded anew each time, until there are enough."""
    config = configured("gridworld/multi-maze", time_limit=15)
    ours, theirs = BatchedEnvRunner(config=config), MultiAgentEnvRunner(config=config)
    theirs.module.set_state(ours.module.get_state())
    found = []
    for runner in (ours, theirs):
        rounds = [runner.sample(num_episodes=WORLDS + 2, explore=False) for _ in range(2)]
        found.append(
            [[(len(e), sorted(e.agent_episodes), e.get_return()) for e in episodes] for episodes in rounds]
        )
        assert found[-1][0] == found[-1][1]
        assert [len(episodes) for episodes in rounds] == [WORLDS + 2] * 2
    assert found[0] == found[1]


def test_a_fragment_may_be_counted_in_agent_steps():
    """15 agents act in every step, so 200 agent-steps are 14 steps."""
    config = configured("simulation/multi-corridor").multi_agent(count_steps_by="agent_steps")
    ours, theirs = BatchedEnvRunner(config=config), MultiAgentEnvRunner(config=config)
    theirs.module.set_state(ours.module.get_state())
    found = [[len(e) for e in runner.sample(num_timesteps=200, explore=False)] for runner in (ours, theirs)]
    assert found[0] == found[1]
    assert found[0] == [14] * WORLDS


def test_worlds_are_made_anew_after_a_failure(monkeypatch):
    def fail(action: Any) -> Any:
        raise RuntimeError("a world failed")

    config = configured("dilemma/fixed").fault_tolerance(restart_failed_sub_environments=True)
    runner = BatchedEnvRunner(config=config)
    first = runner.sample(num_timesteps=WORLDS * 5, explore=False)
    failed = runner.env.world
    monkeypatch.setattr(failed, "step", fail)
    episodes = runner.sample(num_timesteps=WORLDS * 4, explore=False)
    assert runner.env.world is not failed
    assert [(e.env_t_started, e.env_t) for e in episodes] == [(0, 4)] * WORLDS
    assert not {e.id_ for e in episodes} & {e.id_ for e in first}
    monkeypatch.setattr(runner.env.world, "step", fail)
    runner.config.restart_failed_sub_environments = False
    with pytest.raises(RuntimeError):
        runner.sample(num_timesteps=WORLDS)


def test_modules_may_be_mapped_anew_in_every_episode():
    modules = []

    def mapped(agent: str, episode: Any, **kwargs: Any) -> str:
        modules.append((episode.id_, agent, f"policy_{len(modules) // 3 % 2}"))
        return modules[-1][-1]

    config = configured("simulation/multi-corridor", num_agents=5, time_limit=9)
    config.multi_agent(policy_mapping_fn=mapped)
    runner = BatchedEnvRunner(config=config)
    modules.clear()
    episodes = [e for _ in range(3) for e in runner.sample(num_timesteps=WORLDS * STEPS, explore=True)]
    parts = {(e.id_, agent): part.module_id for e in episodes for agent, part in e.agent_episodes.items()}
    assert set(parts.values()) == {"policy_0", "policy_1"}
    given = {(name, agent): module for name, agent, module in modules}
    assert len(given) == len(modules), "an agent is mapped once an episode"
    assert parts == {key: given[key] for key in parts}


class Exploring(DefaultPPOTorchRLModule):
    """Takes choice 1 when it explores, else choice 0."""

    def _forward_exploration(self, batch: Any, **kwargs: Any) -> Any:
        assert kwargs["t"] % WORLDS == 0
        return {"actions": torch.ones(len(batch["obs"]), dtype=torch.int64)}

    def _forward_inference(self, batch: Any, **kwargs: Any) -> Any:
        return {"actions": torch.zeros(len(batch["obs"]), dtype=torch.int64)}


def test_a_module_explores_only_when_it_should():
    spec = RLModuleSpec(module_class=Exploring)
    specs = MultiRLModuleSpec(rl_module_specs={f"policy_{m}": spec for m in range(2)})
    runner = BatchedEnvRunner(config=configured("dilemma/fixed").rl_module(rl_module_spec=specs))
    for explore in (True, False):
        episodes = runner.sample(num_timesteps=WORLDS * 3, explore=explore)
        assert {a for e in episodes for part in e.agent_episodes.values() for a in part.get_actions()} == {
            explore
        }


def test_runners_have_no_world_in_common():
    config = configured("gridworld/multi-maze").env_runners(num_env_runners=2)
    begun = []
    for number in (1, 2):
        runner = BatchedEnvRunner(config=config, worker_index=number)
        episodes = runner.sample(num_timesteps=WORLDS, explore=False)
        begun += [
            tuple(part.get_observations(0).tobytes() for part in e.agent_episodes.values()) for e in episodes
        ]
    assert len(set(begun)) == 2 * WORLDS


def with_callback() -> PPOConfig:
    class Counting(RLlibCallback):
        def on_episode_step(self, **kwargs: Any) -> None:
            """Would not be called."""

    return configured("dilemma/fixed").callbacks(Counting)


REFUSED = {
    "connectors before modules": lambda: configured("dilemma/fixed").env_runners(
        env_to_module_connector=lambda *args, **kwargs: FlattenObservations(multi_agent=True)
    ),
    "connectors after modules": lambda: configured("dilemma/fixed").env_runners(
        module_to_env_connector=lambda *args, **kwargs: []
    ),
    "a callback of steps": with_callback,
    "a function for ends": lambda: configured("dilemma/fixed").callbacks(on_episode_end=print),
    "another algorithm": lambda: (
        IMPALAConfig()
        .environment("interplay-plain", env_config={"world_id": "dilemma/fixed"})
        .multi_agent(policies={"a"}, policy_mapping_fn=lambda *args, **kwargs: "a")
    ),
    "observations that are not flat": lambda: configured("dilemma/fixed").environment(
        "interplay-nested", env_config={"world_id": "dilemma/fixed"}
    ),
    "agents that are lives": lambda: configured("mmo/forage", lives=300),
    "agents that are slots": lambda: configured("mmo/forage", agents="slots"),
    "the dead kept": lambda: configured("survival/1v1-heals-low", keep_dead=True),
    "another environment": lambda: configured("dilemma/fixed").environment(
        "interplay-foreign", env_config={}
    ),
    "modules with states": lambda: configured("dilemma/fixed").rl_module(
        rl_module_spec=MultiRLModuleSpec(
            rl_module_specs={
                f"policy_{m}": RLModuleSpec(model_config={"use_lstm": True, "max_seq_len": 4})
                for m in range(2)
            }
        )
    ),
}


@pytest.mark.parametrize("config", REFUSED.values(), ids=REFUSED)
def test_what_is_not_read_is_refused(config):
    with pytest.raises(UserError):
        BatchedEnvRunner(config=config())


def test_random_actions_are_refused():
    runner = BatchedEnvRunner(config=configured("dilemma/fixed"))
    with pytest.raises(UserError):
        runner.sample(num_timesteps=3, random_actions=True)


@pytest.mark.filterwarnings("ignore")
def test_ppo_trains_with_masks_and_evaluates(cluster):
    """The world raises for an illegal choice, so every draw was legal."""
    config = (
        configured("werewolf/6", masked=True, illegal="raise")
        .training(train_batch_size_per_learner=96, minibatch_size=32, num_epochs=2)
        .evaluation(evaluation_num_env_runners=0, evaluation_duration=5, evaluation_config={"explore": False})
    )
    algorithm = config.build_algo()
    results = [algorithm.train() for _ in range(2)]
    assert all(
        np.isfinite(result["learners"][f"policy_{m}"]["total_loss"]) for result in results for m in range(2)
    )
    assert results[-1]["env_runners"]["num_env_steps_sampled_lifetime"] == 2 * 96
    assert algorithm.evaluate()["env_runners"]["num_episodes"] == 5
    learnt, acting = (
        algorithm.learner_group.get_weights(),
        algorithm.env_runner.module.get_state(),
    )
    for module, weights in acting.items():  # RLlib sends no critics to runners
        actor = {
            name: part for name, part in weights.items() if not name.startswith(("vf", "encoder.critic"))
        }
        assert len(actor) >= 4
        assert all(np.array_equal(part, learnt[module][name]) for name, part in actor.items())
    algorithm.stop()


@pytest.mark.filterwarnings("ignore")
def test_training_goes_on_after_a_runner_was_killed(cluster):
    config = (
        configured("dilemma/fixed")
        .env_runners(num_env_runners=1, sample_timeout_s=20)
        .training(train_batch_size_per_learner=96, minibatch_size=32, num_epochs=1)
        .fault_tolerance(restart_failed_env_runners=True)
    )
    algorithm = config.build_algo()
    before = algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"]
    (worker,) = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: os.getpid(), local_env_runner=False
    )
    psutil.Process(worker).kill()
    lost = 0
    for _ in range(30):
        now = algorithm.train()["env_runners"].get("num_env_steps_sampled_lifetime", before)
        if now > before:
            break
        lost += 1
    assert now > before, lost
    (runner,) = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: (os.getpid(), runner.num_envs), local_env_runner=False
    )
    assert runner[0] != worker
    assert runner[1] == WORLDS
    algorithm.stop()
