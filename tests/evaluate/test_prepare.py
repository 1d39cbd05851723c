"""`interplay prepare`: a prepared world does not compile in use."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from interplay.evaluate.prepare import _families, prepare_worlds
from interplay.registry import list_worlds
from tests.cli.command import typed

# One step of a world, and how many compilations it took.
PLAY = (
    "import sys\nfrom interplay.core import jit\n"
    "class Count(jit.event.Listener):\n    n = 0\n"
    "    def on_start(self, event): Count.n += 1\n    def on_end(self, event): pass\n"
    "jit.event.register('numba:compile', Count())\n"
    "from interplay.registry import make_policy, make_world\n"
    "world = make_world(sys.argv[1], num_worlds=3)\npolicy = make_policy(sys.argv[1], 'random')\n"
    "policy.start(world)\nworld.step(policy.act(world.reset()))\nprint(Count.n)\n"
)

# How often the kernels of instruments were compiled, or loaded, by preparing worlds; and after the instruments were used.
ANALYSE = """
import numpy as np
from interplay.evaluate.lifetimes.mmo.ghosts import value_map
from interplay.evaluate.lifetimes.survival_world.moments import moment_reader
from interplay.evaluate.prepare import prepare
from interplay.registry import make_policy, make_world
from interplay.worlds.mmo.ghosts import look_as_ghosts
from interplay.worlds.survival.rules.fight import melee_targets

small = {"slots": 16, "interior": 24, "npop": 2, "prefill": 8, "cap_draw": "fixed"}
prepare("mmo/combat", **small)
prepare("survival/1v1-heals-low")
print(len(look_as_ghosts.signatures), len(melee_targets.signatures))
world = make_world("mmo/combat", 3, **small)
world.reset()
assert np.nanmax(value_map(world, lambda seen, p: np.ones(len(seen["tiles"])), population=1)) == 1
world, policy = make_world("survival/1v1-heals-low", 3), make_policy("survival/1v1-heals-low", "random")
policy.start(world)
step, read = world.reset(), moment_reader(world)
world.step(policy.act(step))
assert read(world).going.all()
print(len(look_as_ghosts.signatures), len(melee_targets.signatures))
"""


@pytest.mark.slow
def test_instruments_are_prepared_with_their_worlds():
    said = subprocess.run([sys.executable, "-c", ANALYSE], capture_output=True, text=True, check=True).stdout
    assert said == "1 1\n1 1\n"


@pytest.mark.slow
def test_what_was_prepared_does_not_compile(tmp_path):
    environment = {**os.environ, "INTERPLAY_CACHE": str(tmp_path / "cache")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert int(run("-c", PLAY, "gridworld/maze")) > 0
    (tmp_path / "cache").rename(tmp_path / "other")
    said = run("-m", "interplay.cli", "prepare", "gridworld/maze", "dilemma/fixed")
    assert {line.split(":")[0] for line in said.splitlines()} == {"gridworld/maze", "dilemma/fixed"}
    assert run("-c", PLAY, "gridworld/maze") == "0\n"


def test_worlds_of_a_family_stay_together():
    ids = [spec.id for spec in list_worlds()]
    families = _families(ids)
    assert sorted(world_id for family in families for world_id in family) == sorted(ids)
    assert [family for family in families if "survival/1v1-all-high" in family] == [
        [world_id for world_id in ids if world_id.startswith("survival/")]
    ]
    assert _families(["mine.tag:Tag", "mine.tag:Other", "yours:Tag"]) == [
        ["mine.tag:Tag", "mine.tag:Other"],
        ["yours:Tag"],
    ]


def test_worlds_are_prepared_in_this_process_one_by_one():
    assert [name for name, _ in prepare_worlds(["dilemma/fixed", "matrix/climbing"], processes=1)] == [
        "dilemma/fixed",
        "matrix/climbing",
    ]


def test_all_means_every_registered_world_of_ours(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "interplay.evaluate.prepare.prepare_worlds",
        lambda names, *_: asked.extend(names) or [("a/world", 1.25)],
    )
    assert typed(capsys, "prepare", "--all") == (0, "a/world: ready after 1.2 s\n", "")
    assert asked == [
        spec.id for spec in list_worlds() if not spec.missing
    ]  # engines of others compile nothing
