"""Every line of the log is JSON, whole, and there to stay."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.run.metrics_log import MetricsLog, flat, last_step, plain
from tests.machines.write_points import failing


def lines(path: Path) -> list[dict]:
    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return [json.loads(line, parse_constant=no_constant) for line in path.read_text().splitlines()]


def test_lines_are_plain_json_and_appended(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with MetricsLog(path) as log:
        log.write(
            64,
            {
                "kl": np.float32("nan"),
                "best": float("-inf"),
                "n": np.int64(3),
                "per": np.array([1.5, np.inf]),
            },
        )
    with MetricsLog(path) as log:
        log.write(np.int64(128), {"loss": {"value": 0.5}, "done": np.bool_(True), "name": "ä\n"})
    assert lines(path) == [
        {"agent_steps": 64, "kl": None, "best": None, "n": 3, "per": [1.5, None]},
        {"agent_steps": 128, "loss": {"value": 0.5}, "done": True, "name": "ä\n"},
    ]


def test_lines_are_on_the_disk_at_once(tmp_path: Path) -> None:
    with MetricsLog(tmp_path / "m") as log:
        log.write(64, {})
        assert lines(tmp_path / "m") == [{"agent_steps": 64}]
        log.sync()


def test_jax_scalars_are_numbers() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert plain({"a": jnp.float32(0.5), "b": jnp.arange(2)}) == {"a": 0.5, "b": [0, 1]}


def test_a_line_that_the_system_cuts_short_is_taken_back(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "m"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with MetricsLog(path) as log:
        log.write(64, {"text": "x" * 60_000})
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(UserError, match=r"writing to .*m: file too large; earlier lines are intact"):
                log.write(128, {"text": "x" * 60_000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        log.write(192, {})
    assert [line["agent_steps"] for line in lines(path)] == [64, 192]


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    full = "the disk is full; earlier lines are intact"
    with MetricsLog(tmp_path / "m") as log, pytest.raises(UserError, match=full), failing("metrics: line"):
        log.write(64, {})


def test_flat_joins_names() -> None:
    assert flat({"a": 1, "b": {"c": 2, "d": {"e": 3}}}) == {"a": 1, "b/c": 2, "b/d/e": 3}


@pytest.mark.parametrize(
    ("text", "step"),
    [("", 0), ('{"agent_steps": 64}\n', 64), ('{"agent_steps": 64}\n{"agent_steps": 128}\n{"agent_st', 128)],
)
def test_the_last_whole_line_says_how_far_a_log_is(tmp_path: Path, text: str, step: int) -> None:
    (tmp_path / "m").write_text(text)
    assert last_step(tmp_path / "m") == step
    assert last_step(tmp_path / "none") == 0
