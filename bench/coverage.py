"""How often the intervals of `interplay compare` cover the truth, in made-up studies of 3, 5 and 10 seeds.

Run from the repository root: ``python -m bench.coverage``; ``--studies 20000`` for more digits. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

from interplay.evaluate.statistics import (
    LEVEL,
    improvement_ends,
    interquartile_interval,
    interquartile_mean,
    mean_interval,
)

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
SEEDS = (3, 5, 10)
SCORES: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(10, 3, size),
    "share of games won, Beta(8, 3)": lambda rng, size: rng.beta(8, 3, size),
    "skewed, Gamma(8)": lambda rng, size: rng.gamma(8, 1.0, size),
    "very skewed, exponential": lambda rng, size: rng.exponential(1.0, size),
}
PAIRS = {
    "equal": (0.0, 1.0),
    "better by 1 deviation": (1.0, 1.0),
    "better, of 1.5 times the deviation": (1.0, 1.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--studies", type=int, default=1_000)
    studies = parser.parse_args().studies
    print(
        f"| interval | scores | {' | '.join(f'{seeds} seeds' for seeds in SEEDS)} |\n|---|---|{'---:|' * len(SEEDS)}"
    )
    for name, draw in SCORES.items():
        found = [of_means(draw, seeds, studies) for seeds in SEEDS]
        for at, what in enumerate(("mean, curve", "interquartile mean")):
            print(
                f"| {what} | {name} | {' | '.join(f'{100 * each[at]:.1f}' for each in found)} |", flush=True
            )
    for name, (shift, spread) in PAIRS.items():
        shares = [of_improvement(shift, spread, seeds, studies) for seeds in SEEDS]
        print(f"| P(better) | {name} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |", flush=True)


def of_means(draw: Draw, seeds: int, studies: int) -> tuple[float, float]:
    """The shares of studies whose intervals cover the mean, and the interquartile mean (of fewer than four seeds the mean)."""
    rng = np.random.default_rng(seeds)
    many, scores = draw(rng, (1_000_000,)), draw(rng, (studies, seeds))
    middle = many.mean() if seeds < 4 else float(interquartile_mean(many[:, None]))
    shares = []
    for interval, truth in ((mean_interval, many.mean()), (interquartile_interval, middle)):
        ends = [interval(own)[1:] for own in scores]
        shares.append(float(np.mean([low <= truth <= high for low, high in ends])))
    return shares[0], shares[1]


def of_improvement(shift: float, spread: float, seeds: int, studies: int) -> float:
    """The share of studies of two normal groups whose interval covers the probability of improvement."""
    rng = np.random.default_rng(seeds)
    groups = rng.normal(shift, spread, (studies, seeds)), rng.normal(0.0, 1.0, (studies, seeds))
    truth = math.erfc(-shift / math.hypot(1.0, spread) / math.sqrt(2)) / 2
    low, high = improvement_ends(*groups, LEVEL)
    return float(np.mean((low <= truth) & (truth <= high)))


if __name__ == "__main__":
    main()
