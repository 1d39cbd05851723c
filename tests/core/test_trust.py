"""Files that name programs: signed by this user on this machine, trusted by his word, or refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from interplay.core import files, signatures
from interplay.core.errors import UserError
from interplay.core.loading import origin
from interplay.core.settings import Settings
from interplay.core.trust import (
    Untrusted,
    programs,
    read_program,
    read_settings,
    remove_settings,
    write_settings,
)


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
    """From here on somebody else's machine."""
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
    assert not (tmp_path / "other").exists()  # a refusal makes no key


def test_trust_is_asked_for_once(file, tmp_path, monkeypatch):
    write_settings(file, PROGRAM)
    elsewhere(monkeypatch, tmp_path)
    assert read_settings(file, Errand, trust=True) == PROGRAM
    assert read_settings(file, Errand) == PROGRAM


def test_settings_without_programs_need_neither_key_nor_signature(file, tmp_path):
    write_settings(file, Errand())
    assert [path.name for path in file.parent.iterdir()] == ["settings.toml"]
    assert read_settings(file, Errand) == Errand()
    assert not (tmp_path / "data").exists()


def test_a_folder_may_be_moved_but_not_a_signature_to_another_file(file):
    write_settings(file, PROGRAM)
    moved = file.parent.rename(file.parent.with_name("moved")) / file.name
    assert read_settings(moved, Errand) == PROGRAM
    other = moved.rename(moved.with_name("tournament.toml"))
    shutil.copy(signatures.signature_path(moved), signatures.signature_path(other))
    with pytest.raises(
        Untrusted, match="it was changed or moved since it was signed, or signed by somebody else"
    ):
        read_settings(other, Errand)


def test_what_leads_to_programs_is_signed_and_the_rest_may_be_edited(file):
    write_settings(file, PROGRAM)
    text = file.read_text()
    file.write_text("# mine\n" + text.replace("times = 1", "times = 5"))
    assert read_settings(file, Errand) == Errand(what="os:system", times=5)
    for was, now in (('"os:system"', '"os:popen"'), ("[1, 2]", "[1, 3]")):
        assert was in text
        file.write_text(text.replace(was, now))
        with pytest.raises(Untrusted, match="was changed or moved since it was signed"):
            read_settings(file, Errand)


def test_a_copied_signature_is_worth_nothing_beside_another_module(file, tmp_path, monkeypatch):
    """Somebody sends back the user's own settings and signature, with a module of the same name beside them."""
    for folder in ("mine", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module_of_two.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path / "mine")
    mine = Errand(what="module_of_two:thing")
    write_settings(file, mine)
    assert read_settings(file, Errand) == mine
    monkeypatch.chdir(tmp_path / "theirs")
    with pytest.raises(Untrusted, match="was changed or moved since it was signed"):
        read_settings(file, Errand)
    monkeypatch.chdir(tmp_path / "mine")
    assert read_settings(file, Errand) == mine


def test_a_module_that_is_not_found_is_said_so_and_costs_no_signature(file, tmp_path, monkeypatch):
    (tmp_path / "module_at_home.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    mine = Errand(what="module_at_home:thing")
    write_settings(file, mine)
    monkeypatch.chdir(file.parent)
    with pytest.raises(Untrusted, match="is not found here; run from its folder or install it"):
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


def test_another_signature_for_every_name(file):
    """No two lists of names are signed alike, however they are written."""
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


def test_nothing_is_never_signed(file):
    signatures.sign(file, b"")
    assert list(file.parent.iterdir()) == []
    assert signatures.why_unsigned(file, b"") is not None


@pytest.mark.parametrize("planted", [b"", b"\n", b"0" * 64, b"\xff" * 64, b"0" * 100_000, "é".encode() * 32])
def test_a_signature_that_is_none_is_none(file, planted):
    write_settings(file, PROGRAM)
    signatures.signature_path(file).write_bytes(planted)
    with pytest.raises(Untrusted):
        read_settings(file, Errand)


def test_a_signature_that_is_a_link_or_a_pipe_is_none(file):
    write_settings(file, PROGRAM)
    beside = signatures.signature_path(file)
    real = beside.rename(beside.with_name("real"))
    beside.symlink_to(real)
    with pytest.raises(Untrusted):
        read_settings(file, Errand)
    beside.unlink()
    os.mkfifo(beside)
    with pytest.raises(Untrusted):
        read_settings(file, Errand)


@pytest.mark.parametrize("point", ["signature: half written", "signature: renamed", "settings: half written"])
def test_a_stop_between_the_two_files_leaves_nothing_unsigned(file, monkeypatch, point):
    def stop(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "hooks", [stop])
    with pytest.raises(KeyboardInterrupt):
        write_settings(file, PROGRAM)
    monkeypatch.setattr(files, "hooks", [])
    assert not file.exists()
    write_settings(file, PROGRAM)
    assert read_settings(file, Errand) == PROGRAM


def test_what_names_programs_no_longer_loses_its_signature(file):
    write_settings(file, PROGRAM)
    write_settings(file, Errand())
    assert [path.name for path in file.parent.iterdir()] == ["settings.toml"]
    write_settings(file, PROGRAM)
    remove_settings(file)
    assert list(file.parent.iterdir()) == []


def test_without_a_home_it_says_so_and_goes_on_untrusted(file, tmp_path, capsys):
    (tmp_path / "data").write_text("a file is in the way")
    write_settings(file, PROGRAM)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "stays unsigned" in said
    with pytest.raises(Untrusted, match="cannot be checked"):
        read_settings(file, Errand)
    assert read_settings(file, Errand, trust=True) == PROGRAM


def test_a_program_in_a_run_folder_is_read_if_it_is_signed_or_trusted(tmp_path, file):
    program = file.with_name("experiment.py")
    program.write_bytes(b"params = {}\n")
    with pytest.raises(Untrusted, match=r"experiment\.py: it is a program, .*--trust"):
        read_program(program)
    assert read_program(program, trust=True) == read_program(program) == b"params = {}\n"
    program.write_bytes(b"params = {1}\n")
    with pytest.raises(Untrusted, match="was changed or moved since it was signed"):
        read_program(program)
    with pytest.raises(UserError, match="reading"):
        read_program(tmp_path / "nothing.py")
