"""Simulations under managers as worlds: the acting mask does the manager's work, and nothing is lost or added on the way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import interplay
from examples.corridor import in_turns, together
from interplay.core.policy import RandomPolicy
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.layout import read_layout
from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.sim.odd_simulations import Zoo
from tests.sim.toys import Countdown

HERE = "examples.corridor:"


def test_a_function_that_makes_a_manager_names_a_world():
    world = interplay.make_world(HERE + "together", num_worlds=3, end=8, num_agents=4)
    assert world.agents == ("agent0", "agent1", "agent2", "agent3")
    assert [kind.name for kind in world.kinds] == ["agent"]
    timestep = world.reset()
    assert timestep.acting.all()
    assert set(timestep.observation) == {"position", "left", "right"}
    assert all(sorted(row) == sorted(set(row)) for row in timestep.observation["position"][..., 0].tolist())


def test_every_world_and_episode_has_a_seed_of_its_own():
    from interplay.sim.batch.world import environment_seeds

    stream = np.zeros((64 * 64, 3), np.uint64)
    stream[:, 0], stream[:, 1] = np.divmod(np.arange(64 * 64), 64)
    seeds = environment_seeds(stream)
    assert len(set(seeds.tolist())) == 64 * 64
    assert 0 <= seeds.min() < 2**25 < 2**30 < seeds.max() < 2**31


@pytest.mark.parametrize("processes", [0, 2])
def test_the_world_plays_what_the_manager_plays(processes):
    world = interplay.make_world(HERE + "together", num_worlds=3, processes=processes)
    policy = RandomPolicy()
    policy.start(world, 5)
    timestep = world.reset(seeds=7)
    twins = [together() for _ in range(3)]
    from interplay.sim.batch.world import environment_seeds

    seeds = environment_seeds(world._stream)
    for twin, seed in zip(twins, seeds, strict=True):
        twin.reset(seed=int(seed))
    earned = np.zeros((3, 5))
    try:
        for _ in range(60):
            acting = timestep.acting.copy()
            actions = policy.act(timestep)
            actions = actions["action"] if isinstance(actions, dict) else actions
            timestep = world.step(actions)
            for w, twin in enumerate(twins):
                if not acting[w].any():
                    continue
                mine = {f"agent{a}": int(actions[w, a]) for a in range(5) if acting[w, a]}
                observations, rewards, dones, _ = twin.step(mine)
                for name, reward in rewards.items():
                    a = int(name.removeprefix("agent"))
                    assert timestep.reward[w, a] == reward
                    earned[w, a] += reward
                    assert timestep.observation["position"][w, a, 0] == observations[name]["position"][0]
                    assert timestep.terminated[w, a] == dones[name]
                assert timestep.over[w] == dones["__all__"]
                assert timestep.truncated[w].any() == twin.truncated
        assert timestep.over.all()
        np.testing.assert_array_equal(world.metrics["episode_return"], earned)
    finally:
        world.close()


def test_in_turns_one_acts_and_the_others_wait():
    world = interplay.make_world(HERE + "in_turns", num_worlds=4)
    policy = RandomPolicy()
    policy.start(world, 1)
    timestep = world.reset(seeds=3)
    total = np.zeros((4, 3))
    order = []
    for _ in range(90):
        alive = ~timestep.over
        assert (timestep.acting.sum(axis=1) == alive).all()
        order.append(timestep.acting[0].tolist())
        timestep = world.step(policy.act(timestep))
        total += timestep.reward
    assert order[:3] == [[True, False, False], [False, True, False], [False, False, True]]
    assert timestep.over.all()
    np.testing.assert_array_equal(world.metrics["episode_return"], total)


def test_actions_out_of_turn_are_not_handed_on():
    environment = ManagedSimulation(in_turns())
    environment.reset(seed=1)
    sim = environment.manager.sim
    before = {name: agent.position for name, agent in sim.agents.items()}
    environment.step({"agent0": 1, "agent1": 0, "agent2": 2})
    assert {name: agent.position for name, agent in sim.agents.items()} == before


def test_a_time_limit_truncates_and_an_end_terminates():
    environment = ManagedSimulation(together(time_limit=3))
    environment.reset(seed=1)
    for _ in range(3):
        _, _, finished, stopped, _ = environment.step(dict.fromkeys(environment.agents, 1))
    assert all(stopped.values())
    assert not any(finished.values())
    assert environment.agents == []
    environment = ManagedSimulation(together(end=2, num_agents=1))
    environment.reset(seed=1)
    _, rewards, finished, stopped, _ = environment.step({"agent0": 2})
    assert (rewards, finished, stopped) == ({"agent0": 4}, {"agent0": True}, {"agent0": False})


class Ending(Countdown):
    """Is over at a step of its own, whoever has finished by then."""

    def __init__(self, lives: dict[str, int], ends: int) -> None:
        super().__init__(lives)
        self.ends = ends

    def get_all_done(self, **kwargs):
        return self.clock >= self.ends

    def get_reward(self, agent_id, **kwargs):
        return 1.0


@pytest.mark.parametrize("kind", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize(("life", "ends", "limit"), itertools.product((2, 3, 9), (2, 3, 4, 9), (None, 3)))
def test_whoever_is_left_ends_by_the_rules_where_the_rules_end_and_is_cut_where_the_limit_does(
    kind, life, ends, limit
):
    """Ann lives for one step, bob for `life`; the simulation says that it is over after `ends`, the manager after `limit`."""
    lives = {"ann": 1, "bob": life}
    environment = ManagedSimulation(kind(Ending(lives, ends), time_limit=limit))
    environment.reset(seed=1)
    told: dict[str, tuple[int, str]] = {}
    for step in range(1, 20):
        _, _, finished, stopped, _ = environment.step(dict.fromkeys(environment.agents, 1))
        for sort, flags in (("finished", finished), ("stopped", stopped)):
            for name in [name for name, flag in flags.items() if flag]:
                assert name not in told, "who has ended ends again"
                told[name] = step, sort
        if not environment.agents:
            break
    last = min(
        life, ends, limit or 9
    )  # in the other's turn nobody is asked, so bob's own turn does not matter
    by_rules = ends <= last or life <= last
    assert told == {"ann": (told["ann"][0], "finished"), "bob": (last, "finished" if by_rules else "stopped")}
    assert told["ann"][0] <= 2


class PainterFirst(Zoo):
    """The first agent has no mask, later ones have one."""

    def __init__(self) -> None:
        super().__init__()
        self.agents = {name: self.agents[name] for name in ("painter", "walker_0", "walker_1", "tree")}


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_kinds_whose_turn_comes_later_have_masks_too(manager):
    sim = ManagedSimulation(manager(PainterFirst()))
    layout = read_layout(sim)
    assert [(kind.kind.name, len(kind.masks)) for kind in layout.kinds] == [("painter", 0), ("walker", 1)]
    assert sim.action_mask("painter") is None
    np.testing.assert_array_equal(sim.action_mask("walker_1")[0], [1, 1, 0])


@pytest.mark.parametrize("free", ["walker_0", "walker_1"])
def test_a_kind_has_masks_whichever_of_its_agents_has_one(free):
    """Of two walkers one has no mask at first; the other's mask is its own."""

    class OneFree(PainterFirst):
        def get_action_mask(self, agent_id, **kwargs):
            return None if agent_id == free else super().get_action_mask(agent_id, **kwargs)

    kinds = read_layout(ManagedSimulation(AllStepManager(OneFree()))).kinds
    assert [(kind.kind.name, len(kind.masks)) for kind in kinds] == [("painter", 0), ("walker", 1)]
    legal = (
        SimulationWorld(lambda: AllStepManager(OneFree()), 2, seed=1).reset().action_mask["walker"]["action"]
    )
    bound = 1 - int(free[-1])
    assert legal[:, 1 - bound].all()
    assert (~legal[:, bound]).any(axis=1).tolist() == [True, True]


def test_those_who_wait_show_no_mask_and_whose_turn_it_is_shows_his():
    world = SimulationWorld(lambda: TurnBasedManager(PainterFirst()), 2, seed=1)
    player = RandomPolicy()
    player.start(world, 1)
    timestep = world.reset()
    assert timestep.action_mask["walker"]["action"].all()
    timestep = world.step(player.act(timestep))  # walker_0's turn, the clock says 1: all is legal
    assert timestep.action_mask["walker"]["action"].all()
    timestep = world.step(player.act(timestep))  # walker_1's, and the clock says 2
    assert timestep.acting[:, 2].all()
    assert (
        timestep.action_mask["walker"]["action"].tolist()
        == [[[True] * 7, [True, True, False, True, True, True, True]]] * 2
    )
