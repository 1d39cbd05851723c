"""Playing worlds with policies and saying what came of it; no jax here."""

from interplay.evaluate.cast import Cast
from interplay.evaluate.episodes import EpisodeTable, compare, play
from interplay.evaluate.lives import Watch
from interplay.evaluate.merge import Home, merge_homes
from interplay.evaluate.merge_results import LifeCell, MergeResults
from interplay.evaluate.populations import Populations
from interplay.evaluate.round_robins import round_robin
from interplay.evaluate.seats import Seats
from interplay.evaluate.standings import Standings, rate_players
from interplay.evaluate.statistics import Difference, Estimate

__all__ = [
    "Cast",
    "Difference",
    "EpisodeTable",
    "Estimate",
    "Home",
    "LifeCell",
    "MergeResults",
    "Populations",
    "Seats",
    "Standings",
    "Watch",
    "compare",
    "merge_homes",
    "play",
    "rate_players",
    "round_robin",
]
