"""MultiCorridor as registered worlds: its numbers, its scripted player, its two orders."""

from __future__ import annotations

import pytest

import interplay
from interplay.evaluate import play
from interplay.registry import make_policy, training_settings

IDS = ["simulation/multi-corridor", "simulation/multi-corridor-turns"]


@pytest.mark.parametrize("world_id", IDS)
def test_the_walker_brings_everybody_to_the_end(world_id):
    world = interplay.make_world(world_id, num_worlds=8)
    table = play(world, make_policy(world_id, "walker"), episodes=16)
    assert table["episode_return"].min() > 100 - 4 * 5, "at most a few waits and pushes each"
    assert table["episode_length"].max() < world_limit(world_id)


def world_limit(world_id):
    return 60 if world_id == IDS[0] else 300


def test_in_turns_one_acts():
    assert interplay.make_world(IDS[0]).reset().acting.sum() == 5
    assert interplay.make_world(IDS[1]).reset().acting.sum() == 1


def test_options_are_the_simulations():
    world = interplay.make_world(IDS[0], end=4, num_agents=2, time_limit=None)
    assert world.agents == ("agent0", "agent1")
    assert world.observation_space["position"].high.tolist() == [3]


def test_training_begins_with_settings_of_its_own():
    assert training_settings(IDS[0])["network"] == {"kind": "mlp", "input_scale": True}
