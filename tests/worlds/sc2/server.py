"""A stand-in for the game's program: speaks its protocol over a websocket and plays the scenes of `scenes.py` and `zerg.py`.

The first process creates a match and holds it; the second one joins by the match's first port and hands its requests on.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from typing import Any

from s2clientprotocol import sc2api_pb2 as sc
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import Server, ServerConnection, serve

VERSION = os.environ.get("STAND_IN_VERSION", "4.10.0.75689")
PATIENCE = 20.0  # seconds until the other player must be there


class Table:
    """One match: its scene, and the players, which step together."""

    def __init__(self, creation: Any) -> None:
        self.seats = sum(setup.type == sc.Participant for setup in creation.player_setup)
        self.scene = scene_of(creation)
        self.meet = threading.Barrier(self.seats, timeout=PATIENCE)
        self.lock = threading.Lock()
        self.loops = 0

    def answer(self, player: int, request: Any) -> Any:
        """The response to a request within the match."""
        kind = request.WhichOneof("request")
        response = sc.Response(status=sc.ended if self.scene.over else sc.in_game)
        if kind == "step":
            if self.meet.wait() == 0:  # one of them plays for all
                self.scene.play(request.step.count)
                self.loops += request.step.count
            self.meet.wait()
            response.status = sc.ended if self.scene.over else sc.in_game
            response.step.simulation_loop = self.loops
            return response
        with self.lock:
            if kind == "observation":
                response.observation.CopyFrom(self.scene.observe(player))
                response.observation.observation.game_loop = self.loops
            elif kind == "action":
                response.action.result.extend(
                    self.scene.obey(player, action.action_raw.unit_command)
                    for action in request.action.actions
                )
            elif kind == "debug":
                for command in request.debug.debug:
                    self.scene.change(command)
                response.debug.SetInParent()
            elif kind == "game_info":
                response.game_info.CopyFrom(self.scene.info())
            elif kind == "data":
                response.data.CopyFrom(self.scene.data())
            elif kind == "query":
                response.query.CopyFrom(self.scene.answer(request.query))
            else:
                response.error.append(f"{kind} in a match")
        return response


class Program:
    """The state of this process."""

    def __init__(self) -> None:
        self.table: Table | None = None
        self.host: Any = None  # connection to the process that holds the match
        self.guests: Server | None = None
        self.status = sc.launched

    def answer(self, request: Any) -> Any:
        """The response to a request of the process's own client."""
        kind = request.WhichOneof("request")
        if kind == "ping":
            ping = sc.ResponsePing(game_version=VERSION, base_build=75689)
            return sc.Response(ping=ping, status=self.status)
        if kind == "create_game":
            return self.create(request.create_game)
        if kind == "join_game":
            return self.join(request.join_game)
        if kind == "leave_game":
            return self.leave()
        if self.host is not None:
            self.host.send(request.SerializeToString())
            return sc.Response.FromString(self.host.recv())
        if self.table is None:
            return sc.Response(error=[f"{kind} without a match"], status=self.status)
        return self.table.answer(1, request)

    def create(self, creation: Any) -> Any:
        if not creation.local_map.map_path:
            return sc.Response(create_game={"error": sc.ResponseCreateGame.MissingMap}, status=self.status)
        self.table, self.status = Table(creation), sc.init_game
        return sc.Response(create_game={}, status=self.status)

    def join(self, wanted: Any) -> Any:
        if not wanted.WhichOneof("participation"):
            error = sc.ResponseJoinGame.MissingParticipation
            return sc.Response(join_game={"error": error}, status=self.status)
        port = wanted.server_ports.game_port
        self.status = sc.in_game
        if self.table is not None:
            if self.table.seats > 1:
                self.guests = serve(self.guest, "127.0.0.1", port, compression=None)
                threading.Thread(target=self.guests.serve_forever, daemon=True).start()
                self.table.meet.wait()
            return sc.Response(join_game={"player_id": 1}, status=self.status)
        self.host = reach(port)
        self.host.send(sc.Request(join_game=wanted).SerializeToString())
        return sc.Response.FromString(self.host.recv())

    def leave(self) -> Any:
        if self.host is not None:
            self.host.close()
        if self.guests is not None:
            self.guests.shutdown()
        self.table = self.host = self.guests = None
        self.status = sc.launched
        return sc.Response(leave_game={}, status=self.status)

    def guest(self, connection: ServerConnection) -> None:
        """Answers the other process."""
        table = self.table
        assert table is not None
        for data in connection:
            request = sc.Request.FromString(data)
            if request.HasField("join_game"):
                table.meet.wait()
                response = sc.Response(join_game={"player_id": 2}, status=sc.in_game)
            else:
                response = table.answer(2, request)
            connection.send(response.SerializeToString())

    def client(self, connection: ServerConnection) -> None:
        """Answers the process's own client; its end, or that of the match, is the process's."""
        try:
            for data in connection:
                request = sc.Request.FromString(data)
                connection.send(self.answer(request).SerializeToString())
        except (ConnectionClosed, threading.BrokenBarrierError):
            connection.close()


def scene_of(creation: Any) -> Any:
    """The scene of a map: battles on Flat64, else a small economy."""
    if "Flat64" in creation.local_map.map_path:
        from tests.worlds.sc2.scenes import BattleScene  # loads kernels

        return BattleScene()
    from tests.worlds.sc2.zerg import ZergScene

    return ZergScene()


def reach(port: int) -> Any:
    """A connection to the process that holds the match, which may still start to listen."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            near = socket.create_connection(("127.0.0.1", port))
            line = connect(f"ws://127.0.0.1:{port}/", sock=near, compression=None, ping_interval=None)
            return line.__enter__()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def main(arguments: list[str]) -> None:
    """Listens as the game does: ``-listen HOST -port PORT``."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    with serve(Program().client, given["-listen"], int(given["-port"]), compression=None) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
