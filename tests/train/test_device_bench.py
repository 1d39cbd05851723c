"""The benchmark of a card: what it measures and checks, and that all of it runs on a second device of the processor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import device, device_runs


def test_rates_are_medians_after_the_first_three_updates(tmp_path: Path) -> None:
    times = [60.0, 61.0, 62.0, 64.0, 65.0, 69.0]  # the last three updates take 2, 1 and 4 seconds
    shares = [0.9, 0.9, 0.9, 0.2, 0.4, 0.1]
    lines = [
        {"agent_steps": 100 * (at + 1), "time": time, "time_share": {"acting": share}}
        for at, (time, share) in enumerate(zip(times, shares, strict=True))
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert device_runs.measure(tmp_path) == {
        "agent_steps_s": 50.0,
        "updates": 6,
        "first_update_s": 60.0,
        "time_share": {"acting": 0.2},
    }


@pytest.mark.parametrize(
    ("mlp", "gru", "failed"), [(1.0e6, 0.5e6, []), (0.9e6, 0.5e6, ["mlp, 4 epochs"]), (1.0e6, 0.4e6, ["gru"])]
)
def test_a_rate_under_its_bar_fails(mlp: float, gru: float, failed: list[str]) -> None:
    emitted: list[dict[str, Any]] = []
    bench = SimpleNamespace(
        check=lambda good: "pass" if good else "FAIL", emit=lambda **figures: emitted.append(figures)
    )
    found: list[dict[str, Any]] = [
        {"network": "mlp", "worlds": 2048, "epochs": 4, "error": "it did not end"},
        {"network": "mlp", "worlds": 4096, "epochs": 4, "agent_steps_s": mlp},
        {"network": "mlp", "worlds": 4096, "epochs": 1, "agent_steps_s": 2e6},
        {"network": "attention", "worlds": 2048, "epochs": 4, "agent_steps_s": 2e5},
        {"network": "gru", "worlds": 4096, "epochs": 4, "agent_steps_s": gru},
        {"world": "mmo/combat", "agent_steps_s": 2e5},
    ]
    device_runs.check_bars(bench, found)
    assert [line["best"] for line in emitted if line["check"] == "FAIL"] == failed
    assert len(emitted) == 5


def test_the_benchmark_runs_on_the_host(tmp_path: Path) -> None:
    out = tmp_path / "device.jsonl"
    asked = [sys.executable, "-m", "bench.device", "--host", "--out", str(out)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["part"] for line in lines} == set(device.PARTS) - {*device.CUDA_ONLY, "yardstick"}
    checks = [line["check"] for line in lines if "check" in line]
    assert len(checks) > 12
    assert set(checks) == {"pass"}
