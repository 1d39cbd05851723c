"""A machine of a run is killed, frozen, far away or cut off: how long until this is noticed, and until the first update afterwards.

Run from the repository root, as root for the last two, which need network namespaces and are left out where there are none::

    .venv/bin/python -m bench.trust_losses --times 3

Two machines of one worker train. Kills (SIGKILL) and freezes (SIGSTOP) hit the second, two processes of this machine stand for them, and
the run is started anew from its last checkpoint as on a Ray cluster (`interplay.train.places`). For the others the machines are two
network namespaces joined by a link on which packets take a while (`bench.delayed_link`): the bits must be those of one machine, and
both processes must end by themselves when it is cut. Exit status 1 if the first update after a kill comes later than the bar, bits
differ, or a process stays.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench import delayed_link
from interplay.core.settings import build, changed, to_toml
from interplay.train.places import train_on
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.machine_runs import TwoHosts
from tests.train.runs import arrays_of, log_of

SMALL = {
    "world": {"id": "survival/1v1-heals-low"},
    "num_worlds": 32,
    "ppo": {"rollout": 32, "minibatch": 512},
    "train": {"checkpoint_updates": 5, "quiet": True, "max_updates": 400},
}
BAR = 20.0  # seconds from a kill to the first update
LONGEST = 90.0  # seconds until a process counts as one that stays
DELAY = 5.0  # milliseconds of a packet, one way
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


def cut(delay: float) -> list[float]:
    """Cuts the link between two machines; returns the seconds until each process has ended."""
    with tempfile.TemporaryDirectory() as folder, namespaces(delay):
        run = Path(folder) / "run"
        machines = start(run, 400)
        while latest_checkpoint(run) is None:
            time.sleep(0.02)
        ip("netns", "exec", NAMESPACES[0], "ip", "link", "set", delayed_link.NAME, "down")
        began, ends = time.monotonic(), []
        for machine in machines:
            machine.wait(LONGEST)
            ends.append(time.monotonic() - began)
        return ends


def slow(delay: float) -> tuple[float, bool]:
    """Trains 12 updates over the link; returns the median milliseconds of an update, and whether its bits are those of one machine."""
    with tempfile.TemporaryDirectory() as folder, namespaces(delay):
        run = Path(folder) / "run"
        for machine in start(run, 12):
            if machine.wait():
                raise SystemExit(f"a machine ended with status {machine.returncode}")
        alone = train(settings_of(12), Path(folder) / "alone")
        times = [line["time"] for line in log_of(run) if "ending" not in line]
        return 1000 * float(np.median(np.diff(times))), arrays_of(run) == arrays_of(alone)


def settings_of(updates: int) -> TrainSettings:
    return changed(build(TrainSettings, SMALL, "trust_losses"), {"train": {"max_updates": updates}}, "")


def start(run: Path, updates: int) -> list[subprocess.Popen[bytes]]:
    """The two machines of a run, each in its namespace."""
    file = run.with_suffix(".toml")
    file.write_text(to_toml(settings_of(updates)))
    words = ["train", str(file), "--out", str(run), "--nodes", "2", "--coordinator", "10.77.0.1:7777"]
    return [
        subprocess.Popen(
            [*_inside(space), "interplay", *words, "--node", str(node)], stderr=subprocess.DEVNULL
        )
        for node, space in enumerate(NAMESPACES)
    ]


@contextlib.contextmanager
def namespaces(delay: float) -> Iterator[None]:
    """Two network namespaces and a link between them, on which a packet takes so many milliseconds; their processes end with them."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for space, end, address in zip(NAMESPACES, ends, ("10.77.0.1/24", "10.77.0.2/24"), strict=True):
        ip("netns", "add", space)
        ip("netns", "exec", space, "ip", "link", "set", "lo", "up")
        words = ["bench.delayed_link", str(end.fileno()), address, str(delay)]
        subprocess.Popen([*_inside(space), *words], pass_fds=[end.fileno()])
        end.close()
    try:
        yield
    finally:
        for space in NAMESPACES:
            held = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=True)
            for process in held.stdout.split():
                os.kill(int(process), signal.SIGKILL)
            ip("netns", "delete", space)


def _inside(space: str) -> list[str]:
    return ["ip", "netns", "exec", space, sys.executable, "-m"]


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
    try:
        ip("netns", "add", NAMESPACES[0])
        ip("netns", "delete", NAMESPACES[0])
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no network namespaces here, so the slow and the cut link are left out ({error})")
        return int(late)
    for delay in (0.0, DELAY):
        update, equal = slow(delay)
        late |= not equal
        print(
            f"packets take {delay:g} ms: {update:,.0f} ms an update, bits of one machine: {equal}", flush=True
        )
    ends = [end for _ in range(times) for end in cut(DELAY)]
    print(f"link cut {times} times: both ended after {min(ends):.1f} to {max(ends):.1f} s")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
