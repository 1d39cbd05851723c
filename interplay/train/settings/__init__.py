"""Settings of a training run: one model per group, every number with its unit and source."""

from interplay.train.settings.algorithms import (
    PolicyGradientGroup,
    PpoGroup,
    QmixGroup,
    RatesGroup,
    VdnGroup,
)
from interplay.train.settings.curriculum import CurriculumGroup, StageGroup
from interplay.train.settings.league import LeagueGroup, LearnerGroup, MeetingGroup
from interplay.train.settings.network import NetworkGroup
from interplay.train.settings.populations import (
    NAME,
    AlternateGroup,
    BeliefGroup,
    PoolGroup,
    PopulationGroup,
    SidesGroup,
    shares_of,
)
from interplay.train.settings.record import RecordGroup
from interplay.train.settings.train import TrainGroup, TrainSettings, WorldChoice

__all__ = [
    "NAME",
    "AlternateGroup",
    "BeliefGroup",
    "CurriculumGroup",
    "LeagueGroup",
    "LearnerGroup",
    "MeetingGroup",
    "NetworkGroup",
    "PolicyGradientGroup",
    "PoolGroup",
    "PopulationGroup",
    "PpoGroup",
    "QmixGroup",
    "RatesGroup",
    "RecordGroup",
    "SidesGroup",
    "StageGroup",
    "TrainGroup",
    "TrainSettings",
    "VdnGroup",
    "WorldChoice",
    "shares_of",
]
