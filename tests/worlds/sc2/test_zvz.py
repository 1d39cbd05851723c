"""Full matches through the protocol, against a stand-in with a small economy."""

from __future__ import annotations

import os
import signal
import sys
from types import ModuleType

import numpy as np
import pytest
from s2clientprotocol import common_pb2
from s2clientprotocol import sc2api_pb2 as sc

from interplay.core.errors import CannotSave, MissingExtraError, UserError
from interplay.core.settings import build
from interplay.registry import make_policy
from interplay.worlds.sc2 import engine, payoff
from interplay.worlds.sc2.config import WAITS, MatchSettings
from interplay.worlds.sc2.duel import Duel
from interplay.worlds.sc2.match import Match
from interplay.worlds.sc2.zvz import ZvzWorld
from tests.worlds.sc2.messages import unit, view


def play(world, *names, steps=60):
    """Plays each slot by its policy; returns the time steps."""
    policies = [make_policy(world, name) for name in names]
    for number, policy in enumerate(policies):
        policy.start(world, number)
    shown = [world.reset()]
    rewards = [shown[0].reward.copy()]
    for _ in range(steps):
        if shown[-1].over.all():
            break
        actions = [policy.act(shown[-1]) for policy in policies]
        shown.append(world.step(np.stack([action[:, a] for a, action in enumerate(actions)], axis=1)))
        rewards.append(shown[-1].reward.copy())
    return shown, np.array(rewards)


def test_a_rush_beats_a_player_that_does_nothing(make):
    world = make("sc2/zvz", seed=3, see_areas=True, see_techs=True, see_progress=True)
    space = world.observation_space
    assert {name: leaf.shape for name, leaf in space.spaces.items()} == {
        "picture": (45, 32, 32),
        "vector": (1784,),
        "areas": (16, 44),
        "techs": (23,),
        "progress": (72,),
    }
    shown, rewards = play(world, "rush", "still")
    assert world.metrics["outcome"].tolist() == [[1, -1]]
    assert rewards.sum(axis=0).tolist() == [[1, -1]]
    assert shown[-1].terminated.all()
    assert not shown[-1].truncated.any()
    assert world.metrics["loops"][0] == 32 * (len(shown) - 1)
    for name, leaf in space.spaces.items():
        assert leaf.contains(shown[-1].observation[name][0, 0]), name


def test_a_match_ends_in_a_cut_at_its_limit(make):
    world = make("sc2/zvz", limit=96, active="released")
    assert world.action_space.n == 62
    shown, _ = play(world, "still", "random")
    assert len(shown) == 1 + 3
    assert shown[-1].truncated.all()
    assert not shown[-1].terminated.any()
    assert world.metrics["outcome"].tolist() == [[0, 0]]


def test_a_match_that_ends_within_a_decision_has_the_loops_that_were_played(make, monkeypatch):
    world = make("sc2/zvz")
    world.reset()
    observe = Match.observe

    def ended(self):
        answers = observe(self)
        for answer in answers:
            answer.observation.game_loop = 11  # ten after the first observation
            for player, result in ((1, 1), (2, 2)):
                answer.player_result.add(player_id=player, result=result)
        return answers

    monkeypatch.setattr(Match, "observe", ended)
    world.step(np.zeros((1, 2), int))
    assert (world.metrics["loops"].tolist(), world.metrics["outcome"].tolist()) == ([10], [[1, -1]])


def test_players_with_other_waits_act_when_they_are_due(make):
    """Waits of 32 and 48 loops: both act at 0, then at 32, 48, 64 and 96."""
    world = make("sc2/zvz", wait=[32, 48], limit=400)
    world.reset()
    nothing = np.zeros((1, 2), int)
    due, loops, seen = [], [], []
    for _ in range(4):
        after = world.step(nothing)
        due.append(after.acting[0].tolist())
        loops.append(int(world.metrics["loops"][0]))
        seen.append(after.observation["vector"][0].copy())
    assert loops == [32, 48, 64, 96]
    assert due == [[True, False], [False, True], [True, False], [True, True]]
    np.testing.assert_array_equal(seen[1][0], seen[0][0])  # not due: the same observation
    np.testing.assert_array_equal(seen[2][1], seen[1][1])
    assert (seen[2][0] != seen[1][0]).any()


def test_a_player_that_is_not_due_is_paid_nothing(make, monkeypatch):
    monkeypatch.setattr(payoff, "reward_vector", lambda before, now: np.ones(3))
    world = make("sc2/zvz", wait=[32, 48], reward="vector", limit=400)
    world.reset()
    paid = [world.step(np.zeros((1, 2), int)).reward[0].tolist() for _ in range(4)]
    assert paid == [[3, 0], [0, 3], [3, 0], [3, 3]]


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 2),
        ({"wait": [32, 64]}, 2),
        ({"wait": [32, 48]}, None),
        ({"chosen_waits": True}, None),
        ({"wait": [64, 32], "opponent": "Easy"}, 4),
    ],
)
def test_a_step_has_a_length_where_all_have_the_same(make, options, seconds):
    assert make("sc2/zvz", **options).tick_seconds == seconds


def test_every_match_has_its_own_seed(make, monkeypatch):
    seeds = []
    monkeypatch.setattr(Duel, "begin", lambda self, seed: seeds.append(seed))
    monkeypatch.setattr(ZvzWorld, "_copy", lambda self, w: None)
    world = make("sc2/zvz", num_worlds=3, seed=5)
    world.reset()
    world.reset(np.array([False, True, True]))
    assert len(set(seeds)) == len(seeds) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"active": "released", "control": "managers"},
        {"wait": [16, 16], "chosen_waits": True},
        {"wait": [16, 8], "opponent": "Easy"},
        {"areas": 8},
        {"areas": 8, "control": "managers", "scripts": ["combat"]},
    ],
)
def test_options_that_nothing_reads_are_refused(options):
    with pytest.raises(UserError, match=next(iter(options))):
        build(MatchSettings, options, "sc2/zvz")


@pytest.mark.parametrize(
    "options",
    [
        {"wait": [16, 16], "opponent": "Easy"},
        {"wait": [16, 32], "opponent": "Easy"},
        {"areas": 8, "see_areas": True},
        {"areas": 8, "control": "managers", "scripts": ["production"]},
    ],
)
def test_options_that_something_reads_are_taken(options):
    build(MatchSettings, options, "sc2/zvz")


def test_a_cut_shows_both_players_the_end(make):
    world = make("sc2/zvz", wait=[32, 128], limit=40)
    world.reset()
    nothing = np.zeros((1, 2), int)
    first = world.step(nothing).observation["vector"][0].copy()
    after = world.step(nothing)
    assert (world.metrics["loops"].tolist(), after.truncated.all()) == ([40], True)
    assert (after.observation["vector"][0] != first).any(axis=1).all()


@pytest.mark.parametrize(
    ("reward", "paid"),
    [("result", 1), ("army_sign", 11), ("army_change", 1.06), ("vector", 1 + 2 * 0.5 + 3 * 0.2 - 5 * 0.7)],
)
def test_each_reward_is_paid_once_with_the_result(make, reward, paid):
    world = make("sc2/zvz", reward=reward, **({"weights": [2, 3, 5]} if reward == "vector" else {}))
    world.reset()
    player = world._duels[0].players[0]
    before = {"spent_minerals": 0.0, "collection_rate_minerals": 60.0, "killed_value_units": 700.0}
    after = {"spent_minerals": 500.0, "collection_rate_minerals": 80.0}
    for score, units in ((before, 0), (after, 3)):
        player.result = 1.0 if units else None
        player.view = view(*[unit("own", "roach", 1, 1)] * units, score=score)
        player.settle()
    assert player.reward == pytest.approx(paid)
    player.settle()
    assert player.reward == (10 if reward == "army_sign" else 1)


@pytest.mark.parametrize(
    ("hopeless", "early", "results"),
    [
        ([True, False], True, [-1, 1]),
        ([False, True], True, [1, -1]),
        ([True, True], True, [0, 0]),
        ([True, True], False, None),
    ],
)
def test_a_hopeless_side_has_lost(make, monkeypatch, hopeless, early, results):
    world = make("sc2/zvz", early_end=early)
    world.reset()
    answers = iter(hopeless)
    monkeypatch.setattr(payoff, "is_hopeless", lambda seen: next(answers))
    after = world.step(np.zeros((1, 2), int))
    assert after.terminated.all() == (results is not None) == after.over.all()
    assert not after.truncated.any()
    if results is not None:
        assert world.metrics["outcome"].tolist() == after.reward.tolist() == [results]
        world.reset()
        assert np.isnan(world.metrics["outcome"]).all()


@pytest.mark.parametrize("hopeless", [True, False])
def test_a_hopeless_player_has_lost_against_the_game(make, monkeypatch, hopeless):
    world = make("sc2/zvz", opponent="VeryEasy", early_end=True)
    world.reset()
    monkeypatch.setattr(payoff, "is_hopeless", lambda seen: hopeless)
    after = world.step(np.zeros((1, 1), int))
    assert after.reward.tolist() == [[-1.0 if hopeless else 0.0]]
    assert after.terminated.all() == hopeless


def test_each_players_own_game_says_where_its_buildings_fit(make, monkeypatch):
    world = make("sc2/zvz")
    world.reset()
    match, asked = world._duels[0]._match, []
    for number, client in enumerate(match.clients):
        original = client.call
        monkeypatch.setattr(
            client, "call", lambda number=number, own=original, **one: asked.append(number) or own(**one)
        )
    for player in (0, 1):
        assert match.fits(player, 1152, np.array([[5.0, 30.0], [30.0, 30.0]])).tolist() == [True, False]
    assert asked == [0, 1]


def test_the_last_actions_are_seen(make):
    for options, action, place, actions in (
        ({}, np.array([[7, 9]]), 7, 165),
        ({"control": "managers"}, np.array([[[5, 0, 0], [6, 0, 0]]]), 5, 62),
    ):
        world = make("sc2/zvz", **options)
        world.reset()
        vector = world.step(action).observation["vector"][0, 0]
        assert np.flatnonzero(vector[207 : 207 + 8 * actions]).tolist() == [7 * actions + place]


def test_what_a_match_is_made_of(make):
    alone = make("sc2/zvz", opponent="CheatMoney")._duels[0]._match
    made = sc.RequestCreateGame(**alone._creation(7))
    assert (made.random_seed, made.disable_fog, made.local_map.map_path) == (
        7,
        False,
        "Melee/KairosJunctionLE.SC2Map",
    )
    one, other = made.player_setup
    assert one.type == sc.Participant
    assert (other.type, other.race, other.difficulty) == (sc.Computer, common_pb2.Zerg, sc.CheatMoney)
    (join,) = [sc.RequestJoinGame(**one["join_game"]) for one in alone._joins()]
    assert (join.race, join.options.raw, join.options.score) == (common_pb2.Zerg, True, True)
    assert not join.client_ports
    both = [sc.RequestJoinGame(**one["join_game"]) for one in make("sc2/zvz")._duels[0]._match._joins()]
    ports = [both[0].server_ports, *both[0].client_ports]
    assert both[0] == both[1]
    assert len({port for pair in ports for port in (pair.game_port, pair.base_port)}) == 4
    assert sc.RequestCreateGame(**make("sc2/battle-5i")._arenas[0]._match._creation(1)).disable_fog


def test_an_illegal_action_gives_no_order(make):
    world = make("sc2/zvz", limit=400)
    mask = world.reset().action_mask["action"]
    names = world.action_names["macro"]
    duel = world._duels[0]
    for name in ("make roach", "0 attacks 0", "make spawning pool"):
        assert not mask[0, 0, names.index(name)]
        assert duel.players[0].decide(np.array(names.index(name))) == []
    assert [order["ability_id"] for order in duel.players[0].decide(np.array(names.index("make drone")))] == [
        1342
    ]


def test_an_action_may_hold_its_own_wait(make):
    world = make("sc2/zvz", chosen_waits=True, limit=400)
    assert world.action_space.nvec.tolist() == [165, len(WAITS)]
    assert world.reset().action_mask["action"].shape == (1, 2, 165 + len(WAITS))
    after = world.step(np.array([[[0, WAITS.index(16)], [0, WAITS.index(128)]]]))
    assert (after.acting.tolist(), world.metrics["loops"].tolist()) == ([[True, False]], [16])
    after = world.step(np.array([[[0, WAITS.index(128)], [0, 0]]]))  # the second's is not read
    assert (after.acting.tolist(), world.metrics["loops"].tolist()) == ([[False, True]], [128])


def test_a_level_of_the_game_is_one_opponent(make):
    world = make("sc2/zvz", opponent="Easy", reward="army_sign")
    _, rewards = play(world, "rush")
    assert world.agents == ("first",)
    assert world.metrics["outcome"].tolist() == [[1]]
    assert rewards[-1] >= 9  # 10 for the win


def test_a_lost_game_is_cut_and_replaced(make, capsys):
    world = make("sc2/zvz", num_worlds=2, limit=400)
    world.reset()
    nothing = np.zeros((2, 2), int)
    os.kill(world._duels[0]._match._processes[1].process.pid, signal.SIGKILL)
    after = world.step(nothing)
    assert "sc2: world 0: StarCraft II" in capsys.readouterr().err
    assert after.over.tolist() == [True, False]
    assert after.truncated.tolist() == [[True, True], [False, False]]
    assert np.isnan(world.metrics["outcome"][0]).all()
    assert world.reset(after.over).acting.all()
    assert world.metrics["engine_restarts"].tolist() == [1, 0]
    assert world.metrics["loops"].tolist() == [0, 32]


def test_a_match_cannot_be_saved(make):
    with pytest.raises(CannotSave):
        make("sc2/zvz").save()


def test_what_is_missing_has_its_sentence(monkeypatch, tmp_path):
    assert engine.missing() == ""
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    assert "SC2PATH" in engine.missing()
    monkeypatch.setitem(sys.modules, "s2clientprotocol", None)
    assert engine.missing() == engine.NO_PROTOCOL
    with pytest.raises(MissingExtraError):
        engine.messages()


def test_another_package_in_place_of_the_protocols_has_its_sentence(monkeypatch):
    class Other(ModuleType):
        def __getattr__(self, name):
            raise TypeError("Descriptors cannot be created directly.")

    monkeypatch.setitem(sys.modules, "s2clientprotocol", Other("s2clientprotocol"))
    assert "pip uninstall s2clientprotocol" in engine.missing()
    with pytest.raises(MissingExtraError, match="pip uninstall"):
        engine.messages()


def test_the_newest_build_comes_first(monkeypatch, tmp_path):
    for number in (9, 75689, 75025):
        path = tmp_path / "Versions" / f"Base{number}" / "SC2_x64"
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    assert [path.parent.name for path in engine.programs()] == ["Base75689", "Base75025", "Base9"]
