"""Who is best: the standings of a tournament's folder, or the league of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.reading import read_json, read_toml
from interplay.view.run_log import one_line
from interplay.view.server.refusals import NotThere, Unreadable

RATINGS = "ratings.json"
_MOST_GAMES = 2**53  # of two players; sums of more are no whole numbers any more


def has_ratings(run: Path) -> bool:
    """Whether a folder holds ratings, or a league that may have some.

    Raises:
        UserError: if its settings cannot be read.
    """
    return os.path.lexists(run / RATINGS) or (os.path.lexists(run / "settings.toml") and _has_league(run))


def ratings_of(run: Path) -> dict[str, Any]:
    """The ratings that a folder holds.

    Raises:
        NotThere: where there are none.
        Unreadable: where they are damaged.
    """
    if os.path.lexists(run / RATINGS):
        return _of_tournament(run)
    if os.path.lexists(run / "settings.toml") and _has_league(run):
        return _of_league(run)
    raise NotThere(
        f"{run.name}: neither a tournament nor a league was played there; `interplay tournament` rates players"
    )


def _of_tournament(folder: Path) -> dict[str, Any]:
    try:
        told = read_json(folder / RATINGS, links=False)
    except UserError as error:
        raise Unreadable(str(error).replace(str(folder), folder.name)) from None
    try:
        names = [one_line(str(name)) for name in told["names"]]
        players = {str(row["player"]): row for row in told["players"]}
        wins = [[float(x) for x in row] for row in told["wins"]]
        rows = [players[str(name)] for name in told["names"]]
        if len(wins) != len(names) or any(len(row) != len(names) for row in wins):
            raise ValueError("rows of another length")
        if not all(0 <= x <= _MOST_GAMES for row in wins for x in row):
            raise ValueError("no numbers of games")
        games = [[wins[i][j] + wins[j][i] for j in range(len(names))] for i in range(len(names))]
        return {
            "players": [
                _player(name, row["elo"], row["elo_interval"], row["matches"])
                for name, row in zip(names, rows, strict=True)
            ],
            "payoff": [
                [wins[i][j] / games[i][j] if games[i][j] else None for j in range(len(names))]
                for i in range(len(names))
            ],
            "games": games,
        }
    except (KeyError, TypeError, ValueError, IndexError):
        raise Unreadable(
            f"{folder.name}/{RATINGS}: no standings that this version knows; rate again with `interplay tournament --resume`"
        ) from None


def _of_league(run: Path) -> dict[str, Any]:
    from interplay.train.selfplay.league.reading import read_league

    try:
        table = read_league(run)
    except ModuleNotFoundError as error:
        raise NotThere(
            f'{run.name}: a league needs {error.name}; install it with pip install "interplay[train]"'
        ) from None
    except UserError as error:
        raise NotThere(one_line(str(error).replace(str(run), run.name))) from None
    met = table.payoff.met
    return {
        "players": [
            _player(one_line(name), table.elo[i], None, met[i].sum()) for i, name in enumerate(table.names)
        ],
        "payoff": [[_number(x) for x in row] for row in table.shares.tolist()],
        "games": met.tolist(),
    }


def _player(name: str, rating: Any, interval: Sequence[Any] | None, games: Any) -> dict[str, Any]:
    low, high = (None, None) if interval is None else (_number(interval[0]), _number(interval[1]))
    return {"name": name, "rating": _number(rating), "low": low, "high": high, "games": _number(games)}


def _has_league(run: Path) -> bool:
    league = read_toml(run / "settings.toml", links=False).get("league", {})
    return isinstance(league, dict) and bool(league.get("learners"))


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
