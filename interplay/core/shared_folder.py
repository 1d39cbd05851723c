"""A folder that all machines of a command must see."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from interplay.core.errors import UserError


@contextlib.contextmanager
def marked(folder: Path) -> Iterator[str]:
    """The path of a new file in a folder, which is made, for `check_mark`; removed at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(prefix=".interplay-", dir=folder.absolute()) as mark:
        yield mark.name


def check_mark(mark: str) -> None:
    """Refuses this machine if it does not see the folder of a `marked` file."""
    if not os.path.exists(mark):
        raise UserError(
            f"machine {socket.gethostname()} does not see {os.path.dirname(mark)}; "
            "put it on storage that all machines share, under one path"
        )
