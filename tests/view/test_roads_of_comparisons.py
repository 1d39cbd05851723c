"""What `compare`, `curves` and `Sweep.last` print and draw is computed again from the lines of metrics.jsonl."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import interplay
from interplay.view import comparison_picture, curves
from interplay.view.curves import plot_runs
from tests.cli.command import typed
from tests.view.figures import held, lines
from tests.view.runs import read_log, write_run

pytest.importorskip("matplotlib", reason="figures need the extra plot")

GROUPS = {0.2: [(0, 230), (1, 217), (2, 241), (3, 199), (4, 222)], 0.3: [(0, 205), (1, 238), (2, 228)]}


def make_run(folder: Path, seed: int, clip: float, count: int) -> Path:
    """Shares of wins that rise, over 0 to 9 episodes a line, which began in another order than the lines'.

    The last 50 lines of seed 1 have one share in both groups: a tie.
    """
    rng = np.random.default_rng([seed, round(100 * clip)])
    rows = []
    for at in range(1, count + 1):
        episodes = int(rng.integers(10))
        row = {"agent_steps": 100 * at + int(rng.integers(50)), "episodes": episodes, "kl": 0.1}
        share = np.clip(rng.normal(0.25 + 0.12 * seed + 1.5 * (clip - 0.2) + at / 1000, 0.2), 0, 1)
        share = 0.625 if seed == 1 and at > count - 50 else share
        began = row["agent_steps"] - 40 - int(rng.integers(300))
        more = {"won": float(share), "episodes_began": max(began, 1), "of_episodes": ["won"]}
        rows.append(row | (more if episodes else {"won": None}))
    return write_run(folder, rows, seed, clip, "steps = 20000\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[float, list[Path]]:
    home = tmp_path_factory.mktemp("runs")
    return {
        clip: [make_run(home / f"{clip}-{seed}", seed, clip, count) for seed, count in own]
        for clip, own in GROUPS.items()
    }


def score(run: Path) -> tuple[float, int, int]:
    """Last value, measurements and episodes."""
    have = [line for line in read_log(run) if line["won"] is not None]
    have = have[-max(5, int(np.ceil(len(have) / 10))) :]
    won, episodes = np.array([(line["won"], line["episodes"]) for line in have]).T
    return float((won * episodes).sum() / episodes.sum()), len(have), int(episodes.sum())


def trimmed(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interquartile mean, and deviation of the scores pulled in to the middle half; of each row."""
    ordered = np.sort(scores, axis=-1)
    cut, runs = ordered.shape[-1] // 4, ordered.shape[-1]
    kept = ordered[..., cut : runs - cut]
    pulled = np.clip(ordered, kept[..., :1], kept[..., -1:])
    return kept.mean(-1), np.sqrt(((pulled - pulled.mean(-1, keepdims=True)) ** 2).sum(-1) / (runs - 1))


def half_width(scores: np.ndarray) -> float:
    """Of the interquartile mean: the 95 % point of its size in deviations over normal samples."""
    middle, deviation = trimmed(np.random.default_rng(99).normal(size=(300_000, len(scores))))
    return float(np.quantile(np.abs(middle) / deviation, 0.95) * trimmed(scores)[1])


def better(a: np.ndarray, b: np.ndarray) -> list[float]:
    """Share of pairs in which a is higher, ties half, and the ends by the noncentral t."""
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for x in a for y in b]
    t, freedom = stats.ttest_ind(a, b).statistic, len(a) + len(b) - 2
    scale = np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)))
    ends = [
        stats.norm.cdf(optimize.brentq(lambda d, p=p: stats.nct.cdf(t, freedom, d) - p, -20, 40) / scale)
        for p in (0.975, 0.025)
    ]
    return [float(np.mean(pairs)), *ends]


def numbers(cell: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-\d+)?", cell)]


def in_01(middle: float, half: float) -> list[float]:
    return [middle, max(middle - half, 0.0), min(middle + half, 1.0)]


def test_the_tables_of_a_comparison(runs, capsys, tmp_path):
    every = [run for own in runs.values() for run in own]
    code, out, errors = typed(capsys, "compare", *every, "--metric", "won", "--out", tmp_path / "a.png")
    assert code == 0, errors
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines()[:4]]
    scores = {clip: np.array([score(run)[0] for run in own]) for clip, own in runs.items()}
    assert scores[0.2][1] == scores[0.3][1], "a tie"
    for row, (clip, own) in zip(table[2:], runs.items(), strict=True):
        x = scores[clip]
        assert row[:2] == [f"clip {clip}", str(len(own))]
        for cell, at in ((row[2], 1), (row[3], 2)):
            counts = [score(run)[at] for run in own]
            assert numbers(cell) == sorted({min(counts), max(counts)})
        half = stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))
        np.testing.assert_allclose(numbers(row[4]), in_01(x.mean(), half), atol=6e-4)
        np.testing.assert_allclose(numbers(row[5]), in_01(trimmed(x)[0], half_width(x)), atol=5e-3)
        assert numbers(row[5])[0] == pytest.approx(trimmed(x)[0], abs=6e-4)
    assert table[2][6] == ""
    expected = better(scores[0.3], scores[0.2])
    np.testing.assert_allclose(numbers(table[3][6]), expected, atol=5.1e-3)
    assert 0.1 < expected[0] < 0.9
    with (tmp_path / "a.table.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, run in zip(rows, every, strict=True):
        last = read_log(run)[-1]["agent_steps"]
        assert (row["run"], int(row["agent_steps"])) == (str(run), last)
        value, measurements, episodes = score(run)
        assert float(row["won"]) == pytest.approx(value)
        assert (int(row["measurements"]), int(row["episodes"])) == (measurements, episodes)
    tex = [line for line in (tmp_path / "a.table.tex").read_text().splitlines() if line.startswith("clip")]
    assert [numbers(line.split("&")[4]) for line in tex] == [numbers(row[4]) for row in table[2:]]


def test_last_values_of_a_sweep_count_their_episodes(runs):
    frame = interplay.Sweep(runs[0.2][0].parent).last(["won"])
    assert len(frame) == 8
    for row in frame.itertuples():
        value, measurements, episodes = score(runs[0.2][0].parent / row.run)
        assert (row.measurements, row.cases) == (measurements, episodes)
        assert row.value == pytest.approx(value)


def test_the_table_of_runs(runs, capsys):
    """The best value is that of blocks as long as the last value's, counted from the end."""
    code, out, errors = typed(capsys, "runs", runs[0.2][0].parent, "--metric", "won", "--json")
    assert code == 0, errors
    for row in json.loads(out):
        have = [line for line in read_log(Path(row["run"])) if line["won"] is not None]
        value, count, episodes = score(Path(row["run"]))
        blocks = [have[end - count : end] for end in range(len(have), count - 1, -count)]
        means = [
            np.average([line["won"] for line in block], weights=[line["episodes"] for line in block])
            for block in blocks
        ]
        assert (row["won last"], row["won best"]) == (pytest.approx(value), pytest.approx(max(means)))
        assert (row["won measurements"], row["won episodes"]) == (count, episodes)
        assert means.index(max(means)) > 0 or value == pytest.approx(max(means))


def curve(run: Path, most: int) -> np.ndarray:
    """Means of 60 windows; each point of the line has 1/120 of the run's episodes."""
    have = sorted(
        (line for line in read_log(run) if line["won"] is not None), key=lambda line: line["episodes_began"]
    )
    weight = np.array([line["episodes"] for line in have])
    groups: list[list[int]] = [[]]
    for at in range(len(have)):
        if 120 * weight[groups[-1]].sum() >= weight.sum():
            groups.append([])
        groups[-1].append(at)
    if 120 * weight[groups[-1]].sum() < weight.sum():
        groups[-2:] = [groups[-2] + groups[-1]]
    assert len(groups) < len(have), "some lines are joined"
    x, y = (
        np.array([np.average([have[at][key] for at in own], weights=weight[own]) for own in groups])
        for key in ("episodes_began", "won")
    )
    found = np.full(60, np.nan)
    for at, middle in enumerate((np.arange(60) + 0.5) * most / 60):
        reach = min(most / 120, middle - x[0], x[-1] - middle)
        if reach >= 0:
            fine = middle + reach * (np.arange(4000) + 0.5 - 2000) / 2000
            found[at] = np.interp(fine, x, y).mean()
    return found


def test_the_picture_of_a_comparison(runs, capsys, tmp_path, monkeypatch):
    figures = held(monkeypatch, comparison_picture)
    every = [run for own in runs.values() for run in own]
    assert typed(capsys, "compare", *every, "--metric", "won", "--out", tmp_path / "a.png")[0] == 0
    most = max(read_log(run)[-1]["agent_steps"] for run in every)
    left, right = figures[0].axes
    drawn = lines(right)
    for at, own in enumerate(runs.values()):
        x, row = np.array([score(run)[0] for run in own]), len(runs) - 1 - at
        dots, interval, mark = drawn[3 * at : 3 * at + 3]
        np.testing.assert_allclose(dots, [x, np.full(len(x), row)])
        np.testing.assert_allclose(interval[0], in_01(trimmed(x)[0], half_width(x))[1:], atol=5e-3)
        np.testing.assert_allclose(np.ravel(mark), [trimmed(x)[0], row])
    assert drawn[-1][0] == pytest.approx(trimmed(np.array([score(run)[0] for run in runs[0.2]]))[0])
    for line, band, own in zip(lines(left), left.collections, runs.values(), strict=True):
        each = np.array([curve(run, most) for run in own])
        some = np.isfinite(each).all(axis=0)
        assert 40 < some.sum() < 60
        middles, mean = ((np.arange(60) + 0.5) * most / 60)[some], each[:, some].mean(axis=0)
        np.testing.assert_allclose(line[0], middles)
        np.testing.assert_allclose(line[1], mean, atol=1e-4)
        half = stats.t.ppf(0.975, len(own) - 1) * each[:, some].std(axis=0, ddof=1) / np.sqrt(len(own))
        check_band(band, middles, np.maximum(mean - half, 0), np.minimum(mean + half, 1))


def check_band(band, x, low, high) -> None:
    corners = band.get_paths()[0].vertices
    for at, bottom, top in zip(x, low, high, strict=True):
        heights = corners[np.isclose(corners[:, 0], at), 1]
        assert (heights.min(), heights.max()) == pytest.approx((bottom, top), abs=1e-3)


def test_curves_of_seeds_weigh_episodes(runs, tmp_path, monkeypatch):
    """Each group is drawn over its own windows, in a band from the lowest to the highest run."""
    figures = held(monkeypatch, curves)
    plot_runs([run for own in runs.values() for run in own], tmp_path / "a.png", columns=["won"])
    (axes,) = figures[0].axes
    for line, band, own in zip(lines(axes), axes.collections, runs.values(), strict=True):
        each = np.array([curve(run, max(read_log(r)[-1]["agent_steps"] for r in own)) for run in own])
        some = np.isfinite(each).all(axis=0)
        np.testing.assert_allclose(line[1], each[:, some].mean(axis=0), atol=1e-4)
        check_band(band, line[0], each[:, some].min(axis=0), each[:, some].max(axis=0))
