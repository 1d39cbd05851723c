"""Settings of populations (agents that share weights), sides, past selves, turns and beliefs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from interplay.core.settings import Settings

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def check_groups(by: str, groups: Mapping[str, Any]) -> None:
    """Refuses groups without ``by = "name"``, and group names that are no file names.

    Raises:
        ValueError: for them.
    """
    if (by == "name") != bool(groups):
        raise ValueError(f'by = "{by}" with {len(groups)} groups; groups and by = "name" go together')
    for name in groups:
        if not NAME.fullmatch(name):
            raise ValueError(f"groups: {name!r} names files; use letters, digits, _, - and dots")


def each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError(f"{list(names)} has a name twice; give each once")
    return names


Distinct = Annotated[tuple[str, ...], AfterValidator(each_once)]


def shares_of(who: str | Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Players of a side and their shares of the episodes, from a value of ``opponents``.

    Example:
        >>> shares_of("random"), shares_of([{"play": "self", "share": 0.75}, {"play": "past", "share": 0.25}])
        ([('random', 1.0)], [('self', 0.75), ('past', 0.25)])
    """
    return [(who, 1.0)] if isinstance(who, str) else [(one["play"], float(one["share"])) for one in who]


def is_share(one: Any) -> bool:
    """Whether it is ``{play = NAME, share = NUMBER}`` with a share above 0 and up to 1."""
    if not isinstance(one, Mapping) or one.keys() != {"play", "share"}:
        return False
    play, share = one["play"], one["share"]
    return isinstance(play, str) and bool(play) and type(share) in (int, float) and 0.0 < share <= 1.0


class PopulationGroup(Settings):
    """Which agents share weights: every population has its own network, optimiser and metrics."""

    by: Literal["world", "kind", "name"] = Field(
        "world",
        description="world: the world's populations; kind: one per kind of agent; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {},
        description='With by = "name": patterns of agent names per population, e.g. {red = ["red_*"]}.',
    )
    share_init: bool = Field(False, description="All populations begin with the same weights.")
    block: int = Field(
        256,
        ge=1,
        le=65_536,
        description="Rows of one population computed together; 256 to 512 fit a core's cache.",
    )

    @model_validator(mode="after")
    def _groups_are_named(self) -> PopulationGroup:
        check_groups(self.by, self.groups)
        return self


class SidesGroup(Settings):
    """Sides: the parts of a world that `opponents` and past selves play, even with shared weights."""

    by: Literal["population", "team", "seat", "name"] = Field(
        "population",
        description="population: one side each; team: the world's teams; seat: every slot; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {}, description='With by = "name": patterns of agent names per side, e.g. {left = ["player_0"]}.'
    )

    @model_validator(mode="after")
    def _groups_are_named(self) -> SidesGroup:
        check_groups(self.by, self.groups)
        return self


class AlternateGroup(Settings):
    """Two populations that learn in turns, by the mean of a metric (specification werewolf 15)."""

    metric: str | None = Field(
        None,
        min_length=1,
        description="Episode metric, e.g. win_vil; its mean sets the turn; off: no turns.",
    )
    at_high: str = Field("", description="Population that learns while the mean is at `high` or above.")
    at_low: str = Field("", description="Population that learns while the mean is at `low` or below.")
    high: float = Field(0.65, description="See at_high.")
    low: float = Field(0.35, description="See at_low.")
    between: Literal["last", "both", "none"] = Field(
        "last",
        description="Learner between the two bounds: the last one (at first both), both, or none.",
    )
    episodes: int = Field(1000, ge=1, description="The mean is over at least this many last episodes.")

    @model_validator(mode="after")
    def _two_take_turns(self) -> AlternateGroup:
        if self.metric is None:
            if self.at_high or self.at_low:
                raise ValueError("populations without a metric; give the metric that sets the turn")
            return self
        if not self.at_high or not self.at_low or self.at_high == self.at_low:
            raise ValueError(
                f"at_high = {self.at_high!r}, at_low = {self.at_low!r} are not two populations; name two"
            )
        if self.low >= self.high:
            raise ValueError(f"low = {self.low} is not below high = {self.high}; exchange them")
        return self


class PoolGroup(Settings):
    """Self-play with past selves: in some episodes a population plays with earlier weights."""

    populations: Distinct = Field((), description="Populations with past selves; empty = none.")
    every: int = Field(50, ge=1, description="Updates between two snapshots.")
    keep: int = Field(8, ge=1, le=64, description="Most snapshots per population; the oldest is dropped.")
    share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Share of the episodes in which a past self plays one of the populations.",
    )


class BeliefGroup(Settings):
    """Optional losses for communication (Sarkar et al. 2025): predict the roles of other seats, and a reward for changing predictions.

    The prediction is a head beside policy and value, fitted to the true roles. The predicted population has no such loss.
    """

    about: str = Field(
        "", description="Population of the predicted seats, e.g. werewolf; empty: no head and no losses."
    )
    listening: float = Field(
        0.1, gt=0, description="Weight of the prediction's cross-entropy (nats, mean over seats) in the loss."
    )
    speaking: float = Field(
        0.0,
        ge=0,
        description="Reward of a step per change (0 to 1) of the others' belief in the predicted seats; "
        "the predicted population gets its negative.",
    )
