"""Settings of a league: learners, frozen copies of them, fixed players, and matchmaking (specification interfaces 11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from interplay.core.loading import did_you_mean
from interplay.core.settings import Settings
from interplay.train.settings.populations import NAME, Distinct

Rule = Literal["self", "current", "latest", "first", "uniform", "pfsp", "nash", "near", "fixed"]
Priority = Literal["linear", "squared", "half", "variance", "variance_0.1", "variance_0.05"]

# Rules that choose among frozen players; `_OWN`: among the learner's own copies where `among` is empty.
_OWN = ("latest", "first", "uniform")
_FROZEN = (*_OWN, "pfsp", "nash", "near")
# Rule -> settings that it reads besides `by` and `share`.
_READS = {
    "self": (),
    "current": ("among",),
    "latest": ("among",),
    "first": ("among",),
    "uniform": ("among", "last"),
    "pfsp": ("among", "priority", "matches"),
    "nash": ("among",),
    "near": ("among",),
    "fixed": ("play",),
}


class MeetingGroup(Settings):
    """The opponent of a learner in a share of its matches."""

    by: Rule = Field(
        description="self: its current self, and both learn; current: another learner as it is now; frozen copies: latest, first, "
        "uniform, pfsp (by win rate), nash (their equilibrium), near (similar strength); fixed: a policy or run."
    )
    share: float = Field(1.0, gt=0, le=1, description="Of its matches; the shares of a learner sum to 1.")
    among: Distinct = Field(
        (),
        description="Learners to choose from (current), or from their frozen copies; empty: latest, first and uniform "
        "use its own copies, the others all. Of several learners, latest and first choose one at random.",
    )
    priority: Priority = Field(
        "squared",
        description="Weight by the own win rate x: linear 1 - x; squared; half min(1/2, 1 - x); variance x (1 - x), at least 0.1 or 0.05.",
    )
    matches: int = Field(5, ge=1, description="pfsp: a win rate of fewer matches counts as one half.")
    last: int = Field(100, ge=1, description="uniform: over this many newest copies of each learner.")
    play: str = Field("", description="fixed: name of a policy, run folder, checkpoint, or RUN@player.")

    @model_validator(mode="after")
    def _reads_what_is_set(self) -> MeetingGroup:
        for name in ("among", "priority", "matches", "last", "play"):
            value = getattr(self, name)
            if value != type(self).model_fields[name].default and name not in _READS[self.by]:
                reads = ", ".join(_READS[self.by]) or "nothing more"
                raise ValueError(f'{name} = {value!r} is not read by "{self.by}"; it reads {reads}')
        if self.by == "fixed" and not self.play:
            raise ValueError('by = "fixed" without play; name a policy, e.g. play = "random"')
        return self


class LearnerGroup(Settings):
    """One learner of a league."""

    meets: tuple[MeetingGroup, ...] = Field(
        (MeetingGroup(by="self", share=0.5), MeetingGroup(by="pfsp", share=0.5)),
        description="Its opponents; while a rule finds none, it plays itself.",
    )
    freeze: bool = Field(True, description="Keep a copy at the end of every period.")
    restart_after: int | None = Field(
        None, ge=1, description="Periods after which it restarts from its first weights; off: never."
    )
    restart_above: float | None = Field(
        None,
        gt=0.5,
        le=1,
        description="It also restarts after winning more than this share against every opponent of at least 10 matches "
        "since its last copy or restart; off: never.",
    )

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> LearnerGroup:
        total = sum(meeting.share for meeting in self.meets)
        if not self.meets or abs(total - 1.0) > 1e-6:
            raise ValueError(
                f"meets: shares {[m.share for m in self.meets]} sum to {total:g}; make them sum to 1"
            )
        return self


class PbtGroup(Settings):
    """Population-based training (Jaderberg et al. 2019): rates are drawn, weak learners copy strong ones."""

    rates: Distinct = Field(
        (), description='Of the algorithm, e.g. ["learning_rate", "entropy_coefficient"]; empty = off.'
    )
    spread: float = Field(
        3.0,
        ge=1,
        description="Initial rates are those of the settings times a factor from 1 / spread to spread.",
    )
    below: float = Field(
        0.3,
        gt=0,
        lt=0.5,
        description="A learner copies a random other one if its estimated win rate against it is below this.",
    )
    change: float = Field(1.2, ge=1, description="Copied rates are multiplied or divided by this.")


class LeagueGroup(Settings):
    """Players of a league; a match has two or more of them, and each world of a batch its own match."""

    learners: dict[str, LearnerGroup] = Field(
        {}, description="Learners by name; each has its own weights. Empty: no league."
    )
    period: int = Field(
        500_000, ge=1, description="Agent-steps between two decisions: copies, restarts, ratings."
    )
    keep: int = Field(
        32,
        ge=1,
        le=256,
        description="Most frozen players; beyond it the oldest copy of the learner with the most is dropped.",
    )
    score: str | None = Field(
        None,
        min_length=1,
        description="What decides a match: return, or a metric with one value per agent; off: the outcome where the world has one, "
        "else the return.",
    )
    measure: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Share of matches without learning, between the two players with the fewest matches.",
    )
    decay: float = Field(
        1.0, gt=0, le=1, description="Factor of earlier results at the end of a period; 1: all count alike."
    )

    pbt: PbtGroup = PbtGroup()

    @model_validator(mode="after")
    def _several_learn(self) -> LeagueGroup:
        if self.pbt.rates and len(self.learners) < 2:
            raise ValueError(
                f"pbt.rates = {list(self.pbt.rates)} with {len(self.learners)} learner; add learners to copy from"
            )
        return self

    @model_validator(mode="after")
    def _learners_fit(self) -> LeagueGroup:
        for name, learner in self.learners.items():
            if not NAME.fullmatch(name) or "@" in name:
                raise ValueError(f"learners: {name!r} names files; use letters, digits, _, - and dots")
            owner, _, number = name.rpartition("-")
            if owner in self.learners and number.isdigit():
                raise ValueError(f"learners: {name!r} is the name of a copy of {owner}; choose another name")
            if name in self.fixed:
                raise ValueError(f"learners: {name!r} is a fixed player, too; choose another name")
            for meeting in learner.meets:
                for other in meeting.among:
                    if other not in self.learners:
                        near = did_you_mean(other, self.learners, f"there are {', '.join(self.learners)}")
                        raise ValueError(f"learners.{name}: among {other!r} is no learner; {near}")
                others = [other for other in meeting.among or self.learners if other != name]
                if meeting.by == "current" and not others:
                    raise ValueError(
                        f"learners.{name}: there is no other learner to meet; use self, or add one"
                    )
                self._check_frozen(name, meeting)
        if self.learners and not self.fixed and not any(one.freeze for one in self.learners.values()):
            alone = all(m.by == "self" for one in self.learners.values() for m in one.meets)
            if alone:
                raise ValueError(
                    "learners meet only themselves and none is frozen: a league of one player; set freeze, or let them meet others"
                )
        return self

    def _check_frozen(self, name: str, meeting: MeetingGroup) -> None:
        own = (name,) if meeting.by in _OWN else tuple(self.learners)
        owners = meeting.among or own
        if meeting.by in _FROZEN and not any(self.learners[owner].freeze for owner in owners):
            raise ValueError(
                f'learners.{name}: "{meeting.by}" finds no opponent, no copy of {", ".join(owners)} is kept; set freeze'
            )

    @property
    def fixed(self) -> tuple[str, ...]:
        """Fixed players, each once, in order."""
        named = (m.play for one in self.learners.values() for m in one.meets if m.by == "fixed")
        return tuple(dict.fromkeys(named))

    def chooses(self) -> Iterator[MeetingGroup]:
        """All rules that choose among frozen players."""
        return (m for one in self.learners.values() for m in one.meets if m.by in _FROZEN)


# Leagues by name (specification interfaces 11.2).
_PFSP = {"by": "pfsp", "share": 0.5}

LEAGUES: dict[str, dict[str, Any]] = {
    # Against itself alone; copies are kept for inspection.
    "latest": {"learners": {"main": {"meets": [{"by": "self"}]}}},
    # Four matches of five against itself, one against an earlier copy.
    "history": {
        "learners": {"main": {"meets": [{"by": "self", "share": 0.8}, {"by": "uniform", "share": 0.2}]}}
    },
    "pfsp": {"learners": {"main": {"meets": [{"by": "self", "share": 0.5}, _PFSP]}}},
    # Each period a new learner best-responds to the equilibrium of the earlier ones.
    "psro": {
        "learners": {
            "main": {
                "meets": [
                    {"by": "latest", "share": 0.2},
                    {"by": "uniform", "share": 0.2},
                    {"by": "nash", "share": 0.6},
                ],
                "restart_after": 1,
            }
        }
    },
    # Vinyals et al. 2019: exploiters learn to beat the main agent, or all players, and restart.
    "exploiters": {
        "learners": {
            "main": {"meets": [{"by": "self", "share": 0.35}, {"by": "pfsp", "share": 0.65}]},
            "main_exploiter": {
                "meets": [
                    {"by": "current", "among": ["main"], "share": 0.5},
                    {"by": "pfsp", "among": ["main"], "priority": "variance", "share": 0.5},
                ],
                "restart_after": 8,
                "restart_above": 0.7,
            },
            "league_exploiter": {
                "meets": [{"by": "pfsp", "priority": "half"}],
                "restart_after": 8,
                "restart_above": 0.7,
            },
        }
    },
}
