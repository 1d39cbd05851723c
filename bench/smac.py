"""What SMAC's interface costs beside the battle itself, one battle in one process (specification games 5.5).

Run from the repository root::

    .venv/bin/python -m bench.smac

Agents choose among their legal actions at random, the enemy by `attack_move`. Microseconds of CPU time for a decision: of the world with both sides' choices
at hand; of a face's `step`; of `step` with the three getters that a runner of PyMARL asks, its choice left out; medians of `BLOCKS` blocks, taken in turn.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from interplay.cli.measure import pin
from interplay.connect.smac import StarCraft2Env

SCENARIOS = ("3m", "2s3z", "3i2z", "mab", "bane_vs_bane")
BLOCKS, DECISIONS = 9, 1500


class Course:
    """A course of battles through one of the ways; the same battles in each."""

    def __init__(self, scenario: str, decide: Callable[[StarCraft2Env, np.ndarray], None]) -> None:
        self.env, self.decide = StarCraft2Env(scenario, seed=1), decide
        self.rng = np.random.default_rng(0)
        self.env.reset()
        self.run(DECISIONS // 5)

    def run(self, decisions: int) -> float:
        """Microseconds of one decision, resets left out."""
        spent = 0.0
        for _ in range(decisions):
            if self.env.world.timestep.over[0]:
                self.env.reset()
            legal = self.env.world.timestep.action_mask["action"][0]
            chosen = (self.rng.random(legal.shape) * legal).argmax(axis=1)
            begun = time.process_time_ns()
            self.decide(self.env, chosen)
            spent += time.process_time_ns() - begun
        return spent / decisions / 1000


def of_the_world(env: StarCraft2Env, chosen: np.ndarray) -> None:
    """Both sides' actions are there."""
    env.world.step(chosen[np.newaxis])


def of_a_step(env: StarCraft2Env, chosen: np.ndarray) -> None:
    """The face asks the enemy."""
    env.step(chosen[: env.n_agents])


def of_a_runner(env: StarCraft2Env, chosen: np.ndarray) -> None:
    """As PyMARL's runners do."""
    env.step(chosen[: env.n_agents])
    env.get_state(), env.get_avail_actions(), env.get_obs()


def main() -> None:
    """Prints the table."""
    pin(1)
    print("| scenario | world | step | step and getters |\n|---|---|---|---|")
    for scenario in SCENARIOS:
        courses = [Course(scenario, way) for way in (of_the_world, of_a_step, of_a_runner)]
        blocks = [[course.run(DECISIONS) for course in courses] for _ in range(BLOCKS)]
        medians = [statistics.median(column) for column in zip(*blocks, strict=True)]
        print(f"| `{scenario}` | " + " | ".join(f"{figure:.0f}" for figure in medians) + " |")


if __name__ == "__main__":
    main()
