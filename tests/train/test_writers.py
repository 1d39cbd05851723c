"""Writers get what the log gets, each row once, and never stop a run."""

from __future__ import annotations

import csv
import errno
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest

from interplay.core.errors import MissingExtraError, UserError
from interplay.core.settings import build
from interplay.train.run.folder import RunFolder
from interplay.train.run.writers import WRITERS, Writers, check_writers
from interplay.train.settings import TrainGroup, TrainSettings

WORLD = {"id": "dilemma/fixed"}


def settings(*writers: str, **more: Any) -> TrainSettings:
    return build(TrainSettings, {"world": WORLD, "train": {"writers": list(writers)}, **more}, "test")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def scalars(folder: Path) -> Any:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    return accumulator.EventAccumulator(str(folder)).Reload()


# -- TensorBoard ------------------------------------------------------------------------------------------------


def test_tensorboard_has_numbers_agents_rates_and_hyper_parameters(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    writers = Writers(tmp_path, settings("tensorboard", ppo={"learning_rate": 0.5}))
    writers.write(
        64, {"loss": {"value": 0.5}, "kl": float("nan"), "name": "text", "by_agent": {"life": [1.0, 3.0]}}
    )
    writers.write(128, {"loss": {"value": 0.25}, "rates": {"learning_rate": 0.125}})
    writers.close()
    events = scalars(tmp_path / "tensorboard")
    names = {"loss/value", "by_agent/life/0", "by_agent/life/1", "rates/learning_rate"}
    assert names < set(events.Tags()["scalars"])
    assert not {"kl", "name"} & set(events.Tags()["scalars"])
    assert [(e.step, e.value) for e in events.Scalars("loss/value")] == [(64, 0.5), (128, 0.25)]
    assert [e.value for e in events.Scalars("rates/learning_rate")] == [0.5, 0.125]
    assert "_hparams_/session_start_info" in events.summary_metadata
    said = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    assert b"ppo.learning_rate" in said


def test_a_resumed_run_hides_the_events_that_it_writes_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    for first, steps in [(0, (64, 128, 192)), (129, (192, 256))]:
        writers = Writers(tmp_path, settings("tensorboard"), first)
        for step in steps:
            writers.write(step, {"x": 1.0 + first})
        writers.close()
    found = [(e.step, e.value) for e in scalars(tmp_path / "tensorboard").Scalars("x")]
    assert found == [(64, 1.0), (128, 1.0), (192, 130.0), (256, 130.0)]


def test_tensorboard_loads_no_torch_and_no_tensorflow(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    code = (
        "import sys; from interplay.train.run.writers import Writers; from interplay.train.settings import *; "
        "from interplay.train.settings import WorldChoice; from pathlib import Path; "
        "w = Writers(Path(sys.argv[1]), TrainSettings(world=WorldChoice(id='a'))); w.write(1, {'x': 1.0}); w.close(); "
        "print('torch' in sys.modules, 'tensorflow' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True) == "False False\n"
    assert list((tmp_path / "tensorboard").iterdir())


def test_auto_is_silent_without_tensorboard_and_a_name_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writers = Writers(tmp_path, settings("auto"))
        writers.write(64, {"x": 1.0})
        writers.close()
    assert list(tmp_path.iterdir()) == []
    check_writers(settings("auto", "csv"))
    for name in ("tensorboard", "wandb", "mlflow"):
        with pytest.raises(MissingExtraError, match=rf'pip install "interplay\[{name}\]"'):
            check_writers(settings(name))


def test_a_full_disk_ends_the_events_in_one_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboard")
    resource = pytest.importorskip("resource")
    writers = Writers(tmp_path, settings("tensorboard"), 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.warns(UserWarning, match=r"tensorboard is switched off .*File too large") as said:
            write_rows(writers, 9)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(said) == 1
    writers.close()
    assert "Traceback" not in capfd.readouterr().err


def write_rows(writers: Writers, count: int) -> None:
    for step in range(count):
        writers.write(step, {"x": 1.0, "a long name of a number": 1.0})


# -- CSV --------------------------------------------------------------------------------------------------------


def logged(run: RunFolder, steps: range, **more: float) -> None:
    for step in steps:
        run.log(step, {"x": float(step), **more})


def test_csv_takes_new_columns_and_holds_each_row_once_after_a_rewind(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "a", settings("csv")) as run:
        logged(run, range(1, 4))
        run.log(4, {"x": 4.0, "by_agent": {"life": [1, 2]}})
        logged(run, range(5, 7))
    with RunFolder.open(tmp_path / "a") as run:
        run.rewind(5)
        logged(run, range(6, 9))
    rows = rows_of(tmp_path / "a" / "metrics.csv")
    assert [row["agent_steps"] for row in rows] == [str(step) for step in range(1, 9)]
    assert [row["by_agent/life/1"] for row in rows] == ["", "", "", "2", "", "", "", ""]
    assert {row["rates/learning_rate"] for row in rows} == {"0.0003"}
    log = [
        json.loads(line)
        for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()
        if '"ending"' not in line
    ]
    assert [float(row["x"]) for row in rows] == [line["x"] for line in log]


def test_csv_keeps_the_constant_rates_of_earlier_rows(tmp_path: Path) -> None:
    def part(rate: float, first_step: int, rows: range, **more: float) -> None:
        writers = Writers(tmp_path, settings("csv", ppo={"learning_rate": rate}), first_step)
        for step in rows:
            with (tmp_path / "metrics.jsonl").open("a") as log:
                log.write(json.dumps({"agent_steps": step, "x": 1.0, **more}) + "\n")
            writers.write(step, {"agent_steps": step, "x": 1.0, **more})
        writers.close()

    part(0.5, 0, range(1, 3))
    part(0.25, 3, range(3, 5))
    part(0.125, 5, range(5, 7), y=2.0)
    rows = rows_of(tmp_path / "metrics.csv")
    assert [row["rates/learning_rate"] for row in rows] == ["0.5", "0.5", "0.25", "0.25", "0.125", "0.125"]
    (tmp_path / "metrics.csv").unlink()
    part(0.0625, 7, range(7, 9))
    rows = rows_of(tmp_path / "metrics.csv")  # what nobody wrote down is not known
    assert [row["rates/learning_rate"] for row in rows] == [""] * 6 + ["0.0625"] * 2


# -- those that cannot take rows back ---------------------------------------------------------------------------


class Kept:
    """A writer of a test: keeps rows beyond the life of a process, as a server does."""

    rows: ClassVar[list[int]] = []

    def __init__(self, context: Any) -> None:
        self.handed = context.handed

    def write(self, agent_steps: int, numbers: Any) -> None:
        if agent_steps > self.handed:
            self.rows.append(agent_steps)

    def close(self) -> None:
        """Nothing is open."""


def test_rows_that_were_handed_over_are_not_again_however_often_a_run_is_rewound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interplay.train.run.writers._class_of", lambda name: Kept)
    monkeypatch.setattr(Kept, "rows", [])
    with RunFolder.create(tmp_path / "a", settings("wandb")) as run:
        logged(run, range(1, 9))
    for last in (4, 10):  # killed once more before it was where it had been
        with RunFolder.open(tmp_path / "a") as run:
            run.rewind(2)
            logged(run, range(3, last))
    with RunFolder.open(tmp_path / "a") as run:
        run.rewind(9)
        logged(run, range(10, 12))
    assert Kept.rows == list(range(1, 12))


def test_a_writer_that_fails_is_told_once_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self, context: Any) -> None:
            pass

        def write(self, agent_steps: int, numbers: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            raise AssertionError("it was given up")

    from interplay.train.run.writers import table

    monkeypatch.setattr(
        "interplay.train.run.writers._class_of", lambda name: Broken if name == "wandb" else table.CsvWriter
    )
    with (
        pytest.warns(UserWarning, match=r"wandb is switched off for this run: .*No space") as said,
        RunFolder.create(tmp_path / "a", settings("wandb", "csv")) as run,
    ):
        logged(run, range(1, 4))
    assert len(said) == 1
    assert len(rows_of(tmp_path / "a" / "metrics.csv")) == 3


def test_a_writer_that_cannot_begin_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "tensorboard").write_text("a file")
    with pytest.warns(UserWarning, match="tensorboard is switched off"):
        Writers(tmp_path, settings("tensorboard"))


def test_writers_are_chosen_by_names_that_exist() -> None:
    with pytest.raises(UserError, match=r"train\.writers.* is not allowed"):
        settings("tensorbord")
    described = TrainGroup.model_fields["writers"].annotation
    assert all(name in str(described) for name in WRITERS)
