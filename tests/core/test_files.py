"""A reader finds the old file or the new one, whatever happened to the writer."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.core import files
from interplay.core.errors import UserError
from tests.machines.write_points import failing


@pytest.fixture
def points():
    """The write points reached, in order; the hook list is as before afterwards."""
    seen: list[str] = []
    files.hooks.append(seen.append)
    yield seen
    files.hooks.clear()


POINTS = ["file: opened", "file: half written", "file: written", "file: renamed"]


def test_points_are_reached_in_order(tmp_path: Path, points: list[str]) -> None:
    files.replace_file(tmp_path / "a", b"new")
    assert points == POINTS
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("point", POINTS)
def test_failed_replacement_leaves_old_or_new(tmp_path: Path, points: list[str], point: str) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old contents")
    with pytest.raises(OSError, match="No space"), failing(point):
        files.replace_file(target, b"new contents")
    assert target.read_bytes() == (b"new contents" if point == POINTS[-1] else b"old contents")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("code", "reason", "cure"),
    [
        (errno.ENOSPC, "the disk is full", "free some space"),
        (errno.EDQUOT, "disk quota", "free some space"),
        (errno.EACCES, "permission denied", "that you may write to"),
        (errno.EIO, "input/output error", "check the path and the disk"),
    ],
)
def test_system_errors_are_one_plain_line(code: int, reason: str, cure: str) -> None:
    with (
        pytest.raises(UserError) as caught,
        files.os_errors_as_user_errors("saving", Path("runs/a"), "b is intact"),
    ):
        raise OSError(code, os.strerror(code))
    text = str(caught.value)
    assert "\n" not in text
    for part in ("saving runs/a", reason, "b is intact", cure):
        assert part in text


def test_a_device_that_is_always_full(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(UserError, match="the disk is full"), files.os_errors_as_user_errors("writing", full):
        files.write_file(full, b"x")


HOLDER = """
import sys, time
from pathlib import Path
from interplay.core.files import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
time.sleep(60)
"""


def test_lock_names_its_holder_and_is_freed_by_kill_9(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline().strip() == "None"
            assert files.FileLock(path).acquire() == f"{holder.pid} of {socket.gethostname()}"
            with pytest.raises(UserError, match=f"process {holder.pid} of"), files.FileLock(path):
                pass
        finally:
            holder.kill()
    with files.FileLock(path) as lock:
        assert lock.held
        assert path.read_text() == f"{os.getpid()} of {socket.gethostname()}\n"
    assert not lock.held


def test_lock_is_exclusive_within_one_process(tmp_path: Path) -> None:
    first, second = files.FileLock(tmp_path / "l"), files.FileLock(tmp_path / "l")
    assert first.acquire() is None
    assert second.acquire() == f"{os.getpid()} of {socket.gethostname()}"
    first.release()
    first.release()
    assert second.acquire() is None
    second.release()


def test_data_are_durable_before_the_name_and_the_name_before_the_call_returns(
    tmp_path: Path, monkeypatch
) -> None:
    calls: list[str] = []

    def note(module, name: str, what) -> None:
        real = getattr(module, name)

        def noted(*given, **more):
            calls.append(what(*given))
            return real(*given, **more)

        monkeypatch.setattr(module, name, noted)

    def kind(handle: int) -> str:
        return "fsync folder" if os.path.isdir(f"/dev/fd/{handle}") else "fsync file"

    note(os, "fsync", kind)
    note(os, "replace", lambda source, target: "rename")
    note(files, "_write_all", lambda file, data: "write")
    files.replace_file(tmp_path / "a", b"new")
    assert calls == ["write", "write", "fsync file", "rename", "fsync folder"]
    calls.clear()
    with files.replacing(tmp_path / "b") as temporary:
        temporary.write_bytes(b"much")
        calls.append("block")
    assert calls[-4:] == ["block", "fsync file", "rename", "fsync folder"]
    calls.clear()
    files.write_file(tmp_path / "c", b"new")
    assert calls == ["write", "write", "fsync file"]


def test_a_lock_forgets_the_tail_of_a_longer_pid(tmp_path: Path) -> None:
    path = tmp_path / "l"
    path.write_text("99999999999999\nand more\n")
    with files.FileLock(path):
        assert path.read_text() == f"{os.getpid()} of {socket.gethostname()}\n"
        assert files.FileLock(path).acquire() == f"{os.getpid()} of {socket.gethostname()}"


def test_links_are_not_followed_out_of_a_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    folder = tmp_path / "folder"
    folder.mkdir()

    def link(name: str) -> Path:
        outside.write_text("mine")
        (folder / name).symlink_to(outside)
        return folder / name

    link(f".a.{os.getpid()}.tmp")  # where the temporary file would be
    files.replace_file(folder / "a", b"new")
    files.replace_file(link("b"), b"new")  # the link makes way
    assert not (folder / "b").is_symlink()
    link(f".v.{os.getpid()}.mp4")
    with files.replacing(folder / "v.mp4") as temporary:
        temporary.write_bytes(b"new")
    for act in (
        lambda path: files.write_file(path, b"x"),
        files.open_log,
        lambda path: files.FileLock(path).acquire(),
    ):
        target = link(f"l{len(list(folder.iterdir()))}")
        with (
            pytest.raises(UserError, match="link"),
            files.os_errors_as_user_errors("opening", target),
        ):
            act(target)
    assert outside.read_text() == "mine"
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("mine")
    (folder / "tree").symlink_to(tmp_path / "kept")
    files.remove_tree(folder / "tree")
    assert not (folder / "tree").is_symlink()
    assert (tmp_path / "kept" / "file").read_text() == "mine"
