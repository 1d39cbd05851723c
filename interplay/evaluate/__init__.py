"""Plays worlds with policies and measures the results; no jax here.

The package itself is what ``interplay.evaluate(...)`` calls (`interplay.verbs.playing.evaluate`).
"""

from interplay.core.callable_module import make_callable
from interplay.evaluate.episodes import EpisodeTable, compare, play
from interplay.evaluate.lifetimes.lives import Watch
from interplay.evaluate.policy_map import PolicyMap
from interplay.evaluate.statistics import Difference, Estimate
from interplay.evaluate.tournaments.merge import Home, merge_homes
from interplay.evaluate.tournaments.merge_results import LifeCell, MergeResults
from interplay.evaluate.tournaments.ratings.standings import Standings, rate_players
from interplay.evaluate.tournaments.round_robins import round_robin

__all__ = [
    "Difference",
    "EpisodeTable",
    "Estimate",
    "Home",
    "LifeCell",
    "MergeResults",
    "PolicyMap",
    "Standings",
    "Watch",
    "compare",
    "merge_homes",
    "play",
    "rate_players",
    "round_robin",
]

make_callable(__name__, "interplay.verbs.playing:evaluate")
