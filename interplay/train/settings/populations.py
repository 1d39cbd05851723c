"""Who shares weights with whom, and who plays against whom."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from interplay.core.settings import Settings

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def check_groups(by: str, groups: Mapping[str, Any]) -> None:
    """Refuses groups of agents that are not asked for, or whose names would be no names of files.

    Raises:
        ValueError: for them.
    """
    if (by == "name") != bool(groups):
        raise ValueError(f'by = "{by}" with {len(groups)} groups; groups and by = "name" go together')
    for name in groups:
        if not NAME.fullmatch(name):
            raise ValueError(f"groups: {name!r} names files; use letters, digits, _, - and dots")


def shares_of(who: str | Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Those who may play a side, and their shares of the episodes, from a value of ``opponents``.

    Example:
        >>> shares_of("random"), shares_of([{"play": "self", "share": 0.75}, {"play": "past", "share": 0.25}])
        ([('random', 1.0)], [('self', 0.75), ('past', 0.25)])
    """
    return [(who, 1.0)] if isinstance(who, str) else [(one["play"], float(one["share"])) for one in who]


def is_share(one: Any) -> bool:
    """Whether it says who plays and in which share of the episodes."""
    if not isinstance(one, Mapping) or one.keys() != {"play", "share"}:
        return False
    play, share = one["play"], one["share"]
    return isinstance(play, str) and bool(play) and type(share) in (int, float) and 0.0 < share <= 1.0


class PopulationGroup(Settings):
    """Who shares weights with whom: every population has a network, an optimiser and metrics of its own."""

    by: Literal["world", "kind", "name"] = Field(
        "world",
        description="world: as the world says; kind: all agents of a kind are one; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {},
        description='Population to patterns of its agents\' names, e.g. {red = ["red_*"]}; by = "name" reads it.',
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
    """What `opponents` and past selves play in an episode: parts of a world, also where all agents share their weights."""

    by: Literal["population", "team", "seat", "name"] = Field(
        "population",
        description="population: each is a side; team: as the world says; seat: every slot; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {}, description='Side to patterns of its agents\' names, e.g. {left = ["player_0"]}; by = "name".'
    )

    @model_validator(mode="after")
    def _groups_are_named(self) -> SidesGroup:
        check_groups(self.by, self.groups)
        return self


class AlternateGroup(Settings):
    """Two populations that learn by turns (specification werewolf 15): while villagers win often wolves learn, and back."""

    metric: str | None = Field(
        None,
        min_length=1,
        description="Of an episode, e.g. win_vil; its mean says whose turn it is; off: no turns.",
    )
    at_high: str = Field("", description="Population that learns while the mean is at `high` or above.")
    at_low: str = Field("", description="Population that learns while the mean is at `low` or below.")
    high: float = Field(0.65, description="See at_high.")
    low: float = Field(0.35, description="See at_low.")
    between: Literal["last", "both", "none"] = Field(
        "last",
        description="Who learns between them: who learned last (both at the beginning), both, or neither.",
    )
    episodes: int = Field(1000, ge=1, description="The mean is over at least so many last episodes.")

    @model_validator(mode="after")
    def _two_take_turns(self) -> AlternateGroup:
        if self.metric is None:
            if self.at_high or self.at_low:
                raise ValueError("populations without a metric; give the metric that says whose turn it is")
            return self
        if not self.at_high or not self.at_low or self.at_high == self.at_low:
            raise ValueError(
                f"at_high = {self.at_high!r}, at_low = {self.at_low!r} are not two populations; name two"
            )
        if self.low >= self.high:
            raise ValueError(f"low = {self.low} is not below high = {self.high}; exchange them")
        return self


class PoolGroup(Settings):
    """Self-play with past selves: in some episodes a population is played by weights that it had before."""

    populations: tuple[str, ...] = Field((), description="That keep past selves; empty = none.")
    every: int = Field(50, ge=1, description="Updates between two snapshots.")
    keep: int = Field(8, ge=1, le=64, description="Most snapshots of a population; the oldest gives way.")
    share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Of the episodes, those in which a past self plays one of the populations.",
    )

    @field_validator("populations")
    @classmethod
    def _each_once(cls, populations: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(populations)) == len(populations):
            return populations
        raise ValueError(f"{list(populations)} names a population twice; name each once")


class BeliefGroup(Settings):
    """Optional losses that help players to talk (Sarkar et al. 2025): guess who is who from what was said, be paid for what others guess.

    The guess is a head of its own beside policy and value, fitted to the truth, which is known in training. Those who are
    guessed do not guess.
    """

    about: str = Field(
        "", description="Population whose seats are guessed, e.g. werewolf; empty: no head and neither loss."
    )
    listening: float = Field(
        0.1, gt=0, description="Weight of the guess's cross-entropy (nats, mean over seats) in the loss."
    )
    speaking: float = Field(
        0.0,
        ge=0,
        description="Reward of a step, times the change of what the others believe of those who are guessed (0 to 1); "
        "those who are guessed get its negative.",
    )
