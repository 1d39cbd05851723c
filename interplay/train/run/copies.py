"""Copies of a run at an fsspec address (``s3://bucket/runs``): made with each checkpoint, read to resume elsewhere.

A copy has the files of the run folder that `resume` needs. A checkpoint's manifest is written last and removed first, so one with a
manifest is complete; its checksums are verified when it is read.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interplay.core.errors import MissingExtraError, UserError
from interplay.core.files import remove_tree, replace_file, write_file
from interplay.core.reading import read_bytes
from interplay.train.run.checkpoint import BEST, list_checkpoints
from interplay.train.run.manifest import NAME as MANIFEST
from interplay.train.run.metrics_log import METRICS
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import NAME as SETTINGS

MARK = ".copy"  # file with a name of the run, the same in the run folder and at the address
QUIET = 2.0  # seconds of copying without a line
_FILE = re.compile(
    rf"{re.escape(MARK)}|{SETTINGS}|{METRICS}|checkpoints/(\d+|{BEST})/[A-Za-z0-9][A-Za-z0-9_.-]*"
)
_Version = tuple[int, int]


class Copies:
    """The copy of a run at ``ADDRESS/<name of its folder>``.

    Raises:
        UserError: for an address that cannot be used, or that holds another run of this name.
    """

    def __init__(self, run: Path, address: str) -> None:
        self._run, self.address = run, f"{address.rstrip('/')}/{run.absolute().name}"
        self._system, self._root = _open(self.address)
        self._sent: dict[str, _Version] = {}  # file of the run -> its version that was copied
        self._thread: threading.Thread | None = None
        self._trouble = ""
        with _as_user_errors(self.address):
            there = self._there(MARK)
        here = read_bytes(run / MARK, 64, links=False) if (run / MARK).exists() else None
        if there not in (None, here):
            raise UserError(f"{self.address} holds another run; choose another --out or train.copy_to")

    def update(self) -> None:
        """Copies what is new in a thread, unless the last copy is still being made."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._try, name="copies", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits until all is copied."""
        if self._thread is None:
            return
        self._wait()
        self.update()
        self._wait()
        if self._trouble:
            tell(f"the copy at {self.address} is not complete: {self._trouble}")

    def _wait(self) -> None:
        assert self._thread is not None
        self._thread.join(QUIET)
        if self._thread.is_alive():
            tell(f"copying to {self.address}")
            self._thread.join()

    def _try(self) -> None:
        """Copies; keeps the reason of a failure, and warns of the first."""
        before, self._trouble = self._trouble, ""
        try:
            self._copy()
        except Exception as error:  # whatever the storage raises must not end a run
            self._trouble = _in_words(error)
            if not before:
                tell(f"{self.address}: {self._trouble}; tried again with each checkpoint")

    def _copy(self) -> None:
        self._system.invalidate_cache()
        if not (self._run / MARK).exists():
            replace_file(self._run / MARK, uuid.uuid4().hex)
        self._send(MARK)
        checkpoints = [*list_checkpoints(self._run), self._run / "checkpoints" / BEST]
        there = {path.name for path in checkpoints if path.is_dir()}
        for name in self._listed("checkpoints"):
            if name not in there:
                self._remove(name)
        self._send(SETTINGS)
        for path in checkpoints:
            if path.is_dir():
                self._send_checkpoint(path)
        self._send(METRICS)  # last: a resumed run drops lines after its checkpoint

    def _send_checkpoint(self, path: Path) -> None:
        manifest = f"checkpoints/{path.name}/{MANIFEST}"
        try:
            version, data = _version(path / MANIFEST), read_bytes(path / MANIFEST, links=False)
            if self._sent.get(manifest) == version:
                return
            if self._there(manifest) != data:
                self._remove(path.name)
                for file in sorted(path.iterdir()):
                    if file.name != MANIFEST:
                        self._write(f"checkpoints/{path.name}/{file.name}", read_bytes(file, links=False))
                self._write(manifest, data)
            self._sent[manifest] = version
        except FileNotFoundError:  # pruned meanwhile
            return

    def _send(self, name: str) -> None:
        if (path := self._run / name).exists() and self._sent.get(name) != (version := _version(path)):
            self._write(name, read_bytes(path, links=False))
            self._sent[name] = version

    def _remove(self, checkpoint: str) -> None:
        folder = f"{self._root}/checkpoints/{checkpoint}"
        for path in (f"{folder}/{MANIFEST}", folder):
            if self._system.exists(path):
                self._system.rm(path, recursive=True)
        self._sent.pop(f"checkpoints/{checkpoint}/{MANIFEST}", None)

    def _listed(self, folder: str) -> Iterator[str]:
        path = f"{self._root}/{folder}"
        if self._system.exists(path):
            for each in self._system.ls(path, detail=False):
                yield str(each).rstrip("/").rpartition("/")[2]

    def _there(self, name: str) -> bytes | None:
        path = f"{self._root}/{name}"
        return bytes(self._system.cat_file(path)) if self._system.exists(path) else None

    def _write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(path, data)


def fetch(address: str, parent: Path | str = "runs") -> Path:
    """Copies the run at an address into a new folder of its name; returns the folder.

    Raises:
        UserError: if there is no run, the folder exists, or the storage fails.
    """
    system, root = _open(address)
    run = Path(parent) / root.rpartition("/")[2]
    with _as_user_errors(address):
        found = {str(path)[len(root) + 1 :]: str(path) for path in system.find(root)}
    known = [name for name in found if _FILE.fullmatch(name)]
    if SETTINGS not in known:
        raise UserError(f"{address} holds no run: {SETTINGS} is missing")
    if run.exists():
        raise UserError(f"{run} exists; resume it with `interplay resume {run}`, or move it away")
    staging = run.with_name(f".fetching-{run.name}")
    remove_tree(staging)
    try:
        for name in known:
            folder, _, file = name.rpartition("/")
            if folder and f"{folder}/{MANIFEST}" not in known:
                continue  # a checkpoint whose copy is not complete
            (staging / folder).mkdir(parents=True, exist_ok=True)
            with _as_user_errors(address):
                data = bytes(system.cat_file(found[name]))
            write_file(staging / folder / file, data, "fetched")
        (staging / "checkpoints").mkdir(exist_ok=True)
        os.rename(staging, run)
    finally:
        remove_tree(staging)
    return run


def _open(address: str) -> tuple[Any, str]:
    """The storage of an address, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'train.copy_to needs fsspec; install it with pip install "interplay[remote]"'
        ) from error
    try:
        system, root = fsspec.core.url_to_fs(address, skip_instance_cache=True)
    except (ImportError, ValueError, OSError) as error:
        raise UserError(f"{address}: {' '.join(str(error).split())}") from None
    return system, str(root).rstrip("/")


def _version(path: Path) -> _Version:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


@contextlib.contextmanager
def _as_user_errors(address: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a storage raises what it likes
        raise UserError(f"{address}: {_in_words(error)}") from None


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
