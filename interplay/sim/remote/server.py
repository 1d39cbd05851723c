"""The simulator's side: the message loop around a Python object.

Example:
    >>> from interplay.sim.remote import AgentSpaces, Range, Report, serve
    >>> class Walk:
    ...     program = "walk 1"
    ...     agents = {"walker": AgentSpaces(observation=Range([0], [10]), action=Range([-1], [1]))}
    ...     def reset(self, seed, options):
    ...         self.at = 5.0
    ...         return {"walker": Report([self.at])}
    ...     def step(self, actions):
    ...         self.at = min(10.0, max(0.0, self.at + actions["walker"][0]))
    ...         return {"walker": Report([self.at], reward=float(self.at == 10), done=self.at == 10)}
    >>> serve(Walk())  # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from typing import Any, Protocol

from interplay.core.errors import UserError
from interplay.sim.remote.lobby import Lobby
from interplay.sim.remote.messages import (
    Agents,
    Report,
    check_hello,
    complain_about_actions,
    expect,
    read_reports,
    take,
    write_agents,
    write_reports,
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

_HELLO = 10.0  # seconds for the driver's hello
_PATIENCE = 5.0  # seconds that a caller has to show the token
_LARGEST_HELLO = 4096  # bytes of a caller's


class Simulator(Protocol):
    """The object that `serve` needs."""

    @property
    def program(self) -> str:
        """Name and version, for errors."""

    @property
    def agents(self) -> Agents:
        """Id -> spaces."""

    def reset(self, seed: int | None, options: dict[str, Any]) -> Mapping[str, Report]:
        """Starts an episode; a report of every agent."""

    def step(self, actions: dict[str, Any]) -> Mapping[str, Report]:
        """Advances one step; a report of every agent. Idle agents have no action."""


def serve(simulator: Simulator, port: int | None = None) -> None:
    """Answers one driver until it closes the connection, then returns.

    Started by a `RemoteSimulator`, the program finds port and token in its environment and connects. Started by hand, it
    listens on `port` for a driver that shows the token; other callers do not block it.

    Args:
        simulator: the rules. An exception out of it is reported to the driver, then raised.
        port: to listen on, if the program was started by hand; 0 = any, printed.

    Raises:
        UserError: without a token in ``INTERPLAY_REMOTE_TOKEN``, or without a port.
        RemoteSimulationError: if the driver breaks the protocol.
    """
    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise UserError(f"no token; set {TOKEN_VARIABLE} to a secret that the driver shows, too")
    try:
        connection = _meet(simulator, token, port)
        try:
            _converse(connection, simulator)
        finally:
            connection.close()
    except Gone:
        return  # the driver has gone
    except Fault as fault:
        raise RemoteSimulationError(f"driver of {simulator.program}: {fault}") from None


def _meet(simulator: Simulator, token: str, port: int | None) -> Connection:
    hello = {
        "type": "hello",
        "protocol": PROTOCOL,
        "program": simulator.program,
        "agents": write_agents(simulator.agents),
    }
    called = os.environ.get(PORT_VARIABLE)
    if port is None and called:
        connection = _call(called)
        connection.send({**hello, "token": token}, _HELLO)
        check_hello(connection.receive(_HELLO))
        return connection
    if port is None:
        raise UserError("no driver; start the program through a RemoteSimulator, or give it a port")
    return _listen(hello, token, port)


def _call(port: str) -> Connection:
    try:
        return Connection(socket.create_connection((HOST, int(port)), _HELLO))
    except (OSError, ValueError, OverflowError) as error:
        raise UserError(
            f"{PORT_VARIABLE}={one_line(port)}: no driver there ({error}); unset it to listen"
        ) from None


def _listen(hello: dict[str, Any], token: str, port: int) -> Connection:
    try:
        listener = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise UserError(
            f"port {port} cannot be used ({one_line(error)}); choose another, 0 for any"
        ) from None
    with listener:
        print(f"listening on {HOST}:{listener.getsockname()[1]}", flush=True)
        with Lobby(listener, token, _PATIENCE, _LARGEST_HELLO) as lobby:
            while True:
                admitted = lobby.admit()
                if admitted is None:
                    continue
                connection, answer = admitted
                try:
                    check_hello(answer)
                    connection.send(hello, _HELLO)
                    return connection
                except Fault as fault:  # of another version, or gone: a driver that fits may still come
                    _report(connection, fault)
                    connection.close()


def _converse(connection: Connection, simulator: Simulator) -> None:
    step: int | None = None
    while True:
        try:
            request = connection.receive()
            if request["type"] == "close":
                return
            step = 0 if request["type"] == "reset" else None if step is None else step + 1
            connection.send(_answer(simulator, request, step))
        except Exception as error:
            _report(connection, error)
            raise


def _answer(simulator: Simulator, request: dict[str, Any], step: int | None) -> dict[str, Any]:
    if request["type"] == "reset":
        seed = request.get("seed")
        if seed is not None:
            seed = take(request, "seed", int, "a reset")
        reports = simulator.reset(seed, take(request, "options", dict, "a reset"))
    else:
        expect(request, "step")
        if step is None:
            raise Fault("sent a step before the first reset", "reset first")
        actions = take(request, "actions", dict, "a step")
        complaint = complain_about_actions(actions, simulator.agents)
        if complaint:
            raise Fault(f"sent a step: {complaint}", "see the hello")
        reports = simulator.step(actions)
    message = {"type": "state", "step": step, "agents": write_reports(reports)}
    try:
        read_reports(message, simulator.agents, step or 0)  # a wrong report fails here, where it was made
    except Fault as fault:
        raise ValueError(f"{simulator.program} {fault}") from None
    return message


def _report(connection: Connection, error: Exception) -> None:
    text = str(error) if isinstance(error, Fault) else f"{type(error).__name__}: {error}"
    with contextlib.suppress(Fault):  # it may have gone, too
        connection.send({"type": "error", "message": one_line(text)}, _HELLO)
