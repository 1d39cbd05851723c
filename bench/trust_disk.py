"""A disk that fails at 200 cut points over every writer: what was there stays whole, one line, exit code 2.

Run from the repository root::

    .venv/bin/python -m bench.trust_disk --cuts 200

The system itself cuts files short, by its limit on their size (``RLIMIT_FSIZE``). Where this process may mount one, the same
writers then meet a real disk of a few pages that is full (``--no-mount`` leaves that out). Prints a line for each writer and a
last one with the sums; exit status 1 if something was lost, or said in another way.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.trust_damaged_files import ASKED, make_cup, make_match, make_run, make_talk
from interplay.cli.main import USER_ERROR, explain
from interplay.cli.overlays import write as write_overlay
from interplay.connect.werewolf.evaluated import EvaluatedEnv
from interplay.evaluate.communication.shards import TalkFolder, read_talk
from interplay.evaluate.communication.table import Talk
from interplay.evaluate.lifetimes.overlays import Layer, OverlayData
from interplay.evaluate.tournaments.folder import TournamentFolder, read_settings
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings
from interplay.experiment.files import copy_into
from interplay.train.run.checkpoint import CheckpointWriter, keep_best
from interplay.train.run.folder import RunFolder
from interplay.train.run.metrics_log import MetricsLog, drop_lines_after
from interplay.view.curves import plot_runs
from interplay.view.encode import write_video
from interplay.view.output import writing
from interplay.view.picture import save_png

CUTS = 200
PAGE = 4096  # bytes
DISK = 4 * 2**20  # bytes of the mounted one

Write = Callable[[Path], object]


class Writer(NamedTuple):
    """Something that writes.

    Attributes:
        make: fills a folder with what stands there before.
        write: writes over or beside it.
    """

    make: Write
    write: Write


def noise(side: int, seed: int) -> np.ndarray:
    """A picture that does not compress."""
    return np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)


def save_checkpoint(folder: Path) -> None:
    with CheckpointWriter(folder / "run", 128) as writer:
        writer.write("policy", {"w": np.ones(5000, np.float32)})
        keep_best(writer.commit({"updates": 4, "seconds": 2.0}, "bench", 1, ASKED))


def log_metrics(folder: Path) -> None:
    with MetricsLog(folder / "run" / "metrics.jsonl") as log:
        log.write(128, {"return": [0.5] * 600})


def change_settings(folder: Path) -> None:
    with RunFolder.open(folder / "run") as run:
        run.change(run.settings.model_copy(update={"steps": 99}))


def add_results(folder: Path) -> None:
    with ResultsLog(folder / "cup" / "results.jsonl") as log:
        log.append({f"0-2/{n}": {"scores": [n / 3, 1.0]} for n in range(40)})


def rate(folder: Path) -> None:
    settings = read_settings(folder / "cup", RoundRobinSettings)
    with TournamentFolder(folder / "cup", settings, resume=True) as cup:
        cup.write_ratings({"text": "x" * 9000})


def record_talk(folder: Path) -> None:
    talk = read_talk(folder / "talk")
    with TalkFolder(folder / "talk") as kept:
        kept.append(Talk(talk.about, talk.games, talk.boards))


def record_game(folder: Path) -> None:
    """The wrapper's own way to the disk, without its game."""

    class Rows:
        def columns(self) -> dict[str, np.ndarray]:
            return {"reward": np.random.default_rng(2).random((40, 9))}

    env: Any = EvaluatedEnv.__new__(EvaluatedEnv)
    env.folder, env._record = folder / "games", Rows()
    env._write()


def record_video(suffix: str, seed: int) -> Write:
    def record(folder: Path) -> None:
        with writing(folder / f"a{suffix}", (suffix,)) as temporary:
            write_video(temporary, (noise(64, seed + i) for i in range(8)))

    return record


def draw_overlay(folder: Path) -> None:
    layer = Layer(
        "visits", "Visits", np.random.default_rng(3).random((9, 9)), "map", "diverging", "", "", (0.0, 1.0)
    )
    write_overlay(OverlayData("visits", "Visits", (layer,)), folder)


def copy_config(folder: Path) -> None:
    config = folder.parent / "experiment.py"
    if not config.exists():
        config.write_text("params = {}\n" * 500)
    copy_into(config, folder)


def begin_nothing(folder: Path) -> None:
    (folder / "games").mkdir()


def writers() -> dict[str, Writer]:
    """Every way in which the package writes files that matter."""
    return {
        "checkpoint": Writer(make_run, save_checkpoint),
        "metrics, a line": Writer(make_run, log_metrics),
        "metrics, rewound": Writer(
            make_run, lambda folder: drop_lines_after(folder / "run" / "metrics.jsonl", 32)
        ),
        "settings": Writer(make_run, change_settings),
        "a new run": Writer(
            lambda folder: None, lambda folder: RunFolder.create(folder / "run", ASKED).close()
        ),
        "results": Writer(make_cup, add_results),
        "ratings": Writer(make_cup, rate),
        "a new tournament": Writer(lambda folder: None, make_cup),
        "picture": Writer(
            lambda f: save_png(noise(48, 0), f / "a.png"), lambda f: save_png(noise(64, 1), f / "a.png")
        ),
        "curves": Writer(
            make_run, lambda folder: plot_runs([folder / "run"], folder / "a.png", columns=["return"])
        ),
        "video": Writer(record_video(".mp4", 0), record_video(".mp4", 9)),
        "animation": Writer(record_video(".gif", 0), record_video(".gif", 9)),
        "recording": Writer(lambda folder: None, make_match),
        "recorded talk": Writer(make_talk, record_talk),
        "recorded games": Writer(begin_nothing, record_game),
        "overlay": Writer(lambda folder: None, draw_overlay),
        "experiment's file": Writer(lambda folder: None, copy_config),
    }


# -- disks that fail ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cut_at(size: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def filled(disk: Path, pages: int) -> Iterator[None]:
    """A disk with so many pages left."""
    free = shutil.disk_usage(disk).free // PAGE
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(max(free - pages, 0) * PAGE))
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def small_disk() -> Iterator[Path | None]:
    """A file system of its own in memory; None where this process may not mount one."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK},nr_inodes=512", "tmpfs", folder]
        mounted = (
            sys.platform == "linux"
            and shutil.which("mount")
            and subprocess.run(command, check=False, capture_output=True).returncode == 0
        )
        try:
            yield Path(folder) if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", folder], check=False)


# -- the count ----------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder; locks say who holds them."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != ".lock"
    }


def sizes_of(writer: Writer, folder: Path) -> int:
    """The largest file that a writer leaves."""
    folder.mkdir()
    writer.make(folder)
    before = contents(folder)
    writer.write(folder)
    return max(len(data) for name, data in contents(folder).items() if before.get(name) != data)


def try_to_write(writer: Writer, folder: Path, failing: contextlib.AbstractContextManager[None]) -> str:
    """Writes on a failing disk: "went through", "refused", or what was wrong."""
    folder.mkdir()
    writer.make(folder)
    before = contents(folder)
    try:
        with failing:
            writer.write(folder)
    except Exception as error:
        line, code = explain(error)
        if code != USER_ERROR or "\n" in line:
            return f"exit code {code}: {line[:200]}"
        after = contents(folder)
        lost = [name for name, data in before.items() if after.get(name) != data]
        more = [name for name in after if name not in before and Path(name).name.startswith(".")]
        return f"{line[:100]}: lost {lost}, left {more}" if lost or more else "refused"
    return "went through"


def fail(name: str, writer: Writer, cuts: int, folder: Path) -> Counter[str]:
    """Cuts a writer's files short at points spread evenly over its largest one."""
    size = sizes_of(writer, folder / "whole")
    points = sorted({size * i // max(cuts - 1, 1) for i in range(cuts - 1)} | {size - 1})
    found: Counter[str] = Counter()
    for number, point in enumerate(points):
        found[try_to_write(writer, folder / str(number), cut_at(point))] += 1
    return found


def fill(name: str, writer: Writer, cuts: int, disk: Path) -> Counter[str]:
    """Lets a writer meet a disk with ever more pages left."""
    found: Counter[str] = Counter()
    for pages in range(cuts):
        found[try_to_write(writer, disk / name.replace(" ", "-"), filled(disk, pages))] += 1
        shutil.rmtree(disk / name.replace(" ", "-"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cuts", type=int, default=CUTS, help="cut points in all")
    parser.add_argument("--no-mount", action="store_true", help="no disk of its own")
    options = parser.parse_args()
    total, all_writers = Counter[str](), writers()
    each = -(-options.cuts // len(all_writers))
    with small_disk() as disk, tempfile.TemporaryDirectory() as scratch:
        for name, writer in all_writers.items():
            (folder := Path(scratch) / name).mkdir()
            found = fail(name, writer, each, folder)
            if disk is not None and not options.no_mount:
                found += fill(name, writer, max(each // 3, 2), disk)
            total += found
            print(f"{name:20}", ", ".join(f"{what} {n}" for what, n in sorted(found.items())), flush=True)
    wrong = total.total() - total["refused"] - total["went through"]
    where = "the system's limit on files" + ("" if disk is None or options.no_mount else " and a full disk")
    print(
        f"{total.total()} writes over {len(all_writers)} writers, cut by {where}: {total['refused']} refused in one line with "
        f"exit code {USER_ERROR} and nothing lost, {total['went through']} went through, {wrong} wrong"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
