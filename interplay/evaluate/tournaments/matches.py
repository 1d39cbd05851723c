"""Plays matches: a block of one matchup's matches side by side, each to its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import NAMED_BEFOREHAND, TimeStep, World
from interplay.evaluate.results import OUTCOME, Results, has_outcome, limit_ended, results
from interplay.evaluate.tournaments.match_recordings import BlockRecorder, RecordingPlan
from interplay.evaluate.tournaments.matchups import Matchup, MatchupPolicy, sides

RETURN = "return"
_WORLDS, _PLAYERS = 0x70001, 0x70002  # streams of a tournament's seed: no training run draws from them


class Match(NamedTuple):
    """What came of one match.

    Attributes:
        matchup: numbers of the K players.
        match: number of the match among those of its matchup.
        scores: of each of the K players, as Python floats; higher is better. Equal scores are a draw, or a cut match if the score is
            the outcome and a limit ended the match.
        more: what else is kept of it, plain JSON values; ``truncated`` says whether a limit ended it.
    """

    matchup: tuple[int, ...]
    match: int
    scores: tuple[float, ...]
    more: dict[str, Any]

    @property
    def key(self) -> str:
        """Names the match within its tournament, e.g. ``"0-2/17"``."""
        return match_key(self.matchup, self.match)

    @property
    def ranks(self) -> tuple[int, ...]:
        """1 for the best; players with equal scores share the better rank."""
        return tuple(1 + sum(other > score for other in self.scores) for score in self.scores)


def match_key(matchup: Sequence[int], match: int) -> str:
    """The name of a match within its tournament.

    Example:
        >>> match_key((0, 2), 17)
        '0-2/17'
    """
    return f"{'-'.join(map(str, matchup))}/{match}"


def match_seeds(seed: int, together: int, matches: Sequence[int]) -> np.ndarray:
    """Seeds of the worlds in which matches are played, (M,) uint64.

    K matches in a row have the same seed and differ in who sits where; every matchup plays the same seeds. They
    come from a stream of their own, which no training run draws from.
    """
    base = int(seeding.generator(seed, _WORLDS).integers(2**63))
    rounds = np.asarray(matches, np.int64) // together
    return seeding.world_seeds(base, int(rounds.max()) + 1)[rounds]


def play_block(
    world: World,
    players: Sequence[Policy],
    matchup: Matchup,
    matches: Sequence[int],
    seed: int,
    *,
    score: str = RETURN,
    max_steps: int | None = None,
    plan: RecordingPlan | None = None,
) -> list[Match]:
    """Plays W matches of one matchup side by side.

    What comes of them depends on (seed, matchup, the numbers of the block's matches) and on nothing else.

    Args:
        world: a batch of W worlds; restarted.
        players: K policies, in the matchup's order; they are started.
        matchup: whose matches.
        matches: W numbers, one per world.
        seed: of the tournament.
        score: ``"return"``, or a metric of the world with a value per agent at the episode's end; see `default_score`.
        max_steps: cuts the matches; needed where worlds may run for ever.
        plan: which of them are recorded; None: none is.

    Raises:
        UserError: for an unknown score, or a recording that cannot be written.
    """
    table = MatchupPolicy(players, sides(world), matches)
    seeds = match_seeds(seed, len(players), matches)
    timestep = world.reset(seeds=seeds)
    table.start(world, int(seeding.generator(seed, _PLAYERS, matchup.number, matches[0]).integers(2**63)))
    steps = np.zeros(world.num_worlds, np.int64)
    returns = np.zeros(table.seating.shape)
    truncated = np.zeros(world.num_worlds, bool)
    recording = (
        nullcontext()
        if plan is None
        else BlockRecorder(plan, world, matchup.players, matches, seeds, table.seating)
    )
    with recording as recorder:
        if recorder is not None:
            recorder.begin()
        while not timestep.over.all() and (max_steps is None or steps.max() < max_steps):
            going = ~timestep.over
            steps += going
            action = table.act(timestep)
            timestep = _step(world, action, table.name)
            returns += timestep.reward
            truncated |= going & limit_ended(timestep.truncated, timestep.over)
            if recorder is not None:
                recorder.step(action, going, timestep.over | (steps == max_steps))
    value = agent_scores(world, score, returns)
    if score == OUTCOME:  # of a match that was stopped nothing is known
        value = np.where(timestep.over[:, None], value, np.nan)
    truncated |= ~timestep.over
    return [
        Match(
            matchup.players,
            int(match),
            _by_player(value[w], table.seating[w], len(players)),
            {
                "return": _by_player(returns[w], table.seating[w], len(players)),
                "steps": int(steps[w]),
                "truncated": bool(truncated[w]),
                "seed": int(seeds[w]),
            },
        )
        for w, match in enumerate(matches)
    ]


def _step(world: World, action: Any, players: str) -> TimeStep:
    try:
        return world.step(action)
    except UserError as error:
        raise UserError(f"{error} (in a match of {players})") from error


def _by_player(values: np.ndarray, seating: np.ndarray, together: int) -> tuple[float, ...]:
    """The mean over each player's slots that have a number; 0 where none has."""
    own = (values[seating == player] for player in range(together))
    return tuple(float(one[known].mean()) if (known := ~np.isnan(one)).any() else 0.0 for one in own)


def match_results(matches: Sequence[Match], score: str) -> Results:
    """The results of the first of two players; even matches that a limit ended are cut where the score is the outcome, else drawn."""
    ahead = np.sign([match.scores[0] - match.scores[1] for match in matches])
    return results(ahead, np.array([score == OUTCOME and match.more["truncated"] for match in matches]))


def default_score(world: World) -> str:
    """The score of matches where none is chosen: the outcome where the world has one, the return otherwise; the world was reset."""
    return OUTCOME if has_outcome(world) else RETURN


def agent_scores(world: World, score: str, returns: np.ndarray | None = None) -> np.ndarray:
    """What decides a match, of each agent: its return, or a metric of the world as it stands.

    Args:
        world: a batch that was reset.
        score: ``"return"`` or the name of a metric with a value per agent.
        returns: (W, A) so far; None = 0.

    Returns:
        (W, A) float64.

    Raises:
        UserError: for an unknown score.
    """
    slots = len(world.agents)
    if score == RETURN:
        return np.zeros((world.num_worlds, slots)) if returns is None else returns
    metrics = world.metrics
    fitting = [key for key, values in metrics.items() if np.shape(values)[1:] == (slots,)]
    if score not in fitting:
        raise UserError(
            f"{world.id}: no score {score!r}; there are {', '.join([RETURN, *fitting])} (one value per agent); {NAMED_BEFOREHAND}"
        )
    return np.asarray(metrics[score], np.float64)
