"""Builds the site: guides from ``docs/``, a page per family of worlds, a reference from docstrings; searchable, without a network.

    .venv/bin/python website/build.py [--out build/site]

Which pages there are, and in which order, is what ``docs/index.md`` says; worlds are what the registry knows. A broken link or a
docstring that cannot be read fails the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]

from reference import write_reference  # noqa: E402
from worlds import write_worlds  # noqa: E402

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\)", re.MULTILINE)
_LINK = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]+)")
_SOURCES = "https://github.com/interplay-rl/interplay/blob/main/"


def sections(index: str) -> Iterator[tuple[str, list[str]]]:
    """(title, pages) of each section of ``docs/index.md``."""
    parts = _SECTION.split(index)
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        yield title, _ENTRY.findall(text)


def gather(target: Path) -> None:
    """Writes the site's pages into an empty folder."""
    shutil.copytree(ROOT / "docs", target)
    for page in target.rglob("*.md"):
        page.write_text(_outward(page.read_text(), page.relative_to(target)))
    index = (target / "index.md").read_text()
    families = write_worlds(target)
    modules = write_reference(target)
    trees = [
        *sections(index),
        ("Every world", [f"worlds/{name}.md" for name in families]),
        ("Reference", [f"reference/{name}.md" for name in modules]),
    ]
    (target / "index.md").write_text(_landing() + "".join(_tree(title, pages) for title, pages in trees))
    _tree_of_folder(target / "specs" / "README.md")
    _tree_of_folder(target / "decisions" / "README.md")
    _tree_of_folder(target / "results" / "README.md")


def _outward(text: str, page: Path) -> str:
    """Links that leave ``docs/`` lead to the sources."""
    depth = len(page.parts) - 1

    def lead(match: re.Match[str]) -> str:
        ups = match[2].count("../")
        return f"{match[1]}{_SOURCES}{match[3]}" if ups > depth else match[0]

    return _LINK.sub(lead, text)


def _landing() -> str:
    """The README up to its first section after the worlds, its links as they are within the site."""
    readme = (ROOT / "README.md").read_text()
    text = readme.split("\n## Where things are", 1)[0]
    text = re.sub(r"(\]\(|src=\")docs/", r"\1", text)
    text = re.sub(
        r"(\]\()(?!https?:|#)((?:CONTRIBUTING|CHANGELOG|interplay/)[^)]*)", rf"\1{_SOURCES}\2", text
    )
    return re.sub(r"\]\(([a-z-]+/)\)", r"](\1README.md)", text) + "\n"


def _tree(title: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n:maxdepth: 1\n\n{lines}\n```\n"


def _tree_of_folder(readme: Path) -> None:
    pages = sorted(page.name for page in readme.parent.glob("*.md") if page != readme)
    with readme.open("a") as file:
        file.write("\n```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    out = parser.parse_args().out.resolve()
    pages = out.with_name(out.name + "-pages")
    for folder in (out, pages):
        shutil.rmtree(folder, ignore_errors=True)
    gather(pages)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        str(HERE),
        str(pages),
        str(out),
    ]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        sys.exit(code)
    print(f"written: {out / 'index.html'}")


if __name__ == "__main__":
    main()
