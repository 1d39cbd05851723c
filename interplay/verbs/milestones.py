"""The same episodes at every checkpoint of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.verbs import players
from interplay.verbs.run import Metrics, Run


class Evaluation(NamedTuple):
    """Arguments of `interplay.evaluate`."""

    run: str | Path | Run
    world: object
    options: Mapping[str, Any]
    episodes: int
    num_worlds: int
    max_steps: int | None
    roles: Sequence[str]
    greedy: bool
    seed: int
    trust: bool

    @property
    def folder(self) -> str:
        """Of the run; of a league RUN@PLAYER."""
        return str(self.run.folder if isinstance(self.run, Run) else self.run)

    @property
    def trusted(self) -> bool:
        """Whether the run may name programs of its own."""
        return self.trust or (isinstance(self.run, Run) and self.run.trust)


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
    wanted: Evaluation, out: Path | None = None, progress: Callable[[str, int, int], object] | None = None
) -> Evaluated:
    """Plays the episodes at every sound checkpoint of a run.

    Args:
        wanted: the run and the episodes.
        out: a folder that keeps the rows, for `interplay curves`; rows that it has from an earlier call are not played again.
        progress: called with a unit, the number done, and the total.

    Raises:
        UserError: as `seat`, for a run without sound checkpoints, or a folder that holds something else.
    """
    from interplay.evaluate.lineup import learner_of, players_of
    from interplay.evaluate.milestones import play_counting, row_of
    from interplay.train.play.policy import policies_at, sound_checkpoints
    from interplay.train.run.progress import tell

    checkpoints, damaged = sound_checkpoints(wanted.folder)
    for reason in damaged:
        tell(f"left out: {reason}")
    found = players.seat(wanted.run, wanted.world, wanted.options, wanted.greedy, wanted.roles, wanted.trust)
    kept = None if out is None else _Kept(out, wanted, found)
    rows = {} if kept is None else kept.rows
    missing = [path for path in checkpoints if int(path.name) not in rows]
    batch = found.make_world(num_worlds=min(wanted.num_worlds, wanted.episodes), seed=wanted.seed)
    all_of_them = len(missing) * wanted.episodes
    own: Any = learner_of(found.policy)
    try:
        for number, path in enumerate(policies_at(own, wanted.folder, missing)):

            def ended(count: int, before: int = number * wanted.episodes) -> None:
                if progress is not None:
                    progress("episodes", before + count, all_of_them)

            table = play_counting(batch, found.policy, wanted.episodes, wanted.seed, wanted.max_steps, ended)
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

    A metric's standard error is ``standard_error[name]``, what it is for each agent ``by_agent[name]``, (N, agents).
    """
    from interplay.evaluate.milestones import BY_AGENT, ERRORS, FIRST, metrics_of

    names = [name for name in FIRST if any(name in row for row in rows)] + metrics_of(rows)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    for group in (ERRORS, BY_AGENT):
        columns |= {
            f"{group}[{name}]": _column([row[group][name] for row in rows]) for name in rows[0][group]
        }
    return Metrics(title, columns)


def _column(values: Sequence[Any]) -> np.ndarray:
    return np.array(values, np.float64)  # None, as JSON has NaN, becomes NaN


def _counts(checkpoint: Path) -> dict[str, Any]:
    """What the run had done."""
    from interplay.train.run.checkpoint import read_part

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
        wanted: the run and the episodes; the folder holds rows of these alone.
        found: the player and its world.

    Attributes:
        rows: agent-steps -> row.

    Raises:
        UserError: if the folder holds something else.
    """

    def __init__(self, folder: Path, wanted: Evaluation, found: players.Player) -> None:
        from interplay.core.files import os_errors_as_user_errors, refuse_links, replace_file
        from interplay.core.reading import read_text
        from interplay.train.run.metrics_log import METRICS, cut_torn_line, log_lines

        self.path = folder / METRICS
        text, settings = _settings_text(wanted, found), folder / "settings.toml"
        with os_errors_as_user_errors("keeping the evaluations", folder):
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links(folder, (METRICS, "settings.toml"))
            if any(folder.iterdir()) and not (settings.is_file() and read_text(settings) == text):
                raise UserError(
                    f"{folder} holds something else, or evaluations of other settings, options or episodes; choose another --out"
                )
            replace_file(settings, text)
            cut_torn_line(self.path)
        self.rows = {int(row["agent_steps"]): row for _, row in log_lines(folder)}

    def keep(self, row: Mapping[str, Any]) -> None:
        """Adds a row."""
        from interplay.train.run.metrics_log import MetricsLog

        with MetricsLog(self.path) as log:
            log.write(
                row["agent_steps"], {name: value for name, value in row.items() if name != "agent_steps"}
            )
            log.sync()


def _settings_text(wanted: Evaluation, found: players.Player) -> str:
    """The folder's settings: runs that differ in their seed alone are one curve there, too."""
    from interplay.core.seals import canonical, digest
    from interplay.core.settings_text import toml_value
    from interplay.evaluate.lineup import Lineup
    from interplay.train.play.policy import sound_checkpoints
    from interplay.train.run.settings_file import PACE, settings_of

    settings = settings_of(sound_checkpoints(wanted.folder)[0][-1], wanted.trusted)
    # How far and how fast the run goes is no matter: later checkpoints join the rows that are there.
    trained = {name: value for name, value in canonical(settings).items() if name not in ("seed", *PACE)}
    rules = found.policy.rules if isinstance(found.policy, Lineup) else ()
    against = {rule.side: [f"{one.share:g} {one.words}" for one in rule.choices] for rule in rules}
    values = {
        "seed": settings.seed,
        "world": {"id": found.world, "options": dict(found.options)},
        "evaluated": {
            "settings": digest(trained),
            "episodes": wanted.episodes,
            "seed": wanted.seed,
            "greedy": wanted.greedy,
            "roles": list(wanted.roles),
            "max_steps": "off" if wanted.max_steps is None else wanted.max_steps,
            **({"against": against} if against else {}),
        },
    }
    return "".join(f"{name} = {toml_value(value)}\n" for name, value in values.items())
