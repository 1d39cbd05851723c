"""Machines meet in pairs: sums have the bits of the tree, and connections without the token are closed."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from interplay.train.parallel import machines
from interplay.train.parallel.exchange import LostWorker, tree_sum
from interplay.train.parallel.machines import Machines, Network, meet_partners
from tests.train.machine_runs import vectors_of


class Store(dict[str, str]):
    """Keys of a coordinator; a reader waits until its key is there."""

    key_value_set = dict.__setitem__

    def blocking_key_value_get(self, key: str, _limit: int) -> str:
        while key not in self:
            time.sleep(1e-3)
        return self[key]


def meet(nodes: int, node: int, store: Store) -> Network:
    own = Machines(nodes, node, "127.0.0.1:9")
    network: Any = Network.__new__(Network)
    network.machines, network.nodes, network.node = own, nodes, node
    network._waits, network._longest = _Quiet(), 0.0
    network._partners = meet_partners(own, store)
    return network  # type: ignore[no-any-return]


class _Quiet:
    def waiting(self) -> Any:
        return threading.Lock()


def all_of(nodes: int, store: Store) -> list[Network]:
    with ThreadPoolExecutor(nodes) as pool:
        return list(pool.map(lambda node: meet(nodes, node, store), range(nodes)))


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_sums_and_rows_of_pairs_are_those_of_all(nodes: int) -> None:
    networks, vectors = all_of(nodes, Store()), [vectors_of(node) for node in range(nodes)]
    big = [
        np.random.default_rng(node).normal(size=2_000_000) for node in range(nodes)
    ]  # beyond any socket's room
    for every in (*zip(*vectors, strict=True), big):
        with ThreadPoolExecutor(nodes) as pool:
            sums = list(
                pool.map(lambda node, every=every: networks[node].all_reduce(every[node]), range(nodes))
            )
            rows = list(pool.map(lambda node, every=every: networks[node].gather(every[node]), range(nodes)))
        for total, row in zip(sums, rows, strict=True):
            assert total.tobytes() == tree_sum(list(every)).tobytes()
            assert [one.tobytes() for one in row] == [one.tobytes() for one in every]
            assert total.dtype == every[0].dtype


def test_a_stranger_is_turned_away_and_machines_meet() -> None:
    store, shown, silent = Store(), [b"", b"x" * 20], []

    def intrude() -> list[bytes]:
        host, port = json.loads(store.blocking_key_value_get("interplay/0", 0))
        silent.extend(socket.create_connection((host, port)) for _ in range(70))  # more than may wait
        found = []
        for words in shown:
            with socket.create_connection((host, port)) as stranger:
                stranger.sendall(words)
                stranger.shutdown(socket.SHUT_WR)
                found.append(stranger.recv(1))
        return found

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(meet, 2, 0, store)
        assert pool.submit(intrude).result(timeout=20) == [b"", b""]
        second = meet(2, 1, store)
    for one in silent:
        one.close()
    sums = ThreadPoolExecutor(1).submit(second.all_reduce, np.ones(3))
    assert first.result().all_reduce(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0]
    assert sums.result().tolist() == [1.0, 2.0, 3.0]


def test_a_machine_that_is_gone_is_lost() -> None:
    here, there = all_of(2, Store())
    there._partners[1].close()
    with pytest.raises(LostWorker, match="another machine of 2 is gone"):
        here.all_reduce(np.ones(3))


def test_a_token_that_comes_in_pieces_is_a_token() -> None:
    store = Store()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(meet, 2, 0, store)
        host, port = json.loads(store.blocking_key_value_get("interplay/0", 0))
        words = bytes.fromhex(store["interplay/token"]) + (1).to_bytes(4)
        with socket.create_connection((host, port)) as slow:
            for piece in (words[:5], words[5:17], words[17:]):
                slow.sendall(piece)
                time.sleep(0.05)
            assert list(first.result(timeout=20)._partners) == [1]


def test_a_machine_that_lives_and_does_not_come_is_lost_and_a_slow_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machines, "STUCK", 0.2)
    monkeypatch.setattr(machines, "_LOOK", 0.05)
    first, second = all_of(2, Store())
    slow = second._partners[1]
    part = np.arange(8.0)

    def trickle() -> None:
        for number in part:  # longer in all than `STUCK`, and never so long without a byte
            time.sleep(0.04)
            slow.send(number.tobytes())

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(trickle)
        assert first.all_reduce(np.ones(8)).tolist() == (part + 1).tolist()
        sending.result()
    began = time.monotonic()
    # The longest exchange so far took a third of a second, and ten times as much is waited for.
    with pytest.raises(LostWorker, match="it lives, but has not come for"):
        first.all_reduce(np.ones(8))
    assert 3.2 < time.monotonic() - began < 8


def test_a_machine_listens_at_its_own_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would connect to themselves if it stored the address of all interfaces."""
    store, bound, create = Store(), [], socket.create_server

    def noted(*given: Any, **named: Any) -> socket.socket:
        server = create(*given, **named)
        bound.append(server.getsockname()[0])
        return server

    monkeypatch.setattr(socket, "create_server", noted)
    all_of(2, store)
    stored = [json.loads(store[f"interplay/{node}"])[0] for node in range(2)]
    assert stored == bound == ["127.0.0.1"] * 2
