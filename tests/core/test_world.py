"""The protocol's own part: what `World` checks so that worlds need not, and what `ArrayWorld` gives them."""

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.world import Kind
from tests.checker.sound_worlds import Camp, Drift


def play(world, steps, seed=0):
    """Plays random actions; the hashes after each step."""
    policy = RandomPolicy()
    policy.start(world, seed)
    hashes = []
    for _ in range(steps):
        world.step(policy.act(world.timestep))
        hashes.append(world.hash())
    return np.stack(hashes)


def test_first_reset_uses_the_constructions_seed_and_later_ones_go_on():
    one, two = Camp(3, seed=5), Camp(3, seed=99)
    one.reset()
    two.reset(seeds=5)
    assert (one.hash() == two.hash()).all()
    first = one.hash()
    one.reset()
    two.reset()
    assert (one.hash() == two.hash()).all()
    assert (one.hash() != first).all()


def test_explicit_seeds_at_the_first_reset_leave_nothing_behind():
    world = Camp(2, seed=1)
    world.reset(seeds=7)
    world.reset()
    other = Camp(2, seed=2)
    other.reset(seeds=7)
    other.reset()
    assert (world.hash() == other.hash()).all()


def test_a_refused_first_reset_changes_nothing():
    world, twin = Camp(2, seed=3), Camp(2, seed=3)
    with pytest.raises(RuntimeError, match="first reset"):
        world.reset(which=[0])
    world.reset()
    twin.reset()
    assert (world.hash() == twin.hash()).all()


def test_which_may_be_the_worlds_own_over_buffer():
    world = Camp(3)
    world.limit = 5
    world.reset()
    play(world, 5)
    assert world.timestep.over.all()
    world.reset(which=world.timestep.over)
    assert (world.state.clock == 0).all()
    assert world.timestep.acting.all()


@pytest.mark.parametrize("which", [[1], np.array([1]), np.array([False, True, False])])
def test_reset_restarts_only_the_named_worlds(which):
    world = Camp(3)
    world.reset()
    before = play(world, 9)[-1]
    world.reset(which=which)
    assert (world.hash() == before).tolist() == [True, False, True]


def test_reset_of_no_world_changes_nothing():
    world = Camp(2)
    world.reset()
    before = world.hash()
    world.reset(which=[])
    assert (world.hash() == before).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"which": [3]}, "name worlds by 0..2"),
        ({"which": [-1]}, "name worlds by 0..2"),
        ({"which": [0.5]}, "name worlds by 0..2"),
        ({"which": np.ones(4, bool)}, "shape"),
        ({"seeds": -1}, "0 to 2"),
        ({"seeds": 2**64}, "0 to 2"),
        ({"seeds": np.zeros(2, np.uint64)}, "unsigned integers"),
        ({"seeds": np.array([1, -1, 2])}, "unsigned integers"),
        ({"seeds": np.zeros(3)}, "unsigned integers"),
    ],
)
def test_bad_resets_are_refused_in_one_line_and_change_nothing(arguments, words):
    world = Camp(3)
    world.reset()
    before = world.hash()
    with pytest.raises(UserError, match=words) as error:
        world.reset(**arguments)
    assert "\n" not in str(error.value)
    assert (world.hash() == before).all()


def test_step_and_timestep_before_reset_are_refused():
    world = Camp(1)
    with pytest.raises(RuntimeError, match="call reset"):
        world.step(np.zeros((1, 4), np.int64))
    with pytest.raises(RuntimeError, match="call reset"):
        _ = world.timestep


def test_agents_and_kinds_are_checked():
    class Double(Camp):
        def __init__(self):
            kind = Kind("agent", (0, 1), Camp(1).observation_space, Camp(1).action_space)
            super(Camp, self).__init__(1, ["a", "a"], [kind])

    class Uncovered(Camp):
        def __init__(self):
            kind = Kind("agent", (0,), Camp(1).observation_space, Camp(1).action_space)
            super(Camp, self).__init__(1, ["a", "b"], [kind])

    with pytest.raises(UserError, match="a name of its own"):
        Double()
    with pytest.raises(UserError, match="kinds cover"):
        Uncovered()


def test_worlds_of_several_kinds_have_no_single_space_and_take_mappings():
    world = Drift(2)
    world.reset()
    with pytest.raises(UserError, match="kinds boat, buoy"):
        world.step({"boat": np.zeros((2, 2, 2))})
    assert set(world.by_kind(world.timestep.observation)) == {"boat", "buoy"}
    assert world.by_kind(None) == {"boat": None, "buoy": None}


def test_load_forgets_the_constructions_seed():
    world, other = Camp(2, seed=1), Camp(2, seed=2)
    world.reset()
    other.load(world.save())
    other.reset()
    world.reset()
    assert (world.hash() == other.hash()).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("food"), "food"),
        (lambda s: s.update(extra=np.zeros(2)), "extra"),
        (lambda s: s.update(food=s["food"][:1]), "snapshot field food"),
        (lambda s: s.update(clock=s["clock"].astype(np.float64)), "snapshot field clock"),
    ],
)
def test_foreign_snapshots_are_refused_and_change_nothing(change, words):
    world = Camp(2)
    world.reset()
    play(world, 5)
    before, snapshot = world.hash(), world.save()
    snapshot["cell"] = snapshot["cell"] + 1
    change(snapshot)
    with pytest.raises(UserError, match=words):
        world.load(snapshot)
    assert (world.hash() == before).all()
