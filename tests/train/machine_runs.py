"""One machine of a run: it trains or resumes the run in FOLDER, and may kill a machine after an update.

python -m tests.train.machine_runs '{"folder": ..., "nodes": 2, "node": 0, "port": 7777, ...}'
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core.processes import HERE, Place, Process
from interplay.train.parallel import machines as network
from interplay.train.parallel.exchange import SharedMemory, create_block
from interplay.train.parallel.machines import AcrossMachines, Machines, Relay, network_of
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train.runs import short_run

KILL = 7  # update after which a machine is killed
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "ppo": (
        "survival/1v1-heals-low",
        {"ppo": {"rollout": 8, "minibatch": 64, "epochs": 2}, "network": {"normalise": True}},
    ),
    "vdn": ("battle/3m", {"algorithm": "vdn", "vdn": {"rollout": 16, "minibatch": 16, "replay": 128}}),
    "qmix": ("battle/3m", {"algorithm": "qmix", "qmix": {"rollout": 16, "minibatch": 16, "replay": 128}}),
    "league": (
        "matrix/rock-paper-scissors",
        {
            "num_worlds": 32,
            "ppo": {"rollout": 8, "minibatch": 64, "epochs": 2},
            "population": {"block": 8},
            "league": {
                "learners": {
                    "main": {"meets": [{"by": "self", "share": 0.5}, {"by": "pfsp", "share": 0.5}]},
                    "exploiter": {"meets": [{"by": "current", "among": ["main"]}], "restart_after": 2},
                },
                "period": 500,
                "keep": 4,
            },
        },
    ),
    "past selves": (
        "pong/2p",
        {
            "ppo": {"rollout": 8, "minibatch": 64, "epochs": 2},
            "opponents": {"right": "past"},
            "pool": {"every": 1},
            "sides": {"by": "seat"},
        },
    ),
}


def settings_of(case: str, updates: int) -> TrainSettings:
    world, own = RUNS[case]
    most = {"shards": 4, "max_updates": updates, "checkpoint_updates": 5, "quiet": True}
    return short_run(world, own, {"train": most})


def vectors_of(worker: int) -> list[np.ndarray]:
    """Of every kind that a run adds up; sums of zeros keep their signs, and what is not finite stays so."""
    rng = np.random.default_rng(worker)
    odd = np.array([-0.0, 0.0, np.inf, np.nan, -0.0])
    long = (rng.normal(size=3001) * 10.0 ** rng.integers(-6, 6, 3001)).astype(np.float32)
    return [long, odd, odd.astype(np.float32), rng.integers(0, 60, 7).astype(np.uint8), rng.normal(size=70)]


class LocalHost(NamedTuple):
    name: str
    address: str = "127.0.0.1"
    cores: int = 2


class TwoHosts:
    """A cluster of two machines, both of which are this one.

    Attributes:
        there: the machines; take one out and it is gone for the next start.
        started: processes, the first machine's and the second's by turns.
    """

    def __init__(self) -> None:
        self.there = [LocalHost("a"), LocalHost("b")]
        self.started: list[Process] = []

    def hosts(self) -> list[LocalHost]:
        return list(self.there)

    def at(self, _host: LocalHost, _cores: int) -> Place:
        return self

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Process]:
        pipe, process = HERE.start(work, arguments)
        self.started.append(process)
        return pipe, process

    def cores(self) -> int:
        return 2

    def kill_one(self, run: Path) -> None:
        """Kills the second machine when there is a checkpoint."""
        while not latest_checkpoint(run):
            time.sleep(0.02)
        self.started[1].kill()


def start(machines: Sequence[Mapping[str, Any]], **shared: Any) -> list[subprocess.Popen[str]]:
    """Starts the machines of a run on this one; arguments of each, then those of all."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    asked = [
        {"nodes": len(machines), "node": node, "port": port} | shared | dict(own)
        for node, own in enumerate(machines)
    ]
    return [
        subprocess.Popen(
            [sys.executable, "-m", "tests.train.machine_runs", json.dumps(given)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for given in asked
    ]


def main(
    folder: str,
    nodes: int,
    node: int,
    port: int,
    case: str = "",
    updates: int = 12,
    victim: int = -1,
    heartbeat: int = network.HEARTBEAT_TIMEOUT,
) -> None:
    network.HEARTBEAT_TIMEOUT, network.QUIET = heartbeat, heartbeat / 4
    machines = Machines(nodes, node, f"127.0.0.1:{port}")
    if not case:
        add_vectors(Path(folder), machines)
        return
    pid = Path(folder) / f"pid-{node}"
    pid.write_text(str(os.getpid()))

    def on_update(run: Path, numbers: Mapping[str, Any]) -> None:
        if numbers["updates"] == KILL and victim >= 0:
            os.kill(int((Path(folder) / f"pid-{victim}").read_text()), signal.SIGKILL)

    run = Path(folder) / "run"
    if (run / "checkpoints").is_dir():
        resume(run, machines=machines)
    else:
        train(settings_of(case, updates), run, on_update=on_update, machines=machines)


def add_vectors(folder: Path, machines: Machines) -> None:
    """Writes the sums of `vectors_of`, as one worker of each machine gets them."""
    with network_of(machines) as joined:
        assert joined is not None
        assert jax.process_count() == 1, "jax keeps compiled programs of its first process alone"
        joined.compare({"settings": "equal"})
        block = create_block(2, 1 << 14)
        local = SharedMemory(block.name, 0, 1, 1 << 14, [contextlib.nullcontext()], relayed=True)
        exchange = AcrossMachines(local, machines, Relay(local, joined))
        sums = [exchange.all_reduce(vector) for vector in vectors_of(exchange.rank)]
        np.savez(folder / f"sums-{exchange.rank}.npz", *sums)
        (folder / f"texts-{exchange.rank}").write_text("|".join(joined.texts("a" * (exchange.rank * 3))))
        exchange.close()
        block.close()
        block.unlink()
        joined.compare({"settings": f"of machine {machines.node}"})


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
