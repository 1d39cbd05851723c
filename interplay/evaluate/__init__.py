"""Playing worlds with policies and saying what came of it; no jax here."""

from interplay.evaluate.episodes import EpisodeTable, compare, play
from interplay.evaluate.seats import Seats
from interplay.evaluate.statistics import Difference, Estimate

__all__ = ["Difference", "EpisodeTable", "Estimate", "Seats", "compare", "play"]
