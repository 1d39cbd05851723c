"""A tournament's folder: settings, results and a lock.

``tournament.toml`` has the settings, ``results.jsonl`` one line per match, ``ratings.json`` the ratings once it is complete. The
settings decide every match, so a folder belongs to one set of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import Field, model_validator

from interplay.core import trust
from interplay.core.errors import UserError
from interplay.core.files import FileLock, os_errors_as_user_errors, refuse_links, replace_file, sync_folder
from interplay.core.loading import is_code
from interplay.core.reading import parse_toml
from interplay.core.seals import Sealed, read_sealed, sealed_toml
from interplay.core.settings import Settings, build, to_toml
from interplay.evaluate.tournaments.results_log import ResultsLog

SETTINGS, RESULTS, RATINGS = "tournament.toml", "results.jsonl", "ratings.json"


class TournamentSettings(Settings):
    """What decides every match of a tournament.

    Attributes:
        named: the field with the names of the players or homes.
    """

    named: ClassVar[str]
    kind: str
    world: str = Field(min_length=1, description="Registry id.")
    options: dict[str, Any] = Field({}, description="Options of the world.")
    identities: tuple[str, ...] = Field(description="What each of them was when the tournament began.")
    seed: int = Field(0, ge=0, lt=2**63, description="Of the worlds and of the players' draws.")
    greedy: bool = Field(False, description="Trained policies take their likeliest action.")

    @property
    def policies(self) -> Iterator[str]:
        """Names of runs and policies."""
        yield from getattr(self, self.named)

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """World and policies that name user-defined programs."""
        if ":" in self.world:
            yield "world", self.world
            yield "options", self.options
        yield from ((self.named, name) for name in self.policies if is_code(name))

    @model_validator(mode="after")
    def _one_identity_each(self) -> Self:
        names = getattr(self, self.named)
        if len(self.identities) != len(names):
            raise ValueError(f"identities = {list(self.identities)}: give one for each of {self.named}")
        self.refuse_twice(self.named, names)
        return self

    @staticmethod
    def refuse_twice(key: str, values: Sequence[Any]) -> None:
        """Refuses a value that is named twice."""
        if twice := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
            raise ValueError(f"{key}: {twice[0]} is named twice; name everything once")


S = TypeVar("S", bound=TournamentSettings)


class TournamentFolder(Generic[S]):
    """The folder of one tournament, locked until `close`.

    Args:
        path: created if missing. None keeps everything in memory.
        resume: continue the tournament of the folder.

    Attributes:
        log: results by key.

    Raises:
        UserError: if the folder holds a tournament of other settings, or one that was begun while `resume` is False; if its settings
            were changed or links lead out of it; if another process holds its lock, or it cannot be created.
    """

    def __init__(self, path: Path | str | None, settings: S, resume: bool = False) -> None:
        self.path = None if path is None else Path(path)
        self.settings = settings
        self._lock: FileLock | None = None
        if self.path is None:
            self.log = ResultsLog(None)
            return
        self._lock = _lock(self.path)
        try:
            self._settle(self.path, resume)
            self.log = ResultsLog(self.path / RESULTS)
        except BaseException:
            self._lock.release()
            raise

    def write_ratings(self, ratings: Mapping[str, Any]) -> None:
        """Replaces ``ratings.json`` atomically; does nothing in memory."""
        if self.path is not None:
            text = json.dumps({"world": self.settings.world, **ratings}, indent=1) + "\n"
            with os_errors_as_user_errors("writing", self.path / RATINGS, "the results are intact"):
                replace_file(self.path / RATINGS, text, RATINGS)

    def close(self) -> None:
        """Closes the results and releases the lock."""
        self.log.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> TournamentFolder[S]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settle(self, path: Path, resume: bool) -> None:
        """Writes the settings of a new tournament, or checks them against the folder's."""
        file = path / SETTINGS
        if not file.exists():
            if any(
                not other.name.startswith(".") for other in path.iterdir()
            ):  # a kill may leave a hidden file
                raise UserError(f"{path} holds other things than a tournament; choose another --out")
            with os_errors_as_user_errors("creating the tournament", path):
                trust.write_settings(file, self.settings, sealed_toml(self.settings))
                sync_folder(path.parent)
            return
        stored = _read(file).values
        given = _plain(self.settings)
        for key in [*given, *stored]:
            if stored.get(key) != given.get(key):
                raise UserError(
                    f"{path} holds another tournament: {key} is {_shown(stored.get(key))} there and "
                    f"{_shown(given.get(key))} here; choose another --out"
                )
        if not resume:
            raise UserError(f"{path} already holds this tournament; go on with it by --resume")


def read_settings(path: Path | str, model: type[S], trusted: bool = False) -> S:
    """Reads the settings of the tournament in a folder.

    Args:
        trusted: the file may name programs, see `interplay.core.trust`.

    Raises:
        UserError: if there is no tournament, or its settings are unreadable, or name programs without trust.
    """
    file = _settings_file(path)
    settings = build(model, _read(file).values, str(file))
    trust.admit(settings, file, trusted)
    return settings


def kind_of(path: Path | str) -> str:
    """The ``kind`` of a folder's tournament; errors as of `read_settings`."""
    return str(_read(_settings_file(path)).values.get("kind"))


def score_of(path: Path | str) -> str | None:
    """The score in a folder's settings; None if it has no round robin."""
    score = _read(Path(path) / SETTINGS).values.get("score") if (Path(path) / SETTINGS).is_file() else None
    return None if score is None else str(score)


def _settings_file(path: Path | str) -> Path:
    file = Path(path) / SETTINGS
    if not file.is_file():
        raise UserError(
            f"{path} holds no tournament: {SETTINGS} is missing; begin one with `interplay tournament`"
        )
    return file


def _plain(settings: Settings) -> dict[str, Any]:
    """The settings as read from a file."""
    return parse_toml(to_toml(settings))


def _read(file: Path) -> Sealed:
    """Reads a settings file; refuses one that was changed since it was written."""
    found = read_sealed(file)
    if found.seal == "broken":
        raise UserError(
            f"{file} was changed since the tournament began; restore it, or begin another one in a new folder"
        )
    return found


def _shown(value: Any) -> str:
    text = "not given" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _lock(path: Path) -> FileLock:
    with os_errors_as_user_errors("creating the tournament", path):
        path.mkdir(parents=True, exist_ok=True)
        refuse_links(path, (".lock", SETTINGS, RESULTS, RATINGS))
        lock = FileLock(path / ".lock")
        holder = lock.acquire()
    if holder is not None:
        raise UserError(
            f"{path} is in use by process {holder}; wait until it ends, stop it, or choose another --out"
        )
    return lock
