"""The manifest of a checkpoint: which files it has, their sizes and checksums, who wrote it, and with which settings."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import interplay
from interplay.core.errors import UserError
from interplay.core.reading import LINE, memory_limit, opened, parse_json, read_bytes

NAME = "manifest.json"
RECORD = "record.json"
FORMAT = "interplay-checkpoint"
FORMAT_VERSION = 2
READ = (1, 2)  # formats whose weights can be read; only the newest can be resumed
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.(safetensors|json)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NUMBERED = re.compile(r"(?:aside-)?([0-9]+)(?:-[0-9]+)?")


def make_manifest(
    folder: Path,
    agent_steps: int,
    world_id: str,
    world_version: int,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Describes every file of a folder as it stands on disk; the manifest's own checksum covers the rest of it.

    Args:
        folder: of the checkpoint in the making.
        agent_steps: that the run has taken.
        world_id: what was trained on.
        world_version: of that world.
        settings: of the run, see `settings_file.describe_settings`; None: they are not known.
    """
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "interplay_version": interplay.__version__,
        "world": {"id": world_id, "version": int(world_version)},
        "agent_steps": int(agent_steps),
        **({} if settings is None else {"settings": dict(settings)}),
        "files": {
            path.name: _fingerprint(read_bytes(path, links=False)) for path in sorted(folder.iterdir())
        },
    }
    return manifest | {"checksum": _checksum(manifest)}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads and checks a folder's manifest, not yet the files that it names.

    Raises:
        UserError: if it is missing, damaged, another program's or of another format, if it names what is no file of a
            checkpoint, or if the folder is a link or called by another number of agent-steps.
    """
    file = folder / NAME
    with _damage_told(file):
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            raise UserError(f"{folder} is a link; put the checkpoint itself there")
        manifest = parse_json(read_bytes(file, LINE, links=False))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{folder} is no checkpoint of interplay; choose a folder below RUN/checkpoints")
    if manifest.get("format_version") not in READ:
        raise UserError(
            f"{folder} is in checkpoint format {_short(manifest.get('format_version'))} of interplay "
            f"{_short(manifest.get('interplay_version'))}, this interplay {interplay.__version__} reads formats "
            f"{READ[0]} to {READ[-1]}; install the version that wrote it"
        )
    if manifest.get("checksum") != _checksum(manifest):
        raise damaged(file, "its checksum does not match")
    if reason := _wrong(manifest):
        raise damaged(file, reason)
    number = _NUMBERED.fullmatch(folder.name)
    if number and int(number[1]) != manifest["agent_steps"]:
        raise damaged(
            file, f"it is of {manifest['agent_steps']:,} agent-steps, the folder's name says another number"
        )
    return manifest


def check_resumable(folder: Path) -> None:
    """Refuses to go on from a checkpoint that an older trainer made: its worlds and samples stand in another order.

    Raises:
        UserError: with the cure; such a checkpoint can be played, and a new run can begin with its weights.
    """
    version = read_manifest(folder)["format_version"]
    if version != FORMAT_VERSION:
        raise UserError(
            f"{folder} is in checkpoint format {version}, this interplay {interplay.__version__} resumes format {FORMAT_VERSION}; "
            f"begin a new run with its weights (--start-from {folder})"
        )


def read_files(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Reads every file that a manifest names: name -> contents.

    Raises:
        UserError: if one is missing, cut or altered.
    """
    return {name: _read_verified(folder / name, entry) for name, entry in manifest["files"].items()}


def read_record(folder: Path, contents: Mapping[str, bytes]) -> dict[str, Any]:
    """The record among a checkpoint's files.

    Raises:
        UserError: if it is no JSON object.
    """
    try:
        record = parse_json(contents[RECORD])
    except ValueError as error:
        raise damaged(folder / RECORD, f"it is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise damaged(folder / RECORD, "it is no JSON object")
    return record


def damaged(file: Path, reason: str) -> UserError:
    """The error for a file of a checkpoint that is not as it was written."""
    return UserError(f"{file.parent} is damaged: {file.name}: {reason}; choose an earlier checkpoint")


def _read_verified(file: Path, entry: Mapping[str, Any]) -> bytes:
    with _damage_told(file), opened(file, links=False) as source:
        there, said = os.fstat(source.fileno()).st_size, entry["size"]
        if there != said:
            raise damaged(file, f"it has {there:,} bytes instead of {said:,}")
        if file.name == RECORD and said > LINE:
            raise damaged(file, f"it has {said:,} bytes, {LINE:,} are read at most")
        data = source.read(said)
    if _fingerprint(data) != entry:
        raise damaged(file, "its checksum does not match")
    return data


@contextlib.contextmanager
def _damage_told(file: Path) -> Iterator[None]:
    """What is wrong with a file of a checkpoint, in one line."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        if file.name == NAME:
            raise UserError(
                f"{file.parent} is no checkpoint: {NAME} is missing; choose another one"
            ) from None
        raise damaged(file, "the file is missing") from None
    except OSError as error:
        raise damaged(file, f"it cannot be read ({error.strerror})") from None
    except UserError:
        raise
    except ValueError as error:
        raise damaged(file, f"it is not JSON: {error}") from None


def _wrong(manifest: Mapping[str, Any]) -> str | None:
    """What is wrong with a manifest whose checksum is right: it was made by hand."""
    files, world, steps = manifest.get("files"), manifest.get("world"), manifest.get("agent_steps")
    if not isinstance(files, dict) or RECORD not in files:
        return f"it names no {RECORD}"
    for name, entry in files.items():
        if not _FILE.fullmatch(name) or name == NAME:
            return f"it names {_short(name)}, which is no file of a checkpoint"
        if not isinstance(entry, dict) or entry.keys() != {"size", "sha256"}:
            return f"it does not say size and sha256 of {name}"
        if not _is_count(entry["size"]) or not _is_digest(entry["sha256"]):
            return f"size or sha256 of {name} are none"
    if (size := sum(entry["size"] for entry in files.values())) > memory_limit():
        return f"its files have {size:,} bytes, more than this machine's memory takes in"
    if not _is_count(steps):
        return f"agent_steps is {_short(steps)}, no count"
    if (
        not isinstance(world, dict)
        or not isinstance(world.get("id"), str)
        or not _is_count(world.get("version"))
    ):
        return "it does not say the world's id and version"
    said = manifest.get("settings")
    if said is not None and not (
        isinstance(said, dict) and _is_digest(said.get("sha256")) and isinstance(said.get("values"), dict)
    ):
        return "it does not say the settings as digest and values"
    return None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fingerprint(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _checksum(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of the manifest's contents without its checksum; keys in sorted order."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
