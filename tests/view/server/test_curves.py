"""Curves in buckets: no extreme is lost, no number is drawn that was not there; and ratings."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.evaluate.tournaments.round_robins import round_robin
from interplay.registry import make_policy
from interplay.view.server.config import LOG_SECONDS
from interplay.view.server.curves import CurveRequest, Logs, bucket
from tests.view.server.asking import app_of, ask, beneath
from tests.view.server.folders import Clock, make_run

NUMBER = st.floats(-1e9, 1e9, allow_nan=False)


@given(
    st.lists(st.tuples(NUMBER, st.one_of(NUMBER, st.just(math.nan))), max_size=200),
    st.integers(1, 30),
    st.tuples(NUMBER, NUMBER),
)
def test_buckets_against_a_slow_twin(pairs, points, ends):
    x, y = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    start, stop = min(ends), max(ends)
    curve = bucket(x, y, points, start, stop)
    kept = sorted((a, b) for a, b in pairs if start <= a <= stop and not math.isnan(b))
    assert len(curve.x) <= max(points, 1)
    assert (len(curve.x) == 0) == (not kept)
    if len(kept) <= points:
        assert curve.x.tolist() == [a for a, _ in kept]
    if kept:
        assert curve.low.min() == min(b for _, b in kept)
        assert curve.high.max() == max(b for _, b in kept)
        assert (np.diff(curve.x) >= 0).all()
        slack = 1e-6 * (1 + np.abs(curve.mean))
        assert ((curve.low <= curve.mean + slack) & (curve.mean <= curve.high + slack)).all()


def test_every_bucket_holds_its_own_numbers():
    x, y = np.arange(1_000.0), np.zeros(1_000)
    y[[3, 517, 999]] = 7.0, -4.0, 9.0
    curve = bucket(x, y, 10)
    assert len(curve.x) == 10
    assert curve.high.tolist() == [7, 0, 0, 0, 0, 0, 0, 0, 0, 9]
    assert curve.low.tolist() == [0, 0, 0, 0, 0, -4, 0, 0, 0, 0]
    assert curve.mean[0] == pytest.approx(7 / 100)
    assert curve.x[0] == pytest.approx(49.5)


def write_log(run, values, **more):
    lines = [
        {"agent_steps": 10 * (n + 1), "time": n / 2, "episode_return": value, **more}
        for n, value in enumerate(values)
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_curves_of_a_run(tmp_path):
    run = make_run(tmp_path / "run")
    write_log(run, [0.0, 5.0, None, -1.0])
    app = app_of(beneath(tmp_path))
    told = ask(app, "/api/runs/0/curves", query=b"names=episode_return,never_logged").json
    assert told == {
        "loading": False,
        "names": ["episode_return", "time"],
        "against": "agent_steps",
        "of_episodes": [],
        "curves": {
            "episode_return": {"x": [10.0, 20.0, 40.0], "mean": [0.0, 5.0, -1.0], "low": [0.0, 5.0, -1.0], "high": [0.0, 5.0, -1.0]}
        },
        "problem": None,
        "last": {"episode_return": {"value": 4.0 / 3, "measurements": 3, "cases": None}},
    }  # fmt: skip
    told = ask(
        app, "/api/runs/0/curves", query=b"names=episode_return&against=time&from=0.25&to=2&points=1"
    ).json
    assert told["curves"]["episode_return"] == {"x": [1.0], "mean": [2.0], "low": [-1.0], "high": [5.0]}


def test_a_run_that_has_just_begun_has_no_curves_and_is_no_mistake(tmp_path):
    run = make_run(tmp_path / "run")
    (run / "metrics.jsonl").unlink()
    (run / "checkpoints").mkdir()
    app = app_of(beneath(tmp_path))
    answer = ask(app, "/api/runs/0/curves")
    assert (answer.status, answer.json["loading"], answer.json["names"]) == (200, False, [])
    write_log(run, [0.0])
    assert ask(app, "/api/runs/0/curves").json["names"] == ["episode_return", "time"]


def test_means_over_episodes_stand_where_these_began_and_are_named(tmp_path):
    run = make_run(tmp_path / "run")
    line = {"agent_steps": 900, "episode_return": 2.0, "episodes_began": 300.0, "kl": 0.1, "episodes": 7, "of_episodes": ["episode_return"]}  # fmt: skip
    (run / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    told = ask(app_of(beneath(tmp_path)), "/api/runs/0/curves", query=b"names=episode_return,kl").json
    assert told["of_episodes"] == ["episode_return"]
    assert told["last"] == {
        "episode_return": {"value": 2.0, "measurements": 1, "cases": 7},
        "kl": {"value": 0.1, "measurements": 1, "cases": None},
    }
    assert [told["curves"][name]["x"] for name in ("episode_return", "kl")] == [[300.0], [900.0]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (b"against=epochs", "no such axis"), (b"points=0", "give 1 to 10,000"), (b"points=10001", "give 1 to 10,000"),
        (b"points=x", "no whole number"), (b"from=x", "no number"), (b"from=nan", "no numbers"), (b"names=" + b"a," * 65, "64 at most"),
        (b"against=slot_steps", ""),
    ],
)  # fmt: skip
def test_curves_that_cannot_be_drawn(tmp_path, query, said):
    make_run(tmp_path / "run")
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/curves", query=query)
    assert 400 <= answer.status < 500 or not said
    assert said in answer.json.get("error", "")


def test_a_log_that_grew_is_read_again_and_a_damaged_one_is_told(tmp_path):
    run, clock = make_run(tmp_path / "run"), Clock()
    logs, asked = Logs(clock), CurveRequest(("episode_return",))

    def returns():
        for _ in range(200):
            held = logs._logs.get(run)
            if held is not None and held._thread is not None:
                held._thread.join(5)
            told = logs.curves(run, asked)
            if not told["loading"]:
                return told["curves"]["episode_return"]["mean"]
        raise AssertionError("still loading")

    assert returns() == [1.5]
    thread = logs._logs[run]._thread
    clock.now += 1.0
    assert returns() == [1.5]
    assert logs._logs[run]._thread is thread, "a log that has not changed is not read again"
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 20, "episode_return": 2.5}\n{"agent_steps": 30, "episode_ret')
    clock.now += 1.0
    returns()
    assert returns() == [1.5, 2.5]
    (run / "metrics.jsonl").write_text("{}\n")
    clock.now += 1.0
    returns()
    assert returns() == [1.5, 2.5]  # what was read before is still worth showing
    with pytest.raises(ValueError, match=r"run/metrics.jsonl: line 1 is without agent_steps"):
        Logs(clock).curves(run, asked)


def test_a_log_over_the_limit_is_shown_as_it_was_and_says_so(tmp_path, monkeypatch):
    run, clock = make_run(tmp_path / "run"), Clock()
    logs, asked = Logs(clock, lambda error: f"<{error}>"), CurveRequest(("episode_return",))

    def latest():
        logs.curves(run, asked)
        logs._logs[run]._thread.join(5)
        found = logs.curves(run, asked)
        return found["curves"]["episode_return"]["mean"], found["problem"]

    assert latest() == ([1.5], None)
    monkeypatch.setattr("interplay.view.server.curves.MOST_LOG", 60)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 20, "episode_return": 2.5}\n')
    clock.now += 1.0
    mean, problem = latest()
    assert mean == [1.5]
    assert problem.startswith(f"<{run}: metrics.jsonl has more than 60 bytes")
    monkeypatch.setattr("interplay.view.server.curves.MOST_LOG", 600)
    write_log(run, [3.0, 4.0])
    clock.now += 1.0
    assert latest() == ([3.0, 4.0], None)


def test_logs_that_no_page_requests_are_dropped(tmp_path):
    clock, runs = Clock(), [make_run(tmp_path / name) for name in ("a", "b")]
    logs = Logs(clock)
    for run in runs:
        logs.curves(run, CurveRequest())
    for _ in range(3):
        clock.now += LOG_SECONDS / 2
        logs.curves(runs[1], CurveRequest())
    assert list(logs._logs) == runs[1:]


def test_a_first_answer_may_say_that_it_loads(tmp_path, monkeypatch):
    import threading

    go = threading.Event()
    monkeypatch.setattr("interplay.view.server.curves.FIRST_WAIT", 0.01)
    monkeypatch.setattr("interplay.view.server.curves.read_run", lambda run: go.wait(20))
    run = make_run(tmp_path / "run")
    logs = Logs()
    assert logs.curves(run, CurveRequest())["loading"] is True
    go.set()


def test_ratings_of_a_tournament(tmp_path):
    players = {name: make_policy("dilemma/fixed", name) for name in ("random", "tit_for_tat", "grim")}
    standings = round_robin(players, "dilemma/fixed", matches=4, out=tmp_path / "cup")
    (tmp_path / "cup" / "ratings.json").write_text(json.dumps(standings.to_dict()))
    told = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings").json
    assert [one["name"] for one in told["players"]] == list(players)
    for number, player in enumerate(told["players"]):
        assert player["rating"] == standings.elo[number]
        assert (player["low"], player["high"]) == tuple(standings.interval[number])
        assert player["games"] == sum(told["games"][number]) == 8
        assert player["shares"] == {k: [*share[:3]] for k, share in standings.shares(number).items()}
    assert told["score"] == "return"
    assert np.allclose(np.array(told["payoff"], float), standings.win_share, equal_nan=True)
    assert told["payoff"][1][1] is None


ONE = '{"player": "a", "elo": 1, "elo_interval": [0, 1], "matches": 1}'


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"names": ["a"], "wins": [[0]], "players": ['
        + ONE[:-1]
        + ', "shares": {"won": {"share": 2, "low": 0, "high": 1}}}]}',
        "[]",
        '{"names": ["a"], "players": [], "wins": [[0]]}',
        '{"names": ["a"], "players": 3, "wins": "x"}',
        *(f'{{"names": ["a"], "players": [{ONE}], "wins": [[{wins}]]}}' for wins in ('"nan"', "1e308", "-1")),
    ],
)
def test_ratings_of_another_form_are_refused(tmp_path, text):
    cup = tmp_path / "cup"
    cup.mkdir()
    (cup / "tournament.toml").write_text('world = "pong/2p"\n')
    (cup / "ratings.json").write_text(text)
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings")
    assert (answer.status, "no standings" in answer.json["error"]) == (422, True)
    (cup / "ratings.json").write_text("{")
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings")
    assert (answer.status, answer.json["error"][:28]) == (422, "cup/ratings.json is not JSON")


def test_a_run_without_ratings_says_so(tmp_path):
    make_run(tmp_path / "run")
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings")
    assert (answer.status, "neither a tournament nor a league" in answer.json["error"]) == (404, True)


def test_ratings_of_a_league(tmp_path, monkeypatch):
    run = make_run(tmp_path / "run")
    (run / "settings.toml").write_text('[world]\nid = "pong/2p"\n[league.learners.main]\nkind = "main"\n')
    total, matches = (
        np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        np.array([[0.0, 4.0, 0.0], [6.0, 0.0, 0.0], [0.0] * 3]),
    )
    table = LeagueTable(
        "pong/2p", 99, ("main", "main-1", "idle"), ("main", "main", ""), np.zeros(3, np.int64), np.array([30.0, 0.0, np.nan]), "main-1",
        Payoff(total, matches), np.zeros(3), "return",
    )  # fmt: skip
    monkeypatch.setattr("interplay.train.selfplay.league.reading.read_league", lambda run: table)
    assert ask(app_of(beneath(tmp_path)), "/api/sources").json["runs"][0]["ratings"]
    told = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings").json
    unknown = {"shares": {}, "actions": ""}
    assert told["players"] == [
        {"id": 0, "name": "main", "rating": 30.0, "low": None, "high": None, "games": 10.0, **unknown},
        {"id": 1, "name": "main-1", "rating": 0.0, "low": None, "high": None, "games": 10.0, **unknown},
        {"id": 2, "name": "idle", "rating": None, "low": None, "high": None, "games": 0.0, **unknown},
    ]
    assert told["payoff"] == [[None, pytest.approx(0.6), None], [pytest.approx(0.4), None, None], [None] * 3]
    assert told["games"] == [[0.0, 10.0, 0.0], [10.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    # The first seat won 3 more than it lost of 4, and 1 more of 6.
    assert told["seats"] == {
        "first": 0.7,
        "shares": [[None, 0.875, None], [pytest.approx(3.5 / 6), None, None], [None] * 3],
    }


def test_a_league_without_a_checkpoint_says_so(tmp_path):
    run = make_run(tmp_path / "run")
    (run / "settings.toml").write_text('[world]\nid = "pong/2p"\n[league.learners.main]\nkind = "main"\n')
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/ratings")
    assert answer.status == 404
    assert "checkpoint" in answer.json["error"]
