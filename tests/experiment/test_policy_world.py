"""Worlds with policies as kinds: another grouping of the same worlds."""

from __future__ import annotations

import os

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.experiment.algorithms import settings_of
from interplay.experiment.params import read_params
from interplay.experiment.policy_world import PolicyWorld
from interplay.experiment.worlds import from_file, make_world, read
from tests.experiment.corridors import changed, params
from tests.experiment.crews import crew, crew_params


def test_it_plays_like_the_worlds_inside():
    experiment = read_params(params())
    plain = changed(params(), "ray_tune.config", {"horizon": 30})
    grouped, alone = make_world(experiment, 4, seed=5), make_world(read_params(plain), 4, seed=5)
    assert [kind.name for kind in grouped.kinds] == ["even", "odd"]
    assert [kind.slots for kind in grouped.kinds] == [(0, 2), (1,)]
    rng = np.random.default_rng(0)
    ours, theirs = grouped.reset(), alone.reset()
    for _ in range(60):
        for key, values in theirs.observation.items():
            np.testing.assert_array_equal(ours.observation["even"][key], values[:, [0, 2]])
            np.testing.assert_array_equal(ours.observation["odd"][key], values[:, [1]])
        for field in ("reward", "acting", "terminated", "truncated", "over"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
        actions = rng.integers(0, 3, (4, 3))
        ours = grouped.step({"even": actions[:, [0, 2]], "odd": actions[:, [1]]})
        theirs = alone.step(actions)
        if ours.over.any():
            which = ours.over.copy()
            ours, theirs = grouped.reset(which), alone.reset(which)


@pytest.mark.parametrize("config", [{"horizon": 30}, {}], ids=["alone", "grouped"])
def test_a_part_of_a_batch_has_the_worlds_of_the_whole(config):
    experiment = read_params(changed(params(), "ray_tune.config", config) if config else params())
    whole = make_world(experiment, 5, seed=5)
    part = make_world(experiment, 2, seed=5, first_world=3)
    assert part.first_world == 3
    assert np.array_equal(whole.reset().acting[3:], part.reset().acting)
    for name, array in whole.by_kind(whole.timestep.observation).items():
        for key, values in array.items():
            np.testing.assert_array_equal(values[3:], part.by_kind(part.timestep.observation)[name][key])


def test_a_file_that_was_changed_is_read_anew(tmp_path, monkeypatch):
    """The worlds of a file are those of the file as it is, and the same file is run once."""
    path = tmp_path / "mine.py"
    text = "from tests.experiment.corridors import params as make\n\nparams = make(config={{'env_config': {{'end': 7, 'num_agents': {0}}}, 'multiagent': {{}}}})\n"
    for number, time in ((2, 10), (4, 20), (3, 30)):
        path.write_text(text.format(number))
        os.utime(path, (time, time))
        assert [len(from_file(1, config=str(path)).agents) for _ in range(2)] == [number] * 2
    path.write_text(text.format(5))
    os.utime(path, (30, 30))  # nobody changed it, says the clock
    assert len(from_file(1, config=str(path)).agents) == 3


def test_the_users_settings_win_over_an_algorithms_own():
    given = params(settings={"ppo": {"rollout": 16, "epochs": 3, "learning_rate": 0.5}})
    settings = settings_of(read_params(given), make_world(read_params(given), 1), None).ppo
    assert (settings.epochs, settings.learning_rate, settings.rollout) == (3, 0.5, 16)
    assert settings.gae_lambda == 1.0  # of the algorithm, as nobody said otherwise


def test_the_laws_of_worlds_hold():
    report = check_world(
        lambda num_worlds, seed: make_world(read_params(params()), num_worlds, seed),
        steps=60,
    )
    assert [str(finding) for finding in report.findings] == []


def test_kinds_with_masks_and_nested_actions_are_grouped():
    """Three policies over two kinds; the simulation refuses illegal actions and actions for the wrong agent."""
    world = make_world(read_params(crew_params()), 3, seed=1)
    assert [(kind.name, kind.slots) for kind in world.kinds] == [
        ("first", (0,)),
        ("others", (1, 2)),
        ("callers", (3, 4)),
    ]
    policy = RandomPolicy()
    policy.start(world, seed=2)
    step = world.reset()
    for _ in range(20):
        assert step.action_mask["others"]["action"].shape == (3, 2, 3)
        assert "action" not in step.action_mask["callers"]
        step = world.step(policy.act(step))
        step = world.reset(step.over)


def test_it_says_of_itself_what_the_world_inside_says():
    inner = make_world(
        read_params(changed(params(), "ray_tune.config.multiagent", {})), 2, seed=3, first_world=4
    )
    said = {
        "id": "mine",
        "version": 7,
        "persistent": True,
        "respawns": True,
        "dead_stay": True,
        "ignores_illegal": True,
        "teams": ((0, 1), (2,)),
        "privileged_view": True,
        "frames_per_step": 5,
        "tick_seconds": 0.6,
    }
    for name, value in said.items():
        assert getattr(inner, name) != value
        setattr(inner, name, value)
    world = PolicyWorld(inner, dict.fromkeys(inner.agents, "all"), 3, 4)
    assert {name: getattr(world, name) for name in said} == said
    assert (world.num_worlds, world.first_world, world.agents) == (2, 4, inner.agents)
    inner.describe = lambda w: [f"words of {w}"]
    assert world.describe(1) == ["words of 1"]


def test_one_policy_for_agents_with_different_spaces_is_refused():
    inner = make_world(read_params(changed(crew_params(), "ray_tune.config.multiagent", {})), 1)
    with pytest.raises(UserError, match="caller0 has other spaces than digger0"):
        PolicyWorld(inner, dict.fromkeys(inner.agents, "all"))


def test_observations_of_agents_are_read_by_their_paths():
    readers, assigned = read(read_params(crew_params()))
    manager = crew()
    observations = manager.reset(seed=3)
    assert list(readers) == ["first", "others", "callers"]
    leaves = readers[assigned["caller1"]].leaves(observations["caller1"])
    assert set(leaves) == {"here.row", "seen"}
    assert leaves["seen"].shape == (2,)
