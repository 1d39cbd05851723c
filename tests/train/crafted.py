"""Checkpoints with right checksums and wrong contents, made as somebody would who wants to break a reader."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from interplay.train.run.manifest import _checksum, _fingerprint

Change = Callable[["Draft"], object]

RAW = b'{"x":{"dtype":"%s","shape":[2],"data_offsets":[0,%d]}}'


class Draft:
    """The contents of a checkpoint, to be changed and written back with checksums that fit.

    Attributes:
        arrays: stem -> name -> array.
        raw: file name -> bytes that stand there instead.
        record: the record.
        record_text: what stands in record.json instead.
        manifest: what is changed in the manifest after the files were counted.
        folder: the checkpoint's folder; may be renamed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrays = {
            path.stem: dict(safetensors.numpy.load(path.read_bytes()))
            for path in folder.glob("*.safetensors")
        }
        self.record: Any = json.loads((folder / "record.json").read_text())
        self.record_text: str | None = None
        self.raw: dict[str, bytes] = {}
        self.manifest: Any = json.loads((folder / "manifest.json").read_text())
        self.edits: dict[str, Any] = {}
        self.name = folder.name

    def write(self) -> Path:
        """Puts everything back; the manifest's checksum is right."""
        for path in self.folder.iterdir():
            path.unlink()
        files = {
            f"{stem}.safetensors": safetensors.numpy.save({name: np.asarray(a) for name, a in arrays.items()})
            for stem, arrays in self.arrays.items()
        }
        text = json.dumps(self.record) if self.record_text is None else self.record_text
        files |= {"record.json": text.encode("utf-8", "surrogatepass"), **self.raw}
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        manifest = {key: value for key, value in self.manifest.items() if key != "checksum"}
        manifest["files"] = {name: _fingerprint(data) for name, data in sorted(files.items())}
        for key, value in self.edits.items():
            manifest[key] = value(manifest[key]) if callable(value) else value
        manifest["checksum"] = _checksum(manifest)
        (self.folder / "manifest.json").write_text(json.dumps(manifest))
        if self.name != self.folder.name:
            self.folder = self.folder.rename(self.folder.with_name(self.name))
        return self.folder


def copy_of(run: Path, to: Path, change: Change) -> Path:
    """A copy of a run that has its newest checkpoint alone, changed."""
    shutil.copytree(run, to)
    *earlier, last = sorted(path for path in (to / "checkpoints").iterdir() if path.name.isdecimal())
    for path in earlier:
        shutil.rmtree(path)
    draft = Draft(last)
    change(draft)
    draft.write()
    return to


def record(key: str, value: Any) -> Change:
    """Puts a value into the record."""
    return lambda draft: draft.record.__setitem__(key, value)


def manifest(key: str, value: Any) -> Change:
    """Puts a value, or what a function makes of the old one, into the manifest."""
    return lambda draft: draft.edits.__setitem__(key, value)


def array(stem: str, change: Callable[[np.ndarray], np.ndarray], at: int = 0) -> Change:
    """Changes one array of a file."""

    def apply(draft: Draft) -> None:
        name = sorted(draft.arrays[stem])[at]
        draft.arrays[stem][name] = change(draft.arrays[stem][name])

    return apply


def named(stem: str, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Changes the array of a name."""
    return lambda draft: draft.arrays[stem].__setitem__(name, change(draft.arrays[stem][name]))


def set_first(value: float) -> Callable[[np.ndarray], np.ndarray]:
    """Puts a value in an array's first place."""

    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flat[0] = value
        return array

    return change


def raw(file: str, data: bytes) -> Change:
    """Replaces a file's bytes."""
    return lambda draft: draft.raw.__setitem__(file, data)


def tensors(dtype: str, size: int) -> bytes:
    """A safetensors file by hand: one array of two elements of a dtype."""
    header = RAW % (dtype.encode(), size)
    return struct.pack("<Q", len(header)) + header + bytes(size)


def changes() -> Iterator[tuple[str, Change]]:
    """Name and change of every crafted checkpoint; each must be refused by somebody."""
    wrong_numbers = {
        "negative": -1,
        "half": 1.5,
        "text": "3",
        "none": None,
        "true": True,
        "list": [3],
        "huge": 10**39,
        "group": {},
    }
    for word, value in wrong_numbers.items():
        yield f"updates {word}", record("updates", value)
        yield f"episodes {word}", record("episodes", value)
    yield "updates 2^32", record("updates", 2**32)
    yield "updates too few", record("updates", 0)
    for word, value in {
        "negative": -1.0,
        "text": "1",
        "none": None,
        "true": True,
        "list": [1.0],
        "huge": 10**39,
        "1e301": 1e301,
    }.items():
        yield f"seconds {word}", record("seconds", value) if word != "huge" else record("seconds", "9" * 400)
    yield "updates missing", lambda draft: draft.record.pop("updates")
    yield "seconds missing", lambda draft: draft.record.pop("seconds")
    for word, value in {
        "list": [],
        "text": "x",
        "flat": {"agent": "x"},
        "half": {"agent": {"action": "x"}},
    }.items():
        yield f"spaces {word}", record("spaces", value)
    for word, value in {
        "text": "life",
        "list": [],
        "no metric": {"value": 1},
        "steps text": {"metric": "life", "value": 1.0, "agent_steps": "64", "window": [0, 0]},
        "no steps": {"metric": "life", "value": 1.0, "agent_steps": None, "window": [0, 0]},
        "window": {"metric": "life", "value": None, "agent_steps": None, "window": 3},
        "window of 3": {"metric": "life", "value": None, "agent_steps": None, "window": [1, 2, 3]},
        "window text": {"metric": "life", "value": None, "agent_steps": None, "window": ["1", 2]},
        "text value": {"metric": "life", "value": "1"},
        "no place": {"metric": "life", "value": 1.0, "agent_steps": None, "window": [0.0, 0.0]},
        "short window": {"metric": "life", "value": 1.0, "agent_steps": 64, "window": [0.0]},
    }.items():
        yield f"best {word}", record("best", value)
    for word, value in {
        "list": [],
        "no spans": {"turn": None, "both": True},
        "spans": {"turn": None, "both": True, "spans": [[0, 1]]},
    }.items():
        yield f"alternate {word}", record("alternate", value)
    texts = {
        "no JSON": "{",
        "list": "[]",
        "number": "3",
        "NaN": '{"updates": 2, "seconds": NaN}',
        "-1e999": '{"updates": 2, "seconds": -1e999}',
        "twice": '{"updates": 2, "updates": 2, "seconds": 1}',
        "deep": '{"updates": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "nested 200": '{"updates": 2, "seconds": 1, "x": ' + "[" * 200 + "]" * 200 + "}",
        "digits": '{"updates": 2, "seconds": 1, "x": ' + "9" * 5000 + "}",
        "surrogate": '{"updates": 2, "seconds": 1, "x": "\\ud800"}',
        "mark": "\ufeff{}",
        "surrogate raw": '{"updates": 2, "seconds": 1, "x": "\ud800"}',
        "empty": "",
    }
    for word, text in texts.items():
        yield f"record {word}", lambda draft, text=text: setattr(draft, "record_text", text)
    for word, value in {
        "text": "64",
        "negative": -1,
        "float": 64.0,
        "true": True,
        "list": [64],
        "other": 65,
        "huge": 10**39,
    }.items():
        yield f"agent_steps {word}", manifest("agent_steps", value)
    for word, value in {"list": [], "text": "record.json", "none": None, "empty": {}}.items():
        yield f"files {word}", manifest("files", value)
    for word, name in {
        "up": "../policy.safetensors",
        "root": "/etc/passwd.json",
        "nul": "a\0.json",
        "slash": "a/b.json",
        "dot": ".json",
        "other": "x.py",
        "self": "manifest.json",
        "half": "\ud800.json",
    }.items():
        yield (
            f"name {word}",
            manifest("files", lambda files, name=name: {**files, name: files["record.json"]}),
        )
    for word, entry in {
        "none": None,
        "text": "x",
        "no sha": {"size": 1},
        "size text": {"size": "1", "sha256": "0" * 64},
        "size negative": {"size": -1, "sha256": "0" * 64},
        "size huge": {"size": 2**60, "sha256": "0" * 64},
        "sha short": {"size": 1, "sha256": "0"},
        "more": {"size": 1, "sha256": "0" * 64, "x": 1},
    }.items():
        yield f"entry {word}", manifest("files", lambda files, entry=entry: {**files, "record.json": entry})
    for word, value in {
        "text": "x",
        "list": [],
        "no version": {"id": "x"},
        "number": {"id": 3, "version": 1},
        "float": {"id": "x", "version": 1.0},
    }.items():
        yield f"world {word}", manifest("world", value)
    for word, value in {
        "text": "x",
        "no values": {"sha256": "0" * 64},
        "no digest": {"values": {}},
        "empty": {"sha256": "0" * 64, "values": {}},
        "list": {"sha256": "0" * 64, "values": []},
    }.items():
        yield f"settings {word}", manifest("settings", value)
    for word, value in {"other": 3, "older": 1, "list": [[]], "text": "1", "none": None}.items():
        yield f"format {word}", manifest("format_version", value)
    for word, value in {"NaN": np.nan, "infinite": np.inf}.items():
        yield f"policy {word}", array("policy-pop0", set_first(value))
        yield f"optimiser {word}", array("optimiser-pop0", set_first(value), at=1)
        yield f"returns {word}", named("shard-0000", "returns", set_first(value))
    kinds = {
        "double": lambda a: a.astype(np.float64),
        "half": lambda a: a.astype(np.float16),
        "whole": lambda a: a.astype(np.int64),
        "complex": lambda a: a.astype(np.complex64),
        "flags": lambda a: a.astype(bool),
        "0-d": lambda a: a.reshape(-1)[0].copy(),
        "flat": lambda a: a.reshape(1, -1),
        "empty": lambda a: a[:0].copy(),
        "turned": lambda a: np.ascontiguousarray(a[None].T),
        "more": lambda a: np.concatenate([a, a]),
    }
    for word, kind in kinds.items():
        yield f"policy {word}", array("policy-pop0", kind)
        yield f"optimiser {word}", array("optimiser-pop0", kind, at=1)
        yield (
            f"lengths {word}",
            named(
                "shard-0000",
                "lengths",
                lambda a, kind=kind: (
                    kind(a) if kind(a).dtype != a.dtype or kind(a).shape != a.shape else a.astype(np.int32)
                ),
            ),
        )
        yield (
            f"present {word}",
            named(
                "shard-0000",
                "present",
                lambda a, kind=kind: (
                    kind(a) if kind(a).dtype != a.dtype or kind(a).shape != a.shape else a.astype(np.uint8)
                ),
            ),
        )
    yield "lengths negative", named("shard-0000", "lengths", set_first(-1))
    for stem in ("policy-pop0", "optimiser-pop0", "shard-0000", "shard-0001"):
        if not stem.startswith("shard"):  # worlds that cannot be saved leave such a file
            yield f"{stem} without arrays", lambda draft, stem=stem: draft.arrays[stem].clear()
        yield f"{stem} missing", lambda draft, stem=stem: draft.arrays.pop(stem)
        yield (
            f"{stem} lacks one",
            lambda draft, stem=stem: draft.arrays[stem].pop(sorted(draft.arrays[stem])[0]),
        )
    for word, data in {
        "empty": b"",
        "short": b"\0" * 7,
        "long header": struct.pack("<Q", 2**62) + b"{}",
        "no JSON": struct.pack("<Q", 2) + b"{]",
        "bfloat": tensors("BF16", 4),
        "float8": tensors("F8_E4M3", 2),
        "unknown": tensors("X9", 2),
        "cut": tensors("F32", 4),
        "flags of 2": struct.pack("<Q", 52)
        + b'{"x":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}'[:52]
        + b"\2",
    }.items():
        yield f"arrays {word}", raw("policy-pop0.safetensors", data)
    yield "name another", lambda draft: setattr(draft, "name", f"{int(draft.name) + 1:012d}")
    yield "name short", lambda draft: setattr(draft, "name", f"{int(draft.name) * 10}")
