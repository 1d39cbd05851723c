"""A machine of a run is killed, frozen or cut off: how long until this is noticed, and until the first update afterwards.

Run from the repository root, as root for the cut link, which needs network namespaces::

    .venv/bin/python -m bench.trust_losses --times 3

Two machines of one worker train. Kills (SIGKILL) and freezes (SIGSTOP) hit the second, two processes of this machine stand for them, and
the run is started anew from its last checkpoint as on a Ray cluster (`interplay.train.places`). For the cut link the machines
are two network namespaces joined by a virtual link, and both processes must end by themselves. Exit status 1 if the first update
after a kill comes later than the bar, or a process stays.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from interplay.core.settings import build
from interplay.train.places import train_on
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.settings import TrainSettings
from tests.train.machine_runs import TwoHosts

SMALL = {
    "world": {"id": "survival/1v1-heals-low"},
    "num_worlds": 32,
    "ppo": {"rollout": 32, "minibatch": 512},
    "train": {"checkpoint_updates": 5, "quiet": True, "max_updates": 400},
}
BAR = 20.0  # seconds from a kill to the first update
LONGEST = 90.0  # seconds until a process counts as one that stays
NAMESPACES = ("interplay-a", "interplay-b")


def hit(number: int) -> tuple[float, float]:
    """Hits the second machine with a signal; returns the seconds until all are started anew, and until the first update."""
    hosts, times = TwoHosts(), []

    def sabotage(run: Path) -> None:
        while latest_checkpoint(run) is None:
            time.sleep(0.02)
        began = time.monotonic()
        os.kill(hosts.started[1].pid, number)  # type: ignore[attr-defined]
        while len(hosts.started) < 4:
            time.sleep(0.01)
        times.append(time.monotonic() - began)
        log = run / "metrics.jsonl"
        size = log.stat().st_size
        while (now := log.stat().st_size) <= size:
            size = now  # it may be rewound
            time.sleep(0.01)
        times.append(time.monotonic() - began)
        os.kill(os.getpid(), signal.SIGINT)

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        saboteur = threading.Thread(target=sabotage, args=(run,), daemon=True)
        saboteur.start()
        settings = build(TrainSettings, SMALL, "trust_losses")
        train_on(hosts, run, settings, nodes=2, workers=1, shards=settings.train.shards)
        saboteur.join()
    return times[0], times[1]


def cut() -> list[float]:
    """Cuts the link between two machines; returns the seconds until each process has ended."""
    a, b = NAMESPACES
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = [
            "survival/1v1-heals-low",
            "num_worlds=32",
            "ppo.rollout=32",
            "ppo.minibatch=512",
            "train.quiet=true",
        ]
        words += ["train.checkpoint_updates=5", "--workers", "1", "--out", str(run), "--nodes", "2"]
        words += ["--coordinator", "10.77.0.1:7777"]
        join(a, b)
        try:
            machines = [
                subprocess.Popen(
                    [
                        "ip",
                        "netns",
                        "exec",
                        space,
                        sys.executable,
                        "-m",
                        "interplay",
                        "train",
                        *words,
                        "--node",
                        str(node),
                    ],
                    stderr=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
                for node, space in enumerate((a, b))
            ]
            while latest_checkpoint(run) is None:
                time.sleep(0.02)
            ip("netns", "exec", a, "ip", "link", "set", "va", "down")
            began, ends = time.monotonic(), []
            for machine in machines:
                machine.wait(LONGEST)
                ends.append(time.monotonic() - began)
            return ends
        finally:
            for machine in machines:
                machine.kill()
            leave(a, b)


def join(a: str, b: str) -> None:
    """Makes two network namespaces and a link between them."""
    for space in (a, b):
        ip("netns", "add", space)
        ip("netns", "exec", space, "ip", "link", "set", "lo", "up")
    ip("link", "add", "va", "netns", a, "type", "veth", "peer", "name", "vb", "netns", b)
    for space, name, address in ((a, "va", "10.77.0.1/24"), (b, "vb", "10.77.0.2/24")):
        ip("netns", "exec", space, "ip", "address", "add", address, "dev", name)
        ip("netns", "exec", space, "ip", "link", "set", name, "up")


def leave(*spaces: str) -> None:
    for space in spaces:
        ip("netns", "delete", space)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def main() -> int:
    """Prints a line for each event."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    late = False
    for number in (signal.SIGKILL, signal.SIGSTOP):
        found = [hit(number) for _ in range(times)]
        noticed, first = (statistics.median(each) for each in zip(*found, strict=True))
        worst = max(each for _, each in found)
        late |= number == signal.SIGKILL and worst > BAR
        print(
            f"{signal.Signals(number).name} {times} times: started anew after {noticed:.1f} s, first update after {first:.1f} s; "
            f"{worst:.1f} s at most",
            flush=True,
        )
    if os.geteuid() == 0:
        ends = [end for _ in range(times) for end in cut()]
        print(f"link cut {times} times: both ended after {min(ends):.1f} to {max(ends):.1f} s")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
