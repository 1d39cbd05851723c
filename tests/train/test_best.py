"""The best checkpoint, by numbers alone: what a window's mean is, which of equal ones stays, and what the end of a run changes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.evaluate.last import count_last, last_of
from interplay.train.run import best
from interplay.train.run.best import Best


def test_the_earliest_of_equal_windows_is_the_best() -> None:
    found = Best("life", 1, None)
    closed = []
    for updates, life in enumerate((5.0, 5.0, 4.0, 6.0), 1):
        found.add({"life": life, "lives": 1})
        closed.append(found.close(100 * updates))
    assert closed == [True, False, False, True]
    assert (found.value, found.agent_steps) == (6.0, 400)


def test_a_window_weighs_lives_and_knows_nothing_of_the_one_before() -> None:
    found = Best("life", 2, None)
    for updates, (life, lives) in enumerate(((10.0, 1), (40.0, 2), (20.0, 3), (60.0, 1)), 1):
        found.add({"life": life, "lives": lives})
        found.close(updates)
        if updates == 2:
            assert found.value == 30.0
    assert (found.value, found.agent_steps) == (30.0, 2)  # the second is (60 + 60) / 4
    for updates, (life, lives) in enumerate(((31.0, 1), (34.0, 2)), 5):
        found.add({"life": life, "lives": lives})
        assert found.close(updates) == (updates == 6)
    assert found.value == 33.0


def test_a_stage_begins_with_an_empty_window_and_any_of_its_means_is_the_best() -> None:
    found, closed = Best("life", 2, None), []
    for updates, life in enumerate((9.0, 9.0, 8.0, 1.0, 3.0), 1):
        if updates == 4:
            found.begin_stage()
            assert found.describe()["best"]["value"] is None
        found.add({"life": life, "lives": 1})
        closed.append(found.close(100 * updates))
    assert closed == [False, True, False, False, True]
    assert (found.value, found.agent_steps) == (2.0, 500)


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
    assert found.close(100)
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
        assert found.close(100)
    found.keep(tmp_path / "0300", ends=True)
    assert copied == kept
    found.agent_steps = 400
    for there, again in ((None, ["0400"]), (300, ["0400"]), (400, [])):  # a copy that is lost, or another one
        monkeypatch.setattr(best, "_steps_of", lambda _, there=there: there)
        copied.clear()
        found.keep(tmp_path / "0400")
        found.keep(tmp_path / "0500")
        assert copied == again


def test_a_window_is_what_the_last_value_would_be_if_the_run_ended_there() -> None:
    """A metric in every third update, over other numbers of episodes; windows of a tenth, at least five."""
    rng, found = np.random.default_rng(3), Best("score", None, None)
    values, cases, closed = [], [], []
    for update in range(1, 400):
        numbers = {"episodes": 0, "kl": 0.1}
        if update % 3 == 0:
            values.append(float(rng.normal(update, 1)))
            cases.append(int(rng.integers(1, 20)))
            numbers = {"episodes": cases[-1], "score": values[-1], "of_episodes": ["score"]}
        found.add(numbers, ["score"])
        if found.close(update):
            closed.append(len(values))
            assert found.value == pytest.approx(last_of(np.array(values), np.array(cases)).value)
    assert closed[:3] == [5, 10, 15]
    assert closed[-1] - closed[-2] == count_last(closed[-1])


def test_a_run_that_goes_on_counts_its_windows_as_without_the_stop(tmp_path: Path) -> None:
    straight, stopped = Best("life", 3, None), Best("life", 3, None)
    for update in range(1, 12):
        for one in (straight, stopped):
            one.add({"life": float(update % 4), "lives": update} if update % 2 else {"lives": 0}, ["life"])
            one.close(update)
        (tmp_path / best.BEST).mkdir(exist_ok=True)
        kept = SimpleNamespace(record=stopped.describe(), path=tmp_path / "0001", agent_steps=1)
        stopped = Best("life", 3, kept)
        assert stopped.describe() == straight.describe()
    assert stopped.agent_steps is not None
    (tmp_path / best.BEST).rmdir()  # without its checkpoint the value is of no use
    assert Best("life", 3, kept).describe()["best"] == straight.describe()["best"] | {
        "value": None,
        "agent_steps": None,
    }
