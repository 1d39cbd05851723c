"""Every number of the game once, with its unit and source; the named variants.

Sources: *WD* is the written description of the original environment, *PC* its published code. Where they disagree, the numbered
sections of docs/specs/werewolf.md decide.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Reward, Settings
from interplay.worlds.werewolf.phases import PhaseRow, standard_phases
from interplay.worlds.werewolf.roles import EXTRA, NAMES
from interplay.worlds.werewolf.theory import odds

MOST_PLAYERS = 256
VERBS = ("skip", "claim", "accuse", "defend", "agree", "disagree")  # of a structured claim (specification 17)

Arm = Literal[
    "full",
    "talk_off",
    "signals_off",
    "targets_off",
    "signals_shuffled",
    "signals_resampled",
    "signals_replayed",
]


class Penalties(Settings):
    """Rewards (specification 8)."""

    day: Reward = Field(-1.0, description="To the living, for each execution phase (WD -1, PC 0).")
    death: Reward = Field(-5.0, description="To a player who dies.")
    accord: Reward = Field(-1.0, description="To a voter whose ballot did not name the chosen player.")
    victory: Reward = Field(25.0, description="To every member of the winning team, the dead included.")
    lost: Reward = Field(-25.0, description="To every member of the losing team, the dead included.")
    wasted: Reward = Field(0.0, description="To all living, for an execution that chose nobody.")


class ObservationGroup(Settings):
    """What a player observes beside the boards (specification 7)."""

    role: bool = Field(True, description="Its own role.")
    pack: bool = Field(True, description="The wolves' seats, for wolves.")
    history: int = Field(0, ge=0, le=64, description="Earlier public boards that are appended.")


class WerewolfSettings(Settings):
    """One game."""

    n_players: int = Field(9, ge=3, le=MOST_PLAYERS, description="Players, n.")
    wolves: Literal["sqrt", "balanced"] | int = Field(
        "sqrt",
        description="Number of wolves: floor(sqrt n), that with the most even odds, or a number. The odds are those of random play "
        "with villagers alone, a kill every night and an execution by plurality every day.",
    )
    roles: dict[str, int] = Field(
        {},
        description=f"Further roles and how many of each ({', '.join(EXTRA)}); all others are villagers.",
    )
    seats: Literal["dealt", "by_role"] = Field(
        "dealt",
        description="Roles are dealt to seats in every game, or sit in the order of roles, so that seat numbers reveal them.",
    )
    first_phase: Literal["night_talk", "day_talk"] = Field(
        "night_talk", description="The half of a day with which the game begins."
    )
    talk_rounds_night: int = Field(1, ge=0, le=100, description="Rounds of the pack's talk; 0: none.")
    talk_rounds_day: int = Field(1, ge=0, le=100, description="Rounds of the public talk; 0: none.")
    phases: tuple[PhaseRow, ...] | None = Field(
        None, description="A custom table of phases instead of the standard one."
    )
    ballot_len: int = Field(
        1, ge=1, le=MOST_PLAYERS, description="Names on a ballot, in order, b (WD n, PC 1)."
    )
    vote_depth: int = Field(1, ge=1, description="How many of them count, k.")
    flexibility: float | None = Field(
        None, ge=0, lt=1, description="WD's form of b = n and k = max(1, floor(n x this))."
    )
    count_duplicates: bool = Field(False, description="A name given k times counts k times.")
    rule: Literal["plurality", "majority", "threshold", "unique_top"] = Field(
        "plurality", description="What the top count needs for an execution."
    )
    quota: float | None = Field(
        None, ge=0, le=1, description="With rule = threshold: votes per voter needed."
    )
    quota_of: Literal["living", "margin"] = Field(
        "living", description="The quota's whole: the living, or villagers minus wolves (a derivative's)."
    )
    tie: Literal["random", "none", "revote"] = Field("random", description="When several share the top.")
    revotes: int = Field(1, ge=1, le=100, description="Votes among the tied at most.")
    revote_final: Literal["random", "none"] = Field("random", description="When the last revote is tied.")
    allow_abstain: bool = Field(False, description="A voter may pass in an execution.")
    allow_self_vote: bool = Field(True, description="A voter may name itself in an execution.")
    signal_length: int = Field(0, ge=0, le=256, description="Symbols in a word, L.")
    signal_range: int = Field(9, ge=0, le=32_767, description="Different symbols, S.")
    claims: bool = Field(False, description="Adds a structured claim to the word: verb, subject, role.")
    max_days: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="Days before the game is cut: executions, and rounds of the table without one; off: n.",
    )
    penalties: Penalties = Penalties()
    accord: Literal["flat", "rank"] = Field(
        "flat", description="Charge accord once, or by the place of the chosen player on the ballot."
    )
    rank_absent: int | None = Field(
        None, ge=0, le=10_000, description="Place of a player not on the ballot; off: b."
    )
    reward_terms: bool = Field(False, description="Keep the parts of the reward apart, for logs.")
    dead: Literal["spectate", "end_with_bootstrap"] = Field(
        "spectate",
        description="Whether a dead player's episode goes on until the end or ends with its death.",
    )
    board: Literal["split", "last_visible", "last_phase"] = Field(
        "split",
        description="Public and pack boards, or the last visible board, or the last phase's only (PC).",
    )
    reveal_role: bool = Field(False, description="The role of the dead is public.")
    obs: ObservationGroup = ObservationGroup()
    illegal: Literal["resample", "raise"] = Field(
        "resample", description="An illegal name is replaced by a random legal one and counted, or refused."
    )
    arm: Arm = Field("full", description="How words and names on boards are altered (specification 18).")
    guard_self: bool = Field(False, description="A guard may guard itself.")
    guard_repeat: bool = Field(True, description="A guard may guard the same player in two nights running.")
    hunter_pass: bool = Field(False, description="A dying hunter may hold its fire.")

    @model_validator(mode="after")
    def _fits(self) -> WerewolfSettings:
        self._check_crew()
        self._check_ballot()
        self._check_words()
        if (self.quota is None) != (self.rule != "threshold"):
            raise ValueError(
                f"quota = {'off' if self.quota is None else self.quota} does not go with rule = {self.rule}; "
                "give a quota from 0 to 1 with rule = threshold, and only there"
            )
        if not any(row.resolver == "execution" and row.rounds for row in self.rows):
            raise ValueError(
                "phases: no row with resolver = execution is held, so no day would pass; add one"
            )
        return self

    def _check_crew(self) -> None:
        n = self.n_players
        for role, count in self.roles.items():
            if role not in EXTRA:
                raise ValueError(f"roles: no role {role!r}; choose from {', '.join(EXTRA)}")
            if count < 0:
                raise ValueError(f"roles: {role} = {count} is no number of players; give 0 or more")
        if self.wolves == "sqrt" and n < 5:
            raise ValueError(
                f"n_players = {n} is too few for wolves = sqrt; give 5 or more, or a number of wolves"
            )
        pack, others = self.num_wolves, n - self.num_wolves
        if not 1 <= pack < others:
            raise ValueError(
                f"wolves = {self.wolves} gives {pack} wolves among {n} players; there have to be 1 or more wolves, "
                f"and fewer than half of the players: raise n_players or give 1 to {(n - 1) // 2}"
            )
        if sum(self.roles.values()) > others:
            raise ValueError(
                f"roles = {self.roles} needs {sum(self.roles.values())} players, {others} are not wolves; "
                "give fewer, or raise n_players"
            )
        if self.first_phase == "night_talk" and pack >= others - 1 and not self.can_save:
            warnings.warn(
                f"werewolf: {pack} wolves among {n} players win in the first night, before any vote",
                stacklevel=2,
            )

    def _check_ballot(self) -> None:
        if self.vote_depth > self.ballot_len:
            raise ValueError(
                f"vote_depth = {self.vote_depth} is more than ballot_len = {self.ballot_len}; "
                "lower vote_depth or raise ballot_len"
            )
        if self.flexibility is not None and (self.ballot_len, self.vote_depth) != (1, 1):
            raise ValueError(
                f"flexibility = {self.flexibility} sets ballot_len and vote_depth; leave out these, or flexibility"
            )

    def _check_words(self) -> None:
        if self.signal_length and not self.signal_range:
            raise ValueError(
                f"signal_range = 0 leaves no symbol for signal_length = {self.signal_length}; "
                "raise signal_range or set signal_length = 0"
            )
        if self.arm.startswith("signals") and not self.word_length:
            raise ValueError(
                f"arm = {self.arm} needs words, signal_length is 0; raise signal_length or choose another arm"
            )

    @property
    def num_wolves(self) -> int:
        """Werewolves at the start."""
        if self.wolves == "sqrt":
            return math.isqrt(self.n_players)
        if self.wolves == "balanced":
            return odds.balanced_wolves(self.n_players, day=not self.rows[0].night)
        return self.wolves

    @property
    def crew(self) -> tuple[int, ...]:
        """Number of players with each role of `roles.ROLES`."""
        extra = [self.roles.get(name, 0) for name in EXTRA]
        return (self.n_players - self.num_wolves - sum(extra), self.num_wolves, *extra)

    @property
    def roles_in_play(self) -> tuple[str, ...]:
        """The dealt roles, in the order of `roles.ROLES`; each is a population."""
        return tuple(name for name, count in zip(NAMES, self.crew, strict=True) if count)

    @property
    def extra_roles(self) -> bool:
        """Whether there are roles beside villagers and werewolves."""
        return any(self.roles.values())

    @property
    def can_save(self) -> bool:
        """Whether a night can pass without a death."""
        return bool(self.roles.get("guard", 0) or self.roles.get("witch", 0))

    @property
    def names(self) -> int:
        """b, the names on a ballot."""
        return self.n_players if self.flexibility is not None else self.ballot_len

    @property
    def depth(self) -> int:
        """k, the names that count (specification 4)."""
        if self.flexibility is not None:
            return max(1, math.floor(self.n_players * self.flexibility))
        return self.vote_depth

    @property
    def days(self) -> int:
        """Days before the game is cut."""
        return self.max_days if self.max_days is not None else self.n_players

    @property
    def symbols(self) -> tuple[int, ...]:
        """Choices at each place of a word; a claim's verb, subject (n = none) and role come last."""
        claim = (len(VERBS), self.n_players + 1, len(NAMES)) if self.claims else ()
        return (self.signal_range,) * self.signal_length + claim

    @property
    def word_length(self) -> int:
        """Places of a word, claim included."""
        return len(self.symbols)

    @property
    def rows(self) -> tuple[PhaseRow, ...]:
        """All phases in their order, including those that the arm skips."""
        if self.phases is not None:
            return self.phases
        return standard_phases(self.talk_rounds_night, self.talk_rounds_day, self.first_phase)

    @property
    def table(self) -> tuple[PhaseRow, ...]:
        """The phases that are played, in their order."""
        return tuple(row for row in self.rows if self.arm != "talk_off" or row.resolver != "none")


AIWOLF5 = {"n_players": 5, "wolves": 1, "roles": {"possessed": 1, "seer": 1}}
AIWOLF13 = {
    "n_players": 13,
    "wolves": 3,
    "roles": {"possessed": 1, "seer": 1, "guard": 1, "medium": 1},
}
WRITTEN_FORM = {"obs": {"role": False, "pack": False}}

VARIANTS: dict[str, dict[str, Any]] = {
    **{str(n): {"n_players": n} for n in (6, 7, 9, 10, 11, 21)},
    **{
        f"{n}-l{length}s{symbols}": {"n_players": n, "signal_length": length, "signal_range": symbols}
        for n, length, symbols in (
            (9, 1, 2),
            (9, 1, 9),
            (9, 3, 9),
            (9, 9, 9),
            (21, 1, 9),
            (21, 3, 9),
            (21, 21, 21),
        )
    },
    "written": {**WRITTEN_FORM, "board": "last_visible"},
    "published_code": {
        **WRITTEN_FORM,
        "board": "last_phase",
        "penalties": {"day": 0.0},
        "max_days": 9,  # PC counts 10 and stops one day early
    },
    "multi_round": {
        "n_players": 21,
        "signal_length": 2,
        "signal_range": 9,
        "talk_rounds_day": 3,
        "rule": "threshold",
        "quota": 0.6,
        "quota_of": "margin",
        "penalties": {"wasted": -2.0},
    },
    "aiwolf5": AIWOLF5,
    "aiwolf13": AIWOLF13,
}
