"""Trainers of simulations under a manager: episodes, checks, the two Monte Carlo methods."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.sim.wrappers import RavelDiscreteWrapper
from interplay.train import (
    DebugTrainer,
    EpsilonSoftPolicy,
    MultiPolicyTrainer,
    OnPolicyMonteCarloTrainer,
    QTablePolicy,
    RandomPolicy,
    SinglePolicyTrainer,
    generate_episode,
    off_policy,
)
from interplay.train.tabular.on_policy import first_visits
from interplay.train.tabular.trainers import Episode
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.sim.toys import Called


class Playing(MultiPolicyTrainer):
    """Plays and trains nothing."""

    def train(self, iterations=1, **kwargs):
        return [self.generate_episode(**kwargs) for _ in range(iterations)]


def test_an_episode_is_text_in_order_of_time():
    episode = Episode({"a": [1, 2]}, {"a": [3]}, {"a": [0.5]}, {"a": [True], "__all__": [True]})
    lines = (
        "a",
        "  Observations",
        "    1",
        "    2",
        "  Actions",
        "    3",
        "  Rewards",
        "    0.5",
        "  Dones",
        "    True",
    )
    assert episode.text() == "\n".join(lines) + "\n"


class PlayingOne(SinglePolicyTrainer, Playing):
    """The same with one policy."""


def corridor(manager=AllStepManager, **kwargs):
    return manager(RavelDiscreteWrapper(MultiCorridor(**kwargs)))


def random_policy(manager):
    agent = manager.agents["agent0"]
    return RandomPolicy(agent.action_space, agent.observation_space)


def always_right(manager):
    agent = manager.agents["agent0"]
    table = np.zeros((agent.observation_space.n, 3))
    table[:, 2] = 1.0
    return QTablePolicy(agent.action_space, agent.observation_space, q_table=table)


def test_arguments_are_checked_at_construction():
    """L3"""
    manager = corridor()
    policy = random_policy(manager)
    policies = {"one": policy}
    for wrong, words in (
        ((manager.sim, policies, lambda agent: "one"), "SimulationManager"),
        ((manager, [policy], lambda agent: "one"), "policies"),
        ((manager, {1: policy}, lambda agent: 1), "no str"),
        ((manager, {"one": "random"}, lambda agent: "one"), "Policy"),
        ((manager, policies, "one"), "policy_mapping_fn"),
        ((manager, policies, lambda agent: "two"), "agent0 is mapped to 'two'"),
        ((manager, {"one": RandomPolicy(Discrete(4), policy.observation_space)}, lambda agent: "one"), "act"),
        ((manager, {"one": RandomPolicy(policy.action_space, Discrete(4))}, lambda agent: "one"), "obs"),
    ):
        with pytest.raises(AssertionError, match=words):
            Playing(*wrong)
    with pytest.raises(AssertionError, match="policy"):
        PlayingOne(manager, "random")
    with pytest.raises(TypeError):
        SinglePolicyTrainer(manager, policy)  # train is missing


def test_the_only_policy_is_called_policy():
    """L3"""
    manager = corridor()
    trainer = PlayingOne(sim=manager, policy=random_policy(manager))
    assert trainer.policies == {"policy": trainer.policy}
    assert trainer.policy_mapping_fn("agent3") == "policy"
    assert trainer.sim is manager


def test_what_a_trainer_plays_with_can_be_set():
    """Release: `sim`, `policies` and `policy_mapping_fn` have setters; the parts are compared when all are there."""
    small, large = corridor(end=5, num_agents=2), corridor(end=8, num_agents=3)
    trainer = Playing(small, {"one": random_policy(small)}, lambda agent: "one")
    trainer.sim = large
    with pytest.raises(AssertionError, match="observation_space of agent0 is"):
        trainer.generate_episode()
    trainer.policies = {"right": always_right(large)}
    with pytest.raises(AssertionError, match="agent0 is mapped to 'one', which is no policy"):
        trainer.generate_episode()
    trainer.policy_mapping_fn = lambda agent: "right"
    episode = trainer.generate_episode(seed=1)
    assert set(episode.actions) == set(large.agents)
    assert {action for actions in episode.actions.values() for action in actions} == {2}
    for name, wrong in (
        ("sim", large.sim),
        ("policies", {}),
        ("policies", {"a": 1}),
        ("policy_mapping_fn", "a"),
    ):
        with pytest.raises(AssertionError, match=name):
            setattr(trainer, name, wrong)
    assert trainer.sim is large


def test_the_only_policy_can_be_set():
    manager = corridor(end=5, num_agents=2)
    trainer = PlayingOne(sim=manager, policy=random_policy(manager))
    trainer.policy = always_right(manager)
    episode = trainer.generate_episode(seed=1)
    assert {action for actions in episode.actions.values() for action in actions} == {2}
    teacher = OnPolicyMonteCarloTrainer(sim=manager, policy=always_right(manager))
    with pytest.raises(AssertionError, match="has no table"):
        teacher.policy = random_policy(manager)


def test_a_trainer_of_ones_own_may_set_the_parts_itself():
    """Release: constructors of one's own assign them, as the `DebugTrainer` of the release does."""

    class Own(Playing):
        def __init__(self, manager):
            self.sim = manager
            self.policies = {"one": always_right(manager)}
            self.policy_mapping_fn = lambda agent: "one"

    assert set(Own(corridor(end=5, num_agents=2)).generate_episode(seed=1).actions) == {"agent0", "agent1"}


def test_a_debug_trainers_own_policies_follow_its_simulation(tmp_path):
    trainer = DebugTrainer(sim=corridor(end=5, num_agents=1), output_dir=str(tmp_path))
    trainer.sim = corridor(end=8, num_agents=2)
    assert set(trainer.generate_episode(seed=1).actions) == {"agent0", "agent1"}
    trainer.policies = {"one": always_right(trainer.sim)}
    trainer.policy_mapping_fn = lambda agent: "one"
    assert {a for actions in trainer.generate_episode(seed=1).actions.values() for a in actions} == {2}


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize("horizon", [1, 2, 7, 200])
def test_an_episode_is_observations_actions_rewards_and_dones(manager, horizon):
    """L4: one more observation than actions, rewards and dones as many as actions, whoever's turn it was at the end."""
    sim = corridor(manager, end=6, num_agents=4)
    for seed in range(10):
        episode = PlayingOne(sim=sim, policy=random_policy(sim)).generate_episode(horizon=horizon, seed=seed)
        observations, actions, rewards, dones = episode
        steps = len(dones["__all__"])
        assert steps <= horizon
        assert dones["__all__"] == [False] * (steps - 1) + [steps < horizon or dones["__all__"][-1]]
        for agent_id in observations:
            count = len(actions[agent_id])
            assert len(observations[agent_id]) == count + 1 or (count == 0 and observations[agent_id])
            assert len(rewards[agent_id]) == len(dones[agent_id]) == count
            assert not any(dones[agent_id][:-1])


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_no_reward_is_lost_at_the_horizon(manager):
    """L4: what waiting agents have earned since their first action is theirs."""
    sim = corridor(manager, end=9, num_agents=3)
    inner, paid = sim.sim.sim, {}
    step = inner.step

    def counted(action, **kwargs):
        before = dict(inner.reward)
        step(action, **kwargs)
        for agent in {**paid, **action}:
            paid[agent] = paid.get(agent, 0) + inner.reward[agent] - before[agent]

    inner.step = counted
    for seed in range(5):
        paid.clear()
        episode = PlayingOne(sim=sim, policy=random_policy(sim)).generate_episode(horizon=5, seed=seed)
        assert {agent: sum(episode.rewards[agent]) for agent in paid} == paid


def test_a_log_is_a_text_file_that_can_be_written(tmp_path):
    """L4"""
    sim = corridor(end=4, num_agents=1)
    trainer = PlayingOne(sim=sim, policy=always_right(sim))
    (tmp_path / "there").write_text("")
    with (tmp_path / "there").open() as reading, (tmp_path / "bytes").open("wb") as binary:
        for wrong in ("log.txt", reading, binary):
            with pytest.raises(AssertionError, match="log"):
                trainer.generate_episode(log=wrong)
    log = io.StringIO()
    trainer.generate_episode(log=log, seed=1)
    words = [line.split()[0] for line in log.getvalue().splitlines()]
    assert words[:6] == ["Reset", "Observation", "Step", "Action", "Observation", "Reward"]


def test_agents_who_never_act_are_asked_for_nothing():
    """M2, L4: a dynamic order may name them."""
    sim = DynamicOrderManager(Called({"a": 4, "b": 4}, ["a", ["watcher", "b"], "a"], passive=("watcher",)))
    agent = sim.agents["a"]
    policy = RandomPolicy(agent.action_space, agent.observation_space)
    episode = PlayingOne(sim=sim, policy=policy).generate_episode()
    assert set(episode.actions) == {"a", "b"}
    assert len(episode.dones["__all__"]) == 4


def test_render_draws_after_reset_and_each_step(capsys):
    sim = corridor(end=4, num_agents=1)
    seen = []
    episode = PlayingOne(sim=sim, policy=always_right(sim)).generate_episode(render=seen.append, seed=1)
    assert len(seen) == len(episode.dones["__all__"]) + 1
    PlayingOne(sim=sim, policy=always_right(sim)).generate_episode(render=True, seed=1)
    assert capsys.readouterr().out.count("\n") == len(seen)


def test_first_visits_are_those_of_pairs():
    """F21: state 0 and action 1 were both seen before, the pair (0, 1) was not."""
    observations, actions, rewards = [0, 1, 0, 0], [0, 1, 1, 0], [1.0, 2.0, 4.0, 8.0]
    assert first_visits(observations, actions, rewards, 0.5) == {
        (0, 0): 1 + 0.5 * (2 + 0.5 * (4 + 0.5 * 8)),
        (1, 1): 2 + 0.5 * (4 + 0.5 * 8),
        (0, 1): 4 + 0.5 * 8,
    }


def test_all_agents_teach_the_policy_that_they_share():
    """F21: with one agent standing in the way, only the other one's returns can fill these cells."""
    sim = corridor(end=5, num_agents=2)
    agent = sim.agents["agent0"]
    table = np.full((agent.observation_space.n, 3), np.nan)
    table[:, 2] = 0.0  # NaN cells are visited by nobody who goes right
    policy = QTablePolicy(agent.action_space, agent.observation_space, q_table=np.zeros_like(table))
    policy.q_table[:, 2] = 1e-9
    trainer = OnPolicyMonteCarloTrainer(sim=sim, policy=policy)
    episode = trainer.generate_episode(seed=4)
    visited = {int(obs) for agent_id in sim.agents for obs in episode.observations[agent_id][:-1]}
    alone = {int(obs) for obs in episode.observations["agent0"][:-1]}
    assert visited - alone
    trainer.train(1, seed=4)
    assert {int(row) for row in np.flatnonzero(policy.q_table[:, 2] != 1e-9)} == visited


def test_monte_carlo_needs_a_table():
    manager = corridor()
    with pytest.raises(AssertionError, match="table"):
        OnPolicyMonteCarloTrainer(sim=manager, policy=random_policy(manager))


def arrives(env, policy) -> bool:
    """Whether an agent that starts anywhere walks straight to the end of ten cells."""
    return all(generate_episode(env, policy, horizon=10)[2][-1] == 100 for _ in range(40))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_off_policy_solves_the_corridor(seed):
    """L7: 1000 episodes of 10 steps; the simulation comes back as a GymWrapper."""
    from interplay.connect.gymnasium import GymWrapper

    env, table, policy = off_policy(corridor(TurnBasedManager, num_agents=1), 1000, horizon=10, seed=seed)
    assert isinstance(env, GymWrapper)
    assert table is policy.q_table
    policy.epsilon = 0
    assert arrives(env, policy)


@pytest.mark.parametrize(
    ("table", "steps", "expected"),
    [
        # Backwards 2, then -9 + 2 / 2 of weight 1 / (5/6): action 0 of state 0 is greedy no more, and the rest counts for nothing.
        (
            [[1.0, 0.0, 0.0], [0.0, 5.0, 0.0]],
            ([0, 1, 0, 1], [0, 1, 0, 1], [-8.0, 1.0, -9.0, 2.0]),
            [[-8.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
        ),
        # (0, 0) was not greedy when it was played, with chance 1/12, and is greedy after the last step.
        # Returns backwards 8, 6, 19, 23.5; weights 1, 12, 12^2 and 12^2 / (5/6).
        (
            [[0.0, 1.0, 0.0], [99.0, 3.0, 0.0]],
            ([1, 1, 0, 0], [0, 0, 0, 0], [14.0, 16.0, 2.0, 8.0]),
            [[(8 + 12 * 6) / 13, 1.0, 0.0], [(19 + 23.5 / (5 / 6)) / (1 + 1 / (5 / 6)), 3.0, 0.0]],
        ),
    ],
)
def test_weights_are_the_chances_that_the_played_policy_had(table, steps, expected, monkeypatch):
    """Epsilon 1/4 of three actions: 5/6 for the greedy one, 1/12 for each other; gamma 1/2."""
    import interplay.train.tabular.off_policy as module

    class Known(EpsilonSoftPolicy):
        def __init__(self, *args, **more):
            super().__init__(*args, q_table=np.array(table), **more)

    env = SimpleNamespace(action_space=Discrete(3), observation_space=Discrete(2))
    monkeypatch.setattr(module, "EpsilonSoftPolicy", Known)
    monkeypatch.setattr(module, "load", lambda name: lambda sim: env)
    monkeypatch.setattr(module, "generate_episode", lambda *_: steps)
    monkeypatch.setattr(module, "FIRST_EPSILON", 0.25)
    _, learned, _ = off_policy(None, 1, gamma=0.5)
    np.testing.assert_allclose(learned, expected)


def test_off_policy_gives_the_policy_that_explored():
    """Release: an `EpsilonSoftPolicy` around the table, with its usual epsilon."""
    _, table, policy = off_policy(corridor(num_agents=1), 3, horizon=10, seed=1)
    assert isinstance(policy, EpsilonSoftPolicy)
    assert policy.epsilon == 0.1
    chances = [policy.probability(4, action) for action in range(3)]
    assert np.argmax(chances) == np.argmax(table[4])
    assert np.isclose(max(chances), 0.9 + 0.1 / 3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_on_policy_solves_the_corridor(seed):
    """L7"""
    from interplay.connect.gymnasium import GymWrapper

    sim = corridor(num_agents=1)
    agent = sim.agents["agent0"]
    policy = EpsilonSoftPolicy(agent.action_space, agent.observation_space, seed=seed)
    sim.reset(seed=seed)
    OnPolicyMonteCarloTrainer(sim=sim, policy=policy).train(1000, horizon=10)
    greedy = QTablePolicy(agent.action_space, agent.observation_space, q_table=policy.q_table)
    assert arrives(GymWrapper(sim), greedy)


def test_the_same_seed_learns_the_same_table():
    tables = [off_policy(corridor(num_agents=1), 30, horizon=10, seed=5)[1] for _ in range(2)]
    assert (tables[0] == tables[1]).all()


def test_episodes_of_gymnasium_environments_drop_the_last_state():
    """L6"""

    class Counting(gymnasium.Env):
        observation_space = action_space = Discrete(9)

        def __init__(self, ends):
            self.ends = ends

        def reset(self, *, seed=None, options=None):
            self.at = 0
            return 0, {}

        def step(self, action):
            self.at += 1
            return self.at, float(action), self.at == self.ends, self.at == 3, {}

    table = np.zeros((9, 9))
    table[:, 4] = 1
    policy = QTablePolicy(Discrete(9), Discrete(9), q_table=table)
    assert generate_episode(Counting(9), policy) == ([0, 1, 2], [4, 4, 4], [4.0, 4.0, 4.0])  # truncated
    for ends, horizon in ((2, 200), (9, 2)):
        assert generate_episode(Counting(ends), policy, horizon) == ([0, 1], [4, 4], [4.0, 4.0])


def test_debug_trainers_make_a_random_policy_for_each_agent(tmp_path):
    """L5: named by the agent, whatever the mapping function says."""
    manager = AllStepManager(MultiCorridor(end=5, num_agents=2))
    trainer = DebugTrainer(sim=manager, output_dir=str(tmp_path), policy_mapping_fn=lambda agent: "nobody")
    assert list(trainer.policies) == ["agent0", "agent1"]
    assert all(isinstance(policy, RandomPolicy) for policy in trainer.policies.values())
    assert trainer.name.startswith("DEBUG_")
    for wrong in ({"name": 3}, {"output_dir": tmp_path}):
        with pytest.raises(AssertionError, match="no str"):
            DebugTrainer(sim=manager, **wrong)


def test_debug_trainers_write_two_files_per_episode(tmp_path):
    """L5 and 6.2, and F28: two trainers of one minute keep apart."""
    manager = AllStepManager(MultiCorridor(end=5, num_agents=2))
    folders = []
    for _ in range(2):
        trainer = DebugTrainer(sim=manager, name="Look", output_dir=str(tmp_path))
        folders.append(trainer.train(iterations=2, horizon=4, seed=3))
        assert folders[-1] == trainer.output_dir
    assert len(set(folders)) == 2
    for folder in folders:
        assert sorted(path.name for path in tmp_path.joinpath(folder).iterdir()) == [
            f"Episode_{i}_by_{form}.txt" for i in (0, 1) for form in ("agent", "event")
        ]
    events = tmp_path.joinpath(folders[0], "Episode_0_by_event.txt").read_text()
    order = [events.index(word) for word in ("Reset", "Observation", "Step 0", "Action", "Reward", "Done")]
    assert order == sorted(order)
    agents = tmp_path.joinpath(folders[0], "Episode_0_by_agent.txt").read_text()
    for word in ("agent0", "agent1", "Observations", "Actions", "Rewards", "Dones"):
        assert word in agents
    assert agents == tmp_path.joinpath(folders[1], "Episode_0_by_agent.txt").read_text()
    begins = [f"    {observed[0]!r}" for observed in trainer.generate_episode(seed=4).observations.values()]
    second = tmp_path.joinpath(folders[0], "Episode_1_by_agent.txt").read_text().splitlines()
    assert [second[i + 1] for i, line in enumerate(second) if line == "  Observations"] == begins
    assert begins != [line for before, line in pairwise(agents.splitlines()) if before == "  Observations"]


def test_the_default_folder_is_in_the_home_directory(tmp_path, monkeypatch):
    """6.2"""
    monkeypatch.setenv("HOME", str(tmp_path))
    trainer = DebugTrainer(sim=AllStepManager(MultiCorridor()))
    assert trainer.output_dir.startswith(str(tmp_path / "interplay_results" / "DEBUG_"))
    assert not (tmp_path / "interplay_results").exists()  # until something is written


def test_importing_them_loads_neither_jax_nor_torch():
    code = (
        "from interplay.train import *; import interplay.train as t, sys; "
        "assert OnPolicyMonteCarloTrainer and len(t.__all__) == 10; "
        "print({'jax', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
