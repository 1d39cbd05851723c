"""Role probe, language, deception and beliefs: brute force, closed forms and planted behaviour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.evaluate.communication.belief import BINS, calibrate
from interplay.evaluate.communication.deception import (
    bussing,
    false_accusations,
    truthfulness,
    vote_switching,
)
from interplay.evaluate.communication.histories import read_histories, summaries
from interplay.evaluate.communication.probe import (
    Logistic,
    evaluate,
    first_weights,
    loss_and_gradient,
    probe_roles,
)
from interplay.evaluate.communication.report import describe_language
from tests.evaluate.talks import made_up, random_words, telling_words


def pooled(found, model="logistic"):
    return next(p for p in found if p.day is None and p.model == model)


def auc(score: np.ndarray, label: np.ndarray) -> float:
    """The share of pairs in the right order, ties half, pair by pair."""
    return float(np.mean([(a > b) + (a == b) / 2 for a in score[label] for b in score[~label]]))


def test_judging_counts_pairs_of_living_seats_day_by_day():
    talk = made_up(random_words((3,)), games=30, symbols=(3,), days=2)
    histories = read_histories(talk)
    score = np.random.default_rng(0).integers(0, 5, histories.living.shape).astype(float)
    found = evaluate("x", score, histories, permutations=20)
    for day in range(2):
        living = histories.living[:, day]
        label = np.broadcast_to(histories.label, living.shape)[living]
        mine = next(p for p in found if p.day == day)
        assert mine.observed == pytest.approx(auc(score[:, day][living], label))
        assert mine.seats == living.sum()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_all_days_are_all_pairs_of_seats_of_one_day(seed):
    """Days with more living seats have a higher weight: all pairs count equally."""
    talk = made_up(random_words((2,)), games=6, n=5, wolves=2, symbols=(2,), days=3, seed=seed)
    histories = read_histories(talk)
    score = np.random.default_rng(seed).integers(0, 4, histories.living.shape).astype(float)
    right = pairs = 0.0
    seats = []
    for day in range(score.shape[1]):
        living = np.argwhere(histories.living[:, day])
        teams = {bool(histories.label[g, a]) for g, a in living}
        seats += [len(living)] * (len(teams) == 2)
        for g, a in living:
            for h, b in living:
                if histories.label[g, a] and not histories.label[h, b]:
                    x, y = score[g, day, a], score[h, day, b]
                    right, pairs = right + (x > y) + (x == y) / 2, pairs + 1
    found = evaluate("x", score, histories, permutations=5)
    assert bool(found) == (pairs > 0)
    if found:
        assert pooled(found, "x").observed == pytest.approx(right / pairs)
        assert pooled(found, "x").seats == sum(seats)
        assert [p.seats for p in found if p.day is not None] == [count for count in seats if count >= 30]


def test_late_days_of_long_games_count():
    histories = read_histories(made_up(random_words((2,)), games=30, n=16, wolves=3, symbols=(2,), days=10))
    assert histories.living[:, 9].sum() == 30 * 7
    found = evaluate("x", np.zeros(histories.living.shape), histories, permutations=2)
    assert [p.day for p in found] == [None, *range(10)]
    assert pooled(found, "x").seats == 30 * sum(range(7, 17))


def test_the_null_of_the_probe_deals_roles_within_games():
    """Scores that depend on the game only: the AUC of the record and of every permutation are equal."""
    talk = made_up(random_words((3,)), games=20, symbols=(3,), days=2)
    histories = read_histories(talk)
    score = np.broadcast_to(np.arange(20.0)[:, None, None], histories.living.shape)
    for probed in evaluate("x", score, histories, permutations=30):
        assert probed.null_95 == pytest.approx(probed.observed)
        assert probed.p == 1


@pytest.mark.parametrize("model", ["logistic", "gru"])
def test_a_code_is_told_on_games_that_were_not_fitted_and_carried_to_another_run(model):
    code = made_up(telling_words, games=80, symbols=(2,), seed=1)
    again = made_up(telling_words, games=40, symbols=(2,), seed=2)
    other_way = made_up(lambda team, rng: 1 - telling_words(team, rng), games=40, symbols=(2,), seed=3)
    options = {"models": (model,), "permutations": 50}
    assert pooled(probe_roles(code, **options), model).observed > 0.99
    assert pooled(probe_roles(code, again, **options), model).observed > 0.99
    assert pooled(probe_roles(code, other_way, **options), model).observed < 0.2


@pytest.mark.parametrize("model", ["logistic", "gru"])
def test_silent_games_tell_nothing(model):
    found = [
        pooled(
            probe_roles(
                made_up(random_words((3,)), games=60, symbols=(3,), seed=s), models=(model,), permutations=99
            ),
            model,
        )
        for s in range(6)
    ]
    assert sum(p.above for p in found) <= 2
    assert abs(np.mean([p.observed for p in found]) - 0.5) < 0.03


def test_only_the_recurrent_model_reads_the_order():
    """The first word is the role, later ones are noise that a mean over boards mixes in."""

    def words():
        said = []

        def speak(team, rng):
            board = len(said)
            said.append(0)
            first = team if board % 4 == 0 else rng.integers(0, 2, team.shape)
            return first[:, :, None]

        return speak

    talk = made_up(words(), games=300, symbols=(2,), days=2, seed=1)
    found = probe_roles(talk, permutations=20)
    last = {p.model: p.observed for p in found if p.day == 1}
    assert last["gru"] > 0.97
    assert last["gru"] > last["logistic"]


def test_logistic_regression_stands_where_its_gradient_vanishes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = rng.random(200) < 1 / (1 + np.exp(-(x @ [1.0, -2.0, 0.0] + 0.5)))
    model = Logistic(x, y, ridge=0.7)
    p = 1 / (1 + np.exp(-model(x)))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(z.T @ (p - y) + 0.7 * model.weights[:-1], 0, atol=1e-6)
    assert (p - y).sum() == pytest.approx(0, abs=1e-6)


def test_the_gradient_of_the_recurrent_model_is_that_of_its_loss():
    rng = np.random.default_rng(1)
    weights = {name: w.astype(np.float64) for name, w in first_weights(4, rng, units=3).items()}
    x, weight = rng.normal(size=(5, 6, 4)), rng.random((5, 6))
    label = rng.integers(0, 2, 5).astype(float)
    gradient = loss_and_gradient(weights, x, weight, label)[1]
    for name, w in weights.items():
        for _ in range(4):
            at = tuple(rng.integers(0, s) for s in w.shape)
            around = []
            for sign in (1, -1):
                moved = {**weights, name: w.copy()}
                moved[name][at] += sign * 1e-6
                around.append(loss_and_gradient(moved, x, weight, label)[0])
            assert gradient[name][at] == pytest.approx((around[0] - around[1]) / 2e-6, rel=1e-4, abs=1e-8)


def test_histories_know_no_seat_numbers():
    talk = made_up(random_words((3,)), games=12, symbols=(3,))
    order = np.random.default_rng(0).permutation(talk.seats)
    back = np.argsort(order)
    boards, games = talk.boards, talk.games

    def seats(name):
        return np.where(name >= 0, back[np.maximum(name, 0)], -1).astype(name.dtype)

    moved = type(talk)(
        talk.about,
        games._replace(team=games.team[:, order], role=games.role[:, order]),
        boards._replace(
            alive=boards.alive[:, order],
            spoke=boards.spoke[:, order],
            died=boards.died[:, order],
            words=boards.words[:, order],
            reward=boards.reward[:, order],
            names=seats(boards.names[:, order]),
            chosen=seats(boards.chosen),
        ),
    )
    ours, theirs = read_histories(talk), read_histories(moved)
    np.testing.assert_array_equal(theirs.features, ours.features[:, :, order])
    np.testing.assert_allclose(summaries(theirs), summaries(ours)[:, :, order], atol=1e-6)


def test_language_in_closed_form():
    even = made_up(
        lambda team, rng: np.broadcast_to(np.arange(8) % 4, team.shape)[:, :, None],
        games=4,
        days=1,
        n=8,
        symbols=(4,),
        wolves=2,
    )
    whole = next(entry for entry in describe_language(even) if entry.phase == "talk")
    assert (whole.entropy, whole.unique, whole.commonest, whole.most_entropy) == (2.0, 4, 0.25, 2.0)
    one = describe_language(made_up(lambda team, rng: np.full((*team.shape, 2), 5), games=3, symbols=(9, 9)))[
        0
    ]
    assert (one.entropy, one.unique, one.word, one.collapsed) == (0.0, 1, (5, 5), True)


def wolf_votes(alive, words, team, rng):
    """Wolves name the first living wolf, villagers the last living villager."""
    wolf = (alive & (team == 1)).argmax(axis=1)
    villager = team.shape[1] - 1 - (alive & (team == 0))[:, ::-1].argmax(axis=1)
    return np.where(team == 1, wolf[:, None], villager[:, None])


def test_wolves_who_vote_for_wolves_are_busses():
    talk = made_up(random_words((2,)), games=50, days=1, votes=wolf_votes)
    found = bussing(talk, permutations=500)
    assert found.observed == 1
    assert found.unusual == "more"
    assert found.null_mean == pytest.approx(1 / 3, abs=0.02)  # 3 of 9 votes name wolves
    spread = bussing(made_up(random_words((2,)), games=200, days=1), permutations=500)
    assert abs(spread.observed - spread.null_mean) < 0.06


def test_accusations_that_began_with_a_wolf():
    def accuse(alive, words, team, rng):
        """In talk wolves alone name the last villager; villagers name themselves."""
        victim = team.shape[1] - 1 - (alive & (team == 0))[:, ::-1].argmax(axis=1)
        own = np.broadcast_to(np.arange(team.shape[1]), team.shape)
        itself = np.where(own == victim[:, None], (victim[:, None] + 1) % 9, own)
        return np.where(team == 1, victim[:, None], itself)

    def lynch(alive, words, team, rng):
        victim = team.shape[1] - 1 - (alive & (team == 0))[:, ::-1].argmax(axis=1)
        return np.broadcast_to(victim[:, None], team.shape)

    talk = made_up(random_words((2,)), games=60, days=1, names=accuse, votes=lynch)
    found = false_accusations(talk, permutations=500)
    assert found.number == 60
    assert found.observed > 0.7
    assert found.unusual == "more"


def test_switching_by_hand():
    kept = {}

    def names(alive, words, team, rng):
        kept["name"] = rng.integers(0, team.shape[1], team.shape)
        return kept["name"]

    def votes(alive, words, team, rng):
        return np.where(team == 1, kept["name"], (kept["name"] + 1) % team.shape[1])

    found = vote_switching(
        made_up(random_words((2,)), games=40, days=1, names=names, votes=votes), permutations=100
    )
    assert [share.observed for share in found] == [pytest.approx(2 / 3), 1.0, 0.0]
    assert found[2].unusual == "less"


def test_claims_are_checked_against_the_roles():
    verbs = ("skip", "claim", "accuse", "defend")

    def speak(team, rng):
        """Villagers claim their own role truly, wolves claim to be villagers; seats are their own subjects."""
        own = np.broadcast_to(np.arange(team.shape[1]), team.shape)
        return np.stack([np.ones_like(own), own, np.zeros_like(own)], axis=2)

    talk = made_up(speak, games=30, days=1, symbols=(4, 10, 2))
    told = type(talk)(talk.about._replace(verbs=verbs), talk.games, talk.boards)
    villagers, wolves = truthfulness(told, permutations=100)
    assert (villagers.observed, wolves.observed) == (1, 0)
    assert wolves.unusual == "less"
    assert truthfulness(talk) == []

    def accuse(team, rng):
        own = np.broadcast_to((np.arange(team.shape[1]) + 1) % team.shape[1], team.shape)
        return np.stack([np.full_like(own, 2), own, np.zeros_like(own)], axis=2)

    talk = made_up(accuse, games=30, days=1, symbols=(4, 10, 2))
    told = type(talk)(talk.about._replace(verbs=verbs), talk.games, talk.boards)
    said = told.utterances()
    right = told.games.team[said.game, said.word[:, 1]] == 1
    for share, team in zip(truthfulness(told, 5), (0, 1), strict=True):
        assert share.observed == pytest.approx(right[said.role == team].mean())


def test_beliefs_by_hand():
    belief = np.array([[[0.8, 0.4, 0.0]]])
    wolf = np.array([[True, False, False]])
    counted = np.array([[[True, True, False]]])
    found = calibrate(belief, wolf, counted)
    assert found.brier.mean == pytest.approx((0.2**2 + 0.4**2) / 2)
    assert found.log_score.mean == pytest.approx(-(np.log2(0.8) + np.log2(0.6)) / 2)
    assert found.base_brier == pytest.approx(0.25)
    assert found.reliability[4].tolist() == [pytest.approx(0.4), 0, 1]
    sure = calibrate(np.array([[[0.0, 1.0]]]), np.array([[True, True]]), np.ones((1, 1, 2), bool))
    assert sure.log_score.mean == pytest.approx(
        6 * np.log2(10) / 2, rel=1e-5
    )  # never worse than one in a million


def test_an_exact_posterior_cannot_be_beaten_and_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    exact = rng.beta(1, 2, (4000, 1, 5))
    wolf = rng.random((4000, 5)) < exact[:, 0]
    counted = np.ones(exact.shape, bool)
    worse = np.clip(exact + rng.normal(0, 0.2, exact.shape), 0.01, 0.99)
    found = calibrate(worse, wolf, counted, exact)
    assert found.against_brier.mean > 4 * found.against_brier.standard_error
    assert found.against_log_score.mean > 4 * found.against_log_score.standard_error
    assert found.divergence > 0
    own = calibrate(exact, wolf, counted, exact)
    assert (own.against_brier.mean, own.divergence) == (0, 0)
    mean, share, count = own.reliability.T
    some = count > 50
    assert (np.abs(mean - share)[some] < 4 * np.sqrt(0.25 / count[some])).all()
    assert len(mean) == BINS


def test_the_same_belief_for_all_is_averaged_like_the_belief_beside_it():
    """One wolf in the first game, three villagers in the second: games count equally, so the share is a half."""
    counted = np.array([[[True, False, False]], [[True, True, True]]])
    wolf = np.array([[True, False, False], [False, False, False]])
    found = calibrate(np.full(counted.shape, 0.5), wolf, counted)
    assert found.base_brier == found.brier.mean == 0.25
    assert found.base_log_score == found.log_score.mean == 1.0
