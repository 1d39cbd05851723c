"""The survival paper's figures of its eight experiments, drawn from runs of ours: length, rewards and kills by side, heals, boxes.

Run from the repository root, with a folder of runs, such as a sweep over the variants::

    interplay sweep survival/1v1-heals-low -p world.id=survival/1v1-heals-low,survival/2v2-all-low -p seed=0..2 \\
        steps=4000000 --out runs/survival
    .venv/bin/python -m studies.survival_figures runs/survival --out runs/figures

A picture for each variant that has runs there. Curves are drawn against the steps of every slot, as the author's logs count; bars are the
means over windows that are known of his runs (specification survival 11), dashed lines uniformly random play: the author's code where it
was measured (specification survival 12), ours for the others and for the other columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from interplay.evaluate.episodes import play
from interplay.evaluate.statistics import estimate
from interplay.registry import make_policy, make_world
from interplay.view.curves import Reference, plot_runs, published
from interplay.view.run_log import RunLog, read_run
from interplay.view.run_table import find_runs
from interplay.worlds.survival.config import VARIANTS

COLUMNS = ("episode_length", "episode_return", "kills", "heals_used", "boxes_placed")
_FROM = {"episode_length": "steps", "episode_return": "return"}  # names of the log -> of a table of episodes
EPISODES, WORLDS = 150, 50  # of random play; as many as the author's code was measured with


def random_levels(world_id: str, columns: Sequence[str]) -> list[Reference]:
    """Means of uniformly random play of our world, for columns whose level was not published."""
    world = make_world(world_id, num_worlds=WORLDS)
    table = play(world, make_policy(world_id, "random"), EPISODES)
    world.close()
    known = {reference.column for reference in published(world_id) if reference.level is not None}
    return [
        Reference("random play, ours", column, level=estimate(table[_FROM.get(column, column)].ravel()).mean)
        for column in columns
        if column not in known
    ]


def draw(world_id: str, logs: Sequence[RunLog], out: Path) -> Path:
    """The picture of one variant."""
    columns = [name for name in COLUMNS if name != "boxes_placed" or "-all-" in world_id]
    columns = [f"team_{name}" if name == "kills" and "2v2" in world_id else name for name in columns]
    references = [*published(world_id), *random_levels(world_id, columns)]
    by = "team" if "2v2" in world_id else "agent"
    name = world_id.replace("/", "-")
    return plot_runs(
        [log.path for log in logs], out / f"{name}.png", columns, references, against="slot_steps", by=by
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("figures"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    logs = [read_run(path) for path in find_runs(arguments.runs)]
    for variant in VARIANTS:
        own = [log for log in logs if log.world == f"survival/{variant}"]
        if own:
            print(f"written: {draw(f'survival/{variant}', own, arguments.out)}")
        else:
            print(f"survival/{variant}: no runs in {', '.join(map(str, arguments.runs))}", file=sys.stderr)


if __name__ == "__main__":
    main()
