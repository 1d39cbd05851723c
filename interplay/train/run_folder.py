"""A run's folder: who may write into it, what it holds, and what a crash may have left torn.

``settings.toml`` (what was asked for), ``metrics.jsonl`` (what happened), ``checkpoints/`` (where to go on) and
``tensorboard/`` where that extra is installed. One process at a time writes into it; readers need no lock.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from interplay.core.errors import UserError
from interplay.core.files import FileLock, replace_file, sync_folder, told_plainly
from interplay.core.settings import Settings, from_toml, to_toml
from interplay.train.checkpoint import list_checkpoints, set_aside
from interplay.train.metrics_log import MetricsLog, TensorBoardLog
from interplay.train.settings import TrainSettings

S = TypeVar("S", bound=Settings)


class RunFolder(Generic[S]):
    """A run that this process may write to, until `close`.

    Attributes:
        path: the folder.
        settings: what ``settings.toml`` says.

    Example:
        >>> import tempfile
        >>> from interplay.train.settings import WorldChoice
        >>> asked = TrainSettings(world=WorldChoice(id="survival/1v1-heals-low"))
        >>> with RunFolder.create(Path(tempfile.mkdtemp()) / "first", asked) as run:
        ...     sorted(path.name for path in run.path.iterdir())
        ['.lock', 'checkpoints', 'settings.toml']
    """

    def __init__(self, path: Path, settings: S, lock: FileLock) -> None:
        self.path = path
        self.settings = settings
        self._lock = lock
        self._logs: tuple[MetricsLog, TensorBoardLog] | None = None
        self._first_step = 0
        self._made = False  # the folder was not there before

    @classmethod
    def create(cls, path: Path | str, settings: S) -> RunFolder[S]:
        """Makes the folder of a new run.

        Raises:
            UserError: if the folder already holds a run, another process is writing there, or it cannot be made.
        """
        path = Path(path)
        made = not path.exists()
        with told_plainly("creating the run folder", path):
            path.mkdir(parents=True, exist_ok=True)
        lock = _lock(path)
        try:
            _refuse_second_run(path)
            with told_plainly("creating the run folder", path):
                (path / "checkpoints").mkdir(exist_ok=True)
                replace_file(path / "settings.toml", to_toml(settings), "settings")
                sync_folder(path.parent)
        except BaseException:
            lock.release()
            raise
        run = cls(path, settings, lock)
        run._made = made
        return run

    @classmethod
    def open(cls, path: Path | str, model: type[S] = TrainSettings) -> RunFolder[S]:  # type: ignore[assignment]
        """Opens the folder of a run to go on with it; a torn last line of ``metrics.jsonl`` is cut off.

        Raises:
            UserError: if there is no run, its settings cannot be read, or another process is writing there.
        """
        path = Path(path)
        if not (path / "settings.toml").is_file():
            raise UserError(
                f"{path} holds no run: settings.toml is missing; start one with `interplay train WORLD --out {path}`"
            )
        lock = _lock(path)
        try:
            settings = from_toml(path / "settings.toml", model)
            run = cls(path, settings, lock)
            with told_plainly("mending", run.metrics_path):
                cut_torn_line(run.metrics_path)
        except BaseException:
            lock.release()
            raise
        return run

    def take_back(self) -> None:
        """Leaves the folder free for another run, if this one has nothing to show yet; one that it made is removed."""
        if list_checkpoints(self.path) or (self.metrics_path.exists() and self.metrics_path.stat().st_size):
            return
        self._close_logs()
        self.metrics_path.unlink(missing_ok=True)
        (self.path / "settings.toml").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # somebody else's files stay, and what they stand in
            (self.path / "checkpoints").rmdir()
            if self._made:
                (self.path / ".lock").unlink(missing_ok=True)
                self.path.rmdir()

    @property
    def metrics_path(self) -> Path:
        """The log of the run, one JSON object per line."""
        return self.path / "metrics.jsonl"

    @property
    def tensorboard_path(self) -> Path:
        """Where TensorBoard events go."""
        return self.path / "tensorboard"

    def log(self, agent_steps: int, values: Mapping[str, Any]) -> None:
        """Appends a line to ``metrics.jsonl`` and, where that extra is installed, to the TensorBoard events.

        Args:
            agent_steps: where the run stands.
            values: numbers, texts, lists or groups of them; NaN is written null.

        Raises:
            UserError: if the line cannot be written (a full disk); earlier lines are intact.
        """
        if self._logs is None:
            self._logs = (
                MetricsLog(self.metrics_path),
                TensorBoardLog(self.tensorboard_path, self._first_step),
            )
        for log in self._logs:
            log.write(agent_steps, values)

    def sync(self) -> None:
        """Makes the lines logged so far durable; called with each checkpoint."""
        if self._logs is not None:
            self._logs[0].sync()

    def change(self, settings: S) -> None:
        """Rewrites ``settings.toml``, e.g. for a resumed run that is to take more steps."""
        with told_plainly("writing", self.path / "settings.toml", "the old settings stand"):
            replace_file(self.path / "settings.toml", to_toml(settings), "settings")
        self.settings = settings

    def rewind(self, agent_steps: int) -> None:
        """Makes the run end at a checkpoint that it is about to go on from.

        Lines of ``metrics.jsonl`` logged after it are dropped, since they will be logged again; later checkpoints
        (damaged ones, or sound ones that the user does not want) are renamed to ``aside-*``.

        Args:
            agent_steps: of the checkpoint; 0 for a run that had none yet.
        """
        self._close_logs()
        self._first_step = agent_steps + 1
        with told_plainly("rewinding the run", self.path):
            for path in list_checkpoints(self.path):
                if int(path.name) > agent_steps:
                    set_aside(path)
            drop_lines_after(self.metrics_path, agent_steps)

    def close(self) -> None:
        """Closes the logs and lets other processes write into the folder."""
        self._close_logs()
        self._lock.release()

    def _close_logs(self) -> None:
        for log in self._logs or ():
            log.close()
        self._logs = None

    def __enter__(self) -> RunFolder[S]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_run_path(world_id: str, today: datetime.date, parent: Path | str = "runs") -> Path:
    """``runs/<world>-<date>-<n>`` with the first n whose folder does not exist yet.

    Example:
        >>> str(default_run_path("survival/1v1-heals-low", datetime.date(2025, 3, 1), "no-such-folder"))
        'no-such-folder/survival-1v1-heals-low-2025-03-01-1'
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "-", world_id).strip("-") or "run"
    number = 1
    while (path := Path(parent) / f"{stem}-{today.isoformat()}-{number}").exists():
        number += 1
    return path


def cut_torn_line(path: Path) -> None:
    """Cuts off a last line that a crash left unfinished; whole lines are never touched."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)


def drop_lines_after(path: Path, agent_steps: int) -> None:
    """Rewrites a log without the lines of more than so many agent-steps; the others keep their order and bytes."""
    if not path.exists():
        return
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if _steps_of(line) <= agent_steps]
    if len(kept) < len(lines):
        replace_file(path, b"".join(kept), "metrics")


def _steps_of(line: bytes) -> float:
    """The agent-steps of a logged line; lines that say none belong to the beginning."""
    try:
        steps = json.loads(line)["agent_steps"]
    except (ValueError, KeyError, TypeError):
        return 0
    return steps if isinstance(steps, int | float) else 0


def _lock(path: Path) -> FileLock:
    lock = FileLock(path / ".lock")
    with told_plainly("locking", lock.path):
        holder = lock.acquire()
    if holder is not None:
        raise UserError(
            f"{path} is in use by process {holder}; wait until it ends, stop it, or choose another --out"
        )
    return lock


def _refuse_second_run(path: Path) -> None:
    """A folder with settings, checkpoints or metrics holds a run already; say how far it got."""
    checkpoints = list_checkpoints(path)
    if not (checkpoints or (path / "settings.toml").exists() or (path / "metrics.jsonl").exists()):
        return
    steps = int(checkpoints[-1].name) if checkpoints else 0
    raise UserError(
        f"{path} already holds a run at {steps:,} agent-steps; resume it with `interplay resume {path}` "
        "or choose another --out"
    )
