"""Every number of the iterated prisoner's dilemma once.

Source: Axelrod (1984), "The evolution of cooperation", chapter 2.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from interplay.core.settings import Settings

Payoff = Annotated[float, Field(ge=-1_000, le=1_000)]


class DilemmaSettings(Settings):
    """Settings of one game. Payoffs are rewards of one round."""

    temptation: Payoff = 5.0  # T: for defecting while the other cooperates
    reward: Payoff = 3.0  # R: both cooperate
    punishment: Payoff = 1.0  # P: both defect
    sucker: Payoff = 0.0  # S: for cooperating while the other defects
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] = 50  # length of the game; with `ending` its longest
    ending: Annotated[float, Field(ge=0, lt=1)] = 0.0  # chance, after each round, that the game ends

    @model_validator(mode="after")
    def _is_a_dilemma(self) -> DilemmaSettings:
        if not self.temptation > self.reward > self.punishment > self.sucker:
            raise ValueError(
                f"temptation = {self.temptation:g}, reward = {self.reward:g}, punishment = {self.punishment:g} and "
                f"sucker = {self.sucker:g} make no dilemma; let each be larger than the next"
            )
        return self


VARIANTS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "open-ended": {"ending": 0.02, "rounds": 1_000},  # 50 rounds on average
}
"""The named variants: name -> settings that differ from the defaults."""
