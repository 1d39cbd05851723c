"""The site's pages: every guide stands in the index once, every world has a page that says what its spaces say."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from gymnasium import spaces

from interplay.cli.main import run
from interplay.registry import installed_ids, make_world
from interplay.train.settings.network import NetworkGroup
from interplay.view.facts import facts_of
from tests.present import worlds_to_test

ROOT = Path(__file__).resolve().parents[1]
LISTED_ELSEWHERE = {"specs", "decisions", "results", "images"}  # folders whose README lists them


@pytest.fixture(scope="module")
def build():
    sys.path.insert(0, str(ROOT / "website"))
    try:
        yield importlib.import_module("build")
    finally:
        sys.path.remove(str(ROOT / "website"))
        for name in ("build", "worlds", "reference", "defaults"):
            sys.modules.pop(name, None)


def test_the_index_lists_every_page_once(build):
    listed = [page for _, pages in build.sections((ROOT / "docs" / "index.md").read_text()) for page in pages]
    folders = {f"{name}/README.md" for name in ("specs", "decisions", "results")}
    pages = {
        str(page.relative_to(ROOT / "docs"))
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT / "docs").parts[0] not in LISTED_ELSEWHERE
    }
    assert sorted(listed) == sorted((pages - {"index.md"}) | folders)


def test_every_page_of_the_site_is_in_a_tree_and_its_links_lead_somewhere(build, tmp_path):
    site = tmp_path / "pages"
    build.gather(site)
    trees = re.findall(
        r"```\{toctree\}\n(?::\w+:[^\n]*\n)*\n(.*?)```", (site / "index.md").read_text(), re.DOTALL
    )
    listed = [page for tree in trees for page in tree.split()]
    for page in listed:
        assert (site / page).is_file(), page
    assert len(listed) == len(set(listed))
    families = {world_id.split("/")[0] for world_id in installed_ids()}
    assert {f"worlds/{family}.md" for family in families} <= set(listed)
    for page in site.rglob("*.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(site)} links to {target}"
    critics = {
        critic
        for page in (site / "worlds").glob("*.md")
        for critic in re.findall(r'network\.critic = "(\w+)"', page.read_text())
    }
    assert critics == {"world"} <= set(get_args(NetworkGroup.model_fields["critic"].annotation))
    text = (site / "worlds" / "pommerman.md").read_text()
    assert "| `bomb_life` | 11 x 11 | uint8 | numbers 0 to 10 |" in text
    assert "`pommerman/1v1`: `size` = 8" in text


@pytest.mark.parametrize("world_id", [spec.id for spec in worlds_to_test()])
def test_facts_are_those_of_the_spaces(world_id):
    facts, world = facts_of(world_id), make_world(world_id, num_worlds=1)
    try:
        for told, kind in zip(facts.kinds, world.kinds, strict=True):
            assert told.agents == tuple(world.agents[slot] for slot in kind.slots)
            size = sum(int(np.prod(leaf.shape)) for leaf in told.observation)
            assert size == _numbers(kind.observation_space)
            assert all(leaf.says and leaf.dtype for leaf in (*told.observation, *told.action))
    finally:
        world.close()
    assert asdict(facts)["id"] == world_id


def _numbers(space):
    if isinstance(space, spaces.Dict):
        return sum(map(_numbers, space.spaces.values()))
    return int(np.prod(space.shape or ()))


def test_no_default_changes_without_a_line_in_the_docs(build):
    defaults = importlib.import_module("defaults")
    assert defaults.PAGE.read_text() == defaults.page(), "run .venv/bin/python website/defaults.py"


def test_options_are_explained_by_their_source():
    options = {option.name: option for option in facts_of("pommerman/1v1").options}
    assert options["size"].default == "8"
    assert options["size"].says == "N, side of the board"
    assert options["reward_weights"].says.startswith("Of the result, a lost member")


def test_the_verb_tells_of_one_world(capsys):
    for arguments, said in (((), "observation"), (("--json",), '"observation"')):
        assert run(["worlds", "pong/2p", *arguments]) == 0
        assert said in capsys.readouterr().out
