"""Tables and comparisons of runs with known values: groups, last values, ends of runs, failed seeds, labels."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.view.comparison import compare, interval_text, latex, markdown, rows, scores_csv
from interplay.view.comparison_picture import plot_comparison
from interplay.view.run_table import find_runs, read_rows, table, to_csv
from interplay.view.seed_means import curve_band, on_windows
from tests.cli.command import typed
from tests.view.runs import read_log, write_log, write_run

LINES = 40


def make_run(
    folder: Path, seed: int, clip: float = 0.2, level: float = 100.0, lines: int = LINES, more: str = ""
) -> Path:
    """A run with a metric that climbs to `level` + seed and stays there for the last tenth."""
    rows = (
        {
            "agent_steps": 1000 * (i + 1),
            "slot_steps": 2000 * (i + 1),
            "episode_return": min(i / 30, 1.0) * level + seed,
        }
        for i in range(lines)
    )
    return write_run(folder, rows, seed, clip, f"steps = 40000\n{more}")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Five seeds each of two settings, in a folder inside a folder."""
    for seed in range(5):
        make_run(tmp_path / "all" / "a" / str(seed), seed)
        make_run(tmp_path / "all" / "b" / str(seed), seed, clip=0.3, level=110.0)
    return tmp_path / "all"


def test_groups_differ_in_more_than_their_seed(two):
    found = compare([two])
    assert (found.metric, found.steps) == ("episode_return", 40_000)
    assert [(group.label, len(group.runs)) for group in found.groups] == [("clip 0.2", 5), ("clip 0.3", 5)]
    assert sorted(found.groups[0].scores) == [100.0, 101.0, 102.0, 103.0, 104.0]
    assert found.groups[0].mean.value == found.groups[0].interquartile_mean.value == 102.0
    assert found.groups[1].improvement is not None
    assert found.groups[1].improvement.value == 1.0  # 110 to 114 against 100 to 104
    assert 0.8 < found.groups[1].improvement.low < 1.0 == found.groups[1].improvement.high
    assert found.groups[0].lasts == [(100.0 + seed, 5, None) for seed in range(5)]
    assert not found.notes


def test_how_fast_and_how_far_a_run_went_makes_no_group_of_its_own(two):
    run = make_run(two / "a" / "5", 5, more="[train]\nworkers = 4\nquiet = true\n")
    file = run / "settings.toml"
    file.write_text(file.read_text().replace("steps = 40000", "steps = 80000"))
    assert [len(group.runs) for group in compare([two]).groups] == [6, 5]


def test_seeds_that_were_logged_at_other_steps_have_a_mean_without_jags(tmp_path):
    """Straight lines 3 x + seed, of which the mean is one again; windows are 1,000 agent-steps wide."""
    for seed, steps in ((0, range(700, 100_001, 700)), (1, range(5_300, 100_001, 5_300)), (2, [800, 99_000])):
        run = make_run(tmp_path / str(seed), seed)
        write_log(run, [{"agent_steps": at, "episode_return": 3 * at + seed} for at in (*steps, 100_000)])
    found = compare([tmp_path])
    middle, low, high = curve_band(found.groups[0].curves)
    there = np.isfinite(middle)
    assert found.middles[there].tolist() == [at for at in found.middles if at >= 5_300]
    assert middle[there] == pytest.approx(3 * found.middles[there] + 1)
    assert (high - low)[there] == pytest.approx(
        2 * 4.30265 * 1 / np.sqrt(3), abs=0.02
    )  # Student's t of 0, 1, 2


def test_the_mean_over_a_window():
    places, values = np.array([4.0, 0.0, 2.0, 2.0, 9.0]), np.array([2.0, 0.0, 1.0, 3.0, np.nan])
    # Up from 0 to 2 at 2, and level from there to 4.
    means = on_windows(places, values, np.array([0.0, 1.0, 3.0, 4.5, 6.0]))
    assert means.tolist() == [0.5, 1.75, 2.0, pytest.approx(np.nan, nan_ok=True)]
    assert np.isnan(on_windows(places, np.full(5, np.nan), np.array([0.0, 1.0]))).all()


def by_hand(run: Path, metric: str, cases: str | None = None) -> float:
    """The last value by a second road: the lines of metrics.jsonl that have the metric, a tenth of them, at least five."""
    lines = read_log(run)
    have = [line for line in lines if isinstance(line.get(metric), float)]
    have = have[-max(5, int(np.ceil(len(have) / 10))) :]
    weights = [line[cases] if cases else 1 for line in have]
    return float(np.average([line[metric] for line in have], weights=weights))


def test_runs_that_overshoot_by_an_update_are_equally_long(tmp_path):
    """Updates of 3,000 to 5,000 agent-steps: runs end 20 to 5,000 beyond what they were asked for."""
    rng = np.random.default_rng(4)
    for seed in range(5):
        steps = np.cumsum(rng.integers(3_000, 5_001, 12))
        ends = int(np.flatnonzero(steps >= 40_000)[0]) + 1
        lines = [{"agent_steps": int(at), "episode_return": float(at)} for at in steps[:ends]]
        write_log(make_run(tmp_path / str(seed), seed), lines)
    found = compare([tmp_path])
    assert not any("ends at" in note for note in found.notes)
    assert found.groups[0].scores.tolist() == [
        by_hand(run.path, "episode_return") for run in found.groups[0].runs
    ]
    assert found.steps == max(run.steps for run in found.groups[0].runs)


def test_a_run_that_ends_early_counts_at_its_own_end_and_is_named(two):
    make_run(two / "b" / "short", 7, clip=0.3, lines=30)
    found = compare([two])
    assert found.steps == 40_000
    (note,) = found.notes
    assert "short ends at 30,000 of the 40,000 agent-steps" in note
    assert found.groups[0].scores.min() == 100.0  # the others are not cut
    assert found.groups[1].scores[-1] == pytest.approx(7 + 100 * np.mean([25, 26, 27, 28, 29]) / 30)
    assert np.isfinite(found.groups[0].curves[:, 1:-1]).all()


def test_failed_seeds_are_left_out_and_said(two, tmp_path):
    make_run(two / "a" / "empty", 8, lines=0)
    write_log(make_run(two / "a" / "lacks", 9), [{"agent_steps": 1000, "slot_steps": 2000}])
    broken = make_run(two / "a" / "broken", 10)
    (broken / "settings.toml").write_text("seed = [")
    found = compare([two], "episode_return")
    assert [len(group.runs) for group in found.groups] == [5, 5]
    assert sorted(
        next(name for name in ("empty", "lacks", "broken") if name in note) for note in found.notes
    ) == [
        "broken",
        "empty",
        "lacks",
    ]
    with pytest.raises(UserError):
        compare([two / "a" / "empty"])


def test_metrics_of_other_rhythm_are_recomputed_from_the_log(tmp_path):
    """A rating every 7th line, an episode metric in two of three lines, with NaN in some, a loss in every line."""
    rng = np.random.default_rng(5)
    for seed in range(3):
        lines = []
        for at in range(1, 91):
            line = {"agent_steps": 1000 * at, "kl": float(rng.random()), "episodes": 0}
            if at % 7 == 0:
                line |= {"rating": float(rng.normal(1000, 50))}
            if at % 3:
                value = None if at % 10 == 0 else float(rng.normal())
                line |= {
                    "episodes": int(rng.integers(1, 50)),
                    "episode_return": value,
                    "of_episodes": ["episode_return"],
                }
            lines.append(line)
        write_log(make_run(tmp_path / str(seed), seed), lines)
    runs = [tmp_path / str(seed) for seed in range(3)]
    printed = {row["run"]: row for row in table(read_rows(runs, print), ["rating", "episode_return", "kl"])}
    for metric, cases, measurements in (
        ("rating", None, 5),
        ("episode_return", "episodes", 6),
        ("kl", None, 9),
    ):
        found = compare(runs, metric)
        scores = np.array([by_hand(run, metric, cases) for run in runs])
        np.testing.assert_allclose(found.groups[0].scores, scores)
        assert {last.measurements for last in found.groups[0].lasts} == {measurements}
        half = 4.302653 * scores.std(ddof=1) / np.sqrt(3)
        np.testing.assert_allclose(
            found.groups[0].mean, [scores.mean(), scores.mean() - half, scores.mean() + half], rtol=1e-6
        )
        assert rows(found)[1][-3] == interval_text(found.groups[0].mean)
        for run, score in zip(runs, scores, strict=True):
            assert printed[str(run)][f"{metric} last"] == pytest.approx(score)
            assert printed[str(run)][f"{metric} measurements"] == measurements
        written = list(csv.DictReader(io.StringIO(scores_csv(found))))
        np.testing.assert_allclose([float(row[metric]) for row in written], scores)
        assert ("episodes" in written[0]) == (cases is not None)
    assert printed[str(runs[0])]["episode_return episodes"] > 0


def test_means_over_episodes_with_others_weigh_as_many(tmp_path):
    """Of 10 measurements the last 5: the first is over all 100 episodes, later ones over those with others, 2 to 5 of 100."""
    run = make_run(tmp_path / "a", 0)
    lines = [
        {
            "agent_steps": 1000 * at,
            "episodes": 100,
            "episodes_with_others": at - 5 if at > 5 else 0,
            "won": 0.1 * (at - 5) if at > 5 else 0.9,
            "of_episodes": ["won"],
            **({"of_others": ["won"]} if at > 6 else {}),
        }
        for at in range(1, 11)
    ]
    last = compare([write_log(run, lines)], "won").groups[0].lasts[0]
    assert last.value == pytest.approx((10.0 + 0.4 + 0.9 + 1.6 + 2.5) / 114)
    assert (last.measurements, last.cases) == (5, 114)


@pytest.mark.parametrize(("metric", "unit"), [("life", "ticks"), ("kills", "per life")])
def test_means_over_lives_weigh_and_count_lives(tmp_path, metric, unit):
    """The last five of ten: 60 to 100, over 6 to 10 lives each."""
    lines = [
        {"agent_steps": 1000 * at, metric: 10.0 * at, "lives": at, "episodes": 50} for at in range(1, 11)
    ]
    lines[0]["of_lives"] = ["life", "kills"]
    found = compare([write_log(make_run(tmp_path / "a", 0), lines)], metric)
    assert found.groups[0].lasts[0].value == pytest.approx(10 * 330 / 40)
    assert [row[3:5] for row in rows(found)] == [("lives", f"{metric} ({unit}), mean"), ("40", ANY)]
    (row,) = table(read_rows(find_runs([tmp_path]), print), [metric])
    assert (row[f"{metric} last"], row[f"{metric} lives"]) == (pytest.approx(10 * 330 / 40), 40)


def test_the_rule_of_play_and_the_opponents_stand_beside_ratings(tmp_path):
    runs = []
    for seed, (against, actions) in enumerate(
        [("random", "greedy"), ("random", "greedy"), ("tit_for_tat", "both")]
    ):
        more = f'[train]\nevaluate_against = ["{against}"]\nevaluate_every = 1000\nevaluate_actions = "{actions}"\n'
        run = make_run(tmp_path / f"r{seed}", seed, more=more)
        names = ("rating", "win_rate", "win_rate_sampled")
        runs.append(
            write_log(run, [{"agent_steps": 4000 * i, **dict.fromkeys(names, i / 10)} for i in range(1, 11)])
        )
    (note,) = (note for note in compare(runs[:2], "rating").notes if "play against" in note)
    assert "greedy play against random, 32 episodes each" in note
    assert "count half" in note
    (note,) = (note for note in compare(runs, "win_rate").notes if "play against" in note)
    assert "no common measure" in note
    assert "r0, r1: greedy play against random" in note
    assert "r2: greedy play against tit_for_tat" in note
    (note,) = (note for note in compare(runs[2:], "win_rate_sampled").notes if "play against" in note)
    assert "sampled play against tit_for_tat" in note
    assert "half" not in note


@pytest.mark.parametrize(("metric", "low", "high"), [("win_rate", 0.0, 1.0), ("life", -np.inf, np.inf)])
def test_intervals_of_shares_are_shares(tmp_path, metric, low, high):
    """Of 0.2, 0.6, 1.0: 0.6 -+ 4.30265 * 0.4 / sqrt(3)."""
    for seed, value in enumerate((0.2, 0.6, 1.0)):
        write_log(
            make_run(tmp_path / str(seed), seed),
            [{"agent_steps": 4000 * i, metric: value} for i in range(1, 11)],
        )
    mean = compare([tmp_path], metric).groups[0].mean
    half = 4.30265 * 0.4 / np.sqrt(3)
    assert mean == pytest.approx((0.6, max(0.6 - half, low), min(0.6 + half, high)), abs=1e-4)


@pytest.mark.parametrize(
    ("lines", "numbers"), [(3, "3 of 3 100%"), (7, "5 of 7 71%"), (19, "5 of 19 26%"), (20, ""), (60, "")]
)
def test_a_last_value_over_much_of_the_run_is_noted(tmp_path, capsys, lines, numbers):
    make_run(tmp_path / "a", 0, lines=lines)
    make_run(tmp_path / "b", 1)
    _, _, errors = typed(capsys, "runs", tmp_path)
    for notes in (compare([tmp_path]).notes, errors.splitlines()):
        found = [
            f"{note[1]} {note[2]}"
            for one in notes
            if (note := re.search(r"(\d+ of \d+) meas.* (\d+%) of the run a", one))
        ]
        assert found == ([numbers] if numbers else [])


def test_a_log_of_all_sides_together_is_said(tmp_path, capsys):
    """An earlier version logged means over all sides; lines of today name the learner's."""
    more = '[opponents]\nteam1 = "random"\n'
    line = {"episodes": 2, "episode_return": 1.0, "of_episodes": ["episode_return"]}
    old = make_run(tmp_path / "old", 0)
    new = make_run(tmp_path / "new", 1)
    for run, own in ((old, {}), (new, {"learner": ["team0"]})):
        file = run / "settings.toml"
        file.write_text(file.read_text() + more)
        write_log(run, [{"agent_steps": 1000 * at, **line, **own} for at in range(1, 11)])
    notes = [note for note in compare([old, new]).notes if "all sides" in note]
    assert len(notes) == 1
    assert notes[0].startswith("old: up to 10,000 agent-steps")
    _, _, errors = typed(capsys, "runs", tmp_path)
    assert "old: up to 10,000" in errors
    assert "new:" not in errors


def test_names_of_settings_and_of_the_user_are_the_labels(two):
    for run in sorted((two / "a").iterdir()):
        file = run / "settings.toml"
        file.write_text('name = "narrow"\n' + file.read_text())
    assert [group.label for group in compare([two]).groups] == ["narrow", "clip 0.3"]
    found = compare([two], labels={"clip 0.3": "wide", "narrow": "thin"})
    assert [group.label for group in found.groups] == ["thin", "wide"]
    with pytest.raises(UserError):
        compare([two], labels={"clip 0.4": "x"})
    with pytest.raises(UserError):
        compare([two], labels={"clip 0.3": "narrow"})


@pytest.mark.parametrize(
    ("count", "words"), [(1, "no interval"), (2, "cuts none off"), (3, "cuts none off"), (4, ""), (10, "")]
)
def test_what_few_seeds_do_not_give_is_said(tmp_path, count, words):
    runs = [make_run(tmp_path / str(seed), seed) for seed in range(count)]
    found = compare(runs)
    assert len(found.notes) == bool(words)
    assert words in "".join(found.notes)
    assert np.isfinite(found.groups[0].mean.low) == (count > 1)


def test_tables_say_everything_and_hurt_no_language(two, tmp_path):
    make_run(tmp_path / "c", 0, more='[world.options]\nx = "a|b_%"\n')
    found = compare([two, tmp_path / "c"])
    assert [row[1] for row in rows(found)] == ["seeds", "5", "5", "1"]
    text = markdown(found)
    assert all(line.replace("\\|", "").count("|") == 7 for line in text.splitlines()[:5])
    code = latex(found)
    body = [line for line in code.splitlines() if line.endswith(r"\\")]
    assert [line.count("&") for line in body] == [5] * 4
    assert r"a|b\_\%" in code
    picture = plot_comparison(found, tmp_path / "a.png")
    assert picture.read_bytes() == plot_comparison(found, tmp_path / "b.png").read_bytes()


def test_the_tables_replace_no_file_of_anybody_else(two, tmp_path, capsys):
    (tmp_path / "paper.md").write_text("my own")
    (tmp_path / "paper.tex").write_text("my own")
    for _ in range(2):
        assert typed(capsys, "compare", two, "--out", tmp_path / "paper.png")[0] == 0
    assert {path.read_text() for path in (tmp_path / "paper.md", tmp_path / "paper.tex")} == {"my own"}
    for ending in (".table.md", ".table.tex", ".table.csv"):
        assert (tmp_path / f"other{ending}").write_text("my own")
        code, _, errors = typed(capsys, "compare", two, "--out", tmp_path / "other.png")
        assert (code, errors.count("\n")) == (2, 1)
        assert f"other{ending} is no table of this command" in errors
        assert (tmp_path / f"other{ending}").read_text() == "my own"
        (tmp_path / f"other{ending}").unlink()
    assert not (tmp_path / "other.png").exists()


def test_words_of_runs_are_no_commands(two, tmp_path, capsys):
    r"""Options of a world with a line's end, TeX and HTML; a folder's name with a colour of the terminal."""
    options = '[world.options]\nx = "a\\n\\\\input{y} <b> &"\n'
    run = make_run(tmp_path / "c\x1b[31m\nd", 0, lines=30, more=options)
    found = compare([two, run])
    assert len(found.notes) == 2  # the run ends early, and is alone
    code = latex(found)
    assert r"\input" not in code
    assert r"a \textbackslash{}input\{y\} <b> \&" in code
    for line in code.splitlines():
        assert line[:2] == "% " or line[0] == "\\" or line.endswith(r" \\")
    text = markdown(found)
    assert r"a \input{y} &lt;b> &amp;" in text
    assert not any(letter in code + text for letter in "\x1b\0")
    assert sum("&lt;b>" in line for line in text.splitlines()) == 2  # its row, and the note on its seed
    for form in ((), ("--csv",)):
        _, out, _ = typed(capsys, "runs", tmp_path, *form)
        assert "\x1b" not in out
        assert sum("input{y}" in line and "[31m d" in line for line in out.splitlines()) == 1


def test_what_cannot_be_compared_is_one_line(two, tmp_path):
    with pytest.raises(UserError):
        compare([two], "rtrn")
    make_run(tmp_path / "again", 3)
    with pytest.raises(UserError, match="are the same run, seed 3"):
        compare([two, tmp_path / "again"])


def test_a_metric_without_a_number_at_the_end_has_its_last_measurements(tmp_path):
    run = make_run(tmp_path / "a", 0)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 400000, "slot_steps": 1}\n')
    assert compare([run]).groups[0].scores.tolist() == [100.0]


def test_a_band_is_students_at_each_step():
    curves = np.array([[0.0, 0.0], [1.0, np.nan], [2.0, 2.0]])
    middle, low, high = curve_band(curves)
    assert middle[0] == 1.0
    assert (low[0], high[0]) == pytest.approx((1 - 4.302653 / np.sqrt(3), 1 + 4.302653 / np.sqrt(3)))
    assert np.isnan([middle[1], low[1], high[1]]).all()
    assert np.isnan(curve_band(curves[:1])[1]).all()


def test_intervals_have_as_many_digits_as_they_are_wide():
    from interplay.evaluate.statistics import Interval

    assert interval_text(Interval(1234.5678, 1200.0, 1300.0)) == "1235 [1200, 1300]"
    assert interval_text(Interval(0.12345, 0.12, 0.13)) == "0.1235 [0.1200, 0.1300]"
    assert interval_text(Interval(2.0, 2.0, 2.0)) == "2.00 [2.00, 2.00]"
    assert interval_text(Interval(2e-7, 1.5e-7, 3e-7)) == "2.00e-07 [1.50e-07, 3.00e-07]"
    assert interval_text(Interval(-2e-7, -2e-4, 0.0)) == "-2.00e-07 [-2.00e-04, 0.00e+00]"
    assert interval_text(Interval(2e-7, 2e-7, 2e-7)) == "2.00e-07 [2.00e-07, 2.00e-07]"
    assert interval_text(Interval(0.0123, 0.0123, 0.0123)) == "0.0123 [0.0123, 0.0123]"
    assert interval_text(Interval(0.0, 0.0, 0.0)) == "0.00 [0.00, 0.00]"
    assert interval_text(Interval(0.5, 0.4999999, 0.5000001)) == "0.500000 [0.500000, 0.500000]"


def test_last_and_best_of_a_run(tmp_path):
    run = make_run(tmp_path / "a", 0)
    lines = read_log(run)
    for line in lines[20:24]:
        line["episode_return"] = 500.0  # four of the five measurements from the 21st on
    (row,) = table(read_rows([write_log(run, lines)], print))
    assert (row["episode_return last"], row["episode_return best"]) == (
        100.0,
        pytest.approx((4 * 500 + 80) / 5),
    )


def test_a_table_shows_what_differs_and_leaves_damaged_runs_out(two, capsys):
    make_run(two / "damaged", 9)
    (two / "damaged" / "settings.toml").write_text("seed = [")
    code, out, errors = typed(capsys, "runs", two, "--csv")
    assert code == 0
    found = list(csv.DictReader(io.StringIO(out)))
    assert list(found[0]) == [
        "run",
        "seed",
        "ppo.clip",
        "agent_steps",
        "of",
        "episode_return last",
        "episode_return best",
        "episode_return measurements",
        "episode_return episodes",
    ]
    assert len(found) == 10
    assert found[0]["episode_return last"] == "100.0"
    assert errors.count("left out: ") == 1
    code, out, _ = typed(capsys, "runs", two, "--json", "--metric", "slot_steps")
    assert json.loads(out)[0]["slot_steps last"] == 76_000
    code, out, _ = typed(capsys, "runs", two)
    assert "40,000 (100 %)" in out
    assert "clip" in out


def test_a_damaged_log_does_not_end_a_table(two, capsys):
    with (two / "b" / "0" / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 50000, "of_episodes": 5}\n')
    code, out, errors = typed(capsys, "runs", two, "--csv")
    assert (code, len(out.splitlines())) == (0, 10)
    assert errors.startswith("left out: ")
    assert "metrics.jsonl: line 41: of_episodes = 5" in errors


def test_a_run_that_has_logged_nothing_is_in_the_table(tmp_path):
    make_run(tmp_path / "a", 0)
    empty = make_run(tmp_path / "b", 1, lines=0)
    found = table(read_rows(find_runs([tmp_path]), print))
    assert found[1]["run"] == str(empty)
    assert (found[1]["agent_steps"], found[1]["episode_return last"]) == (0, None)
    assert to_csv(found).splitlines()[2].endswith("0,40000,,,0,")
    with pytest.raises(UserError, match="no run has logged 'x'"):
        table(read_rows([empty], print), ["x"])


def make_other(folder: Path, seed: int, text: str) -> Path:
    """A run of other settings, with the log of `make_run`."""
    make_run(folder, seed)
    (folder / "settings.toml").write_text(f"seed = {seed}\n{text}")
    return folder


PONG = '[world]\nid = "pong/2p"\n'
GRADIENT = 'algorithm = "policy_gradient"\n[world]\nid = "dilemma/fixed"\n[policy_gradient]\nrollout = 40\n'
LONG = (
    '[world]\nid = "dilemma/fixed"\n[world.options]\nrounds = 7\nobs = {history = 3}\n'
    '[network]\nkind = "mlp"\n[train]\nshards = 8\n[ppo]\nrollout = 16\n'
)


def test_different_worlds_are_not_compared(two, tmp_path):
    other = make_other(tmp_path / "pong", 0, PONG)
    with pytest.raises(
        UserError, match=r"pong was trained on pong/2p, .* on dilemma/fixed: .*; compare runs of one world"
    ):
        compare([two, other])


def test_who_lacks_the_column_is_left_out(two, tmp_path):
    run = make_run(tmp_path / "stopped", 0, clip=0.4)
    (run / "metrics.jsonl").write_text('{"agent_steps": 1000, "slot_steps": 2000}\n')
    found = compare([two, run], "episode_return")
    assert len(found.groups) == 2
    assert any("stopped" in note for note in found.notes)


def test_what_a_run_does_not_read_stands_nowhere(tmp_path, capsys):
    """Two rates of PPO differ, and are no setting of the run that learns by policy gradients."""
    runs = [make_run(tmp_path / "runs" / f"{clip}", 0, clip=clip) for clip in (0.2, 0.3)]
    make_other(tmp_path / "runs" / "gradient", 0, GRADIENT)
    found = compare([*runs, tmp_path / "runs" / "gradient"])
    assert [group.label for group in found.groups] == [
        "algorithm ppo, clip 0.2",
        "algorithm ppo, clip 0.3",
        "algorithm policy_gradient",
    ]
    _, out, _ = typed(capsys, "runs", tmp_path / "runs", "--json")
    rows = {Path(row["run"]).name: row for row in json.loads(out)}
    assert (rows["0.3"]["ppo.clip"], rows["gradient"]["ppo.clip"]) == (0.3, None)
    assert not any("policy_gradient" in key for key in rows["gradient"])


def test_what_value_factorisation_does_not_read_stands_in_no_label(tmp_path):
    """MAPPO has a central critic, IPPO its own, QMIX a mixer and no critic at all."""
    world = '[world]\nid = "dilemma/fixed"\n[network]\nkind = "mlp"\n'
    runs = [
        make_other(tmp_path / "ippo", 0, world + 'critic = "own"\n'),
        make_other(tmp_path / "mappo", 0, world + 'critic = "world"\n'),
        make_other(tmp_path / "qmix", 0, 'algorithm = "qmix"\n' + world),
    ]
    assert [group.label for group in compare(runs).groups] == [
        "algorithm ppo, critic own",
        "algorithm ppo, critic world",
        "algorithm qmix",
    ]


def test_settings_have_names_that_no_other_has_and_stand_behind_the_metrics(tmp_path, capsys):
    make_run(tmp_path / "runs" / "a", 0)
    make_other(tmp_path / "runs" / "b", 1, LONG)
    _, out, _ = typed(capsys, "runs", tmp_path / "runs")
    heads = out.splitlines()[1].split()
    assert heads[:5] == ["run", "episode", "return", "last", "episode"]
    assert {"network", "ppo.rollout", "options.rounds", "options.obs.history", "shards"} <= set(heads)
    assert not {"kind", "id", "rollout", "history"} & set(heads)


def test_long_settings_are_told_once(tmp_path):
    make_run(tmp_path / "a", 0)
    make_other(tmp_path / "b", 0, LONG)
    found = compare([tmp_path / "a", tmp_path / "b"])
    assert [group.name for group in found.groups] == ["A", "B"]
    assert all(group.label.startswith(f"{group.name}: ") and len(group.label) > 60 for group in found.groups)
    assert markdown(found).count("options.rounds") == 1 + ("options.rounds" in found.groups[0].label)
    assert "better than the first: A." in markdown(found)


@pytest.mark.parametrize(("count", "equal"), [(3, True), (4, False)])
def test_the_interquartile_mean_of_three_is_the_mean(tmp_path, count, equal):
    found = compare([make_run(tmp_path / str(seed), seed**2) for seed in range(count)]).groups[0]
    assert (found.mean.value == pytest.approx(found.interquartile_mean.value)) == equal
