"""Interfaces, spaces and values for tests: small, obvious, and of every kind that the laws speak of."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st

from interplay.core import masks
from interplay.core.ranges import FLAG, REAL
from interplay.core.spaces import action_choices
from interplay.interfaces import Interface
from interplay.interfaces.generic.counters import MultiBinObs
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.generic.vectors import ConcatVec
from interplay.interfaces.legal import map_mask
from interplay.interfaces.nests import map_nest, map_space


def moved(leaf, array, by):
    """Numbers moved on; choices go round in their space."""
    if isinstance(leaf, spaces.Box):
        return array + np.asarray(by, array.dtype)
    count = (
        leaf.nvec
        if isinstance(leaf, spaces.MultiDiscrete)
        else 2
        if isinstance(leaf, spaces.MultiBinary)
        else leaf.n
    )
    start = getattr(leaf, "start", 0)
    return ((array - start + by) % count + start).astype(leaf.dtype)


def open_sides(leaf):
    return spaces.Box(-np.inf, np.inf, leaf.shape, leaf.dtype) if isinstance(leaf, spaces.Box) else leaf


class Shift(Interface):
    """Adds to observations, and subtracts from actions; choices go round."""

    def __init__(self, inner=None, by=1):
        super().__init__(inner)
        self.by = by

    def _spaces(self, obs_space, act_space):
        self.seen, self.done = obs_space, act_space
        return map_space(open_sides, obs_space), act_space

    def _observe(self, obs):
        return map_nest(lambda leaf, array: moved(leaf, array, self.by), self.seen, obs)

    def _act(self, action):
        return map_nest(
            lambda leaf, array: array if isinstance(leaf, spaces.Box) else moved(leaf, array, -self.by),
            self.done,
            action,
        )

    def _mask(self, mask):
        return map_mask(self.turned, self.done, mask)

    def turned(self, leaf, mask):
        heads = np.split(mask, np.cumsum(action_choices(leaf))[:-1], axis=1)
        return np.concatenate([np.roll(head, self.by, axis=1) for head in heads], axis=1)


class Noise(Interface):
    """Adds random bits to the observation, new ones in each step, and how many came so far."""

    def _spaces(self, obs_space, act_space):
        self.bits = self.keep("bits", (3,), np.int8, FLAG)
        self.sum = self.keep("sum", (), np.float32, REAL)
        return spaces.Tuple([obs_space, spaces.MultiBinary(3), spaces.Box(0, np.inf, ())]), act_space

    def _note_observation(self, obs):
        self.bits[...] = self.ctx.uniform(3) < 0.5
        self.sum += self.bits.sum(axis=1)

    def _observe(self, obs):
        return obs, self.bits, self.sum


class Regroup(Interface):
    """Three entries as two: the first, and the others together."""

    def _spaces(self, obs_space, act_space):
        a, b, c = obs_space
        x, y, z = act_space
        return spaces.Tuple([a, spaces.Tuple([b, c])]), spaces.Tuple([x, spaces.Tuple([y, z])])

    def _observe(self, obs):
        return obs[0], obs[1:]

    def _act(self, action):
        return action[0], *action[1]

    def _mask(self, mask):
        return mask[0], mask[1:]


class Counting(Interface):
    """Counts how often each of its maps is asked."""

    def __init__(self, inner=None):
        super().__init__(inner)
        self.seen = self.noted = self.acted = 0

    def _observe(self, obs):
        self.seen += 1
        return obs

    def _note_observation(self, obs):
        self.noted += 1

    def _note_action(self, action):
        self.acted += 1


boxes = st.builds(
    lambda shape, dtype: spaces.Box(-9, 9, tuple(shape), dtype),
    st.lists(st.integers(1, 3), max_size=2),
    st.sampled_from([np.float32, np.float64, np.int32]),
)
choices = st.one_of(
    st.builds(spaces.Discrete, st.integers(1, 4), start=st.integers(-2, 2)),
    st.builds(
        lambda counts: spaces.MultiDiscrete(counts), st.lists(st.integers(1, 3), min_size=1, max_size=3)
    ),
    st.builds(spaces.MultiBinary, st.integers(1, 3)),
)


def nests(leaf, most=4):
    """Spaces of these leaves, in tuples and mappings."""
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            st.builds(spaces.Tuple, st.lists(part, min_size=1, max_size=3)),
            st.builds(
                lambda inside: spaces.Dict(list(zip("zab", inside, strict=False))),
                st.lists(part, min_size=1, max_size=3),
            ),
        ),
        max_leaves=most,
    )


observations = nests(st.one_of(boxes, choices))
actions = nests(st.one_of(boxes, choices), 3)

LAYERS = {
    "shift": lambda inner: Shift(inner, 2),
    "noise": Noise,
    "frames": lambda inner: FrameStack(inner, 2),
    "bins": lambda inner: MultiBinObs(inner, 8, (4, 2)),
    "raw action": lambda inner: PrevActObs(inner, raw=True, key="did"),
    "vector": ConcatVec,
    "nothing": Interface,
}


def built(names):
    """A stack of layers, the first innermost; what stands twice gets keys of its own."""
    stack = None
    for place, name in enumerate(names):
        if name == "raw action":
            stack = PrevActObs(stack, raw=True, key=f"did {place}")
        elif name == "bins":
            stack = MultiBinObs(stack, 8, (4, 2), key=f"bins {place}")
        else:
            stack = LAYERS[name](stack)
    return stack or Interface()


stacks = st.lists(st.sampled_from(sorted(LAYERS)), max_size=3)


def rows_of(space, rows):
    """B samples of a space as arrays with the axis B first."""
    return stacked(space, [space.sample() for _ in range(rows)])


def stacked(space, values):
    return map_nest(
        lambda leaf, *parts: np.stack([np.asarray(part, leaf.dtype) for part in parts]), space, *values
    )


def row(space, value, at):
    """One row as a single match has it."""
    return map_nest(lambda leaf, array: array[at].copy(), space, value)


def same(space, one, other):
    """Whether two values are equal, bit for bit."""
    pairs = []
    map_nest(
        lambda leaf, a, b: pairs.append(np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype),
        space,
        one,
        other,
    )
    return all(pairs)


def copied(space, value):
    return map_nest(lambda leaf, array: np.array(array), space, value)


def random_mask(space, rng, rows):
    """Some legal choice for every head."""

    def drawn(leaf):
        if isinstance(leaf, spaces.Box):
            return None
        heads = []
        for count in action_choices(leaf):
            legal = rng.random((rows, count)) < 0.5
            legal[np.arange(rows), rng.integers(count, size=rows)] = True
            heads.append(legal)
        return np.concatenate(heads, axis=1) if masks.length(leaf) else None

    return map_nest(drawn, space)
