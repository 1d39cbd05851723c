"""Commands planted in every text field of every file that a verb reads, and every verb asked: none may be executed.

Run from the repository root::

    .venv/bin/python -m bench.trust_commands

Plants a module of the working folder, ``os:system`` and ``subprocess:check_output`` into the settings of a run, the record and
manifest of its checkpoint (with right checksums), its log, a tournament's settings and results, and a list of recorded games.
Prints one line of figures; what was executed, or ended otherwise than well or in one line, is told on standard error.
``--commands 1`` plants the first alone, and ``--fields world`` into fields whose names begin so.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from interplay.cli.main import run as interplay
from tests.cli import planting

Verbs = Callable[[Path, Path], dict[str, tuple[object, ...]]]
TALK = "gridworld/broadcast"


class Source(NamedTuple):
    """A folder, a file in it, how commands are planted there, and who reads it."""

    folder: Path
    file: str
    plant: Callable[[bytes, Sequence[str]], Iterator[planting.Planted]]
    verbs: Verbs
    forge: bool = False


def main() -> int:
    """Plants, asks and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=len(planting.COMMANDS))
    parser.add_argument("--fields", default="")
    chosen = parser.parse_args()
    asked, planted, executed, odd, began = 0, 0, 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_DATA_HOME"] = f"{place}/data"
        for source in _sources(Path(place)):
            data = (source.folder / source.file).read_bytes()
            for one in source.plant(data, planting.COMMANDS[: chosen.commands]):
                if not one.field.startswith(chosen.fields):
                    continue
                planted += 1
                for name, code, followed in _ask(source, one):
                    asked += 1
                    executed += bool(followed)
                    odd += code not in (0, 2)
                    if followed or code not in (0, 2):
                        told = f"{source.file}: {one.field} = {one.command}: {name}: exit code {code}, executed {followed}"
                        print(told, file=sys.stderr, flush=True)
            print(f"{source.file}: {planted} planted, {asked} asked so far", file=sys.stderr, flush=True)
    print(
        f"{planted} commands planted, {asked} commands of the verbs asked: {executed} executed, {odd} ended otherwise than "
        f"well or in one line; {time.monotonic() - began:.0f} s"
    )
    return int(executed + odd > 0)


def _ask(source: Source, one: planting.Planted) -> Iterator[tuple[str, int, list[str]]]:
    """Every verb on a copy of its own: name, exit code, what was executed."""
    for name in source.verbs(Path(), Path()):
        with (
            planting.copied(source.folder, source.file, one.data) as folder,
            tempfile.TemporaryDirectory() as place,
        ):
            if source.forge and not one.field.startswith("files"):
                planting.forge((folder / source.file).parent)
            words = source.verbs(folder, Path(place))[name]
            with planting.watched(Path(place)) as executed:
                code = _run([str(word) for word in words])
            yield name, code, executed


def _run(words: list[str]) -> int:
    errors = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(errors):
        code = interplay(words)
    lines = [line for line in errors.getvalue().splitlines() if line.startswith("interplay: ")]
    return code if len(lines) == (code == 2) else 1


def _sources(place: Path) -> Iterator[Source]:
    made = planting.make_run(place / "run")
    planting.forget_settings(made)
    (checkpoint,) = (made / "checkpoints").iterdir()
    yield Source(made, "settings.toml", planting.plant_toml, planting.verbs)
    for file in ("record.json", "manifest.json"):
        inside = f"checkpoints/{checkpoint.name}/{file}"
        yield Source(made, inside, planting.plant_json, planting.verbs, forge=True)
    yield Source(made, "metrics.jsonl", planting.plant_json_lines, _log_verbs)
    cup = place / "cup"
    options = ("--option", "num_agents=2", "--option", "time_limit=4")
    _made(
        "tournament",
        "random",
        "walker",
        "--world",
        planting.WORLD,
        *options,
        "--matches",
        2,
        "--max-steps",
        2,
        "--out",
        cup,
    )
    yield Source(cup, "tournament.toml", planting.plant_toml, _cup_verbs)
    yield Source(cup, "results.jsonl", planting.plant_json_lines, _cup_verbs)
    games = place / "games"
    _made(
        "talk",
        "random",
        "--world",
        TALK,
        "--games",
        4,
        "--permutations",
        2,
        "--no-probe",
        "time_limit=5",
        "--out",
        games,
    )
    yield Source(games, "talk.jsonl", planting.plant_json_lines, _talk_verbs)


def _log_verbs(run: Path, out: Path) -> dict[str, tuple[object, ...]]:
    return {"curves": ("curves", run, "--out", out / "a.png"), "resume": ("resume", run)}


def _cup_verbs(cup: Path, out: Path) -> dict[str, tuple[object, ...]]:
    return {
        "tournament --resume": ("tournament", "--resume", "--out", cup),
        "tournament": ("tournament", "random", "walker", "--world", planting.WORLD, "--out", cup, "--resume"),
    }


def _talk_verbs(games: Path, out: Path) -> dict[str, tuple[object, ...]]:
    return {
        "talk": ("talk", games, "--permutations", 2, "--no-probe"),
        "talk --transfer": ("talk", games, "--transfer", games, "--permutations", 2, "--no-probe"),
    }


def _made(*words: object) -> None:
    with redirect_stdout(io.StringIO()):
        assert interplay([str(word) for word in words]) == 0, words


if __name__ == "__main__":
    sys.exit(main())
