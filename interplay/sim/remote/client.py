"""The driver of an external simulator."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.sim.remote.child import Child
from interplay.sim.remote.lobby import Lobby
from interplay.sim.remote.messages import (
    AgentSpaces,
    Point,
    Report,
    check_hello,
    complain_about_actions,
    read_agents,
    read_reports,
    take,
)
from interplay.sim.remote.wire import (
    HOST,
    PORT_VARIABLE,
    PROTOCOL,
    TOKEN_VARIABLE,
    Connection,
    Fault,
    Gone,
    RemoteSimulationError,
    one_line,
)

_POLL = 0.02  # seconds between two looks whether a starting program still lives
_HELLO: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL}
_LAST_WORDS = 0.5  # seconds for a program to end after closing the connection, for its exit code


class Limits(NamedTuple):
    """Time limits of a simulator, in seconds.

    Attributes:
        start: until its hello.
        reply: until its answer to a reset or a step.
        close: until it has ended when asked to; then it is killed.
    """

    start: float = 30.0
    reply: float = 30.0
    close: float = 2.0


class RemoteSimulator:
    """An external simulator: a separate program, driven over a local socket.

    Any fault of it (it dies, hangs, sends nonsense) ends it: the program is killed and reaped, and the error names the fault. So do
    `close`, the end of a ``with`` block, the end of the interpreter and Ctrl-C. If this process is killed, its end of the socket
    closes, and the program has to end by itself, as `serve` does.

    Not thread-safe.

    Args:
        argv: program and arguments, for example ``["./tracks", "--map", "town.json"]``; never read by a shell.
        environment: variables for the program, on top of this process's own.
        limits: of its time.

    Attributes:
        name: in errors.
        program: its own name.
        agents: id -> spaces.
        pid: the program's process id; None if it was started by hand.

    Raises:
        UserError: for an argv that is no list of texts, and limits that are not above zero.
        RemoteSimulationError: if it does not start and send a proper hello in time.

    Example:
        >>> with RemoteSimulator(["./tracks", "--map", "town.json"]) as simulator:  # doctest: +SKIP
        ...     reports = simulator.reset(seed=1)
        ...     reports = simulator.step({"runner": [3.0, 4.0]})
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - a tuple, it cannot change
    ) -> None:
        self._begin(_name_of(argv), limits)
        token = secrets.token_hex(16)
        child: Child | None = None
        try:
            with socket.create_server((HOST, 0)) as listener:
                port = listener.getsockname()[1]
                child = Child(
                    list(argv), {**(environment or {}), PORT_VARIABLE: str(port), TOKEN_VARIABLE: token}
                )
                self._hold(None, child)
                connection, hello = _await_call(listener, child, token, limits.start)
                self._hold(connection, child)
            self._read_hello(hello)
            self._line.send(_HELLO, self._limits.start)
        except Fault as fault:
            raise self._failure(fault, "it was started") from None
        except BaseException:
            if child is not None:
                child.end(0)
            self._drop()
            raise

    @classmethod
    def connect(
        cls,
        port: int,
        token: str | None = None,
        limits: Limits = Limits(),  # noqa: B008 - a tuple, it cannot change
    ) -> RemoteSimulator:
        """Drives a program that was started by hand and listens on a local port.

        Args:
            port: of the program.
            token: that the program was given; by default the environment variable ``INTERPLAY_REMOTE_TOKEN``.
            limits: of its time.

        Raises:
            UserError: if there is no token.
            RemoteSimulationError: if no program listens there, or it sends no proper hello in time.
        """
        shown = token if token is not None else os.environ.get(TOKEN_VARIABLE)
        if not shown:
            raise UserError(f"port {port}: no token; set {TOKEN_VARIABLE} to what the simulator was given")
        self = cls.__new__(cls)
        self._begin(f"port {port}", limits)
        try:
            try:
                self._hold(Connection(socket.create_connection((HOST, port), limits.start)), None)
            except (OSError, OverflowError) as error:
                deed = f"cannot be reached: {getattr(error, 'strerror', None) or error}"
                raise Fault(deed, "start the simulator there first") from None
            # The calling side shows the token first, so it is never sent to an unknown caller.
            self._line.send({**_HELLO, "token": shown}, self._limits.start)
            self._read_hello(self._line.receive(max(self._start_by - time.monotonic(), _POLL)))
        except Fault as fault:
            raise self._failure(fault, "it was called") from None
        except BaseException:
            self._drop()
            raise
        return self

    @property
    def closed(self) -> bool:
        """Whether the simulator was closed, or has failed."""
        return self._keeper is None or not self._keeper.alive

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> dict[str, Report]:
        """Starts an episode and returns each agent's report.

        Args:
            seed: of the episode; None leaves the choice to the simulator.
            options: anything JSON can hold, for this simulator.

        Raises:
            UserError: for a seed or options that JSON cannot hold; nothing has happened then.
            RemoteSimulationError: if the simulator fails; it is closed then.
        """
        request = {"type": "reset", "seed": seed, "options": dict(options or {})}
        return self._ask(request, "a reset", 0)

    def step(self, actions: Mapping[str, Point]) -> dict[str, Report]:
        """Steps the simulator and returns each agent's report.

        Args:
            actions: id -> a list of plain numbers, or a plain int where the space is a `Choice`. An agent without an entry
                does nothing.

        Raises:
            UserError: for actions outside their spaces, and before the first reset; nothing has happened then.
            RemoteSimulationError: if the simulator fails; it is closed then.
        """
        complaint = complain_about_actions(actions, self.agents)
        if complaint:
            raise UserError(complaint)
        if self._step is None:
            raise UserError(f"{self.name}: step before the first reset; call reset first")
        step = self._step + 1
        return self._ask({"type": "step", "actions": dict(actions)}, f"step {step}", step)

    def close(self) -> None:
        """Ends the simulator; closing twice is no mistake."""
        if self.closed:
            return
        if self._connection is not None:
            with contextlib.suppress(Fault):  # a program that does not listen is ended all the same
                self._connection.send({"type": "close"}, self._limits.close)
        self._drop()

    def __enter__(self) -> RemoteSimulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, name: str, limits: Limits) -> None:
        self.name = f"simulator {name}"
        if not all(seconds > 0 for seconds in limits):
            raise UserError(f"{self.name}: limits {tuple(limits)} are not all above 0; give seconds")
        self._limits = limits
        self.program = ""
        self.agents: dict[str, AgentSpaces] = {}
        self.pid: int | None = None
        self._step: int | None = None
        self._connection: Connection | None = None
        self._child: Child | None = None
        self._keeper: weakref.finalize[..., RemoteSimulator] | None = None
        self._start_by = time.monotonic() + limits.start

    def _hold(self, connection: Connection | None, child: Child | None) -> None:
        """Ties connection and program to this object's life, at most the interpreter's."""
        if self._keeper is not None:
            self._keeper.detach()
        self._connection, self._child = connection, child
        self.pid = child.pid if child else None
        self._keeper = weakref.finalize(self, _end, connection, child, self._limits.close)

    def _drop(self) -> None:
        if self._keeper is not None:
            self._keeper()

    def _read_hello(self, hello: dict[str, Any]) -> None:
        check_hello(hello)
        self.program = one_line(take(hello, "program", str, "a hello"))
        self.agents = read_agents(hello)

    @property
    def _line(self) -> Connection:
        if self._connection is None or self.closed:
            raise RemoteSimulationError(f"{self.name}: is closed; make a new one")
        return self._connection

    def _ask(self, request: dict[str, Any], deed: str, step: int) -> dict[str, Report]:
        line = self._line
        try:
            line.send(request, self._limits.reply)
            self._step = step
            reply = line.receive(self._limits.reply)
            if line.has_unread:
                raise Fault("sent more than one answer", "answer each message once")
            return read_reports(reply, self.agents, step)
        except Fault as fault:
            raise self._failure(fault, f"it was asked for {deed}") from None
        except (TypeError, ValueError) as error:
            raise UserError(f"{self.name}: {deed} cannot be sent: {error}; give plain JSON") from None
        except BaseException:
            self._drop()  # half a conversation cannot go on
            raise

    def _failure(self, fault: Fault, when: str) -> RemoteSimulationError:
        deed, cure = fault.deed, fault.cure
        if self._connection is not None:
            self._connection.close()
        if isinstance(fault, Gone) and self._child is not None and not self.closed:
            deed = self._child.end(_LAST_WORDS) or deed
        elif self._child is not None:
            self._child.end(0)
        self._drop()
        return RemoteSimulationError(f"{self.name}: {deed} after {when}; {cure}")


def _end(connection: Connection | None, child: Child | None, timeout: float) -> None:
    if connection is not None:
        connection.close()
    if child is not None:
        child.end(timeout)


def _await_call(
    listener: socket.socket, child: Child, token: str, seconds: float
) -> tuple[Connection, dict[str, Any]]:
    """The connection and the hello of the program, among any other callers."""
    until = time.monotonic() + seconds
    with Lobby(listener, token, timeout=seconds) as lobby:
        while time.monotonic() < until:
            ended = child.has_ended()  # before a last look at what it said
            admitted = lobby.admit(_POLL)
            if admitted is not None:
                return admitted
            if ended:
                raise lobby.refusal or Gone("ended", "run it by hand to see why")
        raise (
            lobby.refusal
            or lobby.silence()
            or Fault(
                f"did not connect to {PORT_VARIABLE} in {seconds:g} s",
                "mend it, or raise start in limits=Limits(...)",
            )
        )


def _name_of(argv: Sequence[str]) -> str:
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv):
        raise UserError(f"argv {one_line(argv)!r} is no list of texts; give program and arguments one by one")
    return one_line(shlex.join(argv))
