"""What is typed for a path, and as KEY=VALUE, before a verb sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from interplay.cli.options import named_path, split_options
from interplay.core.errors import UserError


@pytest.mark.parametrize("typed", ["", " ", "\t\n", "runs\0first"])
def test_what_is_no_path_is_refused(typed):
    with pytest.raises(typer.BadParameter, match="is no path; name a file or folder"):
        named_path(typed)


@pytest.mark.parametrize("typed", [".", "a b", Path("runs/first")])
def test_what_is_a_path_is_taken_as_it_is(typed):
    assert named_path(typed) == Path(typed)


def test_names_and_options_may_stand_in_any_order():
    assert split_options(["a", "deep.key=1", "b/c", "d=x"]) == (["a", "b/c"], {"deep": {"key": 1}, "d": "x"})
    with pytest.raises(UserError, match="only options, no world"):
        split_options(["d=x"])
