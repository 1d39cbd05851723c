"""Runs over several machines: every machine trains its own shards, and their first workers exchange vectors over the network.

jax's distributed runtime lets the machines meet and ends all if one is silent; vectors go over sockets between pairs of machines. The
first worker of machine 0 leads the run and writes its folder; the others follow.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import math
import os
import secrets
import select
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import jax
import numpy as np
from jax._src.distributed import State

from interplay.core.errors import UserError
from interplay.core.reading import parse_json
from interplay.core.stopping import Stop
from interplay.train.parallel.exchange import DTYPES, FORM, TURN, LostWorker, SharedMemory
from interplay.train.run.progress import tell

HEARTBEAT_TIMEOUT = 20  # seconds without a sign before jax ends the other machines
START_TIMEOUT = 300  # seconds for all machines to start
# Seconds of waiting without a line: jax sends a sign every half of HEARTBEAT_TIMEOUT and may end this machine so soon after a loss.
QUIET = 8.0
# Seconds after which a machine that lives and sends nothing is lost, or ten times the longest exchange so far: others wait for it while
# it compiles, evaluates or saves.
STUCK = 7200.0
_LOOK = 1.0  # seconds between looks at the time of a wait
_TOKEN = 16  # bytes
_STRANGERS = 64  # connections that have not shown the token
# Seconds between the relay's looks: within the first ones of a wait, and later.
_SOON, _NAP, _LONG_NAP = 20e-3, 20e-6, 1e-3


class NotMet(UserError):
    """The machines of a run did not meet; another start may succeed."""


class Machines(NamedTuple):
    """The machines of a run, as this one is started.

    Attributes:
        nodes: number, a power of two.
        node: this one, 0 .. nodes - 1.
        coordinator: ``host:port`` of machine 0, which all others reach.
    """

    nodes: int
    node: int
    coordinator: str


class Network:
    """The connection between the first workers of all machines.

    Args:
        stop: ends the process while it waits for the others to come.

    Raises:
        NotMet: if the other machines do not come.
    """

    def __init__(self, machines: Machines, stop: Stop | None = None) -> None:
        self.machines, self.nodes, self.node = machines, machines.nodes, machines.node
        _check(machines)
        here = f"machine {self.node} of {self.nodes} waits for"
        with _Waits(f"{here} the others, which have {START_TIMEOUT} s to come").waiting():
            self._runtime, self._partners = _connect(machines, stop)
        self._waits = _Waits(
            f"{here} another machine, which is lost after {HEARTBEAT_TIMEOUT} s without a sign, or {STUCK:.0f} s without its part"
        )
        self._longest = 0.0  # seconds of an exchange

    def all_reduce(self, vector: np.ndarray) -> np.ndarray:
        """The tree sum over all machines' vectors, of one shape and dtype: neighbours, then neighbouring pairs.

        Raises:
            LostWorker: if a machine is gone.
        """
        total = vector
        for distance, partner in self._partners.items():
            own = np.ascontiguousarray(total)
            other = np.empty_like(own)
            self._swap(partner, own, other)
            total = own + other if not self.node & distance else other + own
        return total

    def gather(self, vector: np.ndarray) -> list[np.ndarray]:
        """The vectors of all machines, of one shape and dtype, in their order.

        Raises:
            LostWorker: if a machine is gone.
        """
        rows = np.ascontiguousarray(vector)[None]
        for distance, partner in self._partners.items():
            other = np.empty_like(rows)
            self._swap(partner, rows, other)
            rows = np.concatenate([rows, other] if not self.node & distance else [other, rows])
        return list(rows)

    def _swap(self, partner: socket.socket, own: np.ndarray, other: np.ndarray) -> None:
        """Sends a vector to another machine, and receives one of that size from it."""
        out, into = (array.reshape(-1).view(np.uint8).data for array in (own, other))
        sent = got = 0
        began = moved = time.monotonic()
        try:
            with self._waits.waiting():
                while sent < len(out) or got < len(into):
                    sending = [partner] if sent < len(out) else []
                    ready, free, _ = select.select([partner] if got < len(into) else [], sending, [], _LOOK)
                    now = time.monotonic()
                    if ready or free:
                        moved = now
                    elif now - moved > max(STUCK, 10 * self._longest):
                        raise TimeoutError(f"it lives, but has not come for {now - moved:.0f} s")
                    if free:
                        sent += partner.send(out[sent:])
                    if ready:
                        came = partner.recv_into(into[got:])
                        if not came:
                            raise ConnectionResetError("its connection is closed")
                        got += came
        except OSError as error:
            raise LostWorker(f"another machine of {self.nodes} is gone ({error})") from None
        self._longest = max(self._longest, time.monotonic() - began)

    def close(self) -> None:
        """Leaves the machines, when all have come here."""
        self._runtime.shutdown()

    def texts(self, text: str) -> list[str]:
        """The texts of all machines, in their order."""
        letters = np.frombuffer(text.encode(), np.uint8)
        lengths = [int(length[0]) for length in self.gather(np.array([len(letters)], np.int64))]
        rows = self.gather(np.pad(letters, (0, max(lengths) - len(letters))))
        return [row[:length].tobytes().decode() for row, length in zip(rows, lengths, strict=True)]

    def share(self, value: Any) -> Any:
        """Machine 0's JSON value, on all machines."""
        return parse_json(self.texts(json.dumps(value))[0])

    def compare(self, facts: dict[str, Any]) -> None:
        """Refuses machines that differ in a fact.

        Raises:
            UserError: names the first different fact, both machines and both values.
        """
        own = facts | {"host": socket.gethostname()}
        every = [parse_json(text) for text in self.texts(json.dumps(own))]
        for node, other in enumerate(every):
            for name in {**every[0], **other}:
                if name != "host" and other.get(name) != every[0].get(name):
                    raise UserError(
                        f"machine {node} ({other['host']}) has {name} = {other.get(name)}, "
                        f"machine 0 ({every[0]['host']}) has {every[0].get(name)}; start all machines alike"
                    )


class Relay:
    """A thread of a machine's first worker that exchanges the machine's sums with other machines, turn by turn.

    Compiled programs wait for it in shared memory as they wait for another worker, so they go on without a way through Python.

    Args:
        local: of the first worker, with a seat for the sums of all machines; while it waits, it gets this thread's error.
    """

    def __init__(self, local: SharedMemory, network: Network) -> None:
        self._local, self._network = local, network
        self._watch, local.watcher = local.watcher, self
        self._barrier = threading.Lock()  # of memory
        self._ends = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="relay")
        self._thread.start()

    def stop(self) -> bool:
        """Ends the thread; False if it waits for a machine that does not come."""
        self._ends = True
        self._thread.join(timeout=1.0)
        return not self._thread.is_alive()

    def begin(self, own_seconds: float) -> None:
        """See `Watch.begin`."""
        if self._watch is not None:
            self._watch.begin(own_seconds)

    def look(self, signs: np.ndarray, late: Sequence[int]) -> None:
        """See `Watch.look`; raises the relay's error, too."""
        if self._error is not None:
            raise self._error
        if self._watch is not None:
            self._watch.look(signs, late)

    def _run(self) -> None:
        try:
            turn, counters = 1, self._local.signs[:, TURN]
            while self._arrived(turn, counters[:-1]):
                size, kind = divmod(int(self._local.signs[self._local.rank, FORM]), len(DTYPES))
                own = self._local.own_sum(size, DTYPES[kind], turn)
                total = self._network.all_reduce(own)
                np.copyto(self._local.seat(self._local.size, size, DTYPES[kind], turn), total)
                with self._barrier:
                    counters[-1] = turn
                turn += 1
        except BaseException as error:
            self._error = error

    def _arrived(self, turn: int, counters: np.ndarray) -> bool:
        """Waits for all workers of this machine; False at the end."""
        began = time.perf_counter()
        while not self._ends:
            with self._barrier:
                if (counters >= turn).all():
                    return True
            # Gradient steps follow at once; while the worlds step, fewer looks leave Python to them.
            time.sleep(_NAP if time.perf_counter() - began < _SOON else _LONG_NAP)
        return False


class AcrossMachines:
    """The exchange of one worker of one machine: over shared memory in the machine, by a relay between machines.

    A machine holds neighbouring shards, so its workers' tree followed by the tree over machines is the tree over all shards.

    Args:
        local: of this machine's workers, with a seat for the sums of all machines.
        machines: of the run.
        relay: of the machine's first worker; None for its others.
    """

    def __init__(self, local: SharedMemory, machines: Machines, relay: Relay | None) -> None:
        self._local, self._relay = local, relay
        self.rank = machines.node * local.size + local.rank
        self.size = machines.nodes * local.size
        self.place = local.place

    def all_reduce(self, vector: np.ndarray) -> np.ndarray:
        return self._local.all_reduce(vector)

    def finish(self, vector: np.ndarray) -> np.ndarray:
        return self._local.finish(vector)

    def close(self) -> None:
        if self._relay is None or self._relay.stop():
            self._local.close()


@contextlib.contextmanager
def network_of(machines: Machines | None, stop: Stop | None = None) -> Iterator[Network | None]:
    """The network of a run over several machines, for a process that trains nothing else; None for a single machine.

    An error in the block ends the process at once: jax's own end would wait for machines that may never come.
    """
    if machines is None:
        yield None
        return
    try:
        network = Network(machines, stop)
        yield network
        network.close()
    except BaseException as error:
        _leave(error)


def _leave(error: BaseException) -> NoReturn:
    """Ends the process with an error."""
    if isinstance(error, KeyboardInterrupt):
        number = getattr(error, "number", None)  # of `Stopped`, the second signal
        line, code = "stopped", 128 + number if number else int(error.args[0]) if error.args else 130
    elif isinstance(error, (UserError, LostWorker)):
        line, code = f"interplay: {error}", 2 if isinstance(error, UserError) else 1
    else:
        line, code = "".join(traceback.format_exception(error)).rstrip(), 1
    if leaving is not None:
        final = isinstance(error, UserError) and not isinstance(error, NotMet)
        leaving(final, line.removeprefix("interplay: "))
    else:
        tell(line)
    sys.stdout.flush()
    os._exit(code)


# Called before the process ends, with whether the error is final and its text; None prints the text.
leaving: Callable[[bool, str], None] | None = None


def _check(machines: Machines) -> None:
    nodes, node, coordinator = machines
    if nodes < 2 or nodes & (nodes - 1):
        raise UserError(f"nodes = {nodes}: shards are divided evenly over 2, 4, 8 ... machines")
    if not 0 <= node < nodes:
        raise UserError(f"node = {node}: with {nodes} machines they are 0 to {nodes - 1}")
    host, colon, port = coordinator.rpartition(":")
    if not (host and colon and port.isdecimal()) or (":" in host and host[0] + host[-1] != "[]"):
        raise UserError(
            f"coordinator = {coordinator!r}: write HOST:PORT of machine 0, for example 10.0.0.1:7777 or [fd00::1]:7777"
        )


def meet_partners(machines: Machines, store: Any) -> dict[int, socket.socket]:
    """Distance -> a connection to the machine that is 1, 2, 4, ... away.

    The lower of two machines listens, at the address under which machine 0 reaches it; the other one shows a token.

    Args:
        store: of keys, the coordinator's, from which the token comes.
    """
    nodes, node, coordinator = machines
    if node == 0:
        store.key_value_set("interplay/token", secrets.token_hex(_TOKEN))
    limit = 1000 * START_TIMEOUT
    token = bytes.fromhex(store.blocking_key_value_get("interplay/token", limit))
    distances = [1 << k for k in range(nodes.bit_length() - 1)]
    found: dict[int, socket.socket] = {}
    own = _own_address(coordinator)
    family = socket.AF_INET6 if ":" in own else socket.AF_INET
    with socket.create_server((own, 0), family=family) as server:
        host, port = server.getsockname()[:2]
        store.key_value_set(f"interplay/{node}", json.dumps([host, port]))
        for distance in distances:
            if node & distance:
                there = parse_json(store.blocking_key_value_get(f"interplay/{node ^ distance}", limit))
                found[distance] = socket.create_connection(tuple(there), START_TIMEOUT)
                found[distance].sendall(token + node.to_bytes(4))
        expected = {distance for distance in distances if not node & distance}
        found |= _accept(server, {node ^ distance: distance for distance in expected}, token)
    for partner in found.values():
        partner.setblocking(False)
        partner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return dict(sorted(found.items()))


def _accept(server: socket.socket, expected: Mapping[int, int], token: bytes) -> dict[int, socket.socket]:
    """Distance -> the connection of an expected machine that shows the token and its number; others are closed.

    Raises:
        TimeoutError: if a machine does not come.
    """
    found: dict[int, socket.socket] = {}
    shown: dict[socket.socket, bytes] = {}  # of those that have not shown all, the oldest first
    until = time.monotonic() + START_TIMEOUT
    try:
        while len(found) < len(expected):
            if time.monotonic() > until:
                raise TimeoutError("a machine did not come")
            for one in select.select([server, *shown], [], [], 1.0)[0]:
                if one is server:
                    one, _ = server.accept()
                    one.setblocking(False)
                    shown[one] = b""
                    if len(shown) > _STRANGERS:
                        oldest = next(iter(shown))
                        del shown[oldest]
                        oldest.close()
                    continue
                if one not in shown:
                    continue
                before, came = shown.pop(one), b""
                with contextlib.suppress(OSError):
                    came = one.recv(_TOKEN + 4 - len(before))
                words = before + came
                if came and len(words) < _TOKEN + 4:
                    shown[one] = words
                    continue
                distance = expected.get(int.from_bytes(words[_TOKEN:]))
                if (
                    hmac.compare_digest(words[:_TOKEN], token)
                    and distance is not None
                    and distance not in found
                ):
                    found[distance] = one
                else:
                    one.close()
    finally:
        for one in shown:
            one.close()
    return found


def _connect(machines: Machines, stop: Stop | None) -> tuple[State, dict[int, socket.socket]]:
    """Meets the other machines; binds to the address under which machine 0 is reached, not to all interfaces.

    The runtime is not jax's own one: to jax each machine stays alone, so that all have the same compiled programs, and keep them
    (jax keeps those of process 0 only).
    """
    nodes, node, coordinator = machines
    jax.config.update("jax_enable_preemption_service", False)  # it would take SIGTERM away
    runtime = State()
    absent = NotMet(
        f"{nodes} machines did not meet at {coordinator} within {START_TIMEOUT} s; are all started?"
    )
    limit = threading.Timer(START_TIMEOUT, _leave, [absent])  # jax itself would end with a trace of its C++
    limit.daemon = True
    limit.start()
    failed: list[Exception] = []
    partners: dict[int, socket.socket] = {}

    def meet() -> None:
        try:
            runtime.initialize(
                coordinator, nodes, node, cluster_detection_method="deactivate",
                initialization_timeout=2 * START_TIMEOUT, heartbeat_timeout_seconds=HEARTBEAT_TIMEOUT,
                coordinator_bind_address=coordinator if node == 0 else None,
            )  # fmt: skip
            partners.update(meet_partners(machines, runtime.client))
        except Exception as error:
            failed.append(error)

    meeting = threading.Thread(target=meet, daemon=True)
    meeting.start()
    while meeting.is_alive():  # signals arrive in the main thread alone
        meeting.join(0.1)
        if stop:
            _leave(KeyboardInterrupt(128 + (stop.number or 2)))
    limit.cancel()
    if failed:
        raise NotMet(f"machine {node} of {nodes}, coordinator {coordinator}: {_first_line(failed[0])}")
    return runtime, partners


def _own_address(coordinator: str) -> str:
    """The address of this machine on the way to machine 0; nothing is sent."""
    host, _, port = coordinator.rpartition(":")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind, protocol) as way:
            way.connect(address)
            return str(way.getsockname()[0])
    except OSError as error:
        raise UserError(f"coordinator = {coordinator}: {error}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


class _Waits:
    """Prints a line for every wait that is long.

    Args:
        line: to print; the seconds so far follow.
    """

    def __init__(self, line: str) -> None:
        self._line, self._since = line, math.inf
        threading.Thread(target=self._look, daemon=True, name="waits").start()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """The block waits."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = math.inf

    def _look(self) -> None:
        said = math.inf
        while True:
            time.sleep(QUIET / 8)
            since = self._since
            if since != said and time.monotonic() - since > QUIET:
                tell(f"{self._line}, {QUIET:.0f} s so far")
                said = since
