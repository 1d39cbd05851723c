"""Worlds with respawns in SB3: slots are its environments, lives its episodes; empty slots are refused."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from tests.connect.relay import Relay

pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")

from stable_baselines3 import PPO

from interplay.connect.sb3 import SB3VecEnv

FULL = {
    "slots": 8,
    "interior": 20,
    "npop": 2,
    "prefill": 8,
    "cap_draw": "fixed",
    "respawn": "immediate",
    "food": 6,
    "water": 6,
}


def test_each_life_is_an_episode():
    env = SB3VecEnv(Relay(1, story=("oo*o+oo", "ooooooo")))
    env.reset()
    told = [env.step(np.zeros(2, int)) for _ in range(6)]
    assert [tuple(dones) for _, _, dones, _ in told[:5]] == [(0, 0), (1, 0), (0, 0), (1, 0), (0, 0)]
    first, second = told[1][3][0], told[3][3][0]
    assert (first["episode"]["r"], first["episode"]["l"]) == (pytest.approx(0.03), 2)
    assert (second["episode"]["r"], second["episode"]["l"]) == (pytest.approx(0.07), 2)
    third, whole = (told[5][3][slot]["episode"] for slot in (0, 1))
    assert (third["r"], third["l"]) == (pytest.approx(0.11), 2)
    assert (whole["r"], whole["l"]) == (pytest.approx(6.21), 6)  # over the ends of slot 0's lives
    assert (first["TimeLimit.truncated"], second["TimeLimit.truncated"]) == (False, True)
    assert first["terminal_observation"]["place"] == second["terminal_observation"]["place"] == 0
    assert told[1][0]["place"].tolist() == [[2], [102]], "what is shown is the next life's"


def test_an_idle_slot_lives_on_when_another_one_ends():
    world = Relay(1, story=("oox----", "oo.oooo"))
    world.respawns = False
    env = SB3VecEnv(world)
    env.reset()
    told = [env.step(np.zeros(2, int))[3] for _ in range(6)]
    assert [told[t][slot]["episode"]["l"] for t, slot in ((1, 0), (5, 1))] == [2, 6]
    assert "episode" not in told[5][0]


def test_an_empty_slot_is_one_line():
    message = r"slot_1 of world 0 stands empty, SB3 would learn from it; use our trainer"
    with pytest.raises(UserError, match=message) as caught:
        SB3VecEnv(Relay(1, story=("oo", "-o"))).reset()
    assert "\n" not in str(caught.value)
    env = SB3VecEnv(Relay(1, story=("oooo", "oxoo")))
    env.reset()
    with pytest.raises(UserError, match=message):
        env.step(np.zeros(2, int))


def test_ppo_trains_where_every_slot_is_filled():
    env = SB3VecEnv(interplay.make_world("mmo/combat", num_worlds=2, **FULL))
    model = PPO("MultiInputPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(512)
    lives = [info["l"] for info in model.ep_info_buffer]
    assert lives
    assert max(lives) <= 32


def test_the_persistent_world_as_it_is_has_empty_slots():
    with pytest.raises(UserError, match=r"respawn = .immediate."):
        SB3VecEnv(interplay.make_world("mmo/forage")).reset()
