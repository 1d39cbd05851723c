"""A model of the time of an update on many workers and machines, beside measurements, and its predictions to 1,024 workers.

Run from the repository root, on a machine with nothing else to do::

    .venv/bin/python -m studies.scale_model --updates 30 --picture docs/images/more-workers.png

One run is trained by 1, 2 and 4 workers and by 2 and 4 machines (processes of this machine, joined by loopback). The
model takes from the run of one worker the seconds of an update, the gradient steps in it and the numbers in a gradient:
work is divided by the processes, but by no more than the cores; each gradient step adds a meeting of a machine's workers
(``python -m bench.meeting``) and an exchange between machines (`interplay.train.forecast`). A worker that is later than the others
is not in it.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from interplay.core.helping import processors
from interplay.core.settings import build
from interplay.train.forecast import WARM, exchange_seconds, rounds
from interplay.train.making import make_learner, registry_factory
from interplay.train.settings import TrainSettings

WORLD = "survival/1v1-heals-low"
MEETING, OF_EACH = 9e-6, 9.4e-11  # seconds of a meeting; and for each worker and number
MEASURED = [(1, 1), (1, 2), (1, 4), (2, 1), (4, 1), (2, 2)]
PREDICTED = [(1, 1), (1, 4), (1, 16), (1, 64), (2, 64), (4, 64), (16, 64), (1024, 1)]
COUNTS = [2**k for k in range(11)]  # of the curves


class Timing(NamedTuple):
    """Of a run: median seconds of an update, its gradient steps and agent-steps."""

    update: float
    gradient_steps: float
    agent_steps: float


def predicted(one: Timing, numbers: int, machines: int, workers: int, cores: float) -> float:
    """Seconds of an update, from those of one worker on one machine."""
    meeting = MEETING + OF_EACH * workers * numbers if workers > 1 else 0.0
    exchange = exchange_seconds(machines, numbers)
    return one.update / min(machines * workers, cores) + one.gradient_steps * (meeting + exchange)


def measured(machines: int, workers: int, updates: int) -> Timing:
    """Trains; reads the run's log."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as free:
        run, port = Path(name) / "run", free.getsockname()[1]
        free.close()
        command = [
            sys.executable,
            "-m",
            "interplay",
            "train",
            WORLD,
            "--workers",
            str(workers),
            "--out",
            str(run),
        ]
        command += [f"train.max_updates={updates}", "train.quiet=true", "record.every=0", "ppo.target_kl=off"]
        each = [
            ["--nodes", str(machines), "--node", str(node), "--coordinator", f"127.0.0.1:{port}"]
            for node in range(machines)
        ]
        started = [
            subprocess.Popen([*command, *(own if machines > 1 else ())], stdout=subprocess.DEVNULL)
            for own in each
        ]
        if sum(process.wait() for process in started):
            raise SystemExit(f"{machines} machines of {workers} workers did not train")
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "gradient_steps" in line]
    times = [
        after["time"] - before["time"] for before, after in zip(lines[WARM - 1 :], lines[WARM:], strict=False)
    ]
    return Timing(
        statistics.median(times),
        statistics.mean(line["gradient_steps"] for line in lines[WARM:]),
        (lines[-1]["agent_steps"] - lines[WARM - 1]["agent_steps"]) / len(times),
    )


def main() -> None:
    """Prints both tables; draws the curves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    updates, cores = arguments.updates, processors()
    settings = build(TrainSettings, {"world": {"id": WORLD}}, "scale_model")
    numbers = make_learner(settings, registry_factory(settings), begins=True, say=str).size
    print(
        "| machines | workers each | ms an update | predicted | gain | predicted |\n|---|---|---|---|---|---|"
    )
    one = measured(1, 1, updates)
    for machines, workers in MEASURED:
        own = one if (machines, workers) == (1, 1) else measured(machines, workers, updates)
        model = predicted(one, numbers, machines, workers, cores)
        print(
            f"| {machines} | {workers} | {1e3 * own.update:.0f} | {1e3 * model:.0f} | {one.update / own.update:.2f} | "
            f"{one.update / model:.2f} |",
            flush=True,
        )
    print(
        f"\n{cores} cores; {one.agent_steps:,.0f} agent-steps and {one.gradient_steps:.0f} gradient steps an update, vectors of {numbers:,} numbers\n"
    )
    head = "workers | same batch: gain | batch with the workers: agent-steps an update | agent-steps/s | of ideal | MB an update"
    print(f"| machines x {head} |\n|---|---|---|---|---|---|")
    for machines, workers in PREDICTED:
        count = machines * workers
        same, wide = gains(one, numbers, machines, workers)
        print(
            f"| {machines} x {workers} | {same:.1f} | {one.agent_steps * count:,.0f} | "
            f"{one.agent_steps * wide / one.update:,.0f} | {wide / count:.2f} | "
            f"{4e-6 * numbers * rounds(machines) * one.gradient_steps:,.0f} |"
        )
    if arguments.picture:
        draw(one, numbers, arguments.picture)


def gains(one: Timing, numbers: int, machines: int, workers: int) -> tuple[float, float]:
    """Agent-steps a second over those of one worker, by the model: with the same batch, and with a batch for each worker."""
    count = machines * workers
    same = predicted(one, numbers, machines, workers, count)
    wide = predicted(one._replace(update=one.update * count), numbers, machines, workers, count)
    return one.update / same, count * one.update / wide


def draw(one: Timing, numbers: int, path: Path) -> None:
    """The model's gains over the number of workers, 64 on each machine."""
    from matplotlib.figure import Figure

    figure = Figure((7, 4), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    shapes = [(max(count // 64, 1), min(count, 64)) for count in COUNTS]
    same, wide = zip(*[gains(one, numbers, *shape) for shape in shapes], strict=True)
    axes.plot(COUNTS, COUNTS, ":", color="gray", label="as many times as workers")
    axes.plot(COUNTS, wide, "o-", label="worlds and minibatches grow with the workers")
    axes.plot(COUNTS, same, "s-", label="the same worlds and minibatches")
    axes.axvline(64, color="gray", linewidth=0.5)
    axes.text(62, 0.72, "one machine", color="gray", horizontalalignment="right")
    axes.text(66, 0.72, "more machines", color="gray")
    axes.set_ylim(bottom=0.25)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.set_yticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.set_xlabel("workers, 64 on each machine")
    axes.set_ylabel("speed, times that of one worker")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
