"""The same episodes played at several points of a training run, as rows of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.episodes import EpisodeTable, play
from interplay.evaluate.results import NAMES, OUTCOME
from interplay.evaluate.statistics import Estimate

RENAMED = {"steps": "episode_length", "return": "episode_return"}  # names in the training log
FIRST = (
    "agent_steps",
    "updates",
    "slot_steps",
    "time",
    "episodes",
)  # columns of a row that are not measured in episodes
ERRORS, BY_AGENT = "standard_error", "by_agent"
ENDS = ("low", "high")  # of a share's interval
ACTIONS = "actions"  # how a row's trained policies act


def play_counting(
    world: World,
    policy: Policy,
    episodes: int,
    seed: int,
    max_steps: int | None,
    ended: Callable[[int], None],
) -> EpisodeTable:
    """`play`; `ended` gets the number of naturally ended episodes after every step."""
    count = 0

    def on_step(world: World, episode: np.ndarray) -> None:
        nonlocal count
        count += int((world.timestep.over & (episode >= 0)).sum())
        ended(count)

    return play(world, policy, episodes=episodes, seed=seed, max_steps=max_steps, on_step=on_step)


def row_of(table: EpisodeTable, counts: Mapping[str, Any]) -> dict[str, Any]:
    """One row: the run's counts, and the mean of every column with its standard error, and the interval of each share.

    Columns have the names of a run's ``metrics.jsonl``, so that `interplay curves` draws both. A world's own metric of such a name is
    dropped, as in training.

    Args:
        counts: ``agent_steps`` and others of `FIRST`.
    """
    summary, row = table.summary(), {**counts, "episodes": len(table)}
    if table.seating:
        row["learner"] = list(table.seating.learner)
    measured: dict[str, Estimate] = {}
    by_agent: dict[str, list[float]] = {}
    for name, values in table.columns.items():
        if name == "seed" or (name == OUTCOME and table.teams):  # shares of each side follow below
            continue
        logged = RENAMED.get(name, name)
        if name in RENAMED.values():
            continue
        for part in (name, *(f"{name}[{side}]" for side in table.sides)):
            if found := summary.get(part):
                key = logged + part.removeprefix(name)
                measured[key] = found
        if values.ndim > 1:
            by_agent[logged] = [summary[f"{name}[{agent}]"].mean for agent in table.agents]
    sides = ("", *(f"[{side}]" for side in table.results()))
    for name in (share + side for side in sides for share in NAMES):
        if name in summary:
            measured[name] = summary[name]
    row |= {name: found.mean for name, found in measured.items()}
    errors = {name: found.standard_error for name, found in measured.items()}
    ends = {
        end: {name: getattr(found, end) for name, found in measured.items() if found.low is not None}
        for end in ENDS
    }
    rule = {ACTIONS: table.actions} if table.actions else {}
    return row | rule | {BY_AGENT: by_agent, ERRORS: errors} | ends


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measured columns, in the order of the first row."""
    return list(rows[0][ERRORS]) if rows else []


def to_csv(rows: Sequence[Mapping[str, Any]], agents: Sequence[str], players: str = "") -> str:
    """CSV with a header: counts, then each metric, its standard error, a share's interval and the value per agent, and the players.

    Example:
        >>> row = {"agent_steps": 64, "episodes": 9, "kills": 0.5, "standard_error": {"kills": 0.1}, "by_agent": {"kills": [0.0, 1.0]}}
        >>> print(to_csv([row], ["a", "b"]), end="")
        agent_steps,episodes,kills,kills standard error,kills[a],kills[b]
        64,9,0.5,0.1,0.0,1.0
    """
    flat = []
    for row in rows:
        cells = {name: row[name] for name in (*FIRST, ACTIONS) if name in row}
        for name in metrics_of(rows):
            cells |= {name: row[name], f"{name} standard error": row[ERRORS][name]}
            cells |= {f"{name} {end}": row[end][name] for end in ENDS if name in row.get(end, {})}
            numbers = row[BY_AGENT].get(name, [])
            cells |= {f"{name}[{agent}]": number for agent, number in zip(agents, numbers, strict=False)}
        flat.append(cells | ({"players": players} if players else {}))
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(dict.fromkeys(key for cells in flat for key in cells)), lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()
