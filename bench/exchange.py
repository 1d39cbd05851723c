"""The time of an exchange between two machines, both of which are ready.

Run from the repository root, on a machine with nothing else to do::

    .venv/bin/python -m bench.exchange

Two processes of this machine, joined by loopback, gather vectors as the machines of a run do; processor 0 and 1 are theirs if ``--pin``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import time

import numpy as np

SIZES, TIMES, WARM = (256, 22_840, 177_000), 400, 20


def take_part(node: int, port: int, pin: bool) -> None:
    """One machine's part; machine 0 prints."""
    if pin:
        os.sched_setaffinity(0, {node})
    from interplay.train.parallel import xla  # noqa: F401 - its flags, before jax begins
    from interplay.train.parallel.machines import Machines, network_of

    with network_of(Machines(2, node, f"127.0.0.1:{port}")) as network:
        assert network is not None
        for size in SIZES:
            vector, taken = np.ones(size, np.float32), []
            for _ in range(WARM + TIMES):
                began = time.perf_counter()
                network.gather(vector)
                taken.append(1e6 * (time.perf_counter() - began))
            if node == 0:
                median, tenth = np.median(taken[WARM:]), np.quantile(taken[WARM:], 0.9)
                print(f"{size:7,} numbers: {median:6.0f} us, one in ten above {tenth:.0f} us", flush=True)


def main() -> None:
    """Starts both."""
    parser = argparse.ArgumentParser(prog="python -m bench.exchange", description=__doc__)
    parser.add_argument("--pin", action="store_true", help="one processor for each")
    arguments = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    machines = [context.Process(target=take_part, args=(node, port, arguments.pin)) for node in range(2)]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()


if __name__ == "__main__":
    main()
