"""What the studies of battles measure: matches against scripts, and sides by pictures."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.train.distributions import Distribution
from interplay.train.settings import NetworkGroup
from studies.battle_comparison import ARMS, arm_of, asked, plan, report, told
from studies.battle_grid import AgainstScript, GridNet, Sides
from studies.battle_grid import report as report_of_grid
from studies.battle_matches import measure


def test_matches_tell_wins_draws_and_cut_battles_apart():
    still = measure("still", ["still", "hit_and_run"], 6, "battle/3m")
    assert still["still"] == (0, 0, 6, 6)  # no unit moves until the limit
    assert still["hit_and_run"] == (0, 0, 0, 6)
    mirrored = measure("hit_and_run", ["hit_and_run", "still"], 6, "battle/3m", drawn=True)
    assert mirrored["hit_and_run"] == (0, 6, 0, 6)  # a mirrored battle ends for both at once
    assert mirrored["still"] == (6, 0, 0, 6)
    assert str(mirrored["still"]) == "1.00 [0.61, 1.00]"


def test_the_comparison_has_every_arm_with_every_seed_and_equal_steps():
    runs = plan(asked("3i2z", 70_000, 3))
    assert [arm_of(run.varied) for run in runs] == [arm for arm in ARMS for _ in range(3)]
    assert {run.settings.steps for run in runs} == {70_000}
    assert {run.settings.network.hidden for run in runs} == {(128, 128)}
    assert told([0.5, 0.5, 0.5]) == "0.5 (0.50, 0.50, 0.50)"
    assert told([0.4, 0.5, 0.6]).startswith("0.50 [0.25, 0.75]")


def test_a_report_that_cannot_be_drawn_is_refused_before_anybody_plays(tmp_path):
    nowhere = tmp_path / "none"
    with pytest.raises(UserError, match="there is no folder"):
        report(tmp_path / "no runs", ["3m"], 1, nowhere)
    with pytest.raises(UserError, match="there is no folder"):
        report_of_grid(tmp_path / "no run", 1, nowhere / "grid.png")


def test_the_other_side_is_the_scripts():
    sides = Sides(4, seed=3, randomize="positions")
    players = AgainstScript(RandomPolicy(), "5i", "still")
    sides.reset()
    players.start(sides, seed=0)
    before = np.array(sides.battle.state.unit["x"]), np.array(sides.battle.state.unit["y"])
    for _ in range(5):
        sides.step(players.act(sides.timestep))
    x, y = (
        np.abs(sides.battle.state.unit[axis] - was).max(axis=0)
        for axis, was in zip("xy", before, strict=True)
    )
    assert (np.hypot(x, y)[:5] > 0.5).all()
    assert (np.hypot(x, y)[5:] < 0.5).all()  # but for what pushes them


def test_scripts_beat_random_orders():
    sides = Sides(8, randomize="positions")
    table = play(sides, AgainstScript(RandomPolicy(), "5i", "focus_weakest"), 8, seed=1)
    assert (table["outcome"][:, 0] < 0).mean() > 0.7


@pytest.mark.parametrize("scenario", ["5i", "3i2z"])
def test_the_network_gives_every_cell_its_entries(scenario):
    sides = Sides(2, scenario=scenario)
    space, action = sides.kinds[0].observation_space, sides.kinds[0].action_space
    network = GridNet(space, action, NetworkGroup(hidden=(8, 8, 8)), key=jax.random.key(0))
    ((name, seen),) = sides.reset().observation.items()
    picture = jnp.asarray(seen).reshape(-1, *space[name].shape)
    logits, value = network({name: picture})
    assert logits.shape == (4, Distribution(action).size)
    assert value.shape == (4,)
    # What changes in a cell changes that cell's logits most: entries stand in the order of the cells.
    changed, _ = network({name: picture.at[:, 2, 5].add(10.0)})
    moved = np.abs(np.asarray(changed - logits)).reshape(4, 8, 8, -1).max(axis=3)
    near = moved[:, 1:4, 4:7].max(axis=(1, 2))
    moved[:, 1:4, 4:7] = 0
    assert (near > moved.max(axis=(1, 2))).all()
