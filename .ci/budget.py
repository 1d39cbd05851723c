"""The budget of code and prose: lines, public names and refusals of each package, long sentences, as budget.toml allows them.

    python .ci/budget.py            # status 1 where a package exceeds its budget
    python .ci/budget.py --write    # budget.toml as the code is now
    python .ci/budget.py --table    # the figures of docs/results/size.md

A line counts if it holds more than a comment or a docstring. A refusal is a line of a `raise`, or of an `if` with nothing else in its body.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import grimp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / ".ci/budget.toml"
PERSONS = re.compile(r"\b(who|whom|whose|somebody|nobody|told)\b", re.IGNORECASE)
LONG_FUNCTION, LONG_SENTENCE = 60, 35  # lines, words
REFUSALS = 0.07  # bar of their share of the lines of code
CIRCLES = "import circles"


class Size(NamedTuple):
    """What a package holds."""

    lines: int
    names: int
    refusals: int


def main() -> int:
    """Compares, writes or prints; gives the exit status."""
    if "--table" in sys.argv:
        print_table()
        return 0
    found = {name: size._asdict() for name, size in measure().items()} | {
        CIRCLES: {"number": count_circles()},
        "prose": count_prose(),
    }
    if "--write" in sys.argv:
        BUDGET.write_text(
            "".join(
                f'["{name}"]\n' + "".join(f"{key} = {n}\n" for key, n in own.items())
                for name, own in found.items()
            )
        )
        return 0
    allowed = tomllib.loads(BUDGET.read_text())
    over = [
        f"{name}: {n:,} {key}, {allowed.get(name, {}).get(key, 0):,} allowed; delete some, or raise it in .ci/budget.toml and give the reason in the commit"
        for name, own in found.items()
        for key, n in own.items()
        if n > allowed.get(name, {}).get(key, 0)
    ]
    print(
        "\n".join(over)
        or f"{sum(own.get('lines', 0) for own in found.values()):,} lines of code, within the budget"
    )
    return bool(over)


def measure() -> dict[str, Size]:
    """Package -> its size; a module beside the packages counts as one."""
    found: dict[str, Size] = {}
    for path in files("interplay/**.py"):
        name, text = path.relative_to(ROOT / "interplay").parts[0].removesuffix(".py"), path.read_text()
        tree = ast.parse(text)
        own = (count_code(tree, text), count_names(tree), len(refusals(tree)))
        found[name] = Size(*np.add(found.get(name, (0, 0, 0)), own).tolist())
    return dict(sorted(found.items()))


def files(pattern: str) -> list[Path]:
    """Files that git has, or would add."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def docstrings(tree: ast.Module) -> list[ast.Constant]:
    """The docstrings of a module and of all that it defines."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    strings = [
        node.value for node in found if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return [node for node in strings if isinstance(node.value, str)]


def span(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def count_code(tree: ast.Module, text: str) -> int:
    documented = {line for node in docstrings(tree) for line in span(node)}
    lines = ((n, line.strip()) for n, line in enumerate(text.splitlines(), 1))
    return sum(bool(line) and not line.startswith("#") and n not in documented for n, line in lines)


def count_names(tree: ast.Module) -> int:
    """Public functions and classes of a module, and public methods."""
    own = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    return sum(
        not node.name.startswith("_") for owner in owners for node in owner.body if isinstance(node, own)
    )


def refusals(tree: ast.Module) -> set[int]:
    """Lines that only refuse."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        or (
            isinstance(node, ast.If)
            and not node.orelse
            and all(isinstance(part, ast.Raise) for part in node.body)
        )
        for line in span(node)
    }


def count_circles() -> int:
    """Groups of modules that import each other, imports inside functions included."""
    graph = grimp.build_graph("interplay", exclude_type_checking_imports=True, cache_dir=None)
    names = sorted(graph.modules)
    place = {name: n for n, name in enumerate(names)}
    edges = [
        (place[name], place[other])
        for name in names
        for other in graph.find_modules_directly_imported_by(name)
    ]
    matrix = csr_array((np.ones(len(edges)), np.array(edges).T), shape=(len(names), len(names)))
    return int((np.bincount(connected_components(matrix, connection="strong")[1]) > 1).sum())


def print_table() -> None:
    """The figures, each as a row of Markdown."""
    package, tests = ([p.read_text() for p in files(f"{folder}/**.py")] for folder in ("interplay", "tests"))
    trees = [ast.parse(text) for text in package]
    prose = count_prose()
    functions = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    found = measure()
    sizes, over = found.values(), [name for name, own in found.items() if own.refusals > REFUSALS * own.lines]
    rows: dict[str, int | str] = {
        "package, lines of Python": sum(text.count("\n") for text in package),
        "of it code, without docstrings, comments and blanks": sum(size.lines for size in sizes),
        "of it refusals": sum(size.refusals for size in sizes),
        "their share of it": f"{sum(size.refusals for size in sizes) / sum(size.lines for size in sizes):.1%}",
        f"packages with a share above {REFUSALS:.0%}": f"{len(over)} ({', '.join(over)})",
        "tests, lines of Python": sum(text.count("\n") for text in tests),
        "who, whom, whose, somebody, nobody, told in docstrings and docs": prose["person_words"],
        f"sentences of docs over {LONG_SENTENCE} words": prose["long_sentences"],
        CIRCLES: count_circles(),
        f"functions over {LONG_FUNCTION} lines": sum(len(span(node)) > LONG_FUNCTION for node in functions),
    }
    lines = (f"| {name} | {n if isinstance(n, str) else format(n, ',')} |" for name, n in rows.items())
    print("| figure | now |\n|---|---|", *lines, sep="\n")


def count_prose() -> dict[str, int]:
    """Words for persons in docstrings and docs, and long sentences of docs."""
    pages = [p.read_text() for p in files("docs/**.md") + files("README.md")]
    documented = [
        str(node.value) for p in files("interplay/**.py") for node in docstrings(ast.parse(p.read_text()))
    ]
    return {
        "person_words": sum(len(PERSONS.findall(text)) for text in documented + pages),
        "long_sentences": sum(map(count_long_sentences, pages)),
    }


def count_long_sentences(page: str) -> int:
    """Sentences of a page's paragraphs and lists that are too long; tables and code are left out."""
    page = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    lines = [line for line in page.splitlines() if not line.lstrip().startswith(("|", "#"))]
    blocks = re.split(r"\n\s*\n|\n\s*(?=[-*] |\d+\. )", "\n".join(lines))
    sentences = [sentence for block in blocks for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\"])", block)]
    return sum(len(sentence.split()) > LONG_SENTENCE for sentence in sentences)


if __name__ == "__main__":
    sys.exit(main())
