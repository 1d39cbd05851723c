"""Round robins: every matchup plays the same held-out seeds, resumable match by match."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.processes import HERE, Place
from interplay.core.shared_folder import marked
from interplay.core.world import World
from interplay.evaluate.tournaments.farm import ABORTED, Play, Result, Unit, blocks_of, play_here, play_units
from interplay.evaluate.tournaments.folder import TournamentFolder, TournamentSettings
from interplay.evaluate.tournaments.match_recordings import RecordingPlan, check_count, list_recorded
from interplay.evaluate.tournaments.matches import Match, agent_scores, default_score, match_key, play_block
from interplay.evaluate.tournaments.matchups import Matchup, all_matchups, check_sides, sides
from interplay.evaluate.tournaments.ratings.standings import RESAMPLES, Standings, rate_players, tally_seats
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.registry import make_world

OnProgress = Callable[[int, int], None]  # (done, total)


class RoundRobinSettings(TournamentSettings):
    """What decides every match of a round robin."""

    named = "players"
    kind: Literal["round robin"] = "round robin"
    players: tuple[str, ...] = Field(description="Run folders or names of policies.")
    matches: int = Field(20, ge=1, description="Of each matchup.")
    per_match: int = Field(2, ge=2, description="K, players of a match.")
    score: str = Field(
        "return", min_length=1, description="What decides a match: outcome, return, or a metric."
    )
    max_steps: int | None = Field(None, ge=1, description="Where matches are cut.")
    block: int = Field(32, ge=1, description="Matches side by side; part of the result.")

    @model_validator(mode="after")
    def _enough_players(self) -> RoundRobinSettings:
        if len(self.players) < self.per_match:
            raise ValueError(
                f"players = {list(self.players)} are {len(self.players)}, a match needs {self.per_match}; name more"
            )
        if self.matches % self.per_match:
            up = self.matches + self.per_match - self.matches % self.per_match
            raise ValueError(
                f"matches = {self.matches} is no multiple of the {self.per_match} ways to sit, so seats would be unfair; give {up}"
            )
        return self

    @property
    def matchups(self) -> tuple[Matchup, ...]:
        """Every matchup of the tournament."""
        return all_matchups(len(self.players), self.per_match)


def round_robin(
    players: Mapping[str, Policy],
    world: str,
    *,
    matches: int = 20,
    seed: int = 0,
    per_match: int = 2,
    options: Mapping[str, Any] | None = None,
    score: str | None = None,
    max_steps: int | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
    record: int = 0,
) -> Standings:
    """Plays a number of matches of every matchup and rates the players.

    Args:
        players: name -> policy.
        world: registry id; its sides (teams, or single agents) are shared equally.
        matches: of each matchup, a multiple of `per_match`, because seats rotate within each seed.
        seed: of the worlds and of the players' draws; training runs never see these seeds.
        per_match: K, players of a match.
        options: of the world.
        score: what decides a match: ``"outcome"``, ``"return"`` (mean over a player's agents), or another metric with one value per
            agent; None: the outcome if the world has one, else the return.
        max_steps: cuts matches; required for worlds without an end.
        out: folder of results; None keeps nothing.
        resume: continue the tournament in `out`.
        on_progress: called with (matches done, total).
        record: number of matches of every matchup and seat to record in `out`, see `interplay.evaluate.tournaments.match_recordings`.

    Returns:
        Ratings and win matrix; an interruption does not change them.

    Raises:
        UserError: for players that do not fit the world, or a folder of another tournament.

    Example:
        >>> from interplay.registry import make_policy
        >>> players = {name: make_policy("survival/1v1-heals-low", name) for name in ("random", "hunter")}
        >>> result = round_robin(players, "survival/1v1-heals-low", matches=4)
        >>> result.names[result.order[0]], result.matches
        ('hunter', 4)
    """
    out = None if out is None else Path(out).absolute()
    settings = make_settings(
        world=world,
        options=dict(options or {}),
        players=tuple(players),
        identities=tuple(policy.name for policy in players.values()),
        matches=matches,
        per_match=per_match,
        seed=seed,
        score=score or score_of_world(world, options or {}),
        max_steps=max_steps,
    )
    return run_round_robin(settings, list(players.values()), out, resume, on_progress, record=record)


def score_of_world(world: str, options: Mapping[str, Any]) -> str:
    """`default_score` of a world by its id."""
    with closing(make_world(world, 1, **options)) as one:
        one.reset()
        return default_score(one)


def make_settings(**values: Any) -> RoundRobinSettings:
    """Builds validated settings; UserError for a wrong value."""
    from interplay.core.settings import build

    return build(RoundRobinSettings, values, "tournament")


def run_round_robin(
    settings: RoundRobinSettings,
    policies: Sequence[Policy],
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
    farm: Farm | None = None,
    record: int = 0,
) -> Standings:
    """Plays the missing matches of a round robin and rates its players; see `round_robin`.

    A `farm` of processes gives bit-identical results.
    """
    apart = check_world(settings) == settings.per_match
    check_count(record, len(settings.matchups), settings.per_match, settings.matches, out is not None)
    with ExitStack() as marks, TournamentFolder(out, settings, resume) as folder:
        plan = None if folder.path is None or not record else plan_recordings(settings, folder.path, record)
        if farm is not None and plan is not None:
            mark = marks.enter_context(marked(plan.folder.parent))
            farm = farm._replace(arguments=(*farm.arguments, mark, record))
        play_missing(settings, policies, folder.log, on_progress, farm, plan)
        matches = read_matches(settings, folder.log)
        if repeated := sum(_repeats(settings, folder.log, matchup) for matchup in settings.matchups):
            warnings.warn(
                f"{repeated} of {len(settings.matchups)} matchups repeat the same results: where world and players draw nothing, "
                "the intervals mean nothing; an option that draws others is often called randomize",
                stacklevel=2,
            )
        found = rate_players(
            settings.players, matches, settings.per_match, settings.seed, RESAMPLES, settings.score, apart
        )
        actions = tuple(policy.actions for policy in policies)
        aborted = sum(ABORTED in result for result in folder.log.results.values())
        seats = tally_seats(len(settings.players), matches)
        found = replace(found, seats=seats, actions=actions, aborted=aborted)
        recorded = list_recorded(folder.path, [(one.matchup, one.match, one.scores) for one in matches])
        folder.write_ratings(found.to_dict() | ({"recorded": recorded} if recorded else {}))
    return found


def plan_recordings(settings: RoundRobinSettings, out: Path, each: int) -> RecordingPlan:
    """Plans `each` recordings per matchup and seat in a tournament's folder."""
    return RecordingPlan.beneath(out, each, settings.players, settings.options, settings.per_match)


def check_world(settings: RoundRobinSettings) -> int:
    """Refuses wrong options, sides that cannot be shared, and matches without an end, before the folder is created.

    Returns:
        The number of sides.
    """
    with closing(make_world(settings.world, 1, **settings.options)) as world:
        check_sides(world, settings.per_match)
        if settings.max_steps is None and world.persistent:
            merge = ", or merge populations (--merge)" if world.num_populations > 1 else ""
            raise UserError(
                f"{world.id}: its worlds may run for ever; say where matches end (--max-steps){merge}"
            )
        world.reset()
        agent_scores(world, settings.score)
        return len(sides(world))


def play_missing(
    settings: RoundRobinSettings,
    policies: Sequence[Policy],
    log: ResultsLog,
    on_progress: OnProgress | None = None,
    farm: Farm | None = None,
    plan: RecordingPlan | None = None,
) -> None:
    """Plays every block with a missing result or recording."""
    report = on_progress or (lambda done, total: None)
    total = len(settings.matchups) * settings.matches
    report(len(log.results), total)
    units = [_unit(matchup, block, plan) for matchup, block in _blocks(settings)]
    if farm is not None:
        play_units(
            units, farm.begin, farm.arguments, log, farm.workers, lambda done: report(done, total), farm.place
        )
        return
    with Blocks(settings, policies, plan) as blocks:
        play_here(units, blocks.play, log, lambda done: report(done, total))


def _unit(matchup: Matchup, block: range, plan: RecordingPlan | None) -> Unit:
    keys = tuple(match_key(matchup.players, match) for match in block)
    replay = plan is not None and bool(plan.lacking(matchup.players, block))
    single = [range(match, match + 1) for match in block] if len(block) > 1 else []
    return Unit((matchup, block), keys, replay, tuple(_unit(matchup, one, plan) for one in single))


def read_matches(settings: RoundRobinSettings, log: ResultsLog) -> list[Match]:
    """Reads all matches from the log that were not aborted; UserError if one is missing, or a matchup has none."""
    keys = {
        match_key(matchup.players, match): (matchup, match)
        for matchup, block in _blocks(settings)
        for match in block
    }
    lacking = log.missing(keys)
    if lacking:
        raise UserError(
            f"{log.path}: {len(lacking)} of {len(keys)} matches are still to be played; go on with --resume"
        )
    played = {key: found for key, found in keys.items() if ABORTED not in log.results[key]}
    rated = {matchup for matchup, _ in played.values()}
    for matchup in settings.matchups:
        if matchup not in rated:
            names = " against ".join(settings.players[player] for player in matchup.players)
            raise UserError(
                f"every match of {names} cost three processes ({log.results[match_key(matchup.players, 0)][ABORTED]}); "
                "play with --workers 1 to see why, or with less memory in use"
            )
    return [
        Match(
            matchup.players,
            match,
            _scores(log, key, len(matchup.players)),
            {"truncated": log.results[key].get("truncated", False)},
        )
        for key, (matchup, match) in played.items()
    ]


def _repeats(settings: RoundRobinSettings, log: ResultsLog, matchup: Matchup) -> bool:
    """Whether every match equals the one before it with the same seats, in scores, returns and length."""
    rows = [log.results[match_key(matchup.players, match)] for match in range(settings.matches)]
    seats = 2 * settings.per_match  # matches until the seats repeat, see `matchups.seat`
    kept = [[row.get(name) for name in ("scores", "return", "steps")] for row in rows]
    return len(kept) > seats and kept[seats:] == kept[:-seats]


def _scores(log: ResultsLog, key: str, players: int) -> tuple[float, ...]:
    """The logged scores of one match; UserError unless they are one number per player."""
    scores: Any = log.results[key].get("scores", ())
    fits = isinstance(scores, list | tuple) and len(scores) == players
    if not fits or not all(type(score) in (int, float) and abs(score) < 1e300 for score in scores):
        raise UserError(
            f"{log.path}: scores of {key} are not {players} numbers; delete its line to play it again"
        )
    return tuple(float(score) for score in scores)


def _blocks(settings: RoundRobinSettings) -> Iterator[tuple[Matchup, range]]:
    """Units of work in an order in which all matchups advance together."""
    for block in blocks_of(settings.matches, settings.block):
        for matchup in settings.matchups:
            yield matchup, block


class Farm(NamedTuple):
    """Processes that play a round robin.

    Attributes:
        workers: number of processes.
        begin: importable; ``begin(*arguments)`` returns the `Blocks.play` of a process.
        arguments: picklable.
        place: starts the processes.
    """

    workers: int
    begin: Callable[..., Play]
    arguments: tuple[Any, ...]
    place: Place = HERE


class Blocks:
    """Plays blocks of a round robin; creates a batch of worlds per block size, at most two."""

    def __init__(
        self, settings: RoundRobinSettings, policies: Sequence[Policy], plan: RecordingPlan | None = None
    ) -> None:
        self._settings, self._policies, self._plan = settings, policies, plan
        self._made: dict[int, World] = {}

    def play(self, what: tuple[Matchup, range]) -> Result:
        """Plays a block of a matchup's matches; returns key -> result."""
        matchup, block = what
        played = play_block(
            self._of(len(block)),
            [self._policies[player] for player in matchup.players],
            matchup,
            block,
            self._settings.seed,
            score=self._settings.score,
            max_steps=self._settings.max_steps,
            plan=self._plan,
        )
        return {match.key: {"scores": match.scores, "ranks": match.ranks, **match.more} for match in played}

    def _of(self, size: int) -> World:
        if size not in self._made:
            self._made[size] = make_world(self._settings.world, size, **self._settings.options)
        return self._made[size]

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_: object) -> None:
        for world in self._made.values():
            world.close()
