"""Numbers that change over a run: their shapes, what is refused, and that the learner goes by them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.settings import build
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.schedules import read_schedule
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from interplay.train.update import Worker
from tests.train.runs import short_run
from tests.train.toy_worlds import make_corridor


@pytest.mark.parametrize(
    ("rate", "shares"),
    [
        (0.25, {0.0: 0.25, 0.4: 0.25, 1.0: 0.25}),
        ("linear 4 0", {0.0: 4, 0.25: 3, 1.0: 0}),
        ("cosine 4 2", {0.0: 4, 1 / 3: 3.5, 0.5: 3, 1.0: 2}),
        ("linear 4 0 warmup 0.5", {0.0: 0, 0.25: 2, 0.5: 4, 0.75: 2, 1.0: 0}),
        ("cosine 0 4", {0.0: 0, 0.25: 2 - math.sqrt(2), 0.5: 2, 1.0: 4}),
        ("cosine 4 0 warmup 0.5", {0.25: 2, 0.5: 4, 0.75: 2, 0.875: 2 - math.sqrt(2)}),
        ([[0.0, 0.0], [0.1, 1.0], [1.0, 0.1]], {0.0: 0, 0.05: 0.5, 0.1: 1, 0.55: 0.55, 1.0: 0.1}),
        ([[0.5, 1.0], [0.75, 3.0]], {0.0: 1, 0.625: 2, 0.9: 3}),
    ],
)
def test_shapes_by_hand(rate: Any, shares: dict[float, float]) -> None:
    schedule = read_schedule(rate)
    assert {share: schedule.at(share) for share in shares} == pytest.approx(shares)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 0.99),
    st.floats(0, 1),
    st.sampled_from(["linear", "cosine"]),
)
def test_a_schedule_never_leaves_its_ends(
    a: float, b: float, warmup: float, share: float, shape: str
) -> None:
    number = read_schedule(f"{shape} {a!r} {b!r} warmup {warmup!r}").at(share)
    assert min(a, b, 0.0 if warmup else a) - 1e-9 <= number <= max(a, b) + 1e-9


def worker_of(**ppo: Any) -> Worker:
    values = {
        "world": {"id": "corridor"}, "num_worlds": 8, "steps": 4 * 8 * 2 * 16, "train": {"shards": 2},
        "population": {"by": "name", "groups": {"left": ["walker_0"], "right": ["walker_1"]}},
        "ppo": {"rollout": 16, "minibatch": 10**6, "epochs": 1, "target_kl": "off", **ppo},
        "network": {"kind": "mlp", "hidden": [8]},
    }  # fmt: skip
    settings = build(TrainSettings, values, "test")
    return Worker(
        settings, make_corridor, make_learner(settings, make_corridor, begins=True), SingleProcess()
    )


def test_the_learner_goes_by_the_schedule_of_each_population() -> None:
    """Adam's first step is as long as the learning rate; at the end of the schedule nothing moves."""
    worker = worker_of(learning_rate=0.01, populations={"right": {"learning_rate": "linear 0.04 0"}})
    before = np.array(worker.learner.vectors["agent"])
    numbers = worker.update()
    after = np.array(worker.learner.vectors["agent"])
    steps = np.abs(after - before).max(axis=1)
    assert steps == pytest.approx([0.01, 0.04], rel=1e-3)
    assert numbers["rates"]["learning_rate[right]"] == 0.04
    assert set(numbers["rates"]) == {"learning_rate[left]", "learning_rate[right]"}
    shares = [worker.share]
    while worker.share < 1.0:
        numbers = worker.update()
        shares.append(worker.share)
        assert numbers["rates"]["learning_rate[right]"] == pytest.approx(0.04 * (1 - shares[-2]))
    last = np.array(worker.learner.vectors["agent"])
    numbers = worker.update()
    moved = np.abs(np.array(worker.learner.vectors["agent"]) - last).max(axis=1)
    assert moved[1] == 0.0 < moved[0]


def test_a_schedule_that_ends_where_it_began_is_logged_from_the_first_update() -> None:
    worker = worker_of(learning_rate=[[0.0, 0.01], [0.5, 0.02], [1.0, 0.01]])
    assert worker.update()["rates"] == {"learning_rate": 0.01}


def test_a_rate_that_one_population_alone_has_acts_on_that_one() -> None:
    without, only = (
        worker_of(entropy_coefficient=0.0),
        worker_of(entropy_coefficient=0.0, populations={"right": {"entropy_coefficient": 0.5}}),
    )
    for worker in (without, only):
        worker.update()
    left, right = np.array(without.learner.vectors["agent"]) == np.array(only.learner.vectors["agent"])
    assert left.all()
    assert not right.all()


def test_clip_and_entropy_follow_theirs() -> None:
    worker = worker_of(clip="linear 0.3 0.1", entropy_coefficient=[[0.0, 0.0], [1.0, 0.5]])
    told = [worker.update() for _ in range(3)]
    assert [t["rates"]["clip"] for t in told] == sorted((t["rates"]["clip"] for t in told), reverse=True)
    assert (told[0]["rates"]["clip"], told[0]["rates"]["entropy_coefficient"]) == (0.3, 0.0)
    assert told[0]["entropy"] > 0.1  # the logged entropy is the policy's


@pytest.mark.parametrize("limit", [{}, {"max_updates": 2}])
def test_more_steps_that_stretch_a_schedule_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: dict[str, int]
) -> None:
    """After two updates of 256 steps; a run by `train.max_updates` goes by its updates, so its rate stays."""
    settings = short_run(
        "dilemma/fixed",
        {"ppo": {"learning_rate": "linear 0.4 0", "rollout": 16}, "train": limit},
        num_worlds=8,
        steps=512,
    )
    run = train(settings, tmp_path / "run")
    done = latest_checkpoint(run)
    assert done is not None
    share = int(done.name) / (4 * 512)
    capsys.readouterr()
    resume(run, steps=4 * 512)
    line = f"steps = 2,048, not 512, stretches schedules: learning_rate 0 -> {0.4 * (1 - share):.3g};"
    assert (line in capsys.readouterr().err) == (not limit)
