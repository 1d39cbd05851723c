"""Random play of the survival world against the author's code: the same statistics within their errors.

Run from the repository root::

    .venv/bin/python -m studies.random_statistics --episodes 4000

Reference: 150 episodes per variant of the author's released code, uniform actions, mean and standard error (specification
survival 12). Ours: all quirk switches of that code on (``author_parity=True``), every episode played
to its end. The last column is the difference in combined standard errors; the bar is 3.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from interplay import make_policy, make_world
from interplay.evaluate import EpisodeTable, Estimate, play
from interplay.evaluate.statistics import difference, estimate

BAR = 3.0
EPISODES = 150  # behind each of the author's figures


class Row(NamedTuple):
    """The author's figures of one variant: mean and standard error."""

    name: str
    world: str
    steps: tuple[float, float]
    reward_0: tuple[float, float]
    reward_1: tuple[float, float]
    heals_used: tuple[float, float]
    kills_0: tuple[float, float]
    kills_1: tuple[float, float]


AUTHOR = (
    Row(
        "FFA 1", "survival/1v1-heals-low",
        (498.6, 15.7), (374.7, 16.2), (370.9, 17.5), (0.57, 0.06), (0.0, 0.0), (0.007, 0.007),
    ),
    Row(
        "FFA 2", "survival/1v1-heals-mid",
        (258.0, 11.5), (256.9, 11.5), (257.1, 11.5), (0.37, 0.06), (0.013, 0.009), (0.007, 0.007),
    ),
    Row(
        "2v2 2", "survival/2v2-heals-mid",
        (390.0, 11.6), (389.0, 11.6), (389.0, 11.6), (0.83, 0.08), (0.013, 0.009), (0.020, 0.011),
    ),
)  # fmt: skip


def ours(table: EpisodeTable) -> dict[str, Estimate]:
    """The author's columns from our table; agents 0 and A - 1 stand for the two sides."""
    kills = table["team_kills" if "team_kills" in table.columns else "kills"]
    return {
        "steps": estimate(table["steps"]),
        "reward_0": estimate(table["return"][:, 0]),
        "reward_1": estimate(table["return"][:, -1]),
        "heals_used": estimate(table["heals_used"]),
        "kills_0": estimate(kills[:, 0]),
        "kills_1": estimate(kills[:, -1]),
    }


def theirs(mean: float, error: float) -> Estimate:
    """The author's figure; where 150 episodes showed no event at all the error is that of at most one.

    A count that was zero in n episodes has a standard error of 0 as measured, which says only that the sample is
    small: one event would have given 1/n with an error of about 1/n.
    """
    return Estimate(mean, error or 1.0 / EPISODES, EPISODES)


def lines(episodes: int, num_worlds: int, seed: int) -> list[str]:
    """The table, one line per variant and statistic."""
    found = [
        "| variant | statistic | author, 150 episodes | ours | difference / error |",
        "|---|---|---|---|---|",
    ]
    for row in AUTHOR:
        world = make_world(row.world, num_worlds=num_worlds, author_parity=True)
        table = play(world, make_policy(row.world, "random"), episodes, seed)
        for name, mine in ours(table).items():
            given = theirs(*getattr(row, name))
            gap = difference(mine, given)
            assert gap.sigmas is not None
            error = "0" if getattr(row, name)[1] == 0 else f"{given.standard_error:.3g}"
            mark = "" if abs(gap.sigmas) <= BAR else " **beyond the bar**"
            found.append(
                f"| {row.name} | {name.replace('_', ' ')} | {given.mean:.4g} ± {error} | {mine} | {gap.sigmas:+.2f}{mark} |"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=4000, help="per variant (default: 4000)")
    parser.add_argument("--num-worlds", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("\n".join(lines(given.episodes, given.num_worlds, given.seed)))


if __name__ == "__main__":
    main()
