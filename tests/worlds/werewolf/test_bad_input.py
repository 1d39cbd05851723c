"""Wrong settings, actions, tables and files are refused by type and key, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from interplay import UserError, make, make_world
from interplay.connect.dense import DenseEnv, make_dense
from interplay.connect.werewolf import EvaluatedEnv, MaskedEnv, make_role_named, make_written, read_log
from interplay.core import masks
from tests.cli.command import refusal
from tests.worlds.werewolf.games import game


@pytest.mark.parametrize("adapter", [make, make_dense, make_written, make_role_named])
def test_settings_of_adapters(adapter):
    with pytest.raises(UserError, match="wolves = 5"):
        adapter("werewolf/9", wolves=5)


@pytest.mark.parametrize("verb", ["check", "bench"])
def test_settings_on_the_command_line(capsys, verb):
    assert "wolves = 5" in refusal(capsys, verb, "werewolf/9", "wolves=5")


def test_a_game_decided_in_the_first_night_gives_a_warning():
    with pytest.warns(UserWarning, match="first night"):
        make_world("werewolf/9", n_players=5)


NO_NAMES = (np.full((2, 9, 2), name) for name in (10, -1, 9))


@pytest.mark.parametrize("action", [None, np.zeros((2, 9), int), np.zeros((2, 9, 2)), *NO_NAMES])
def test_actions_outside_of_the_space(action):
    world = game("9-l1s9", num_worlds=2)
    before = world.hash().tolist()
    with pytest.raises(UserError):
        world.step(action)
    assert world.hash().tolist() == before


@pytest.mark.parametrize("names", [1, 3])
def test_illegal_ballots_are_resampled_or_refused_as_set(names):
    """Pass, and a pack mate: replaced by legal names and counted, or refused without effect."""
    for choice in ("pass", "mate"):
        strict, lenient = (
            game("9", seed=5, illegal=how, ballot_len=names, vote_depth=names)
            for how in ("raise", "resample")
        )
        wolves = np.flatnonzero(strict.timestep.acting[0])
        named = 9 if choice == "pass" else int(wolves[0])
        action = np.full((1, 9, names), named, np.int16)
        before = strict.hash().tolist()
        with pytest.raises(UserError, match=rf"seat_{wolves[0]} of world 0 named {named} in night_talk"):
            strict.step(action)
        assert strict.hash().tolist() == before
        lenient.step(action)
        board = lenient.state.pack_targets[0]
        assert (board[wolves] >= 0).all()
        assert not np.isin(board[wolves], wolves).any()
        assert (board >= 0).any(axis=1).sum() == 3
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


@pytest.mark.parametrize(
    ("arm", "table", "values"),
    [
        *(
            ("signals_resampled", "marginal", wrong)
            for wrong in (np.full((2, 9), 1 / 9), np.ones((1, 9)), np.full((1, 9), np.nan), np.full(9, 1 / 9))
        ),
        *(
            ("signals_replayed", "replay", wrong)
            for wrong in (np.zeros((1, 9), int), np.zeros((1, 1, 6, 8, 1), int), "x", [[1], [2, 3]], None, {})
        ),
        *(("signals_replayed", "replay", np.full((1, 1, 6, 9, 1), wrong)) for wrong in (0.5, np.nan, 9, -1)),
    ],
)
def test_tables_of_arms(arm, table, values):
    world = game("9-l1s9", arm=arm)
    before = getattr(world, table).copy()
    with pytest.raises((ValueError, TypeError)):  # NumPy's, or UserError, which is a ValueError
        setattr(world, table, values)
    assert np.array_equal(getattr(world, table), before)


def test_masks_of_the_wrong_shape():
    space = game("9-l1s9").action_space
    assert masks.from_gymnasium(space, masks.to_gymnasium(space, np.ones(19, bool))).all()
    with pytest.raises(ValueError, match="19"):
        masks.from_gymnasium(space, (np.ones(9, np.int8), np.ones(9, np.int8)))


def test_actions_at_the_adapters():
    env = make_written("werewolf/9-l1s9", signal_range=4)
    observations, _ = env.reset(seed=1)
    queried, (asleep, *_) = env.queried, [name for name in env.agents if name not in env.queried]
    human = env.possible_agents.index(asleep)
    assert list(observations) == queried
    good = {name: np.array([human, 0]) for name in queried}
    before = env.world.hash().tolist()
    for wrong, key in (
        ({}, queried[0]),
        ({**good, asleep: np.array([0, 0])}, asleep),
        ({**good, queried[0]: np.array([9, 0])}, queried[0]),
        ({**good, queried[0]: np.array([human, 4])}, "signal_range = 4"),
        ({**good, queried[0]: np.array([0.5, 0.0])}, queried[0]),
    ):
        with pytest.raises(UserError, match=key):
            env.step(wrong)
        assert env.world.hash().tolist() == before
    named = make_role_named("werewolf/9")
    named.reset(seed=1)
    for wrong, key in (
        ({"seat_0": [0]}, "seat_0"),
        ({name: [10] for name in named.agents}, "werewolf_0"),
        ({}, "werewolf_0"),
    ):
        with pytest.raises(UserError, match=key):
            named.step(wrong)


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"signal_length": 2, "signal_range": 10}, "signal_range = 10"),
        ({"ballot_len": 2}, "ballots of 2"),
        ({"flexibility": 0.5}, "ballots of 9"),
        ({"claims": True}, "claims"),
        ({"allow_abstain": True}, "allow_abstain"),
        ({"roles": {"seer": 1}}, "roles"),
        ({"board": "split"}, "board = split"),
    ],
)
def test_settings_without_a_place_in_the_originals_spaces(wrong, key):
    with pytest.raises(UserError, match=key):
        make_written("werewolf/9", **wrong)


def test_wrappers_and_logs(tmp_path):
    env = make_written("werewolf/6")
    with pytest.raises(UserError, match="boards = 'words'"):
        MaskedEnv(env, "words")
    with pytest.raises(UserError, match="log_every = 0"):
        EvaluatedEnv(env, tmp_path, 0)
    with pytest.raises(UserError, match=str(tmp_path)):
        read_log(tmp_path)
    (tmp_path / "game-00000000.npz").write_bytes(b"PK torn")
    with pytest.raises(UserError, match="game-00000000"):
        read_log(tmp_path)
    with pytest.raises(UserError, match="num_worlds"):
        DenseEnv(make_world("werewolf/6", 2))
    with pytest.raises(UserError, match="survival/1v1-heals-low"):
        make_role_named("survival/1v1-heals-low")
