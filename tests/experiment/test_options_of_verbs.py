"""Options of visualize and analyze reach their targets; policies and stage are stubs, so nothing is trained or drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.cli import analyze, visualize
from interplay.experiment import files, verbs
from interplay.view import managed
from tests.experiment.corridors import changed, params

RIGHT = 2


@pytest.fixture
def told(monkeypatch) -> SimpleNamespace:
    """What the policies and the stage were asked for, and where everybody stood in each picture."""
    said = SimpleNamespace(trained=[], staged=[], shown=[], saved=[])

    def trained(experiment, path, *asked):
        said.trained.append((path, *asked))
        agents = ("agent0", "agent1", "agent2")
        return SimpleNamespace(
            agents=agents, policy_of=lambda agent: "all", compute_action=lambda *_, **__: RIGHT
        )

    class Stage:
        def __init__(self, title, frame_delay, record, show):
            said.staged.append((title, frame_delay, record, show))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def save(self, path, moments):
            said.saved.append(path)
            said.shown.append([places(manager) for manager in moments])
            return path

        def look(self, manager):
            said.shown.append(places(manager))

    monkeypatch.setattr(verbs, "trained", trained)
    monkeypatch.setattr(files, "choose_checkpoint", lambda folder, number: Path(folder) / str(number))
    monkeypatch.setattr(managed, "Stage", Stage)
    return said


def places(manager: Any) -> list[int]:
    return [agent.position for agent in manager.agents.values()]


def test_what_visualize_is_told_arrives(told):
    written = visualize(
        params(), "run", 7, episodes=2, record=True, frame_delay=50, explore=True, seed=4, trust=True
    )
    assert told.trained == [(Path("run/7"), True, 4, True)]
    assert told.staged == [("Two", 50, True, True)]
    assert written == told.saved == [Path("run/Episode_0.gif"), Path("run/Episode_1.gif")]
    visualize(params(), "run", record_only=True)
    assert told.trained[1:] == [(Path("run/None"), False, None, False)]
    assert told.staged[1:] == [("Two", 200, True, False)]


def test_each_episode_has_the_next_seed_and_whole_steps(told):
    visualize(params(), "run", record_only=True, episodes=4, steps_per_episode=5, seed=4)
    for i, episode in enumerate(told.shown[:4]):
        visualize(params(), "run", record_only=True, steps_per_episode=5, seed=4 + i)
        assert told.shown[-1] == episode
        assert len(episode) == 1 + 5  # the beginning, and each step
    assert len({tuple(episode[0]) for episode in told.shown[:4]}) > 1


def test_what_is_not_recorded_is_looked_at(told):
    assert visualize(params(), "run", episodes=2, steps_per_episode=3, seed=1) == []
    assert told.staged == [("Two", 200, False, True)]
    assert len(told.shown) == 2 * (1 + 3)
    assert told.saved == []


def test_what_analyze_is_told_arrives(told):
    given = changed(params(), "ray_tune.config.horizon", 9)

    def starts(manager: Any, trainer: Any) -> Any:
        assert manager.time_limit == 9
        manager.reset()
        return places(manager)

    found = [analyze(given, "run", starts, checkpoint=7, seed=seed, trust=True) for seed in (1, 2, 1, 3)]
    assert found[0] == found[2]
    assert len({tuple(start) for start in found}) > 1
    assert told.trained[0] == (Path("run/7"), False, 1, True)


@pytest.mark.parametrize("read", [files.load_experiment, files.load_script], ids=["experiment", "script"])
def test_what_lies_beside_a_file_hides_no_installed_module(tmp_path, monkeypatch, read):
    """A `colorsys.py` of the user's own is for no package that means Python's; unknown names are found."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('the file beside it was imported')")
    (tmp_path / "nobody_has_this_name.py").write_text("from tests.experiment.corridors import params as make")
    path = tmp_path / "mine.py"
    path.write_text(
        "import colorsys\nfrom nobody_has_this_name import make\nparams = make()\n\n\ndef run(sim, trainer): ...\n"
    )
    assert read(path) is not None
    assert "colorsys" in sys.modules
    monkeypatch.delitem(sys.modules, "colorsys")
    monkeypatch.delitem(sys.modules, "nobody_has_this_name")
