"""Pictures and videos that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.files import sync_folder, told_plainly


def check_output(path: str | Path, suffixes: Sequence[str]) -> Path:
    """Checks the suffix of a file that is to be written and that its folder can be written to.

    Raises:
        UserError: naming the file and the suffixes or folders that would do.
    """
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        raise UserError(
            f"{target}: unknown kind of file {target.suffix!r}; end the name in {' or '.join(suffixes)}"
        )
    if not target.parent.is_dir():
        raise UserError(f"{target}: there is no folder {target.parent}; make it first")
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise UserError(f"{target}: cannot be written; choose another name or folder")
    return target


@contextmanager
def writing(path: str | Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Gives a temporary name in the same folder, with the same suffix; at the end it is fsynced and renamed.

    If anything goes wrong the temporary file is removed and what stood at `path` before stands there still.
    """
    target = check_output(path, suffixes)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix.lower()}")
    try:
        with told_plainly("writing", target):
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, target)
            sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)
