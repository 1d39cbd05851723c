"""Plays a block of one matchup's matches side by side, each to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import NAMED_BEFOREHAND, World
from interplay.evaluate.results import OUTCOME, Results, has_outcome, limit_ended, results
from interplay.evaluate.tournaments.match_recordings import BlockRecorder, RecordingPlan
from interplay.evaluate.tournaments.matchups import Matchup, MatchupPolicy, sides

RETURN = "return"
_WORLDS, _PLAYERS = 0x70001, 0x70002  # random streams of a tournament, disjoint from training


class Match(NamedTuple):
    """The result of one match.

    Attributes:
        matchup: indices of the K players.
        match: number within the matchup.
        scores: of the K players, as Python floats; higher is better. Equal scores are a draw, or a cut match if the score is the
            outcome and a limit ended the match.
        more: further JSON values; ``truncated``: a limit ended it.
    """

    matchup: tuple[int, ...]
    match: int
    scores: tuple[float, ...]
    more: dict[str, Any]

    @property
    def key(self) -> str:
        """Unique within the tournament, e.g. ``"0-2/17"``."""
        return match_key(self.matchup, self.match)

    @property
    def ranks(self) -> tuple[int, ...]:
        """From 1, the best; equal scores share the better rank."""
        return tuple(1 + sum(other > score for other in self.scores) for score in self.scores)


def match_key(matchup: Sequence[int], match: int) -> str:
    """The key of a match within its tournament.

    Example:
        >>> match_key((0, 2), 17)
        '0-2/17'
    """
    return f"{'-'.join(map(str, matchup))}/{match}"


def match_seeds(seed: int, together: int, matches: Sequence[int]) -> np.ndarray:
    """World seeds of matches, (M,) uint64, from a random stream disjoint from training.

    K consecutive matches share a seed and differ in seating; every matchup plays the same seeds.
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

    The results depend only on the seed, the matchup and the numbers of the block's matches.

    Args:
        world: a batch of W worlds; it is reset.
        players: K policies, in the matchup's order; they are started.
        score: ``"return"``, or a metric of the world with a value per agent at the episode's end; see `default_score`.
        max_steps: cuts the matches; required for worlds without an end.

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
    with (
        _named(table.name, matches),
        BlockRecorder(plan, world, matchup.players, matches, seeds, table.seating) as recorder,
    ):
        recorder.begin()
        while not timestep.over.all() and (max_steps is None or steps.max() < max_steps):
            going = ~timestep.over
            steps += going
            action = table.act(timestep)
            timestep = world.step(action)
            returns += timestep.reward
            truncated |= going & limit_ended(timestep.truncated, timestep.over)
            recorder.step(action, going, timestep.over | (steps == max_steps))
    value = agent_scores(world, score, returns)
    if score == OUTCOME:  # a match that was cut has no outcome
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


@contextmanager
def _named(players: str, matches: Sequence[int]) -> Iterator[None]:
    """Errors in the block get the players' names and the numbers of the matches that are played side by side."""
    try:
        yield
    except UserError as error:
        numbers = f"matches {matches[0]} to {matches[-1]}" if len(matches) > 1 else f"match {matches[0]}"
        raise UserError(f"{error} (in {numbers} of {players})") from error


def _by_player(values: np.ndarray, seating: np.ndarray, together: int) -> tuple[float, ...]:
    """The mean over each player's slots, without NaN; 0 if all are NaN."""
    own = (values[seating == player] for player in range(together))
    return tuple(float(one[known].mean()) if (known := ~np.isnan(one)).any() else 0.0 for one in own)


def match_results(matches: Sequence[Match], score: str) -> Results:
    """Results of the first of two players; even matches ended by a limit are cut if the score is the outcome."""
    ahead = np.sign([match.scores[0] - match.scores[1] for match in matches])
    return results(ahead, np.array([score == OUTCOME and match.more["truncated"] for match in matches]))


def default_score(world: World) -> str:
    """The default score of a world (after a reset): its outcome if it has one, else the return."""
    return OUTCOME if has_outcome(world) else RETURN


def agent_scores(world: World, score: str, returns: np.ndarray | None = None) -> np.ndarray:
    """The current score of each agent, (W, A) float64: its return, or a metric of the world.

    Args:
        world: after a reset.
        score: ``"return"`` or a metric with a value per agent.
        returns: (W, A) so far; None = 0.
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
