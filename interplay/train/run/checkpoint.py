"""Checkpoints: folders that are complete and match their checksums, or are ignored.

``RUN/checkpoints/<agent-steps>/`` holds one ``<stem>.safetensors`` per group of arrays, ``record.json`` for the
rest and ``manifest.json``, written last, with the size and SHA-256 of each file. A checkpoint is written to a hidden
folder and renamed once, so a crash leaves earlier ones intact. There is no pickle: reading a checkpoint runs no code.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from interplay.core.errors import UserError
from interplay.core.files import (
    os_errors_as_user_errors,
    reached,
    refuse_links,
    remove_tree,
    sync_folder,
    write_file,
)
from interplay.core.settings import Settings
from interplay.train.run.manifest import NAME, damaged, make_manifest, read_files, read_manifest, read_record
from interplay.train.run.settings_file import describe_settings

_DIGITS = 12  # of a folder's name, so that names sort like numbers
_STAGING = ".staging-"
_REMOVED = ".removed-"
BEST = "best"
_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DTYPES = {"bool", "float16", "float32", "float64", "complex64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and verified.

    Attributes:
        path: its folder.
        arrays: stem -> name -> writable array.
        record: as given to `CheckpointWriter.commit`.
        manifest: format, versions, world and the checksums of the files.
    """

    path: Path
    arrays: dict[str, dict[str, np.ndarray]]
    record: dict[str, Any]
    manifest: dict[str, Any]

    @property
    def agent_steps(self) -> int:
        """Agent-steps of the run."""
        return int(self.manifest["agent_steps"])


class CheckpointWriter:
    """Writes one checkpoint of a run; only the process with the run's lock may create one.

    Other processes of the run add arrays with ``write_arrays(writer.staging, stem, arrays)`` before `commit`. As a
    context manager it abandons an uncommitted checkpoint.

    Args:
        agent_steps: the checkpoint's name; leftovers of an earlier attempt are removed.

    Raises:
        UserError: for a full disk or another system error, here and in every method; the staging folder is removed
            and earlier checkpoints are intact.

    Example:
        >>> import tempfile
        >>> run = Path(tempfile.mkdtemp())
        >>> with CheckpointWriter(run, 4096) as writer:
        ...     writer.write("learner", {"weights": np.ones((2, 3), np.float32)})
        ...     path = writer.commit({"updates": 7}, world_id="survival/1v1-heals-low", world_version=1)
        >>> read_checkpoint(path).record
        {'updates': 7}
    """

    def __init__(self, run: Path | str, agent_steps: int) -> None:
        self.agent_steps = int(agent_steps)
        self.path = checkpoint_path(run, agent_steps)
        self.staging = staging_path(run, agent_steps)
        self.open = True
        with self._guarded():
            refuse_links(self.path.parent.parent, (), [self.path.parent.name])
            self.path.parent.mkdir(exist_ok=True)
            for pattern in (f"{_STAGING}*", f"{_REMOVED}*"):
                for left in self.path.parent.glob(pattern):
                    remove_tree(left)
            self.staging.mkdir()
            reached("staging: made")

    def write(self, stem: str, arrays: Mapping[str, Any]) -> None:
        """Adds ``<stem>.safetensors``; see `write_arrays`."""
        with self._guarded():
            write_arrays(self.staging, stem, arrays)

    def commit(
        self,
        record: Mapping[str, Any],
        world_id: str = "",
        world_version: int = 0,
        settings: Settings | None = None,
    ) -> Path:
        """Writes record and manifest and renames the folder.

        A sound checkpoint of the same agent-steps is kept instead: runs are deterministic, so both are equal.

        Args:
            record: JSON values and NumPy scalars.
            settings: of the run, kept to detect later edits of ``settings.toml``.

        Returns:
            The checkpoint's folder.
        """
        described = None if settings is None else describe_settings(settings)
        with self._guarded():
            write_file(self.staging / "record.json", _json(record), "record")
            manifest = make_manifest(self.staging, self.agent_steps, world_id, world_version, described)
            write_file(self.staging / "manifest.json", _json(manifest), "manifest")
            sync_folder(self.staging)
            self._appear()
        self.open = False
        return self.path

    def abandon(self) -> None:
        """Removes the unfinished checkpoint."""
        if self.open:
            remove_tree(self.staging)
            self.open = False

    def __enter__(self) -> CheckpointWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _appear(self) -> None:
        if os.path.lexists(self.path):
            if problem(self.path) is None:
                remove_tree(self.staging)
                return
            set_aside(self.path)
        reached("checkpoint: complete")
        os.rename(self.staging, self.path)
        reached("checkpoint: renamed")
        sync_folder(self.path.parent)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Abandons the checkpoint when the block fails; turns system errors into one line."""
        try:
            with os_errors_as_user_errors(
                "saving the checkpoint", self.path, "earlier checkpoints are intact"
            ):
                yield
        except BaseException:
            self.abandon()
            raise


def write_arrays(folder: Path | str, stem: str, arrays: Mapping[str, Any]) -> None:
    """Writes one safetensors file of an unfinished checkpoint; any process of the run may call it.

    Args:
        folder: `CheckpointWriter.staging`.
        stem: file name without ``.safetensors``; letters, digits, ``_``, ``-`` and dots.
        arrays: name -> array of booleans or numbers, of any shape.
    """
    if not _STEM.fullmatch(stem):
        raise UserError(f"checkpoint file {stem!r}: name it with letters, digits, _, - and dots")
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.name not in _DTYPES:
            raise UserError(
                f"checkpoint file {stem}: array {name} has dtype {array.dtype}; keep numbers or booleans"
            )
    folder = Path(folder)
    target = folder.with_name(folder.name.removeprefix(_STAGING))
    with os_errors_as_user_errors("saving the checkpoint", target, "earlier checkpoints are intact"):
        write_file(folder / f"{stem}.safetensors", safetensors.numpy.save(plain), stem)


def checkpoint_path(run: Path | str, agent_steps: int) -> Path:
    """The folder of a run's checkpoint at `agent_steps`."""
    return Path(run) / "checkpoints" / f"{int(agent_steps):0{_DIGITS}d}"


def staging_path(run: Path | str, agent_steps: int) -> Path:
    """The hidden folder in which that checkpoint is written."""
    path = checkpoint_path(run, agent_steps)
    return path.with_name(f"{_STAGING}{path.name}")


def list_checkpoints(run: Path | str) -> list[Path]:
    """Folders of a run's checkpoints, oldest first; complete but not verified."""
    folder = Path(run) / "checkpoints"
    refuse_links(folder.parent, (), [folder.name])
    if not folder.is_dir():
        return []
    numbered = (p for p in folder.iterdir() if p.name.isdecimal() and p.name.isascii() and p.is_dir())
    return sorted(numbered, key=lambda p: int(p.name))


def read_checkpoint(path: Path | str) -> Checkpoint:
    """Reads a checkpoint and verifies every byte of it."""
    path = Path(path)
    manifest = read_manifest(path)
    contents = read_files(path, manifest)
    arrays = {
        name.removesuffix(".safetensors"): _load_arrays(path / name, data)
        for name, data in contents.items()
        if name.endswith(".safetensors")
    }
    return Checkpoint(path, arrays, read_record(path, contents), manifest)


def read_part(path: Path | str, stems: Sequence[str]) -> tuple[dict[str, Any], list[dict[str, np.ndarray]]]:
    """Reads and verifies some files of a checkpoint, whatever the state of the others.

    Args:
        stems: of the files of arrays, without ``.safetensors``.

    Returns:
        The record, and one mapping name -> array per stem.
    """
    path = Path(path)
    manifest = read_manifest(path)
    names = [f"{stem}.safetensors" for stem in stems]
    for name in names:
        if name not in manifest["files"]:
            raise damaged(path / name, "the checkpoint has no such file")
    files = {name: manifest["files"][name] for name in ("record.json", *names)}
    contents = read_files(path, {**manifest, "files": files})
    return read_record(path, contents), [_load_arrays(path / name, contents[name]) for name in names]


def keep_best(path: Path | str) -> Path:
    """Copies a checkpoint to ``checkpoints/best``, which is never pruned; returns the copy's folder."""
    path = Path(path)
    staging, best, old = (path.with_name(name) for name in (f"{_STAGING}best", BEST, f"{_REMOVED}best"))
    with os_errors_as_user_errors("saving the checkpoint", best, "earlier checkpoints are intact"):
        for left in (staging, old):
            remove_tree(left)
        staging.mkdir()
        manifest = read_manifest(path)
        for name, data in read_files(path, manifest).items():
            write_file(staging / name, data, Path(name).stem)
        write_file(staging / NAME, _json(manifest), "manifest")
        sync_folder(staging)
        if os.path.lexists(best):
            os.rename(best, old)
        os.rename(staging, best)
        sync_folder(best.parent)
        remove_tree(old)
    return best


def problem(path: Path | str) -> str | None:
    """What is wrong with a checkpoint, in one line; None if it is sound."""
    try:
        read_checkpoint(path)
    except UserError as error:
        return str(error)
    return None


def latest_checkpoint(run: Path | str, say: Callable[[str], None] | None = None) -> Path | None:
    """The folder of a run's newest sound checkpoint; None if the run has no checkpoint yet.

    Args:
        say: called with one line per skipped checkpoint; None: standard error.

    Raises:
        UserError: if the run has checkpoints and none is sound.
    """
    say = say or (lambda line: print(line, file=sys.stderr))
    skipped = []
    for path in reversed(list_checkpoints(run)):
        reason = problem(path)
        if reason is None:
            return path
        skipped.append(reason)
        say(f"skipped a checkpoint: {reason}")
    if skipped:
        raise UserError(f"{run}: none of the {len(skipped)} checkpoints is sound; start a new run")
    return None


def find_checkpoint(path: Path | str, say: Callable[[str], None] | None = None) -> Path:
    """The checkpoint of a path: a checkpoint's folder itself, or the newest sound one of a run folder."""
    path = Path(path)
    if (path / NAME).exists():
        return path.resolve() if path.is_symlink() else path  # the user named this link
    found = latest_checkpoint(path, say)
    if found is None:
        what = "is no folder" if not path.is_dir() else "holds no checkpoint"
        run, at, player = path.name.rpartition("@")
        if at and path.with_name(run or ".").is_dir():
            what = f"names {player}, a player of a league (for tournament and evaluate); a whole run is needed here"
        raise UserError(f"{path} {what}; name a run folder (RUN) or one of RUN/checkpoints")
    return found


def prune_checkpoints(
    run: Path | str, keep: int, keeps: Callable[[int, int], bool] = lambda *_: False
) -> None:
    """Removes all but the newest `keep` checkpoints, each by a rename first, so that none is ever incomplete.

    Args:
        keep: at least 1.
        keeps: ``keeps(before, now)``: whether the checkpoint at `now` agent-steps is permanent; `before`: of the previous one, -1: none.
    """
    before = -1
    for path in list_checkpoints(run)[: -max(keep, 1)]:
        last, before = before, int(path.name)
        if keeps(last, before):
            continue
        hidden = path.with_name(f"{_REMOVED}{path.name}")
        with os_errors_as_user_errors("removing the old checkpoint", path):
            os.rename(path, hidden)
        reached("prune: hidden")
        remove_tree(hidden)


def set_aside(path: Path) -> Path:
    """Renames a checkpoint to ``aside-*``, so that the run ignores it; deletes nothing."""
    number = 1
    while os.path.lexists(target := path.with_name(f"aside-{path.name}-{number}")):
        number += 1
    os.rename(path, target)
    return target


def _load_arrays(file: Path, data: bytes) -> dict[str, np.ndarray]:
    try:
        arrays = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, LookupError, TypeError, ValueError, MemoryError) as error:
        raise damaged(file, f"it holds no arrays ({' '.join(str(error).split())[:200]})") from None
    for name, array in arrays.items():
        if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
            raise damaged(file, f"{name!r} holds bools other than 0 and 1")
    return {name: array if array.flags.writeable else array.copy() for name, array in arrays.items()}


def _json(values: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(values, indent=1, default=_number, allow_nan=False) + "\n").encode()
    except ValueError as error:
        raise UserError(
            f"a checkpoint's record cannot be kept ({error}); leave out what is not finite"
        ) from None


def _number(value: Any) -> Any:
    """A NumPy scalar as a Python number, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(
        f"{type(value).__name__} does not fit into a checkpoint's record; write it with the arrays"
    )
