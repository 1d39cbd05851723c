"""Lives that `interplay tournament --merge` prints and writes against results.jsonl, read and counted here."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest

from interplay.core import seeding
from tests.cli.command import typed
from tests.evaluate.roads import four, living, table

HOMES, CAPS, HORIZON = ("random", "fighter@2", "two"), (8, 12), 25
WORDS = (
    "random", "fighter@2", "two=random,random", "--merge", "--world", "mmo/combat", "--option", "interior=20", "--caps", "8,12",
    "--matches", "3", "--window", "60", "--horizon", str(HORIZON), "--seed", "6",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("merges") / "merges"


@pytest.fixture
def told(capsys, folder):
    """(home, home, cap) -> (pair of runs, line) of each map; ratings.json; what was printed."""
    code, text, errors = typed(
        capsys, "tournament", *(("--resume",) if folder.exists() else WORDS), "--out", folder
    )
    assert code == 0, errors
    lines = defaultdict(list)
    for line in map(json.loads, (folder / "results.jsonl").read_text().splitlines()):
        pair, cap, runs, _ = line["key"].split("/")
        lines[(*map(int, pair.split("-")), int(cap))].append((max(map(int, runs.split("-"))), line))
    return lines, json.loads((folder / "ratings.json").read_text()), text


def company(lines, home, other, cap):
    """Lines of a home beside another one, and the sides on which it plays there: both beside itself."""
    first, second = sorted((home, other))
    return lines[first, second, cap], (0, 1) if home == other else (0,) if home < other else (1,)


def interval(found, sides):
    """95 % of the mean life over 400 draws: runs with replacement, then maps of each; lives of the drawn maps are pooled."""
    ages = np.zeros((2, len(found), HORIZON + 1))
    for m, (_, line) in enumerate(found):
        for side in sides:
            for k, how in enumerate(("ended", "cut")):
                np.add.at(ages[k, m], line["homes"][side][how], 1)
    runs = [
        [m for m, (run, _) in enumerate(found) if run == one] for one in sorted({run for run, _ in found})
    ]
    rng, means = seeding.generator(6, 0x70004), []
    for _ in range(400):
        picked = rng.integers(len(runs), size=len(runs))
        maps = [runs[g][m] for g in picked for m in rng.integers(len(runs[g]), size=len(runs[g]))]
        ended, cut = ages[:, maps].sum(axis=1)
        reached = (ended + cut)[::-1].cumsum()[::-1]
        means.append(np.cumprod(1 - ended / np.maximum(reached, 1))[:HORIZON].sum())
    return np.quantile(means, (0.025, 0.975))


def test_lives_of_each_company_are_those_of_the_lines(told):
    lines, report, text = told
    assert len({tuple(sorted(one.items())) for one in [{"a": len(own)} for own in lines.values()]}) == 2
    printed = {cap: table(text, f"mean life beside another home, {cap} places")[1:] for cap in CAPS}
    assert len(report["cells"]) == 18
    for cell in report["cells"]:
        home, other = HOMES.index(cell["home"]), HOMES.index(cell["other"])
        found, sides = company(lines, home, other, cell["cap"])
        parts = [line["homes"][side] for _, line in found for side in sides]
        ended, cut = ([age for part in parts for age in part[how]] for how in ("ended", "cut"))
        life = sum(living(ended, cut, HORIZON))
        assert cell["life"] == pytest.approx(life)
        assert (cell["lives"], cell["cut"]) == (len(ended), len(cut))
        low, high = interval(found, sides)
        assert cell["interval"] == pytest.approx([low, high])
        assert printed[cell["cap"]][home][2 + other] == f"{life:.4g} ({low:.3g} .. {high:.3g})"
        # Populations stand home after home: fighter@2 has two.
        standing = np.mean([line["standing"] for _, line in found], axis=0)
        count = [2 if one == 1 else 1 for one in sorted((home, other))]
        own = {(0, 1): slice(None), (0,): slice(0, count[0]), (1,): slice(count[0], None)}[sides]
        assert cell["standing"] == pytest.approx(standing[own])
        assert cell["share"] == pytest.approx(standing[own].sum() / standing.sum() / len(sides))
        causes = {name for part in parts for name in part["causes"]}
        shares = {name: sum(part["causes"].get(name, 0) for part in parts) / len(ended) for name in causes}
        assert cell["causes"] == pytest.approx(shares)
        assert sum(shares.values()) == pytest.approx(1)
        food = sum(part["per_life"]["food"] * len(part["ended"]) for part in parts if part["ended"])
        assert cell["per_life"]["food"] == pytest.approx(food / len(ended))


def test_the_table_of_all_company_counts_lives_once(told):
    lines, _, text = told
    rows = {row[0]: row[1:] for row in all_rows(text)}
    expected = defaultdict(list)
    for home in range(3):
        parts, shares = [], []
        for other in range(3):
            for cap in CAPS:
                found, sides = company(lines, home, other, cap)
                parts += [line["homes"][side] for _, line in found for side in sides]
                if home != other:
                    standing = np.mean([line["standing"] for _, line in found], axis=0)
                    cut = 2 if min(home, other) == 1 else 1
                    mine = standing[:cut] if sides == (0,) else standing[cut:]
                    shares.append(mine.sum() / standing.sum())
        ended = sum(len(part["ended"]) for part in parts)
        expected["lives"].append(f"{ended:,}")
        expected["cut"].append(f"{sum(len(part['cut']) for part in parts):,}")
        expected["share of the living"].append(f"{100 * np.mean(shares):.0f} %")
        for cause in {name for part in parts for name in part["causes"]}:
            number = sum(part["causes"].get(cause, 0) for part in parts)
            expected[f"died: {cause}"].append(f"{100 * number / ended:.1f} %")
        for name in ("kills", "food", "water", "harm"):
            total = sum(part["per_life"][name] * len(part["ended"]) for part in parts if part["ended"])
            expected[f"{name} per life"].append(f"{total / ended:.3g}")
    assert rows == expected


def all_rows(text):
    """The rows of the table over all company, which have no indent; its first line has the homes."""
    lines = text.split("lives of each home, all caps and all company\n")[1].splitlines()[1:]
    end = next(n for n, line in enumerate(lines) if line.startswith(("a home has", "ratings over")))
    return table("all\n" + "\n".join(f"  {line}" for line in lines[:end]), "all")


def test_a_match_is_one_map_at_one_cap_and_the_longer_mean_life_wins(told):
    lines, report, text = told
    points, scores = np.zeros((3, 3)), defaultdict(list)
    rounds = defaultdict(set)
    for (i, j, _), found in lines.items():
        for number, (run, line) in enumerate(found):
            if i == j:
                continue
            life = [sum(living(part["ended"], part["cut"], HORIZON)) for part in line["homes"]]
            assert all(part["ended"] or part["cut"] for part in line["homes"]), number
            points[i, j] += 1.0 if life[0] > life[1] else 0.5 * (life[0] == life[1])
            points[j, i] += 1.0 if life[1] > life[0] else 0.5 * (life[0] == life[1])
            for home, one in zip((i, j), life, strict=True):
                scores[home].append(one)
                rounds[home].add((i, j, run))
    assert report["points"] == points.tolist()
    assert report["matches"] == sum(map(len, scores.values())) / 2 == 30
    for row in report["players"]:
        home = HOMES.index(row["player"])
        assert row["mean_score"] == pytest.approx(np.mean(scores[home]))
        assert row["rounds"] == len(rounds[home])
        assert f"  {four(float(np.mean(scores[home])))}  " in text.split("ratings over")[1]
