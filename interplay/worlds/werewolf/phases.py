"""Phases as data (specification 16.1), in the order in which they are played.

Kernels read these rows as a table of small integers, which determines masks, audiences and actors. Two phases have no row,
because they occur only on demand: a witch's potions, and a dying hunter's shot.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings
from interplay.worlds.werewolf.roles import NAMES

# Numbers of the phases in observations; 0 to 3 are the original's, custom ones follow.
NIGHT_TALK, NIGHT_KILL, DAY_TALK, DAY_EXECUTION, POTIONS, LAST_SHOT = range(6)
PHASES = ("night_talk", "night_kill", "day_talk", "day_execution", "potions", "last_shot")
RESOLVERS = ("none", "kill", "execution")
TALKED, KILLED, EXECUTED = range(len(RESOLVERS))
AUDIENCES = ("public", "pack")
PUBLIC, PACK = range(len(AUDIENCES))

Ability = Literal["speak", "speak_in_pack", "attack", "divine", "guard", "vote"]


class PhaseRow(Settings):
    """One phase."""

    name: str = Field(min_length=1, description="Of the four standard phases, or a new one.")
    night: bool = Field(False, description="Whether it is night.")
    rounds: int = Field(1, ge=0, le=100, description="Repetitions before the next phase; 0: skipped.")
    actors: dict[str, Ability] = Field(description="Role -> its ability; 'all' stands for every other role.")
    audience: Literal["public", "pack"] = Field("public", description="Viewers of the board.")
    resolver: Literal["none", "kill", "execution"] = Field("none", description="What the votes do.")
    only_day: int | None = Field(None, ge=0, description="Played on this day only.")
    except_day: int | None = Field(None, ge=0, description="Skipped on this day.")

    @model_validator(mode="after")
    def _fits(self) -> PhaseRow:
        for role in self.actors:
            if role != "all" and role not in NAMES:
                raise ValueError(f"phase {self.name}: no role {role!r}; choose from all, {', '.join(NAMES)}")
        allowed = {
            "none": ("speak", "speak_in_pack"),
            "kill": ("attack", "divine", "guard"),
            "execution": ("vote",),
        }[self.resolver]
        for role, ability in self.actors.items():
            if ability not in allowed:
                raise ValueError(
                    f"phase {self.name}: {role} = {ability} has no effect with resolver = {self.resolver}; "
                    f"give {' or '.join(allowed)}"
                )
        wanted = {"kill": "attack", "execution": "vote"}.get(self.resolver)
        if wanted is not None and wanted not in self.actors.values():
            raise ValueError(
                f"phase {self.name}: resolver = {self.resolver} counts votes and no actor has the ability {wanted}; add one"
            )
        return self


@cache
def standard_phases(night_rounds: int, day_rounds: int, first: str) -> tuple[PhaseRow, ...]:
    """The four phases of the original, beginning with `first`."""
    night = (
        PhaseRow(
            name="night_talk",
            night=True,
            rounds=night_rounds,
            actors={"werewolf": "speak_in_pack"},
            audience="pack",
        ),
        PhaseRow(
            name="night_kill",
            night=True,
            actors={"werewolf": "attack", "seer": "divine", "guard": "guard"},
            audience="pack",
            resolver="kill",
        ),
    )
    day = (
        PhaseRow(name="day_talk", rounds=day_rounds, actors={"all": "speak"}),
        PhaseRow(name="day_execution", actors={"all": "vote"}, resolver="execution"),
    )
    return night + day if first == "night_talk" else day + night


def phase_names(table: tuple[PhaseRow, ...]) -> tuple[str, ...]:
    """Names by number: the standard ones, then custom ones in their order."""
    own = dict.fromkeys(row.name for row in table if row.name not in PHASES)
    return (*PHASES, *own)
