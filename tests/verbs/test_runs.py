"""A run in Python: metrics, tables, pictures, players, policies by their folder."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.train.run.checkpoint import list_checkpoints
from interplay.view.run_log import read_run
from tests.connect.toys import Line
from tests.train.runs import log_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "first"
    settings = {
        "network": {"kind": "mlp", "hidden": (8,)},
        "train": {"quiet": True},
        "ppo": {"rollout": 16, "epochs": 1},
    }
    return interplay.train("dilemma/fixed", folder, steps=400, num_worlds=4, workers=1, **settings)


def test_metrics_are_the_log_by_columns(run, tmp_path):
    lines, metrics = log_of(run.folder), run.metrics
    assert metrics["agent_steps"].tolist() == [line["agent_steps"] for line in lines]
    assert np.allclose(metrics["entropy"], [line["entropy"] for line in lines])
    assert np.isnan(metrics["episode_length"]).tolist() == [
        line.get("episode_length") is None for line in lines
    ]
    frame = metrics.frame()
    assert [name for name in frame.columns if "[agent_" not in name] == [
        name for name in metrics if "by_agent" not in name
    ]
    assert len(frame) == len(lines)
    (tmp_path / "settings.toml").write_text('[world]\nid = "dilemma/fixed"\n')
    lines = [json.dumps({"agent_steps": 100 + i, "entropy": i / 8}) for i in range(13)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    shown = interplay.Run(tmp_path).metrics._repr_html_()
    cells = [float(text) for text in re.findall(r"<td[^>]*>([^<]*)</td>", shown)]
    assert cells == [number for i in range(3, 13) for number in (100 + i, i / 8)]


def test_metrics_of_agents_are_no_mean_of_them(tmp_path):
    (tmp_path / "settings.toml").write_text('[world]\nid = "dilemma/fixed"\n')
    lines = [{"agent_steps": i, "by_agent": {"score": [i, -i]}} for i in (1, 2)]
    lines[0]["agent_names"] = ["agent_0", "agent_1"]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    metrics = interplay.Run(tmp_path).metrics
    assert metrics["by_agent[score]"].tolist() == [[1, -1], [2, -2]]
    assert list(metrics.frame().columns) == ["agent_steps", "score[agent_0]", "score[agent_1]"]
    assert metrics.frame()["score[agent_1]"].tolist() == [-1, -2]
    assert list(read_run(tmp_path).columns) == []
    with pytest.raises(UserError, match=r"no column 'agent_step'; did you mean 'agent_steps'\?$"):
        metrics["agent_step"]
    assert "agent_step" not in metrics
    assert metrics.get("agent_step") is None


def test_a_run_is_opened_anew_by_its_folder(run, tmp_path):
    again = interplay.Run(str(run.folder))
    assert again.settings == run.settings
    assert run.settings.world.id in again._repr_html_()
    with pytest.raises(UserError, match="holds no run"):
        interplay.Run(tmp_path)


def test_a_run_of_a_relative_path_stays_open_in_another_working_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(run.folder.parent)
    again = interplay.Run(run.folder.name)
    monkeypatch.chdir(tmp_path)
    assert again.settings == run.settings
    assert again.metrics["agent_steps"].tolist() == run.metrics["agent_steps"].tolist()
    assert again.policy().name == run.policy().name


def test_run_folder_and_policy_are_the_same_player(run):
    by_run = run.evaluate(episodes=6, seed=2)
    by_folder = interplay.evaluate(run.folder, episodes=6, seed=2)
    by_policy = interplay.evaluate(run.policy(), episodes=6, seed=2)
    named = interplay.make_policy("dilemma/fixed", str(run.folder))
    world = interplay.make_world("dilemma/fixed", num_worlds=6, seed=2)
    direct = play(world, named, episodes=6, seed=2)
    for table in (by_folder, by_policy, direct):
        assert np.array_equal(table["return"], by_run["return"])
    assert "episodes" in by_run._repr_html_()
    assert not np.array_equal(run.evaluate(episodes=6, seed=3)["return"], by_run["return"])


def test_a_policy_that_was_made_already_takes_no_further_wishes(run):
    with pytest.raises(UserError, match="greedy"):
        interplay.evaluate(run.policy(), episodes=1, greedy=True)
    assert len(interplay.evaluate(RandomPolicy(), "dilemma/fixed", {"rounds": 3}, episodes=2)) == 2


def test_pictures_and_videos_are_shown_inside_the_page(run, tmp_path):
    picture = run.curves()
    assert picture.path == run.folder / "curves.png"
    shown = picture._repr_html_()
    assert base64.b64decode(shown.split("base64,")[1].split('"')[0]) == picture.path.read_bytes()
    video = run.record(tmp_path / "a & b.mp4", max_steps=5)
    assert video._repr_html_().startswith("<video")
    assert "video/mp4" in video._repr_html_()
    video.path.unlink()
    assert video._repr_html_() == str(video.path).replace("&", "&amp;")
    assert run.record(tmp_path / "a.png", max_steps=5).path.read_bytes()[:4] == b"\x89PNG"


def test_tables_escape_what_they_show():
    assert "<script>" not in html_table("<script>", ["<script>"], [["<script>"]])


def test_a_tournament_gives_its_standings(run, tmp_path):
    standings = interplay.tournament([run.folder, "tit_for_tat", "random"], matches=2)
    assert standings.names[1:] == ("tit_for_tat", "random")
    assert "Elo" in standings._repr_html_()
    kept = interplay.tournament(["tit_for_tat", "random"], "dilemma/fixed", matches=2, out=tmp_path / "cup")
    again = interplay.tournament([], out=tmp_path / "cup", resume=True)
    assert again.wins.tolist() == kept.wins.tolist()


def alone():
    """A world without an id."""
    return Line(num_worlds=1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run that has kept its beginning and two updates."""
    folder = tmp_path_factory.mktemp("runs") / "kept"
    settings = {
        "network": {"kind": "mlp", "hidden": (8,)},
        "train": {"quiet": True, "max_updates": 2, "keep_at": [0], "keep_every": 1, "keep_checkpoints": 1},
        "ppo": {"rollout": 16, "epochs": 1, "learning_rate": 0.1},
    }
    return interplay.train(alone, folder, steps=10**6, num_worlds=4, workers=1, **settings)


def test_every_checkpoint_is_evaluated_as_it_would_be_alone(kept, tmp_path):
    asked = {"episodes": 9, "num_worlds": 4, "seed": 5}
    found = kept.evaluate(at_checkpoints=True, out=tmp_path / "rows", **asked)
    checkpoints = list_checkpoints(kept.folder)
    assert found["agent_steps"].tolist() == [int(path.name) for path in checkpoints]
    assert found["updates"].tolist() == [0, 1, 2]
    tables = [interplay.evaluate(path, alone, **asked) for path in checkpoints]
    for name, column in (("episode_return", "return"), ("episode_length", "steps")):
        each = [table.summary()[column] for table in tables]
        assert found[name].tolist() == [one.mean for one in each]
        assert found[f"standard_error[{name}]"].tolist() == [one.standard_error for one in each]
    assert found["by_agent[episode_return]"].tolist() == [
        table["return"].mean(0).tolist() for table in tables
    ]
    assert len(set(found["episode_return"])) > 1
    assert len(found.frame()) == 3
    lines = (tmp_path / "rows" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["episode_return"] for line in lines] == found["episode_return"].tolist()


def test_one_table_has_no_folder(kept):
    with pytest.raises(
        UserError, match="out = 'rows': only rows of checkpoints are kept; add at_checkpoints"
    ):
        kept.evaluate(out="rows")
