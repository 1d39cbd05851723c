"""The study's own arithmetic (studies/werewolf_*): intervals, what is measured once, tables of planted runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import parse_overrides
from interplay.evaluate.statistics import wilson
from interplay.registry import list_worlds
from studies import werewolf_tables as tables
from studies.werewolf_measures import Measures, Run, find_runs, half_width, last_line
from studies.werewolf_study import STUDIES


class Planted:
    """Measures that were made up."""

    def __init__(self, won: dict[str, float]) -> None:
        self.won = won

    def wins(self, run: Run, games: int = 1000, **roles: str) -> dict[str, Any]:
        name = "/".join(Path(roles["werewolf"]).parts[-1:]) if roles else "own"
        return {"won": round(self.won[f"{run.path.name} {name}"] * games), "games": games}


def planted_runs(folder: Path, study: str, variant: str, seeds: int) -> list[Run]:
    runs = []
    for seed in range(1, seeds + 1):
        path = folder / study / f"{variant}-{seed}"
        (path / "checkpoints" / "00000001").mkdir(parents=True)
        lines = [{"agent_steps": 10, "time": 1.0}, {"agent_steps": 1234, "time": 7.6}]
        (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"agent')
        runs.append(Run(path, study, variant, seed))
    return runs


@pytest.mark.parametrize(("won", "games"), [(0, 10), (3, 7), (500, 1000), (10, 10)])
def test_wilson_is_where_the_score_test_turns(won: int, games: int):
    for bound in wilson(won, games):
        if 0 < bound < 1 - 1e-9:
            z = (won / games - bound) / np.sqrt(bound * (1 - bound) / games)
            assert abs(z) == pytest.approx(1.959964, rel=1e-6)


def test_intervals_over_seeds_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    for n in (2, 5):
        covered = 0
        for _ in range(4_000):
            values = rng.normal(size=n)
            half = half_width(values.tolist())
            assert half is not None
            covered += abs(values.mean()) <= half
        assert covered / 4_000 == pytest.approx(0.95, abs=0.015)
    assert half_width([0.5]) is None


def test_runs_are_those_with_a_checkpoint(tmp_path: Path):
    runs = planted_runs(tmp_path, "both", "9-l1s9", 3)
    planted_runs(tmp_path, "both", "9", 1)
    (tmp_path / "both" / "9-l1s9-7").mkdir()
    assert find_runs(tmp_path, ["both"], ["9-l1s9"], []) == runs
    assert [run.seed for run in find_runs(tmp_path, ["both"], ["9-l1s9"], [2])] == [2]
    assert [run.path.name for run in find_runs(tmp_path, ["both"], ["9"], [])] == ["9-1"]
    with pytest.raises(UserError, match="no runs with a checkpoint"):
        find_runs(tmp_path, ["random"], ["9"], [])
    assert last_line(runs[0]) == {"agent_steps": 1234, "time": 7.6}  # the torn last line is left out


def test_a_figure_is_measured_once_and_again_for_a_newer_checkpoint(tmp_path: Path):
    (run,) = planted_runs(tmp_path, "both", "9", 1)
    calls = []

    def measure() -> dict[str, int]:
        calls.append(1)
        return {"won": len(calls)}

    kept = tmp_path / "measured.jsonl"
    assert Measures(10, 10, kept)._once(run, "wins", measure) == {"won": 1}
    assert Measures(10, 10, kept)._once(run, "wins", measure) == {"won": 1}
    (run.path / "checkpoints" / "00000002").mkdir()
    assert Measures(10, 10, kept)._once(run, "wins", measure) == {"won": 2}


def test_the_table_of_wins_counts_seeds(tmp_path: Path):
    runs = planted_runs(tmp_path, "random", "9", 4)
    won = {f"9-{seed} own": p for seed, p in enumerate((0.9, 0.8, 0.3, 0.6), 1)}
    lines = list(tables.wins(runs, Planted(won)))  # type: ignore[arg-type]
    assert lines[2] == "| random | 9 | 1 | 0.900 | 0.880 .. 0.917 | 1,234 | 8 |"
    assert lines[-1].startswith("| random | 9 | 4 | 0.650 ± ")
    assert lines[-1].endswith("| 2 of 4 | 1 of 4 |")  # .8 counts as learnt


def test_crossplay_sets_a_run_beside_its_own_row_and_column(tmp_path: Path):
    runs = planted_runs(tmp_path, "both", "9-l1s9", 3)
    rates = np.array([[0.9, 0.5, 0.7], [0.1, 0.4, 0.2], [0.3, 0.8, 0.6]])
    won = {f"9-l1s9-{v + 1} 9-l1s9-{w + 1}": float(rates[v, w]) for v in range(3) for w in range(3)}
    lines = list(tables.crossplay(runs, Planted(won)))  # type: ignore[arg-type]
    assert lines[2] == "| villagers 1 | 0.900 | 0.500 | 0.700 |"
    # Run 1: its villagers .5 and .7 elsewhere, its wolves .1 and .3, so .4; and so on.
    elsewhere = [(0.5 + 0.7 + 0.1 + 0.3) / 4, (0.1 + 0.2 + 0.5 + 0.8) / 4, (0.3 + 0.8 + 0.7 + 0.2) / 4]
    assert f"{np.mean([0.9, 0.4, 0.6]) - np.mean(elsewhere):+.3f}" in lines[-1]


def test_every_study_names_worlds_and_settings_that_exist():
    ids = {spec.id for spec in list_worlds()}
    for study in STUDIES.values():
        assert {f"werewolf/{variant}" for variant in study.variants} <= ids
        assert len(parse_overrides(study.overrides)) >= (1 if study.overrides else 0)
