"""Writers of a run's metrics beside ``metrics.jsonl``: TensorBoard, CSV, Weights & Biases, MLflow.

Each writer is one file here and one name in ``train.writers``. It gets every line after the log. A writer that fails is
switched off with one warning; training goes on.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from interplay.core.errors import MissingExtraError, one_line
from interplay.core.json_values import plain
from interplay.core.reading import read_text
from interplay.core.seals import canonical
from interplay.train.run.metrics_log import flat
from interplay.train.schedules import Schedules
from interplay.train.settings import TrainSettings

AUTO = "auto"
# Name -> required module, class; the extra has the writer's name.
WRITERS = {
    "tensorboard": ("tensorboard", "tensorboard:TensorBoardWriter"),
    "csv": ("", "table:CsvWriter"),
    "wandb": ("wandb", "wandb:WandbWriter"),
    "mlflow": ("mlflow", "mlflow:MlflowWriter"),
}
MARK = ".handed"  # file with the last agent-step that writers got before a run was rewound


class Context(NamedTuple):
    """The run, as passed to a writer.

    Attributes:
        run: its folder.
        settings: plain values by dotted key.
        world: the world's id.
        seed: of the run.
        first_step: rows from this agent-step on are written again, since the run was rewound; 0: none.
        handed: rows up to this agent-step were written before; append-only writers skip them.
    """

    run: Path
    settings: dict[str, Any]
    world: str
    seed: int
    first_step: int
    handed: int


class Writer(Protocol):
    """Takes a run's metrics; made with a `Context`."""

    def write(self, agent_steps: int, numbers: Mapping[str, float]) -> None:
        """Writes one row: column name -> finite number."""

    def close(self) -> None:
        """Called once, at the end of the process's part of the run."""


class Writers:
    """The writers of a run, each until it fails.

    Args:
        first_step: see `Context`.
    """

    def __init__(self, run: Path, settings: TrainSettings, first_step: int = 0) -> None:
        values = canonical(settings)
        context = Context(run, values, settings.world.id, settings.seed, first_step, handed_so_far(run))
        self._rates = _constant_rates(settings)
        self._open: dict[str, Writer] = {}
        for name in settings.train.writers:
            if name == AUTO:
                if importlib.util.find_spec("tensorboard") is None:
                    continue
                name = "tensorboard"
            try:
                self._open[name] = _class_of(name)(context)
            except Exception as error:
                _give_up(name, error)

    def write(self, agent_steps: int, values: Mapping[str, Any]) -> None:
        """Passes a line of the log to every writer."""
        if not self._open:
            return
        numbers = numbers_of({**values, "rates": {**self._rates, **values.get("rates", {})}})
        for name, writer in list(self._open.items()):
            try:
                writer.write(agent_steps, numbers)
            except Exception as error:
                del self._open[name]
                _give_up(name, error)

    def close(self) -> None:
        """Closes them all."""
        for name, writer in self._open.items():
            try:
                writer.close()
            except Exception as error:
                _give_up(name, error)
        self._open = {}


def check_writers(settings: TrainSettings) -> None:
    """Refuses writers with missing packages, before a run begins.

    Raises:
        MissingExtraError: naming the package and how to install it.
    """
    for name in settings.train.writers:
        needs = WRITERS[name][0] if name != AUTO else ""
        if needs and importlib.util.find_spec(needs) is None:
            raise MissingExtraError(
                f'train.writers: {name} needs {needs}; install it with pip install "interplay[{name}]"'
            )


def numbers_of(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a line of the log under flat names; per-agent ones as ``by_agent/kills/0``.

    Example:
        >>> numbers_of({"kl": 0.5, "by_agent": {"kills": [1.0, 3.0]}, "life": float("nan"), "note": "text"})
        {'kl': 0.5, 'by_agent/kills/0': 1.0, 'by_agent/kills/1': 3.0}
    """
    found: dict[str, float] = {}
    for name, value in flat(plain(values)).items():
        listed = enumerate(value) if isinstance(value, list) else ()
        cells = [(name, value), *((f"{name}/{i}", one) for i, one in listed)]
        found |= {key: +one for key, one in cells if isinstance(one, bool | int | float)}
    return found


def handed_so_far(run: Path) -> int:
    """The last agent-step that writers got before the run was rewound; 0: it never was."""
    try:
        return int(read_text(run / MARK, 64, links=False))
    except (OSError, ValueError):
        return 0


def remove_files(run: Path) -> None:
    """Removes files that this process's writers made; folders with other files stay."""
    with contextlib.suppress(OSError):
        (run / "metrics.csv").unlink()
    folder = run / "tensorboard"
    with contextlib.suppress(OSError):
        for file in folder.glob(f"events.out.tfevents.*.{os.getpid()}.*"):
            file.unlink()
        folder.rmdir()


def _constant_rates(settings: TrainSettings) -> dict[str, float]:
    """Constant learning rate, clip range and so on, which the log leaves out."""
    return {} if settings.own_group is None else Schedules(settings.own_group).at(0.0, "")


def _class_of(name: str) -> Any:
    module, _, attribute = WRITERS[name][1].partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)


def _give_up(name: str, error: Exception) -> None:
    reason = one_line(error) or type(error).__name__
    warnings.warn(f"train.writers: {name} is switched off for this run: {reason}", stacklevel=4)
