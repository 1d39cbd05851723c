"""The visible occupant of a shared cell is drawn anew at every reset and in every step, whatever else is drawn."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from interplay.gridworld import GridWorldSimulation, SmartGridWorldSimulation
from interplay.gridworld.actors import BinaryAttackActor
from interplay.gridworld.agents import AttackingAgent, GridObservingAgent
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.states import PositionState
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.gridworld.boards import thing
from tests.worlds.lockstep import march_together


class Guard(GridObservingAgent, AttackingAgent):
    """Observes, and hits no agent."""


def crowd():
    """Two guards that see a cell with two things; all have initial positions."""
    guards = [
        Guard(
            id=f"g{n}",
            encoding=1,
            view_range=1,
            attack_range=1,
            attack_strength=0,
            attack_accuracy=1,
            initial_position=np.array([0, 2 * n]),
        )
        for n in range(2)
    ]
    things = [thing("x", 2, at=(0, 1)), thing("y", 3, at=(0, 1))]
    return {agent.id: agent for agent in (*guards, *things)}


PARTS = {
    "states": [PositionState],
    "observers": [PositionCenteredEncodingObserver],
    "actors": [(BinaryAttackActor, {"attack_mapping": {1: set()}})],
    "dones": ["ActiveDone"],
}


class Plain(GridWorldSimulation):
    """Written as the manual does; its own step draws nothing at all."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.position_state = PositionState(**kwargs)
        self.observer = PositionCenteredEncodingObserver(**kwargs)
        self.actor = BinaryAttackActor(attack_mapping={1: set()}, **kwargs)
        self.finalize()

    def reset(self, **kwargs):
        self.position_state.reset(**kwargs)

    def step(self, action_dict, **kwargs):
        pass

    def get_obs(self, agent_id, **kwargs):
        return self.observer.get_obs(self.agents[agent_id])

    def get_reward(self, agent_id, **kwargs):
        return 0

    def get_done(self, agent_id, **kwargs):
        return False

    def get_all_done(self, **kwargs):
        return False

    def get_info(self, agent_id, **kwargs):
        return {}


class Inherited(SmartGridWorldSimulation):
    """Its own reset and step call those that it inherits."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.finalize()

    def reset(self, **kwargs):
        super().reset(**kwargs)

    def step(self, action_dict, **kwargs):
        super().step(action_dict, **kwargs)


def built(kind):
    parts = {} if kind is Plain else PARTS
    sim = kind.build_sim(1, 3, agents=crowd(), overlapping={2: 3}, **parts)
    sim.reseed(7)
    return sim


def shown(sim, name="g0"):
    return int(sim.get_obs(name)["position_centered_encoding"][1, 2 if name == "g0" else 0])


KINDS = [SmartGridWorldSimulation, Plain, Inherited]
NOTHING = {"g0": {"attack": 0}, "g1": {"attack": 0}}


@pytest.mark.parametrize("kind", KINDS)
def test_a_reset_and_a_step_draw_anew_who_is_shown(kind):
    sim = built(kind)
    for pass_on in (sim.reset, lambda: sim.step(NOTHING)):
        seen = []
        for _ in range(200):
            pass_on()
            assert shown(sim) == shown(sim), "looking changes nothing"
            seen.append((shown(sim), shown(sim, "g1")))
        counts = [seen.count(pair) for pair in ((2, 2), (2, 3), (3, 2), (3, 3))]
        assert sum(counts) == 200
        assert min(counts) > 25, "guards see by draws of their own"


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_still_names_what_is_shown(kind):
    def played(sim):
        seen = []
        for seed in (3, None, None, 3):
            if seed is not None:
                sim.reseed(seed)
            sim.reset()
            seen.append([shown(sim)])
            for _ in range(20):
                sim.step(NOTHING)
                seen[-1].append(shown(sim))
        return seen

    one = played(built(kind))
    assert one == played(built(kind))
    assert one[0] == one[3]
    assert len({tuple(episode) for episode in one}) == 3
    assert played(copy.deepcopy(built(kind))) == one


def test_one_inside_another_is_one_moment():
    """A subclass that calls what it inherits shows the same as the one that does not."""
    one, other = built(SmartGridWorldSimulation), built(Inherited)
    for _ in range(3):
        one.reset()
        other.reset()
        for _ in range(20):
            assert shown(one) == shown(other)
            one.step(NOTHING)
            other.step(NOTHING)


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_kernels_and_objects_show_the_same_in_steps_that_draw_nothing(manager):
    assert march_together(lambda: manager(built(SmartGridWorldSimulation), time_limit=9), 400) > 10


def test_copies_that_are_over_stand_still():
    world = AllStepManager(built(SmartGridWorldSimulation), time_limit=2).vectorize(2, seed=1)
    world.reset()
    action = {"attack": np.zeros((2, 2), np.int64)}
    for _ in range(2):
        world.step(action)
    before = world.save()["board.stream"]
    world.step(action)
    assert np.array_equal(world.save()["board.stream"], before)
