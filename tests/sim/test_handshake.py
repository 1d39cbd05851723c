"""The handshake wrapper: specification 2.4, H1 to H3."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.sim import Agent
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import CommunicationHandshakeWrapper, FlattenWrapper
from tests.sim.toys import Countdown


class Listening(Countdown):
    """Observes the senders of accepted messages, as a number in base 2, and records the buffers."""

    def get_obs(self, agent_id, fusion_matrix=None, **kwargs):
        self.fusion = fusion_matrix
        return sum(2**i for i, taken in enumerate(fusion_matrix.values()) if taken)


def made(**null):
    sim = Listening({"a": 9, "b": 9}, passive=("wall",))
    sim.agents |= {
        name: Agent(id=name, observation_space=spaces.Discrete(8), action_space=spaces.Discrete(2), **null)
        for name in "ab"
    }
    sim.finalize()
    return CommunicationHandshakeWrapper(sim)


def say(action, send=(), receive=(), others=("b", "wall")):
    return {
        "action": action,
        "send": {name: int(name in send) for name in others},
        "receive": {name: int(name in receive) for name in others},
    }


def test_h1_spaces_list_everybody_else():
    wrapped = made(null_observation=3, null_action=1)
    flags = spaces.Dict(b=spaces.Discrete(2), wall=spaces.Discrete(2))
    agent = wrapped.agents["a"]
    assert agent.action_space == spaces.Dict(action=spaces.Discrete(2), send=flags, receive=flags)
    assert agent.observation_space == spaces.Dict(obs=spaces.Discrete(8), message_buffer=flags)
    assert agent.null_observation == {"obs": 3, "message_buffer": {"b": 0, "wall": 0}}
    assert agent.null_action == say(1)
    wrapped.reset()
    assert wrapped.get_obs("a") in agent.observation_space
    flat = FlattenWrapper(wrapped)
    flat.reset()
    assert flat.get_obs("a").tolist() == [0, 0, 0]


def test_h2_an_offer_waits_one_step_and_is_accepted_or_lost():
    wrapped = made()
    manager = AllStepManager(wrapped)
    quiet = {"a": say(0), "b": say(0, others=("a", "wall"))}
    offer = {"a": say(0, send=("b",), receive=("b",)), "b": say(0, receive=("a",), others=("a", "wall"))}

    assert manager.reset()["b"] == {"obs": 0, "message_buffer": {"a": 0, "wall": 0}}
    # Both accept, but what they accept was not there when they looked.
    observations = manager.step(offer)[0]
    assert observations["b"] == {"obs": 0, "message_buffer": {"a": 1, "wall": 0}}
    assert wrapped.message_buffer["b"] == {"a": True, "wall": False}
    assert not any(taken for row in wrapped.received_message.values() for taken in row.values())
    # The offer is accepted while a new one comes.
    observations = manager.step(offer)[0]
    assert observations["b"] == {"obs": 1, "message_buffer": {"a": 1, "wall": 0}}
    assert wrapped.received_message == {
        "a": {"b": False, "wall": False},
        "b": {"a": True, "wall": False},
        "wall": {"a": False, "b": False},
    }
    # Not accepted, it is lost.
    observations = manager.step(quiet)[0]
    assert observations["b"] == {"obs": 0, "message_buffer": {"a": 0, "wall": 0}}
    assert manager.step({**quiet, "b": offer["b"]})[0]["b"]["obs"] == 0

    manager.step(offer)
    manager.reset()
    assert not any(waits for row in wrapped.message_buffer.values() for waits in row.values())


def test_h2_messages_to_passive_agents_are_kept_and_inner_actions_arrive():
    wrapped = made()
    wrapped.reset()
    heard = []
    wrapped.sim.step = lambda action, **kwargs: heard.append(action)
    wrapped.step({"a": say(1, send=("wall",))})
    assert heard == [{"a": 1}]
    assert wrapped.message_buffer["wall"] == {"a": True, "b": False}


def test_a_mask_of_the_inner_action_stays_one():
    wrapped = made()
    wrapped.reset()
    assert wrapped.get_action_mask("a") is None
    wrapped.sim.get_action_mask = lambda agent_id: np.array([0, 1], np.int8)
    space = wrapped.agents["a"].action_space
    drawn = [space.sample(wrapped.get_action_mask("a")) for _ in range(20)]
    assert {int(action["action"]) for action in drawn} == {1}
    assert {int(action["send"]["b"]) for action in drawn} == {0, 1}


def test_h3_the_simulation_is_told_what_was_accepted():
    wrapped = made()
    wrapped.reset()
    wrapped.step({"b": say(0, send=("a",), others=("a", "wall"))})
    wrapped.step({"a": say(0, receive=("b", "wall"))})
    wrapped.get_obs("a")
    assert wrapped.sim.fusion == {"b": True, "wall": False}


def test_an_offer_is_lost_after_a_step_in_which_its_sender_does_not_act():
    wrapped = made()
    wrapped.reset()
    wrapped.step({"b": say(0, send=("a",), others=("a", "wall"))})
    assert wrapped.message_buffer["a"]["b"] is True
    wrapped.step({"a": say(0)})
    assert wrapped.message_buffer["a"]["b"] is False
    wrapped.step({"a": say(0, receive=("b",))})
    assert wrapped.received_message["a"]["b"] is False
