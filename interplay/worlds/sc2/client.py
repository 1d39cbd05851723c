"""One connection to a process of StarCraft II: requests and responses of its protocol over a websocket."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from interplay.core.errors import UserError
from interplay.core.overdue import AFTER, print_line
from interplay.worlds.sc2 import engine

HOST = "127.0.0.1"
PATH = "/sc2api"
GLANCE = 1.0  # seconds of waiting after which the match's other connections are looked at


class GameLost(UserError):
    """A process of the game has ended, did not answer in time, or answered with an error; one line."""


class Client:
    """Sends one request at a time and reads its response.

    Args:
        port: on this machine.
        answer_seconds: until a response must be there.

    Raises:
        OSError, WebSocketException: if nothing listens at the port, or no game.
    """

    def __init__(self, port: int, answer_seconds: float) -> None:
        self.port = port
        self.answer_seconds = answer_seconds
        self.status = 0  # of the last response
        self._messages = engine.messages()
        self._pending = ""
        # A socket of our own: proxies of the environment do not count for this machine.
        line = socket.create_connection((HOST, port), timeout=answer_seconds)
        line.settimeout(None)
        self._open = ExitStack()
        self._connection: ClientConnection = self._open.enter_context(
            connect(
                f"ws://{HOST}:{port}{PATH}",
                sock=line,
                compression=None,
                max_size=None,
                open_timeout=answer_seconds,
                close_timeout=1,
                ping_interval=None,  # a game that computes a step answers no pings
            )
        )

    def send(self, **request: Any) -> None:
        """Sends a request: the name of its field and its message, or a mapping of that message's fields."""
        ((self._pending, _),) = request.items()
        try:
            self._connection.send(self._messages.Request(**request).SerializeToString())
        except (OSError, WebSocketException) as error:
            raise self._lost("has closed the connection") from error

    def receive(self, seconds: float | None = None, others: Sequence[Client] = ()) -> Any:
        """The response to the last request: the message of its field.

        Args:
            seconds: until it must be there, instead of `answer_seconds`.
            others: clients of the same match: when one of them is closed, no response comes.

        Raises:
            GameLost: if the process ended, the response is late, or the game refuses the request.
            UserError: if it refuses to make a match.
        """
        seconds = seconds or self.answer_seconds
        data = self._data(time.monotonic() + seconds, others)
        if data is None:
            raise self._lost(f"sent no response within {seconds:g} s")
        response = self._messages.Response.FromString(data)
        self.status = response.status
        answer = getattr(response, self._pending)
        error = list(response.error) or _refusal(answer)
        if error:
            kind = UserError if self._pending == "create_game" else GameLost
            raise kind(f"StarCraft II refused {self._pending}: {'; '.join(error)}")
        return answer

    def _data(self, deadline: float, others: Sequence[Client]) -> Any:
        """The next message; None if it is late."""
        quiet = time.monotonic() + AFTER
        while (left := deadline - time.monotonic()) > 0:
            try:
                return self._connection.recv(timeout=min(left, GLANCE))
            except TimeoutError:
                if time.monotonic() > quiet:
                    print_line(
                        f"StarCraft II at port {self.port} computes {self._pending}, {left:.0f} s until it is given up"
                    )
                    quiet += AFTER
                for one in others:
                    if one._connection.protocol.state is State.CLOSED:
                        raise one._lost("has closed the connection") from None
            except (OSError, WebSocketException) as error:
                raise self._lost("has closed the connection") from error
        return None

    def call(self, **request: Any) -> Any:
        """`send` and `receive`."""
        return call_all([self], [request])[0]

    def close(self) -> None:
        """Closes the connection; the process goes on."""
        self._open.close()

    def _lost(self, what: str) -> GameLost:
        return GameLost(f"StarCraft II at port {self.port} {what} after {self._pending}")


def _refusal(answer: Any) -> list[str]:
    """Name and details of the error that create_game and join_game have in their responses."""
    fields = type(answer).DESCRIPTOR.fields_by_name
    if "error_details" not in fields or not answer.HasField("error"):
        return []
    name = fields["error"].enum_type.values_by_number[answer.error].name
    return [f"{name} {answer.error_details}".strip()]


def call_all(
    clients: Sequence[Client], requests: Iterable[dict[str, Any]], seconds: float | None = None
) -> list[Any]:
    """Sends each client its request before the first response is read: in a match all players step and join together."""
    for client, request in zip(clients, requests, strict=True):
        client.send(**request)
    return [client.receive(seconds, clients) for client in clients]
