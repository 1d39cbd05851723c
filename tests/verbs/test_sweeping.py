"""Sweeps from Python, and data frames of runs, logs and episodes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from tests.cli.command import typed

pytest.importorskip("pandas")


NAMES = {"agent_names": ["agent_0", "agent_1"], "team_names": []}


def make_run(
    folder: Path, seed: int, text: str = "", lines: int = 6, names: dict[str, list[str]] = NAMES
) -> Path:
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(f'seed = {seed}\n[world]\nid = "dilemma/fixed"\n{text}')
    rng = np.random.default_rng([seed, len(text)])
    rows = [
        {
            "agent_steps": 10 * i,
            "kl": rng.normal(),
            "score": None if i < 3 else rng.normal(),
            "rates": {"learning_rate": 0.1 * i},
            "by_agent": {"score": [rng.normal(), None if i == 4 else rng.normal()]},
        }
        for i in range(1, lines + 1)
    ]
    rows[0] |= names
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for clip in (0.1, 0.3):
        for seed in range(2):
            make_run(tmp_path / f"clip-{clip}--seed-{seed}", seed, f"[ppo]\nclip = {clip}\n")
    return tmp_path


def by_hand(path: Path) -> dict[tuple[int, str], float]:
    """Every number of a log by step and metric, read without the package."""
    found = {}
    for line in map(json.loads, (path / "metrics.jsonl").read_text().splitlines()):
        own = {
            "kl": line["kl"],
            "score": line["score"],
            "rates[learning_rate]": line["rates"]["learning_rate"],
        }
        own |= {f"score[agent_{k}]": value for k, value in enumerate(line["by_agent"]["score"])}
        found |= {(line["agent_steps"], name): value for name, value in own.items() if value is not None}
    return found


def test_a_frame_holds_every_number_of_every_log_once(folder):
    frame = interplay.Sweep(folder).frame()
    assert list(frame.columns) == ["run", "ppo.clip", "seed", "step", "metric", "value"]
    for name, part in frame.groupby("run"):
        rows = {(row.step, row.metric): row.value for row in part.itertuples()}
        assert len(rows) == len(part)
        assert rows == by_hand(folder / name)
        clip, seed = name.removeprefix("clip-").split("--seed-")
        assert set(part["ppo.clip"]) == {float(clip)}
        assert set(part["seed"]) == {int(seed)}


def test_metrics_can_be_chosen_and_unknown_ones_are_refused(folder):
    sweep = interplay.Sweep(folder)
    frame = sweep.frame(["score[agent_1]"])
    assert set(frame.metric) == {"score[agent_1]"}
    assert len(frame) == 4 * 5
    with pytest.raises(UserError, match="'scor'"):
        sweep.frame(["scor"])


def test_settings_that_a_run_does_not_read_are_empty(folder):
    make_run(folder / "gradient", 0).joinpath("settings.toml").write_text(
        'algorithm = "policy_gradient"\nseed = 0\n[world]\nid = "dilemma/fixed"\n'
    )
    frame = interplay.Sweep(folder).frame(["kl"])
    part = frame[frame.run == "gradient"]
    assert part["ppo.clip"].isna().all()
    assert set(part["algorithm"]) == {"policy_gradient"}


def test_sweeps_without_runs_or_logs_are_refused(folder, tmp_path):
    (tmp_path / "new" / "a").mkdir(parents=True)
    make_run(tmp_path / "new" / "a" / "b", 0).joinpath("metrics.jsonl").write_text("")
    with pytest.raises(UserError):
        interplay.Sweep(tmp_path / "new").frame()


def test_a_sweep_is_short_to_read(folder):
    sweep = interplay.Sweep(folder)
    assert len(sweep) == len(sweep.runs) == 4
    assert "\n" not in repr(sweep)
    assert "clip-0.1--seed-0" in sweep._repr_html_()
    assert list(sweep.settings_table().varied) == ["ppo.clip"]


def test_last_values_are_a_frame_of_the_means_of_the_last_measurements(folder):
    found = interplay.Sweep(folder).last(["kl", "score", "score[agent_1]"])
    assert list(found.columns) == ["run", "ppo.clip", "seed", "metric", "value", "measurements", "cases"]
    assert len(found) == 12
    for row in found.itertuples():
        lines = by_hand(folder / row.run)
        values = [value for (_, name), value in sorted(lines.items()) if name == row.metric][-5:]
        assert row.value == pytest.approx(np.mean(values))
        assert row.measurements == len(values)


def test_a_log_is_a_frame_whose_agents_have_names(folder):
    path = folder / "clip-0.1--seed-0"
    frame = interplay.Run(path).metrics.frame()
    found = {
        (int(row["agent_steps"]), name): row[name]
        for _, row in frame.iterrows()
        for name in frame.columns
        if name != "agent_steps" and not np.isnan(row[name])
    }
    assert found == by_hand(path)


def test_agents_of_a_log_without_names_are_numbers(tmp_path):
    path = make_run(tmp_path / "old", 0, names={})
    names = interplay.Run(path).metrics.frame().columns
    assert {"score", "score[0]", "score[1]"} <= set(names)


def test_teams_have_names_where_a_metric_is_of_teams(tmp_path):
    own = {"agent_names": ["a", "b", "c", "d"], "team_names": ["red", "blue"]}
    run = make_run(tmp_path / "a", 0, names=own)
    names = set(interplay.Run(run).metrics.frame().columns)
    assert {"score[red]", "score[blue]"} <= names


def test_a_table_of_episodes_is_a_frame_and_short_to_read():
    table = interplay.evaluate("random", "dilemma/fixed", episodes=5, seed=3)
    frame = table.frame()
    assert len(frame) == 5
    assert frame["return[agent_1]"].tolist() == table["return"][:, 1].tolist()
    assert frame["steps"].tolist() == table["steps"].tolist()
    assert len(repr(table).splitlines()) == 1
    assert "array" not in repr(table)


def test_a_file_of_a_sweep_is_not_trained_as_one_run(tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    file.write_text('[world]\nid = "dilemma/fixed"\n[sweep]\nseeds = 2\n')
    code, _, errors = typed(capsys, "train", file)
    assert code == 2
    assert f"interplay sweep {file}" in errors
    assert len(errors.splitlines()) == 1
