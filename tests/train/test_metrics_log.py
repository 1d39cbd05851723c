"""Every line of the log is JSON, whole, and there to stay."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from interplay.core import files
from interplay.core.errors import UserError
from interplay.train.run.metrics_log import MetricsLog, TensorBoardLog, flat, plain


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
    def hook(name: str) -> None:
        if name == "metrics: line":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with MetricsLog(tmp_path / "m") as log:
        files.hooks.append(hook)
        try:
            with pytest.raises(
                UserError, match="the disk is full; earlier lines are intact; free some space"
            ):
                log.write(64, {})
        finally:
            files.hooks.clear()


def test_flat_joins_names() -> None:
    assert flat({"a": 1, "b": {"c": 2, "d": {"e": 3}}}) == {"a": 1, "b/c": 2, "b/d/e": 3}


def test_tensorboard_events_hold_the_numbers(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log = TensorBoardLog(tmp_path)
    assert log.active
    log.write(64, {"loss": {"value": 0.5}, "kl": float("nan"), "name": "text"})
    log.write(128, {"loss": {"value": 0.25}})
    log.close()
    events = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert events.Tags()["scalars"] == ["loss/value"]
    assert [(e.step, e.value) for e in events.Scalars("loss/value")] == [(64, 0.5), (128, 0.25)]


def test_a_resumed_run_hides_the_events_that_it_writes_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for first, steps in [(0, (64, 128, 192)), (129, (192, 256))]:
        log = TensorBoardLog(tmp_path, first)
        for step in steps:
            log.write(step, {"x": 1.0 + first})
        log.close()
    events = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [(e.step, e.value) for e in events.Scalars("x")] == [
        (64, 1.0),
        (128, 1.0),
        (192, 130.0),
        (256, 130.0),
    ]


def test_a_failing_writer_is_said_once_and_stops_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    log = TensorBoardLog(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log._writer.add_event = fail
    with pytest.warns(UserWarning, match=r"TensorBoard events are switched off for this run: .*No space"):
        log.write(64, {"x": 1.0})
    assert not log.active
    log.write(128, {"x": 1.0})
    log.close()


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="switched off"):
        log = TensorBoardLog(tmp_path / "file" / "below")
    assert not log.active


def test_tensorboard_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from interplay.train.run.metrics_log import TensorBoardLog; log = TensorBoardLog(sys.argv[1]); "
        "log.write(1, {'x': 1.0}); log.close(); print('torch' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True) == "False\n"


def test_without_tensorboard_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    log = TensorBoardLog(tmp_path)
    log.write(64, {"x": 1.0})
    log.close()
    assert not log.active
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_the_events_in_one_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboard")
    resource = pytest.importorskip("resource")
    log = TensorBoardLog(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        log.write(0, {"x": 1.0})  # fits
        with pytest.warns(UserWarning, match=r"switched off for this run: .*File too large"):
            log.write(1, {"x": 1.0, "a long name of a number": 1.0})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not log.active
    log.close()
    assert "Traceback" not in capfd.readouterr().err  # of a thread
