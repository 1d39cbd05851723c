"""What is wrong is refused in one line that names the setting, its value and the cure: in Python, on the command line, at the adapters."""

from __future__ import annotations

import re

import numpy as np
import pytest

from interplay import UserError, make, make_world
from interplay.connect.dense import DenseEnv, make_dense
from interplay.connect.werewolf import EvaluatedEnv, MaskedEnv, make_role_named, make_written, read_log
from interplay.core import masks
from tests.cli.command import refusal
from tests.worlds.werewolf.games import game

WRONG = [  # option, value, what the line says of setting, value and cure; further options
    ("n_players", 2, "n_players = 2 .* at least 3", {}),
    ("n_players", 257, "n_players = 257 .* at most 256", {}),
    ("n_players", 4, "n_players = 4 is too few for wolves = sqrt; give 5 or more", {}),
    ("n_players", 9.5, "n_players = 9.5 .* whole number", {}),
    ("wolves", 0, "wolves = 0 .* give 1 to 4", {}),
    ("wolves", 5, "wolves = 5 gives 5 wolves among 9 .* raise n_players or give 1 to 4", {}),
    ("wolves", 4, "wolves = 4 gives 4 wolves among 8 .* give 1 to 3", {"n_players": 8}),
    ("wolves", "some", "wolves = .*some.* give one of sqrt, balanced or a whole number", {}),
    ("vote_depth", 3, "vote_depth = 3 is more than ballot_len = 2; lower vote_depth", {"ballot_len": 2}),
    ("ballot_len", 0, "ballot_len = 0 .* at least 1", {}),
    ("signal_range", 0, "signal_range = 0 .* signal_length = 2; raise signal_range", {"signal_length": 2}),
    ("quota", 1.5, "quota = 1.5 .* at most 1", {"rule": "threshold"}),
    ("quota", -0.1, "quota = -0.1 .* at least 0", {"rule": "threshold"}),
    ("quota", 0.5, "quota = 0.5 does not go with rule = plurality; give .* rule = threshold", {}),
    ("rule", "threshold", "quota = off does not go with rule = threshold; give a quota from 0 to 1", {}),
    ("rule", "most", "rule = .*most.* give one of plurality, majority, threshold, unique_top", {}),
    ("flexibility", 1.0, "flexibility = 1.0 .* below 1", {}),
    ("max_days", 0, "max_days = 0 .* at least 1", {}),
    ("arm", "signals_off", "arm = signals_off needs words, signal_length is 0; raise signal_length", {}),
    ("roles.jester", 1, "no role 'jester'; choose from seer", {}),
    ("roles.seer", 7, "roles = .*seer.* needs 7 players, 6 are not wolves; give fewer", {}),
    ("obs.history", 65, "obs.history = 65 .* at most 64", {}),
    ("penalties.deaths", -1, "unknown key penalties.deaths; did you mean penalties.death?", {}),
    ("signal_lenght", 1, "unknown key signal_lenght; did you mean signal_length?", {}),
]


def nested(option, value):
    group, _, name = option.rpartition(".")
    return {group: {name: value}} if group else {option: value}


@pytest.mark.parametrize(("option", "value", "said", "rest"), WRONG)
@pytest.mark.parametrize("adapter", [make_world, make, make_dense, make_written, make_role_named])
def test_settings(adapter, option, value, said, rest):
    with pytest.raises(UserError) as caught:
        adapter("werewolf/9", **nested(option, value), **rest)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("werewolf/9: ")
    assert re.search(said, line), line


@pytest.mark.parametrize("verb", ["check", "bench"])
@pytest.mark.parametrize(("option", "value", "said", "rest"), WRONG)
def test_settings_on_the_command_line(capsys, verb, option, value, said, rest):
    given = [f"{name}={one}" for name, one in {**rest, option: value}.items()]
    line = refusal(capsys, verb, "werewolf/9", *given)
    assert re.search(said, line), line


def test_a_game_that_is_decided_before_anybody_votes_is_said_so():
    with pytest.warns(UserWarning, match="2 wolves among 5 players win in the first night"):
        make_world("werewolf/9", n_players=5)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (None, r"no actions; pass an array of shape \(2, 9, ...\)"),
        (np.zeros((2, 9), int), r"actions have shape \(2, 9\), expected \(2, 9, 2\)"),
        (np.zeros((2, 9, 2)), "dtype float64, expected integers"),
        (np.full((2, 9, 2), 10), r"action 10 at index \(0, 0, 0\) is outside 0..9"),
        (np.full((2, 9, 2), -1), "action -1 .* is outside 0..9"),
        (np.full((2, 9, 2), 9), r"action 9 at index \(0, 0, 1\) is outside 0..8"),
    ],
)
@pytest.mark.parametrize("illegal", ["resample", "raise"])
def test_actions_that_are_none(action, said, illegal):
    world = game("9-l1s9", num_worlds=2, illegal=illegal)
    before = world.hash().tolist()
    with pytest.raises(UserError, match=said):
        world.step(action)
    assert world.hash().tolist() == before


@pytest.mark.parametrize("names", [1, 3])
def test_illegal_ballots_are_resampled_or_refused_as_set(names):
    """Dead players, pass, and a pack mate: replaced by legal names and counted, or refused without effect."""
    for choice in ("pass", "mate"):
        strict, lenient = (
            game("9", seed=5, illegal=how, ballot_len=names, vote_depth=names)
            for how in ("raise", "resample")
        )
        wolves = np.flatnonzero(strict.timestep.acting[0])
        named = 9 if choice == "pass" else int(wolves[0])
        action = np.full((1, 9, names), named, np.int16)
        before = strict.hash().tolist()
        with pytest.raises(UserError) as caught:
            strict.step(action)
        (line,) = str(caught.value).splitlines()
        assert f"named {named} in night_talk" in line
        assert "choose by the action mask, or set illegal = resample" in line
        assert strict.hash().tolist() == before
        lenient.step(action)
        board = lenient.state.pack_targets[0]
        assert (board[wolves] >= 0).all()
        assert not np.isin(board[wolves], wolves).any()
        assert lenient.metrics["illegal"][0] == 3 * names


def test_replaced_names_are_uniform_over_the_legal_ones():
    world = game("9", num_worlds=6000, seed=6)
    legal = world.timestep.action_mask["action"][..., :9].copy()
    wolves = world.timestep.acting.copy()
    world.step(np.full((6000, 9, 1), 9))
    named = world.state.pack_targets[wolves][:, 0]
    places = (np.cumsum(legal[wolves], axis=1) - 1)[np.arange(len(named)), named]
    assert legal[wolves][np.arange(len(named)), named].all()
    counts = np.bincount(places, minlength=6)
    expected = len(named) / 6
    assert len(counts) == 6
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_masks_and_tables_of_the_wrong_shape():
    resampled = game("9-l1s9", arm="signals_resampled")
    for wrong in (np.full((2, 9), 1 / 9), np.ones((1, 9)), np.full((1, 9), np.nan), np.full(9, 1 / 9)):
        with pytest.raises(UserError, match=r"marginal has shape .*; give \(1, 9\) probabilities"):
            resampled.marginal = wrong
    replayed = game("9-l1s9", arm="signals_replayed")
    for wrong in (np.zeros((1, 9), int), np.zeros((1, 1, 6, 8, 1), int)):
        with pytest.raises(UserError, match=r"replay has shape .*; give \(games, days, \(6, 9, 1\)\) words"):
            replayed.replay = wrong
    for nothing in ("x", [[1], [2, 3]], None, {}):
        with pytest.raises(UserError, match=r"replay is no array of numbers|replay has shape"):
            replayed.replay = nothing
    for broken in (0.5, np.nan):
        with pytest.raises(UserError, match="replay has numbers that are not whole; give symbols from 0"):
            replayed.replay = np.full((1, 1, 6, 9, 1), broken)
    with pytest.raises(UserError, match="replay has symbols out of range; give 0 to signal_range - 1"):
        replayed.replay = np.full((1, 1, 6, 9, 1), 9)
    space = resampled.action_space
    assert masks.from_gymnasium(space, masks.to_gymnasium(space, np.ones(19, bool))).all()
    with pytest.raises(ValueError, match="has 19 entries"):
        masks.from_gymnasium(space, (np.ones(9, np.int8), np.ones(9, np.int8)))


def test_actions_at_the_adapters():
    env = make_written("werewolf/9-l1s9", signal_range=4)
    observations, _ = env.reset(seed=1)
    queried, (asleep, *_) = env.queried, [name for name in env.agents if name not in env.queried]
    human = env.possible_agents.index(asleep)
    assert list(observations) == queried
    good = {name: np.array([human, 0]) for name in queried}
    before = env.world.hash().tolist()
    for wrong, said in (
        ({}, f"no action of {queried[0]}, who is asked; pass one"),
        ({**good, asleep: np.array([0, 0])}, f"an action of {asleep}, who is not asked; asked are"),
        ({**good, queried[0]: np.array([9, 0])}, f"action .* of {queried[0]} is not in MultiDiscrete"),
        ({**good, queried[0]: np.array([human, 4])}, "symbol 4 of .* is not below signal_range = 4"),
        ({**good, queried[0]: np.array([0.5, 0.0])}, f"action .* of {queried[0]} is not in MultiDiscrete"),
    ):
        with pytest.raises(UserError, match=said):
            env.step(wrong)
        assert env.world.hash().tolist() == before
    named = make_role_named("werewolf/9")
    named.reset(seed=1)
    with pytest.raises(UserError, match="unknown agent 'seat_0'; agents are werewolf_0"):
        named.step({"seat_0": [0]})
    with pytest.raises(UserError, match=r"action .* of werewolf_0 is not in MultiDiscrete"):
        named.step({name: [10] for name in named.agents})
    with pytest.raises(UserError, match="no action for werewolf_0, which is acting; pass one"):
        named.step({})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"signal_length": 2, "signal_range": 10},
            "signal_range = 10 .* n_players = 9 .*; lower signal_range",
        ),
        ({"ballot_len": 2}, "ballots of 2 names .*; use interplay.make"),
        ({"flexibility": 0.5}, "ballots of 9 names .*; use interplay.make"),
        ({"claims": True}, "claims = True .*; use interplay.make"),
        ({"allow_abstain": True}, "allow_abstain = True .* no value for a pass; use interplay.make"),
        ({"roles": {"seer": 1}}, "roles = .*seer.* villagers and werewolves only"),
        ({"board": "split"}, "board = split .*; set last_visible or last_phase"),
    ],
)
def test_settings_without_a_place_in_the_originals_spaces(wrong, said):
    with pytest.raises(UserError, match=said) as caught:
        make_written("werewolf/9", **wrong)
    assert len(str(caught.value).splitlines()) == 1


def test_wrappers_and_logs(tmp_path):
    env = make_written("werewolf/6")
    with pytest.raises(UserError, match="boards = 'words'; choose one_hot or scaled"):
        MaskedEnv(env, "words")
    with pytest.raises(UserError, match="log_every = 0 games; give 1 or more"):
        EvaluatedEnv(env, tmp_path, 0)
    with pytest.raises(UserError, match="no recorded games; name the folder"):
        read_log(tmp_path)
    (tmp_path / "game-00000000.npz").write_bytes(b"PK torn")
    with pytest.raises(UserError, match=r"no recorded game \(.*\); remove the file"):
        read_log(tmp_path)
    with pytest.raises(UserError, match="this batch has 2; pass num_worlds=1"):
        DenseEnv(make_world("werewolf/6", 2))
    with pytest.raises(UserError, match="its agents have no roles"):
        make_role_named("survival/1v1-heals-low")
