"""Runs over several machines: every machine trains its own shards, and their first workers exchange vectors over the network.

jax's distributed runtime starts the exchange and ends all machines if one is silent; gloo carries the vectors. The first worker of
machine 0 leads the run and writes its folder; the others follow.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from interplay.core.errors import UserError
from interplay.core.reading import parse_json
from interplay.core.stopping import Stop
from interplay.train.parallel.exchange import DTYPES, FORM, TURN, LostWorker, SharedMemory, tree_sum
from interplay.train.run.progress import tell

HEARTBEAT_TIMEOUT = 20  # seconds without a sign before jax ends the other machines
START_TIMEOUT = 300  # seconds for all machines to start
QUIET = 10.0  # seconds of waiting without a line
_AXIS = "machines"
# Seconds between the relay's looks: within the first ones of a wait, and later.
_SOON, _NAP, _LONG_NAP = 20e-3, 20e-6, 1e-3
_SMALL = 1024  # words; vectors are padded to a power of two below, to a multiple above, so that few programs are compiled


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
    """The connection between the first workers of all machines; open it before jax computes anything.

    Args:
        stop: ends the process while it waits for the others to come.

    Raises:
        UserError: if the other machines do not come, or jax has begun without them.
    """

    def __init__(self, machines: Machines, stop: Stop | None = None) -> None:
        self.machines, self.nodes, self.node = machines, machines.nodes, machines.node
        _check(machines)
        here = f"machine {self.node} of {self.nodes} waits for"
        with _Waits(f"{here} the others, which have {START_TIMEOUT} s to come").waiting():
            _connect(machines, stop)
        self._waits = _Waits(
            f"{here} another machine, which is lost after {HEARTBEAT_TIMEOUT} s without a sign"
        )
        first = [min(_devices_of(node), key=lambda device: device.id) for node in range(self.nodes)]
        mesh = Mesh(np.array(first), (_AXIS,))
        self._device = first[self.node]
        self._rows = NamedSharding(mesh, PartitionSpec(_AXIS))
        self._gather = jax.jit(
            jax.shard_map(
                lambda row: jax.lax.all_gather(row[0], _AXIS),
                mesh=mesh,
                in_specs=PartitionSpec(_AXIS),
                out_specs=PartitionSpec(),
                check_vma=False,
            )
        )

    def gather(self, vector: np.ndarray) -> list[np.ndarray]:
        """The vectors of all machines, of one shape and dtype, in their order.

        Raises:
            LostWorker: if a machine is gone.
        """
        size = vector.nbytes
        padded = np.zeros(_padded(-(-size // 4)) * 4, np.uint8)
        padded[:size] = vector.reshape(-1).view(np.uint8)
        row = jax.device_put(padded.view(np.uint32)[None], self._device)
        shape = (self.nodes, row.shape[1])
        given = jax.make_array_from_single_device_arrays(shape, self._rows, [row])
        try:
            with self._waits.waiting():
                found = np.asarray(self._gather(given).addressable_data(0))
        except (RuntimeError, ValueError) as error:  # jax raises either
            raise LostWorker(f"another machine of {self.nodes} is gone ({_first_line(error)})") from None
        return [words.view(np.uint8)[:size].view(vector.dtype) for words in found]

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
            for name in facts:
                if other.get(name) != every[0].get(name):
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
                total = tree_sum(self._network.gather(own))
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
        yield Network(machines, stop)
        jax.distributed.shutdown()
    except BaseException as error:
        _leave(error)


def _leave(error: BaseException) -> NoReturn:
    """Ends the process with an error."""
    if isinstance(error, KeyboardInterrupt):
        line, code = "stopped", int(error.args[0]) if error.args else 130
    elif isinstance(error, (UserError, LostWorker)):
        line, code = f"interplay: {error}", 2 if isinstance(error, UserError) else 1
    else:
        line, code = "".join(traceback.format_exception(error)).rstrip(), 1
    if leaving is not None:
        leaving(isinstance(error, UserError), line.removeprefix("interplay: "))
    else:
        tell(line)
    sys.stdout.flush()
    os._exit(code)


# Called before the process ends, with whether the error is the user's and its text; None prints the text.
leaving: Callable[[bool, str], None] | None = None


def _check(machines: Machines) -> None:
    nodes, node, coordinator = machines
    if nodes < 2 or nodes & (nodes - 1):
        raise UserError(f"nodes = {nodes}: shards are divided evenly over 2, 4, 8 ... machines")
    if not 0 <= node < nodes:
        raise UserError(f"node = {node}: with {nodes} machines they are 0 to {nodes - 1}")
    host, colon, port = coordinator.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise UserError(
            f"coordinator = {coordinator!r}: write HOST:PORT of machine 0, for example 10.0.0.1:7777"
        )


def _connect(machines: Machines, stop: Stop | None) -> None:
    """Meets the other machines; binds to the address under which machine 0 is reached, not to all interfaces."""
    from jax._src import xla_bridge

    nodes, node, coordinator = machines
    own = _own_address(coordinator)
    # By itself gloo takes the address of the host's name, on Debian 127.0.1.1, which other machines do not reach.
    made = xla_bridge._jax.make_gloo_tcp_collectives
    xla_bridge._jax.make_gloo_tcp_collectives = partial(made, hostname=own)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_preemption_service", False)  # it would take SIGTERM away
    absent = UserError(
        f"{nodes} machines did not meet at {coordinator} within {START_TIMEOUT} s; are all started?"
    )
    limit = threading.Timer(START_TIMEOUT, _leave, [absent])  # jax itself would end with a trace of its C++
    limit.daemon = True
    limit.start()
    failed: list[RuntimeError] = []

    def meet() -> None:
        try:
            jax.distributed.initialize(
                coordinator, nodes, node, cluster_detection_method="deactivate",
                initialization_timeout=2 * START_TIMEOUT, heartbeat_timeout_seconds=HEARTBEAT_TIMEOUT,
                coordinator_bind_address=coordinator if node == 0 else None,
            )  # fmt: skip
            jax.devices("cpu")
        except RuntimeError as error:
            failed.append(error)

    meeting = threading.Thread(target=meet, daemon=True)
    meeting.start()
    while meeting.is_alive():  # signals arrive in the main thread alone
        meeting.join(0.1)
        if stop:
            _leave(KeyboardInterrupt(128 + (stop.number or 2)))
    limit.cancel()
    if failed:
        raise UserError(f"machine {node} of {nodes}, coordinator {coordinator}: {_first_line(failed[0])}")


def _own_address(coordinator: str) -> str:
    """The address of this machine on the way to machine 0; nothing is sent."""
    host, _, port = coordinator.rpartition(":")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as way:
            way.connect(address)
            return str(way.getsockname()[0])
    except OSError as error:
        raise UserError(f"coordinator = {coordinator}: {error}") from None


def _devices_of(node: int) -> list[Any]:
    return [device for device in jax.devices("cpu") if device.process_index == node]


def _padded(words: int) -> int:
    """Words of a padded vector.

    Example:
        >>> _padded(3), _padded(700), _padded(1025)
        (4, 1024, 2048)
    """
    if words < _SMALL:
        return 1 << max(words - 1, 0).bit_length()
    return -(-words // _SMALL) * _SMALL


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
            time.sleep(1.0)
            since = self._since
            if since != said and time.monotonic() - since > QUIET:
                tell(f"{self._line}, {QUIET:.0f} s so far")
                said = since
