"""A run's folder: ``settings.toml``, ``metrics.jsonl``, ``checkpoints/``, ``recordings/`` and the files of ``train.writers``.

One process at a time writes into it, under a lock; readers need none.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core.errors import Removed, UserError
from interplay.core.files import FileLock, os_errors_as_user_errors, refuse_links, replace_file, sync_folder
from interplay.core.seals import Sealed, read_sealed, sealed_toml
from interplay.core.trust import admit, write_settings
from interplay.train.run.checkpoint import BEST, Checkpoint, list_checkpoints, set_aside
from interplay.train.run.copies import MARK as COPY
from interplay.train.run.copies import Copies, admit_copies, trust_copies
from interplay.train.run.manifest import read_manifest
from interplay.train.run.metrics_log import (
    ENDING,
    METRICS_FILE,
    MetricsLog,
    cut_torn_line,
    drop_ending,
    drop_lines_after,
    has_ending,
    last_step,
)
from interplay.train.run.recording import remove_windows
from interplay.train.run.settings_file import departures, refuse_edits, settings_in
from interplay.train.run.writers import MARK, Writers, handed_so_far, remove_files
from interplay.train.settings import TrainSettings

_FILES, _FOLDERS = (
    (".lock", "settings.toml", METRICS_FILE, "metrics.csv", MARK, COPY),
    ("checkpoints", "recordings", "tensorboard", "wandb"),
)


class RunFolder:
    """A run folder locked by this process until `close`.

    Attributes:
        path: the folder.
        settings: of ``settings.toml``.

    Example:
        >>> import tempfile
        >>> from interplay.train.settings import WorldChoice
        >>> asked = TrainSettings(world=WorldChoice(id="survival/1v1-heals-low"))
        >>> with RunFolder.create(Path(tempfile.mkdtemp()) / "first", asked) as run:
        ...     sorted(path.name for path in run.path.iterdir())
        ['.lock', 'checkpoints', 'settings.toml']
    """

    def __init__(
        self, path: Path, settings: TrainSettings, lock: FileLock, sealed: Sealed | None = None
    ) -> None:
        self.path = path
        self.settings = settings
        self._lock = lock
        self._sealed = sealed or Sealed({}, "whole", ())
        self._logs: tuple[MetricsLog, Writers] | None = None
        self._copies: Copies | None = None
        self._first_step = 0
        self._made: list[Path] = []  # folders that `create` made, innermost first

    @classmethod
    def create(cls, path: Path | str, settings: TrainSettings) -> RunFolder:
        """Creates the folder of a new run.

        Raises:
            UserError: if the folder holds a run or links, another process writes there, or it cannot be created.
        """
        path = Path(path).absolute()
        made = [folder for folder in (path, *path.parents) if not folder.exists()]
        with os_errors_as_user_errors("creating the run folder", path):
            path.mkdir(parents=True, exist_ok=True)
        refuse_links(path, _FILES, _FOLDERS)
        lock = _lock(path)
        try:
            _refuse_second_run(path)
            with os_errors_as_user_errors("creating the run folder", path):
                (path / "checkpoints").mkdir(exist_ok=True)
                trust_copies(settings, path / "settings.toml")
                write_settings(path / "settings.toml", settings, sealed_toml(settings))
                sync_folder(path.parent)
        except BaseException:
            lock.release()
            raise
        run = cls(path, settings, lock)
        run._made = made
        return run

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Opens the folder of a run to resume it, and cuts off a torn last line of ``metrics.jsonl``.

        Call `admit` before using its settings.

        Raises:
            UserError: if there is no run, its settings cannot be read, another process writes there, or links lead out of
                the folder.
        """
        path = Path(path).absolute()
        refuse_links(path, _FILES, _FOLDERS)
        if not (path / "settings.toml").is_file():
            raise UserError(
                f"{path} holds no run: settings.toml is missing; start one with `interplay train WORLD --out {path}`"
            )
        lock = _lock(path)
        try:
            sealed = read_sealed(path / "settings.toml")
            settings = settings_in(sealed, path / "settings.toml")
            run = cls(path, settings, lock, sealed)
            with os_errors_as_user_errors("mending", run.metrics_path):
                cut_torn_line(run.metrics_path)
        except BaseException:
            lock.release()
            raise
        return run

    def take_back(self) -> None:
        """Removes this run's files if it has no checkpoint, and the folders that `create` made; not what replaced them."""
        self._close_logs()
        with contextlib.suppress(Removed):
            self.refuse_removed()
            self._take_back()

    def _take_back(self) -> None:
        if list_checkpoints(self.path):
            return
        remove_files(self.path)
        remove_windows(self.path)
        self.metrics_path.unlink(missing_ok=True)
        (self.path / "settings.toml").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # folders with other files stay
            (self.path / "checkpoints").rmdir()
            if self._made:
                (self.path / ".lock").unlink(missing_ok=True)
            for folder in self._made:
                folder.rmdir()

    def refuse_removed(self) -> None:
        """Refuses to go on without the folder.

        Raises:
            Removed: if it was removed, moved or replaced while this process wrote to it.
        """
        try:
            self._lock.refuse_removed()
        except Removed:
            raise Removed(
                f"{self.path} was removed or replaced while the run wrote to it; start it again"
            ) from None

    @property
    def metrics_path(self) -> Path:
        """The log of the run."""
        return self.path / METRICS_FILE

    def log(self, agent_steps: int, values: Mapping[str, Any]) -> None:
        """Appends a line to ``metrics.jsonl`` and passes it to the writers of ``train.writers``.

        Args:
            agent_steps: of the run so far.
            values: numbers, texts, lists or groups of them; NaN becomes null.

        Raises:
            Removed: as `refuse_removed`.
        """
        self.refuse_removed()
        if self._logs is None:
            self._logs = (
                MetricsLog(self.metrics_path),
                Writers(self.path, self.settings, self._first_step),
            )
        for log in self._logs:
            log.write(agent_steps, values)

    def log_ending(self, agent_steps: int, lines: Sequence[Mapping[str, Any]]) -> None:
        """Appends the lines of `play_out` to ``metrics.jsonl`` alone."""
        self.refuse_removed()
        with MetricsLog(self.metrics_path) as log:
            log.write_lines(agent_steps, [{**line, ENDING: True} for line in lines])
            log.sync()

    @property
    def has_ending(self) -> bool:
        """Whether the log has the lines of `play_out`."""
        with os_errors_as_user_errors("reading", self.metrics_path):
            return has_ending(self.metrics_path)

    def drop_ending(self) -> None:
        """Removes the lines of `play_out`, before the run goes on."""
        self._close_logs()
        with os_errors_as_user_errors("rewinding the run", self.path):
            drop_ending(self.metrics_path)

    def begin_copies(self) -> None:
        """Refuses an address of ``train.copy_to`` that cannot be used; from now on `sync` copies the run there."""
        if self.settings.train.copy_to is not None:
            self._copies = Copies(self.path, self.settings.train.copy_to)

    def sync(self) -> None:
        """Makes the logged lines durable, and copies the run; called with each checkpoint."""
        if self._logs is not None:
            self._logs[0].sync()
        if self._copies is not None:
            self._copies.update()

    def admit(
        self, checkpoint: Checkpoint | None, accept_settings: bool = False, trust: bool = False
    ) -> None:
        """Refuses ``settings.toml`` if it was changed since the checkpoint, or names untrusted programs.

        Args:
            checkpoint: to resume from; None: there is none yet.
            accept_settings: accept changes, for this run and its checkpoints so far.
            trust: the file may name programs, see `interplay.core.trust`.
        """
        file, edited = self.path / "settings.toml", ""
        if not accept_settings:
            manifest = checkpoint.manifest if checkpoint else None
            edited = refuse_edits(
                file, self._sealed, self.settings, manifest, checkpoint.path.name if checkpoint else ""
            )
        admit(self.settings, file, trust)
        admit_copies(self.settings, file, trust)
        if edited:
            print(f"going on with an edit of {edited}", file=sys.stderr, flush=True)
        if not accept_settings:
            return
        kept = dict.fromkeys((*self._sealed.departs, *departures(_manifests(self.path))))
        self._sealed = self._sealed._replace(seal="none", departs=tuple(kept))
        self.change(self.settings)

    def change(self, settings: TrainSettings) -> None:
        """Rewrites ``settings.toml`` if the settings differ, e.g. for a resumed run with more steps."""
        if settings == self.settings and self._sealed.seal == "whole":
            return
        with os_errors_as_user_errors("writing", self.path / "settings.toml", "the old settings stand"):
            text = sealed_toml(settings, self._sealed.departs)
            write_settings(self.path / "settings.toml", settings, text)
        self.settings, self._sealed = settings, self._sealed._replace(seal="whole")

    def rewind(self, agent_steps: int) -> None:
        """Rewinds the run to a checkpoint: later log lines are dropped, later checkpoints renamed to ``aside-*``.

        Args:
            agent_steps: of the checkpoint; 0: the beginning.
        """
        self._close_logs()
        self._first_step = agent_steps + 1
        with os_errors_as_user_errors("rewinding the run", self.path):
            handed = max(handed_so_far(self.path), last_step(self.metrics_path))
            if handed > agent_steps:  # before the lines are dropped, so that a kill in between loses nothing
                replace_file(self.path / MARK, f"{handed}\n", "mark")
            for path in list_checkpoints(self.path):
                if int(path.name) > agent_steps:
                    set_aside(path)
            drop_lines_after(self.metrics_path, agent_steps)

    def close(self) -> None:
        """Closes the logs, completes the copy and releases the lock."""
        self._close_logs()
        if self._copies is not None:
            self._copies.close()
        self._lock.release()

    def _close_logs(self) -> None:
        for log in self._logs or ():
            log.close()
        self._logs = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_run_path(world_id: str, today: datetime.date, parent: Path | str = "runs") -> Path:
    """``runs/<world>-<date>-<n>`` with the first free n.

    Example:
        >>> str(default_run_path("survival/1v1-heals-low", datetime.date(2025, 3, 1), "no-such-folder"))
        'no-such-folder/survival-1v1-heals-low-2025-03-01-1'
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "-", world_id).strip("-") or "run"
    number = 1
    while (path := Path(parent) / f"{stem}-{today.isoformat()}-{number}").exists():
        number += 1
    return path


def _manifests(run: Path) -> list[dict[str, Any]]:
    """Readable manifests of all checkpoints, including the best one."""
    found = []
    for path in (*list_checkpoints(run), run / "checkpoints" / BEST):
        with contextlib.suppress(UserError):
            found.append(read_manifest(path))
    return found


def _lock(path: Path) -> FileLock:
    lock = FileLock(path / ".lock")
    with os_errors_as_user_errors("locking", lock.path):
        holder = lock.acquire()
    if holder is not None:
        raise UserError(
            f"{path} is in use by process {holder}; wait until it ends, stop it, or choose another --out"
        )
    return lock


def _refuse_second_run(path: Path) -> None:
    """Refuses a folder with settings, checkpoints or metrics."""
    checkpoints = list_checkpoints(path)
    if not (checkpoints or any(os.path.lexists(path / name) for name in ("settings.toml", METRICS_FILE))):
        return
    steps = int(checkpoints[-1].name) if checkpoints else 0
    raise UserError(
        f"{path} already holds a run at {steps:,} agent-steps; resume it with `interplay resume {path}` "
        "or choose another --out"
    )
