"""Messages to a process of a Ray cluster, which sends them back, keep their order: python -m tests.connect.echo ADDRESS."""

from __future__ import annotations

import sys
from typing import Any

from interplay.connect.cluster import Cluster
from interplay.core.processes import TaskProcess, receive

MESSAGES = list(range(60))  # few enough for the buffers of all pipes


def echo(pipe: Any) -> None:
    """Sends back what it gets."""
    while True:
        pipe.send(pipe.recv())


def main(address: str) -> None:
    from tests.connect.echo import echo  # by its module's name, which other processes import

    process = TaskProcess(echo, place=Cluster(address))
    for message in MESSAGES:
        process.send(message, message)
    back: list[int] = []
    while len(back) < len(MESSAGES):
        back += [message for _, message in receive([process])]
    process.kill()
    assert back == MESSAGES


if __name__ == "__main__":
    main(*sys.argv[1:])
