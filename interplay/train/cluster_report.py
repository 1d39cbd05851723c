"""What a run over the machines of a cluster would meet: versions, processors, the shared folder, the time of an exchange."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core import versions as core_versions
from interplay.core.errors import UserError
from interplay.core.helping import processor_model
from interplay.core.processes import LOST, TaskProcess, kill_all, receive
from interplay.core.shared_folder import marked
from interplay.train.over_machines import versions
from interplay.train.parallel.machines import Machines, Network
from interplay.train.places import PATIENCE, Hosts, address_of, free_port

SIZES = (20_000, 177_000)  # float32 numbers: gradients of a small and a middling network
TIMES = 50


class Report(NamedTuple):
    """A cluster's machines.

    Attributes:
        machines: of each: name, address, cores, processor, whether it sees the folder.
        versions: of this command.
        differences: in what machines are not equal to each other, or to the command in `versions` -> its value on each.
        exchange: numbers of a vector -> median milliseconds in which all machines have its sum; {} with one machine.
    """

    machines: tuple[dict[str, Any], ...]
    versions: dict[str, str]
    differences: dict[str, list[Any]]
    exchange: dict[int, float]

    @property
    def is_sound(self) -> bool:
        """Whether a run can start: equal versions, and all machines see the folder."""
        return not self.differences and all(one["sees_folder"] for one in self.machines)


def report_on(hosts: Hosts, folder: Path) -> Report:
    """Examines each machine by a process there; a power of two of them exchanges vectors.

    Args:
        folder: that all machines must share; created, and left as it was.

    Raises:
        UserError: if a machine is lost, or has no core for `PATIENCE` seconds.
    """
    found = [
        host for host in hosts.hosts() if host.cores
    ]  # others train nothing, such as a head on Kubernetes
    if not found:
        raise UserError("the cluster has no machine with cores")
    every = [TaskProcess(examine, place=hosts.at(host, 1)) for host in found]
    try:
        with marked(folder) as mark:
            for number, one in enumerate(every):
                one.send(number, mark)
            answers = _answers(every)
        facts, mine = [answer["versions"] for answer in answers], core_versions.versions()
        differences = {
            name: [fact[name] for fact in facts]
            for name in facts[0]
            if any(fact[name] != mine.get(name, facts[0][name]) for fact in facts)
        }
        most = 1 << (len(every).bit_length() - 1)
        exchange = {}
        if most > 1 and not differences:
            coordinator = address_of(found[0].address, answers[0]["port"])
            for node in range(most):
                every[node].send(node, Machines(most, node, coordinator))
            exchange = _answers(every[:most])[0]
    finally:
        kill_all(every)
    rows = tuple(
        {"name": host.name, "address": host.address, "cores": host.cores, **answer["machine"]}
        for host, answer in zip(found, answers, strict=True)
    )
    return Report(rows, mine, differences, exchange)


def _answers(every: Sequence[TaskProcess]) -> list[Any]:
    """The next message of each."""
    found: dict[int, Any] = {}
    until = time.monotonic() + PATIENCE
    while len(found) < len(every):
        for one, message in receive(every, 0.5):
            if message is LOST:
                raise UserError(f"machine {every.index(one)} of the cluster was lost")
            found[every.index(one)] = message
        if time.monotonic() > until:
            missing = sorted(set(range(len(every))) - set(found))
            raise UserError(
                f"machines {missing} of the cluster have not answered for {PATIENCE:.0f} s: is a core free there?"
            )
    return [found[number] for number in range(len(every))]


def examine(pipe: Any) -> None:
    """Sends this machine's facts, then takes part in exchanges."""
    mark = Path(pipe.recv())
    machine = {"processor": processor_model(), "sees_folder": mark.exists(), "cpus": os.cpu_count()}
    pipe.send({"versions": versions(), "machine": machine, "port": free_port()})
    network = Network(pipe.recv())
    medians = {}
    for size in SIZES:
        vector, seconds = np.ones(size, np.float32), []
        for _ in range(TIMES):
            began = time.perf_counter()
            network.all_reduce(vector)
            seconds.append(time.perf_counter() - began)
        medians[size] = 1e3 * statistics.median(seconds)
    pipe.send(medians)
    pipe.recv()  # jax's end would wait for the others
