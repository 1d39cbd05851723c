"""`PolicyMap`: each slot or population is played by its policy, whatever the slots of agents."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import PolicyMap, play
from interplay.evaluate.policy_map import PopulationView, merge_actions
from interplay.registry import make_world
from interplay.worlds.werewolf.policies import POLICIES
from tests.connect.toys import Hunt, Line
from tests.evaluate.nursery import Nursery


class Always(Policy):
    """Chooses the same in every slot, and counts its calls."""

    def __init__(self, *action):
        self.action, self.name, self.asked, self.forgot = action, f"always {action}", 0, 0

    def act(self, timestep):
        self.asked += 1
        return np.broadcast_to(self.action, (*timestep.acting.shape, 2))

    def forget(self, which):
        self.forgot += int(which.sum())


def test_columns_come_from_those_who_sit_there():
    world = Line(4)
    timestep = world.reset()
    table = PolicyMap({0: Always(0, 1), "agent_2": Always(2, 0)}, others=Always(1, 1))
    table.start(world)
    assert table.act(timestep)[3].tolist() == [[0, 1], [1, 1], [2, 0]]


def test_one_policy_in_two_slots_is_asked_once():
    world, policy = Line(2), Always(1, 0)
    table = PolicyMap({0: policy, 2: policy}, others=Always(0, 0))
    table.start(world)
    assert table.act(world.reset())[0].tolist() == [[1, 0], [0, 0], [1, 0]]
    assert policy.asked == 1


@pytest.mark.parametrize(("by", "world"), [("slot", Line(2)), ("population", Nursery(2, npop=3))])
def test_every_policy_draws_from_a_stream_of_its_own(by, world):
    seeds = []

    class Seeded(RandomPolicy):
        def start(self, world, seed=0):
            seeds.append(seed)

    world.reset()
    for seed in (1, 2):
        PolicyMap({0: Seeded(), 1: Seeded()}, others=Seeded(), by=by).start(world, seed)
    assert len(set(seeds)) == len(seeds) == 6


def test_slots_of_several_kinds():
    world = Hunt(3)
    timestep = world.reset()

    class Fixed(Policy):
        def __init__(self, side, push):
            self.side, self.push = side, push

        def act(self, timestep):
            return {"hunter": np.full((3, 2), self.side), "prey": np.full((3, 1, 2), self.push, np.float32)}

    table = PolicyMap({"hunter_1": Fixed(2, 0.0), "prey_0": Fixed(0, 0.5)}, others=Fixed(1, -1.0))
    table.start(world)
    action = table.act(timestep)
    assert action["hunter"].tolist() == [[1, 2]] * 3
    assert (action["prey"] == 0.5).all()
    world.step(action)


def test_forgetting_reaches_everybody():
    policies = [Always(2, 1), Always(0, 1)]
    play(Line(2), PolicyMap({0: policies[0]}, others=policies[1]), episodes=6)
    assert [policy.forgot for policy in policies] == [4, 4]


class Witness(Policy):
    """Chooses one action and records its input."""

    name = "witness"

    def __init__(self, action):
        self.action, self.numbers, self.counts = action, set(), set()

    def act(self, timestep):
        self.counts.add(self.world.num_populations)
        self.numbers |= set(self.world.population[timestep.acting].tolist())
        self.acting = timestep.acting.copy()
        return np.full(timestep.acting.shape, self.action)


def test_everybody_acts_for_its_own_at_every_birth():
    world = Nursery(3, npop=3, cap=6, slots=6, lives=(2, 3, 4))
    timestep = world.reset()
    ours, theirs = Witness(0), Witness(1)
    table = PolicyMap({0: ours, 1: theirs, 2: theirs}, by="population")
    table.start(world)
    kinds = set()
    for _ in range(40):
        population = world.population.copy()
        kinds |= set(map(tuple, population))
        acting = timestep.acting.copy()
        timestep = world.step(table.act(timestep))
        assert (world.state.chosen == (acting & (population > 0))).all()
        assert (ours.acting | theirs.acting == acting).all()
        assert not (ours.acting & theirs.acting).any()
    assert len(kinds) > 3  # who sits where did change
    assert (ours.counts, ours.numbers) == ({1}, {0})
    assert (theirs.counts, theirs.numbers) == ({2}, {0, 1})


def test_a_view_is_the_world_but_for_its_populations():
    world = Nursery(1, npop=4)
    world.reset()
    world.state.population[:] = [[3, 1, 0, 2]]
    view = PopulationView(world, (1, 3))
    assert view.num_populations == 2
    assert view.population.tolist() == [[1, 0, 0, 0]]
    assert view.population_names is None
    world.population_names = ("red", "green", "blue", "grey")
    assert PopulationView(world, (1, 3)).population_names == ("green", "grey")
    assert view.agents is world.agents
    assert view.timestep is world.timestep


def test_populations_have_names_and_numbers() -> None:
    asked: list[str] = []

    def others(name: str) -> object:
        asked.append(name)
        return POLICIES["password"]()

    form = {"world_id": "werewolf/9-l1s9", "num_worlds": 8, "seed": 1}
    table = PolicyMap({"werewolf": POLICIES["revenge"]()}, others, by="population")  # type: ignore[arg-type]
    ours = play(make_world(**form), table, 24, seed=5)
    numbers = PolicyMap({0: POLICIES["password"](), 1: POLICIES["revenge"]()}, by="population")
    theirs = play(make_world(**form), numbers, 24, seed=5)
    assert asked == ["villager"]
    np.testing.assert_array_equal(ours["return"], theirs["return"])
    assert table.name == "revenge for werewolf"


def test_one_object_may_play_all_the_rest() -> None:
    """It is called once for all seats of its populations."""
    world, rest = make_world("werewolf/aiwolf5", num_worlds=4), POLICIES["random"]()
    seer = world.population_names.index("seer")  # type: ignore[union-attr]
    asked: list[np.ndarray] = []
    act = rest.act
    rest.act = lambda timestep: asked.append(timestep.acting) or act(timestep)  # type: ignore[func-returns-value, method-assign]
    table = PolicyMap({"seer": POLICIES["bandwagon"]()}, others=rest, by="population")
    step = world.reset()
    table.start(world)
    while (step.observation["phase"] != 2).any():
        step = world.step(table.act(step))
    asked.clear()
    table.act(step)
    assert len(asked) == 1
    np.testing.assert_array_equal(asked[0], step.acting & (world.population != seer))


def test_merged_actions_are_as_wide_as_the_widest_of_the_players():
    world = Line(2)
    whole, real = np.zeros((2, 3, 2), np.int64), np.full((2, 3, 2), 2.5)
    merged = merge_actions(world, [whole, real], np.array([0, 1, 0]))
    assert merged[0, :, 0].tolist() == [0.0, 2.5, 0.0]
