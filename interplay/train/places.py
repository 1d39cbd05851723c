"""Leads a run over the machines of a cluster: starts a process on each, and starts all anew when one is lost.

Each process trains as with ``--nodes`` (`over_machines`). This one prints the lines of the first, and never computes.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from interplay.core.errors import UserError
from interplay.core.processes import LOST, Place, TaskProcess, kill_all, receive
from interplay.core.settings import from_toml
from interplay.core.stopping import Stop, finishing
from interplay.core.trust import programs
from interplay.train.parallel import machines as network
from interplay.train.parallel.exchange import LostWorker
from interplay.train.parallel.machines import Machines
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import NAME
from interplay.train.settings import TrainSettings
from interplay.train.supervision import Faults

PATIENCE = 120.0  # seconds for machines that are asked for, before fewer train
SAID = 20  # last lines of a lost machine that are shown
LAST = 3.0  # seconds for the last words of the other machines
READY, PRINTED, DONE, REFUSED, BROKEN, GONE = "ready", "printed", "done", "refused", "broken", "gone"


class Host(Protocol):
    """A machine: its name, its address for the others, its cores."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def cores(self) -> int: ...


class Hosts(Protocol):
    """The machines of a cluster."""

    def hosts(self) -> Sequence[Host]: ...

    def at(self, host: Any, cores: int) -> Place: ...


class Job(NamedTuple):
    """What a machine trains.

    Attributes:
        machines: of the run; None: this one alone.
        run: its folder.
        settings: as JSON, to begin; "": resume.
        changes: arguments of `resume`.
    """

    machines: Machines | None
    run: Path
    settings: str
    changes: Mapping[str, Any]


def train_on(
    hosts: Hosts,
    run: Path,
    settings: TrainSettings | None,
    nodes: int | None,
    workers: int,
    shards: int,
    **changes: Any,
) -> Path:
    """Trains or resumes a run on the machines of a cluster; returns its folder.

    Args:
        run: on storage that all machines and this one see.
        settings: None: the run is resumed.
        nodes: machines, a power of two; None: as many as there are and as the shards allow.
        workers: of each machine.
        shards: of the run.
        **changes: further arguments of `interplay.train.trainer.resume`.

    Raises:
        UserError: for settings that are refused, too few machines, or three losses without a checkpoint in between.
    """
    if settings is not None and (run / NAME).exists():
        raise UserError(
            f"{run} holds a run; resume it with `interplay resume {run}`, or choose another --out"
        )
    faults = Faults("a checkpoint", "{:,} agent-steps")
    with finishing() as stop:
        while True:
            chosen = _choose(hosts, nodes, workers, shards, stop)
            faults.begin(_saved(run))
            # What a lost start has left is begun anew by `resume`, without a checkpoint too.
            text = "" if settings is None or (run / NAME).exists() else settings.model_dump_json()
            if settings is not None and not text:  # machines with homes of their own have not begun it
                changes["trust"] = _started_by(settings) == _started_by(from_toml(run / NAME, TrainSettings))
            try:
                return _Attempt(hosts, chosen, workers).lead(run, text, changes, stop)
            except LostWorker as error:
                lost = error
            faults.updates = _saved(run)
            cure = f"go on with `interplay resume {run}`" if (run / NAME).exists() else "start the run again"
            if stop:
                tell(f"{lost}; {cure}")
                return run
            faults.count(lost, cure)
            where = "the last checkpoint" if latest_checkpoint(run) else "the beginning"
            tell(f"{lost}; going on from {where}")


def _started_by(settings: TrainSettings) -> tuple[bytes, str | None]:
    """What settings start or write to."""
    return programs(settings), settings.train.copy_to


def _saved(run: Path) -> int:
    """Agent-steps of the newest checkpoint."""
    path = latest_checkpoint(run)
    return 0 if path is None else int(path.name)


def _choose(hosts: Hosts, nodes: int | None, workers: int, shards: int, stop: Stop) -> list[Host]:
    """The machines to train on: as many as asked, after `PATIENCE` as many as there are."""
    most = max(shards // workers, 1)
    if nodes is not None and (nodes < 1 or nodes & (nodes - 1)):
        raise UserError(f"nodes = {nodes}: shards are divided evenly over 1, 2, 4, 8 ... machines")
    if nodes is not None and nodes > most:
        raise UserError(f"{nodes} machines of {workers} workers cannot share train.shards = {shards}")
    began, said = time.monotonic(), 0.0
    while True:
        there = [host for host in hosts.hosts() if host.cores >= workers]
        wanted = nodes or 1
        waited = time.monotonic() - began
        if len(there) >= wanted or waited > PATIENCE or stop:
            break
        if waited - said >= network.QUIET:
            said = waited
            tell(f"waiting for {wanted - len(there)} of {wanted} machines with {workers} cores")
        time.sleep(0.5)
    if not there:
        raise UserError(f"the cluster has no machine with {workers} cores; use fewer --workers")
    fit = min(len(there), nodes or most)
    fit = 1 << (fit.bit_length() - 1)
    if nodes is not None and fit < nodes:
        tell(f"training on {fit} machines, not {nodes}: no more came in {PATIENCE:.0f} s")
    return there[:fit]


class _Attempt:
    """One start of all machines, until the run ends or one of them is lost."""

    def __init__(self, hosts: Hosts, chosen: Sequence[Host], workers: int) -> None:
        self._names = [f"machine {node} ({host.name})" for node, host in enumerate(chosen)]
        self._lead = chosen[0].address
        self._workers = workers
        self._all = [TaskProcess(work, place=hosts.at(host, workers)) for host in chosen]
        self._said: list[deque[str]] = [deque(maxlen=SAID) for _ in chosen]
        self._done: Path | None = None

    def lead(self, run: Path, settings: str, changes: Mapping[str, Any], stop: Stop) -> Path:
        """Trains; returns the run's folder.

        Raises:
            LostWorker: if a machine is lost.
            UserError: of a machine.
        """
        asked = False
        try:
            coordinator = self._meet(stop)
            for node, one in enumerate(self._all):
                machines = Machines(len(self._all), node, coordinator) if len(self._all) > 1 else None
                own = {**changes, "workers": self._workers}
                one.send(node, Job(machines, run.absolute(), settings, own))
            while any(one.tasks for one in self._all):
                self._take(1.0)
                if stop and not asked:
                    self._all[0].terminate()
                    asked = True
            return self._done or run
        finally:
            kill_all(self._all)

    def _meet(self, stop: Stop) -> str:
        """Waits for all machines; returns the coordinator's address, on the first."""
        ports: dict[int, str] = {}
        began, said = time.monotonic(), 0.0
        while len(ports) < len(self._all):
            for one, message in receive(self._all, 0.5):
                node = self._all.index(one)
                if message is LOST:
                    raise LostWorker(f"{self._names[node]} ended before it began")
                ports[node] = message[1]
            waited = time.monotonic() - began
            if waited > PATIENCE or stop:
                raise LostWorker(
                    f"{len(self._all) - len(ports)} of {len(self._all)} machines did not begin in {waited:.0f} s"
                )
            if waited - said >= network.QUIET:
                said = waited
                tell(
                    f"waiting for {len(self._all) - len(ports)} of {len(self._all)} machines, each needs {self._workers} free cores"
                )
        return f"{self._lead}:{ports[0]}"

    def _take(self, seconds: float) -> None:
        """Takes messages; raises for lost machines and errors."""
        for one, message in receive(self._working(), seconds):
            if not one.tasks:
                continue  # done, and ended by itself
            node = self._all.index(one)
            kind, text = (GONE, "") if message is LOST else message
            if kind == PRINTED:
                self._said[node].append(text)
                if node == 0:
                    tell(text.rstrip("\n"))
            elif kind == DONE:
                one.tasks.clear()
                self._done = Path(text) if node == 0 else self._done
            else:
                self._fail(node, kind, text)

    def _working(self, besides: Container[int] = ()) -> list[TaskProcess]:
        """Machines that have not sent `DONE`; those end by themselves."""
        return [one for at, one in enumerate(self._all) if one.tasks and at not in besides]

    def _fail(self, node: int, kind: str, text: str) -> None:
        """Raises the reason of a failure, after a moment for the last messages of the other machines.

        A machine that ends because of another sends `BROKEN`; a lost one ends without a message, or does not answer.
        """
        reasons = {node: (kind, text)}
        until = time.monotonic() + LAST
        while time.monotonic() < until and (others := self._working(besides=reasons)):
            for one, message in receive(others, 0.2):
                at = self._all.index(one)
                if message is LOST:
                    reasons.setdefault(at, (GONE, ""))
                elif message[0] == PRINTED:
                    self._said[at].append(message[1])
                else:
                    reasons.setdefault(at, message)
        for at, (why, words) in reasons.items():
            if why == REFUSED:
                raise UserError(f"{self._names[at]}: {words}")
        if silent := self._working(besides=reasons):
            raise LostWorker(f"{self._names[self._all.index(silent[0])]} does not answer")
        gone = next((at for at, (why, _) in reasons.items() if why == GONE), node)
        if words := reasons[gone][1]:
            tell(words)
        raise LostWorker("".join([*self._said[gone], f"{self._names[gone]} was lost"]))


def work(pipe: Any) -> None:
    """Trains a job of the pipe on this machine."""
    lock = threading.Lock()

    def send(kind: str, text: str) -> None:
        with lock:
            pipe.send((kind, text))

    send(READY, str(free_port()))
    job: Job = pipe.recv()
    sys.stderr = _Lines(send)
    network.leaving = lambda kind, line: send(REFUSED if kind else BROKEN, line)
    from interplay.train.trainer import resume, train

    try:
        if job.settings:
            settings = TrainSettings.model_validate_json(job.settings)
            run = train(settings, job.run, machines=job.machines)
        else:
            run = resume(job.run, **job.changes, machines=job.machines)
    except UserError as error:
        send(REFUSED, str(error))
    except Exception as error:  # of a machine alone; one of several ends by `network.leaving`
        send(PRINTED, traceback.format_exc())
        send(REFUSED, f"{type(error).__name__}: {error}")
    else:
        send(DONE, str(run))


def free_port() -> int:
    """A port that is free now."""
    with socket.create_server(("", 0)) as free:
        return int(free.getsockname()[1])


class _Lines:
    """Standard error of a machine: whole lines are sent."""

    def __init__(self, send: Any) -> None:
        self._send, self._part = send, ""

    def write(self, text: str) -> int:
        *lines, self._part = (self._part + text.replace("\r", "\n")).split("\n")
        for line in lines:
            if line.strip():
                self._send(PRINTED, f"{line}\n")
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False
