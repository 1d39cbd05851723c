"""Every example runs: Python blocks of README.md and docs/, doctests of the package, and command lines are parsed.

The Python blocks of a page run in order and share their names, in an empty folder. Blocks with ``>>>`` are compared
with the output that they show. Other blocks (``toml``, ``text``) are only read by people.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
import typer

import interplay
from interplay.cli.main import build_app

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(interplay.__path__, "interplay.")
    if not module.name.endswith("__main__")
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, *languages: str) -> list[tuple[int, str]]:
    """Line and text of each fenced block of these languages."""
    text = page.read_text()
    return [
        (text.count("\n", 0, match.start()) + 2, match[2])
        for match in BLOCK.finditer(text)
        if match[1] in languages
    ]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name_of)
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__example__"}
    for line, text in blocks(page, "python"):
        if ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
            runner = doctest.DebugRunner(optionflags=FLAGS)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "sh", "console")], ids=name_of)
def test_command_lines_are_understood(page):
    group = typer.main.get_command(build_app())
    for line, text in blocks(page, "sh", "console"):
        for command in re.findall(
            r"^(?:\$ )?(?:\.venv/bin/)?interplay (.*)$", text.replace("\\\n", " "), re.MULTILINE
        ):
            verb, *arguments = shlex.split(command, comments=True)
            assert verb in group.commands, f"{page.name}:{line}: interplay {verb}"
            if "--help" not in arguments:
                group.commands[verb].make_context(verb, arguments)  # raises for what the verb would refuse


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name, tmp_path, monkeypatch):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"needs an optional package: {error}")
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.failed == 0
