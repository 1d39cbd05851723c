"""A run's ``settings.toml``, read with an eye on what its checkpoints were made with.

Every manifest keeps the values of the settings. Where the file says otherwise, it was damaged, forgotten or meant; only the user
knows, so the keys are named and he is asked. How far and how fast a run goes (`PACE`) changes nothing of what is learnt: such an
edit is told, and none that `resume` itself made, which seals the file that it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from interplay.core.errors import UserError
from interplay.core.seals import Sealed, canonical, differing, digest, read_sealed
from interplay.core.settings import Settings, build
from interplay.core.settings_text import show
from interplay.core.trust import admit
from interplay.train.run.manifest import read_manifest
from interplay.train.settings import TrainSettings
from interplay.train.settings.renamed import renew

S = TypeVar("S", bound=Settings)

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
)
RECORD = ("record.every", "record.ticks", "record.keep")
PACE = ("steps", "name", *(f"train.{key}" for key in _TRAIN), *RECORD)
SHOWN = 3  # keys that are told with their values


def describe_settings(settings: Settings) -> dict[str, Any]:
    """For a manifest: the digest and the values."""
    values = canonical(settings)
    return {"sha256": digest(values), "values": values}


def settings_of(checkpoint: Path | str, trust: bool = False, acts: bool = True) -> TrainSettings:
    """The settings of the run that a checkpoint belongs to.

    Args:
        checkpoint: its folder.
        trust: they may name programs, see `interplay.core.trust`.
        acts: whether they are acted upon; False for who only looks at them, so that programs in them do not matter.

    Raises:
        UserError: if they cannot be read, are not those that the checkpoint was made with, or name programs without being
            trusted.
    """
    folder = Path(checkpoint)
    plain = len(folder.parts) > 2 and ".." not in folder.parts
    file = (folder if plain else folder.resolve()).parent.parent / NAME
    manifest = read_manifest(folder)
    sealed = read_sealed(file)
    settings = build(TrainSettings, renew(sealed.values), str(file))
    refuse_edits(file, sealed, settings, manifest, folder.name)
    if acts:
        admit(settings, file, trust)
    return settings


def refuse_edits(
    file: Path, sealed: Sealed, settings: Settings, manifest: Mapping[str, Any] | None, name: str = ""
) -> str:
    """Refuses settings that a checkpoint was not made with.

    Args:
        file: where they stand.
        sealed: as they were read.
        settings: the same, checked.
        manifest: of the checkpoint; None where a run has none yet.
        name: of the checkpoint.

    Returns:
        What was edited of `PACE`, in one line; empty if nothing was.

    Raises:
        UserError: naming keys and values.
    """
    cure = f"restore it, or go on with what it says now by `interplay resume {file.parent} --accept-settings`"
    said = None if manifest is None else manifest.get("settings")
    if said is None:
        if sealed.seal == "broken":
            raise UserError(f"{file} was changed since it was written; {cure}")
        return ""
    if sealed.seal == "whole" and said["sha256"] in sealed.departs:
        return ""
    changes = _changes(settings, renew(said["values"]))
    graver = {key: pair for key, pair in changes.items() if key not in PACE}
    if graver:
        raise UserError(f"{file} was changed: {_told(graver)} in checkpoint {name}; {cure}")
    return f"{file}: {_told(changes)}" if changes and sealed.seal != "whole" else ""


def departures(manifests: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The digests of the settings that checkpoints were made with, each once."""
    found = (manifest.get("settings") for manifest in manifests)
    return tuple(sorted({said["sha256"] for said in found if said is not None}))


def _changes(settings: Settings, was: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs; a key that did not exist when the checkpoint was made had what is now the default, one that is gone does not count."""
    now = canonical(settings)
    defaults = canonical(type(settings).model_construct(**_defaults(type(settings))))
    return differing({key: was[key] if key in was else defaults.get(key) for key in now}, now)


def _defaults(model: type[Settings]) -> dict[str, Any]:
    return {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
    }


def _told(changes: Mapping[str, tuple[Any, Any]]) -> str:
    told = [
        f"{key} is {_shown(now)}, was {_shown(was)}" if i < SHOWN else key
        for i, (key, (was, now)) in enumerate(changes.items())
    ]
    return ", ".join(told)


def _shown(value: Any) -> str:
    return "not given" if value is None else show(value)
