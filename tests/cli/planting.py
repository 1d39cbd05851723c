"""Commands planted into the text fields of files that verbs read, and a watch over whether one of them is followed.

`bench.trust_commands` plants them into every field and asks every verb; the tests ask for less.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.settings import build
from interplay.core.settings_text import toml_value
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

WORLD = "simulation/multi-corridor"
CANARY = "planted_canary"
COMMANDS = (f"{CANARY}:sing", "os:system", "subprocess:check_output")
SETTINGS = {
    "world": {"id": WORLD, "options": {"num_agents": 2, "end": 4, "time_limit": 4}},
    "num_worlds": 2,
    "steps": 1,
    "train": {"shards": 1, "quiet": True},
    "ppo": {"rollout": 4, "minibatch": 8, "epochs": 1, "target_kl": "off"},
    "network": {"kind": "mlp", "hidden": [4]},
}
_SPIED = (
    (os, "system"),
    (os, "popen"),
    (subprocess, "Popen"),
    (subprocess, "run"),
    (subprocess, "call"),
    (subprocess, "check_call"),
    (subprocess, "check_output"),
    (subprocess, "getoutput"),
)


class Planted(NamedTuple):
    """A file with a command in one of its fields."""

    field: str
    command: str
    data: bytes


def make_run(out: Path) -> Path:
    """A run with a sound checkpoint, as short as can be."""
    return train(build(TrainSettings, SETTINGS, "test"), out)


def verbs(run: Path, out: Path) -> dict[str, tuple[object, ...]]:
    """Every command that reads a run."""
    few = ("--max-steps", 2)
    return {
        "evaluate": ("evaluate", run, "--episodes", 1, "--num-worlds", 1, *few),
        "evaluate --at-checkpoints": ("evaluate", run, "--at-checkpoints", "--episodes", 1, "--out", out / "rows", *few),
        "evaluate --world": ("evaluate", run, "--world", WORLD, "--episodes", 1, *few),
        "evaluate --roles": ("evaluate", "random", "--world", WORLD, "--roles", f"pop0={run}", "--episodes", 1, *few),
        "record": ("record", run, "--out", out / "a.png", "--step", 1, *few),
        "transcript": ("transcript", run, *few),
        "resume": ("resume", run),
        "tournament": ("tournament", run, "random", "--matches", 2, "--out", out / "cup", *few),
        "tournament --world": ("tournament", run, "random", "--world", WORLD, "--matches", 2, "--out", out / "cup"),
        "tournament --merge": ("tournament", run, "random", "--merge", "--out", out / "cup"),
        "talk": ("talk", run, "--games", 1, "--no-probe"),
        "talk --against": ("talk", "random", "--world", WORLD, "--against", run, "--games", 1, "--no-probe"),
        "analyze": ("analyze", run, "--overlay", "lives", "--out", out / "overlays", "--ticks", 2),
        "visualize": ("visualize", run, "--record-only"),
        "train opponents": ("train", WORLD, "world.options.num_agents=2", "num_worlds=4", "ppo.rollout=4", "--steps", 1, "--workers", 1, "population.by=name",
                            'population.groups={a=["agent0"],b=["agent1"]}', f"opponents.b={run}", "--out", out / "new"),
        "train file": ("train", run / "settings.toml", "--workers", 1, "--out", out / "new"),
    }  # fmt: skip


@contextmanager
def watched(folder: Path) -> Iterator[list[str]]:
    """A working folder with a module that sings when it is imported, and spies on the usual ways to start a program.

    Gives the list of what was executed.
    """
    executed: list[str] = []
    song = folder / "song"
    (folder / f"{CANARY}.py").write_text(
        f"from pathlib import Path\nPath({str(song)!r}).write_text('x')\n\n\ndef sing(*_, **__):\n    pass\n"
    )
    before, path = Path.cwd(), list(sys.path)
    kept = [(module, name, getattr(module, name)) for module, name in _SPIED]

    def spy(name: str) -> Callable[..., Any]:
        def called(*_: Any, **__: Any) -> Any:
            executed.append(name)
            return 0

        return called

    os.chdir(folder)
    for module, name, _ in kept:
        setattr(module, name, spy(f"{module.__name__}.{name}"))
    try:
        yield executed
        if song.exists() or CANARY in sys.modules:
            executed.append(CANARY)
    finally:
        for module, name, real in kept:
            setattr(module, name, real)
        sys.path[:] = path
        sys.modules.pop(CANARY, None)
        os.chdir(before)


def plant_toml(data: bytes, commands: Sequence[str]) -> Iterator[Planted]:
    """Every command in every text field of a TOML file, whatever it was sealed with."""
    values = tomllib.loads(data.decode())
    for path, command, changed in _plant(values, commands):
        lines = (f"{json.dumps(key)} = {toml_value(value)}\n" for key, value in changed.items())
        yield Planted(path, command, "".join(lines).encode())


def plant_json(data: bytes, commands: Sequence[str]) -> Iterator[Planted]:
    """Every command in every text field of a JSON document."""
    for path, command, changed in _plant(json.loads(data), commands):
        yield Planted(path, command, json.dumps(changed).encode())


def plant_json_lines(data: bytes, commands: Sequence[str]) -> Iterator[Planted]:
    """Every command in every text field of a log's first line."""
    first, _, rest = data.partition(b"\n")
    for planted in plant_json(first, commands):
        yield planted._replace(data=planted.data + b"\n" + rest)


def forge(checkpoint: Path) -> None:
    """Gives a checkpoint right checksums again, as somebody would who has altered it on purpose."""
    file = checkpoint / "manifest.json"
    manifest = json.loads(file.read_bytes())
    for name in manifest["files"]:
        data = (checkpoint / name).read_bytes()
        manifest["files"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest.pop("checksum", None)
    sealed = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    file.write_bytes(json.dumps(manifest | {"checksum": sealed}).encode())


def forget_settings(run: Path) -> None:
    """Takes the settings' values out of the checkpoints' manifests, so that the file is believed, as somebody would on purpose."""
    for checkpoint in (run / "checkpoints").iterdir():
        file = checkpoint / "manifest.json"
        manifest = json.loads(file.read_bytes())
        manifest.pop("settings", None)
        file.write_bytes(json.dumps(manifest).encode())
        forge(checkpoint)


@contextmanager
def copied(folder: Path, file: str, data: bytes) -> Iterator[Path]:
    """A copy of a folder with another content of one file, removed at the end."""
    target = folder.with_name(f"{folder.name}-planted")
    shutil.copytree(folder, target)
    (target / file).write_bytes(data)
    try:
        yield target
    finally:
        shutil.rmtree(target)


def _plant(values: Any, commands: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    for place in _places(values):
        for command in commands:
            changed = copy.deepcopy(values)
            inside = changed
            for key in place[:-1]:
                inside = inside[key]
            if isinstance(inside, list) and place[-1] == len(inside):
                inside.append(command)
            else:
                inside[place[-1]] = command
            yield ".".join(map(str, place)), command, changed


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of texts, and places in empty lists and groups where one could stand."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
        if path:
            yield (*path, "planted")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, index))
        yield (*path, len(value))
