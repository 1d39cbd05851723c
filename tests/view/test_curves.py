"""Learning curves: what is read from runs, how runs are joined, what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.view import curves
from interplay.view.curves import (
    Reference,
    choose_axis,
    plot_runs,
    published,
    split,
    thousands,
)
from interplay.view.run_log import read_run
from tests.view.figures import held
from tests.view.runs import read_log, write_log, write_run


def make_run(folder: Path, seed: int = 0, world: str = "survival/1v1-heals-low", lines: int = 40) -> Path:
    rng = np.random.default_rng(seed)
    rows = [
        {
            "agent_steps": 4096 * (i + 1),
            "episode_length": None if i == 0 else 500 + i + rng.normal(),
            "kills": [1.0, 2.0],
            "note": "text",
        }
        for i in range(lines)
    ]
    return write_run(folder, rows, seed, world=world)


def test_a_run_is_read_with_gaps_lists_and_without_a_torn_end(tmp_path):
    folder = make_run(tmp_path / "a", lines=3)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 999999, "episode_le')
    log = read_run(folder)
    assert (log.name, log.world) == ("a", "survival/1v1-heals-low")
    assert log.steps.tolist() == [4096, 8192, 12288]
    assert np.isnan(log.column("episode_length")).tolist() == [True, False, False]
    assert log.column("kills").tolist() == [1.5] * 3
    assert np.isnan(log.column("never logged")).all()
    assert "note" not in log.columns


@pytest.mark.parametrize(
    ("asked", "also", "told"),
    [
        ("steps = 1000000\n", '[train]\nmax_updates = "off"\n', "a ends at 163,840 of 1,000,000 agent-steps"),
        ("steps = 167936\n", "", "a ends at 163,840 of 167,936 agent-steps"),
        ("steps = 167935\n", "", ""),  # less than lies between two lines of the log
        ("steps = 160000\n", "", ""),
        ("steps = 1000000\n", "[train]\nmax_updates = 40\n", ""),
        ("", "", ""),
    ],
)
def test_a_run_that_ends_early_says_so(tmp_path, monkeypatch, asked, also, told):
    run, figures = make_run(tmp_path / "a"), held(monkeypatch, curves)
    settings = run / "settings.toml"
    settings.write_text(asked + settings.read_text() + also)
    plot_runs([run], tmp_path / "c.png")
    assert figures[0].get_supxlabel().split() == told.split()


@pytest.mark.parametrize(("last", "told"), [(100_000, curves.UNFINISHED), (160_000, "")])
def test_a_curve_that_ends_before_its_run_is_explained(tmp_path, monkeypatch, last, told):
    run, figures = make_run(tmp_path / "a"), held(monkeypatch, curves)
    rows = read_log(run)
    for number, row in enumerate(rows, 1):
        row |= {"episodes_began": last * number / len(rows), "of_episodes": ["episode_length"]}
    write_log(run, rows)
    plot_runs([run], tmp_path / "c.png", ["episode_length"])
    assert figures[0].get_supxlabel().split() == told.split()


def test_a_run_is_no_two_seeds(tmp_path):
    run = make_run(tmp_path / "a", seed=3)
    (tmp_path / "link").symlink_to(run)
    shutil.copytree(run, tmp_path / "copy")
    for twin in ("link", "copy"):
        with pytest.raises(
            UserError, match=f"{twin} and .*a are the same run, seed 3; leave one of them out"
        ):
            plot_runs([run, tmp_path / twin], tmp_path / "c.png")
    (run / "settings.toml").unlink()
    with pytest.raises(UserError, match="are the same run; leave one"):
        plot_runs([run, tmp_path / "link"], tmp_path / "c.png")


def test_beside_a_published_curve_every_slot_is_counted(tmp_path):
    world = "survival/1v1-heals-low"
    earlier, folder = read_run(make_run(tmp_path / "a", lines=2)), tmp_path / "b"
    folder.mkdir()
    (folder / "settings.toml").write_text(f'[world]\nid = "{world}"\n')
    (folder / "metrics.jsonl").write_text('{"agent_steps": 900, "slot_steps": 4096, "life": 1.0}\n')
    axis, logs = choose_axis([earlier, read_run(folder)], published(world))
    assert axis.startswith("steps of every slot")
    assert [log.steps.tolist() for log in logs] == [[4096, 8192], [4096]]
    axis, logs = choose_axis([read_run(folder)], [Reference("a level", "life", level=2.0)])
    assert (axis, logs[0].steps.tolist()) == ("agent-steps", [900])


def test_what_was_published_is_there_for_the_eight_variants():
    from interplay.worlds.survival.config import VARIANTS
    from interplay.worlds.survival.published import EPISODE_LENGTH

    assert set(EPISODE_LENGTH) == {f"survival/{name}" for name in VARIANTS}
    bars = published("survival/1v1-heals-low")
    assert bars[0].windows[2] == (3.5e6, 4.5e6, 1098.0)
    assert bars[1].level == 498.6
    assert published("corridor") == ()


def test_sides_have_their_published_figures():
    from interplay.worlds.survival.published import EPISODE_LENGTH

    found = {r.column: r.windows for r in published("survival/2v2-all-high")}
    assert found["team_kills[team 1]"] == ((3.5e6, 4.5e6, 0.199), (9e6, 1e7, 0.187))
    assert found["team_kills"][0][2] == pytest.approx((0.166 + 0.199) / 2)
    assert found["boxes_placed"][1] == (9e6, 1e7, 1.14)
    for world in EPISODE_LENGTH:
        columns = {r.column for r in published(world)}
        assert f"episode_return[{'team' if '2v2' in world else 'agent'} 0]" in columns
        assert ("boxes_placed" in columns) == ("-all-" in world)


def test_a_run_without_episodes_says_so(tmp_path):
    run = make_run(tmp_path / "a")
    (run / "metrics.jsonl").write_text('{"agent_steps": 1, "kl": 0.1}\n')
    with pytest.raises(UserError, match="no episodes"):
        plot_runs([run], tmp_path / "c.png")


def test_agent_steps_on_the_axis():
    assert [thousands(x, 0) for x in (0, 500, 2e5, 1.5e6)] == ["0", "500", "200 k", "1.5 M"]


@pytest.mark.parametrize("world", [r"$\\frac$", "a $x$ and $", "\\u0007" + "w" * 5000])
def test_names_out_of_files_are_words_and_no_formulas(tmp_path, world):
    pytest.importorskip("matplotlib")
    folder = make_run(tmp_path / "$\\frac$", world=world)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"agent_steps": 999999, "$\\\\frac$": 1}\n')
    assert plot_runs([folder], tmp_path / "a.png", ["episode_length", "$\\frac$"]).stat().st_size


def test_a_log_whose_lines_name_ever_new_columns_is_refused(tmp_path, monkeypatch):
    folder = make_run(tmp_path / "a", lines=1)
    with (folder / "metrics.jsonl").open("a") as file:
        file.writelines(f'{{"agent_steps": {5000 + i}, "column {i}": 1}}\n' for i in range(200))
    monkeypatch.setattr("interplay.view.run_log.memory_limit", lambda: 200_000)
    with pytest.raises(UserError, match="202 columns of 201 lines need 324,816 bytes"):
        read_run(folder)


def make_teams(folder: Path, world: str = "survival/2v2-all-low", kills: int = 2) -> Path:
    """A run with different agents: return i of agent i, kills 10 i of team or agent i."""
    rows = [
        {
            "agent_steps": 100 * i,
            "slot_steps": 300 * i,
            "time": 2.0 * i,
            "kills": 0.0,
            "by_agent": {"episode_return": [0.0, 1.0, 2.0, None], "kills": [10.0 * k for k in range(kills)]},
        }
        for i in range(1, 9)
    ]
    return write_run(folder, rows, world=world)


def test_agents_and_teams_have_curves_of_their_own(tmp_path):
    log = read_run(make_teams(tmp_path / "a"))
    (found,), parts = split([log], ["episode_return"], "agent")
    assert list(parts["episode_return"]) == ["agent 0", "agent 1", "agent 2", "agent 3"]
    assert found.column("episode_return[agent 2]").tolist() == [2.0] * 8
    assert np.isnan(found.column("episode_return[agent 3]")).all()
    (found,), parts = split([log], ["episode_return", "kills", "time"], "team")
    assert list(parts["kills"]) == ["team 0", "team 1"]
    assert parts["time"] == {"": ""}  # of all together
    assert found.column("episode_return[team 0]")[0] == 0.5
    assert found.column("episode_return[team 1]")[0] == 2.0  # of the one that is known
    assert found.column("kills[team 1]")[0] == 10.0  # the world counts kills by team
    plot_runs([tmp_path / "a"], tmp_path / "c.png", ["episode_return", "kills"], by="team", against="time")


@pytest.mark.parametrize("world", ["given/CartPole-v1", "my.module:World", ""])
def test_agents_of_a_world_of_ones_own_are_those_of_the_log(tmp_path, world):
    log = read_run(make_teams(tmp_path / "a", world))
    (found,), parts = split([log], ["kills"], "agent")
    assert list(parts["kills"]) == ["agent 0", "agent 1"]
    assert found.column("kills[agent 1]").tolist() == [10.0] * 8
    other = read_run(make_teams(tmp_path / "b", world, kills=3))
    with pytest.raises(UserError, match="kills has 3 agents, 2 before"):
        split([log, other], ["kills"], "agent")


def test_any_axis_may_be_chosen(tmp_path):
    log = read_run(make_teams(tmp_path / "a"))
    for against, first in (("agent_steps", 100), ("slot_steps", 300), ("time", 2)):
        axis, (moved,) = choose_axis([log], (), against)
        assert moved.steps[0] == first
    assert axis == "seconds of training"
