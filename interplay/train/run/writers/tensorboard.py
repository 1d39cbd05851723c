"""Writes metrics as TensorBoard events.

It uses tensorboard's records, since tensorboardX loads torch, and writes them directly, since tensorboard's thread ends in a
traceback when the disk is full.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.summary.writer.event_file_writer import RecordWriter

from interplay.train.run.writers import Context

FOLDER = "tensorboard"
_NUMBER = itertools.count()  # of event files of this process


class TensorBoardWriter:
    """Writes scalars, and the settings as hyper-parameters; rewritten rows hide the earlier ones."""

    def __init__(self, context: Context) -> None:
        self._file = _EventFile(context.run / FOLDER)
        self._file.add_event(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if context.first_step:
            start = SessionLog(status=SessionLog.START)
            self._file.add_event(Event(wall_time=time.time(), step=context.first_step, session_log=start))
            return
        values = {
            key: value if isinstance(value, bool | int | float | str) else str(value)
            for key, value in context.settings.items()
        }
        summary = hparams_pb(values, trial_id=context.run.name, start_time_secs=time.time())
        # tensorboard has two classes of this message; convert to the writer's.
        self._file.add_event(
            Event(wall_time=time.time(), summary=Summary.FromString(summary.SerializeToString()))
        )

    def write(self, agent_steps: int, numbers: Mapping[str, float]) -> None:
        """Writes one event with all numbers."""
        scalars = [Summary.Value(tag=name, simple_value=value) for name, value in numbers.items()]
        self._file.add_event(
            Event(wall_time=time.time(), step=int(agent_steps), summary=Summary(value=scalars))
        )

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class _EventFile:
    """A new file of events; each event is written before the call returns."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBER)}"
        self._file = open(folder / name, "xb", buffering=0)  # noqa: SIM115 - closed by `close`
        self._records = RecordWriter(self)

    def add_event(self, event: Any) -> None:
        self._records.write(event.SerializeToString())

    def write(self, data: bytes) -> None:
        """Writes all bytes; a raw file may accept fewer per call."""
        while data:
            data = data[self._file.write(data) :]

    def close(self) -> None:
        self._file.close()
