"""Every number of the matrix games once.

Sources: climbing is Claus & Boutilier (1998), section 4; recall and credit are our own.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interplay.core.settings import Settings

# Both agents' reward for the row player's choice (row) and the column player's (column). The best entry lies beside the worst: one
# agent's deviation from it costs the team up to 41.
CLIMBING = (
    (11.0, -30.0, 0.0),
    (-30.0, 7.0, 6.0),
    (0.0, 0.0, 5.0),
)


# What the row player earns; the column player earns its negative. Rock, paper, scissors, each beaten by the next.
ROCK_PAPER_SCISSORS = (
    (0.0, -1.0, 1.0),
    (1.0, 0.0, -1.0),
    (-1.0, 1.0, 0.0),
)


class RecallSettings(Settings):
    """Settings of one game of recall."""

    agents: Annotated[int, Field(ge=1, le=1_000)] = 1  # each has its own cue and reward
    cues: Annotated[int, Field(ge=2, le=100)] = 4  # as many choices
    delay: Annotated[int, Field(ge=0, le=100_000)] = 10  # empty steps between cue and choice

    @property
    def length(self) -> int:
        """Steps of an episode: the cue, the delay, the choice."""
        return self.delay + 2


class ClimbingSettings(Settings):
    """Settings of one climbing game."""

    rounds: Annotated[int, Field(ge=1, le=100_000)] = 10  # of an episode


class RockPaperScissorsSettings(Settings):
    """Settings of one game of rock, paper, scissors."""

    rounds: Annotated[int, Field(ge=1, le=100_000)] = 1  # of an episode; choices are not observed


class CreditSettings(Settings):
    """Settings of one game of credit."""

    agents: Annotated[int, Field(ge=2, le=1_000)] = 8  # one team
    cues: Annotated[int, Field(ge=2, le=100)] = 4  # as many choices
    rounds: Annotated[int, Field(ge=1, le=100_000)] = 1  # of an episode; cues are drawn in each
    offset: Annotated[float, Field(ge=0, le=1_000)] = (
        10.0  # its standard deviation; the learnable part is 0..1
    )
