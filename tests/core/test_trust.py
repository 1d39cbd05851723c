"""Files that name programs: made on this machine, trusted once, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from interplay.core import trust
from interplay.core.errors import UserError
from interplay.core.loading import origin
from interplay.core.settings import Settings
from interplay.core.trust import (
    Untrusted,
    add_trusted,
    is_trusted,
    programs,
    read_program,
    read_settings,
    write_settings,
)
from tests.machines.write_points import failing


class Errand(Settings):
    what: str = "walk"
    options: dict[str, Any] = Field({"x": [1, 2]})
    times: int = 1

    def code_names(self) -> Iterator[tuple[str, Any]]:
        if ":" in self.what:
            yield "what", self.what
            yield "options", self.options


PROGRAM = Errand(what="os:system")


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "run").mkdir()
    return tmp_path / "run" / "settings.toml"


def elsewhere(monkeypatch, tmp_path):
    """From here on another machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))


def test_what_this_user_wrote_opens_and_what_came_from_elsewhere_does_not(file, tmp_path, monkeypatch):
    write_settings(file, PROGRAM)
    assert read_settings(file, Errand) == PROGRAM
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(Untrusted) as refused:
        read_settings(file, Errand)
    for word in (str(file), "what", '"os:system"', "--trust", "trust=True"):
        assert word in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "other").exists()  # a refusal writes nothing


def test_trust_is_asked_for_once(file, tmp_path, monkeypatch):
    write_settings(file, PROGRAM)
    elsewhere(monkeypatch, tmp_path)
    assert read_settings(file, Errand, trust=True) == PROGRAM
    assert read_settings(file, Errand) == PROGRAM


def test_settings_without_programs_need_no_list(file, tmp_path):
    write_settings(file, Errand())
    assert [path.name for path in file.parent.iterdir()] == ["settings.toml"]
    assert read_settings(file, Errand) == Errand()
    assert not (tmp_path / "data").exists()


def test_a_folder_may_be_moved_and_a_copy_opens(file):
    write_settings(file, PROGRAM)
    moved = file.parent.rename(file.parent.with_name("moved")) / file.name
    assert read_settings(moved, Errand) == PROGRAM


def test_programs_and_their_options_count_and_the_rest_may_be_edited(file):
    write_settings(file, PROGRAM)
    text = file.read_text()
    file.write_text("# mine\n" + text.replace("times = 1", "times = 5"))
    assert read_settings(file, Errand) == Errand(what="os:system", times=5)
    for was, now in (('"os:system"', '"os:popen"'), ("[1, 2]", "[1, 3]")):
        assert was in text
        file.write_text(text.replace(was, now))
        with pytest.raises(Untrusted):
            read_settings(file, Errand)


def test_a_module_of_the_same_name_elsewhere_is_another_program(file, tmp_path, monkeypatch):
    for folder in ("mine", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module_of_two.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path / "mine")
    mine = Errand(what="module_of_two:thing")
    write_settings(file, mine)
    assert read_settings(file, Errand) == mine
    monkeypatch.chdir(tmp_path / "theirs")
    with pytest.raises(Untrusted):
        read_settings(file, Errand)
    monkeypatch.chdir(tmp_path / "mine")
    assert read_settings(file, Errand) == mine


def test_a_module_that_is_not_found_is_named_and_stays_trusted_where_it_is_found(file, tmp_path, monkeypatch):
    (tmp_path / "module_at_home.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    mine = Errand(what="module_at_home:thing")
    write_settings(file, mine)
    monkeypatch.chdir(file.parent)
    with pytest.raises(Untrusted, match=r"module_at_home:thing.* is not found here"):
        read_settings(file, Errand)
    assert read_settings(file, Errand, trust=True) == mine
    monkeypatch.chdir(tmp_path)
    assert read_settings(file, Errand) == mine


def test_where_a_name_leads_is_told_without_an_import(tmp_path, monkeypatch):
    (tmp_path / "alone.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "inside.py").write_text("")
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path.resolve())
    assert origin("alone:thing") == f"{here}/alone.py"
    assert origin("package.inside:thing") == f"{here}/package"
    assert origin("os:system") == origin("numpy.random:default_rng") == origin("sys:exit") == "installed"
    assert origin("nowhere.at_all:thing") == origin(":thing") == ""


def test_other_programs_have_other_bytes(file):
    lists = [
        {"a": 1},
        {"a": "1"},
        {"a": 1.0},
        {"a": [1]},
        {"b": 1},
        {},
        {"a": {"b": 1}},
        {"a": True},
        {"a": "x'\n"},
    ]
    texts = [programs(Errand(what="os:system", options=options)) for options in lists]
    assert len(set(texts)) == len(lists)
    assert programs(Errand()) == b""


def test_no_bytes_are_never_trusted(file, tmp_path):
    add_trusted(file, b"")
    assert not (tmp_path / "data").exists()
    assert not is_trusted(b"")


@pytest.mark.parametrize("planted", [b"", b"\n", b"0" * 100_000, b"\xff" * 64, "é".encode() * 32])
def test_a_damaged_list_trusts_nothing_and_goes_on(file, planted):
    listed = trust.data_folder() / "trusted"
    listed.parent.mkdir(parents=True)
    listed.write_bytes(planted)
    assert not is_trusted(programs(PROGRAM))
    assert not is_trusted(b"")
    listed.write_bytes(planted + b"\n")
    write_settings(file, PROGRAM)
    assert read_settings(file, Errand) == PROGRAM


def test_a_path_with_a_line_break_adds_one_line(tmp_path, file):
    digest = "0" * 64
    add_trusted(tmp_path / f"a\n{digest} b", b"program")
    add_trusted(tmp_path / "a", b"program")
    assert (trust.data_folder() / "trusted").read_text().count("\n") == 1


def test_processes_that_add_at_once_lose_nothing(file):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: add_trusted(file, b"%d" % i), range(100)))
    assert all(is_trusted(b"%d" % i) for i in range(100))


@pytest.mark.parametrize("point", ["settings: half written", "settings: renamed"])
def test_a_stop_while_settings_are_written_leaves_none_that_are_refused(file, point):
    with pytest.raises(KeyboardInterrupt), failing(point, KeyboardInterrupt()):
        write_settings(file, PROGRAM)
    assert not file.exists() or read_settings(file, Errand) == PROGRAM


def test_without_a_data_folder_one_line_and_no_trust(file, tmp_path, capsys):
    (tmp_path / "data").write_text("a file stands where the folder should be")
    write_settings(file, PROGRAM)
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "--trust" in printed
    with pytest.raises(Untrusted):
        read_settings(file, Errand)
    assert read_settings(file, Errand, trust=True) == PROGRAM


def test_where_the_list_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for platform, place in (
        ("linux", ".local/share/interplay"),
        ("darwin", "Library/Application Support/interplay"),
    ):
        monkeypatch.setattr(trust.sys, "platform", platform)
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        assert trust.data_folder() == tmp_path / place
        monkeypatch.setenv("XDG_DATA_HOME", "data")  # relative: might lie in a folder from elsewhere
        assert trust.data_folder() == tmp_path / place
    monkeypatch.setenv("HOME", "home")
    assert not is_trusted(b"program")


def test_a_program_in_a_run_folder_is_read_if_its_text_is_trusted(tmp_path, file):
    program = file.with_name("experiment.py")
    program.write_bytes(b"params = {}\n")
    with pytest.raises(Untrusted, match=r"experiment\.py: .*--trust"):
        read_program(program)
    assert read_program(program, trust=True) == read_program(program) == b"params = {}\n"
    program.write_bytes(b"params = {1}\n")
    with pytest.raises(Untrusted):
        read_program(program)
    with pytest.raises(UserError, match="reading"):
        read_program(tmp_path / "nothing.py")
