"""How fast runs went: steps a second by the wall clock over the last two thirds of their logged updates.

    .venv/bin/python -m bench.rate runs/a runs/b

The first third holds compilation and is left out. ``slot-steps`` counts every slot of every world, alive or not, ``agent-steps`` the actions of the
run's networks. With several runs the median and the range follow.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from interplay.view.run_log import read_run


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    found = {}
    for path in parser.parse_args().runs:
        found[path] = rates(path)
        print(f"{path}: {found[path][0]:,.0f} slot-steps/s, {found[path][1]:,.0f} agent-steps/s")
    if len(found) > 1:
        slots = [rate for rate, _ in found.values()]
        print(f"slot-steps/s: median {np.median(slots):,.0f}, {min(slots):,.0f} to {max(slots):,.0f}")


def rates(path: Path) -> tuple[float, float]:
    """Slot-steps and agent-steps a second."""
    log = read_run(path)
    first = len(log.steps) // 3
    seconds = log.column("time")[-1] - log.column("time")[first]
    slots = log.columns.get("slot_steps", log.steps)  # earlier versions logged them as agent-steps
    return float((slots[-1] - slots[first]) / seconds), float((log.steps[-1] - log.steps[first]) / seconds)


if __name__ == "__main__":
    main()
