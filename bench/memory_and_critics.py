"""What memory and a critic that sees the team are good for, on worlds where it is known what they can bring.

Run from the repository root::

    .venv/bin/python -m bench.memory_and_critics --seeds 5

- ``matrix/recall``: a cue, ten steps, a choice. Share of right choices in the last updates, with a GRU and without memory (chance is 1/4).
- ``matrix/credit``: everybody names its own cue and is paid as a team, with an offset of all cues. Agent-steps until 95 % are right, with
  the agent's own critic and with the team's.

Every run is printed; then means over the seeds with intervals of 95 % (Student's t).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.settings import build
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

LAST = 10  # updates that a share is taken over
RIGHT = 0.95
_T = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}  # two-sided 95 %, seeds -> t

RECALL: dict[str, Any] = {
    "world": {"id": "matrix/recall"},
    "num_worlds": 64,
    "steps": 500_000,
    "ppo": {"rollout": 64},
    "network": {"kind": "mlp"},
}
CREDIT: dict[str, Any] = {
    "world": {"id": "matrix/credit"},
    "num_worlds": 64,
    "steps": 150_000,
    "ppo": {"rollout": 8, "minibatch": 512, "epochs": 4, "learning_rate": 1e-3},
    "network": {"kind": "mlp"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, choices=sorted(_T))
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for memory in ("gru", "none"):
        shares = []
        for seed in range(asked.seeds):
            log, seconds = run(RECALL, {"memory": memory}, seed, asked.workers)
            shares.append(float(np.mean([line["right"] for line in log[-LAST:]])))
            tell(f"matrix/recall, memory {memory}, seed {seed}: {shares[-1]:.3f} right after {seconds:.0f} s")
        print(f"matrix/recall, memory {memory}: {interval(shares)} right")
    for critic in ("own", "team"):
        steps = []
        for seed in range(asked.seeds):
            log, _ = run(CREDIT, {"critic": critic}, seed, asked.workers)
            steps.append(steps_until(log))
            tell(
                f"matrix/credit, critic {critic}, seed {seed}: {steps[-1]:,.0f} agent-steps until {RIGHT:.0%}"
            )
        print(f"matrix/credit, critic {critic}: {interval(steps)} agent-steps until {RIGHT:.0%} are right")


def run(
    values: dict[str, Any], network: dict[str, Any], seed: int, workers: int
) -> tuple[list[dict[str, Any]], float]:
    """A run's log, and how long it took, seconds."""
    own = {"seed": seed, "train": {"workers": workers, "quiet": True, "checkpoint_seconds": 1e6}}
    settings = build(TrainSettings, {**values, **own, "network": {**values["network"], **network}}, "bench")
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        path = train(settings, Path(folder) / "run")
        seconds = time.monotonic() - began
        return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()], seconds


def steps_until(log: list[dict[str, Any]]) -> float:
    """Agent-steps after which the running mean over `LAST` updates is at `RIGHT`; infinite if it never is."""
    right = np.array([line["right"] for line in log])
    for end in range(LAST, len(right) + 1):
        if right[end - LAST : end].mean() >= RIGHT:
            return float(log[end - 1]["agent_steps"])
    return float("inf")


def interval(numbers: list[float]) -> str:
    """Mean and interval."""
    mean = float(np.mean(numbers))
    half = _T[len(numbers)] * float(np.std(numbers, ddof=1)) / len(numbers) ** 0.5
    return f"{mean:,.3g} +- {half:,.2g}" if mean < 10 else f"{mean:,.0f} +- {half:,.0f}"


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
