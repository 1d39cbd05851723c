"""Settings of a training run: one model per group, every number with its unit and source."""

from interplay.train.settings.algorithms import (
    PolicyGradientGroup,
    PpoGroup,
    QmixGroup,
    RatesGroup,
    VdnGroup,
)
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
from interplay.train.settings.run import (
    CurriculumGroup,
    PinsGroup,
    RecordGroup,
    StageGroup,
    TrainGroup,
    WorldChoice,
)
from interplay.train.settings.train import TrainSettings

__all__ = [
    "NAME",
    "AlternateGroup",
    "BeliefGroup",
    "CurriculumGroup",
    "LeagueGroup",
    "LearnerGroup",
    "MeetingGroup",
    "NetworkGroup",
    "PinsGroup",
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
