"""The best checkpoint, by numbers alone: what a window's mean is, which of equal ones stays, and what the end of a run changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.train.run import best
from interplay.train.run.best import Best


def test_the_earliest_of_equal_windows_is_the_best() -> None:
    found = Best("life", 1, None)
    closed = []
    for updates, life in enumerate((5.0, 5.0, 4.0, 6.0), 1):
        found.add({"life": life, "lives": 1})
        closed.append(found.close(updates, 100 * updates))
    assert closed == [True, False, False, True]
    assert (found.value, found.agent_steps) == (6.0, 400)


def test_a_window_weighs_lives_and_knows_nothing_of_the_one_before() -> None:
    found = Best("life", 2, None)
    for updates, (life, lives) in enumerate(((10.0, 1), (40.0, 2), (20.0, 3), (60.0, 1)), 1):
        found.add({"life": life, "lives": lives})
        found.close(updates, updates)
        if updates == 2:
            assert found.value == 30.0
    assert (found.value, found.agent_steps) == (30.0, 2)  # the second is (60 + 60) / 4
    found.add({"life": 31.0, "lives": 1})
    assert (found.close(6, 6), found.value) == (True, 31.0)


@pytest.mark.parametrize(
    ("metric", "mean"),
    [
        ("life", 40 / 10),  # 9 lives against 1
        ("life[wolf]", 20 / 8),
        ("level", 40 / 10),
        ("win_vil", 10 / 4),  # 1 episode against 3
        ("entropy", 5.0),
    ],
)
def test_a_metric_weighs_what_it_is_a_mean_of(metric: str, mean: float) -> None:
    found = Best(metric, 2, None)
    for value, lives, wolves, episodes in ((30 / 9, 9, 6, 1), (10.0, 1, 2, 3)):
        own = {"life": value, "level": value, "life[wolf]": 10 / 6 if wolves == 6 else 5.0}
        told = {"win_vil": 4.0 if episodes == 1 else 2.0, "entropy": 0.0 if episodes == 1 else 10.0}
        counts = {
            "lives": lives,
            "lives[wolf]": wolves,
            "episodes": episodes,
            "of_episodes": ["win_vil", "life"],
        }
        found.add({**own, **told, **counts}, (), ("life", "level"))
    assert found.close(2, 100)
    assert found.value == pytest.approx(mean)


@pytest.mark.parametrize(("windows", "kept"), [(0, ["0300"]), (1, [])])
def test_the_end_of_a_run_is_its_best_only_where_no_window_was_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, windows: int, kept: list[str]
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(best, "keep_best", lambda path: copied.append(path.name))
    found = Best("life", 1, None)
    if windows:
        found.add({"life": 5.0, "lives": 1})
        assert found.close(1, 100)
    found.keep(tmp_path / "0300", ends=True)
    assert copied == kept
