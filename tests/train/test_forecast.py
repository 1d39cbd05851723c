"""The forecast of a run's costs: hand-worked numbers, and those that the run itself logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.cli.main import run
from interplay.train.forecast import WARM, Costs, measure
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.trainer import train
from tests.train.runs import log_of, short_run


def test_more_machines_share_the_work_and_exchange_in_each_gradient_step() -> None:
    one = Costs(2.0, 1000.0, 10.0, 1_000_000, 0, 5)
    # An exchange of four is two rounds, each 0.6 ms and 4 MB at 1.25 GB/s; ten of them.
    four = 2.0 / 4 + 10 * 2 * (0.0006 + 0.0032)
    assert one.on(1) == one
    assert one.on(4).update == pytest.approx(four)
    assert one.on(4).rate == pytest.approx(1000 / four)
    assert one.received(4) == pytest.approx(10 * 2 * 4e6 / four)


def test_a_trial_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    settings = short_run("survival/1v1-heals-low", {"ppo": {"rollout": 8, "minibatch": 64, "epochs": 3}}, {})
    costs = measure(settings, seconds=0.0)
    assert costs.updates == 2
    updates = WARM + costs.updates
    run = train(
        short_run("survival/1v1-heals-low", {"ppo": {"rollout": 8, "minibatch": 64, "epochs": 3}},
                  {"train": {"max_updates": updates, "quiet": True}, "record": {"every": 0}}),
        tmp_path / "run",
    )  # fmt: skip
    lines = log_of(run)[:updates]
    assert costs.agent_steps == (lines[3]["agent_steps"] - lines[1]["agent_steps"]) / 2
    assert costs.gradient_steps == (lines[2]["gradient_steps"] + lines[3]["gradient_steps"]) / 2
    saved = latest_checkpoint(run)
    assert saved is not None
    sizes = {file.name: file.stat().st_size for file in saved.iterdir()}
    assert abs(costs.checkpoint - sum(sizes.values())) < 200  # but for numbers as text
    weights = sizes["policy-pop0.safetensors"] / 4
    assert weights * 0.8 < costs.numbers < weights * 1.2


def test_the_printed_forecast_adds_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """100,000 agent-steps at 500 a second are 200 s; of two machines with two workers each, 114 s and 4 cores."""
    costs = Costs(2.0, 1000.0, 40.0, 500_000, 3_500_000, 7)
    monkeypatch.setattr("interplay.train.forecast.measure", lambda _settings: costs)
    run(["train", "dilemma/fixed", "--steps", "100000", "--workers", "2", "--nodes", "2", "--dry-run"])
    _, one, two, saved = capsys.readouterr().out.splitlines()
    assert one == "500 agent-steps/s; 100,000 take 3 min 20 s, 0.111 core-hours"
    seconds = 100 * (2.0 / 2 + 40 * (0.0006 + 0.0016))
    assert f"{1e5 / seconds:,.0f} agent-steps/s" in two
    assert f"{seconds * 4 / 3600:.3g} core-hours; each receives {80 / seconds * 100:,.1f} MB/s" in two
    assert "3.5 MB" in saved
    monkeypatch.setattr(
        "interplay.train.forecast.measure", lambda _settings: costs._replace(agent_steps=1e5 + 1)
    )
    run(["train", "dilemma/fixed", "--steps", "100000", "--workers", "2", "--dry-run"])
    assert "fewer num_worlds" in capsys.readouterr().out.splitlines()[1]
