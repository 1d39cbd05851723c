"""Managers: specification 2.3, time limits and seeds of section 7, and the faults F1 and F18."""

from __future__ import annotations

import itertools

import pytest

from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.sim.toys import Called, Countdown

LIVES = {"a": 5, "b": 2, "c": 4}


def stay(ids):
    return dict.fromkeys(ids, 1)


def alive(dones):
    return [agent_id for agent_id, done in dones.items() if not done and agent_id != "__all__"]


def test_m1_the_form_of_what_comes_out():
    manager = AllStepManager(Countdown(LIVES))
    assert manager.reset() == {"a": 0, "b": 0, "c": 0}
    observations, rewards, dones, infos = manager.step(stay(LIVES))
    assert observations.keys() == rewards.keys() == infos.keys() == LIVES.keys()
    assert dones == {"a": False, "b": False, "c": False, "__all__": False}
    assert rewards["b"] == "b at 1"  # C5: whatever the simulation says passes untouched
    assert infos["c"] == {"clock": 1}


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager])
def test_m2_those_who_cannot_act_are_done_from_the_beginning(kind):
    manager = kind(Countdown(LIVES, passive=("wall",)))
    assert "wall" not in manager.reset()
    assert manager.done_agents == {"wall"}
    with pytest.raises(AssertionError, match="wall"):
        manager.step({"wall": 0})


def test_m3_who_finishes_appears_once_more_then_never():
    manager = AllStepManager(Countdown(LIVES))
    manager.reset()
    manager.step(stay("abc"))
    _, _, dones, _ = manager.step(stay("abc"))
    assert dones == {"a": False, "b": True, "c": False, "__all__": False}
    assert manager.done_agents == {"b"}
    observations, *_ = manager.step(stay("ac"))
    assert set(observations) == {"a", "c"}


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_m3_f18_an_action_of_the_done_fails_wherever_it_stands(order):
    manager = AllStepManager(Countdown(LIVES))
    manager.reset()
    manager.step(stay("abc"))
    manager.step(stay("abc"))
    with pytest.raises(AssertionError, match="action for b,"):
        manager.step(stay(order))
    assert manager.sim.clock == 2  # nothing has happened
    with pytest.raises(AssertionError, match="'x'"):
        manager.step({"a": 1, "x": 1})


def test_m4_turns_and_the_finished_in_line():
    manager = TurnBasedManager(Countdown(LIVES))
    assert list(manager.reset()) == ["a"]
    assert list(manager.step({"a": 1})[0]) == ["b"]
    # clock 2: b is done, but c is next in line, and then a
    assert list(manager.step({"b": 1})[0]) == ["c"]
    assert list(manager.step({"c": 1})[0]) == ["a"]
    # clock 4: b and c, next in line, have finished, and a is the live one behind them
    observations, _, dones, _ = manager.step({"a": 1})
    assert list(observations) == ["b", "c", "a"]
    assert dones == {"b": True, "c": True, "a": False, "__all__": False}
    assert manager.step({"a": 1})[2] == {"a": True, "__all__": True}


def test_m4_when_it_is_over_everybody_left_is_reported():
    manager = TurnBasedManager(Countdown({"a": 2, "b": 9, "c": 9}))
    manager.sim.get_all_done = lambda: manager.sim.clock >= 2
    manager.reset()
    manager.step({"a": 1})
    assert manager.step({"b": 1})[2] == {"a": True, "b": False, "c": False, "__all__": True}


def test_m4_f1_every_reset_begins_with_the_first():
    manager = TurnBasedManager(Countdown(LIVES))
    for steps in range(4):
        observations = manager.reset()
        assert list(observations) == ["a"]
        for _ in range(steps):
            observations, _, dones, _ = manager.step(stay(observations))
            observations = {agent_id: observations[agent_id] for agent_id in alive(dones)}


def test_m5_with_one_agent_turns_and_all_steps_are_the_same():
    one, other = (kind(Countdown({"a": 4}, passive=("wall",))) for kind in (TurnBasedManager, AllStepManager))
    assert one.reset() == other.reset()
    for _ in range(4):
        assert one.step({"a": 1}) == other.step({"a": 1})


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager])
def test_m6_over_when_nobody_is_left(kind):
    manager = kind(Countdown({"a": 1, "b": 1}))
    manager.sim.get_all_done = lambda: False
    manager.reset()
    assert manager.step({"a": 1})[2]["__all__"] is True
    assert manager.done_agents == {"a", "b"}


def test_m7_only_the_order_of_actions_is_random():
    names = list("abcdef")

    def heard(seed, shuffled):
        manager = AllStepManager(Countdown(dict.fromkeys(names, 30)), randomize_action_input=shuffled)
        manager.reset(seed=seed)
        for _ in range(20):
            manager.step(stay(names))
        return manager.sim.heard

    assert heard(1, False) == [names] * 20
    assert heard(1, True) == heard(1, True) != heard(2, True)
    assert all(sorted(order) == names for order in heard(1, True))
    assert len({tuple(order) for order in heard(1, True)}) > 10


def test_m8_the_simulation_chooses():
    sim = Called({"a": 9, "b": 2, "c": 9}, [["b", "a"], "c", {"b", "c"}, ["b", "a"], "b"], passive=("wall",))
    manager = DynamicOrderManager(sim)
    assert list(manager.reset()) == ["b", "a"]
    assert manager.done_agents == set()
    assert list(manager.step(stay("ba"))[0]) == ["c"]
    assert manager.step(stay("c"))[2] == {"b": True, "c": False, "__all__": False}  # once, with its flag
    assert list(manager.step(stay("c"))[0]) == ["a"]  # later choices of it are ignored
    with pytest.raises(AssertionError, match="is done"):
        manager.step(stay("b"))


def test_m8_the_last_one_ends_it_and_passive_ones_may_be_chosen():
    sim = Called({"a": 2}, [["a", "wall"]], passive=("wall",))
    sim.get_all_done = lambda: False
    manager = DynamicOrderManager(sim)
    assert list(manager.reset()) == ["a", "wall"]
    assert manager.step({"a": 1})[2] == {"a": False, "wall": True, "__all__": False}
    assert manager.step({"a": 1})[2] == {"a": True, "__all__": True}


def test_m9_what_is_public_and_what_passes_through():
    sim = Countdown(LIVES)
    manager = AllStepManager(sim)
    manager.reset(level=3)
    assert manager.sim is sim
    assert manager.agents is sim.agents
    assert sim.given == {"level": 3}
    assert manager.render() == "clock 0"


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager])
def test_a_time_limit_cuts_and_says_so(kind):
    manager = kind(Countdown({"a": 9, "b": 9}), time_limit=3)
    for _ in range(2):
        observations = manager.reset()
        for step in range(3):
            assert manager.truncated is False
            observations, _, dones, _ = manager.step(stay(observations))
            assert dones["__all__"] is (step == 2)
        assert manager.truncated is True
        assert dones == {"a": False, "b": False, "__all__": True}  # nobody's reward is lost


def test_an_end_at_the_limit_is_no_cut():
    manager = AllStepManager(Countdown({"a": 3}), time_limit=3)
    manager.reset()
    for _ in range(3):
        dones = manager.step({"a": 1})[2]
    assert dones == {"a": True, "__all__": True}
    assert manager.truncated is False


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager])
def test_everybody_is_back_after_a_reset(kind):
    manager = kind(Countdown({"a": 3, "b": 1}, passive=("wall",)))
    for _ in range(3):
        observations = manager.reset()
        assert manager.done_agents == {"wall"}
        while observations:
            observations, _, dones, _ = manager.step(stay(observations))
            observations = [] if dones["__all__"] else alive(dones)
        assert manager.done_agents == {"a", "b", "wall"}


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager, DynamicOrderManager])
def test_nothing_is_cut_where_everybody_finishes_at_the_limit(kind):
    """The simulation never reports its end; still the limit truncates no agent."""
    for lives, cut in (({"a": 3}, False), ({"a": 4}, True)):
        sim = Called(lives, [["a"]] * 9)
        sim.get_all_done = lambda: False
        manager = kind(sim, time_limit=3)
        manager.reset()
        for _ in range(3):
            assert manager.truncated is False
            dones = manager.step({"a": 1})[2]
        assert dones == {"a": not cut, "__all__": True}
        assert manager.truncated is cut


def test_those_who_finish_at_the_limit_are_terminated_and_only_the_others_cut():
    sim = Countdown({"a": 3, "b": 9}, passive=("wall",))
    sim.get_all_done = lambda: False
    environment = ManagedSimulation(AllStepManager(sim, time_limit=3))
    environment.reset()
    for _ in range(3):
        _, _, terminated, truncated, _ = environment.step({"a": 1, "b": 1})
    assert terminated == {"a": True, "b": False}
    assert truncated == {"a": False, "b": True}


def test_a_seed_names_the_episode_and_reaches_only_resets_that_take_it():
    class Deaf(Countdown):
        def reset(self):
            super().reset()

    for sim in (Countdown(LIVES), Deaf(LIVES)):
        manager = AllStepManager(sim)

        def draw(seed, manager=manager):
            manager.reset(seed=seed)
            return manager.sim.draw, manager.agents["a"].action_space.sample(), manager.sim.rng.integers(1000)

        assert draw(5) == draw(5)
        assert len({draw(seed) for seed in range(10)}) == 10
        assert manager.sim.given == ({} if isinstance(sim, Deaf) else {"seed": 9})


def test_a_managers_seed_leaves_the_spaces_of_agents_with_seeds_of_their_own():
    def drawn(seed, own):
        sim = Countdown(LIVES)
        sim.agents["a"].seed = own
        sim.finalize()
        AllStepManager(sim).reset(seed=seed)
        return [sim.agents["a"].action_space.sample() for _ in range(40)]

    assert drawn(1, own=7) == drawn(2, own=7) != drawn(1, own=8)
    assert drawn(1, own=None) != drawn(2, own=None)


def play(manager, seed, choose):
    """Rewards of a whole episode, and how often each agent acted."""
    observations = manager.reset(seed=seed)
    total, acted = dict.fromkeys(manager.agents, 0), dict.fromkeys(manager.agents, 0)
    while True:
        for agent_id in observations:
            acted[agent_id] += 1
        observations, rewards, dones, _ = manager.step({i: choose(observations[i]) for i in observations})
        for agent_id, reward in rewards.items():
            total[agent_id] += reward
        for agent_id, observation in observations.items():
            assert observation in manager.agents[agent_id].observation_space
        if dones["__all__"]:
            return total, acted
        observations = {agent_id: observations[agent_id] for agent_id in alive(dones)}


@pytest.mark.parametrize("kind", [TurnBasedManager, AllStepManager])
def test_multi_corridor_careful_walkers_arrive(kind):
    for seed in range(20):
        manager = kind(MultiCorridor(end=10, num_agents=5))
        # Right unless somebody stands there: in turns nobody ever bumps.
        total, acted = play(manager, seed, lambda o: 1 if o["right"][0] else 2)
        assert manager.sim.get_all_done()
        if kind is TurnBasedManager:
            assert total == {agent_id: 100 - (times - 1) for agent_id, times in acted.items()}


def test_multi_corridor_rewards():
    sim = MultiCorridor(end=4, num_agents=2)
    sim.reset()
    sim.agents["agent0"].position, sim.agents["agent1"].position = 0, 1
    sim.corridor[:] = [sim.agents["agent0"], sim.agents["agent1"], None, None]
    act = sim.Actions
    assert sim.render() == "0 1 . ."
    sim.step({"agent0": act.RIGHT, "agent1": act.STAY})
    assert [sim.get_reward(i) for i in sim.agents] == [-5, -3]  # a bump, and being bumped into while staying
    sim.step({"agent0": act.LEFT, "agent1": act.LEFT})
    assert [sim.get_reward(i) for i in sim.agents] == [-7, -5]
    sim.step({"agent1": act.RIGHT, "agent0": act.RIGHT})
    assert [sim.get_reward(i) for i in sim.agents] == [-1, -1]
    assert sim.render() == ". 0 1 ."
    sim.step({"agent1": act.RIGHT})
    assert sim.get_reward("agent1") == 16
    assert sim.get_reward("agent1") == 0  # handed out once
    assert sim.get_done("agent1")
    assert not sim.get_all_done()
    assert sim.corridor[3] is None  # whoever arrived is no obstacle
    sim.step({"agent0": act.RIGHT})
    sim.step({"agent0": act.RIGHT})
    assert sim.get_all_done()


def test_multi_corridor_starts_are_uniform():
    sim = MultiCorridor(end=4, num_agents=2)
    sim.reseed(0)
    seen = {}
    for _ in range(6000):
        sim.reset()
        places = tuple(agent.position for agent in sim.agents.values())
        seen[places] = seen.get(places, 0) + 1
    assert set(seen) == set(itertools.permutations(range(3), 2))
    assert all(abs(count - 1000) < 5 * (6000 * 5 / 36) ** 0.5 for count in seen.values())


@pytest.mark.parametrize("choices", [["a", []], ["a", "a"], [["a"], ("b", "a")]], ids=str)
def test_m8_a_simulation_that_goes_on_and_asks_nobody_is_refused(choices):
    """M8: finished agents are reported once; with no further one named, a loop would run for ever."""
    manager = DynamicOrderManager(Called({"a": 1, "b": 1, "c": 9}, choices))

    def play():
        manager.reset()
        while not manager.step({})[2]["__all__"]:
            assert manager.sim.clock < 5

    with pytest.raises(AssertionError, match=r"Called .*next_agent"):
        play()


def test_m6_everybody_finished_though_only_one_is_named():
    """M6: no agent is left to act, so the episode is over, and unnamed agents are reported."""
    sim = Called({"a": 2, "b": 1}, ["a"])
    sim.get_all_done = lambda: False
    manager = DynamicOrderManager(sim)
    manager.reset()
    manager.step({"a": 1})
    observations, rewards, dones, _ = manager.step({"a": 1})
    assert dones == {"a": True, "b": True, "__all__": True}
    assert list(observations) == list(rewards) == ["a", "b"]
    assert manager.done_agents == {"a", "b"}


def test_m8_a_simulation_in_which_nobody_learns_goes_on_until_it_is_over():
    """Release: the episode ends by the simulation's word, or when everybody has finished."""
    sim = Called({}, [["wall"], []], passive=("wall", "tree"))
    sim.get_done = lambda agent_id: False
    sim.get_all_done = lambda: sim.clock >= 3
    manager = DynamicOrderManager(sim)
    assert list(manager.reset()) == ["wall"]
    assert [manager.step({})[2]["__all__"] for _ in range(3)] == [False, False, True]
    sim = Called({}, [["wall"], ["wall", "tree"]], passive=("wall", "tree"))
    sim.get_done = lambda agent_id: sim.clock >= (2 if agent_id == "tree" else 1)
    sim.get_all_done = lambda: False
    manager = DynamicOrderManager(sim)
    manager.reset()
    assert manager.step({})[2] == {"wall": True, "tree": False, "__all__": False}
    assert manager.step({})[2] == {"tree": True, "__all__": True}
