"""Tournaments: ratings of players by matches, or of populations by their lives in merged worlds."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.files import short_path
from interplay.core.overdue import OVERDUE
from interplay.verbs.keywords import suggest_keyword

if TYPE_CHECKING:
    from interplay.evaluate.tournaments.merge_results import MergeResults
    from interplay.evaluate.tournaments.ratings.standings import Standings

OF_ROUND_ROBINS = ("per_match", "score", "max_steps", "workers", "ray", "record")
OF_MERGES = ("caps", "quota", "window", "horizon")


@suggest_keyword
def tournament(
    players: Sequence[str | Path] = (),
    world: str = "",
    options: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    matches: int | None = None,
    resume: bool = False,
    per_match: int = 2,
    score: str | None = None,
    max_steps: int | None = None,
    merge: bool = False,
    caps: Sequence[int] = (16, 32, 64, 128),
    quota: str = "per_home",
    window: int = 1_000,
    horizon: int = 5_000,
    greedy: bool = False,
    workers: int = 1,
    ray: str | None = None,
    record: int = 0,
    step_limit: float | None = 600.0,
    seed: int = 0,
    trust: bool = False,
) -> Standings | MergeResults:
    """Plays a round robin, or merges populations, and rates the players.

    Args:
        players: run folders or scripted policies. With `merge` also ``NAME=RUN,RUN`` (one home, several trainings) and ``POLICY@N``
            (N populations). With `resume` none: those of the tournament in `out`.
        world: a world's id; empty: the world of the first run.
        options: an option of the world.
        out: the tournament's folder; without one, in Python, only the results are kept.
        matches: matches of every matchup; with `merge` maps of every pair. None: 20, 8.
        resume: go on with the tournament in `out`.
        per_match: players of a match.
        score: what decides a match: outcome, return, or another metric of the world with a value per agent. None: outcome where the
            world has one, else return; with `resume` that of the tournament.
        max_steps: length at which matches are cut.
        merge: merge the populations of every two homes into one world.
        caps: with `merge`: numbers of slots of the worlds.
        quota: with `merge`: ``per_home`` or ``per_population``.
        window: with `merge`: ticks in which births count.
        horizon: with `merge`: ticks of a life that are followed.
        greedy: trained policies take their likeliest action.
        workers: processes that play a round robin; they change no result.
        ray: start these processes on a Ray cluster, from a folder that its machines share: HOST:PORT of its head, or auto for that of
            this machine.
        record: matches of every matchup and seat to record, for ``interplay view``; with `resume` also of matches that were played before.
        step_limit: seconds until a player, or an environment, that does not come back from one call is given up, which ends the
            command; with several processes its matches are played again instead, and aborted at the third time.
        seed: of the worlds and of the players' draws.
        trust: as for `evaluate`.

    Raises:
        UserError: for unknown players, worlds or numbers, or a folder in use.

    Example:
        >>> tournament(["random", "tit_for_tat"], "dilemma/fixed", matches=2).names
        ('random', 'tit_for_tat')
    """
    given = dict(locals())
    if step_limit is not None and not step_limit > 0:
        raise UserError(f"step_limit = {step_limit}: give seconds above 0, or inf for no limit")
    out = None if out is None else Path(out).absolute()
    from interplay.evaluate.tournaments.folder import score_of
    from interplay.verbs import tournament_kinds
    from interplay.verbs.trainer import place_of

    if players:
        values = {"options": dict(options or {}), "world": world, "seed": seed, "greedy": greedy}
        named = [str(player) for player in players]
        if merge:
            _refuse(given, OF_ROUND_ROBINS, "merges do not read it")
            own: dict[str, Any] = {
                "quota": quota,
                "window": window,
                "horizon": horizon,
                "maps": 8 if matches is None else matches,
            }
            kind = tournament_kinds.merge(named, {**values, **own, "caps": tuple(caps)}, trust=trust)
        else:
            _refuse(given, OF_MERGES, "only merges read it")
            if score is None and resume and out is not None:
                score = score_of(out)
            own = {
                "per_match": per_match,
                "score": score,
                "max_steps": max_steps,
                "matches": 20 if matches is None else matches,
            }
            kind = tournament_kinds.round_robin(
                named,
                {**values, **own},
                trust=trust,
                workers=workers,
                record=record,
                place=place_of(ray),
                step_limit=step_limit,
            )
    elif resume and out is not None:
        kept = ("world", "options", "matches", "merge", "greedy", "seed", "per_match", "score", "max_steps")
        _refuse(given, (*kept, *OF_MERGES), f"{out} goes on with the settings that it has")
        kind = tournament_kinds.standing_in(Path(out), trust, workers, record, place_of(ray), step_limit)
    else:
        raise UserError(
            "no players; name at least two run folders or policies, or go on with --resume --out FOLDER"
        )
    with OVERDUE.limited(step_limit):
        if out is not None:
            return _played(kind.run, kind.unit, Path(out), resume or not players)
        with tempfile.TemporaryDirectory(prefix="interplay-tournament-") as folder:
            return _played(kind.run, kind.unit, Path(folder) / "cup", False)


def _refuse(given: Mapping[str, Any], names: Sequence[str], reason: str) -> None:
    """Refuses arguments of `tournament` that differ from their defaults."""
    known = inspect.signature(tournament).parameters
    for name in names:
        value = tuple(given[name]) if name == "caps" else given[name]
        if (value or None) != (known[name].default or None):
            raise UserError(f"{name} = {given[name]}: {reason}; leave it out")


def _played(run: Callable[..., Any], unit: str, out: Path, resume: bool) -> Any:
    """Plays with progress; a Ctrl-C prints the command that goes on."""
    from interplay.train.run.progress import Progress, tell

    every = 0
    progress: Progress | None = None

    def on_progress(done: int, total: int) -> None:
        nonlocal progress, every
        every = total
        if progress is None:
            progress = Progress(total, done, unit=unit)
        else:
            progress.update(done)

    try:
        return run(out, resume, on_progress)
    except KeyboardInterrupt:
        if every:
            kept = f"{_lines(out):,} of {every:,} {unit} are kept in {short_path(out)}"
            tell(f"{kept}; go on with `interplay tournament --resume --out {short_path(out)}`")
        raise
    finally:
        if progress is not None:
            with closing(progress):
                pass


def _lines(out: Path) -> int:
    from interplay.core.reading import MIB, opened
    from interplay.evaluate.tournaments.folder import RESULTS

    with opened(out / RESULTS, 2**63, links=False) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(MIB), b""))
