"""Board edits and ablations: exact zeros, closed forms, leaks, paired errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from interplay.core.errors import UserError
from interplay.evaluate import EpisodeTable, play
from interplay.evaluate.communication import reader_of
from interplay.evaluate.communication.games import (
    Ablation,
    Played,
    ablate,
    fitting_arms,
    holm,
    pair,
    play_arms,
    symbol_shares,
    words_to_replay,
)
from interplay.evaluate.communication.listening import (
    Marginal,
    Views,
    board_influence,
    divergence,
    edited,
    measure_influence,
    speaker_marginal,
)
from interplay.evaluate.communication.recording import TalkRecorder
from interplay.evaluate.statistics import Estimate
from interplay.registry import make_policy, make_world
from interplay.worlds.werewolf.config import WerewolfSettings
from tests.evaluate.wild_talks import SEATS, SYMBOLS, wild_talk

HEADS = (4, 2)


def observations(rng, viewers=30, n=5, length=2, symbols=3):
    words = rng.integers(0, symbols, (viewers, n, length))
    words[rng.random((viewers, n)) < 0.3] = -1
    return {"public_signals": words.astype(np.int16), "own_id": rng.integers(0, n, viewers)}


def word_reader(row=0):
    """Probabilities that follow the first symbol that one seat said."""
    table = np.random.default_rng(1).dirichlet(np.ones(4), 4)

    def probabilities(seen):
        first = np.asarray(seen["public_signals"])[:, row, 0]
        return np.concatenate([table[first], np.full((len(first), 2), 0.5)], axis=1)

    return probabilities, table


def test_the_influence_of_the_row_that_is_read_and_of_no_other():
    seen = observations(np.random.default_rng(0))
    probabilities, table = word_reader(row=2)
    marginal = Marginal(np.array([[0, 0], [1, 1], [2, 0]]), np.array([0.5, 0.25, 0.25]))
    found = board_influence(probabilities, seen, marginal, HEADS)
    mixed = np.array([0.5, 0.25, 0.25]) @ table[:3]
    first = seen["public_signals"][:, 2, 0]
    expected = [
        sum(p * np.log(p / q) for p, q in zip(table[s], mixed, strict=True)) if s >= 0 else 0 for s in first
    ]
    np.testing.assert_allclose(found[:, 2, 0], expected, atol=1e-12)
    assert found[:, 2, 0].max() > 0.01
    assert (np.delete(found, 2, axis=1) == 0).all()
    assert (found[:, :, 1] == 0).all()


def test_rows_that_are_not_shown_are_not_asked_about_and_give_exactly_zero():
    seen = observations(np.random.default_rng(0))

    def nosy(other):
        """Reacts to any change of any row, visible or not."""
        words = np.asarray(other["public_signals"])
        score = np.stack([words.sum(axis=(1, 2)) * k for k in range(4)], axis=1) / 10
        p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
        return np.concatenate([p, np.full((len(p), 2), 0.5)], axis=1)

    found = board_influence(nosy, seen, speaker_marginal(seen["public_signals"].reshape(-1, 2)), HEADS)
    hidden = (seen["public_signals"] < 0).any(axis=2)
    assert (found[hidden] == 0).all()
    assert (found[~hidden][:, 0] > 0).all()


def test_a_policy_that_does_not_listen_gives_exactly_zero():
    seen = observations(np.random.default_rng(0))
    deaf = np.random.default_rng(3).dirichlet(np.ones(6), 30) * 1.0

    def probabilities(other):
        # The same numbers whatever is said; the viewer is told by a leaf that no edit touches.
        return deaf[np.asarray(other["own_row"])]

    seen["own_row"] = np.arange(30)
    found = board_influence(
        probabilities, seen, speaker_marginal(seen["public_signals"].reshape(-1, 2)), HEADS
    )
    assert (found == 0).all()


def test_an_edit_changes_the_board_and_its_copy_among_earlier_boards():
    rng = np.random.default_rng(0)
    board = rng.integers(0, 3, (4, 5, 2))
    past = np.stack([board, rng.integers(0, 3, board.shape)], axis=1)
    past[3, 0, 1, 0] += 1  # another board came in between
    seen = {"public_signals": board, "past_signals": past}
    changed = edited(seen, "public_signals", np.array([0, 1, 2, 3]), np.full((4, 2), 8))
    assert (changed["public_signals"] == 8).sum() == 8
    for viewer, row in enumerate([0, 1, 2]):
        assert (changed["past_signals"][viewer, 0, row] == 8).all()
    np.testing.assert_array_equal(changed["past_signals"][3], past[3])
    np.testing.assert_array_equal(changed["past_signals"][:, 1], past[:, 1])
    np.testing.assert_array_equal(seen["public_signals"], board)
    assert (board < 8).all()


def test_whatever_the_pack_says_villagers_see_bit_for_bit_the_same():
    world = make_world("werewolf/9-l1s9", num_worlds=6, seed=4)
    policy = make_policy(world.id, "random")
    timestep = world.reset(seeds=1)
    policy.start(world)
    for _ in range(5):
        timestep = world.step(policy.act(timestep))
    before = {name: np.array(leaf) for name, leaf in timestep.observation.items()}
    wolves = world.population == 1
    spoken = world.state.pack_signals >= 0
    world.state.pack_signals[spoken] = (world.state.pack_signals[spoken] + 1) % 9
    after = world.refresh().observation
    for name, leaf in before.items():
        np.testing.assert_array_equal(np.asarray(after[name])[~wolves], leaf[~wolves], err_msg=name)
    assert (np.asarray(after["pack_signals"])[wolves] != before["pack_signals"][wolves]).any()


class Listener:
    """Likes the legal seats that said symbol 0, and says the symbols above it more often the more said it."""

    def probabilities(self, observation, mask, population):
        words = np.asarray(observation["public_signals"])[:, :, 0]
        n = words.shape[1]
        liked = np.concatenate([(words == 0) * 9.0, np.zeros((len(words), 1))], axis=1) + 1.0
        names = np.where(mask[:, : n + 1], liked, 0)
        word = mask[:, n + 1 :] * (1.0 + np.arange(9) * (words == 0).sum(axis=1, keepdims=True))
        return np.concatenate(
            [names / names.sum(1, keepdims=True), word / word.sum(1, keepdims=True)], axis=1
        )


def test_views_of_a_played_world_show_who_listens():
    world = make_world("werewolf/9-l1s9", num_worlds=16, seed=4)
    policy, views = make_policy(world.id, "random"), Views(most=200)
    timestep = world.reset(seeds=1)
    policy.start(world)
    for _ in range(6):
        timestep = world.step(policy.act(timestep))
        views.add(world, np.zeros(16))
    seen = views.observations()
    assert len(seen["phase"]) == 200
    marginal = speaker_marginal(seen["public_signals"].reshape(-1, 1))
    found = measure_influence(Listener(), world, seen, marginal, world.phase_names)
    assert {(f.phase, f.population) for f in found} >= {
        ("day_execution", "villager"),
        ("day_execution", "werewolf"),
    }
    board = board_influence(
        lambda shown: Listener().probabilities(shown, shown["action_mask"], None), seen, marginal, (10, 9)
    )
    for influence in found:
        names, words, edits = [], [], 0
        for viewer in range(200):
            phase, population = world.phase_names[seen["phase"][viewer]], seen["population"][viewer]
            if (phase, world.population_names[population]) == (influence.phase, influence.population):
                others = [row for row in range(9) if row != seen["own_id"][viewer]]
                heard = [row for row in others if (seen["public_signals"][viewer, row] >= 0).all()]
                names.append(board[viewer, heard, 0].sum() / max(len(heard), 1))
                words.append(board[viewer, heard, 1].sum() / max(len(heard), 1))
                edits += len(heard)
        assert (influence.viewers, influence.edits) == (len(names), edits)
        assert influence.name.mean == pytest.approx(np.mean(names))
        assert influence.word.mean == pytest.approx(np.mean(words))
        assert influence.name.mean > 0
        assert influence.invisible == 0


@pytest.mark.parametrize("most", [500, 10**6])
def test_views_are_a_uniform_sample_of_the_whole_play(most):
    """Of all phases and days, where worlds that begin together pass through the same phase at the same time."""
    world = make_world("werewolf/9-l1s9", num_worlds=128, seed=4)
    views = Views(most=most)
    counts = np.zeros((4, 9))

    def add(batch, episode):
        views.add(batch, episode)
        step = batch.timestep
        heard = (step.observation["public_signals"] >= 0).all(axis=3).any(axis=2) & step.acting
        np.add.at(counts, (step.observation["phase"][heard], step.observation["day"][heard]), 1)

    play(world, make_policy(world.id, "random"), 300, 0, on_step=add)
    seen = views.observations()
    number = len(seen["phase"])
    assert number == min(most, counts.sum())
    found = np.zeros_like(counts)
    np.add.at(found, (seen["phase"], seen["day"]), 1)
    share = counts / counts.sum()
    error = np.sqrt(share * (1 - share) / number)
    assert (np.abs(found / number - share) <= 4 * error + 1e-12).all()
    assert (share > 0.05).sum() >= 4


def test_marginals_are_shares_of_what_was_said():
    words = np.array([[0, 1]] * 3 + [[2, 2]] + [[-1, -1]] * 5)
    found = speaker_marginal(words)
    assert found.words.tolist() == [[0, 1], [2, 2]]
    assert found.share.tolist() == [0.75, 0.25]
    many = speaker_marginal(np.arange(1000)[:, None], most=32)
    assert len(many.words) <= 32
    assert many.share.sum() == pytest.approx(1)
    with pytest.raises(UserError, match="signal_length"):
        speaker_marginal(words[4:])


def test_divergence_in_closed_form():
    assert divergence(np.array([1.0, 0.0]), np.array([0.25, 0.75])) == pytest.approx(np.log(4))
    assert divergence(np.array([0.3, 0.7]), np.array([0.3, 0.7])) == 0
    with pytest.raises(UserError, match="5 probabilities"):
        board_influence(
            lambda seen: np.ones((30, 5)),
            observations(np.random.default_rng(0)),
            Marginal(np.zeros((1, 2)), np.ones(1)),
            HEADS,
        )


def table(wins, seeds):
    return EpisodeTable(
        "w", "p", 0, ("a",), {"steps": np.ones(len(wins)), "seed": seeds, "win_vil": np.array(wins)}
    )


def test_paired_differences_by_hand():
    seeds = np.arange(4)
    found = pair("x", table([1, 1, 1, 0], seeds), table([1, 0, 0, 0], seeds), "win_vil")
    assert found.difference == 0.5
    assert found.error == pytest.approx(np.std([0, 1, 1, 0], ddof=1) / 2)
    assert not found.listens
    sure = pair("x", table([1] * 50 + [0], np.arange(51)), table([0] * 51, np.arange(51)), "win_vil")
    assert sure.listens
    with pytest.raises(UserError, match="other episodes"):
        pair("x", table([1, 1], seeds[:2]), table([1, 1], seeds[2:]), "win_vil")


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_listening_is_a_loss_beyond_the_interval_and_never_a_gain(games):
    """Better play without talk is not listening; nor is an interval that includes 0."""
    seeds = np.arange(len(games))
    full, without = (table([game[k] for game in games], seeds) for k in (0, 1))
    loss, gain = pair("x", full, without, "win_vil"), pair("x", without, full, "win_vil")
    gaps = np.array([a - b for a, b in games], float)
    assert loss.difference == pytest.approx(gaps.mean()) == pytest.approx(-gain.difference)
    assert (loss.normal.mean, loss.ablated.mean) == (gain.ablated.mean, gain.normal.mean)
    assert not (loss.listens and gain.listens)
    for found in (loss, gain):
        low, high = found.interval
        assert found.listens == (low > 0)
        assert low + high == pytest.approx(2 * found.difference) or np.isinf(high)
    if len(games) < 3:
        assert not loss.listens
    elif gaps.std() > 0:
        half = stats.t.ppf(0.975, len(games) - 1) * gaps.std(ddof=1) / np.sqrt(len(games))
        assert loss.interval == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def lost(arm, sigmas):
    """An arm with a loss in standard errors."""
    return Ablation(arm, "win_vil", Estimate(0.5, 0.1, 9), Estimate(0.4, 0.1, 9), 0.01 * sigmas, 0.01, 10**6)


def test_arms_are_corrected_for_their_number_by_hand():
    """p = .01, .04, .03 and .5: times 4, 2, 3 and 1, and never below a smaller one's."""
    found = holm([lost("a", 2.575829), lost("b", 2.053749), lost("c", 2.170090), lost("d", 0.674490)])
    assert [round(a.p, 4) for a in found] == [0.01, 0.04, 0.03, 0.5]
    assert [a.adjusted for a in found] == pytest.approx([0.04, 0.09, 0.09, 0.5], abs=1e-5)
    assert [a.listens for a in found] == [True, False, False, False]
    assert [a.listens for a in (lost("b", 2.05), lost("b", -9.0))] == [True, False]  # alone


def test_one_in_twenty_of_those_who_do_not_listen_passes_in_some_arm():
    rng, passed, alone = np.random.default_rng(3), 0, 0
    for _ in range(2000):
        arms = [lost(str(k), abs(z)) for k, z in enumerate(rng.normal(size=4))]
        passed += any(a.listens for a in holm(arms))
        alone += any(a.listens for a in arms)
    assert passed / 2000 < 0.06
    assert alone / 2000 > 0.15


@pytest.mark.parametrize("pairs", [2, 3, 4, 8])
def test_few_pairs_are_no_proof(pairs):
    """False positives of four arms without listening, for wins and real numbers, and without variance."""
    rng, wins, numbers = np.random.default_rng(pairs), 0, 0
    seeds = np.arange(pairs)
    for _ in range(1000):
        for draw in ("wins", "numbers"):
            games = rng.integers(2, size=(5, pairs)) if draw == "wins" else rng.normal(size=(5, pairs))
            full = table(games[0], seeds)
            listens = any(
                a.listens for a in holm([pair("x", full, table(g, seeds), "win_vil") for g in games[1:]])
            )
            wins, numbers = wins + (draw == "wins" and listens), numbers + (draw == "numbers" and listens)
    assert wins / 1000 <= 0.05
    assert numbers / 1000 <= 0.06 if pairs > 2 else numbers == 0


def test_arms_are_played_on_the_same_episodes_and_do_nothing_to_who_does_not_listen():
    def make(arm):
        return make_world("werewolf/9-l1s9", num_worlds=20, seed=1, arm=arm)

    told = []
    found = ablate(
        make,
        lambda: make_policy("werewolf/9-l1s9", "random"),
        ("signals_off", "signals_shuffled"),
        episodes=60,
        progress=lambda *state: told.append(state),
    )
    assert {(what, total) for what, _, total in told} == {
        (f"playing {arm}", 60) for arm in ("full", "signals_off", "signals_shuffled")
    }
    assert [a.arm for a in found] == ["signals_off", "signals_shuffled"]
    assert all(a.difference == 0 and a.error == 0 and not a.listens for a in found)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_words_to_replay_are_the_recorded_ones_and_else_of_the_same_phase(seed):
    """Board by board; a later round of a phase overwrites an earlier one."""
    talk = wild_talk(seed)
    said, of_day, of_phase = {}, {}, {}
    for row in range(len(talk.boards.game)):
        where = int(talk.boards.day[row]), int(talk.boards.phase[row])
        for seat in range(SEATS):
            word = tuple(talk.boards.words[row, seat].tolist())
            if word[0] >= 0:
                said[(int(talk.boards.game[row]), *where, seat)] = word
                of_day.setdefault(where, set()).add(word)
                of_phase.setdefault(where[1], set()).add(word)
    words = words_to_replay(talk)
    for game, day, phase, seat in np.ndindex(words.shape[:4]):
        word = tuple(words[game, day, phase, seat].tolist())
        if phase in of_phase:
            own = {said[game, day, phase, seat]} if (game, day, phase, seat) in said else None
            assert word in (own or of_day.get((day, phase)) or of_phase[phase])
    shares = symbol_shares(talk)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(SYMBOLS)))
    first = talk.boards.words[..., 0]
    assert shares[0, 1] == pytest.approx((first == 1).sum() / (first >= 0).sum())


def test_words_of_other_games_and_drawn_ones_are_those_of_the_played_games():
    """A password that all say is worth nothing if other games' words are heard."""
    made = {}

    def make(arm):
        made[arm] = make_world("werewolf/9-l1s9", num_worlds=64, seed=1, arm=arm)
        return made[arm]

    world = make("full")
    recorder = TalkRecorder(reader_of(world), log_every=1)
    table = play(world, make_policy(world.id, "password"), 80, 0, on_step=recorder.add)
    played = Played(recorder.talk(), table, world)
    arms = "signals_replayed", "signals_resampled"
    found = play_arms(played, make, lambda: make_policy(world.id, "password"), arms, "win_vil")
    assert [a.arm for a in found] == list(arms)
    assert all(a.difference > 0.5 and a.listens for a in found)
    np.testing.assert_array_equal(made["signals_replayed"].replay, words_to_replay(played.talk))
    np.testing.assert_allclose(made["signals_resampled"].marginal, symbol_shares(played.talk), atol=1e-12)


def test_arms_that_a_game_has():
    assert fitting_arms(WerewolfSettings()) == ("talk_off", "targets_off")
    assert fitting_arms(WerewolfSettings(signal_length=1, talk_rounds_day=0, talk_rounds_night=0)) == (
        "signals_off",
        "signals_shuffled",
    )
