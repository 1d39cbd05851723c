"""Wrappers of whole matches: teams, seats, rates, rewards, endings (specification interfaces 3.1, 5 and 8)."""

from __future__ import annotations

from interplay.interfaces.wrappers.endings import CutWithoutReward, LifeEnds
from interplay.interfaces.wrappers.rates import ActingRates, StepMul
from interplay.interfaces.wrappers.rewards import (
    NormalizeReward,
    RecordEpisodeStatistics,
    RewardWeights,
    SignReward,
)
from interplay.interfaces.wrappers.seats import RandPlayer
from interplay.interfaces.wrappers.sharing import AllObs, OpponentObs
from interplay.interfaces.wrappers.teams import MakeTeam, SplitTeam

__all__ = [
    "ActingRates",
    "AllObs",
    "CutWithoutReward",
    "LifeEnds",
    "MakeTeam",
    "NormalizeReward",
    "OpponentObs",
    "RandPlayer",
    "RecordEpisodeStatistics",
    "RewardWeights",
    "SignReward",
    "SplitTeam",
    "StepMul",
]
