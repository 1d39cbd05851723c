"""Reads ratings for the page: the standings of a tournament's folder, or the league of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.reading import read_json, read_toml
from interplay.evaluate.results import NAMES
from interplay.evaluate.tournaments.match_recordings import MOST, recording_name
from interplay.evaluate.tournaments.matchups import seat
from interplay.view.run_log import finite, one_line
from interplay.view.server.refusals import NotThere, Unreadable

RATINGS = "ratings.json"
_MOST_GAMES = 2**53  # of two players; larger sums are not exact


def has_ratings(run: Path) -> bool:
    """Whether a folder has ratings, or a league that may have some; raises `UserError` for unreadable settings."""
    return os.path.lexists(run / RATINGS) or has_league(run)


def ratings_of(
    run: Path, number: Callable[[str], int] = lambda name: 0, files: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The ratings of a folder.

    Args:
        number: of a player, by its name.
        files: numbers of the recordings in its folder of matches, by their names.

    Raises:
        NotThere: if there are none.
        Unreadable: if they are damaged.
    """
    if os.path.lexists(run / RATINGS):
        return _of_tournament(run, number, files or {})
    if has_league(run):
        return _of_league(run, number)
    raise NotThere(f"{run.name}: neither a tournament nor a league; `interplay tournament` rates players")


def _of_tournament(folder: Path, number: Callable[[str], int], files: Mapping[str, int]) -> dict[str, Any]:
    data = read_ratings(folder)
    try:
        names = [one_line(str(name)) for name in data["names"]]
        players = {str(row["player"]): row for row in data["players"]}
        wins = [[float(x) for x in row] for row in data.get("points", data.get("wins"))]
        rows = [players[str(name)] for name in data["names"]]
        if len(wins) != len(names) or any(len(row) != len(names) for row in wins):
            raise ValueError("rows of another length")
        if not all(0 <= x <= _MOST_GAMES for row in wins for x in row):
            raise ValueError("no numbers of games")
        games = [[wins[i][j] + wins[j][i] for j in range(len(names))] for i in range(len(names))]
        seen = [
            {
                "id": number(str(raw)),
                **_player(name, row["elo"], row["elo_interval"], row["matches"]),
                "shares": _shares(row.get("shares")),
                "actions": one_line(str(row.get("actions", ""))),
            }
            for raw, name, row in zip(data["names"], names, rows, strict=True)
        ]
        return {
            "players": seen,
            "payoff": [
                [wins[i][j] / games[i][j] if games[i][j] else None for j in range(len(names))]
                for i in range(len(names))
            ],
            "games": games,
            "seats": _seats(data.get("seats"), len(names)),
            "matches": _recorded(data.get("recorded", []), len(names), files),
            "score": one_line(str(data.get("score", ""))),
            "playable": read_toml(folder / "tournament.toml", links=False).get("kind") == "round robin",
        }
    except (KeyError, TypeError, ValueError, IndexError):
        raise Unreadable(
            f"{folder.name}/{RATINGS}: no standings that this version knows; rate again with `interplay tournament --resume`"
        ) from None


def _of_league(run: Path, number: Callable[[str], int]) -> dict[str, Any]:
    from interplay.train.selfplay.league.reading import read_league

    with reading_league(run):
        table = read_league(run)
    met = table.payoff.met
    unknown: dict[str, Any] = {"shares": {}, "actions": ""}
    players = [
        {"id": number(name), **_player(one_line(name), table.elo[i], None, met[i].sum()), **unknown}
        for i, name in enumerate(table.names)
    ]
    return {
        "players": players,
        "payoff": [[finite(x) for x in row] for row in table.shares.tolist()],
        "games": met.tolist(),
        "seats": _by_seats((table.payoff.total + table.payoff.matches) / 2, table.payoff.matches),
        "matches": [],
        "score": "",
        "playable": True,
    }


def _shares(data: Any) -> dict[str, list[float]]:
    """Won, lost, drawn, cut -> share of a player's matches and its interval; empty for older versions."""
    found = {}
    for name in NAMES if data is not None else ():
        if name in data:
            found[name] = [float(data[name][part]) for part in ("share", "low", "high")]
            if not all(0 <= value <= 1 for value in found[name]):
                raise ValueError("no shares of matches")
    return found


def _seats(data: Any, players: int) -> dict[str, Any] | None:
    """Shares by seats of a tournament; None for older versions and worlds without seats."""
    if data is None:
        return None
    wins, matches = (np.array(data[name], float) for name in ("wins", "matches"))
    if not wins.shape == matches.shape == (players, players):
        raise ValueError("seats of another shape")
    if not ((wins >= 0) & (wins <= matches) & (matches <= _MOST_GAMES)).all():
        raise ValueError("no shares of matches")
    return _by_seats(wins, matches)


def _by_seats(wins: np.ndarray, matches: np.ndarray) -> dict[str, Any]:
    """Shares of points of the first seat: overall, and of each row against each column.

    Args:
        wins: (P, P) of the row in the first seat, draws counted half.
        matches: (P, P) with the row in the first seat.
    """
    return {
        "first": float(wins.sum() / matches.sum()) if matches.any() else None,
        "shares": [
            [float(w / n) if n else None for w, n in zip(*rows, strict=True)]
            for rows in zip(wins, matches, strict=True)
        ],
    }


def _recorded(data: Any, players: int, files: Mapping[str, int]) -> list[dict[str, Any]]:
    """The recorded matches: number of the recording, players in the order of their seats, their scores.

    Names of files are computed, so the untrusted ratings name none.
    """
    found = []
    for one in data[:MOST]:
        who, match, scores = one["players"], one["match"], [float(score) for score in one["scores"]]
        if not (
            type(match) is int and 0 <= match < _MOST_GAMES and 2 <= len(who) == len(scores) == len(set(who))
        ):
            raise ValueError("no match")
        if not all(type(player) is int and 0 <= player < players for player in who):
            raise ValueError("no player")
        if (number := files.get(recording_name(who, match))) is not None:
            seats = seat(len(who), len(who), match)
            seated = {"players": [who[i] for i in seats], "scores": [finite(scores[i]) for i in seats]}
            found.append({"id": number, "match": match, **seated})
    return found


def _player(name: str, rating: Any, interval: Sequence[Any] | None, games: Any) -> dict[str, Any]:
    low, high = (None, None) if interval is None else (finite(interval[0]), finite(interval[1]))
    return {"name": name, "rating": finite(rating), "low": low, "high": high, "games": finite(games)}


def read_ratings(folder: Path) -> Any:
    """Reads the ratings of a tournament's folder, which are not checked.

    Raises:
        Unreadable: if they are no JSON.
    """
    try:
        return read_json(folder / RATINGS, links=False)
    except UserError as error:
        raise Unreadable(str(error)) from None


@contextmanager
def reading_league(run: Path) -> Iterator[None]:
    """Turns errors of reading a run's league into `NotThere`."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotThere(
            f'{run.name}: a league needs {error.name}; install it with pip install "interplay[train]"'
        ) from None
    except UserError as error:
        raise NotThere(str(error)) from None


def has_league(run: Path) -> bool:
    """Whether a folder has a run's settings with a league; raises `UserError` for unreadable ones."""
    if not os.path.lexists(run / "settings.toml"):
        return False
    league = read_toml(run / "settings.toml", links=False).get("league", {})
    return isinstance(league, dict) and bool(league.get("learners"))
