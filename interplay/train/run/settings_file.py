"""A run's ``settings.toml``, compared with the settings in the manifests of its checkpoints.

A difference is refused with its keys, since only the user can say whether it was meant. Keys of `PACE` do not affect learning:
such an edit is printed, unless `resume` made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.seals import Sealed, canonical, differing, digest, read_sealed
from interplay.core.settings import Settings, build
from interplay.core.settings_text import show
from interplay.core.trust import admit
from interplay.train.run.manifest import read_manifest
from interplay.train.settings import TrainSettings

NAME = "settings.toml"
_TRAIN = (
    "workers",
    "threads",
    "max_updates",
    "max_episodes",
    "max_seconds",
    "step_limit",
    "checkpoint_seconds",
    "checkpoint_updates",
    "checkpoint_at_end",
    "keep_checkpoints",
    "keep_at",
    "keep_every",
    "log_every",
    "evaluate_against",
    "evaluate_every",
    "evaluate_episodes",
    "evaluate_actions",
    "evaluate_score",
    "quiet",
    "writers",
    "copy_to",
)
RECORD = ("record.every", "record.ticks", "record.keep")
PACE = ("steps", "name", "pins.folder", *(f"train.{key}" for key in _TRAIN), *RECORD)
PINS = "pins.players."
SHOWN = 3  # keys that a message lists with their values


def describe_settings(settings: Settings) -> dict[str, Any]:
    """For a manifest: the digest and the values."""
    values = canonical(settings)
    return {"sha256": digest(values), "values": values}


def settings_of(checkpoint: Path | str, trust: bool = False, acts: bool = True) -> TrainSettings:
    """The settings of a checkpoint's run.

    Args:
        trust: they may name programs, see `interplay.core.trust`.
        acts: False: they are only read, so programs in them need no trust.
    """
    folder = Path(checkpoint)
    plain = len(folder.parts) > 2 and ".." not in folder.parts
    file = (folder if plain else folder.resolve()).parent.parent / NAME
    manifest = read_manifest(folder)
    sealed = read_sealed(file)
    settings = settings_in(sealed, file)
    refuse_edits(file, sealed, settings, manifest, folder.name)
    if acts:
        admit(settings, file, trust)
    return settings


def settings_in(sealed: Sealed, file: Path) -> TrainSettings:
    """The settings of a run's ``settings.toml``, checked."""
    network = sealed.values.get("network")
    if isinstance(network, Mapping) and "kind" in network and "scale_pictures" not in network:
        raise UserError(
            f"{file} is of an earlier version: network.scale_pictures is missing; train anew, or install that version"
        )
    return build(TrainSettings, sealed.values, str(file))


def refuse_edits(
    file: Path, sealed: Sealed, settings: Settings, manifest: Mapping[str, Any] | None, name: str = ""
) -> str:
    """Refuses settings that differ from those of a checkpoint.

    Args:
        file: ``settings.toml``.
        manifest: of the checkpoint; None where a run has none yet.

    Returns:
        Changed keys of `PACE` in one line; empty if there are none.
    """
    cure = f"restore it, or accept the change with `interplay resume {file.parent} --accept-settings`"
    saved = None if manifest is None else manifest.get("settings")
    if saved is None:
        if sealed.seal == "broken":
            raise UserError(f"{file} was changed since it was written; {cure}")
        return ""
    if sealed.seal == "whole" and saved["sha256"] in sealed.departs:
        return ""
    changes = _changes(settings, saved["values"])
    refused = {key: pair for key, pair in changes.items() if key not in PACE}
    if refused:
        raise UserError(f"{file} was changed: {_listed(refused)} in checkpoint {name}; {cure}")
    return f"{file}: {_listed(changes)}" if changes and sealed.seal != "whole" else ""


def departures(manifests: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Digests of the settings of several checkpoints, each once."""
    found = (manifest.get("settings") for manifest in manifests)
    return tuple(sorted({saved["sha256"] for saved in found if saved is not None}))


def _changes(settings: Settings, was: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Key -> old and new value; a key missing in `was` counts as the default. A player that got a pin since is no change."""
    now, model = canonical(settings), type(settings)
    required = {name: None for name, field in model.model_fields.items() if field.is_required()}
    defaults = canonical(model.model_construct(**required))
    changes = differing({key: was[key] if key in was else defaults.get(key) for key in now}, now)
    return {key: pair for key, pair in changes.items() if pair[0] is not None or not key.startswith(PINS)}


def _listed(changes: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(
        f"{key} is {_shown(now)}, was {_shown(was)}" if i < SHOWN else key
        for i, (key, (was, now)) in enumerate(changes.items())
    )


def _shown(value: Any) -> str:
    return "not given" if value is None else show(value)
