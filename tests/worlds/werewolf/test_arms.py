"""What the arms of an experiment make of words (specification 18), where chance or a recording has a hand in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay import make_world
from interplay.core.errors import UserError
from interplay.registry import make_policy

WORDS: dict[str, Any] = {"n_players": 9, "signal_length": 2, "signal_range": 4}
LONG: dict[str, Any] = {"signal_length": 3, "signal_range": 30}
PUBLIC = (2, 3)


def played(world: Any, steps: int = 8):
    """Random play; yields, before each step, what was chosen, and after it which phase and day that was."""
    player = make_policy("werewolf/9", "random")
    player.start(world, 3)
    timestep = world.reset()
    for _ in range(steps):
        going, acting = ~timestep.over, timestep.acting.copy()
        action = player.act(timestep).copy()
        timestep = world.step(action)
        room = world.state.room
        for w in np.flatnonzero(going):
            phase = int(room["ended_phase"][w])
            board = world.state.public_signals if phase in PUBLIC else world.state.pack_signals
            yield phase, int(room["ended_day"][w]), acting[w], action[w, :, 1:], board[w]


def test_resampled_symbols_follow_the_marginal_of_their_place():
    world: Any = make_world("werewolf/9", 400, 1, arm="signals_resampled", **WORDS)
    marginal = np.array([[0.1, 0.0, 0.6, 0.3], [0.25, 0.25, 0.5, 0.0]])
    world.marginal = marginal
    heard = np.concatenate([board[acting] for _, _, acting, _, board in played(world)])
    for place, probabilities in enumerate(marginal):
        shares = np.bincount(heard[:, place], minlength=4) / len(heard)
        error = np.sqrt(probabilities * (1 - probabilities) / len(heard))
        assert (np.abs(shares - probabilities) <= 4 * error).all()
    pairs = np.bincount(heard[:, 0] * 4 + heard[:, 1], minlength=16).reshape(4, 4) / len(heard)
    assert np.abs(pairs - np.outer(*marginal)).max() < 0.02  # places are drawn apart


def test_resampled_symbols_are_uniform_before_a_marginal_is_given():
    world: Any = make_world("werewolf/9", 400, 1, arm="signals_resampled", **WORDS)
    heard = np.concatenate([board[acting] for _, _, acting, _, board in played(world)])
    shares = np.bincount(heard.ravel(), minlength=4) / heard.size
    assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / heard.size)).all()


def test_shuffled_words_wander_to_every_speaker_alike():
    """Each speaker is equally likely to be given each speaker's word, its own included."""
    world: Any = make_world("werewolf/9", 3000, 1, arm="signals_shuffled", **LONG)
    moved, boards = np.zeros((9, 9)), 0
    for phase, day, acting, words, board in played(world, 3):
        if phase != 2 or day != 0:
            continue
        speakers = np.flatnonzero(acting)
        rank = {tuple(word): k for k, word in enumerate(words[speakers].tolist())}
        if len(rank) < len(speakers):
            continue  # two equal words
        boards += 1
        for place, word in enumerate(board[speakers].tolist()):
            moved[rank[tuple(word)], place] += 1
    living = 8  # a villager died in the night
    shares = moved[:living, :living] / boards
    assert boards > 2000
    assert (np.abs(shares - 1 / living) < 4.5 * np.sqrt((1 / living) * (1 - 1 / living) / boards)).all()


def test_without_recorded_words_none_are_replayed():
    world: Any = make_world("werewolf/9", 2, 1, arm="signals_replayed", **WORDS)
    with pytest.raises(UserError, match=r"world\.replay"):
        next(played(world))


def test_replayed_words_come_from_one_recorded_game_at_the_same_phase_and_day():
    world: Any = make_world("werewolf/9", 60, 1, arm="signals_replayed", **WORDS)
    recorded = np.random.default_rng(7).integers(0, 4, (5, 4, *world.replay.shape[2:]))
    world.replay = recorded
    used = set()
    for phase, day, acting, _, board in played(world, 12):
        fits = [g for g in range(5) if np.array_equal(board[acting], recorded[g, day, phase][acting])]
        assert fits, f"phase {phase} of day {day}"
        used.update(fits)
        assert (board[~acting] == -1).all()
    assert used == set(range(5))
