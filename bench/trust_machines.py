"""A million rules of each state machine: worlds, a run's folder, a tournament's results (`tests.machines`).

Run from the repository root::

    .venv/bin/python -m bench.trust_machines --rules 1000000
    .venv/bin/python -m bench.trust_machines --rules 20000 --machine run --seed 7

The worlds share their number over the families. A law that does not hold ends the run with the shortest way to it that
Hypothesis finds, and exit status 1. The same seed tries the same rules.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from interplay.train.run.progress import Progress
from tests.machines.counting import Counting, try_rules
from tests.machines.ledger_machine import LedgerMachine
from tests.machines.run_machine import RunMachine
from tests.machines.world_machine import FAMILIES, machine_of

MACHINES = ("world", "run", "ledger")


def main() -> int:
    """Reads the command line, runs the machines, prints a line for each."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.trust_machines", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rules", type=int, default=1_000_000, help="of each machine, at least")
    parser.add_argument("--machine", action="append", choices=MACHINES, default=[], help="this one alone")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), default=[], help="of worlds")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    families = asked.family or list(FAMILIES)
    parts: list[tuple[str, type[Counting], int]] = []
    for name in asked.machine or MACHINES:
        if name == "world":
            parts += [
                (f"world {family}", machine_of(family), -(-asked.rules // len(families)))
                for family in families
            ]
        else:
            parts.append((name, RunMachine if name == "run" else LedgerMachine, asked.rules))
    return max(_try(*part, asked.seed) for part in parts)


def _try(name: str, machine: type[Counting], rules: int, seed: int) -> int:
    """One machine; 1 if a law did not hold."""
    progress, began = Progress(rules, 0, unit=f"rules of {name}"), time.monotonic()
    broken = ""
    try:
        try_rules(machine, rules, seed, lambda done: progress.update(min(done, rules)))
    except (AssertionError, BaseExceptionGroup):
        broken = traceback.format_exc()
    finally:
        progress.close()
    print(broken, end="", file=sys.stderr)
    counts = machine.counts
    told = ", ".join(f"{rule} {count:,}" for rule, count in sorted(counts.items()))
    print(
        f"{name}: {sum(counts.values()):,} rules in {time.monotonic() - began:.0f} s, "
        f"{'A LAW DOES NOT HOLD' if broken else '0 laws broken'} ({told})",
        flush=True,
    )
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
