"""Tables and comparisons of runs: what is one group, where runs are cut, what is told of few seeds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.view.comparison import compare, curve_band, latex, markdown, on_windows, rows, told
from interplay.view.comparison_picture import plot_comparison
from interplay.view.run_table import find_runs, last_and_best, read_rows, table, to_csv
from tests.cli.command import typed

LINES = 40


def make_run(
    folder: Path, seed: int, clip: float = 0.2, level: float = 100.0, lines: int = LINES, more: str = ""
) -> Path:
    """A run whose metric climbs to `level` + seed and stays there for the last tenth."""
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(
        f'seed = {seed}\nsteps = 40000\n{more}[world]\nid = "dilemma/fixed"\n[ppo]\nclip = {clip}\n'
    )
    found = [
        {
            "agent_steps": 1000 * (i + 1),
            "slot_steps": 2000 * (i + 1),
            "episode_return": min(i / 30, 1.0) * level + seed,
        }
        for i in range(lines)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder


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
    assert found.groups[1].improvement.low == found.groups[1].improvement.high == 1.0
    assert [note[:35] for note in found.notes] == [
        "clip 0.2: 5 seeds, intervals of so ",
        "clip 0.3: 5 seeds, intervals of so ",
        "clip 0.3: every draw of the bootstr",
    ]


def test_how_fast_and_how_far_a_run_went_makes_no_group_of_its_own(two):
    run = make_run(two / "a" / "5", 5, more="[train]\nworkers = 4\nquiet = true\n")
    file = run / "settings.toml"
    file.write_text(file.read_text().replace("steps = 40000", "steps = 80000"))
    assert [len(group.runs) for group in compare([two]).groups] == [6, 5]


def test_seeds_that_were_logged_at_other_steps_have_a_mean_without_jags(tmp_path):
    """Straight lines 3 x + seed, of which the mean is one again; windows are 1,000 agent-steps wide."""
    for seed, steps in ((0, range(700, 100_001, 700)), (1, range(5_300, 100_001, 5_300)), (2, [800, 99_000])):
        run = make_run(tmp_path / str(seed), seed)
        log = [{"agent_steps": at, "episode_return": 3 * at + seed} for at in (*steps, 100_000)]
        (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    found = compare([tmp_path])
    middle, low, high = curve_band(found.groups[0].curves)
    there = np.isfinite(middle)
    assert found.middles[there].tolist() == [at for at in found.middles if at >= 5_300]
    assert middle[there] == pytest.approx(3 * found.middles[there] + 1)
    assert (high - low)[there] == pytest.approx(2, abs=0.01)


def test_the_mean_over_a_window():
    places, values = np.array([4.0, 0.0, 2.0, 2.0, 9.0]), np.array([2.0, 0.0, 1.0, 3.0, np.nan])
    # Up from 0 to 2 at 2, and level from there to 4.
    means = on_windows(places, values, np.array([0.0, 1.0, 3.0, 4.5, 6.0]))
    assert means.tolist() == [0.5, 1.75, 2.0, pytest.approx(np.nan, nan_ok=True)]
    assert np.isnan(on_windows(places, np.full(5, np.nan), np.array([0.0, 1.0]))).all()


def test_unequal_runs_are_cut_and_it_is_said(two):
    make_run(two / "b" / "short", 7, clip=0.3, lines=30)
    found = compare([two])
    assert found.steps == 30_000
    assert found.notes[0] == "Cut at 30,000 agent-steps, where short ends; the longest run has 40,000."
    # Lines 28 to 30 of the others, too.
    assert found.groups[0].scores.min() == pytest.approx(100 * np.mean([27, 28, 29]) / 30)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "1 seed, too few to say"),
        (2, "2 seeds, too few"),
        (4, "4 seeds, intervals of so few are too narrow"),
        (9, "9 seeds, intervals of so few"),
        (10, ""),
    ],
)
def test_few_seeds_are_warned_of(tmp_path, count, words):
    runs = [make_run(tmp_path / str(seed), seed) for seed in range(count)]
    notes = compare(runs).notes
    assert len(notes) == bool(words)
    assert words in "".join(notes)


def test_tables_say_everything_and_hurt_no_language(two, tmp_path):
    make_run(tmp_path / "c", 0, more='[world.options]\nx = "a|b_%"\n')
    found = compare([two, tmp_path / "c"])
    assert [row[1] for row in rows(found)] == ["seeds", "5", "5", "1"]
    text = markdown(found)
    assert all(line.replace("\\|", "").count("|") == 6 for line in text.splitlines()[:5])
    assert "95% bootstrap intervals over seeds" in text
    assert "too few to say anything" in text
    code = latex(found)
    body = [line for line in code.splitlines() if line.endswith(r"\\")]
    assert [line.count("&") for line in body] == [4] * 4
    assert r"a|b\_\%" in code
    picture = plot_comparison(found, tmp_path / "a.png")
    assert picture.read_bytes() == plot_comparison(found, tmp_path / "b.png").read_bytes()


def test_the_tables_replace_no_file_of_anybody_else(two, tmp_path, capsys):
    (tmp_path / "paper.md").write_text("my own")
    (tmp_path / "paper.tex").write_text("my own")
    for _ in range(2):
        assert typed(capsys, "compare", two, "--out", tmp_path / "paper.png")[0] == 0
    assert {path.read_text() for path in (tmp_path / "paper.md", tmp_path / "paper.tex")} == {"my own"}
    for ending in (".table.md", ".table.tex"):
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
    assert len(found.notes) == 5
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
    with pytest.raises(UserError, match="no run there"):
        compare([tmp_path / "nothing"])
    with pytest.raises(
        UserError, match=r"'rtrn' is not logged by every run; these are: episode_return, slot_steps"
    ):
        compare([two], "rtrn")
    make_run(tmp_path / "again", 3)
    with pytest.raises(UserError, match="are the same run, seed 3"):
        compare([two, tmp_path / "again"])
    (two / "a" / "0" / "metrics.jsonl").write_text("")
    with pytest.raises(UserError, match="nothing logged yet"):
        compare([two])


def test_a_metric_without_a_number_at_the_end_is_refused(tmp_path):
    run = make_run(tmp_path / "a", 0)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 400000, "slot_steps": 1}\n')
    with pytest.raises(UserError, match="was not logged in the last tenth"):
        compare([run])


def test_a_band_draws_whole_runs():
    curves = np.array([[0.0, 0.0], [1.0, np.nan], [2.0, 2.0]])
    middle, low, high = curve_band(curves)
    assert middle.tolist() == [1.0, 1.0]
    assert (low[0], high[0]) == (0.0, 2.0)
    assert np.isnan(curve_band(curves[:1])[1]).all()


def test_intervals_have_as_many_digits_as_they_are_wide():
    from interplay.evaluate.aggregates import Interval

    assert told(Interval(1234.5678, 1200.0, 1300.0)) == "1235 [1200, 1300]"
    assert told(Interval(0.12345, 0.12, 0.13)) == "0.1235 [0.1200, 0.1300]"
    assert told(Interval(2.0, 2.0, 2.0)) == "2.00 [2.00, 2.00]"
    assert told(Interval(2e-7, 1.5e-7, 3e-7)) == "2.00e-07 [1.50e-07, 3.00e-07]"
    assert told(Interval(-2e-7, -2e-4, 0.0)) == "-2.00e-07 [-2.00e-04, 0.00e+00]"
    assert told(Interval(2e-7, 2e-7, 2e-7)) == "2.00e-07 [2.00e-07, 2.00e-07]"
    assert told(Interval(0.0123, 0.0123, 0.0123)) == "0.0123 [0.0123, 0.0123]"
    assert told(Interval(0.0, 0.0, 0.0)) == "0.00 [0.00, 0.00]"
    assert told(Interval(0.5, 0.4999999, 0.5000001)) == "0.500000 [0.500000, 0.500000]"


def test_last_and_best_of_a_run(tmp_path):
    run = make_run(tmp_path / "a", 0)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for line in lines[20:24]:
        line["episode_return"] = 500.0  # the sixth tenth
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = read_rows([run], print)
    assert row.log is not None
    assert last_and_best(row.log, "episode_return") == (100.0, 500.0)
    assert np.isnan(last_and_best(row.log, "nothing")).all()


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
    ]
    assert len(found) == 10
    assert found[0]["episode_return last"] == "100.0"
    assert errors.count("left out: ") == 1
    code, out, _ = typed(capsys, "runs", two, "--json", "--metric", "slot_steps")
    assert json.loads(out)[0]["slot_steps last"] == 77_000
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
    assert to_csv(found).splitlines()[2].endswith("0,40000,,")
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


def test_who_lacks_a_column_is_named(two, tmp_path):
    run = make_run(tmp_path / "stopped", 0, clip=0.4)
    (run / "metrics.jsonl").write_text('{"agent_steps": 1000, "slot_steps": 2000}\n')
    for metric in (None, "episode_return"):
        with pytest.raises(
            UserError, match=r"stopped has not logged 'episode_return'; leave it out, .*: slot_steps"
        ):
            compare([two, run], metric)


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


@pytest.mark.parametrize(("count", "said"), [(3, True), (4, False)])
def test_an_interquartile_mean_that_cuts_nothing_off_says_so(tmp_path, count, said):
    runs = [make_run(tmp_path / str(seed), seed**2) for seed in range(count)]
    found = compare(runs)
    assert (found.groups[0].mean.value == found.groups[0].interquartile_mean.value) == said
    assert ("interquartile mean of fewer than 4 cuts none off" in found.notes[0]) == said
