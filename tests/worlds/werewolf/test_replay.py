"""A recorded game is played again bit for bit: from its seed and its actions, alone or in any batch."""

from __future__ import annotations

import json

import numpy as np
import pytest

import interplay
from interplay.core import seeding
from interplay.core.policy import RandomPolicy

GAMES = {
    "werewolf/9-l1s9": {},
    "werewolf/multi-round": {},
    "werewolf/aiwolf13": {"roles": {"witch": 1, "hunter": 1, "guard": 1, "seer": 1}, "tie": "revote"},
    "werewolf/10": {"signal_length": 2, "arm": "signals_shuffled", "ballot_len": 3, "vote_depth": 2},
}
WORLDS, SEED = 3, 21
FIRST_DAY_TALK = 2  # step


def played(world_id: str, options: dict) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The actions of a batch of games and the hashes after the reset and every step, (W,) each."""
    world, policy = interplay.make_world(world_id, num_worlds=WORLDS, **options), RandomPolicy()
    timestep = world.reset(seeds=SEED)
    policy.start(world, SEED)
    actions, hashes = [], [world.hash()]
    while not timestep.over.all():
        actions.append(policy.act(timestep))
        timestep = world.step(actions[-1])
        hashes.append(world.hash())
    return actions, hashes


@pytest.mark.parametrize("world_id", GAMES)
def test_seed_and_actions_give_the_same_game_at_every_step(world_id):
    actions, hashes = played(world_id, GAMES[world_id])
    seeds = seeding.world_seeds(SEED, WORLDS)
    for w in range(WORLDS):
        # As text, and alone in another place than it was played.
        record = json.dumps([action[w].tolist() for action in actions])
        again = interplay.make_world(world_id, num_worlds=2, seed=99, **GAMES[world_id])
        again.reset(seeds=np.array([1, seeds[w]], np.uint64))
        assert again.hash()[1] == hashes[0][w]
        for step, action in enumerate(json.loads(record)):
            if again.timestep.over[1]:
                assert again.state.stream[1, 2] == step
                break
            again.step(np.array([np.zeros_like(action), action], np.int16))
            assert again.hash()[1] == hashes[step + 1][w], (w, step)


def test_another_word_or_seed_gives_another_game():
    actions, hashes = played("werewolf/9-l1s9", {})
    world = interplay.make_world("werewolf/9-l1s9")
    timestep = world.reset(seeds=seeding.world_seeds(SEED, 1))
    for step in range(FIRST_DAY_TALK):
        timestep = world.step(actions[step][:1])
        assert world.hash()[0] == hashes[step + 1][0]
    changed = actions[FIRST_DAY_TALK][:1].copy()
    speaker = np.flatnonzero(timestep.acting[0])[0]
    changed[0, speaker, 1] = (changed[0, speaker, 1] + 1) % 9
    world.step(changed)
    assert world.hash()[0] != hashes[FIRST_DAY_TALK + 1][0]
    world.reset(seeds=SEED + 1)
    assert world.hash()[0] != hashes[0][0]
