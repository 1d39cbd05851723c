"""Guesses of who is who: the head, its loss, what speakers are paid, and what a run keeps of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.registry import make_world
from interplay.train import losses
from interplay.train.batches import Batch
from interplay.train.learner import Learner
from interplay.train.losses import NUM_TERMS, Terms
from interplay.train.observations import ObservationRows
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Populations
from interplay.train.samples import PendingSamples, SampleLayout
from interplay.train.selfplay import guessing
from interplay.train.selfplay.guessing import check_guesses, share_changes
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.trainer import load_policy, train
from tests.cli.command import typed
from tests.train.blocks import cut_minibatch, gradient_of
from tests.train.round_table import Game, observe, spaces_of
from tests.train.runs import log_of, short_run

pytestmark = pytest.mark.slow

GAME = Game(n=5, words=1, symbols=3)
NAMES = ("villager", "werewolf")
COUNTS = (7, 6)
LITTLE = {"kind": "seats", "width": 8, "tail": 8, "layers": 1, "activation": "relu"}


def settings_of(**own: Any) -> TrainSettings:
    values = {
        "world": {"options": {"signal_length": 1, "signal_range": 2}},
        "train": {"max_updates": 2, "quiet": True},
        "ppo": {"rollout": 12, "minibatch": 64, "epochs": 2, "discount": "decision", "reward_scale": 0.1},
        "population": {"block": 32},
        "network": LITTLE,
        "belief": {"about": "werewolf", "listening": 0.5},
    }
    return short_run("werewolf/6", {**values, **own})


def learner_of(**belief: Any) -> Learner:
    kind = Kind("agent", tuple(range(GAME.n)), *spaces_of(GAME))
    settings = settings_of(belief=belief, population={"block": 4})
    return Learner((kind,), settings, Populations(NAMES, None))


def test_the_loss_is_the_cross_entropy_of_the_rows_that_count():
    rng = np.random.default_rng(0)
    guess, truth = rng.normal(size=(6, 5)).astype(np.float32) * 3, rng.random((6, 5)) < 0.4
    counts = np.array([1, 1, 0, 1, 0, 1], np.float32)
    p = 1 / (1 + np.exp(-guess.astype(np.float64)))
    by_hand = -np.log(np.where(truth, p, 1 - p)).mean(axis=1) @ counts
    assert float(losses.guess_terms(guess, truth, counts)) == pytest.approx(by_hand, rel=1e-5)


def test_a_head_more_leaves_the_rest_of_the_network_as_it_was():
    plain, guessing = (learner_of(**own).networks["agent"] for own in ({}, {"about": "werewolf"}))
    assert not plain.guesses
    before, after = plain.split(plain.first[0]), guessing.split(guessing.first[0])
    assert set(after) - {f"network/{name}" for name in before} == {"head/weight", "head/bias"}
    for name, tensor in before.items():
        np.testing.assert_array_equal(after[f"network/{name}"], tensor)


def batch_of(network: PolicyNetwork, seen: dict[str, np.ndarray], truth: np.ndarray) -> Batch:
    """Samples of these observations, with targets drawn at random."""
    number = len(truth)
    rows, zeros = network.layout.allocate(number), np.zeros(number, np.float32)
    network.layout.write(seen, None, rows)
    target = np.random.default_rng(1).normal(size=number).astype(np.float32)
    action = np.ones((number, network.distribution.columns), np.float32)
    told = truth if network.guesses else None
    return Batch(network.prepare(rows), action, zeros, zeros, target, zeros + 1, None, told)


def test_those_who_are_guessed_do_not_guess_and_the_others_learn_from_the_truth():
    learner = learner_of(about="werewolf", listening=0.5)
    network = learner.networks["agent"]
    learner.vectors["agent"] += 0.1 * np.random.default_rng(3).normal(size=network.first.shape).astype(
        np.float32
    )
    truth = np.random.default_rng(1).random((sum(COUNTS), GAME.n)) < 0.4
    batch = batch_of(network, observe(GAME, sum(COUNTS)), truth)
    total = gradient_of(learner, batch, cut_minibatch(COUNTS, network.block, sum(COUNTS)))
    gradient, terms = total[:, :-NUM_TERMS], total[:, -NUM_TERMS:]
    head = [network.tensor_at(i).startswith("head/") for i in range(network.size)]
    guesses = Terms._fields.index("guess")
    assert terms[1, guesses] == 0
    assert not gradient[1][head].any()
    assert gradient[0][head].any()

    inference, own = network.precompute(learner.vectors["agent"]), network.layout.allocate(COUNTS[0])
    network.layout.write(observe(GAME, sum(COUNTS)), np.arange(COUNTS[0]), own)
    belief = np.asarray(network.beliefs(inference, np.int32(0), own), np.float64)
    truth = truth[: COUNTS[0]]
    assert terms[0, guesses] == pytest.approx(
        -np.log(np.where(truth, belief, 1 - belief)).mean(axis=1).sum(), rel=1e-4
    )
    # The bias of the head: d loss / d logit is p - truth, a mean over seats, times the weight of the loss.
    bias = network.split(gradient[0])["head/bias"][0]
    assert bias == pytest.approx(0.5 * (belief - truth).mean(axis=1).sum(), rel=1e-3, abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 3), st.integers(1, 5))
def test_speakers_share_what_others_change(seed: int, steps: int, worlds: int, seats: int):
    rng = np.random.default_rng(seed)
    believed = np.where(rng.random((steps, worlds, seats)) < 0.7, rng.random((steps, worlds, seats)), np.nan)
    ended = rng.random(believed.shape) < 0.3
    paid = share_changes(believed, ended)
    for t in range(steps):
        for w in range(worlds):
            for i in range(seats):
                changes = [
                    believed[t + 1, w, k] - believed[t, w, k]
                    for k in range(seats)
                    if k != i and t + 1 < steps and not ended[t, w, k]
                ]
                changes = [change for change in changes if np.isfinite(change)]
                assert paid[t, w, i] == pytest.approx(np.mean(changes) if changes else 0.0, abs=1e-6)


def test_beliefs_are_of_the_last_rollout_s_rows_by_their_own_networks(monkeypatch: pytest.MonkeyPatch):
    """Three rows are older; a network n believes n + 1 times what it reads, two rows at a time."""
    monkeypatch.setattr(guessing, "CHUNK", 2)
    rng = np.random.default_rng(0)
    rows, truth = rng.random((12, 4)).astype(np.float32), rng.random((12, 4)) < 0.5
    truth[5] = False  # nobody is hidden there
    population = np.array([0, 0, 2, 2, 0, 0, 1, 2, 0, 0, 2, 0], np.uint8)
    pending: Any = SimpleNamespace(
        kept=3, count=11, population=population, truth=truth, seen=SimpleNamespace(rows={"float32": rows})
    )
    network: Any = SimpleNamespace(
        guessed=1,
        device=None,
        layout=SimpleNamespace(allocate=lambda count: {"float32": np.zeros((count, 4), np.float32)}),
        beliefs=lambda parameters, number, given: parameters * (number + 1) * given["float32"],
    )
    found = guessing.read_beliefs(network, 0.25, pending)
    for row in range(3, 11):
        told = population[row] != 1 and truth[row].any()
        expected = 0.25 * (population[row] + 1) * rows[row][truth[row]].mean() if told else np.nan
        assert found[row - 3] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def play_one(speaking: float) -> tuple[Shard, np.ndarray]:
    """A shard after a rollout: both teams learn."""
    settings = settings_of(belief={"about": "werewolf", "speaking": speaking})
    world = make_world("werewolf/6", num_worlds=4, seed=3, signal_length=1, signal_range=2)
    populations = with_opponents(settings, world)
    learner = Learner(world.kinds, settings, populations)
    noise = np.random.default_rng(5)
    for name, vectors in learner.vectors.items():
        learner.vectors[name] = vectors + 0.3 * noise.normal(size=vectors.shape).astype(np.float32)
    world.reset()
    shard = Shard(0, world, learner, settings)
    shard.play(learner.inference_parameters(), 0)
    return shard, np.asarray(learner.vectors["agent"])


def test_speakers_are_paid_in_the_steps_in_which_they_act_and_wolves_pay():
    """Against beliefs that are asked for one by one."""
    without, _ = play_one(0.0)
    shard, vectors = play_one(3.0)
    buffer, pending, own = shard.collector.buffer, shard.collector.pending["agent"], shard.networks["agent"]
    paid = (buffer.reward - without.collector.buffer.reward) / 0.1  # of reward_scale
    seats = buffer.reward.shape[2]
    believed: dict[tuple[int, int], float] = {}
    wolves: set[tuple[int, int]] = set()
    network = own._network(jnp.asarray(vectors[0]))
    leaves = own.layout.read(
        {dtype: jnp.asarray(rows[: pending.count]) for dtype, rows in pending.seen.rows.items()}
    )
    odds = np.asarray(eqx.filter_jit(network.guess)(leaves)[2])
    for row in range(pending.count):
        at = (int(pending.step[row]), int(pending.slot[row]))
        if pending.population[row] == 1:
            wolves.add(at)
        else:
            truth = pending.truth[row]
            believed[at] = float((1 / (1 + np.exp(-odds[row])))[truth].mean())
    some = 0
    for t, w, i in np.ndindex(buffer.reward.shape):
        changes = [
            believed[t + 1, k] - believed[t, k]
            for k in range(w * seats, (w + 1) * seats)
            if k != w * seats + i
            and (t, k) in believed
            and (t + 1, k) in believed
            and not buffer.ended[t].ravel()[k]
        ]
        share = 3.0 * np.mean(changes) if changes and buffer.acting[t, w, i] else 0.0
        sign = -1 if (t, w * seats + i) in wolves else 1
        assert paid[t, w, i] == pytest.approx(sign * share, abs=2e-3), (t, w, i)
        some += abs(share) > 0.01
    assert some > 20
    assert wolves


def test_rows_that_wait_keep_their_truth():
    observation, _ = spaces_of(GAME)
    layout = ObservationRows(observation, raw=True)
    pending, again = (PendingSamples(SampleLayout(layout, 2, seats=GAME.n), 20) for _ in range(2))
    rng = np.random.default_rng(0)
    truth = rng.random((6, GAME.n)) < 0.5
    said = rng.random((6, 4)).astype(np.float32)
    index = np.arange(6)
    seen = pending.layout.allocate(6)
    layout.write(observe(GAME, 6), None, seen.rows)
    pending.append(seen, said, 1, index, np.zeros(6, np.uint8), np.ones((1, 6), bool), truth)
    pending.keep(index % 2 == 0, 0)
    again.load(pending.save(), "test")
    np.testing.assert_array_equal(again.truth[: again.count], truth[::2])
    kept = layout.allocate(3)
    layout.write(observe(GAME, 6), index[::2], kept)
    np.testing.assert_array_equal(again.seen.rows["int16"][: again.count], kept["int16"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = {"belief": {"about": "werewolf", "listening": 0.5, "speaking": 1.0}}
    return train(settings_of(**own), tmp_path_factory.mktemp("guess") / "run")


def test_the_log_tells_the_loss_of_guesses(run: Path):
    told = [line["guess_loss"] for line in log_of(run)]
    assert len(told) == 2
    third = (
        -(np.log(2 / 6) * 2 + np.log(4 / 6) * 4) / 6
    )  # of who knows how many wolves there are and nothing else
    assert all(third * 0.9 < loss < 0.75 for loss in told), told


def test_the_policy_says_its_beliefs(run: Path):
    world = make_world("werewolf/6", num_worlds=3, seed=1, signal_length=1, signal_range=2)
    policy: Any = load_policy(run)
    policy.start(world, 0)
    seen = {name: leaf[:, 0] for name, leaf in world.reset().observation.items()}
    said = policy.beliefs(seen, np.zeros(3, np.int64))
    assert said.shape == (3, 6)
    assert ((said > 0) & (said < 1)).all()


def test_talk_scores_beliefs_beside_an_exact_observer(run: Path, capsys: pytest.CaptureFixture[str]):
    asked = ("talk", run, "--games", "40", "--permutations", "5", "--arm", "none", "--no-probe")
    code, out, errors = typed(capsys, *asked)
    assert code == 0, errors
    table = out[out.index("beliefs about living others when voting by day") :].splitlines()
    assert [line.split("  ")[1] for line in table[2:6]] == [
        "players",
        "exact observer",
        "the same for all",
        "players - observer",
    ]
    told = json.loads(typed(capsys, *asked, "--json")[1])["beliefs"]
    own, exact = told["own"], told["exact"]
    assert own["beliefs"] == exact["beliefs"] > 40 * 4  # who votes by day has three others at least
    assert own["against_brier"]["mean"] == pytest.approx(own["brier"]["mean"] - exact["brier"]["mean"])
    assert f"{own['base_brier']:.4f}" in table[4]


def test_it_learns_who_always_says_the_same_word():
    """Wolves who say symbol 0 among villagers who say anything can be told, and the head comes to tell them."""
    game = Game(n=5, words=1, symbols=9)
    kind = Kind("agent", tuple(range(game.n)), *spaces_of(game))
    settings = settings_of(
        population={"block": 64},
        belief={"about": "werewolf", "listening": 1.0},
        ppo={"learning_rate": 0.01},
        network={**LITTLE, "width": 16},
    )
    learner = Learner((kind,), settings, Populations(NAMES, None))
    network = learner.networks["agent"]
    minibatch = cut_minibatch((64, 0), network.block, 64)
    rng = np.random.default_rng(2)
    lost = []
    for _ in range(150):
        seen = observe(game, 64, seed=int(rng.integers(2**31)))
        seen["public_phase"][:] = 1
        truth = rng.random((64, game.n)) < 0.4
        seen["public_signals"][:, :, 0] = np.where(truth, 0, rng.integers(1, 9, (64, game.n)))
        total = gradient_of(learner, batch_of(network, seen, truth), minibatch).ravel()
        lost.append(learner.terms(total)[0, Terms._fields.index("guess")] / 64)
        learner.apply(total)
    assert np.mean(lost[:5]) > 0.6
    assert np.mean(lost[-5:]) < 0.45, np.mean(lost[-5:])


def test_no_guess_needs_no_population():
    world = make_world("werewolf/6")
    check_guesses("", world, Populations(("pop0",), None))
    with pytest.raises(UserError, match="no population 'werewolf' to guess"):
        check_guesses("werewolf", world, Populations(("pop0",), None))


def test_a_run_without_guesses_has_none_to_tell():
    policy = TrainedPolicy(settings_of(belief={}), NAMES, [], greedy=False, name="mute")
    with pytest.raises(UserError, match="mute: this run has no belief head; train one with"):
        policy.beliefs({}, np.zeros(0, np.int64))
