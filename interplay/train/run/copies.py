"""Copies of a run at an fsspec address (``s3://bucket/runs``): made with each checkpoint, read to resume elsewhere.

A copy has the files of the run folder that `resume` needs. The log is sent before the checkpoints, a checkpoint's manifest after its
files, and old checkpoints go last: at every moment the newest checkpoint with a manifest is complete, and has its log.
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
from interplay.core.reading import LINE, METRICS_FILE, memory_limit, read_bytes, read_text
from interplay.core.seals import read_sealed
from interplay.core.settings_text import show
from interplay.core.trust import add_trusted, admit_bytes
from interplay.train.run.checkpoint import BEST, list_checkpoints
from interplay.train.run.manifest import NAME as MANIFEST
from interplay.train.run.manifest import read_manifest
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import NAME as SETTINGS
from interplay.train.run.settings_file import settings_in
from interplay.train.settings import TrainSettings

MARK = ".copy"  # file with a name of the run, the same in the run folder and at the address
QUIET = 2.0  # seconds of copying without a line
_FILE = re.compile(rf"{re.escape(MARK)}|{SETTINGS}|{METRICS_FILE}|checkpoints/(\d+|{BEST})/{MANIFEST}")
_Version = tuple[int, int]


class Copies:
    """The copy of a run at ``ADDRESS/<name of its folder>``.

    The mark there names the run and the process that copies it: another run is never overwritten, and a process that finds another
    process's mark stops copying.

    Raises:
        UserError: for an address that cannot be used, or that holds another run, or this one with newer checkpoints.
    """

    def __init__(self, run: Path, address: str) -> None:
        self._run, self.address = run, f"{address.rstrip('/')}/{run.resolve().name}"
        self._system, self._root = _open(self.address)
        if "file" in self._system.protocol and Path(self._root).resolve() == run.resolve():
            raise UserError(f"train.copy_to = {address} is where the run is; choose another address")
        self._sent: dict[str, _Version] = {}  # file of the run -> its version that was copied
        self._thread: threading.Thread | None = None
        self._trouble = ""
        self._writer = uuid.uuid4().hex
        self._claimed = False
        with _as_user_errors(self.address):
            self._check()

    def update(self) -> None:
        """Copies what is new in a thread, unless the last copy is still being made."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._try, name="copies", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits until all is copied; a run without a checkpoint is not."""
        self._wait()
        if not list_checkpoints(self._run):
            return
        self.update()
        self._wait()
        if self._trouble:
            tell(f"the copy at {self.address} is not complete: {self._trouble}")

    def _wait(self) -> None:
        if self._thread is None:
            return
        self._thread.join(QUIET)
        if self._thread.is_alive():
            tell(f"copying to {self.address}")
            self._thread.join()

    def _try(self) -> None:
        """Copies; keeps the reason of a failure, and prints the first."""
        before, self._trouble = self._trouble, ""
        try:
            self._copy()
        except Exception as error:  # whatever the storage raises must not end a run
            self._trouble = str(error) if isinstance(error, UserError) else _in_words(error)
            if not before:
                tell(f"{self.address}: {self._trouble}; tried again with each checkpoint")

    def _check(self) -> str:
        """Refuses an address that is not this run's to write to; returns the run's name."""
        file = self._run / MARK
        own = read_text(file, 128, links=False).partition(" ")[0].strip() if file.exists() else ""
        name, _, writer = (self._there(MARK) or b"").decode(errors="replace").partition(" ")
        if (name and name != own) or (not name and self._system.exists(f"{self._root}/{SETTINGS}")):
            raise UserError(f"{self.address} holds another run; choose another --out or train.copy_to")
        if self._claimed and writer != self._writer:
            raise UserError(f"another process copies this run to {self.address}")
        if name and not self._claimed:
            newest = max((int(step) for step in self._listed() if step.isdecimal()), default=0)
            if newest > max((int(path.name) for path in list_checkpoints(self._run)), default=0):
                raise UserError(
                    f"{self.address} has a checkpoint at {newest:,} agent-steps, newer than this run's; resume that copy"
                )
        return own

    def _copy(self) -> None:
        self._system.invalidate_cache()
        name = self._check() or uuid.uuid4().hex
        if not (self._run / MARK).exists():
            replace_file(self._run / MARK, name)
        if not self._claimed:
            self._write(MARK, f"{name} {self._writer}".encode())
            self._claimed = True
        checkpoints = [*list_checkpoints(self._run), self._run / "checkpoints" / BEST]
        self._send(SETTINGS)
        self._send(METRICS_FILE)
        there = [path for path in checkpoints if path.is_dir() and self._send_checkpoint(path)]
        for old in set(self._listed()) - {path.name for path in there}:
            self._remove(old)

    def _send_checkpoint(self, path: Path) -> bool:
        """Copies a checkpoint, unless it is there; False if it was pruned meanwhile."""
        manifest = f"checkpoints/{path.name}/{MANIFEST}"
        try:
            version, data = _version(path / MANIFEST), read_bytes(path / MANIFEST, links=False)
            if self._sent.get(manifest) == version:
                return True
            if self._there(manifest) != data:
                self._remove(path.name)
                for file in sorted(path.iterdir()):
                    if file.name != MANIFEST:
                        self._write(f"checkpoints/{path.name}/{file.name}", read_bytes(file, links=False))
                self._write(manifest, data)
        except FileNotFoundError:
            if path.exists():
                raise
            return False
        self._sent[manifest] = version
        return True

    def _send(self, name: str) -> None:
        if (path := self._run / name).exists() and self._sent.get(name) != (version := _version(path)):
            self._write(name, read_bytes(path, links=False))
            self._sent[name] = version

    def _remove(self, checkpoint: str) -> None:
        folder = f"{self._root}/checkpoints/{checkpoint}"
        if self._system.exists(folder):
            # One by one: `rm` takes *, ? and [ in a name for a pattern.
            for file in sorted(self._system.find(folder), key=lambda file: not str(file).endswith(MANIFEST)):
                self._system.rm_file(file)
            with contextlib.suppress(OSError):  # storage without folders has none left
                self._system.rmdir(folder)
        self._sent.pop(f"checkpoints/{checkpoint}/{MANIFEST}", None)

    def _listed(self) -> list[str]:
        """Names of the checkpoints there."""
        path = f"{self._root}/checkpoints"
        if not self._system.exists(path):
            return []
        return [str(each).rstrip("/").rpartition("/")[2] for each in self._system.ls(path, detail=False)]

    def _there(self, name: str) -> bytes | None:
        path = f"{self._root}/{name}"
        return bytes(self._system.cat_file(path)) if self._system.exists(path) else None

    def _write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(path, data)


def trust_copies(settings: TrainSettings, file: Path) -> None:
    """Trusts the address to which settings of this user's copy a run."""
    add_trusted(file, _trusted_as(settings))


def admit_copies(settings: TrainSettings, file: Path, trust: bool) -> None:
    """Refuses an address in a file from elsewhere, to which the run would write."""
    if settings.train.copy_to is not None:
        what = f"train.copy_to = {show(settings.train.copy_to)} is an address to write to"
        admit_bytes(what, file, _trusted_as(settings), trust)


def _trusted_as(settings: TrainSettings) -> bytes:
    return b"" if settings.train.copy_to is None else f"train.copy_to\n{settings.train.copy_to}".encode()


def fetch(address: str, parent: Path | str = "runs") -> Path:
    """Copies the run at an address into a new folder of its name; returns the folder.

    Checkpoints without a manifest are left, and files that no manifest names. That the run goes on copying to this address is trusted.

    Raises:
        UserError: if there is no run with a complete checkpoint, the folder exists, or the storage fails.
    """
    address = address.rstrip("/")
    system, root = _open(address)
    run = Path(parent) / root.rpartition("/")[2]
    if run.exists():
        raise UserError(f"{run} exists; resume it with `interplay resume {run}`, or move it away")
    with _as_user_errors(address):
        found = {str(path)[len(root) + 1 :]: str(path) for path in system.find(root)}
    known = [name for name in found if _FILE.fullmatch(name)]
    if SETTINGS not in known:
        raise UserError(f"{address} holds no run: {SETTINGS} is missing")
    staging = run.with_name(f".fetching-{run.name}")
    remove_tree(staging)

    def take(name: str, most: int) -> None:
        (staging / name).parent.mkdir(parents=True, exist_ok=True)
        with _as_user_errors(address):
            if (size := system.size(found[name])) > most:
                raise UserError(f"{name} has {size:,} bytes, at most {most:,} are read")
            data = bytes(system.cat_file(found[name]))
        write_file(staging / name, data, "fetched")

    try:
        for name in known:
            folder = name.rpartition("/")[0]
            try:
                take(name, memory_limit() if name == METRICS_FILE else LINE)
                if folder:
                    for file, entry in read_manifest(staging / folder)["files"].items():
                        take(f"{folder}/{file}", entry["size"])
            except UserError as error:
                if not folder:
                    raise
                tell(f"left out {address}/{folder}: {error}")
                remove_tree(staging / folder)
        if not list_checkpoints(staging):
            raise UserError(f"{address} holds no complete checkpoint")
        settings = settings_in(read_sealed(staging / SETTINGS), staging / SETTINGS)
        if f"{(settings.train.copy_to or '').rstrip('/')}/{run.name}" == address:
            trust_copies(settings, run / SETTINGS)
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
    if "://" not in address:
        raise UserError(
            f"train.copy_to: {address!r} is no address; write for example s3://bucket/runs or file:///runs"
        )
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
    except UserError:
        raise
    except Exception as error:  # a storage raises what it likes
        raise UserError(f"{address}: {_in_words(error)}") from None


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
