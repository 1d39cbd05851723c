"""Leads a run over the machines of a cluster: starts a process on each, and starts all anew when one is lost.

Each process trains as with ``--nodes`` (`over_machines`). This one prints the lines of the first, and never computes.
"""

from __future__ import annotations

import signal
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
from interplay.core.processes import LOST, PATIENCE, Place, TaskProcess, kill_all, receive
from interplay.core.shared_folder import check_mark, marked
from interplay.core.stopping import Stop, finishing
from interplay.core.trust import add_trusted, programs
from interplay.core.versions import check_versions, versions
from interplay.train.parallel import machines as network
from interplay.train.parallel.exchange import LostWorker
from interplay.train.parallel.machines import Machines
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.run.copies import trust_copies
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import NAME
from interplay.train.settings import TrainSettings
from interplay.train.supervision import Faults

SAID = 20  # last lines of a lost machine that are shown
LAST = 3.0  # seconds for the last words of the other machines
ENDED_BY_JAX = -signal.SIGABRT  # exit code of a machine that misses another one
READY, PRINTED, DONE, REFUSED, BROKEN, GONE = "ready", "printed", "done", "refused", "broken", "gone"


class Busy(LostWorker):
    """Machines have not begun.

    Attributes:
        names: of these machines.
    """

    def __init__(self, line: str, names: set[str]) -> None:
        super().__init__(line)
        self.names = names


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
        settings: those of this command, as JSON; "": the run's own.
        begins: the run begins with them; else it is resumed, and the programs that they name are trusted.
        changes: arguments of `resume`.
    """

    machines: Machines | None
    run: Path
    settings: str
    begins: bool
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
    if nodes is not None and nodes <= shards < nodes * workers:
        tell(
            f"train.workers = {shards // nodes}, not {workers}: {nodes} machines share train.shards = {shards}"
        )
        workers = shards // nodes
    faults, busy = Faults("a checkpoint", "{:,} agent-steps"), set[str]()
    text = "" if settings is None else settings.model_dump_json()
    with finishing() as stop:
        while True:
            chosen = _choose(hosts, nodes, workers, shards, stop, busy)
            faults.begin(_saved(run))
            # What a lost start has left is begun anew by `resume`, without a checkpoint too.
            job = Job(None, run.absolute(), text, bool(text) and not (run / NAME).exists(), changes)
            try:
                if not chosen:
                    raise LostWorker("stopped while it waited for machines")
                return _Attempt(chosen, workers).lead(hosts, job, stop)
            except LostWorker as error:
                lost = error
                busy |= error.names if isinstance(error, Busy) else set()
            faults.updates = _saved(run)
            cure = f"go on with `interplay resume {run}`" if (run / NAME).exists() else "start the run again"
            if stop:
                tell(f"{lost}; {cure}")
                return run
            faults.count(lost, cure)
            where = "the last checkpoint" if latest_checkpoint(run) else "the beginning"
            tell(f"{lost}; going on from {where}")


def _saved(run: Path) -> int:
    """Agent-steps of the newest checkpoint."""
    path = latest_checkpoint(run)
    return 0 if path is None else int(path.name)


def _choose(
    hosts: Hosts, nodes: int | None, workers: int, shards: int, stop: Stop, busy: Container[str]
) -> list[Host]:
    """The machines to train on: as many as asked, after `PATIENCE` as many as there are; none if it is stopped.

    Args:
        busy: names of machines that had no free cores.
    """
    most = max(shards // workers, 1)
    if nodes is not None and (nodes < 1 or nodes & (nodes - 1)):
        raise UserError(f"nodes = {nodes}: shards are divided evenly over 1, 2, 4, 8 ... machines")
    if nodes is not None and nodes > most:
        raise UserError(f"{nodes} machines of {workers} workers cannot share train.shards = {shards}")
    began, said = time.monotonic(), 0.0
    while True:
        there = [host for host in hosts.hosts() if host.cores >= workers and host.name not in busy]
        wanted = nodes or 1
        waited = time.monotonic() - began
        if len(there) >= wanted or waited > PATIENCE or stop:
            break
        if waited - said >= network.QUIET:
            said = waited
            tell(f"waiting for {wanted - len(there)} of {wanted} machines with {workers} cores")
        time.sleep(0.5)
    if stop:
        return []
    if not there:
        raise UserError(f"the cluster has no machine with {workers} free cores; use fewer --workers")
    fit = min(len(there), nodes or most)
    fit = 1 << (fit.bit_length() - 1)
    if nodes is not None and fit < nodes:
        tell(f"training on {fit} machines, not {nodes}: no more came in {PATIENCE:.0f} s")
    names = ", ".join(host.name for host in there[:fit])
    more = (
        f"; train.shards = {shards} leave nothing for {len(there) - fit} more"
        if fit == most < len(there)
        else ""
    )
    tell(f"machines: {names}; workers on each: {workers}{more}")
    return there[:fit]


class _Attempt:
    """One start of all machines, until the run ends or one of them is lost."""

    def __init__(self, chosen: Sequence[Host], workers: int) -> None:
        self._names = [f"machine {node} ({host.name})" for node, host in enumerate(chosen)]
        self._chosen, self._workers = chosen, workers
        self._all: list[TaskProcess] = []
        self._said: list[deque[str]] = [deque(maxlen=SAID) for _ in chosen]
        self._done: Path | None = None

    def lead(self, hosts: Hosts, job: Job, stop: Stop) -> Path:
        """Trains; returns the run's folder.

        Raises:
            LostWorker: if a machine is lost.
            UserError: of a machine.
        """
        asked = False
        try:
            with marked(job.run.parent) as mark:
                self._all = [
                    TaskProcess(work, mark, versions(), place=hosts.at(host, self._workers))
                    for host in self._chosen
                ]
                coordinator = self._meet(stop)
            for node, one in enumerate(self._all):
                machines = Machines(len(self._all), node, coordinator) if len(self._all) > 1 else None
                own = {**job.changes, "workers": self._workers}
                one.send(node, job._replace(machines=machines, changes=own))
            while any(one.tasks for one in self._all):
                self._take(1.0)
                if stop and not asked:
                    self._all[0].terminate()
                    asked = True
            return self._done or job.run
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
                if message[0] == REFUSED:
                    raise UserError(f"{self._names[node]}: {message[1]}")
                ports[node] = message[1]
            waited = time.monotonic() - began
            if waited > PATIENCE or stop:
                late = [host.name for node, host in enumerate(self._chosen) if node not in ports]
                line = f"{len(late)} of {len(self._all)} machines did not begin in {waited:.0f} s: {', '.join(late)}"
                raise Busy(line, set(late))
            if waited - said >= network.QUIET:
                said = waited
                tell(
                    f"waiting for {len(self._all) - len(ports)} of {len(self._all)} machines, each needs {self._workers} free cores"
                )
        return address_of(self._chosen[0].address, int(ports[0]))

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
        killed = [
            at
            for at, (why, _) in reasons.items()
            if why == GONE and self._all[at].exit_code() != ENDED_BY_JAX
        ]
        if not killed and (silent := self._working(besides=reasons)):
            raise LostWorker(f"{self._names[self._all.index(silent[0])]} does not answer")
        gone = next(iter(killed), next((at for at, (why, _) in reasons.items() if why == GONE), node))
        if words := reasons[gone][1]:
            tell(words)
        raise LostWorker("".join([*self._said[gone], f"{self._names[gone]} was lost"]))


def work(pipe: Any, mark: str, wanted: Mapping[str, str]) -> None:
    """Trains a job of the pipe on this machine.

    Args:
        mark: a file beside the run, for `check_mark`.
        wanted: versions of the command.
    """
    lock = threading.Lock()

    def send(kind: str, text: str) -> None:
        with lock:
            pipe.send((kind, text))

    try:
        check_mark(mark)
        check_versions(wanted)
    except UserError as error:
        send(REFUSED, str(error))
        return
    send(READY, str(free_port()))
    job: Job = pipe.recv()
    sys.stderr = _Lines(send)
    network.leaving = lambda kind, line: send(REFUSED if kind else BROKEN, line)
    from interplay.train.trainer import resume, train

    try:
        settings = TrainSettings.model_validate_json(job.settings) if job.settings else None
        if settings is not None and job.begins:
            run = train(settings, job.run, machines=job.machines)
        else:
            if settings is not None:  # on a machine with a home of its own the run is from elsewhere
                add_trusted(job.run / NAME, programs(settings))
                trust_copies(settings, job.run / NAME)
            run = resume(job.run, **job.changes, machines=job.machines)
    except UserError as error:
        send(REFUSED, str(error))
    except Exception as error:  # of a machine alone; one of several ends by `network.leaving`
        send(PRINTED, traceback.format_exc())
        send(REFUSED, f"{type(error).__name__}: {error}")
    else:
        send(DONE, str(run))


def address_of(host: str, port: int) -> str:
    """``HOST:PORT``; brackets around an address of IPv6."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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
