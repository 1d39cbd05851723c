"""Where a name is looked for: installed modules first, the working folder last, and only where a user typed it."""

from __future__ import annotations

import sys

import pytest

from interplay.core.errors import UserError
from interplay.core.loading import load, origin

UNUSED = "xdrlib_of_nobody"  # no module of that name is installed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a module of its own and one that is called as an installed one that was not imported yet."""
    for name in ("colorsys", UNUSED):
        (tmp_path / f"{name}.py").write_text("WHERE = 'the working folder'\nrgb_to_hsv = WHERE\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    return tmp_path


def test_an_installed_module_hides_one_of_the_working_folder(folder):
    assert callable(load("colorsys:rgb_to_hsv", users=True))
    assert not str(sys.modules["colorsys"].__file__).startswith(str(folder))


def test_the_working_folder_is_looked_at_last_and_for_users_alone(folder):
    with pytest.raises(UserError, match=f"no module named '{UNUSED}'"):
        load(f"{UNUSED}:WHERE")
    before = list(sys.path)
    assert load(f"{UNUSED}:WHERE", users=True) == "the working folder"
    assert sys.path == [*before, str(folder)]
    load("colorsys:rgb_to_hsv", users=True)
    assert sys.path == [*before, str(folder)]


@pytest.mark.parametrize("name", ["colorsys", UNUSED, "os", "numpy"])
def test_the_origin_of_a_name_is_where_it_would_be_loaded_from(folder, name):
    """Asked before anything is imported; what it says is where the import then finds it."""
    told = origin(f"{name}:__name__")
    load(f"{name}:__name__", users=True)
    own = str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder))
    assert own == (name == UNUSED)
    assert told == (str((folder / f"{name}.py").resolve()) if own else "installed")


def test_what_does_not_exist_has_no_origin(folder):
    assert origin("no_such_module_at_all:Thing") == ""
