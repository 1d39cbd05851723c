"""Every section of the specifications that the code cites exists in docs/specs/, and so does every rule, row and number.

A citation says ``specification 8.2`` or, with the page, ``specification mmo 16.1``; without a page the file's path says which
is meant (`PAGES`). Docstrings and comments are read, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPECS = ROOT / "docs" / "specs"
FOLDERS = ("interplay", "tests", "bench", "studies")
NAMES = ("survival", "werewolf", "simulations", "mmo", "interfaces", "games", "viewer", "scale")
# Path prefix -> the page that a citation without a name means; the longest one counts.
PAGES = {
    "": "simulations",
    "interplay/evaluate": "mmo",
    "interplay/evaluate/communication": "werewolf",
    "interplay/connect/smac": "games",
    "interplay/connect/werewolf": "werewolf",
    "interplay/worlds/battle": "games",
    "interplay/worlds/doom": "games",
    "interplay/worlds/mmo": "mmo",
    "interplay/worlds/sc2": "games",
    "interplay/worlds/pong": "games",
    "interplay/worlds/pommerman": "games",
    "interplay/worlds/soccer": "games",
    "interplay/worlds/survival": "survival",
    "interplay/worlds/werewolf": "werewolf",
    "interplay/interfaces": "interfaces",
    "interplay/planar": "survival",
    "tests/connect/smac": "games",
    "tests/connect/test_smac": "games",
    "tests/interfaces": "interfaces",
    "tests/kernels/test_noise": "mmo",
    "tests/naive/battle": "games",
    "tests/naive/mmo": "mmo",
    "tests/naive/pong": "games",
    "tests/naive/pommerman": "games",
    "tests/naive/survival": "survival",
    "tests/naive/werewolf": "werewolf",
    "tests/planar": "survival",
    "tests/train/test_networks": "survival",
    "tests/worlds/battle": "games",
    "tests/worlds/doom": "games",
    "tests/worlds/mmo": "mmo",
    "tests/worlds/sc2": "games",
    "tests/worlds/test_pong": "games",
    "tests/worlds/test_soccer": "games",
    "tests/worlds/pommerman": "games",
    "tests/worlds/test_survival": "survival",
    "tests/worlds/werewolf": "werewolf",
    "bench/battle": "games",
    "bench/contacts": "survival",
    "bench/doom": "games",
    "bench/mmo": "mmo",
    "bench/sc2": "games",
    "bench/pong": "games",
    "bench/pommerman": "games",
    "bench/soccer": "games",
    "studies/mmo": "mmo",
    "bench/interfaces": "interfaces",
    "studies/random_statistics": "survival",
    "studies/werewolf": "werewolf",
    "bench/werewolf": "werewolf",
    "studies/windows": "survival",
}
# Tests whose docstrings begin with a number of something else: a section of a paper.
OTHER_NUMBERS = ("tests/worlds/test_navigation",)
OTHER_LABELS = ("D65",)  # a standard white

# Docstrings, whole lines of comment, comments behind code.
TEXT = re.compile(r'"""((?s:.*?))"""|((?:^ *#.*\n)+)| # (.*)$', re.MULTILINE)
NUMBER = r"\d+(?:\.\d+)*"
LABEL = r"[A-Z]\d{1,2}"
# "row 8", "T7" or "8.2"; not the beginning of "8.2.1", "8,000", "8 %" or "W = 8".
ITEM = rf"(?:(?:sections?|rows?|numbers?|faults?|the faults?)\s)?(?:{NUMBER}|{LABEL})\b(?!\.\d|,\d|\s?%|\s=)"
LIST = rf"{ITEM}(?:(?:,?\sand\s|\sto\s|,\s|;\s(?=\d)){ITEM})*"
PAGE = "|".join(NAMES)
CITATION = re.compile(
    rf"(?<!paper, )(?<!edition, )\b(?:[Ss]pecification(?:\s(?P<page>{PAGE}))?|[Ss]ections?)(?:,?\ssections?)?\s(?P<list>{LIST})"
)
# What a docstring begins with: "9.6: ..." or "T12 and section 3, row 2: ...".
OPENING = re.compile(rf"\s*(?P<list>{LIST})(?=\s*(?:[:.(]|,\s[a-z]|$))")
# A number so near to the word that it was meant as a citation.
UNREAD = re.compile(r"[Ss]pecification\b[^.;:()]{0,30}?\d")
LABELS = re.compile(rf"\b({LABEL})(?: to ({LABEL}))?\b")
RANGE = re.compile(rf"({NUMBER}) to ({NUMBER})")


class Citation(NamedTuple):
    """What one place of the code points at."""

    page: str
    target: str  # "8.2", "F21", "3 row 24"; for a place that could not be read, the words themselves
    place: str
    readable: bool = True


def page_of(name: str) -> str:
    """The page that a file means when it names none."""
    return PAGES[max((prefix for prefix in PAGES if name.startswith(prefix)), key=len)]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and words of every docstring and comment; a comment over several lines is one text."""
    for match in TEXT.finditer(source):
        words = match[1] or re.sub(r"^ *#", "", match[2] or match[3] or "", flags=re.MULTILINE)
        yield source.count("\n", 0, match.start()) + 1, " ".join(words.split())


def between(first: str, last: str) -> list[str]:
    """2.5 to 2.8 -> 2.5, 2.6, 2.7, 2.8; F21 to F23 likewise."""
    head, low = re.fullmatch(r"(.*?)(\d+)", first).groups()  # type: ignore[union-attr]
    same, high = re.fullmatch(r"(.*?)(\d+)", last).groups()  # type: ignore[union-attr]
    assert head == same, f"{first} to {last} is no range"
    return [f"{head}{number}" for number in range(int(low), int(high) + 1)]


def sections(listed: str) -> Iterator[str]:
    """The sections of a list, and the rows and numbers in them: "3, rows 22 and 23" -> 3, 3 row 22, 3 row 23."""
    section, within = "", False
    listed = RANGE.sub(lambda match: ", ".join(between(match[1], match[2])), listed)
    for kind, number in re.findall(rf"(sections?|rows?|numbers?)?\s?(?<![A-Z\d.])({NUMBER})", listed):
        within = kind[:3] in ("row", "num") or (within and not kind and "." not in number)
        section = section if within else number
        yield f"{section} row {number}" if within else number


def citations(name: str, source: str) -> Iterator[Citation]:
    """All citations of one file, whose path from the repository's root is `name`."""
    page = page_of(name)
    opens = name.startswith("tests/") and page == "simulations" and not name.startswith(OTHER_NUMBERS)
    for line, words in texts(source):
        place = f"{name}:{line}"
        found = list(CITATION.finditer(words))
        begun = OPENING.match(words) if opens else None
        for match in [*found, *([begun] if begun else [])]:
            named = match.groupdict().get("page") or page
            yield from (Citation(named, target, place) for target in sections(match["list"]))
        for match in UNREAD.finditer(words):
            if not any(one.start() <= match.start() < one.end() for one in found):
                yield Citation(page, match[0], place, readable=False)
        if page == "simulations":
            for first, last in LABELS.findall(words):
                labels = between(first, last) if last else [first]
                yield from (Citation(page, label, place) for label in labels if label not in OTHER_LABELS)


def targets(text: str) -> set[str]:
    """What a page offers: numbers of its headings, its labelled rules, and the rows and list items of each section."""
    offered, section = set(), ""
    for line in text.splitlines():
        if heading := re.match(rf"#+ ({NUMBER})\.?(?: |$)", line):
            section = heading[1]
            offered.add(section)
        elif label := re.match(rf"(?:- |\| )\**({LABEL})\b", line):
            offered.add(label[1])
        elif row := re.match(r"(?:\| |)(\d+)(?:\. | \|)", line):
            offered.add(f"{section} row {row[1]}")
    return offered


def cited(root: Path) -> list[Citation]:
    """All citations below a repository's root, but for those of this file, which are wrong on purpose."""
    files = sorted({path for folder in FOLDERS for path in (root / folder).rglob("*.py")} - {Path(__file__)})
    return [one for path in files for one in citations(path.relative_to(root).as_posix(), path.read_text())]


def quoted(specs: Path) -> Iterator[Citation]:
    """What pages say of sections of each other: "games 4.4"."""
    for path in sorted(specs.glob("*.md")):
        for match in re.finditer(rf"(?<!/)\b({PAGE}) (\d+\.\d+)\b", path.read_text()):
            yield Citation(match[1], match[2], f"docs/specs/{path.name}")


def missing(root: Path, specs: Path) -> list[str]:
    """A line for each citation that leads nowhere."""
    offered = {path.stem: targets(path.read_text()) for path in specs.glob("*.md")}
    return [
        f"{one.place}: {one.target!r} "
        + (f"is not in docs/specs/{one.page}.md" if one.readable else "is no citation that can be read")
        for one in (*cited(root), *quoted(specs))
        if not one.readable or one.target not in offered.get(one.page, ())
    ]


def test_every_cited_section_exists():
    assert not missing(ROOT, SPECS)


def test_citations_of_every_kind_are_found():
    """If the words were not understood, nothing would be missing."""
    found = {(one.page, one.target) for one in cited(ROOT)}
    wanted = {
        ("survival", "2.1"),  # "Source: specification survival 2.1, steps 4 and 6 to 8"
        ("survival", "15 row 7"),  # "specification survival 15, numbers 1 to 8"
        ("mmo", "16.1"),
        ("scale", "3.1"),
        ("werewolf", "14.4"),  # "specification 14.3 to 14.5"
        ("simulations", "2.8"),  # "specification 2.5 to 2.10 and 7"
        ("simulations", "3 row 23"),  # "rows 22 and 23"
        ("simulations", "9.6"),  # a test's docstring that begins with it
        ("simulations", "T9"),  # "T7 to T16"
        ("simulations", "F21"),
        ("simulations", "C1"),
    }
    assert wanted <= found


PLANTED = [
    ("interplay/worlds/mmo/a.py", "How it is (specification 6 and 19.4).", "6", "19.4"),
    ("interplay/sim/a.py", "From elsewhere (specification\nsurvival 4.5 and 99).", "4.5", "99"),
    ("interplay/sim/a.py", "Said by specification 2.3 to 2.19.", "2.3", "2.13"),
    ("interplay/sim/a.py", "Said by specification 3, rows 7 and 77.", "3 row 7", "3 row 77"),
    ("interplay/sim/a.py", "What nobody wrote (T7 to T99).", "T7", "T98"),
    ("tests/planar/test_a.py", "As section 15, numbers 5 and 55, has it.", "15 row 5", "15 row 55"),
]


@pytest.mark.parametrize(("path", "words", "right", "wrong"), PLANTED)
@pytest.mark.parametrize("mark", ["docstring", "comment"])
def test_a_wrong_citation_is_noticed_and_a_right_one_is_not(tmp_path, path, words, right, wrong, mark):
    lines = {"docstring": f'"""{words}"""\n', "comment": "# " + words.replace("\n", "\n# ") + "\n"}
    complaints = complaints_about(tmp_path, path, lines[mark])
    assert any(f"{path}:1: {wrong!r}" in line for line in complaints)
    assert not any(f" {right!r}" in line for line in complaints)


def test_the_number_that_a_test_begins_with_is_a_citation(tmp_path):
    complaints = complaints_about(tmp_path, "tests/sim/test_a.py", '"""9.6, 9.99: as it is written."""\n')
    assert len(complaints) == 1
    assert "9.99" in complaints[0]


def test_a_citation_that_cannot_be_read_is_noticed(tmp_path):
    complaints = complaints_about(tmp_path, "bench/a.py", "x = 1  # see the specification, point 4\n")
    assert complaints == ["bench/a.py:1: 'specification, point 4' is no citation that can be read"]


def test_a_page_that_names_a_section_of_another_wrongly_is_noticed(tmp_path):
    (tmp_path / "games.md").write_text("### 4.4 Picture\n")
    (tmp_path / "viewer.md").write_text("As games 4.4 and games 4.5 say.\n")
    assert missing(tmp_path / "nothing", tmp_path) == [
        "docs/specs/viewer.md: '4.5' is not in docs/specs/games.md"
    ]


def complaints_about(root: Path, path: str, source: str) -> list[str]:
    """What is missing of this file's citations."""
    (root / path).parent.mkdir(parents=True)
    (root / path).write_text(source)
    return [line for line in missing(root, SPECS) if line.startswith(path)]
