"""`MaskedMultiAgentEnv`: the same game as without it, flattened, and the masks that the world gives."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

import interplay
from interplay.connect.rllib import MaskedMultiAgentEnv, WorldMultiAgentEnv
from interplay.connect.werewolf import make_role_named
from interplay.connect.world_env import WorldEnv
from tests.connect.toys import Fighter


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_role_named("werewolf/9-l1s9", illegal="raise"),
        lambda: interplay.make("werewolf/6", illegal="raise"),
        lambda: interplay.make("dilemma/fixed"),
    ],
)
def test_rows_are_those_of_the_plain_game_flattened(make) -> None:
    masked, plain = MaskedMultiAgentEnv(make()), WorldMultiAgentEnv(make())
    rng = np.random.default_rng(0)
    (ours, _), (theirs, infos) = masked.reset(seed=7), plain.reset(seed=7)
    for _ in range(200):
        assert ours.keys() == theirs.keys()
        actions = {}
        for name, row in ours.items():
            assert masked.observation_spaces[name].contains(row), name
            flat = spaces.flatten(plain.observation_spaces[name], theirs[name])
            assert np.array_equal(row["observations"], np.asarray(flat, np.float32))
            legal = row["action_mask"].astype(bool)
            if "action_mask" in infos[name]:
                told = infos[name]["action_mask"]
                told = np.concatenate([np.ravel(part) for part in told]) if isinstance(told, tuple) else told
                assert np.array_equal(legal, np.ravel(told).astype(bool))
            else:
                assert legal.all()
            actions[name] = pick(masked.action_spaces[name], legal, rng)
        ours, rewards, over, cut, _ = masked.step(actions)  # with illegal = raise: every choice was legal
        theirs, *rest, infos = plain.step(actions)
        assert [rewards, over, cut] == rest
        if over["__all__"] or cut["__all__"]:
            return
    raise AssertionError("the game never ends")


def test_masks_stand_in_the_order_of_rllibs_logits():
    env = MaskedMultiAgentEnv(WorldEnv(Fighter()))
    seen, _ = env.reset(seed=1)
    assert list(env.action_spaces["a"]) == ["attack", "move"]
    assert seen["a"]["action_mask"].tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert seen in env.observation_space


def pick(space: spaces.Space, legal: np.ndarray, rng: np.random.Generator):
    """A legal choice of each head, read off the one row that the mask is."""
    if isinstance(space, spaces.Discrete):
        return int(space.start + rng.choice(np.flatnonzero(legal)))
    parts = np.split(legal, np.cumsum(space.nvec)[:-1])
    return np.array([rng.choice(np.flatnonzero(part)) for part in parts], space.dtype)
