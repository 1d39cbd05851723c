"""The slips still fit the code, and the harness tells who notices from who does not; the slips themselves: ``make mutants``."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants import run
from tests.mutants.asking import BROKEN, FAILED, LATE, PASSED, Answer, ask
from tests.mutants.scores import Outcome, low_rooms, table
from tests.mutants.slips import ROOT, Slip, read_slips
from tests.mutants.trees import copy_tree, planted

SLIPS = read_slips()

SOUND = "def double(x):\n    return 2 * x\n"
NOTICES = "from wares import double\n\n\ndef test_double():\n    assert double(3) == 6\n"
SLEEPS = (
    "import time\n\nfrom wares import double\n\n\ndef test_double():\n    time.sleep(900 * (double(1) - 2))\n"
)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.room}: {slip.story}")
def test_a_slip_still_fits_its_file(slip: Slip):
    text = (ROOT / slip.file).read_text()
    slipped = ast.dump(ast.parse(slip.slipped(text)))  # refuses old text that is not there exactly once
    assert slipped != ast.dump(ast.parse(text)), "it changes comments or blanks alone"
    for test in slip.tests:
        path, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / path).read_text(), test


def test_stories_name_slips_and_every_room_has_some():
    stories = [slip.story for slip in SLIPS]
    assert len(set(stories)) == len(stories)
    rooms = {
        "checker",
        "core",
        "kernels",
        "planar",
        "gridworld",
        "sim",
        "worlds",
        "evaluate",
        "train",
        "connect",
        "cli",
        "view",
    }
    assert {slip.room for slip in SLIPS} == rooms | {"experiment", "interfaces", "league"}  # fmt: skip
    assert len(SLIPS) >= 60


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of one function and the tests that look at it."""
    (tmp_path / "wares.py").write_text(SOUND)
    (tmp_path / "test_notices.py").write_text(NOTICES)
    (tmp_path / "test_sleeps.py").write_text(SLEEPS)
    return tmp_path


def slip(new: str, test: str, old: str = "2 * x") -> Slip:
    return Slip("wares", "wares.py", old, new, (test,), f"{new} for {old}")


def test_who_notices_is_told_from_who_does_not_and_the_file_is_sound_again(tree: Path, capsys):
    slips = [slip(new, "test_notices.py") for new in ("3 * x", "x + x", "2 * (x")]
    # Without a pause between them: nothing may be left of the slip before.
    outcomes = run.plant_all(slips, [tree], 300.0) + run.plant_all(
        [slip("3 * x", "test_sleeps.py")], [tree], 3.0
    )
    assert [outcome.answer.verdict for outcome in outcomes] == [FAILED, PASSED, BROKEN, LATE]
    assert [outcome.noticed for outcome in outcomes] == [True, False, False, True]
    assert (tree / "wares.py").read_text() == SOUND
    assert sorted(path.name for path in tree.glob("wares*")) == ["wares.py"]
    assert ask(tree, ["test_notices.py"]).verdict == PASSED
    assert "2/3 wares: x + x for 2 * x: NOT NOTICED" in capsys.readouterr().err


def test_a_slip_that_does_not_fit_leaves_the_file_alone(tree: Path):
    for old in ("4 * x", "x"):
        with (
            pytest.raises(ValueError, match=r"occurs (0|2) times in wares\.py"),
            planted(slip("y", "", old), tree),
        ):
            raise AssertionError("planted")  # fmt: skip
        assert (tree / "wares.py").read_text() == SOUND


def test_tests_that_fail_without_a_slip_are_named(tree: Path):
    (tree / "test_notices.py").write_text(NOTICES.replace("6", "7"))
    (line,) = run.failing_tests([slip("3 * x", "test_notices.py")], [tree], 60.0)
    assert line.startswith("test_notices.py fails without a slip: failed")


def test_scores_by_room_and_survivors_with_their_reasons():
    def outcome(room: str, verdict: str, why: str = "") -> Outcome:
        return Outcome(Slip(room, "a.py", "1", "2", (), "one is two", survives=why), Answer(verdict, 1.0, ""))

    core = [outcome("core", FAILED)] * 9 + [outcome("core", PASSED, "nobody reads it")]
    outcomes = [*core, outcome("cli", LATE), outcome("view", BROKEN)]
    told = table(outcomes)
    lines = [line.split() for line in told.splitlines()]
    assert lines[2] == ["core", "10", "9", "0", "0", "90%"]
    assert lines[1] == ["cli", "1", "1", "1", "0", "100%"]
    assert lines[4] == ["all", "12", "10", "1", "1", "83%"]
    assert "passed: core, a.py: one is two: nobody reads it" in told
    assert low_rooms(outcomes) == ["view"]


def test_a_tree_is_copied_with_its_times_and_never_edited(tmp_path: Path):
    (tmp_path / "from" / "interplay").mkdir(parents=True)
    source = tmp_path / "from" / "interplay" / "wares.py"
    source.write_text(SOUND)
    copied = copy_tree(tmp_path / "to", tmp_path / "from") / "interplay" / "wares.py"
    assert copied.stat().st_mtime_ns == source.stat().st_mtime_ns
    with planted(Slip("wares", "interplay/wares.py", "2", "3", (), "three"), tmp_path / "to"):
        assert "3 * x" in copied.read_text()
        assert source.read_text() == SOUND
    assert copied.read_text() == SOUND
