"""Damaged files of runs, tournaments and recordings: refused in one line, or equal in meaning; nothing silent, no traceback.

Run from the repository root::

    .venv/bin/python -m bench.trust_damaged_files --count 20000 --seed 0

Every file is made sound, damaged by one accident (flipped bits, cuts, lost, doubled and exchanged blocks and lines, inserted bytes,
edited numbers, nasty words), read by the reader that its verb uses, and its meaning compared with that of the sound one. Every
eighth damage is a forgery: numbers are edited and all checksums made anew; these may load, but never end in a traceback. Prints
one line for each kind of file and a last one with the sums; exit status 1 if one was silent or broke.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import random
import re
import resource
import shutil
import struct
import sys
import tempfile
import tomllib
import traceback
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.connect.werewolf.evaluated import read_log
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.core.replay.layout import PRELUDE
from interplay.core.seals import canonical, sealed_toml
from interplay.core.settings import build
from interplay.evaluate.communication.shards import TalkFolder, read_talk
from interplay.evaluate.communication.table import BOARD_TYPES, About, Boards, Games, Talk
from interplay.evaluate.tournaments.folder import TournamentFolder, read_settings
from interplay.evaluate.tournaments.results_log import ResultsLog, _check
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings
from interplay.registry import make_world
from interplay.train.run.checkpoint import CheckpointWriter, read_checkpoint
from interplay.train.run.folder import RunFolder
from interplay.train.run.manifest import _checksum, _fingerprint
from interplay.train.run.settings_file import PACE, settings_of
from interplay.train.settings import TrainSettings
from interplay.view.run_log import read_run

COUNT, SEED = 20_000, 0
MEMORY = 256 * 2**20  # bytes over the start
FORGED = 8  # every so many-th damage

NASTY = [b"NaN", b"-1e999", b"null", b"true", b'"x"', b"9" * 5000, b"[" * 3000, b"{}", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b'\\ud800', b"../../x", b"-1", b"1e308", b"0"]  # fmt: skip
STEPS = "000000000064"


class Subject(NamedTuple):
    """A file that is damaged.

    Attributes:
        file: inside the folder that `make` fills.
        make: fills a folder.
        read: the meaning of what stands there: plain values.
        same: whether a meaning that was read says nothing else than the sound one.
        forge: makes the checksums of the folder fit again; None: there are none.
    """

    file: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    same: Callable[[Any, Any], bool] = lambda found, sound: found == sound
    forge: Callable[[Path], None] | None = None


# -- folders ------------------------------------------------------------------------------------------------------


ASKED = build(
    TrainSettings,
    {"world": {"id": "survival/1v1-heals-low", "options": {"health_cap": 100}}, "seed": 5, "steps": 4096},
    "bench",
)


def make_run(folder: Path) -> None:
    """A run with one checkpoint and a log."""
    rng = np.random.default_rng(1)
    with RunFolder.create(folder / "run", ASKED) as run:
        for steps in (16, 32, 64):
            run.log(steps, {"return": steps / 3, "kl": float("nan"), "by_agent": {"return": [0.5, 1.5]}})
        with CheckpointWriter(run.path, 64) as writer:
            writer.write(
                "policy-pop0",
                {"agent/w": rng.normal(size=(6, 5)).astype(np.float32), "agent/b": np.ones(5, np.float32)},
            )
            writer.write("shard-0000", {"present": np.array([[True, False]]), "lengths": np.array([3, 9])})
            writer.commit({"updates": 2, "episodes": 7, "seconds": 1.25}, "survival/1v1-heals-low", 3, ASKED)


def make_cup(folder: Path) -> None:
    """A tournament with some results."""
    names = ("random", "hunter", "zone")
    settings = build(
        RoundRobinSettings,
        {"world": "survival/1v1-heals-low", "players": names, "identities": names},
        "bench",
    )
    with TournamentFolder(folder / "cup", settings) as cup:
        for n in range(6):
            scores = [n / 7, 1 - n / 7]
            cup.log.append(
                {
                    f"0-1/{n}": {
                        "scores": scores,
                        "ranks": [2, 1],
                        "return": scores,
                        "steps": 10 + n,
                        "truncated": False,
                        "seed": 2**63 + n,
                    }
                }
            )


def make_talk(folder: Path) -> None:
    """Recorded games in two shards."""
    about = About(
        "werewolf/5",
        "random",
        ("talk", "vote"),
        (3,),
        ("wolves", "villagers"),
        ("wolf", "villager"),
        ("win",),
        (),
        0,
    )
    with TalkFolder(folder / "talk") as talk:
        for number in range(2):
            games = Games(
                np.array([number]),
                np.ones((1, 2), np.uint64),
                np.zeros((1, 3), np.uint8),
                np.zeros((1, 3), np.int8),
                np.zeros(1, np.int8),
            )
            shapes = {
                "names": (4, 3, 1),
                "words": (4, 3, 1),
                "reward": (4, 3, 1),
                "alive": (4, 3),
                "spoke": (4, 3),
                "died": (4, 3),
            }
            columns = [
                np.zeros(shapes.get(name, (4,)), BOARD_TYPES.get(name, np.bool_)) for name in Boards._fields
            ]
            talk.append(Talk(about, games, Boards(*columns)._replace(step=np.arange(4, dtype=np.int32))))


def make_games(folder: Path) -> None:
    """A recorded game of the evaluation wrapper."""
    (folder / "games").mkdir()
    t, n = 6, 5
    columns = {name: np.arange(t) for name in ("phase", "round", "day", "chosen")} | {
        "tied": np.zeros(t, bool)
    }
    columns |= {
        "targets": np.ones((t, n), int),
        "living": np.ones((t, n), bool),
        "reward": np.ones((t, n), np.float32),
    }
    columns |= {"signals": np.ones((t, n, 2), int), "terms": np.ones((t, n, 5), np.float32)}
    np.savez_compressed(
        folder / "games" / "game-00000000.npz", key=np.ones(3, np.uint64), role=np.arange(n), **columns
    )


def make_match(folder: Path) -> None:
    """A recording of a world of ours, its states and actions included."""
    world, policy = make_world("dilemma/fixed", rounds=30), RandomPolicy()
    with WorldRecorder(folder / "match.replay", world, snapshot_every=12) as recorder:
        world.reset(seeds=5)
        policy.start(world, 5)
        recorder.begin()
        while not world.timestep.over[0]:
            action = policy.act(world.timestep)
            world.step(action)
            recorder.step(action, bool(world.timestep.over[0]))


# -- readers ------------------------------------------------------------------------------------------------------


def arrays_as_plain(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Arrays that can be compared."""
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def read_for_evaluate(folder: Path) -> Any:
    """What `evaluate` takes from the settings: all but how far a run goes."""
    values = canonical(settings_of(folder / "run" / "checkpoints" / STEPS))
    return {key: value for key, value in values.items() if key not in PACE}


def read_for_resume(folder: Path) -> Any:
    """What `resume` takes from them; an edit that is told is no silent one."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), RunFolder.open(folder / "run") as run:
        run.admit(read_checkpoint(folder / "run" / "checkpoints" / STEPS))
        values = canonical(run.settings)
    if said.getvalue():
        raise UserError(said.getvalue().strip())
    return values


def read_whole_checkpoint(folder: Path) -> Any:
    """Arrays, record and what the manifest says."""
    found = read_checkpoint(folder / "run" / "checkpoints" / STEPS)
    manifest = {key: value for key, value in found.manifest.items() if key != "checksum"}
    return {stem: arrays_as_plain(arrays) for stem, arrays in found.arrays.items()}, found.record, manifest


def read_results(folder: Path) -> Any:
    """Results by key."""
    with ResultsLog(folder / "cup" / "results.jsonl") as log:
        return dict(log.results)


def read_games_of(folder: Path) -> Any:
    """Every game's rows, by its number."""
    talk = read_talk(folder / "talk")
    return {
        int(number): (
            talk.about,
            [column[talk.boards.game == g].tobytes() for column in talk.boards[1:]],
            [c[g].tobytes() for c in talk.games],
        )
        for g, number in enumerate(talk.games.number)
    }


def read_curves(folder: Path) -> Any:
    """Nothing: a log has no checksums, so what stands there is what it says."""
    read_run(folder / "run")


def read_match(folder: Path) -> Any:
    """Frames and marks; a trouble that is told is no silent one."""
    with ReplayReader(folder / "match.replay") as reader:
        frames = [(frame.tick, frame.first, frame.last, repr(frame.scene)) for frame in reader.frames()]
        marks = reader.marks()
        state = int(reader.world_at(reader.ticks - 1, start=0).hash()[0])
        if reader.troubles:
            raise UserError(reader.troubles[0])
        return reader.header, frames, marks, state


def parts_of(found: Any, sound: Any) -> bool:
    """What is there is as it was; what is missing is played again, or was never counted."""
    return all(key in sound and sound[key] == value for key, value in found.items())


# -- forgeries ----------------------------------------------------------------------------------------------------


def forge_manifest(folder: Path) -> None:
    """Makes the checksums of a checkpoint fit what stands there."""
    path = folder / "run" / "checkpoints" / STEPS
    with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
        manifest = json.loads((path / "manifest.json").read_bytes())
        manifest["files"] = {
            f.name: _fingerprint(f.read_bytes()) for f in path.iterdir() if f.name != "manifest.json"
        }
        manifest["checksum"] = _checksum(manifest)
        (path / "manifest.json").write_text(json.dumps(manifest))


def forge_lines(file: str) -> Callable[[Path], None]:
    """Makes the checksums of the lines of a log fit, and those of the shards that they name."""

    def forge(folder: Path) -> None:
        lines = []
        for line in (folder / file).read_bytes().split(b"\n"):
            with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
                entry = json.loads(line)
                entry.pop("check", None)
                shard = folder / "talk" / str(entry.get("key"))
                if "sha256" in entry and shard.is_file():
                    data = shard.read_bytes()
                    entry |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                line = json.dumps({**entry, "check": _check(entry)}).encode()
            lines.append(line)
        (folder / file).write_bytes(b"\n".join(lines))

    return forge


def forge_settings(folder: Path) -> None:
    """Seals what the settings say now."""
    file = folder / "cup" / "tournament.toml"
    with contextlib.suppress(ValueError, RecursionError):
        values = tomllib.loads(file.read_text())
        file.write_text(sealed_toml(build(RoundRobinSettings, values, "forger")))


def forge_match(folder: Path) -> None:
    """Makes the checksum of a recording's header fit, and those of the chunks behind it that are still where they were."""
    file = folder / "match.replay"
    data = file.read_bytes()
    with contextlib.suppress(struct.error):
        _, _, _, length = PRELUDE.unpack_from(data)
        end = PRELUDE.size + length
        data = data[:end] + struct.pack("<I", zlib.crc32(data[:end])) + data[end + 4 :]
        file.write_bytes(data)


CHECKPOINT = f"run/checkpoints/{STEPS}"
SUBJECTS = {
    "settings, evaluate": Subject("run/settings.toml", make_run, read_for_evaluate),
    "settings, resume": Subject("run/settings.toml", make_run, read_for_resume),
    "manifest": Subject(f"{CHECKPOINT}/manifest.json", make_run, read_whole_checkpoint, forge=forge_manifest),
    "record": Subject(f"{CHECKPOINT}/record.json", make_run, read_whole_checkpoint, forge=forge_manifest),
    "arrays": Subject(
        f"{CHECKPOINT}/policy-pop0.safetensors", make_run, read_whole_checkpoint, forge=forge_manifest
    ),
    "tournament": Subject(
        "cup/tournament.toml",
        make_cup,
        lambda folder: canonical(read_settings(folder / "cup", RoundRobinSettings)),
        forge=forge_settings,
    ),
    "results": Subject(
        "cup/results.jsonl", make_cup, read_results, parts_of, forge_lines("cup/results.jsonl")
    ),
    "talk, list": Subject(
        "talk/talk.jsonl", make_talk, read_games_of, parts_of, forge_lines("talk/talk.jsonl")
    ),
    "talk, games": Subject(
        "talk/talk-000000.safetensors", make_talk, read_games_of, parts_of, forge_lines("talk/talk.jsonl")
    ),
    "games": Subject(
        "games/game-00000000.npz",
        make_games,
        lambda folder: [arrays_as_plain(game) for game in read_log(folder / "games")],
    ),
    "metrics": Subject("run/metrics.jsonl", make_run, read_curves),
    "recording": Subject("match.replay", make_match, read_match, forge=forge_match),
}


# -- damage -------------------------------------------------------------------------------------------------------


def damage(data: bytes, chance: random.Random) -> bytes:
    """One accident."""
    size = len(data)
    a, b = sorted((chance.randrange(size + 1), chance.randrange(size + 1)))
    b = min(b, a + chance.choice((1, 4, 16, 512, size)))
    kind = chance.randrange(10)
    if kind == 0:
        at = chance.randrange(size)
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[:a]
    if kind == 2:
        return data[:a] + data[b:]
    if kind == 3:
        return data[:b] + data[a:b] + data[b:]
    if kind == 4:
        return data[:a] + bytes(b - a) + data[b:]
    if kind == 5:
        return data[:a] + chance.choice(NASTY) + data[b if chance.random() < 0.5 else a :]
    if kind == 6:
        return edit_number(data, chance)
    if kind == 7:
        return data[:a] + chance.randbytes(b - a) + data[b:]
    lines = data.splitlines(keepends=True)
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    if kind == 8:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(j, lines[i])
    return b"".join(lines)


def edit_number(data: bytes, chance: random.Random) -> bytes:
    """Another number, or something else, in the place of one."""
    found = list(re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", data))
    if not found:
        return data[:-1]
    one = chance.choice(found)
    number = str(chance.randrange(10 ** chance.randrange(1, 12))).encode()
    return data[: one.start()] + chance.choice((number, b"-" + number, *NASTY)) + data[one.end() :]


# -- the count ----------------------------------------------------------------------------------------------------


def outcome(
    subject: Subject, sound: Path, meaning: Any, scratch: Path, chance: random.Random, forged: bool
) -> tuple[str, str]:
    """Damages one file and reads it: what came of it, and details."""
    if scratch.exists():
        shutil.rmtree(scratch)
    shutil.copytree(sound, scratch)
    file = scratch / subject.file
    data = file.read_bytes()
    harmed = edit_number(data, chance) if forged else damage(data, chance)
    file.write_bytes(harmed)
    if forged and subject.forge is not None:
        subject.forge(scratch)
    try:
        found = subject.read(scratch)
    except UserError as error:
        return ("refused", "") if "\n" not in str(error) else ("several lines", str(error)[:300])
    except Exception:
        return "traceback", traceback.format_exc(limit=-3) + repr(harmed[:400])
    if subject.same(found, meaning):
        return "equal", ""
    return ("forged", "") if forged and subject.forge is not None else ("silent", repr(harmed[:2000]))


def count_damage(name: str, count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Damages one kind of file so many times; what came of it, and what went wrong."""
    subject, chance = SUBJECTS[name], random.Random(f"{seed} {name}")
    sound = folder / "sound"
    sound.mkdir(parents=True)
    subject.make(sound)
    meaning = subject.read(sound)
    counts: Counter[str] = Counter()
    faults = []
    for number in range(count):
        what, told = outcome(subject, sound, meaning, folder / "damaged", chance, number % FORGED == 0)
        counts[what] += 1
        if told:
            faults.append(f"{name}, damage {number}: {what}: {told}")
    return counts, faults


def grown() -> int:
    """Bytes that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=COUNT, help="damaged files in all")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    start, every, total = grown(), -(-options.count // len(SUBJECTS)), Counter[str]()
    for name in SUBJECTS:
        with tempfile.TemporaryDirectory() as folder:
            counts, faults = count_damage(name, every, options.seed, Path(folder))
        total += counts
        print(f"{name:20}", ", ".join(f"{what} {n:,}" for what, n in sorted(counts.items())), flush=True)
        for fault in faults[:3]:
            print(fault, file=sys.stderr)
    memory = grown() - start
    bad = total["silent"] + total["traceback"] + total["several lines"]
    print(
        f"{total.total():,} damaged files: {total['refused']:,} refused, {total['equal']:,} equal in meaning, {total['forged']:,} forged, "
        f"{total['silent']} silent, {total['traceback']} tracebacks, peak memory {memory / 2**20:.0f} MiB over start"
    )
    return int(bad > 0 or memory > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
