"""Interfaces for Pong beside the game's own pictures (specification interfaces 9 and 10, D32; games 2.5)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces import from_settings
from interplay.interfaces.pong import NEARLY, Shrinking
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_world
from interplay.worlds.pong.render import picture
from tests.interfaces import toys

SMALL = ["PongImageObs", "PongPreprocess", "PongDiscreteAct"]
STACKED = [{"name": "PongPreprocess", "index": "pictures"}]
RAW = spaces.Dict(numbers=spaces.Box(-1, 1, (11,), np.float32))
WHOLE = np.array([1, 2, 3])  # actions that leave bats at whole pixels: half and a quarter of 16


def worlds_seen(names, num_worlds=3, id="pong/2p", **options):
    return InterfacedWorld(make_world(id, num_worlds=num_worlds, seed=4, **options), {"agent": names})


def painted(world, seat):
    return np.stack([picture(world.inner.state, w, seat) for w in range(world.num_worlds)])


def between_pixels(state):
    """(W,) whether something stands so near below a whole pixel that rounding down could go either way."""
    places = np.concatenate([state.bat["y"], state.ball["x"][:, None], state.ball["y"][:, None]], axis=1)
    return ((places % 1 > 1 - 2 * NEARLY) & (places % 1 < 1)).any(axis=1)


@pytest.mark.parametrize("actions", [WHOLE, np.arange(6)])
def test_the_picture_is_the_one_that_the_game_paints(actions):
    world, rng = worlds_seen(["PongImageObs"], rounds=20), np.random.default_rng(1)
    step, near, fractions, scores = world.reset(), 0, 0, set()
    for _ in range(400):
        state = world.inner.state
        vague = between_pixels(state)
        near += vague.sum()
        fractions += (state.bat["y"] % 1 != 0).sum()
        scores |= set(state.bat["points"].ravel().tolist())
        for seat in (0, 1):
            shown = step.observation["observation"][:, seat]
            assert np.array_equal(shown[~vague], painted(world, seat)[~vague])
        step = world.step(rng.choice(actions, (3, 2)))
    assert len(scores) > 2
    assert near == 0 if actions is WHOLE else near < 200 < fractions, (near, fractions)


def test_two_digits_and_both_ends_of_the_field():
    world = worlds_seen(["PongImageObs"], num_worlds=4)
    world.reset()
    saved = world.inner.save()
    saved["bat.points"][...] = [[0, 12], [7, 13], [20, 0], [10, 10]]
    saved["ball.rounds"][...] = [12, 20, 20, 20]
    saved["over"][...], saved["acting"][1:] = [False, True, True, True], False
    saved["bat.y"][...] = [[34, 178], [50, 177], [100, 34], [178, 60]]
    saved["ball.x"][...], saved["ball.y"][...] = [0, 158, 17, 141], [34, 190, 100, 60]  # two lie on bats
    world.inner.load(saved)
    raw = world.inner.timestep.observation
    stack = world.interfaces["agent"]
    shown = stack.look({"numbers": raw["numbers"].reshape(8, 11)}).reshape(4, 2, 210, 160, 3)
    for seat in (0, 1):
        assert np.array_equal(shown[:, seat], painted(world, seat))


def test_d32_mirrored_states_give_mirrored_pictures():
    """Both sides changed, everybody sees what the other saw; the field of one is the other's mirrored."""
    world = worlds_seen(["PongImageObs"], num_worlds=2)
    world.reset(seeds=np.array([3, 3], np.uint64))
    rng = np.random.default_rng(2)
    for _ in range(60):
        step = world.step(np.repeat(rng.choice(WHOLE, (1, 2)), 2, axis=0))
    saved = world.inner.save()
    for name in ("bat.y", "bat.speed", "bat.points"):
        saved[name][1] = saved[name][0, ::-1]
    saved["ball.x"][1], saved["ball.vx"][1] = 158 - saved["ball.x"][0], -saved["ball.vx"][0]
    seen = world.inner.load(saved).observation["numbers"].reshape(4, 11)
    shown = world.interfaces["agent"].look({"numbers": seen}).reshape(2, 2, 210, 160, 3)
    assert np.array_equal(shown[0, 0], shown[1, 1])
    assert np.array_equal(shown[0, 1], shown[1, 0])
    assert np.array_equal(shown[0, 0, 34:194], shown[0, 1, 34:194, ::-1])
    assert np.array_equal(step.observation["observation"][0], shown[0])


def test_both_ways_lead_to_the_same_small_pictures():
    large, small = worlds_seen(SMALL), worlds_seen(STACKED, id="pong/2p-pictures")
    one, two = large.reset(), small.reset()
    rng = np.random.default_rng(3)
    for t in range(150):
        seen, other = one.observation["observation"], two.observation["pictures"]
        assert seen.dtype == other.dtype == np.float32
        assert seen.shape == (3, 2, 84, 84, 4)
        assert np.array_equal(seen, other)
        action = rng.choice(WHOLE, (3, 2))
        one, two = large.step(action), small.step(action)
        if t == 70:
            again = np.array([True, False, True])
            one, two = large.reset(again), small.reset(again)
            assert np.array_equal(seen[1] != 0, other[1] != 0)


def test_small_pictures_are_those_of_a_slow_twin():
    rng = np.random.default_rng(4)
    pictures = rng.integers(0, 256, (2, 10, 15, 3), dtype=np.uint8)
    grey = (pictures.astype(int) @ [299, 587, 114] + 500) // 1000
    fine = np.repeat(np.repeat(grey, 6, axis=1), 6, axis=2)  # ten rows and fifteen columns as six each
    sums = fine.reshape(2, 6, 10, 6, 15).sum(axis=(2, 4))
    assert np.array_equal(Shrinking((10, 15), 6)(pictures), (2 * sums + 150) // 300)


def test_sums_of_odd_sizes_are_exact_too():
    """1009 and 1013 share no divisor with 84: a white picture of so many parts is white."""
    assert (Shrinking((1009, 1013), 84)(np.full((1, 1009, 1013, 3), 255, np.uint8)) == 255).all()


def material(rng, rows):
    """Random numbers of Pong, bats and ball at whole pixels."""
    numbers = rng.uniform(-1, 1, (rows, 11)).astype(np.float32)
    numbers[:, [0, 2]] = 2 * rng.integers(0, 145, (rows, 2)) / 144 - 1
    numbers[:, 4], numbers[:, 5] = (
        2 * rng.integers(0, 159, rows) / 158 - 1,
        2 * rng.integers(0, 157, rows) / 156 - 1,
    )
    numbers[:, 8:10] = rng.integers(0, 21, (rows, 2)) / 20
    return {"numbers": numbers}


@pytest.mark.parametrize("names", [["PongImageObs"], SMALL], ids=len)
def test_the_laws_on_random_numbers(names):
    """L8 to L12: in the space, no trace of former episodes, looking moves nothing, no shared memory, rows as matches of their own."""
    rng, act = np.random.default_rng(5), spaces.Discrete(6)
    batch = from_settings(names).setup(RAW, act, num_worlds=3)
    singles = [from_settings(names).setup(RAW, act) for _ in range(3)]
    space = batch.observation_space
    for episode in range(2):
        batch.reset()
        for single in singles:
            single.reset()
        for _ in range(6):
            given = material(rng, 3)
            raw = toys.copied(RAW, given)
            shown = batch.obs_trans(given)
            assert toys.same(RAW, raw, given)
            assert toys.same(space, batch.look(given), shown)
            assert not any(np.shares_memory(shown, kept) for kept in batch._arrays().values())
            for b, single in enumerate(singles):
                own = single.obs_trans(toys.row(RAW, given, b))
                assert own in space
                assert np.array_equal(own, shown[b])
            deed = np.array([0, 3, 5])
            assert np.array_equal(batch.act_trans(deed), deed)
        if episode == 0 and len(names) == 1:
            assert batch.save()["step"].tolist() == [5, 5, 5]


def test_rows_that_stand_still_keep_their_pictures():
    rng = np.random.default_rng(6)
    stack = from_settings(SMALL).setup(RAW, spaces.Discrete(6), num_worlds=2)
    stack.reset()
    first = stack.obs_trans(material(rng, 2))
    later = stack.obs_trans(material(rng, 2), np.array([True, False]))
    assert np.array_equal(later[1], first[1])
    assert np.array_equal(later[0, ..., :3], first[0, ..., 1:])
    assert not np.array_equal(later[0, ..., 3], first[0, ..., 3])


def test_rounds_are_those_of_the_world():
    numbers = material(np.random.default_rng(7), 1)
    numbers["numbers"][:, 8] = np.float32(1 / 15)
    stack = from_settings(["PongImageObs"]).setup(RAW, spaces.Discrete(6), num_worlds=1)
    stack.reset()
    with pytest.raises(UserError, match="the world's rounds"):
        stack.obs_trans(numbers)
