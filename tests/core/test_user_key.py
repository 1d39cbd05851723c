"""The user's key: made once, for his eyes alone, and not taken from anybody else."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interplay.core import user_key
from interplay.core.errors import UserError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """An empty data folder; gives the key's file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "interplay" / "key"


def test_the_key_is_made_once_and_only_its_user_may_read_it(home):
    assert user_key.read_key() is None
    assert not home.exists()  # looking makes nothing
    made = user_key.own_key()
    assert len(made) == 32
    assert user_key.own_key() == user_key.read_key() == made
    assert stat.S_IMODE(home.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.parent.stat().st_mode) == 0o700
    assert [path.name for path in home.parent.iterdir()] == ["key"]


def test_permissions_do_not_depend_on_the_umask(home):
    before = os.umask(0)
    try:
        user_key.own_key()
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.parent.stat().st_mode) == 0o700


def test_those_who_make_it_at_once_get_the_same_one(home):
    barrier = threading.Barrier(8)

    def make(_: int) -> bytes:
        barrier.wait()
        return user_key.own_key()

    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            keys = set(pool.map(make, range(8)))
        assert keys == {user_key.read_key()}
        assert [path.name for path in home.parent.iterdir()] == ["key"]
        home.unlink()


def _planted_link(home):
    real = home.with_name("real")
    real.write_bytes(bytes(32))
    real.chmod(0o600)
    home.symlink_to(real)


def _planted_pipe(home):
    os.mkfifo(home, 0o600)


def _written(size, mode):
    def write(home):
        home.write_bytes(bytes(size))
        home.chmod(mode)

    return write


def _open_folder(home):
    _written(32, 0o600)(home)
    home.parent.chmod(0o777)


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (_written(32, 0o640), "others may read or write it; remove it"),
        (_written(32, 0o604), "others may read or write it"),
        (_written(31, 0o600), "31 bytes instead of 32"),
        (_written(33, 0o600), "33 bytes instead of 32"),
        (_planted_link, "cannot be read"),
        (_planted_pipe, "no plain file"),
        (_open_folder, "others may write to it; chmod 700"),
    ],
)
def test_a_key_that_others_may_know_or_have_planted_is_not_taken(home, plant, message):
    home.parent.mkdir(parents=True, mode=0o700)
    plant(home)
    for ask in (user_key.read_key, user_key.own_key):
        with pytest.raises(UserError, match=message) as refused:
            ask()
        assert str(home.parent) in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_folder_that_is_a_link_is_not_taken(home, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    home.parent.parent.mkdir()
    home.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="no folder"):
        user_key.own_key()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_data_folder_that_cannot_be_made_is_one_line(home):
    home.parent.parent.write_text("a file is in the way")
    with pytest.raises(UserError, match=r"set XDG_DATA_HOME|cannot be read"):
        user_key.own_key()


def test_without_a_variable_it_lies_where_the_system_keeps_such_data(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for platform, place in (
        ("linux", ".local/share/interplay"),
        ("darwin", "Library/Application Support/interplay"),
    ):
        monkeypatch.setattr(user_key.sys, "platform", platform)
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        assert user_key.data_folder() == tmp_path / place
        monkeypatch.setenv("XDG_DATA_HOME", "data")  # somebody's working folder is nobody's home
        assert user_key.data_folder() == tmp_path / place
