"""`play`: every chosen episode is played to its end, whatever the batch size."""

from __future__ import annotations

import json

import numpy as np
import pytest

from interplay.core import seeding
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import compare, play
from interplay.registry import make_policy, make_world
from interplay.verbs.playing import evaluate
from tests.connect.toys import LIMIT, Hunt, Line


class Walker(Policy):
    """Walks as a function of its observation only."""

    name = "walker"

    def act(self, timestep):
        place = timestep.observation["self"][..., 0].astype(np.int64)
        return np.stack([place % 3, (place // 3) % 2], axis=-1)


class Counter(Policy):
    """Counts its actions in each episode and compares them with the world's clock."""

    def start(self, world, seed=0):
        super().start(world, seed)
        self.count = np.zeros(world.num_worlds, np.int64)

    def forget(self, which):
        self.count[which] = 0

    def act(self, timestep):
        going = ~timestep.over
        assert np.array_equal(self.count[going], self.world.metrics["steps"][going])
        self.count[going] += 1
        return np.ones((*timestep.acting.shape, 2), np.int64)


@pytest.mark.parametrize("num_worlds", [1, 3, 7, 50])
def test_the_table_does_not_depend_on_the_batch(num_worlds):
    expected = play(Line(5), Walker(), episodes=23, seed=4)
    table = play(Line(num_worlds), Walker(), episodes=23, seed=4)
    assert table.columns.keys() == expected.columns.keys()
    for name in expected.columns:
        assert np.array_equal(table[name], expected[name]), name


def test_short_episodes_are_not_favoured():
    """Episodes played one by one from the same seeds have the same lengths."""
    table = play(Line(8), Walker(), episodes=30, seed=1)
    world, policy = Line(1), Walker()
    policy.start(world)
    lengths = []
    for seed in seeding.world_seeds(1, 30):
        timestep = world.reset(seeds=np.array([seed]))
        while not timestep.over[0]:
            timestep = world.step(policy.act(timestep))
        lengths.append(int(world.metrics["steps"][0]))
    assert table["steps"].tolist() == lengths
    assert len(set(lengths)) > 3


def test_returns_and_metrics_are_the_worlds_own():
    table = play(Line(4), RandomPolicy(), episodes=20)
    assert table["return"].shape == table["moves"].shape == (20, 3)
    assert table["return"].dtype == np.float64
    assert set(table["steps"][table["truncated"]]) == {LIMIT}
    # Every step earns 1 while alive and -1 afterwards, so that a return is odd exactly where the length is.
    assert np.array_equal(table["return"] % 2, np.broadcast_to(table["steps"][:, None] % 2, (20, 3)))
    assert (np.abs(table["return"]) <= table["steps"][:, None]).all()
    assert len(np.unique(table["seed"])) == 20


def test_max_steps_truncates():
    table = play(Line(4, masked=True), RandomPolicy(), episodes=10, max_steps=7)
    assert set(table["steps"].tolist()) == {7}
    assert table["truncated"].all()
    whole = play(Line(4, masked=True), RandomPolicy(), episodes=10, max_steps=LIMIT)
    assert whole["steps"].max() == LIMIT
    assert set(whole["steps"][whole["truncated"]]) == {LIMIT}, "the world's own limit truncates, too"


def test_policies_forget_restarted_worlds():
    play(Line(3), Counter(), episodes=12)


def test_on_step_sees_which_episode_each_world_plays():
    seen = []
    play(Line(3), Walker(), episodes=5, on_step=lambda world, episode: seen.append(episode.copy()))
    assert seen[0].tolist() == [0, 1, 2]
    assert set(np.concatenate(seen).tolist()) == {-1, 0, 1, 2, 3, 4}


def test_several_kinds_play():
    assert play(Hunt(3), RandomPolicy(), episodes=4)["steps"].tolist() == [10] * 4


def test_a_table_is_json_and_sums_up():
    table = play(Line(4), Walker(), episodes=16, seed=2)
    told = json.loads(json.dumps(table.to_dict()))
    assert told["columns"]["steps"] == table["steps"].tolist()
    assert (told["episodes"], told["num_worlds"]) == (16, 4)
    summary = table.summary()
    assert summary["steps"].mean == pytest.approx(table["steps"].mean())
    assert summary["return[agent_1]"].n == 16
    assert summary["return"].mean == pytest.approx(table["return"].mean())
    assert "seed" not in summary


def test_columns_of_0_and_1_are_shares_and_steps_are_none():
    """Games of one round: all 20 take one step, and a share of 0 of 20 ends at 0.161."""
    table = play(make_world("matrix/credit", num_worlds=3), RandomPolicy(), 20, seed=4)
    summary = table.summary()
    assert (summary["steps"].mean, summary["steps"].low) == (1.0, None)
    cut = summary["truncated"]
    assert (cut.mean, cut.low, cut.high) == (0.0, 0.0, pytest.approx(0.161126, abs=1e-6))
    assert {row[0]: row[1] for row in table.rows()}["truncated"] == "0.00 [0.00, 0.16]"


def test_a_return_of_1_is_no_share_where_another_agents_is_minus_1():
    table = play(make_world("matrix/rock-paper-scissors"), RandomPolicy(), 8, seed=4)
    table.columns["return"] = np.tile([1.0, -1.0], (8, 1))
    summary = table.summary()
    assert [summary[f"return[{agent}]"].low for agent in table.agents] == [None, None]
    table.columns["return"] = np.tile([1.0, 0.0], (8, 1))
    assert all(table.summary()[f"return[{agent}]"].low is not None for agent in table.agents)


def test_compare_finds_a_difference_that_is_there_and_none_that_is_not():
    random = play(Line(8), RandomPolicy(), episodes=200, seed=1)
    again = play(Line(8), RandomPolicy(), episodes=200, seed=2)
    still = play(Line(8, masked=True), RandomPolicy(), episodes=200, seed=1)
    assert abs(compare(random, again)["steps"].sigmas) < 4
    assert compare(still, random)["steps"].sigmas > 8


class Shares(Line):
    """Every second episode has no share; agent 0 never has a score, agent 1 has one where the share is."""

    @property
    def metrics(self):
        odd = super().metrics["steps"] % 2 == 1
        score = np.full((self.num_worlds, len(self.agents)), 6.0)
        score[:, 0], score[:, 1] = np.nan, np.where(odd, 3.0, np.nan)
        return {"share": np.where(odd, super().metrics["steps"], np.nan), "score": score}


def test_episodes_without_a_share_do_not_count_for_it():
    table = play(Shares(4), Walker(), episodes=30, seed=1)
    odd = table["steps"] % 2 == 1
    assert 0 < odd.sum() < 30
    summary = table.summary()
    assert summary["share"].n == odd.sum()
    assert summary["share"].mean == pytest.approx(table["steps"][odd].mean())
    assert summary["steps"].n == 30
    others = len(table.agents) - 2
    whole = np.where(odd, (6.0 * others + 3.0) / (others + 1), 6.0)
    assert (summary["score"].n, summary["score"].mean) == (30, pytest.approx(whole.mean()))
    names = [f"score[{agent}]" for agent in table.agents]
    assert [summary[name].n for name in names] == [0, odd.sum(), *[30] * others]


class Halves(Line):
    """Nine against nine; the lead of the first team is 1 in every episode."""

    teams = (tuple(range(9)), tuple(range(9, 18)))

    @property
    def metrics(self):
        lead = np.tile(np.where(np.arange(18) < 9, 1.0, -1.0), (self.num_worlds, 1))
        return {"lead": lead, "outcome": lead}


def test_numbers_of_teams_are_listed_where_those_of_many_agents_are_not():
    table = play(Halves(4, agents=18), Walker(), episodes=6, seed=1)
    listed = {name: value for name, value, _ in table.rows() if not table.is_of_crowd(name)}
    assert {name for name in listed if name.startswith("lead")} == {"lead[team0]", "lead[team1]"}
    assert listed["lead[team0]"].startswith("1 ")
    assert listed["lead[team1]"].startswith("-1 ")


@pytest.mark.parametrize(
    ("policy", "options", "episodes", "repeats"),
    [
        ("focus_weakest", {}, 3, True),
        ("focus_weakest", {}, 1, False),
        ("focus_weakest", {"randomize": "positions"}, 3, False),
        ("random", {"width": 8.0, "height": 8.0}, 3, False),
    ],
)
def test_episodes_that_are_all_the_same_are_noticed(policy, options, episodes, repeats):
    world = make_world("battle/3m", num_worlds=2, **options)
    assert play(world, make_policy("battle/3m", policy), episodes).repeats == repeats


def test_evaluate_warns_of_episodes_that_are_all_the_same():
    with pytest.warns(UserWarning, match="randomize"):
        evaluate("focus_weakest", "battle/3m", episodes=3)


def test_lives_of_a_world_with_respawns_count_when_they_end():
    """A tick survived pays 1, and a death takes one more step; mean_life is that of deaths alone, and NaN without any."""
    found, sums = {}, np.zeros((3, 3))

    def follow(world, episode):
        step, ended = world.timestep, world.ended
        for w, e in enumerate(episode):
            gone = step.terminated[w] | step.truncated[w]
            survived, died = ended["life"][w][gone].sum(), step.terminated[w].sum()
            sums[w] += gone.sum(), survived + died, survived
            if step.over[w] and e >= 0:
                found[e], sums[w] = sums[w, 1:] / sums[w, 0], 0.0

    options = {"slots": 4, "cap": 4, "npop": 1, "cap_draw": "fixed", "interior": 20, "max_ticks": 6}
    world = make_world("mmo/forage", num_worlds=3, **options)
    table = play(world, RandomPolicy(), 12, seed=2, on_step=follow)
    expected = np.array([found[episode] for episode in range(12)])
    np.testing.assert_allclose(np.stack([table["life"], table["life_return"]], axis=1), expected)
    deathless = table["deaths"] == 0
    assert deathless.any()
    np.testing.assert_array_equal(np.isnan(table["mean_life"]), deathless)
    mean = table["mean_life"][~deathless].mean()
    assert table.summary()["mean_life"].mean == pytest.approx(mean)
    units = {"return": "per slot", "life": "ticks", "life_return": "per life", "mean_life": "ticks"}
    assert {name: table.unit(name) for name in units} == units
