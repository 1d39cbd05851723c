"""Frames: the network sees the last observations of a life and nothing of the life before, in training as in play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core.errors import UserError
from interplay.evaluate.episodes import play
from interplay.train import networks
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, train
from interplay.verbs.settings import build_settings
from tests.train.test_memory import learner_of, played
from tests.train.test_memory import settings_of as recurrent
from tests.train.toy_worlds import LIMIT, Corridor, make_corridor

pytestmark = pytest.mark.slow

STACK = 4


def settings_of(**own: Any) -> TrainSettings:
    network = {"kind": "mlp", "hidden": [8], "memory": "none", "memory_size": 64, "stack": STACK}
    changed = {**own, "network": network | own.get("network", {})}
    settings = recurrent(**changed).model_dump()
    settings["ppo"]["sequence"] = 16
    return TrainSettings.model_validate(settings)


def test_the_network_sees_the_last_observations_of_a_life() -> None:
    """Beside a slow twin, in a world whose agents wait for each other and whose lives end."""
    learner = learner_of(settings_of())
    shard = played(settings_of(), learner)
    pending, buffer = shard.collector.pending["agent"], shard.collector.buffer
    count, slots = pending.count, shard.collector.present.size
    assert pending.seen.memory is not None
    seen: list[list[np.ndarray]] = [[] for _ in range(slots)]
    ended = buffer.ended.reshape(len(buffer.ended), slots)
    row = 0
    for step in range(len(ended)):
        while row < count and pending.step[row] == step:
            slot = pending.slot[row]
            frames = ([np.zeros(2, np.float32)] * STACK + seen[slot])[-(STACK - 1) :]
            np.testing.assert_array_equal(pending.seen.memory[row], np.concatenate(frames))
            if pending.acts[row]:
                seen[slot].append(pending.seen.rows["float32"][row])
            row += 1
        for slot in np.flatnonzero(ended[step]):
            seen[slot] = []
    assert row == count
    assert ended.any()
    assert not pending.acts[:count].all()
    assert learner.networks["agent"].sequence == 1


def test_leaves_come_with_an_axis_of_frames() -> None:
    """The oldest first, each in its own shape; the space says so."""
    space = spaces.Dict(a=spaces.Box(1, 2, (2, 3), np.float32), b=spaces.Discrete(5))
    told: dict[str, Any] = {}

    def inner(space: spaces.Dict) -> Any:
        told["space"] = space
        return lambda seen: (told.update(seen), None, None)[1:]

    network = networks.StackedNetwork(inner, space, 3)
    assert network.memory_size == 14
    memory = jnp.zeros((1, 14))
    for t in range(1, 3):
        seen = {"a": jnp.full((1, 2, 3), t), "b": jnp.full((1,), 10 + t)}
        memory = network.remember(network.prepare(seen), memory)[2]
    assert told["a"].shape == (1, 3, 2, 3) == (1, *told["space"]["a"].shape)
    assert told["a"][0, :, 0, 0].tolist() == [0, 1, 2]
    assert told["b"].tolist() == [[0, 11, 12]]
    assert told["space"]["a"].low.min() == 1


def test_a_policy_in_play_sees_the_same_frames(tmp_path: Path) -> None:
    stack = 3
    run = train(
        settings_of(train={"max_updates": 1}, network={"stack": stack}), tmp_path / "run", make_corridor
    )
    policy, world = load_policy(run, greedy=True), Corridor(2, seed=4)
    policy.start(world)
    timestep, seen = world.reset(), []
    for _ in range(stack):  # nobody arrives so early
        seen.append(np.concatenate([timestep.observation["place"], timestep.observation["noise"]], axis=2))
        timestep = world.step(policy.act(timestep))
    kept = policy.save()["memory/agent"].reshape(2, 2, stack - 1, 2)
    assert np.array_equal(kept, np.stack(seen[-(stack - 1) :], axis=2))
    while not timestep.over.any():
        timestep = world.step(policy.act(timestep))
    assert world.state.steps.max() <= LIMIT
    policy.forget(timestep.over)
    assert not policy.save()["memory/agent"][timestep.over].any()
    with pytest.raises(UserError, match=r"its networks have memory \(network.stack = 3\)"):
        policy.probabilities({"place": np.zeros((1, 1)), "noise": np.zeros((1, 1))})


@pytest.mark.parametrize(
    ("network", "says"),
    [
        ({"memory": "gru"}, "stack = 4 beside memory = gru; leave one of them out"),
        ({"kind": "attention"}, "stack = 4: attention reads one observation; use kind = mlp"),
    ],
)
def test_what_cannot_see_frames_is_one_line(network: dict[str, Any], says: str) -> None:
    with pytest.raises(Exception, match=says):
        settings_of(network=network)


@pytest.mark.parametrize(("stack", "seed"), [(6, 0), (6, 1), (5, 0)])
def test_recall_is_solved_with_enough_frames(stack: int, seed: int, tmp_path: Path) -> None:
    """The cue of the first step is seen at the choice; with one frame less chance is the best that can be, 1 in 4."""
    words = [f"network.stack={stack}", "world.options.delay=4", "steps=60000", f"seed={seed}"]
    run = train(build_settings("matrix/recall", [*words, "train.quiet=true"], {}), tmp_path / "run")
    world = interplay.make_world("matrix/recall", num_worlds=64, delay=4)
    told = play(world, load_policy(run, greedy=True), 256, seed=7)["return"].mean()
    assert told > 0.95 if stack == 6 else told < 0.4
