"""Scripted players that were saved between two phases go on as if they had not stopped: opponents in training that is resumed."""

from __future__ import annotations

from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.registry import make_policy, make_world

ID = "werewolf/9-l1s9"


def seated(name: str) -> tuple[World, Policy]:
    world, policy = make_world(ID, num_worlds=16, seed=3), make_policy(ID, name)
    world.reset()
    policy.start(world, 5)
    return world, policy


def play(world: World, policy: Policy, steps: int) -> list[int]:
    for _ in range(steps):
        over = world.step(policy.act(world.timestep)).over.copy()
        if over.any():
            world.reset(over)
            policy.forget(over)
    hashes: list[int] = world.hash().tolist()
    return hashes


def test_what_they_think_is_saved_with_them() -> None:
    world, policy = seated("bayes")
    play(world, policy, 9)
    state, memory = world.save(), policy.save()
    through = play(world, policy, 20)
    again, other = seated("bayes")
    again.load(state)
    other.load(memory)
    assert play(again, other, 20) == through
    # With its stream alone, and the thoughts of a beginner, it plays otherwise.
    again, beginner = seated("bayes")
    again.load(state)
    fresh = beginner.save()
    beginner.load(memory | {key: array for key, array in fresh.items() if key.startswith("belief/")})
    assert play(again, beginner, 20) != through
