"""Drawn mutants: which edits a module allows, which tests execute them, and how they are counted."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.mutants import draw
from tests.mutants.asking import FAILED, LATE, PASSED, Answer
from tests.mutants.executed import Executed
from tests.mutants.sites import Site, find_sites
from tests.mutants.slips import ROOT


@pytest.mark.parametrize(
    ("line", "edits"),
    [
        ("return a < b", ["return (a <= b)", "return (a >= b)"]),
        ("return a in b", ["return (a not in b)"]),
        ("return a + 2 * b", ["return (a - 2 * b)", "return a + (2 / b)", "return a + 3 * b", "return a + 1 * b"]),
        ("return -a", ["return a"]),
        ("return a and b", ["return (a or b)"]),
        ("return f(a, b)", ["return f(b, a)"]),
        ("return f(a, a)", []),
        ("return f(*a, b)", []),
        ("return a.sum(axis=1)", ["return a.sum(axis=0)"]),
        ("return min(a, b)", ["return max(a, b)"]),
        ("return [x for x in a if x]", ["return [x for x in a if (not x)]"]),
        ("return a if b else 0", ["return a if (not b) else 0", "return a if b else 1"]),
        ("return f'{a + 1}'", []),
        ("raise ValueError(1 + 2)", []),
        ("a.b = c", ["pass", "return"]),
        ("a, b = c", []),
        ("a[0] += c", ["pass", "return", "a[0] -= c", "a[1] += c"]),
        ("f()", ["pass", "return"]),
        ("x: list[int] = [True]", ["x: list[int] = [False]"]),
        ("if f(): return 0.5", ["if (not f()): return 0.5", "if f(): return 1.5", "if f(): return -0.5"]),
        ("return 1e-8", ["return 2e-08", "return 5e-09"]),
    ],
)  # fmt: skip
def test_edits_of_a_line(line: str, edits: list[str]) -> None:
    text = f"def g(a, b, c):\n    '''A docstring of 1 line.'''\n    {line}\n"
    found = [site.edited(text).splitlines()[2].strip() for site in find_sites(text)]
    assert sorted(found) == sorted(edits)


def test_edits_keep_all_else() -> None:
    text = "def g(a, b=0):\n    é = 'ü' if a else 1  # kept\n    return é\n"
    assert [site.edited(text) for site in find_sites(text)] == [
        text.replace("b=0", "b=1"),
        text.replace("if a", "if (not a)"),
        text.replace("else 1", "else 0"),
        text.replace("else 1", "else 2"),
    ]


@pytest.mark.parametrize("file", ["train/update.py", "core/spaces.py", "kernels/noise.py", "view/scales.py"])
def test_every_edit_of_a_module_is_another_program(file: str) -> None:
    text = (ROOT / "interplay" / file).read_text()
    sound = ast.dump(ast.parse(text))
    sites = find_sites(text)
    assert len(sites) > 50
    for site in sites:
        assert ast.dump(ast.parse(site.edited(text))) != sound, site


MODULE = """\
from x import kernel

LIMIT = 5


def half(a, share=2):
    if a > 0:
        return a / share
    return None


@kernel
def twice(a):
    return 2 * a
"""


@pytest.fixture
def executed(tmp_path: Path) -> Executed:
    """Tests of MODULE: two execute the first branch, one the second; one of another file calls the kernel in a fixture."""
    file = str(tmp_path / "tree/interplay/wares.py")
    data = CoverageData(str(tmp_path / "lines"))
    for context, lines in {
        "": [1, 3, 6, 12, 13],
        "tests/a.py::one (call)": [7, 8],
        "tests/a.py::two (call)": [7, 9],
        "tests/b.py::slow (call)": [7, 8],
        "tests/b.py::failing (call)": [7, 8],
    }.items():
        data.set_context(context)
        data.add_lines({file: lines})
    data.write()
    seconds = {"tests/a.py::one": 1.0, "tests/a.py::two": 0.5, "tests/b.py::slow": 5.0}
    kernels = [{"uses": [["interplay/wares.py", 12]], "contexts": ["tests/a.py::two (setup)"]}]
    (tmp_path / "tests.json").write_text(json.dumps({"seconds": seconds, "kernels": kernels}))
    return Executed(tmp_path)


@pytest.mark.parametrize(
    ("edit", "tests"),
    [
        ("a / share -> (a * share)", ["a.py::one", "b.py::slow"]),
        ("a > 0 -> (a >= 0)", ["a.py::one", "a.py::two", "b.py::slow"]),
        ("2 -> 3", ["a.py::one", "a.py::two", "b.py::slow"]),  # the default: all that execute the body
        ("5 -> 6", ["a.py::one", "a.py::two", "b.py::slow"]),  # at import: all that execute the module
        ("2 * a -> (2 / a)", ["a.py::one", "a.py::two"]),  # a fixture's kernel: all of its file
    ],
)
def test_tests_that_execute_an_edit(executed: Executed, edit: str, tests: list[str]) -> None:
    old, new = edit.split(" -> ")
    lines = MODULE.splitlines()
    site = next(
        site
        for site in find_sites(MODULE)
        if site.new == new and lines[site.start[0] - 1][site.start[1] : site.end[1]] == old
    )
    assert executed.executed("interplay/wares.py", site)
    assert executed.executing("interplay/wares.py", site) == [f"tests/{test}" for test in tests]


def test_the_draw_is_repeatable_and_takes_each_line_once(
    executed: Executed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree/interplay").mkdir(parents=True)
    (tmp_path / "tree/interplay/wares.py").write_text(MODULE)
    drawn = draw.draw(executed, 7, 4, None, 1.6)
    assert drawn == draw.draw(executed, 7, 4, None, 1.6)
    assert len({mutant.site.start[0] for mutant in drawn}) == 4
    for mutant in drawn:
        assert "tests/b.py::slow" not in mutant.tests or len(mutant.tests) == 1, (
            "only what fits in 1.6 seconds"
        )
    with pytest.raises(ValueError, match="--count 100: tests execute 5 lines"):
        draw.draw(executed, 7, 100, None, 1.6)
    lines = [mutant.changed for mutant in draw.draw(executed, 7, 5, None, 9.0)]
    known = {("interplay/wares.py", m.line.strip(), m.changed.strip()) for m in drawn[:1]}
    monkeypatch.setattr(draw, "_equivalents", lambda: known)
    assert drawn[0].changed not in [mutant.changed for mutant in draw.draw(executed, 7, 4, None, 9.0)]
    assert len(set(lines)) == 5


def test_edits_by_hand_meet_the_tests_that_execute_them(executed: Executed, tmp_path: Path) -> None:
    (tmp_path / "tree/interplay").mkdir(parents=True)
    (tmp_path / "tree/interplay/wares.py").write_text(MODULE)
    slips = tmp_path / "slips.toml"
    row = "[[slip]]\nfile = 'interplay/wares.py'\n"
    slips.write_text(
        f"{row}old = '''\n    if a > 0:\n        return a'''\nnew = '''\n    if a > 0:\n        return -a'''\n"
        f"{row}old = 'return 2'\nnew = 'return 3'\n"
        f"{row}old = 'return None'\nnew = 'return 0'\n"
    )
    data = json.loads((tmp_path / "tests.json").read_text())
    del data["seconds"]["tests/a.py::two"]  # of the second branch
    (tmp_path / "tests.json").write_text(json.dumps(data))
    branch, kernel, elsewhere = draw.written(Executed(tmp_path), slips, 9.0)
    assert (branch.line, branch.changed) == ("        return a / share", "        return -a / share")
    assert set(branch.tests) == {"tests/a.py::one", "tests/b.py::slow"}
    assert (kernel.changed, kernel.tests) == ("    return 3 * a", ("tests/a.py::one",))
    assert set(elsewhere.tests) == {"tests/a.py::one", "tests/b.py::slow"}  # those of the module


def test_survivors_are_found_again(tmp_path: Path) -> None:
    (tmp_path / "interplay").mkdir()
    (tmp_path / "interplay/wares.py").write_text(f"# a line more\n{MODULE}")
    row = {"file": "interplay/wares.py", "kind": "comparison", "old": "if a > 0:", "new": "if (a >= 0):"}
    gone = row | {"old": "if a > 1:"}
    report = tmp_path / "drawn.jsonl"
    rows = [
        row | {"noticed": False},
        gone | {"noticed": False},
        row | {"new": "if (a <= 0):", "noticed": True},
    ]
    report.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = draw.survivors(report, ["tests/a.py"], tmp_path)
    assert (found.site.start, found.changed, found.tests) == ((8, 7), "    if (a >= 0):", ("tests/a.py",))


def test_the_survivors_of_a_report_are_planted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def ask(tree: Path, tests: tuple[str, ...], **_: object) -> Answer:
        asked.append(((tree / "interplay/registry.py").read_text(), tests))
        return Answer(FAILED, 1.0, "")

    text = (ROOT / "interplay/registry.py").read_text()
    site, old, new = next(draw._changes(text))
    row = {"file": "interplay/registry.py", "kind": site.kind, "old": old.strip(), "new": new.strip()}
    report = tmp_path / "drawn.jsonl"
    report.write_text(json.dumps(row | {"noticed": False}) + "\n")
    monkeypatch.setattr(draw, "ask", ask)
    out = tmp_path / "again.jsonl"
    draw.main(["--again", str(report), "--tests", "tests/a.py", "--jobs", "1", "--out", str(out)])
    assert asked == [(site.edited(text), ("tests/a.py",))]
    assert json.loads(out.read_text())["noticed"]
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["registry.py"[:-3], "1", "1", "100%"]


def test_scores_have_intervals_and_survivors_their_line() -> None:
    def outcome(package: str, verdict: str) -> draw.Outcome:
        site = Site("constant", (3, 0), (3, 1), "2", None, None, None)
        mutant = draw.Mutant(f"interplay/{package}/a.py", site, "x = 1", "x = 2", ("t",), 3)
        return draw.Outcome(mutant, Answer(verdict, 1.0, ""))

    outcomes = [outcome("core", FAILED)] * 7 + [outcome("core", PASSED)] * 2 + [outcome("cli", LATE)]
    lines = draw.table(outcomes).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["cli", "1", "1", "100%", "21%", "to", "100%"],
        ["core", "9", "7", "78%", "45%", "to", "94%"],
        ["all", "10", "8", "80%", "49%", "to", "94%"],
    ]
    assert lines.count("  - x = 1") == 2
    assert lines[5] == "SURVIVED (1 of 3 tests, 1 s): interplay/core/a.py:3: constant"
