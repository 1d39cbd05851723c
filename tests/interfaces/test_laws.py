"""The laws of interfaces (specification interfaces 2.2), for random stacks, random nested spaces, one match and batches."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.interfaces import Combine, Interface
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.nests import flat, leaves
from tests.interfaces import toys
from tests.interfaces.toys import (
    Noise,
    Regroup,
    Shift,
    built,
    copied,
    random_mask,
    row,
    rows_of,
    same,
    stacked,
)

some = settings(max_examples=60)
SEEDS = np.arange(7, 10, dtype=np.uint64)  # of three rows
STEPS = 5


def seeded(*parts):
    for number, space in enumerate(parts):
        space.seed(number)
    return parts


def play(stack, seen, done, steps=STEPS, decided=True):
    """Everything that a stack of three rows says in an episode: [(observation, action)]."""
    told = []
    stack.reset(seeds=SEEDS)
    for t in range(steps):
        obs = stack.obs_trans(seen[t])
        told.append((obs, stack.act_trans(done[t], decided)))
    return told


def material(stack, steps=STEPS, rows=3):
    """Random raw observations and outer actions of a bound stack."""
    ctx = stack.ctx
    seeded(ctx.raw_observation_space, stack.action_space)
    return (
        [rows_of(ctx.raw_observation_space, rows) for _ in range(steps)],
        [rows_of(stack.action_space, rows) for _ in range(steps)],
    )


def bound(names, obs, act, rows=3):
    stack = built(names)
    stack.setup(obs, act, num_worlds=rows)
    return stack


@some
@given(toys.observations, toys.actions)
def test_l1_a_base_interface_changes_nothing(obs, act):
    stack = bound([], obs, act)
    seen, done = material(stack)
    for t, (shown, deed) in enumerate(play(stack, seen, done)):
        assert same(obs, shown, seen[t])
        assert same(act, deed, done[t])
    mask = random_mask(act, np.random.default_rng(0), 3)
    for one, other in zip(flat(act, stack.mask_trans(mask)), flat(act, mask), strict=True):
        assert np.array_equal(one, other)
    assert stack.observation_space == obs
    assert stack.action_space == act


def test_l2_a_stack_is_walked_inner_first_outward_and_outer_first_inward():
    class Named(Interface):
        def __init__(self, inner=None, name="", log=None):
            super().__init__(inner)
            self.name, self.log = name, LOG

        def _act(self, action):
            self.log.append(self.name)
            return action

    LOG = []
    stack = Shift(Named(Shift(Named(None, "A")), "B"), by=2)
    stack.setup(spaces.Box(0, 9, ()), spaces.Discrete(9))
    stack.reset()
    assert stack.obs_trans(np.float32(0)) == 3
    assert stack.act_trans(5) == 2
    assert LOG == ["B", "A"]
    assert repr(stack).index("name='A'") < repr(stack).index("name='B'")


@some
@given(toys.stacks, toys.stacks, toys.observations, toys.observations, toys.actions, toys.actions)
def test_l3_combine_hands_each_entry_to_its_child(one, two, a, b, x, y):
    both = Combine(None, [built(one), built(two)]).setup(
        spaces.Tuple([a, b]), spaces.Tuple([x, y]), num_worlds=3
    )
    seen, done = material(both)
    told = play(both, seen, done)
    for k, names in enumerate((one, two)):
        if "noise" in names:
            continue  # children draw from streams of their own
        alone = bound(names, (a, b)[k], (x, y)[k])
        assert alone.observation_space == both.observation_space[k]
        assert alone.action_space == both.action_space[k]
        parts = play(alone, [s[k] for s in seen], [d[k] for d in done])
        for (shown, deed), (own, own_deed) in zip(told, parts, strict=True):
            assert same(alone.observation_space, shown[k], own)
            assert same((x, y)[k], deed[k], own_deed)
    mask = random_mask(spaces.Tuple([x, y]), np.random.default_rng(1), 3)
    assert len(both.mask_trans(mask)) == 2


def three(leaf):
    return spaces.Tuple([leaf] * 3)


def test_l3_and_d4_children_get_what_the_outer_one_made_of_the_entries():
    class Asking(Interface):
        def _begin(self, which, obs):
            self.began, self.info = copy.deepcopy(obs), self.ctx.info

        def _observe(self, obs):
            self.joint = self.ctx.parent.raw
            assert self.ctx.input is self.ctx.raw
            return obs

    one, two = Asking(), Asking()
    stack = Combine(Regroup(), [one, two])
    box, choice = spaces.Box(0, 9, ()), spaces.Discrete(4)
    stack.setup(three(box), three(choice))
    assert stack.observation_space == spaces.Tuple([box, spaces.Tuple([box, box])])
    assert two.ctx.raw_action_space == spaces.Tuple([choice, choice])
    stack.reset(info={"side": "left"})
    stack.obs_trans(tuple(np.float32([1, 2, 3])))
    assert float(one.began[0]) == 1
    assert [float(part[0]) for part in two.began] == [2, 3]
    assert one.info == two.info == {"side": "left"}
    assert len(one.joint) == 3  # the parent's raw observation has the three
    assert stack.act_trans((1, (2, 3))) == (1, 2, 3)


@some
@given(toys.observations, toys.actions)
def test_l4_combine_of_nothing_is_what_lies_below(a, x):
    obs, act = three(a), three(x)
    plain, empty = Regroup(), Combine(Regroup(), [None, None])
    for stack in (plain, empty):
        stack.setup(obs, act, num_worlds=3)
    assert plain.observation_space == empty.observation_space
    seen, done = material(plain)
    for (one, deed), (other, other_deed) in zip(
        play(plain, seen, done), play(empty, seen, done), strict=True
    ):
        assert same(plain.observation_space, one, other)
        assert same(act, deed, other_deed)


@some
@given(
    st.lists(st.sampled_from(["shift", "frames", "bins", "vector"]), min_size=4, max_size=4),
    toys.observations,
    toys.actions,
)
def test_l5_combines_stack_and_stacks_combine(names, a, x):
    a1, a2, b1, b2 = names
    assume(not (a1 == a2 == "bins") and not (b1 == b2 == "bins"))
    layer = toys.LAYERS
    sides = Combine(None, [layer[a2](layer[a1](None)), layer[b2](layer[b1](None))])
    floors = Combine(Combine(None, [layer[a1](None), layer[b1](None)]), [layer[a2](None), layer[b2](None)])
    obs, act = spaces.Tuple([a, a]), spaces.Tuple([x, x])
    for stack in (sides, floors):
        stack.setup(obs, act, num_worlds=3)
    assert sides.observation_space == floors.observation_space
    seen, done = material(sides)
    for (one, deed), (other, other_deed) in zip(
        play(sides, seen, done), play(floors, seen, done), strict=True
    ):
        assert same(sides.observation_space, one, other)
        assert same(act, deed, other_deed)


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_l8_observations_and_actions_lie_in_their_spaces(names, obs, act):
    stack = built(names)
    stack.setup(obs, act)
    seeded(obs, stack.observation_space, stack.action_space)
    assert stack.observation_space.sample() in stack.observation_space
    stack.reset()
    for _ in range(STEPS):
        assert stack.obs_trans(obs.sample()) in stack.observation_space
        assert stack.act_trans(stack.action_space.sample()) in act


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_l9_episodes_leave_no_trace(names, obs, act):
    stack, new = bound(names, obs, act), bound(names, obs, act)
    seen, done = material(stack)
    play(stack, seen, done)
    seen, done = material(new)
    for (one, deed), (other, other_deed) in zip(play(stack, seen, done), play(new, seen, done), strict=True):
        assert same(stack.observation_space, one, other)
        assert same(act, deed, other_deed)


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_l10_looking_again_moves_nothing(names, obs, act):
    stack = bound(names, obs, act)
    seen, done = material(stack)
    stack.reset(seeds=SEEDS)
    for t in range(STEPS):
        shown = stack.obs_trans(seen[t])
        before = stack.save()
        for _ in range(2):
            assert same(stack.observation_space, stack.look(seen[t]), shown)
        stack.act_trans(done[t], False)
        after = stack.save()
        assert all(np.array_equal(after[name], array) for name, array in before.items())
        stack.act_trans(done[t])


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_l11_results_share_no_memory_and_raw_observations_stay(names, obs, act):
    stack = bound(names, obs, act)
    seen, done = material(stack)
    kept = []
    stack.reset(seeds=SEEDS)
    for t in range(STEPS):
        before, wish = copied(obs, seen[t]), copied(stack.action_space, done[t])
        shown, deed = stack.obs_trans(seen[t]), stack.act_trans(done[t])
        assert same(obs, before, seen[t])
        assert same(stack.action_space, wish, done[t])
        arrays = [*flat(stack.observation_space, shown), *flat(act, deed)]
        others = [*flat(obs, seen[t]), *flat(stack.action_space, done[t]), *stack._arrays().values()]
        for k, array in enumerate(arrays):
            assert array.flags.writeable
            assert not any(np.shares_memory(array, other) for other in [*others, *arrays[:k]])
        kept.append((copied(stack.observation_space, shown), shown))
    for then, now in kept:
        assert same(stack.observation_space, then, now)


@some
@given(
    toys.stacks,
    toys.observations,
    toys.actions,
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=STEPS, max_size=STEPS),
)
def test_l12_a_batch_is_its_rows(names, obs, act, masks):
    """Rows begin, move and decide at times of their own; each is what a match by itself is."""
    batch = bound(names, obs, act)
    singles = [built(names) for _ in range(3)]
    for b, single in enumerate(singles):
        single.setup(obs, act, seed=SEEDS[b : b + 1])
    seen, done = material(batch)
    batch.reset(seeds=SEEDS)
    mask = random_mask(act, np.random.default_rng(2), 3)
    for t in range(STEPS):
        moves = np.array(masks[t]) | (t == 0)
        begins = moves & np.array(masks[-t])
        if t:
            batch.reset(which=begins)
        shown = batch.obs_trans(seen[t], moves)
        deed = batch.act_trans(done[t], moves)
        legal = batch.mask_trans(mask)
        for b in np.flatnonzero(moves):
            single = singles[b]
            if begins[b] and t:
                single.reset()
            own = single.obs_trans(row(obs, seen[t], b))
            space, outer = single.observation_space, single.action_space
            assert same(space, stacked(space, [own]), stacked(space, [row(space, shown, b)]))
            own_deed = single.act_trans(row(outer, done[t], b))
            assert same(act, stacked(act, [own_deed]), stacked(act, [row(act, deed, b)]))
            alone = single.mask_trans(
                None if mask is None else toys.map_mask(lambda _, m, b=b: m[b], act, mask)
            )
            for one, other in zip(flat(outer, alone), flat(outer, legal), strict=True):
                assert (one is None and other is None) or np.array_equal(one, other[b])


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_what_is_saved_goes_on_alike_and_strangers_are_refused(names, obs, act):
    stack, other = bound(names, obs, act), bound(names, obs, act)
    seen, done = material(stack)
    play(stack, seen, done, 3)
    other.load(stack.save())
    for t in range(3, STEPS):
        assert same(stack.observation_space, stack.obs_trans(seen[t]), other.obs_trans(seen[t]))
        stack.act_trans(done[t])
        other.act_trans(done[t])
    saved = stack.save()
    assert all(np.array_equal(saved[name], array) for name, array in other.save().items())
    for name in saved:
        less = {key: array for key, array in saved.items() if key != name}
        with pytest.raises(UserError, match="do not match"):
            other.load(less)
        with pytest.raises(UserError, match="snapshot field"):
            other.load({**saved, name: saved[name][:2]})


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_a_copy_in_the_middle_of_an_episode_goes_on_alike_and_shares_nothing(names, obs, act):
    stack = bound(names, obs, act)
    seen, done = material(stack)
    play(stack, seen, done, 2)
    twin = copy.deepcopy(stack)
    for t in range(2, STEPS):
        one, two = stack.obs_trans(seen[t]), twin.obs_trans(seen[t])
        assert same(stack.observation_space, one, two)
        kept = [*stack._arrays().values(), *twin._arrays().values()]
        for array in (*flat(stack.observation_space, one), *flat(stack.observation_space, two)):
            assert not any(np.shares_memory(array, other) for other in kept)
        stack.act_trans(done[t])
        twin.act_trans(done[t])


def test_memory_that_cannot_be_is_refused_and_nothing_changes():
    stack = Noise(FrameStack(k=2)).setup(spaces.Box(0, 1, (2,)), spaces.Discrete(2), num_worlds=2)
    stack.reset()
    stack.obs_trans(np.ones((2, 2), np.float32))
    saved = stack.save()
    for name, value in (
        ("1-Noise/sum", np.nan),
        ("0-FrameStack/frames/float32", 7),
        ("step", -1),
        ("1-Noise/bits", 2),
    ):
        wild = {key: array.copy() for key, array in saved.items()}
        wild[name].reshape(-1)[0] = value
        with pytest.raises(UserError, match="outside"):
            stack.load(wild)
        assert all(np.array_equal(array, saved[key]) for key, array in stack.save().items())


@some
@given(toys.stacks, toys.observations, toys.actions)
def test_a_clone_is_configured_alike_and_bound_to_nothing(names, obs, act):
    stack = bound(names, obs, act)
    twin = stack.clone()
    assert repr(twin) == repr(stack)
    assert not any(one.bound for one in twin.chain)
    twin.setup(obs, act, num_worlds=3)
    assert twin.observation_space == stack.observation_space
    seen, done = material(stack)
    for (one, _), (other, _) in zip(play(stack, seen, done), play(twin, seen, done), strict=True):
        assert same(stack.observation_space, one, other)


def test_every_leaf_has_a_path():
    space = spaces.Dict(b=spaces.Tuple([spaces.Discrete(2)]), a=spaces.Discrete(3))
    assert [path for path, _ in leaves(space)] == ["a", "b/0"] or [path for path, _ in leaves(space)] == [
        "b/0",
        "a",
    ]
    assert [path for path, _ in leaves(spaces.Discrete(2))] == [""]
