"""OpenSpiel: specification 2.12, X3 to X5, 3, rows 22 and 23, and the faults F20, F22 and F23."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("open_spiel", reason="the extra openspiel is not installed")

from open_spiel.python.algorithms import random_agent, tabular_qlearner
from open_spiel.python.rl_environment import StepType, TimeStep

from interplay.connect import OpenSpielListWrapper, OpenSpielWrapper
from interplay.sim import is_agent
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.sim.wrappers import RavelActionWrapper, RavelDiscreteWrapper
from interplay.sim.wrappers.ravel_discrete_wrapper import unravel
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.grids import battle, cross_traffic, traffic
from tests.connect.toy_simulations import Strict, StrictInOrder, mask

MANAGERS = (AllStepManager, TurnBasedManager)


# Stock agents are trained on each of these.
SIMULATIONS = {
    "corridor": lambda: MultiCorridor(end=6, num_agents=3),
    "traffic": lambda: RavelActionWrapper(traffic()),
    "traffic by sides": lambda: RavelActionWrapper(cross_traffic(action_masks=True)),
    "battle": lambda: RavelActionWrapper(battle(action_masks=True)),
}


def corridor(manager=AllStepManager, **limits):
    return OpenSpielWrapper(manager(RavelDiscreteWrapper(MultiCorridor(end=6, num_agents=3)), **limits))


def both(manager, sim, **options):
    return OpenSpielWrapper(manager(sim(), **options)), OpenSpielListWrapper(manager(sim(), **options))


def train(env, agents, steps):
    """OpenSpiel's own loop; the time steps that it saw."""
    timestep, seen = env.reset(seed=1), []
    for _ in range(steps):
        seen.append(timestep)
        if timestep.last():
            for agent in agents:
                agent.step(timestep)
            timestep = env.reset()
        elif timestep.is_simultaneous_move():
            timestep = env.step([agent.step(timestep).action for agent in agents])
        else:
            timestep = env.step([agents[timestep.current_player()].step(timestep).action])
    return seen


# -- X3: what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", [OpenSpielWrapper, OpenSpielListWrapper])
def test_x3_managers_with_discrete_actions_only(adapter):
    with pytest.raises(AssertionError, match="no SimulationManager"):
        adapter(Strict({"a": 1}))
    box = Strict({"a": 1}, actions=spaces.Box(0, 1, (2,), np.int64))
    with pytest.raises(AssertionError, match=r"action space .* of a is not Discrete"):
        adapter(AllStepManager(box))


def test_x3_the_manuals_form_wants_discrete_observations_too():
    with pytest.raises(AssertionError, match=r"observation space .* of agent0 is not Discrete"):
        OpenSpielWrapper(AllStepManager(MultiCorridor()))
    assert corridor().num_players == 3


@pytest.mark.parametrize("adapter", [OpenSpielWrapper, OpenSpielListWrapper])
def test_x3_discounts(adapter):
    manager = AllStepManager(Strict({"a": 3, "b": 3}))
    assert adapter(manager).discounts == {"a": 1.0, "b": 1.0}
    assert adapter(manager, 0.9).discounts == {"a": 0.9, "b": 0.9}
    env = adapter(manager, {"a": 0.5, "b": 1})
    env.reset()
    told = env.step([0, 0]).discounts
    assert (list(told.values()) if isinstance(told, dict) else told) == [0.5, 1]
    for wrong in ({"a": 1}, {"a": 1, "b": 1, "wall": 1}, {"a": 1, "b": "1"}, "1", True, None):
        with pytest.raises(AssertionError, match="discount"):
            adapter(manager, wrong)
        with pytest.raises(AssertionError, match="discount"):
            env.discounts = wrong


# -- the manual's form ------------------------------------------------------------------------------


def test_x4_fields_are_dictionaries_by_id():
    env = OpenSpielWrapper(AllStepManager(Strict({"a": 3, "b": 3})))
    first = env.reset(seed=1)
    assert isinstance(first, TimeStep)
    assert (first.rewards, first.discounts, first.step_type) == (None, None, StepType.FIRST)
    assert first.observations["info_state"] == env.sim.sim.seen
    assert first.observations["legal_actions"] == {"a": [0, 1, 2], "b": [0, 1, 2]}
    second = env.step([1, 2])
    assert env.sim.sim.heard == [{"a": 1, "b": 2}]
    assert (second.rewards, second.discounts) == ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 1.0})
    assert second.step_type == StepType.MID
    assert env.observation_spec()["b"]["info_state"] == (50,)
    assert env.action_spec()["a"] == {"num_actions": 3, "min": 0, "max": 2, "dtype": int}
    assert env.unwrapped is env.sim
    assert env.render() == "clock 1"


@pytest.mark.parametrize("adapter", [OpenSpielWrapper, OpenSpielListWrapper])
def test_x4_a_wrong_number_of_actions_fails(adapter):
    together, in_turns = (adapter(manager(Strict({"a": 3, "b": 3}))) for manager in MANAGERS)
    together.reset()
    in_turns.reset()
    for wrong in ([], [1], [1, 1, 1]):
        with pytest.raises(AssertionError, match="give 2, of a, b"):
            together.step(wrong)
    with pytest.raises(AssertionError, match="2 actions; give 1, of a"):
        in_turns.step([1, 1])


def test_x4_in_turns_everybody_is_listed_and_only_the_next_is_paid():
    env = OpenSpielWrapper(TurnBasedManager(Strict({"a": 9, "b": 9})))
    assert env.reset().observations["current_player"] == "a"
    second = env.step([1])
    assert (second.observations["current_player"], second.rewards) == ("b", {"a": 0, "b": 2.0})
    assert second.observations["info_state"] == env.sim.sim.seen
    assert env.step([1]).rewards == {"a": 2.0, "b": 0}
    assert env.is_turn_based


def test_x4_actions_of_the_done_are_dropped_and_a_step_without_any_changes_nothing():
    env = OpenSpielWrapper(AllStepManager(Strict({"a": 1, "b": 3})))
    env.reset()
    env.step([0, 0])
    env.step([1, 2])
    assert env.sim.sim.heard[1] == {"b": 2}
    env = OpenSpielWrapper(TurnBasedManager(Strict({"a": 1, "b": 3})))
    env.reset()
    env.step([0])
    assert env.step([0]).observations["current_player"] == "b"  # a was next in line, but had finished
    env.current_player = "a"
    timestep = env.step([1])
    assert len(env.sim.sim.heard) == 2
    assert (timestep.rewards, timestep.step_type) == ({"a": 0, "b": 0}, StepType.MID)
    assert set(timestep.observations["info_state"]) == {"a", "b"}
    together = OpenSpielWrapper(AllStepManager(Strict({"a": 3, "b": 3})))
    together.reset()
    together.current_player = "b"
    assert together.step([1, 2]).observations["current_player"] == "b"
    assert together.sim.sim.heard == [{"a": 1, "b": 2}]
    with pytest.raises(AssertionError, match="no learning agent"):
        env.current_player = "wall"


@pytest.mark.parametrize("nulls", [None, 7])
def test_row_22_the_done_show_their_null_observation(nulls):
    env = OpenSpielWrapper(AllStepManager(Strict({"a": 1, "b": 3}, nulls=nulls)))
    env.reset()
    finished = env.step([0, 0])
    assert finished.observations["info_state"]["a"] == env.sim.sim.seen["a"]  # the last real one
    later = env.step([0, 0])
    assert later.observations["info_state"]["a"] == (env.sim.sim.seen["a"] if nulls is None else nulls)


@pytest.mark.parametrize("manager", MANAGERS)
def test_x5_a_step_before_the_first_reset_and_after_the_last_resets(manager):
    for env in both(manager, lambda: Strict({"a": 2, "b": 2})):
        assert env.step([5, 5, 5]).first()
        timestep = env.step([0] if env.is_turn_based else [0, 0])
        timestep = env.step([0] if env.is_turn_based else [0, 0])
        assert timestep.last()
        assert env.step([]).first()


@pytest.mark.parametrize("manager", MANAGERS)
def test_f23_discounts_are_0_at_last_and_a_limit_can_be_told_from_an_end(manager):
    for limit, cut in ((2, True), (None, False)):
        for env in both(manager, lambda: Strict({"a": 4, "b": 4}), time_limit=limit):
            timestep = env.reset()
            while not timestep.last():
                timestep = env.step([0] if env.is_turn_based else [0, 0])
            zeros = timestep.discounts
            assert list(zeros.values() if isinstance(zeros, dict) else zeros) == [0.0, 0.0]
            assert env.truncated is cut
            assert env.sim.sim.clock == (limit or 4)


def test_a_limit_of_the_simulation_itself_is_a_truncation_too():
    class Limited(Strict):
        def get_truncated(self, agent_id, **kwargs):
            return agent_id == "b"

    for lives, cut in (({"a": 2, "b": 3}, True), ({"a": 2, "c": 3}, False)):
        for env in both(AllStepManager, partial(Limited, lives)):
            timestep = env.reset()
            while not timestep.last():
                assert not env.truncated
                timestep = env.step([0, 0])
            assert env.truncated is cut


def test_openspiels_random_agent_plays_the_manuals_form():
    env = corridor(TurnBasedManager, time_limit=40)
    agents = {name: random_agent.RandomAgent(name, 3) for name in env.sim.agents}
    timestep = env.reset(seed=1)
    while not timestep.last():
        timestep = env.step([agents[timestep.current_player()].step(timestep).action])
    assert set(timestep.rewards) == set(agents)


# -- lists by player --------------------------------------------------------------------------------


def test_row_23_who_is_the_current_player():
    together, in_turns = (both(manager, lambda: Strict({"a": 2, "b": 2})) for manager in MANAGERS)
    assert [env.reset().current_player() for env in together] == ["a", -2]
    assert [env.reset().current_player() for env in in_turns] == ["a", 0]
    assert [env.step([0]).current_player() for env in in_turns] == ["b", 1]
    assert together[1].reset().is_simultaneous_move()
    assert in_turns[1].step([0]).current_player() == -4  # OpenSpiel's own sign for the end
    assert (together[1].num_actions_per_step, in_turns[0].num_players) == (2, 2)


def test_vectors_of_one_length_and_actions_from_0():
    sim = Strict({"a": 5, "b": 5}, observations=spaces.Dict(x=spaces.Discrete(9), y=spaces.Box(0, 1, (2,))))
    sim.agents["b"].action_space = spaces.Discrete(2, start=-1)
    sim.agents["b"].observation_space = spaces.Discrete(4)
    env = OpenSpielListWrapper(AllStepManager(sim))
    timestep = env.reset(seed=1)
    assert env.observation_spec() == {
        "info_state": (3,),
        "legal_actions": (3,),
        "current_player": (),
        "serialized_state": (),
    }
    assert env.action_spec() == {"num_actions": 3, "min": 0, "max": 2, "dtype": int}
    a, b = timestep.observations["info_state"]
    assert a == pytest.approx([sim.seen["a"]["x"], *sim.seen["a"]["y"]])
    assert b == [sim.seen["b"], 0.0, 0.0]
    assert timestep.observations["legal_actions"] == [[0, 1, 2], [0, 1]]
    env.step([2, 0])
    assert sim.heard == [{"a": 2, "b": -1}]


def test_legal_actions_are_those_of_the_mask():
    masks = {"a": mask(0, 1, 1), "b": mask(1, 0, 0)}
    by_id, by_player = both(AllStepManager, lambda: Strict({"a": 1, "b": 2}, masks=masks))
    assert by_id.reset().observations["legal_actions"] == {"a": [1, 2], "b": [0]}
    assert by_player.reset().observations["legal_actions"] == [[1, 2], [0]]
    assert by_player.step([1, 0]).observations["legal_actions"] == [
        [0],
        [0],
    ]  # a has finished, its action is dropped
    in_turns = OpenSpielListWrapper(TurnBasedManager(Strict({"a": 9, "b": 9}, masks=masks)))
    assert in_turns.reset().observations["legal_actions"] == [[1, 2], []]
    in_turns.step([0])
    checked = OpenSpielListWrapper(in_turns.sim, enable_legality_check=True)
    checked.reset()
    with pytest.raises(AssertionError, match=r"action 0 of a is illegal now; choose from \[1, 2\]"):
        checked.step([0])


class PaidAtOnce(TurnBasedManager):
    """A user's manager that reports the rewards of all agents at every step."""

    def step(self, action_dict, **kwargs):
        observations, rewards, dones, infos = super().step(action_dict, **kwargs)
        rest = {name: self.sim.get_reward(name) for name in self.sim.lives if name not in rewards}
        return observations, rewards | rest, dones, infos


@pytest.mark.parametrize("manager", [TurnBasedManager, PaidAtOnce])
def test_in_turns_nobody_loses_what_he_earned(manager):
    """Stock agents read rewards on their own turns and at the end; whoever finishes early is paid then."""
    env = OpenSpielListWrapper(manager(Strict({"a": 1, "b": 4, "c": 6})))
    timestep, told = env.reset(), []
    while not timestep.last():
        asked = env.current_player
        timestep = env.step([0])
        told.append((asked, env.current_player, timestep.rewards))
    assert told[0] == (0, 1, [0.0, 2.0, 0.0])
    assert np.sum([rewards for *_, rewards in told], axis=0).tolist() == [1.0, 2.0 * 4, 3.0 * 6]
    assert timestep.rewards[0] == 1.0
    for _, now, rewards in told[:-1]:
        assert all(reward == 0 for player, reward in enumerate(rewards) if player != now)


def test_the_simulation_may_name_one_or_several():
    sim = StrictInOrder({"a": 9, "b": 9, "c": 9}, [["b"], ["a", "c"]])
    env = OpenSpielListWrapper(DynamicOrderManager(sim))
    assert env.reset().current_player() == 1
    assert env.step([2]).current_player() == -2
    assert env.step([0, 1, 2]).current_player() == 1
    assert sim.heard == [{"b": 2}, {"a": 0, "c": 2}]


# -- laws, and stock agents -------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", [OpenSpielWrapper, OpenSpielListWrapper])
def test_a_seed_names_one_episode(adapter):
    """`seed` and then `reset`: that episode, and the next ones go on from there. A reset's own seed comes first, and spends it."""

    def make():
        return adapter(AllStepManager(Strict({"a": 3, "b": 3})))

    def starts(env, count=4):
        return [str(env.reset().observations["info_state"]) for _ in range(count)]

    env = make()
    env.seed(3)
    told = starts(env)
    assert len(set(told)) == 4, "the seed named the first alone"
    env.seed(3)
    assert starts(env) == told
    env.seed(None)
    assert starts(env, 1)[0] not in told
    env.seed(3)
    env.reset(seed=5)
    rest = starts(env)
    other = make()
    other.reset(seed=5)
    assert rest == starts(other)
    # A step after the last one resets, too: with the seed, if there is one.
    env.reset(seed=5)
    while not env.step([0, 0]).last():
        pass
    env.seed(3)
    assert str(env.step([]).observations["info_state"]) == told[0]


def test_there_is_no_tree_and_it_says_so():
    env = OpenSpielListWrapper(AllStepManager(Strict({"a": 3})))
    assert not hasattr(env, "game")
    for name in ("game", "get_state"):
        with pytest.raises(AttributeError, match="use a learning agent that plays episodes") as error:
            getattr(env, name)
        assert "\n" not in str(error.value)


def test_openspiels_vector_of_environments():
    from open_spiel.python.rl_agent import StepOutput
    from open_spiel.python.vector_env import SyncVectorEnv

    envs = [OpenSpielListWrapper(TurnBasedManager(Strict({"a": 2 + n, "b": 2 + n}))) for n in range(2)]
    assert envs[0].get_time_step() is None
    vector = SyncVectorEnv(envs)
    assert [timestep.first() for timestep in vector.reset()] == [True, True]
    stories = []
    for _ in range(4):
        told, _, done, last = vector.step([StepOutput(0, None)] * 2, reset_if_done=True)
        assert [timestep.first() for timestep in told] == done == [timestep.last() for timestep in last]
        assert [env.get_time_step() for env in envs] == told
        stories.append(done)
    assert np.array(stories).any(axis=0).all()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (None, "actions None are no list; give one of 2 whole numbers"),
        (1, "actions 1 are no list"),
        ([None, 0], "action None of a is no whole number; mend the player"),
        ([0, 1.0], r"action 1.0 of b is no whole number"),
        (["0", 1], "action '0' of a is no whole number"),
        ([[0, 1], [0, 1]], "are no list"),
    ],
)
@pytest.mark.parametrize("adapter", [OpenSpielWrapper, OpenSpielListWrapper])
def test_what_is_no_action_is_one_line(adapter, actions, words):
    env = adapter(AllStepManager(Strict({"a": 3, "b": 3})))
    env.reset()
    with pytest.raises(AssertionError, match=words) as error:
        env.step(actions)
    assert "\n" not in str(error.value)
    assert env.sim.sim.heard == []


def stock_players(name, env):
    """OpenSpiel's own learning agents, one for each player."""
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    small = {"hidden_layers_sizes": [8], "batch_size": 8}
    replaying = {**small, "min_buffer_size_to_learn": 10}
    make = {
        "tabular_qlearner": lambda m, p: m.QLearner(p, actions),
        "boltzmann_tabular_qlearner": lambda m, p: m.BoltzmannQLearner(p, actions),
        "wolf_phc": lambda m, p: m.WoLFPHC(p, actions),
        "boltzmann_dqn": lambda m, p: m.BoltzmannDQN(p, size, actions, **replaying),
        "nfsp": lambda m, p: m.NFSP(
            p, size, actions, reservoir_buffer_capacity=99, anticipatory_param=0.1, **replaying
        ),
        "policy_gradient": lambda m, p: m.PolicyGradient(p, size, actions, loss_str="a2c", **small),
    }[name]
    room = "pytorch" if name in ("boltzmann_dqn", "nfsp", "policy_gradient") else "algorithms"
    module = pytest.importorskip(f"open_spiel.python.{room}.{name}", reason="this agent needs torch")
    return [make(module, player) for player in range(env.num_players)]


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize(
    "name",
    [
        "tabular_qlearner",
        "boltzmann_tabular_qlearner",
        "wolf_phc",
        "boltzmann_dqn",
        "nfsp",
        "policy_gradient",
    ],
)
def test_the_learning_agents_that_the_documents_name_run(name, manager):
    env = OpenSpielListWrapper(manager(MultiCorridor(end=5, num_agents=2), time_limit=12))
    seen = train(env, stock_players(name, env), 60)
    assert sum(timestep.last() for timestep in seen) >= 4
    chosen = {timestep.current_player() for timestep in seen if not timestep.last()}
    assert chosen == ({-2} if manager is AllStepManager else {0, 1})


@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize("manager", MANAGERS)
def test_f23_stock_dqn_agents_run(manager, name):
    """F23: 300 steps, all learning, every player's transitions in its buffer."""
    pytest.importorskip("torch", reason="OpenSpiel's DQN needs torch")
    from open_spiel.python.pytorch import dqn

    env = OpenSpielListWrapper(manager(SIMULATIONS[name](), time_limit=30))
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    few = {"hidden_layers_sizes": [16], "batch_size": 16, "min_buffer_size_to_learn": 20, "learn_every": 5}
    agents = [dqn.DQN(player, size, actions, seed=player, **few) for player in range(env.num_players)]
    seen = train(env, agents, 300)
    assert sum(timestep.last() for timestep in seen) >= 5
    for agent in agents:
        assert np.isfinite(agent.loss)
        assert len(agent.replay_buffer) > 30


@pytest.mark.parametrize("make", [cross_traffic, traffic, battle])
@pytest.mark.parametrize("manager", MANAGERS)
def test_a_grid_worlds_masks_are_its_legal_actions(manager, make):
    """Specification 7, action masks: they feed the legal actions, and the simulation refuses what they leave out."""
    np.random.seed(0)  # noqa: NPY002  OpenSpiel's agents draw from the global stream
    plain, sim = make(action_masks=True), RavelActionWrapper(make(action_masks=True))
    env = OpenSpielListWrapper(manager(sim, time_limit=25))
    count = env.action_spec()["num_actions"]
    agents = [random_agent.RandomAgent(player, count) for player in range(env.num_players)]
    fewer = 0
    for timestep in train(env, agents, 150):
        legal = timestep.observations["legal_actions"]
        fewer += any(0 < len(own) < count for own in legal)
        if timestep.last():
            assert timestep.discounts == [0.0] * 4
    assert fewer > 50
    first = env.reset(seed=3).observations["legal_actions"]
    manager(plain).reset(seed=3)
    for player, (name, agent) in enumerate((n, a) for n, a in plain.agents.items() if is_agent(a)):
        if not first[player]:
            continue  # not his turn
        for action in range(count):
            point = unravel(agent.action_space, action)
            mask = plain.get_action_mask(name)
            row, column = np.ravel(point["move"])[-2:] + 1 if make is not cross_traffic else (0, 0)
            free = mask["move"][point["move"]] if make is cross_traffic else mask["move"][row, column]
            hits = make is not battle or mask["attack"][point["attack"]]
            assert (action in first[player]) == bool(free and hits)


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_stock_tabular_learner_learns_to_walk(manager):
    np.random.seed(0)  # noqa: NPY002  OpenSpiel's agents draw from the global stream
    env = OpenSpielListWrapper(manager(MultiCorridor(end=4, num_agents=2), time_limit=40))
    agents = [tabular_qlearner.QLearner(player, 3, step_size=0.5) for player in range(2)]
    train(env, agents, 2500)
    lengths = []
    for seed in range(20):
        timestep, steps = env.reset(seed=seed), 0
        while not timestep.last():
            player = timestep.current_player()
            asked = agents if timestep.is_simultaneous_move() else [agents[player]]
            timestep = env.step([agent.step(timestep, is_evaluation=True).action for agent in asked])
            steps += 1
        lengths.append(steps)
    assert max(lengths) <= (4 if manager is AllStepManager else 8)


def test_f20_without_openspiel_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['open_spiel'] = None\n"
        "from interplay.connect import OpenSpielWrapper\n"
        "from interplay.sim.managers import AllStepManager\n"
        "from interplay.worlds.corridor.simulation import MultiCorridor\n"
        "OpenSpielWrapper(AllStepManager(MultiCorridor()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith('this adapter needs OpenSpiel; install it with pip install "interplay[openspiel]"')
