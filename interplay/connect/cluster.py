"""A Ray cluster as a `core.processes.Place`: starts processes on its machines and notices their ends.

Ray places and watches. What processes exchange with this one goes through it in messages; sums of training do not
(`train.parallel.machines`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError, one_line
from interplay.core.processes import TaskProcess

_TOKEN_FILE = Path("~/.ray/auth_token")
CONNECT = 5.0  # seconds for a connection to the cluster's head
QUIET = 10.0  # seconds of waiting for a core without a line
POLL = 0.1  # seconds until the end of a process is noticed
_ENDED = "ended"  # instead of a message


class Host(NamedTuple):
    """A machine of the cluster.

    Attributes:
        id: Ray's.
        name: of the host.
        address: for the other machines.
        cores: in all.
    """

    id: str
    name: str
    address: str
    cores: int


class Cluster:
    """A running Ray cluster; `close` leaves it as it is.

    Args:
        address: HOST:PORT of its head; auto: the cluster of ``RAY_ADDRESS``, or of this machine.
        cores: that a process takes.
        host: id of the only machine that starts processes; None: any.

    Raises:
        UserError: without Ray, or a cluster at this address.
    """

    def __init__(self, address: str, cores: int = 1, host: str | None = None) -> None:
        self._cores, self._host = cores, host
        self.address = address
        self._lines: set[str] = set()
        _connect(address)

    def at(self, host: Host, cores: int) -> Cluster:
        """The same cluster, for processes with so many cores on one machine."""
        return Cluster(self.address, cores, host.id)

    def hosts(self) -> list[Host]:
        """The machines that are there."""
        import ray

        return [
            Host(
                node["NodeID"],
                node["NodeManagerHostname"],
                node["NodeManagerAddress"],
                int(node["Resources"].get("CPU", 0)),
            )
            for node in ray.nodes()
            if node["Alive"]
        ]

    def cores(self) -> int:
        """Cores of all machines."""
        return sum(host.cores for host in self.hosts())

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, _Remote]:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        options: dict[str, Any] = {"num_cpus": self._cores, "max_restarts": 0, "max_concurrency": 3}
        if self._host is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(self._host, soft=False)
        actor = ray.remote(_Held).options(**options).remote(os.getcwd(), work, arguments)
        mine, theirs = multiprocessing.Pipe()
        remote = _Remote(actor, self._tell)
        for body in (_forward, _collect):
            threading.Thread(target=body, args=(theirs, remote), daemon=True).start()
        if self._host is None:  # with a host `train.places` waits and prints
            threading.Thread(target=self._wait_for, args=(remote,), daemon=True).start()
        return mine, remote

    def _tell(self, line: str) -> None:
        """Prints a line, once."""
        if line not in self._lines:
            self._lines.add(line)
            _tell(f"--ray {self.address}: {line}")

    def _wait_for(self, remote: _Remote) -> None:
        """Prints a line if no core is free for a process."""
        import ray

        with contextlib.suppress(ray.exceptions.RayError):
            while not ray.wait([remote.actor.__ray_ready__.remote()], timeout=QUIET)[0]:
                if remote.ended(0.0):
                    return
                self._tell(f"waiting for a machine with {self._cores} free core(s)")


class _Held:
    """A process on a machine of the cluster, held by a Ray actor there."""

    def __init__(self, folder: str, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        os.chdir(folder)  # relative paths are those of the command
        self._one = TaskProcess(work, *arguments)

    def send(self, messages: Sequence[Any]) -> None:
        with contextlib.suppress(OSError):
            for message in messages:
                self._one.pipe.send(message)

    def receive(self) -> Any:
        """The next message, or `_ENDED` and the exit code."""
        try:
            return self._one.pipe.recv()
        except (EOFError, OSError):
            return _ENDED, self._one.exit_code()

    def terminate(self) -> None:
        self._one.terminate()


class _Remote:
    """The process of a `_Held`, seen from here.

    Attributes:
        exitcode: None if it runs, or if its machine is gone.
    """

    def __init__(self, actor: Any, tell: Callable[[str], None]) -> None:
        self.actor, self.tell = actor, tell
        self.exitcode: int | None = None
        self._ended = threading.Event()

    def join(self) -> None:
        self._ended.wait()

    def ended(self, seconds: float) -> bool:
        """Whether it ends within some seconds."""
        return self._ended.wait(seconds)

    def terminate(self) -> None:
        self.actor.terminate.remote()

    def kill(self) -> None:
        import ray

        ray.kill(self.actor)
        self.end(None)

    def end(self, code: int | None) -> None:
        """The process has ended."""
        self.exitcode = code
        self._ended.set()


def _forward(pipe: Any, remote: _Remote) -> None:
    """Passes messages on to the process, and closes the pipe at its end."""
    import ray

    with contextlib.suppress(ray.exceptions.RayError, EOFError, OSError):
        while not remote.ended(0.0):
            if not pipe.poll(POLL):
                continue
            messages = [pipe.recv()]
            with contextlib.suppress(EOFError):  # it comes again, after these
                while pipe.poll():
                    messages.append(pipe.recv())
            # One call after the other, since an actor with threads may change their order.
            ray.get(remote.actor.send.remote(messages))
    remote.join()
    pipe.close()


def _collect(pipe: Any, remote: _Remote) -> None:
    """Passes messages of the process on."""
    import ray

    code, began = None, False
    try:
        while True:
            message = ray.get(remote.actor.receive.remote())
            began = True
            if isinstance(message, tuple) and message[:1] == (_ENDED,):
                code = message[1]
                break
            pipe.send(message)
    except (ray.exceptions.RayError, OSError) as error:
        if not began and not remote.ended(0.0):
            why = _reason(error)
            if "cancelled" in why and os.environ.get("RAY_AUTH_MODE") == "token":
                why = f"{why.rstrip('.')}; was the head started with RAY_AUTH_MODE=token?"
            remote.tell(f"a process has not begun: {why}")
    remote.end(code)


def _reason(error: Exception) -> str:
    """The last line of an error on another machine, which names what is missing there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return one_line(next((line for line in reversed(lines) if "Error: " in line), lines[-1] if lines else ""))


def _connect(address: str) -> None:
    """Joins the cluster, with its token where this machine has one."""
    _check_token()
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError('--ray needs Ray; install it with pip install "interplay[train,ray]"') from error
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS") or address
    host, _, port = address.rpartition(":")
    # Ray would start a server of its own for `local`.
    if address != "auto" and not (host and "/" not in host and port.isdecimal()):
        raise UserError(
            f"--ray {address}: give auto, or HOST:PORT of a cluster's head, such as 10.0.0.1:6379"
        )
    answers = False
    try:
        if host:  # by itself Ray looks for minutes
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT).close()
            answers = True
        with _keep_sigterm():
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=True)
    except (OSError, RuntimeError) as error:
        said = one_line(error)[:150]
        if answers:
            raise UserError(
                f"--ray {address}: the cluster does not admit this machine ({said}); it needs the head's token in "
                f"~/.ray/auth_token, and the head's version of Ray, which is {ray.__version__} here"
            ) from None
        raise UserError(
            f"--ray {address}: there is no cluster ({said}); start one with `ray start --head`, or use --workers on this machine"
        ) from None
    if os.environ.get("RAY_AUTH_MODE") != "token":
        _tell(
            f"--ray {address}: this cluster has no token, so whoever reaches its ports can run programs there; "
            "start it with RAY_AUTH_MODE=token after `ray get-auth-token --generate`"
        )


@contextlib.contextmanager
def _keep_sigterm() -> Iterator[None]:
    """Takes Ray's handler of SIGTERM away again, which ends a run without saving it."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def _check_token() -> None:
    """Sets Ray's token mode where there is a token; refuses one that others can read."""
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH", _TOKEN_FILE)).expanduser()
    if not ("RAY_AUTH_TOKEN" in os.environ or file.is_file()):
        return
    if file.is_file() and file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        raise UserError(f"{file}: others can read this token; chmod 600 {file}")
    os.environ.setdefault("RAY_AUTH_MODE", "token")
