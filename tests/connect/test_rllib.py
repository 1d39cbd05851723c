"""RLlib: specification X6 and X7, 8.1, and the faults F20, F22 and F24, with short real training runs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.rllib.core.models.catalog import Catalog
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv, make_multi_agent
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from interplay.connect import MultiAgentWrapper, multi_agent_to_simulation, world_to_rllib
from interplay.connect.rllib.actions import mask_row, offered, taken
from interplay.sim import is_agent
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.sim.wrappers import SARWrapper, SuperAgentWrapper
from interplay.sim.wrappers.flatten_wrapper import flatdim, flatten
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.grids import battle, cross_traffic, traffic
from tests.connect.toy_simulations import Overheard, Strict, StrictInOrder, mask

pytestmark = pytest.mark.slow

MANAGERS = (AllStepManager, TurnBasedManager)

# PPO trains each of these under both managers.
SIMULATIONS = {"corridor": lambda: MultiCorridor(end=5, num_agents=3), "traffic": traffic, "battle": battle}

QUICK = {"zone_cooldown": 10}
MOVES = spaces.Dict(
    move=spaces.Box(-1, 1, (2,), int),
    say=spaces.Discrete(3, start=2),
    wave=spaces.MultiBinary(2),
    push=spaces.Box(-1.0, 1.0, (1,)),
)


def corridor(manager, **limits):
    return MultiAgentWrapper(manager(MultiCorridor(end=5, num_agents=3), **limits))


def coached():
    return SuperAgentWrapper(
        MultiCorridor(end=6, num_agents=3), super_agent_mapping={"coach": ["agent0", "agent1"]}
    )


def walk(env, seed=None, action=2):
    """One episode in which everybody asked does the same."""
    observations, infos = env.reset(seed=seed)
    story = [(observations, infos)]
    while True:
        asked = [
            a for a in observations if len(story) == 1 or not (story[-1][2].get(a) or story[-1][3].get(a))
        ]
        story.append(env.step(dict.fromkeys(asked, action)))
        observations, flags = story[-1][0], story[-1][2:4]
        if flags[0]["__all__"] or flags[1]["__all__"]:
            return story


def text(story):
    return repr(story).replace("dtype=int8", "").replace("dtype=int64", "")


# -- X6: managers as environments -------------------------------------------------------------------


def test_x6_only_managers_and_what_they_show():
    with pytest.raises(AssertionError, match="no SimulationManager"):
        MultiAgentWrapper(Strict({"a": 1}))
    sim = Strict({"a": 3, "b": 3})
    env = MultiAgentWrapper(AllStepManager(sim))
    assert isinstance(env, MultiAgentEnv)
    assert env.possible_agents == env.agents == ["a", "b"]
    assert env.observation_space == spaces.Dict({"a": spaces.Discrete(50), "b": spaces.Discrete(50)})
    assert env.action_space == spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Discrete(3)})
    assert env.get_action_space("b") is env.action_spaces["b"]
    assert env.get_observation_space("b") is env.observation_spaces["b"]
    assert env.sim.sim is sim
    env.reset()
    assert env.render() == "clock 0"


def test_x6_reset_and_step():
    env = MultiAgentWrapper(AllStepManager(Strict({"a": 1, "b": 3})))
    sim = env.sim.sim
    assert env.reset(seed=1) == (sim.seen, {})
    told = env.step({"a": 1, "b": 2})
    assert told == (
        sim.seen,
        {"a": 1.0, "b": 2.0},
        {"a": True, "b": False, "__all__": False},
        {"__all__": False},
        {"a": {"clock": 1}, "b": {"clock": 1}},
    )
    assert env.agents == ["a", "b"]  # a finished in this report
    env.step({"b": 0})
    assert env.agents == ["b"]
    *_, terminateds, truncateds, _ = env.step({"b": 0})
    assert (terminateds, truncateds) == ({"b": True, "__all__": True}, {"__all__": False})
    assert env.agents == ["b"]


def test_x6_in_turns_only_the_next_is_shown():
    env = MultiAgentWrapper(TurnBasedManager(Strict({"a": 9, "b": 9})))
    assert list(env.reset()[0]) == ["a"]
    assert [list(env.step({name: 0})[0]) for name in "abab"] == [["b"], ["a"], ["b"], ["a"]]


@pytest.mark.parametrize("manager", MANAGERS)
def test_f22_a_time_limit_shows_as_truncation(manager):
    env = MultiAgentWrapper(manager(Strict({"a": 2, "b": 30}), time_limit=8))
    *_, (observations, _, terminateds, truncateds, _) = walk(env)
    assert (terminateds["__all__"], truncateds["__all__"]) == (False, True)
    assert not truncateds.get("b")  # all are truncated, none by itself
    assert terminateds["b"] is False
    assert set(observations) == {"b"}
    assert env.agents == ["b"]


def test_x6_whole_number_boxes_are_offered_as_numbers_from_0():
    env = MultiAgentWrapper(AllStepManager(Strict({"a": 50}, actions=MOVES)))
    assert env.action_spaces["a"] == spaces.Dict(
        move=spaces.MultiDiscrete([3, 3]),
        say=spaces.Discrete(3),
        wave=spaces.MultiDiscrete([2, 2]),
        push=spaces.Box(-1.0, 1.0, (1,)),
    )
    env.reset()
    push = np.zeros(1, np.float32)
    env.step({"a": {"move": np.array([0, 2]), "say": 0, "wave": np.array([1, 0]), "push": push}})
    (heard,) = env.sim.sim.heard
    assert heard["a"]["move"].tolist() == [-1, 1]
    assert (heard["a"]["say"], heard["a"]["wave"].tolist()) == (2, [1, 0])
    env.action_space.seed(1)
    for _ in range(40):
        env.step({"a": env.action_spaces["a"].sample()})  # the simulation insists on its space
    assert len({tuple(h["a"]["move"].tolist()) for h in env.sim.sim.heard}) == 9
    plain = MultiAgentWrapper(AllStepManager(Strict({"a": 2}, actions=spaces.Box(0.0, 1.0, (2,)))))
    assert plain.action_spaces["a"] == spaces.Box(0.0, 1.0, (2,))


@pytest.mark.parametrize(
    ("space", "last"),
    [
        (spaces.Box(-1, 1, (2,), int), [2, 2]),
        (spaces.Discrete(3, start=5), 2),
        (spaces.MultiBinary(2), [1, 1]),
    ],
)
def test_no_number_is_taken_beyond_those_that_were_offered(space, last):
    assert space.contains(taken(space, np.array(last)))
    for wrong in (np.add(last, 1), np.multiply(last, -1)):
        with pytest.raises((ValueError, TypeError)):
            taken(space, wrong)


def test_rllibs_distribution_draws_what_a_mask_allows():
    """Its logits stand in the order of sorted keys, whatever the space's."""
    inner = spaces.Dict(z=spaces.Discrete(2), y=spaces.Box(0, 2, (1,), int))
    acts = spaces.Dict(move=spaces.Discrete(4), attack=inner)
    legal = {"move": mask(1, 0, 0, 0), "attack": {"z": mask(0, 1), "y": None}}
    row = mask_row(acts, legal)
    assert row.tolist() == [1, 1, 1, 0, 1, 1, 0, 0, 0]  # attack y, attack z, move
    logits = torch.clamp(torch.log(torch.tensor(row)), min=-1e9)[None]
    drawn = Catalog._get_dist_cls_from_action_space(offered(acts), framework="torch").from_logits(logits)
    for _ in range(20):
        action = drawn.sample()
        assert (int(action["move"]), int(action["attack"]["z"])) == (0, 1)


def test_what_is_shown_is_made_of_arrays_of_the_spaces_types():
    env = MultiAgentWrapper(AllStepManager(coached()))
    seen, *_ = env.reset(seed=1)
    assert seen in env.observation_space
    assert (seen["coach"]["mask"]["agent0"].dtype, seen["coach"]["mask"]["agent0"].tolist()) == (np.int8, [1])
    sim = Strict({"a": 3}, observations=spaces.Box(0.0, 1.0, (2,)))
    env = MultiAgentWrapper(AllStepManager(sim))
    sim._look = lambda: setattr(sim, "seen", {"a": [0, 1]})
    assert env.reset()[0]["a"].dtype == np.float32
    sim._look = lambda: setattr(sim, "seen", {"a": "nothing of the kind"})
    assert env.step({"a": 0})[0] == {"a": "nothing of the kind"}


def test_masks_join_the_observation_only_if_asked_for():
    masks = {"a": mask(0, 1, 1)}
    sim = Strict({"a": 1, "b": 9}, masks=masks)
    assert MultiAgentWrapper(AllStepManager(sim)).observation_spaces["a"] == spaces.Discrete(50)
    env = MultiAgentWrapper(AllStepManager(sim), action_masks=True)
    observations, _ = env.reset()
    assert observations["a"]["action_mask"].tolist() == [0.0, 1.0, 1.0]
    assert observations["b"]["action_mask"].tolist() == [1.0, 1.0, 1.0]
    assert observations["a"]["observations"] == sim.seen["a"]
    assert observations in env.observation_space
    observations, *_ = env.step({"a": 1, "b": 0})
    assert observations["a"]["action_mask"].tolist() == [1.0, 1.0, 1.0]  # has finished: nobody reads it
    parts = {"move": None, "say": mask(1, 0, 0), "wave": np.array([2, 0], np.int8), "push": None}
    env = MultiAgentWrapper(
        AllStepManager(Strict({"a": 1}, actions=MOVES, masks={"a": parts})), action_masks=True
    )
    row = env.reset()[0]["a"]["action_mask"]
    assert env.observation_spaces["a"]["action_mask"].contains(row)
    order = list(MOVES.spaces)
    expected = {"move": [1] * 6, "say": [1, 0, 0], "wave": [1, 1, 1, 0], "push": []}
    assert row.tolist() == [float(legal) for key in order for legal in expected[key]]


# -- X7: environments as simulations ----------------------------------------------------------------


class Relay(MultiAgentEnv):
    """Agents 0 and 1, with numbers as ids, take turns; 0 earns while 1 acts and is truncated first."""

    def __init__(self):
        self.possible_agents = self.agents = [0, 1]
        super().__init__()
        self.observation_spaces = dict.fromkeys(self.agents, spaces.Discrete(10))
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(2))

    def reset(self, *, seed=None, options=None):
        self.clock, self.heard, self.given = 0, [], (seed, options)
        return {0: 0}, {0: {"began": True}}

    def step(self, action_dict):
        self.heard.append(action_dict)
        self.clock += 1
        one, cut = self.clock % 2, self.clock == 4
        observations = {one: self.clock, **({0: 9} if cut else {})}
        truncated = {0: cut, "__all__": False}
        return (
            observations,
            {0: 1.5, 1: 0.5},
            {"__all__": self.clock == 6},
            truncated,
            {one: {"t": self.clock}},
        )


def test_x7_spaces_null_points_and_refusals():
    sim = multi_agent_to_simulation(Relay(), null_observation={"0": 3}, null_action={"1": 0})
    assert list(sim.agents) == ["0", "1"]
    assert sim.agents["1"].observation_space == spaces.Discrete(10)
    assert (sim.agents["0"].null_observation, sim.agents["1"].null_observation) == (3, {})
    assert (sim.agents["0"].null_action, sim.agents["1"].null_action) == ({}, 0)
    for wrong in (Strict({"a": 1}), None):
        with pytest.raises(AssertionError, match="no RLlib MultiAgentEnv"):
            multi_agent_to_simulation(wrong)
    with pytest.raises(AssertionError, match="null points for nobody; the agents are 0, 1"):
        multi_agent_to_simulation(Relay(), {"nobody": 3})
    with pytest.raises(AssertionError, match="null_observation 10"):
        multi_agent_to_simulation(Relay(), {"0": 10})


class _Late(Relay):
    """Calls RLlib's constructor first, when there are no agents and no spaces yet, and sets one sort of them then."""

    def __init__(self, sort):
        MultiAgentEnv.__init__(self)
        self.clock = 0
        point, choice = spaces.Discrete(10), spaces.Discrete(2)
        if sort == "spaces":
            self.observation_spaces, self.action_spaces = {0: point, 1: point}, {0: choice, 1: choice}
        elif sort == "space":
            self.observation_space = spaces.Dict({"0": point, "1": point})
            self.action_space = spaces.Dict({"0": choice, "1": choice})
        else:
            self.observation_space, self.action_space = point, choice
            if sort == "ids":
                self._agent_ids = {"1", "0"}
            elif sort == "agents":
                self.agents = ["0", "1"]


@pytest.mark.parametrize("sort", ["spaces", "space", "ids", "agents"])
def test_x7_spaces_set_after_the_constructor_of_rllib_name_the_agents(sort):
    sim = multi_agent_to_simulation(_Late(sort))
    assert list(sim.agents) == ["0", "1"]
    assert sim.agents["1"].observation_space == spaces.Discrete(10)
    assert sim.agents["1"].action_space == spaces.Discrete(2)


def test_x7_an_environment_that_names_nobody_is_refused():
    with pytest.raises(AssertionError, match="env _Late names no agents; set possible_agents"):
        multi_agent_to_simulation(_Late("nobody"))


def test_x7_what_it_says_is_what_the_environment_said():
    sim = multi_agent_to_simulation(Relay())
    sim.reset(seed=5)
    assert sim.env.given == (5, None)
    assert (sim.get_obs("0"), sim.get_info("0"), sim.get_reward("0")) == (0, {"began": True}, 0)
    assert (sim.get_obs("1"), sim.get_info("1")) == (0, {}), "a point of its space until it is shown one"
    sim.step({"0": 1})
    assert sim.env.heard == [{0: 1}]
    assert (sim.get_obs("1"), sim.get_info("1"), sim.next_agent) == (1, {"t": 1}, ["1"])
    sim.step({"1": 0})
    assert sim.get_reward("0") == sim.get_reward("0") == 3.0  # since it acted, however often it is read
    assert not sim.get_done("0")
    sim.step({"0": 1})
    sim.step({"1": 1})
    assert (sim.get_done("0"), sim.get_done("1"), sim.get_all_done()) == (True, False, False)
    sim.step({"1": 1})
    sim.step({"1": 1})
    assert (sim.get_done("0"), sim.get_done("1"), sim.get_all_done()) == (True, True, True)


def test_x7_the_dynamic_manager_follows_the_environments_order():
    manager = DynamicOrderManager(multi_agent_to_simulation(Relay()))
    told, order = manager.reset(), []
    dones = dict.fromkeys(told, False)
    while not dones.get("__all__"):
        asked = [name for name in told if not dones[name]]
        order.append(asked)
        told, _, dones, _ = manager.step(dict.fromkeys(asked, 0))
    assert order[:4] == [["0"], ["1"], ["0"], ["1"]]


@pytest.mark.parametrize("manager", MANAGERS)
def test_x7_there_and_back_again(manager):
    """Our simulation under a manager, as RLlib's environment, as a simulation: the same episode."""
    order = AllStepManager if manager is AllStepManager else DynamicOrderManager
    there = corridor(manager)
    back = MultiAgentWrapper(order(multi_agent_to_simulation(corridor(manager))))
    for seed in range(3):
        assert text(walk(there, seed)[1:]) == text(walk(back, seed)[1:])


def test_x7_rllibs_own_environments():
    manager = AllStepManager(multi_agent_to_simulation(make_multi_agent("CartPole-v1")({"num_agents": 2})))
    observations = manager.reset(seed=1)
    for _ in range(200):
        for name, seen in observations.items():
            assert manager.agents[name].observation_space.contains(seen)
        live = [name for name in observations if name not in manager.done_agents]
        observations, rewards, dones, _ = manager.step(dict.fromkeys(live, 1))
        assert all(reward == 1.0 for reward in rewards.values())
        if dones["__all__"]:
            break
    assert dones["__all__"]


# -- worlds -----------------------------------------------------------------------------------------


def test_a_world_shows_those_who_act_and_pays_all():
    env = world_to_rllib("survival/1v1-heals-low", **QUICK)
    assert env.possible_agents == ["agent_0", "agent_1"]
    env.action_space.seed(0)
    waited = 0
    for seed in range(4):
        observations, _ = env.reset(seed=seed)
        over = {"__all__": False}
        while not over["__all__"]:
            assert all(env.observation_spaces[name].contains(seen) for name, seen in observations.items())
            actions = {name: env.action_spaces[name].sample() for name in observations}
            observations, rewards, terminateds, truncateds, infos = env.step(actions)
            assert set(observations) == set(infos) <= set(rewards) == set(env.possible_agents)
            waited += len(observations) == 1
            over = {"__all__": terminateds["__all__"] or truncateds["__all__"]}
        assert set(observations) == set(env.possible_agents) == set(env.agents)
    assert waited > 0
    env.close()


# -- F24: RLlib trains ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    """A function that trains an environment with PPO, one policy for all or one for each, and returns the losses."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent anywhere
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)

    def train(make, iterations=2, module=None, flatten=True, policies=("shared",)):
        register_env("interplay-test", lambda config: make())
        options = {"num_env_runners": 0}
        if flatten:
            options["env_to_module_connector"] = lambda *a, **k: FlattenObservations(multi_agent=True)
        config = (
            PPOConfig()
            # RLlib's check of environments plays without looking at masks.
            .environment("interplay-test", disable_env_checking=module is not None)
            .env_runners(**options)
            .training(train_batch_size_per_learner=200, minibatch_size=64, num_epochs=2)
            .multi_agent(
                policies=set(policies),
                policy_mapping_fn=lambda agent, episode, **more: agent if agent in policies else "shared",
            )
        )
        if module is not None:
            config.rl_module(rl_module_spec=RLModuleSpec(module_class=module))
        algorithm = config.build_algo()
        results = [algorithm.train() for _ in range(iterations)]
        algorithm.stop()
        assert all(result["env_runners"]["num_env_steps_sampled"] == 200 for result in results)
        return [float(result["learners"][policy]["total_loss"]) for result in results for policy in policies]

    yield train
    ray.shutdown()
    torch.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize("manager", MANAGERS)
def test_f24_ppo_trains(trained, manager, name):
    losses = trained(lambda: MultiAgentWrapper(manager(SIMULATIONS[name](), time_limit=30)))
    assert np.isfinite(losses).all()


@pytest.mark.filterwarnings("ignore")
def test_f24_ppo_trains_a_world(trained):
    assert np.isfinite(trained(lambda: world_to_rllib("survival/1v1-heals-low", **QUICK), iterations=1)).all()


@pytest.mark.filterwarnings("ignore")
def test_f24_ppo_trains_a_super_agent_beside_another(trained):
    """Section 7: super agents train on current RLlib; spaces differ, so each has a policy of its own."""
    policies = {"coach", "agent2"}
    losses = trained(lambda: MultiAgentWrapper(AllStepManager(coached(), time_limit=20)), policies=policies)
    assert np.isfinite(losses).all()


@pytest.mark.filterwarnings("ignore")
def test_f24_ppo_trains_a_simulation_that_moves_by_a_box_and_calls_its_agents(trained):
    def make():
        groups = [["b"], ["a", "c"]]
        sim = StrictInOrder(
            {"a": 9, "b": 15, "c": 20}, groups, actions=MOVES, observations=spaces.Box(0, 1, (4,))
        )
        return MultiAgentWrapper(DynamicOrderManager(sim, time_limit=18))

    assert np.isfinite(trained(make, iterations=1)).all()


@pytest.mark.filterwarnings("ignore")
def test_rllibs_own_masking_module_keeps_to_the_masks(trained):
    Overheard.actions.clear()
    masks = {"a": mask(0, 1, 1), "b": mask(1, 0, 0)}

    def make():
        sim = Overheard({"a": 12, "b": 15}, masks=masks, observations=spaces.Box(0.0, 1.0, (4,)))
        return MultiAgentWrapper(AllStepManager(sim), action_masks=True)

    trained(make, iterations=1, module=ActionMaskingTorchRLModule, flatten=False)
    assert {int(action) for name, action in Overheard.actions if name == "a"} == {1, 2}
    assert {int(action) for name, action in Overheard.actions if name == "b"} == {0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [cross_traffic, traffic, battle])
def test_a_grid_worlds_masks_reach_rllibs_own_masking_module(trained, make):
    """Specification 7, action masks: with them a simulation refuses what is illegal, so that it trains shows that they hold."""
    refused = []

    class Guarded(MultiAgentWrapper):
        def step(self, action_dict, **kwargs):
            try:
                return super().step(action_dict, **kwargs)
            except AssertionError as error:
                refused.append(error)
                raise

    def masked():
        flat = FlattenObservationsOf(make(action_masks=True))
        return Guarded(AllStepManager(flat, time_limit=20), action_masks=True)

    env = masked()
    observations, _ = env.reset(seed=1)
    assert observations in env.observation_space
    assert min(observations[name]["action_mask"].min() for name in observations) == (make is traffic)
    losses = trained(masked, module=ActionMaskingTorchRLModule, flatten=False)
    assert np.isfinite(losses).all()
    assert not refused


class FlattenObservationsOf(SARWrapper):
    """Observations as one float Box, which the masking module takes; actions and masks stay."""

    def __init__(self, sim):
        super().__init__(sim)
        for agent in self.agents.values():
            if is_agent(agent):
                size = flatdim(agent.observation_space)
                agent.observation_space = spaces.Box(-9, 9, (size,), np.float32)
                agent.null_observation = np.zeros(size, np.float32)
        self.finalize()

    def wrap_observation(self, from_agent, observation):
        return flatten(from_agent.observation_space, observation).astype(np.float32)


def test_f20_without_rllib_one_sentence_says_what_to_install():
    for name in ("MultiAgentWrapper", "multi_agent_to_simulation"):
        code = f"import sys; sys.modules['ray'] = None\nfrom interplay.connect import {name}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        last = done.stderr.strip().splitlines()[-1]
        assert last.endswith('this adapter needs RLlib; install it with pip install "interplay[rllib]"')
