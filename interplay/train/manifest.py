"""The manifest of a checkpoint: which files it has, their sizes and checksums, and who wrote it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import interplay
from interplay.core.errors import UserError

NAME = "manifest.json"
FORMAT = "interplay-checkpoint"
FORMAT_VERSION = 1


def make_manifest(folder: Path, agent_steps: int, world_id: str, world_version: int) -> dict[str, Any]:
    """Describes every file of a folder as it stands on disk; the manifest's own checksum covers the rest of it."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "interplay_version": interplay.__version__,
        "world": {"id": world_id, "version": int(world_version)},
        "agent_steps": int(agent_steps),
        "files": {path.name: _fingerprint(path.read_bytes()) for path in sorted(folder.iterdir())},
    }
    return manifest | {"checksum": _checksum(manifest)}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads and checks a folder's manifest, not yet the files that it names.

    Raises:
        UserError: if it is missing, damaged, another program's or of another format.
    """
    file = folder / NAME
    try:
        manifest = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{folder} is no checkpoint: {NAME} is missing; choose another one") from None
    except OSError as error:
        raise damaged(file, f"it cannot be read ({error.strerror})") from None
    except ValueError:
        raise damaged(file, "it is not JSON") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{folder} is no checkpoint of interplay; choose a folder below RUN/checkpoints")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise UserError(
            f"{folder} is in checkpoint format {manifest.get('format_version')} of interplay "
            f"{manifest.get('interplay_version')}, this interplay {interplay.__version__} reads format "
            f"{FORMAT_VERSION}; install the version that wrote it"
        )
    if manifest.get("checksum") != _checksum(manifest):
        raise damaged(file, "its checksum does not match")
    if "record.json" not in manifest.get("files", {}):
        raise damaged(file, "it names no record.json")
    return manifest


def read_files(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Reads every file that a manifest names: name -> contents.

    Raises:
        UserError: if one is missing, cut or altered.
    """
    return {name: _read_verified(folder / name, entry) for name, entry in manifest["files"].items()}


def damaged(file: Path, reason: str) -> UserError:
    """The error for a file of a checkpoint that is not as it was written."""
    return UserError(f"{file.parent} is damaged: {file.name}: {reason}; choose an earlier checkpoint")


def _read_verified(file: Path, entry: Mapping[str, Any]) -> bytes:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise damaged(file, "the file is missing") from None
    except OSError as error:
        raise damaged(file, f"it cannot be read ({error.strerror})") from None
    if len(data) != entry["size"]:
        raise damaged(file, f"it has {len(data):,} bytes instead of {entry['size']:,}")
    if _fingerprint(data) != entry:
        raise damaged(file, "its checksum does not match")
    return data


def _fingerprint(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _checksum(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of the manifest's contents without its checksum; keys in sorted order."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
