"""What a checkpoint says of itself: records that no run could have written, manifests in which a value was changed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.train.play import policy
from interplay.train.run.manifest import NAME, RECORD, make_manifest, read_manifest
from interplay.train.run.records import check_record, spaces_of

SOUND: dict[str, Any] = {
    "updates": 3,
    "seconds": 1.5,
    "episodes": 7,
    "populations": ["pop0", "pop1"],
    "best": {
        "metric": "life",
        "value": None,
        "agent_steps": None,
        "window": [0.0, 0.0],
        "measurements": [0, 0],
    },
    "alternate": {"turn": "a", "both": False, "spans": [[1, 2.0]]},
}


def checked(record: Any) -> None:
    check_record(SimpleNamespace(record=record, path=Path("run/checkpoints/0001")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("updates", 2**32),
        ("updates", -1),
        ("updates", True),
        ("seconds", -0.5),
        ("seconds", float("nan")),
        ("populations", ["pop0", "pop0"]),
        ("populations", ["pop0", 1]),
        ("best", SOUND["best"] | {"value": 3.0}),
        ("best", SOUND["best"] | {"window": [0.0]}),
        ("best", SOUND["best"] | {"measurements": [-1, 2]}),
        ("alternate", SOUND["alternate"] | {"spans": [[0, 2.0]]}),
        ("best", None),
        ("alternate", None),
        ("curriculum", None),
        ("balance", None),
    ],
)
def test_what_no_run_writes_is_named(key: str, value: Any) -> None:
    checked(SOUND)
    with pytest.raises(UserError, match=rf"0001 is damaged: record\.json: {key} is "):
        checked(SOUND | {key: value})


@pytest.mark.parametrize("key", ["updates", "seconds", "episodes"])
def test_what_every_run_counts_is_never_missing(key: str) -> None:
    with pytest.raises(UserError, match=f"{key} is missing"):
        checked({name: value for name, value in SOUND.items() if name != key})


@pytest.mark.parametrize("stage", [None, 5, {"played": 5}])
def test_a_policy_is_not_loaded_from_a_forged_stage(monkeypatch: pytest.MonkeyPatch, stage: Any) -> None:
    monkeypatch.setattr(policy, "find_checkpoint", Path)
    monkeypatch.setattr(policy, "read_part", lambda path, stems: ({"curriculum": stage}, []))
    with pytest.raises(UserError, match=r"0001 is damaged: record\.json: curriculum is "):
        policy.load_policy("run/checkpoints/0001")


def test_forged_spaces_are_refused() -> None:
    with pytest.raises(UserError, match=r"0001 is damaged: record\.json: spaces is 5"):
        spaces_of(SimpleNamespace(record={"spaces": 5}, path=Path("run/checkpoints/0001")))  # type: ignore[arg-type]


def test_every_value_of_a_manifest_is_covered_by_its_checksum(tmp_path: Path) -> None:
    folder = tmp_path / "0100"
    folder.mkdir()
    (folder / RECORD).write_text("{}")
    settings = {"sha256": "0" * 64, "values": {"seed": 1}}
    sound = make_manifest(folder, 100, "a/world", 1, settings)
    (folder / NAME).write_text(json.dumps(sound))
    assert read_manifest(folder) == sound
    changes: list[dict[str, Any]] = [
        {"settings": {**settings, "values": {"seed": 2}}},
        {"settings": {**settings, "sha256": "1" * 64}},
        {"world": {"id": "a/world", "version": 2}},
        {"interplay_version": "9"},
        {"files": {RECORD: {**sound["files"][RECORD], "size": 3}}},
        {"agent_steps": 101},
    ]
    for change in changes:
        (folder / NAME).write_text(json.dumps(sound | change))
        with pytest.raises(UserError, match=r"manifest\.json: its checksum does not match"):
            read_manifest(folder)
    assert {key for change in changes for key in change} | {"format", "format_version"} == sound.keys() - {
        "checksum"
    }
