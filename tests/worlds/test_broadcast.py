"""Communication blocking, sentence by sentence of specification 9.5, with the faults F3 to F6 repaired."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import interplay
from interplay.evaluate import play
from interplay.gridworld.actors import ActorBaseComponent
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.registry import make_policy
from interplay.worlds import (
    AverageMessageDone,
    BlockingAgent,
    BroadcastingActor,
    BroadcastingAgent,
    BroadcastingState,
    BroadcastObserver,
    BroadcastSim,
)

pytestmark = pytest.mark.slow

ID = "gridworld/broadcast"
TALK, HUSH = {"broadcast": 1}, {"broadcast": 0}
REST = {"move": np.zeros(2, int)}


def talker(name, cell, message, reach=6, **kwargs):
    return BroadcastingAgent(
        id=name,
        initial_position=np.array(cell),
        initial_message=message,
        broadcast_range=reach,
        view_range=3,
        **kwargs,
    )


def blocker(name, cell):
    return BlockingAgent(id=name, initial_position=np.array(cell), move_range=1, view_range=3)


def sim_of(*agents, **kwargs):
    given = {"broadcast_mapping": {1: [1]}, "done_tolerance": 1e-6, **kwargs}
    sim = BroadcastSim.build_sim(7, 7, agents={agent.id: agent for agent in agents}, **given)
    sim.reseed(1)
    sim.reset()
    return sim


def trio(**kwargs):
    """a and b stand in a row with a gap, c in another one."""
    return sim_of(talker("a", (0, 0), 0.9), talker("b", (0, 2), -0.3), talker("c", (4, 1), 0.6), **kwargs)


def messages(sim):
    return {name: round(agent.message, 9) for name, agent in sim.agents.items() if name != "wall"}


def test_messages_are_small_arrays_and_null_is_zero():
    """F4, 9.5: one-element float32 arrays inside -1..1, null 0."""
    sim = trio()
    part = sim.agents["a"].observation_space["message"]
    assert set(part.spaces) == {"a", "b", "c"}
    for name, view in sim.get_obs("a")["message"].items():
        assert (view.shape, view.dtype) == ((1,), np.float32)
        assert sim.agents["a"].null_observation["message"][name] == 0
    assert sim.agents["a"].null_observation in sim.agents["a"].observation_space


def test_averages_are_of_the_messages_as_they_were_sent():
    """9.5: once per step, after all broadcasts; the own message counts too."""
    sim = trio()
    sim.step({"a": TALK, "b": TALK, "c": HUSH})
    assert messages(sim) == {"a": 0.3, "b": 0.3, "c": 0.4}
    view = sim.get_obs("c")["message"]
    assert [round(float(view[name][0]), 6) for name in "abc"] == [0.9, -0.3, 0.4], (
        "received as sent, own as it is now"
    )


def test_the_order_of_broadcasts_changes_nothing():
    """9.5: from the messages as they were sent."""
    one, other = trio(), trio()
    one.step({"a": TALK, "b": TALK, "c": TALK})
    other.step({"c": TALK, "b": TALK, "a": TALK})
    assert messages(one) == messages(other)


def test_what_was_received_is_shown_for_one_step():
    sim = trio()
    sim.step({"a": TALK, "b": HUSH, "c": HUSH})
    assert sim.get_obs("b")["message"]["a"] == np.float32(0.9)
    sim.step({"a": HUSH, "b": HUSH, "c": HUSH})
    assert sim.get_obs("b")["message"]["a"] == 0


def test_a_sender_does_not_hear_itself():
    """9.5: never the sender."""
    sim = sim_of(talker("a", (0, 0), 0.9), talker("b", (6, 6), 0.1, reach=1))
    sim.step({"a": HUSH, "b": TALK})
    assert messages(sim) == {"a": 0.9, "b": 0.1}


@pytest.mark.parametrize(("reach", "hears"), [(1, False), (2, True)])
def test_a_broadcast_has_a_range(reach, hears):
    """9.5: agents within range, in each direction."""
    sim = sim_of(talker("a", (0, 0), 1.0, reach=reach), talker("b", (2, 1), 0.0))
    sim.step({"a": TALK, "b": HUSH})
    assert messages(sim)["b"] == (0.5 if hears else 0.0)


def test_only_mapped_agents_hear():
    """9.5: mapped; section 3, row 27: int, set or list."""
    for mapping in ({1: 3}, {1: {3}}, {1: [3]}):
        sim = sim_of(
            talker("a", (0, 0), 1.0),
            talker("b", (0, 1), 0.0),
            talker("c", (1, 0), 0.0, encoding=3),
            broadcast_mapping=mapping,
        )
        sim.step({"a": TALK, "c": TALK})
        assert messages(sim) == {"a": 1.0, "b": 0.0, "c": 0.5}
        assert mapping in ({1: 3}, {1: {3}}, {1: [3]}), "the caller's mapping stays as it is (F11)"


def test_blockers_hide_broadcasts():
    """9.5: not masked; the same rays as for sight (O7)."""
    agents = [talker("a", (0, 0), 1.0), talker("b", (0, 4), 0.0)]
    sim = sim_of(*agents, blocker("wall", (0, 2)))
    sim.step({"a": TALK, "b": HUSH, "wall": REST})
    assert messages(sim)["b"] == 0.0
    sim.step({"a": TALK, "b": HUSH, "wall": {"move": np.array([1, 0])}})  # it leaves after the broadcast
    assert messages(sim)["b"] == 0.0
    sim.step({"a": TALK, "b": HUSH, "wall": REST})
    assert messages(sim)["b"] == 0.5


def test_blockers_hide_sight_but_no_movement():
    """Section 3, row 28: blocking is of sight, attacks and broadcasts, never of movement."""
    sim = sim_of(
        talker("a", (0, 0), 1.0), talker("b", (0, 3), 0.0), blocker("wall", (0, 2)), blocker("mover", (2, 2))
    )
    assert sim.get_obs("a")["position_centered_encoding"][3, 6] == -2
    far = BlockingAgent(id="far", initial_position=np.array([3, 0]), move_range=3, view_range=3)
    sim = sim_of(far, blocker("wall", (3, 2)), talker("a", (0, 0), 1.0))
    sim.step({"far": {"move": np.array([0, 3])}})
    assert sim.agents["far"].position.tolist() == [3, 3], "behind the blocker"


def test_the_fine_is_the_same_for_all():
    """F5: a silent broadcaster gets -0.01, as None from a mover is no failed move."""
    sim = sim_of(
        talker("a", (0, 0), 1.0), talker("b", (0, 1), 0.0), blocker("wall", (6, 6)), blocker("still", (3, 3))
    )
    sim.step({"a": HUSH, "b": TALK, "wall": {"move": np.array([1, 0])}, "still": REST})
    assert {name: round(sim.get_reward(name), 6) for name in sim.agents} == {
        "a": -0.01,
        "b": -0.01,
        "wall": -0.11,
        "still": -0.01,
    }


def test_done_is_nearness_to_the_mean_and_over_is_all():
    """9.5: done receives the agent; blockers are never done."""
    sim = sim_of(
        talker("a", (0, 0), 0.0),
        talker("b", (0, 1), 0.02),
        talker("c", (0, 2), 0.4),
        blocker("wall", (6, 6)),
        done_tolerance=0.15,
    )
    assert [sim.get_done(name) for name in sim.agents] == [True, True, False, False]
    assert not sim.get_all_done()
    sim.agents["c"].message = 0.1
    assert sim.get_all_done()
    assert not sim.get_done("wall")


@pytest.mark.parametrize("tolerance", [0, -1.0, "0.1", None, True])
def test_a_tolerance_is_a_number_above_zero(tolerance):
    """9.5: done_tolerance > 0, int or float."""
    with pytest.raises(AssertionError, match="done_tolerance"):
        trio(done_tolerance=tolerance)
    assert trio(done_tolerance=1).dones[0].done_tolerance == 1


@pytest.mark.parametrize(
    "change", [{"broadcast_range": -1}, {"broadcast_range": 2.0}, {"initial_message": 1.5}]
)
def test_wrong_agents_are_refused(change):
    with pytest.raises(AssertionError, match=next(iter(change))):
        BroadcastingAgent(**{"id": "a", "view_range": 1, "broadcast_range": 1, **change})


def test_messages_begin_as_given_or_drawn_and_stay_inside():
    sim = sim_of(talker("a", (0, 0), 0.25), talker("b", (0, 1), None))
    drawn = set()
    for seed in range(20):
        sim.reseed(seed)
        sim.reset()
        assert sim.agents["a"].message == 0.25
        drawn.add(sim.agents["b"].message)
    assert len(drawn) == 20
    assert -1 <= min(drawn) < -0.3
    assert 0.3 < max(drawn) <= 1
    sim.agents["b"].message = 7
    assert sim.agents["b"].message == 1
    assert not BroadcastingAgent(id="x", view_range=1).configured, "a range is needed"


def test_a_copy_of_the_simulation_has_messages_of_its_own():
    sim = trio()
    twin = copy.deepcopy(sim)
    assert twin.agents == sim.agents
    twin.step({"a": TALK})
    assert messages(sim)["b"] == -0.3
    assert messages(twin)["b"] == 0.3
    assert twin.agents["b"].message == twin.broadcasting_state.message[0, 1]


class HandWritten(SmartGridWorldSimulation):
    """As the manual's listing does it, step by step."""

    def __init__(self, **kwargs):
        self.state = BroadcastingState(**kwargs)
        self.talk = BroadcastingActor(**kwargs)
        super().__init__(
            states=["PositionState", self.state],
            observers=[
                "PositionCenteredEncodingObserver",
                (BroadcastObserver, {"broadcasting_state": self.state}),
            ],
            dones=[AverageMessageDone],
            **kwargs,
        )
        self.finalize()

    def step(self, action_dict, **kwargs):
        for name, action in action_dict.items():
            reached = self.talk.process_action(self.agents[name], action)
            if reached is not None:
                self.state.update_receipients(self.agents[name], reached)
        self.state.end_step()


def test_a_step_of_ones_own_gives_the_same():
    agents = [talker("a", (0, 0), 0.9), talker("b", (0, 2), -0.3), talker("c", (4, 1), 0.6)]
    own = HandWritten.build_sim(
        7, 7, agents={agent.id: agent for agent in agents}, broadcast_mapping={1: 1}, done_tolerance=1e-6
    )
    own.reset()
    listed = trio()
    for sim in (own, listed):
        sim.step({"a": TALK, "b": TALK, "c": HUSH})
    assert messages(own) == messages(listed)
    assert own.talk.process_action(own.agents["a"], HUSH) is None
    with pytest.raises(AssertionError, match="broadcast action 2"):
        own.talk.process_action(own.agents["a"], {"broadcast": 2})


def test_with_a_users_own_actor_the_step_is_told_agent_by_agent():
    class Sleeper(ActorBaseComponent):
        key = "sleep"

        def process_action(self, agent, action_dict, **kwargs):
            return None

    sim = trio(actors=[BroadcastingActor, Sleeper])
    sim.step({"a": TALK, "b": TALK, "c": HUSH})
    assert messages(sim) == {"a": 0.3, "b": 0.3, "c": 0.4}


def test_agents_without_messages_may_be_mapped():
    sim = sim_of(
        talker("a", (0, 0), 1.0),
        talker("b", (6, 6), 0.0),
        GridWorldAgent(id="post", encoding=5, initial_position=np.array([0, 1])),
        broadcast_mapping={1: {1, 5}},
    )
    assert [agent.id for agent in sim.actors[0].process_action(sim.agents["a"], TALK)] == ["post", "b"]
    sim.step({"a": TALK})
    assert sim.agents["b"].message == 0.5


def test_a_snapshot_holds_the_messages():
    world = interplay.make_world(ID, num_worlds=3, seed=8)
    policy = make_policy(ID, "talker")
    timestep = world.reset()
    policy.start(world, 1)
    timestep = world.step(policy.act(timestep))
    saved, action = world.save(), policy.act(timestep)
    later = world.step(action)
    spread, seen = (
        world.metrics["spread"].copy(),
        later.observation["broadcaster"]["message.broadcaster0"].copy(),
    )
    other = interplay.make_world(ID, num_worlds=3)
    other.load(saved)
    again = other.step(action)
    assert np.array_equal(other.metrics["spread"], spread)
    assert np.array_equal(again.observation["broadcaster"]["message.broadcaster0"], seen)


def test_talking_brings_messages_together():
    """Not always completely: a done agent is silent, so one behind a blocker may stay apart until the time limit."""
    world = interplay.make_world(ID, num_worlds=32)
    world.reset()
    before = world.metrics["spread"].mean()
    table = play(world, make_policy(ID, "talker"), 32)
    assert (table["spread"] <= 0.01).mean() > 0.5
    assert table["spread"].mean() < before / 10
