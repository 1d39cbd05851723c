"""The manifest of a checkpoint: its files with sizes and checksums, the package version, and the settings."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic
from pydantic import Field

import interplay
from interplay.core.errors import UserError
from interplay.core.reading import LINE, memory_limit, opened, parse_json, read_bytes

NAME = "manifest.json"
RECORD = "record.json"
FORMAT = "interplay-checkpoint"
FORMAT_VERSION = 2
_NUMBERED = re.compile(r"(?:aside-)?([0-9]+)(?:-[0-9]+)?")


_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_File = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*\.(safetensors|json)$")]


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)


class _Entry(_Model, extra="forbid"):
    size: _Count
    sha256: _Digest


class _World(_Model):
    id: str
    version: _Count


class _Settings(_Model):
    sha256: _Digest
    values: dict[str, Any]


class _Manifest(_Model):
    world: _World
    agent_steps: _Count
    settings: _Settings | None = None
    files: dict[_File, _Entry]


def make_manifest(
    folder: Path,
    agent_steps: int,
    world_id: str,
    world_version: int,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The manifest of a folder's files, with a checksum of the manifest itself.

    Args:
        settings: of the run, see `settings_file.describe_settings`; None: unknown.
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
    """Reads and checks a folder's manifest, not the files it lists."""
    file = folder / NAME
    with _damage_as_user_error(file):
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            raise UserError(f"{folder} is a link; put the checkpoint itself there")
        manifest = parse_json(read_bytes(file, LINE, links=False))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{folder} is no checkpoint of interplay; choose a folder below RUN/checkpoints")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise UserError(
            f"{folder} is in checkpoint format {_short(manifest.get('format_version'))} of interplay "
            f"{_short(manifest.get('interplay_version'))}, this interplay {interplay.__version__} reads format "
            f"{FORMAT_VERSION}; install the version that wrote it"
        )
    if manifest.get("checksum") != _checksum(manifest):
        raise damaged(file, "its checksum does not match")
    if reason := _wrong(manifest):
        raise damaged(file, reason)
    number = _NUMBERED.fullmatch(folder.name)
    if number and int(number[1]) != manifest["agent_steps"]:
        raise damaged(file, f"it is of {manifest['agent_steps']:,} agent-steps, unlike the folder's name")
    return manifest


def read_files(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Reads every file of a manifest: name -> contents."""
    return {name: _read_verified(folder / name, entry) for name, entry in manifest["files"].items()}


def read_record(folder: Path, contents: Mapping[str, bytes]) -> dict[str, Any]:
    """The record among a checkpoint's files."""
    try:
        record = parse_json(contents[RECORD])
    except ValueError as error:
        raise damaged(folder / RECORD, f"it is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise damaged(folder / RECORD, "it is no JSON object")
    return record


def damaged(file: Path, reason: str) -> UserError:
    """The error for an altered file of a checkpoint."""
    return UserError(f"{file.parent} is damaged: {file.name}: {reason}; choose an earlier checkpoint")


def _read_verified(file: Path, entry: Mapping[str, Any]) -> bytes:
    with _damage_as_user_error(file), opened(file, links=False) as source:
        found, size = os.fstat(source.fileno()).st_size, entry["size"]
        if found != size:
            raise damaged(file, f"it has {found:,} bytes instead of {size:,}")
        if file.name == RECORD and size > LINE:
            raise damaged(file, f"it has {size:,} bytes, {LINE:,} are read at most")
        data = source.read(size)
    if _fingerprint(data) != entry:
        raise damaged(file, "its checksum does not match")
    return data


@contextlib.contextmanager
def _damage_as_user_error(file: Path) -> Iterator[None]:
    """Turns errors of reading a checkpoint's file into one line."""
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
    """What is wrong with a forged manifest, which has a right checksum; None if nothing."""
    try:
        files = _Manifest.model_validate(manifest).files
    except pydantic.ValidationError as error:
        found = error.errors(include_url=False)[0]
        return f"{_short('.'.join(map(str, found['loc'])))}: {found['msg']}"
    if RECORD not in files or NAME in files:
        return f"files: {RECORD} is missing, or {NAME} is among them"
    if (size := sum(entry.size for entry in files.values())) > memory_limit():
        return f"its files have {size:,} bytes, more than this machine's memory"
    return None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fingerprint(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _checksum(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of the manifest without its checksum, keys sorted."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
