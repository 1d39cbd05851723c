"""Recorded games on disk: one safetensors file of columns per flush, and an index with checksums.

A shard is complete before its line is appended to ``talk.jsonl``, so a kill at any moment leaves the games of earlier flushes intact.
Files that are not in the index are ignored.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.reading import read_bytes
from interplay.evaluate.communication.recording import TalkRecorder
from interplay.evaluate.communication.table import (
    BOARD_TYPES,
    GAME_TYPES,
    NONE,
    About,
    Boards,
    Games,
    Talk,
    join,
)
from interplay.evaluate.tournaments.results_log import ResultsLog

INDEX = "talk.jsonl"
_SHARD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.safetensors")
_GAMES = {"number": 1, "stream": 2, "role": 2, "team": 2, "winner": 1}  # axes
_BOARDS = {
    **dict.fromkeys(("game", "step", "day", "phase", "round", "public", "counted", "chosen", "tied"), 1),
    **dict.fromkeys(("alive", "spoke", "died"), 2),
    **dict.fromkeys(("names", "words", "reward"), 3),
}
_FLAGS = ("public", "tied", "alive", "spoke", "died")
_LISTS = ("phases", "symbols", "teams", "roles", "terms", "verbs")
_MOST = 2**62
MOST_NAMES = 1_000  # of phases, teams and so on; tables of talk have their square
_TYPES: Mapping[str, Any] = {**GAME_TYPES, **BOARD_TYPES}


class TalkFolder:
    """A growing folder of recorded games, created if missing.

    Example:
        >>> import tempfile
        >>> folder = TalkFolder(Path(tempfile.mkdtemp()) / "talk")
        >>> folder.games
        0
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with os_errors_as_user_errors("making the folder", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        self._log = ResultsLog(self.path / INDEX)
        try:
            for name, entry in self._log.results.items():
                _check_entry(self.path / INDEX, name, entry)
        except BaseException:
            self._log.close()
            raise

    @property
    def games(self) -> int:
        """Number of stored games."""
        return sum(int(entry["games"]) for entry in self._log.results.values())

    def append(self, talk: Talk) -> Path:
        """Writes games durably as a new shard.

        Raises:
            UserError: for games with another description than the stored ones, or a full disk.
        """
        about = _described(talk.about)
        for entry in self._log.results.values():
            if entry["about"] != about:
                raise UserError(
                    f"{self.path}: it holds games of {entry['about']['world']} with another description; "
                    "choose another folder"
                )
        name = f"talk-{len(self._log.results):06d}.safetensors"
        data = safetensors.numpy.save(_columns(talk))
        with os_errors_as_user_errors("writing", self.path / name, "earlier games are intact"):
            replace_file(self.path / name, data, "shard")
        seal = hashlib.sha256(data).hexdigest()
        self._log.append({name: {"games": len(talk), "bytes": len(data), "sha256": seal, "about": about}})
        return self.path / name

    def flush(self, recorder: TalkRecorder, least: int = 1) -> int:
        """Appends a recorder's games if there are at least `least`; returns the number written."""
        if recorder.kept < least or (talk := recorder.take()) is None:
            return 0
        self.append(talk)
        return len(talk)

    def close(self) -> None:
        """Closes the index."""
        self._log.close()

    def __enter__(self) -> TalkFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def holds_talk(path: Path | str) -> bool:
    """Whether a folder holds recorded games."""
    return (Path(path) / INDEX).is_file()


def read_talk(path: Path | str) -> Talk:
    """Reads all games of a folder.

    Raises:
        UserError: if there are none, or a shard is missing, incomplete or changed.
    """
    folder = Path(path)
    if not holds_talk(folder):
        raise UserError(
            f"{folder}: no recorded games there; `interplay talk POLICY --out {folder}` records some"
        )
    with ResultsLog(folder / INDEX) as log:
        for name, entry in log.results.items():
            _check_entry(folder / INDEX, name, entry)
        parts = [_read_shard(folder / name, entry) for name, entry in log.results.items()]
    if not parts:
        raise UserError(
            f"{folder}: no recorded games there; `interplay talk POLICY --out {folder}` records some"
        )
    return join(parts)


def _check_entry(index: Path, name: str, entry: dict[str, Any]) -> None:
    """Refuses an index line that describes no shard."""
    about = entry.get("about")
    fits = _SHARD.fullmatch(name) and all(
        type(entry.get(key)) is int and 0 <= entry[key] < 2**62 for key in ("games", "bytes")
    )
    if not fits or not isinstance(entry.get("sha256"), str) or not is_about(about):
        raise UserError(
            f"{index}: the line of {name[:60]!r} names no recorded games; restore the file, or delete that line"
        )


def _read_shard(path: Path, entry: dict[str, Any]) -> Talk:
    cure = f"restore the file, or delete its line in {INDEX} to go on without its {entry['games']:,} games"
    with os_errors_as_user_errors("reading", path):
        data = read_bytes(path, links=False)
    if len(data) != entry["bytes"] or hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise UserError(f"{path}: torn or changed, its checksum is another; {cure}")
    try:
        arrays = safetensors.numpy.load(data)
        games = Games(*(arrays[f"games.{name}"] for name in Games._fields))
        boards = Boards(*(arrays[f"boards.{name}"] for name in Boards._fields))
    except KeyError as error:
        raise UserError(f"{path}: no column {error}; {cure}") from None
    except (safetensors.SafetensorError, TypeError, ValueError) as error:
        raise UserError(f"{path}: holds no arrays ({' '.join(str(error).split())}); {cure}") from None
    described: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry["about"].items()
    }
    reason = wrong_talk(about := About(**described), games, boards)
    if reason is not None:
        raise UserError(f"{path}: {reason}; {cure}")
    return Talk(about, games, boards)


def _columns(talk: Talk) -> dict[str, np.ndarray]:
    tables: dict[str, Any] = {"games": talk.games, "boards": talk.boards}
    return {
        f"{table}.{name}": np.ascontiguousarray(column)
        for table, columns in tables.items()
        for name, column in columns._asdict().items()
    }


def _described(about: About) -> dict[str, Any]:
    """The description after a round trip through JSON."""
    return json.loads(json.dumps(about._asdict()))


def is_about(value: Any) -> bool:
    """Whether a JSON value is a valid `About`."""
    if not isinstance(value, Mapping) or value.keys() != {*About._fields}:
        return False
    if not all(isinstance(value[name], list) and len(value[name]) <= MOST_NAMES for name in _LISTS):
        return False
    texts = [value[name] for name in ("world", "policy", "arm")]
    texts += [word for name in _LISTS if name != "symbols" for word in value[name]]
    numbers = [*value["symbols"], value["wolves"] + 1 if type(value["wolves"]) is int else None]
    return all(isinstance(word, str) for word in texts) and all(
        type(number) is int and 0 <= number < 2**31 for number in numbers
    )


def wrong_talk(about: About, games: Games, boards: Boards) -> str | None:
    """The first invalid column, in a few words; None if all are valid."""
    for tables, axes in ((games, _GAMES), (boards, _BOARDS)):
        for name, column in tables._asdict().items():
            kinds = "b" if name in _FLAGS else "f" if name == "reward" else "iu"
            # Wider numbers than recorded could make tables larger than memory.
            size = np.dtype(_TYPES.get(name, np.bool_)).itemsize
            if column.ndim != axes[name] or column.dtype.kind not in kinds or column.dtype.itemsize > size:
                return f"column {name} is {column.dtype}{column.shape}"
    rows, count, seats = len(boards.game), len(games.number), games.team.shape[1]
    odd = [name for name, column in boards._asdict().items() if len(column) != rows]
    odd += [name for name, column in games._asdict().items() if len(column) != count]
    odd += [
        name
        for name in ("alive", "spoke", "died", "names", "words")
        if getattr(boards, name).shape[1] != seats
    ]
    if odd or games.role.shape[1] != seats or boards.words.shape[2] != len(about.symbols):
        return f"column {(odd or ['role or words'])[0]} has another length than the others"
    if not np.isfinite(boards.reward).all():
        return "column reward holds NaN or infinity"
    return _out_of_range(about, games, boards, count, seats)


def _out_of_range(about: About, games: Games, boards: Boards, count: int, seats: int) -> str | None:
    """The first column with a number out of range."""
    bounds = {
        "game": (boards.game, 0, count - 1),
        "step": (boards.step, 0, _MOST),
        "phase": (boards.phase, 0, len(about.phases) - 1),
        "chosen": (boards.chosen, NONE, seats - 1),
        "names": (boards.names, NONE, seats - 1),
        "words": (boards.words, NONE, max(about.symbols, default=0) - 1),
        "role": (games.role, 0, _MOST),  # not every world names its roles
        "team": (games.team, NONE, len(about.teams) - 1),
        "winner": (games.winner, NONE, len(about.teams) - 1),
    }
    for name, (column, least, most) in bounds.items():
        if column.size and (int(column.min()) < least or int(column.max()) > most):
            return f"column {name} holds {int(column.min())}..{int(column.max())}, within {least}..{most} was expected"
    if (boards.spoke & (games.team[boards.game] == NONE)).any():
        return "column spoke has words of a seat that is in no team"  # they would count for the last team
    return None
