"""Simulations that say how people play them: names, keys, clicks and sight, in the first examples that people read."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from interplay.core.fog import fogged, hideable
from interplay.core.policy import RandomPolicy
from interplay.core.scene import scene_of
from interplay.registry import make_world
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import RavelDiscreteWrapper
from interplay.view.server.play import Cast, Play
from interplay.worlds.corridor.simulation import MultiCorridor

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The examples of the README and of the guide to simulations as modules of a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, page, until, more in (
        ("readme_race", "README.md", "world = race()", ""),
        ("high_number", "docs/simulations.md", "manager = AllStep", "\ndef game() -> AllStepManager:\n    return AllStepManager(HighNumber())\n"),
    ):  # fmt: skip
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
        block = next(block for block in blocks if until in block)
        (tmp_path / f"{name}.py").write_text(block.partition(until)[0] + more)
    yield
    for name in ("readme_race", "high_number"):
        sys.modules.pop(name, None)


def test_the_readmes_own_world_is_played_by_keys_and_clicks_under_fog(mine):
    world = make_world("readme_race:race", seed=1)
    play = Play(Cast(world, RandomPolicy(), "random", fog=True), 1)
    assert world.id == "readme_race:race"
    assert [head["labels"] for head in play.heads(0)] == [["stay", "left", "down", "right", "up"]]
    told = play.controls(0)
    assert told is not None
    assert sorted(told["keys"]) == ["ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp"]
    assert (play.clicks, play.hides(0)) == (True, True)
    x, y = (float(scene_of(world).layer("agents").columns[axis][0].mean()) for axis in "xy")
    neighbours = {way: play.click(0, x + dx, y + dy) for way, dx, dy in (("left", -1, 0), ("up", 0, -1))}
    assert any(deed is not None for deed in neighbours.values())


def test_the_first_simulation_of_the_guide_has_names_and_keys(mine):
    play = Play(Cast(make_world("high_number:game"), RandomPolicy(), "random"))
    assert [head["name"] for head in play.heads(0)] == ["say"]
    told = play.controls(1)
    assert told is not None
    assert told["keys"]["7"] == [{"head": 0, "choice": 7}]
    assert not play.clicks


def test_who_plays_in_the_corridor_sees_its_neighbours_alone():
    world = SimulationWorld(lambda: AllStepManager(MultiCorridor(end=9, num_agents=4)))
    world.reset(seeds=2)
    sim = world._pool.environment(0).manager.sim
    for agent, position in zip(sim.agents.values(), (3, 4, 6, 8), strict=True):
        agent.position = position
    assert [world.visible(0, slot)["agents"].tolist() for slot in range(4)] == [
        [True, True, False, False], [True, True, False, False], [False, False, True, False], [False, False, False, True],
    ]  # fmt: skip
    seen = fogged(hideable(scene_of(world)), world.visible(0, 0)).layer("agents")
    assert seen.columns["x"].tolist() == [3.5, 4.5, 0, 0]
    assert world.takes_clicks
    assert [world.click(0, 0, x, 0.2) for x in (0.1, 3.9, 4.1)] == [
        {"move": way} for way in ("left", "stay", "right")
    ]


def test_a_wrapper_with_other_choices_has_no_names_nor_clicks():
    world = SimulationWorld(lambda: AllStepManager(RavelDiscreteWrapper(MultiCorridor())))
    world.reset(seeds=2)
    assert (world.action_names, world.takes_clicks, world.visible(0, 0), world.click(0, 0, 1.0, 0.0)) == (
        None,
        False,
        None,
        None,
    )
    assert np.isfinite(scene_of(world).layer("agents").columns["x"]).all()
