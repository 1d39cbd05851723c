"""The same episodes at every checkpoint of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, refuse_links, replace_file
from interplay.core.reading import METRICS_FILE, read_text
from interplay.core.seals import canonical, digest
from interplay.core.settings_text import toml_value
from interplay.evaluate.lineup import Lineup, learner_of, players_of
from interplay.evaluate.milestones import BY_AGENT, ENDS, ERRORS, FIRST, metrics_of, play_counting, row_of
from interplay.train.play.policy import policies_at, sound_checkpoints
from interplay.train.run.checkpoint import read_part
from interplay.train.run.metrics_log import MetricsLog, cut_torn_line, log_lines
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import PACE, settings_of
from interplay.verbs import players
from interplay.verbs.run_folder import Metrics, RunFolder

if TYPE_CHECKING:
    from interplay.verbs.playing import EvaluateOptions


class Evaluated(NamedTuple):
    """The same episodes at every checkpoint.

    Attributes:
        world: its id.
        agents: of the world.
        rows: one for each checkpoint, oldest first, see `interplay.evaluate.milestones`.
        players: side -> name of its player, see `interplay.evaluate.lineup.players_of`.
    """

    world: str
    agents: tuple[str, ...]
    rows: list[dict[str, Any]]
    players: dict[str, str]


def evaluate_checkpoints(
    run: str | Path | RunFolder,
    world: object,
    options: Mapping[str, Any] | None,
    how: EvaluateOptions,
    out: Path | None = None,
    progress: Callable[[str, int, int], object] | None = None,
) -> Evaluated:
    """Plays the episodes at every sound checkpoint of a run.

    Args:
        run: a run or its folder; of a league RUN@PLAYER.
        world, options: as for `interplay.evaluate`.
        out: a folder that keeps the rows, for `interplay curves`; rows that it has from an earlier call are not played again.
        progress: called with a unit, the number done, and the total.
    """
    folder, episodes, seed = os.fspath(run), how["episodes"], how["seed"]
    checkpoints, damaged = sound_checkpoints(folder)
    for reason in damaged:
        tell(f"left out: {reason}")
    found = players.seat(run, world, options, how["greedy"], how["roles"], how["trust"])
    kept = None if out is None else _Kept(out, _settings_text(checkpoints[-1], found, how))
    rows = {} if kept is None else kept.rows
    missing = [path for path in checkpoints if int(path.name) not in rows]
    batch = found.make_world(num_worlds=min(how["num_worlds"], episodes), seed=seed)
    own: Any = learner_of(found.policy)
    try:
        for number, path in enumerate(policies_at(own, folder, missing)):

            def ended(count: int, before: int = number * episodes) -> None:
                if progress is not None:
                    progress("episodes", before + count, len(missing) * episodes)

            table = play_counting(batch, found.policy, episodes, seed, how["max_steps"], ended)
            rows[int(path.name)] = row_of(table, _counts(path))
            if kept is not None:
                kept.keep(rows[int(path.name)])
        own.words = own.words.rpartition(" at ")[0] + " at each checkpoint"
        names = players_of(found.policy, batch)
    finally:
        batch.close()
    return Evaluated(found.world, tuple(batch.agents), [rows[steps] for steps in sorted(rows)], names)


def as_metrics(title: str, rows: Sequence[Mapping[str, Any]]) -> Metrics:
    """Rows as columns: name -> (N,) float64 over the checkpoints, oldest first, NaN for missing values.

    A metric's standard error is ``standard_error[name]``, a share's interval ``low[name]`` to ``high[name]``, what it is for each agent ``by_agent[name]``, (N, agents).
    """
    names = [name for name in FIRST if any(name in row for row in rows)] + metrics_of(rows)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    for group in (ERRORS, BY_AGENT):
        columns |= {
            f"{group}[{name}]": _column([row[group][name] for row in rows]) for name in rows[0][group]
        }
    # A metric may be a share at some checkpoints alone: of 0 and 1 here, not there.
    for end in ENDS:
        shares = dict.fromkeys(name for row in rows for name in row.get(end, {}))
        columns |= {
            f"{end}[{name}]": _column([row.get(end, {}).get(name) for row in rows]) for name in shares
        }
    return Metrics(title, columns)


def _column(values: Sequence[Any]) -> np.ndarray:
    return np.array(values, np.float64)  # None, as JSON has NaN, becomes NaN


def _counts(checkpoint: Path) -> dict[str, Any]:
    """What the run had done."""
    record, _ = read_part(checkpoint, [])
    counts = {
        "updates": record.get("updates"),
        "slot_steps": record.get("slot_steps"),
        "time": record.get("seconds"),
    }
    return {"agent_steps": int(checkpoint.name)} | {k: v for k, v in counts.items() if v is not None}


class _Kept:
    """A folder of rows, which `interplay curves` reads as it reads a run's.

    Args:
        folder: made if it is not there.
        text: its settings; a folder holds rows of one text alone.

    Attributes:
        rows: agent-steps -> row.
    """

    def __init__(self, folder: Path, text: str) -> None:
        self.path, settings = folder / METRICS_FILE, folder / "settings.toml"
        with os_errors_as_user_errors("keeping the evaluations", folder):
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links(folder, (METRICS_FILE, "settings.toml"))
            if any(folder.iterdir()) and not (settings.is_file() and read_text(settings) == text):
                raise UserError(
                    f"{folder} holds something else, or evaluations of other settings, options or episodes; choose another --out"
                )
            replace_file(settings, text)
            cut_torn_line(self.path)
        self.rows = {int(row["agent_steps"]): row for _, row in log_lines(folder)}

    def keep(self, row: Mapping[str, Any]) -> None:
        """Adds a row."""

        with MetricsLog(self.path) as log:
            log.write(
                row["agent_steps"], {name: value for name, value in row.items() if name != "agent_steps"}
            )
            log.sync()


def _settings_text(checkpoint: Path, found: players.Player, how: EvaluateOptions) -> str:
    """The folder's settings: runs that differ in their seed alone are one curve there, too."""
    settings = settings_of(checkpoint, acts=False)
    # How far and how fast the run goes is no matter: later checkpoints join the rows that are there.
    trained = {name: value for name, value in canonical(settings).items() if name not in ("seed", *PACE)}
    if not settings.pins.players:
        del trained["pins.players"]
    rules = found.policy.rules if isinstance(found.policy, Lineup) else ()
    against = {rule.side: [f"{one.share:g} {one.words}" for one in rule.choices] for rule in rules}
    values = {
        "seed": settings.seed,
        "world": {"id": found.world, "options": dict(found.options)},
        "evaluated": {
            "settings": digest(trained),
            "episodes": how["episodes"],
            "num_worlds": min(how["num_worlds"], how["episodes"]),
            "seed": how["seed"],
            "greedy": how["greedy"],
            "roles": list(how["roles"]),
            "max_steps": "off" if how["max_steps"] is None else how["max_steps"],
            **({"against": against} if against else {}),
        },
    }
    return "".join(f"{name} = {toml_value(value)}\n" for name, value in values.items())
