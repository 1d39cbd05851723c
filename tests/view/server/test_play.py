"""A played world: the same as by hand, and people's choices are checked as a policy's are."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.spaces import check_action
from interplay.registry import make_world
from interplay.view.server.heads import Heads
from interplay.view.server.play import Cast, Play
from interplay.view.stepping import stands
from tests.view.server.tables import EVERY, TableWorld, TwoKinds


def play_of(world, seed=0):
    return Play(Cast(world, RandomPolicy(), "random"), seed)


@pytest.mark.parametrize(
    "name", ["dilemma/fixed", "survival/1v1-heals-low", "werewolf/9", "simulation/multi-corridor-turns"]
)
def test_a_session_of_a_seed_is_the_same_as_stepping_by_hand(name):
    by_hand = make_world(name)
    expected = []
    for stand in stands(by_hand, RandomPolicy(), episodes=2, max_steps=None, seed=11):
        expected.append((int(by_hand.hash()[0]), stand.last))
        if len(expected) == 90:
            break
    play, found = play_of(make_world(name), 11), []
    while len(found) < len(expected):
        found.append((int(play.world.hash()[0]), play.over))
        play.step()
    assert found == expected
    assert play.tick == len(found)


def test_a_reset_of_a_seed_is_that_of_a_new_session():
    play = play_of(make_world("dilemma/fixed"), 3)
    for _ in range(5):
        play.step()
    play.reset(11)
    fresh = play_of(make_world("dilemma/fixed"), 11)
    for _ in range(5):
        assert int(play.world.hash()[0]) == int(fresh.world.hash()[0])
        play.step()
        fresh.step()
    assert play.tick == 11


def test_a_person_plays_a_slot_and_the_policy_the_others():
    play = play_of(TableWorld())
    plain = play_of(TableWorld())
    for choice in (2, 1, 2):
        play.step({1: play.read(1, {"action": choice})})
        plain.step()
        assert play.world.state.last[0, 1] == choice
        assert play.world.state.last[0, 0] == plain.world.state.last[0, 0]


def test_who_says_nothing_does_the_first_legal_thing():
    play = play_of(TableWorld())
    play.step({0: None, 1: None})
    assert play.world.state.last.tolist() == [[0, 1]]


def test_a_moment_does_not_change_when_the_world_goes_on():
    play = play_of(make_world("survival/1v1-heals-low"), 2)
    moment = play.moment()
    before = {
        layer.name: {key: a.copy() for key, a in layer.columns.items()} for layer in moment.scene.layers
    }
    for _ in range(10):
        play.step()
    for layer in moment.scene.layers:
        for key, array in layer.columns.items():
            assert np.array_equal(array, before[layer.name][key]), (layer.name, key)
    assert play.moment().tick == 10


def test_first_and_last_moments():
    play, seen = play_of(TableWorld(length=2)), []
    for _ in range(5):
        moment = play.moment()
        seen.append((moment.tick, moment.first, moment.last))
        play.step()
    assert seen == [
        (0, True, False),
        (1, False, False),
        (2, False, True),
        (3, True, False),
        (4, False, False),
    ]


def test_what_is_told_of_an_agent():
    play = play_of(TableWorld(length=3))
    play.step({0: play.read(0, {"action": 2}), 1: None})
    play.step({0: play.read(0, {"action": 1}), 1: None})
    told = play.agent(0, True)
    assert told == {
        "slot": 0, "tick": 2, "name": "seat_0", "present": True, "acting": True, "team": None, "policy": "a person",
        "reward": 1.0, "return": 3.0, "value": None, "note": None, "metrics": {"last": 1.0, "share": None},
        "heads": [{"name": "action", "kind": "discrete", "n": 3, "labels": None, "probabilities": None, "legal": [True, True, True]}],
        "observation": [{"name": "secret", "shape": [1], "values": [50.0], "kind": "numbers"}], "chosen": {"action": 1},
    }  # fmt: skip
    assert play.agent(1, False)["heads"][0]["legal"] == [False, True, True]
    play.step({0: None, 1: None})
    assert play.over
    assert (play.agent(0, True)["present"], play.agent(0, True)["heads"][0]["legal"]) == (False, None)
    play.step()
    assert (play.agent(0, True)["present"], play.agent(0, True)["return"], play.agent(0, True)["chosen"]) == (
        True,
        0.0,
        None,
    )


class Reborn(TableWorld):
    """The first life of seat 0 ends in the second step, and its next one begins at once."""

    respawns = True

    def _advance(self, action):
        super()._advance(action)
        self.outputs.terminated[0, 0] = self.state.steps[0] == 2


def test_the_return_of_an_agent_begins_anew_with_each_life():
    play, returns = play_of(Reborn()), []
    for choice in (2, 1, 2, 1):
        play.step({0: play.read(0, {"action": choice}), 1: None})
        returns.append([play.agent(slot, True)["return"] for slot in range(2)])
    assert returns == [[2, 1], [3, 2], [2, 3], [3, 4]]


def test_every_kind_of_head_there_and_back():
    heads = Heads(EVERY)
    assert [(head.name, head.choices) for head in heads.heads] == [
        ("lamps 1", 2), ("lamps 2", 2), ("move", 4), ("push", 0), ("signs 1", 2), ("signs 2", 3),
    ]  # fmt: skip
    legal = heads.legal(None, 1)[0]
    assert len(legal) == 13
    given = {"move": 3, "push": [0.5, -1.0], "signs 2": 2, "lamps 1": 1}
    action = heads.read(given, legal)
    tree = {key: np.zeros((1, 2, *(part.shape or ())), part.dtype) for key, part in EVERY.spaces.items()}
    tree["move"] -= 1
    heads.put(tree, 1, action)
    checked = check_action("test", EVERY, tree, 1, 2)
    assert checked["move"].tolist() == [[-1, 2]]
    assert heads.choices(checked, 1) == {"lamps 1": 1, "lamps 2": 0, "signs 1": 0, **given}
    assert heads.choices(checked, 0)["move"] == 0


def test_what_happens_without_a_word_is_legal_in_every_space():
    heads = Heads(EVERY)
    legal = np.ones(13, bool)
    legal[[0, 4, 5, 8]] = False
    idle = heads.idle(legal)
    assert (idle["lamps"].tolist(), int(idle["move"]), idle["signs"].tolist()) == ([1, 0], 1, [1, 0])
    assert Heads(spaces.Box(2.0, 3.0, (1,), np.float32)).idle(np.ones(0, bool))["action"].tolist() == [2.0]


def test_whole_numbers_stay_whole():
    heads = Heads(spaces.Box(0, 5, (1,), np.int64))
    assert heads.read({"action": [3.0]}, np.ones(0, bool))["action"].tolist() == [3]


def test_agents_of_several_kinds():
    """The slots of each kind choose from their own heads, and their choices arrive in their own columns."""
    world = TwoKinds()
    play = play_of(world)
    assert [head["name"] for head in play.heads(0)] == ["action"]
    assert [head["name"] for head in play.heads(1)] == ["jump", "kick"]
    play.step({1: play.read(1, {"kick": 2}), 2: None, 0: play.read(0, {"action": 1})})
    assert world.given["walker"].tolist() == [[1, world.given["walker"][0, 1]]]
    assert {key: array.tolist() for key, array in world.given["jumper"].items()} == {
        "jump": [[0]],
        "kick": [[2]],
    }
    assert play.agent(1, True)["chosen"] == {"jump": 0, "kick": 2}


def test_who_was_not_asked_has_chosen_nothing():
    play = play_of(TableWorld(seats=3, turns=True))
    for chose in range(3):
        play.step()
        told = [play.agent(slot, False)["chosen"] for slot in range(3)]
        assert [choice is not None for choice in told] == [slot == chose for slot in range(3)]


def test_who_waits_for_no_turn_is_not_told_to():
    play = play_of(make_world("survival/1v1-heals-low", zone_damage=100), 1)
    while play.acts(0) and play.acts(1):
        play.step({0: None, 1: None})
    dead = 0 if not play.acts(0) else 1
    with pytest.raises(UserError, match="wait until it does, or give it back"):
        play.read(dead, {})


def test_turns():
    play = play_of(TableWorld(seats=3, turns=True))
    assert play.turn_based
    for expected in (0, 1, 2, 0):
        assert play.turn() == expected
        assert [play.acts(slot) for slot in range(3)] == [slot == expected for slot in range(3)]
        with pytest.raises(UserError, match=r"does not act at tick .* wait for its turn"):
            play.read((expected + 1) % 3, {"action": 1})
        play.step()
    assert not play_of(TableWorld()).turn_based
    assert play_of(TableWorld(seats=1)).turn() is None
    born = TableWorld(turns=True)
    born.persistent = True  # so that the one who acts is the first to be born, and nobody waits for anybody
    assert not play_of(born).turn_based


def test_who_cannot_choose_is_told_why():
    play = play_of(TableWorld(length=2))
    play._present[1] = False  # as after a death
    play.world.outputs.acting[0, 1] = False
    with pytest.raises(UserError, match="seat_1 is not in the world at tick 0"):
        play.read(1, {"action": 1})
    play.step()
    play.step()
    with pytest.raises(UserError, match="seat_0: the episode is over at tick 2; wait for the next one"):
        play.read(0, {"action": 1})
