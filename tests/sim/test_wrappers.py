"""Wrappers: specification 2.4 (W1 to W6), and the faults F13, F16 and F17."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.sim import Agent, Box
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import (
    FlattenActionWrapper,
    FlattenWrapper,
    RavelActionWrapper,
    RavelDiscreteWrapper,
    SARWrapper,
    Wrapper,
)
from interplay.sim.wrappers.flatten_wrapper import flatdim, flatten, flatten_space, unflatten
from interplay.sim.wrappers.ravel_discrete_wrapper import check_space, ravel, ravel_space, unravel
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.sim.toys import Countdown

# The example of the manual, 2.1.4.
MANUAL = spaces.Dict(
    {
        "a": spaces.MultiDiscrete([5, 3]),
        "b": spaces.MultiBinary(4),
        "c": Box(np.array([[-2, 6, 3], [0, 0, 1]]), np.array([[2, 12, 5], [2, 4, 2]]), dtype=int),
        "d": spaces.Dict({1: spaces.Discrete(3), 2: Box(1, 3, (2,), int)}),
        "e": spaces.Tuple(
            (
                spaces.MultiDiscrete([4, 1, 5]),
                spaces.MultiBinary(2),
                spaces.Dict({"my_dict": spaces.Discrete(11)}),
            )
        ),
        "f": spaces.Discrete(6),
    }
)
POINT: dict[str, Any] = {
    "a": [3, 1],
    "b": [0, 1, 1, 0],
    "c": np.array([[0, 7, 5], [1, 3, 1]]),
    "d": {1: 2, 2: np.array([1, 3])},
    "e": ([1, 0, 4], [1, 1], {"my_dict": 5}),
    "f": 1,
}


def test_w5_the_manuals_number():
    assert ravel_space(MANUAL) == spaces.Discrete(107775360000)
    assert ravel(MANUAL, POINT) == 74748022765


def test_w3_the_manuals_array():
    box = flatten_space(MANUAL)
    assert box.low.tolist() == [0] * 6 + [-2, 6, 3, 0, 0, 1, 0, 1, 1] + [0] * 7
    assert box.high.tolist() == [4, 2, 1, 1, 1, 1, 2, 12, 5, 2, 4, 2, 2, 3, 3, 3, 0, 4, 1, 1, 10, 5]
    assert (box.dtype, box.shape) == (np.int64, (22,))
    flat = flatten(MANUAL, POINT)
    assert flat.tolist() == [3, 1, 0, 1, 1, 0, 0, 7, 5, 1, 3, 1, 2, 1, 3, 1, 0, 4, 1, 1, 5, 1]
    assert flat in box
    assert isinstance(box.sample()[0], np.int64)


def leaves() -> st.SearchStrategy:
    """Spaces that can be ravelled, with starts and lower bounds of their own."""
    number = st.integers(1, 4)
    return st.one_of(
        st.builds(lambda n, start: spaces.Discrete(n, start=start), number, st.integers(-3, 3)),
        st.builds(lambda n: spaces.MultiBinary(n), number),
        st.builds(lambda n: spaces.MultiDiscrete(n), st.lists(number, min_size=1, max_size=3)),
        st.builds(
            lambda low, n, shape: Box(low, low + n, shape, int),
            st.integers(-3, 3),
            number,
            st.sampled_from([(1,), (2,), (2, 2)]),
        ),
    )


nests = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3).map(spaces.Dict),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(nests, st.integers(0, 2**31))
def test_w4_w5_points_come_back_as_they_were(space, seed):
    space.seed(seed)
    point = space.sample()
    number = ravel(space, point)
    assert 0 <= number < ravel_space(space).n
    flat = flatten(space, point)
    assert flat.shape == (flatdim(space),)
    assert flat in flatten_space(space)
    for back in (unravel(space, number), unflatten(space, flat)):
        assert back in space
        assert ravel(space, back) == number
        assert flatten(space, back).tolist() == flat.tolist()


@settings(max_examples=50, deadline=None)
@given(nests)
def test_w5_every_number_is_one_point(space):
    count = min(int(ravel_space(space).n), 300)
    assert [ravel(space, unravel(space, number)) for number in range(count)] == list(range(count))


def test_w3_dtypes():
    assert flatten_space(Box(0, 1, (2, 2), np.float64)).dtype == np.float64
    assert flatten_space(Box(0, 9, (2,), np.int32)).dtype == np.int32
    mixed = spaces.Dict(a=spaces.Discrete(3), b=Box(0, 1, (2,), np.float64))
    assert flatten_space(mixed).dtype == np.float32
    assert flatten(mixed, {"b": np.array([0.5, 1.0]), "a": 2}).tolist() == [
        2.0,
        0.5,
        1.0,
    ]  # the space's order
    assert flatten(mixed, {"b": np.array([0.5, 1.0]), "a": 2}).dtype == np.float32


def test_w4_forms_of_the_original_points():
    space = spaces.Dict(a=spaces.Discrete(3), b=spaces.Tuple([Box(0, 1, (2, 1))]), c=spaces.MultiBinary(2))
    point = unflatten(space, np.array([2, 0.5, 1, 0, 1], np.float32))
    assert type(point["a"]) is int
    assert type(point["b"]) is tuple
    assert (point["b"][0].shape, point["b"][0].dtype) == ((2, 1), np.float32)
    assert point["c"].dtype == np.int8
    assert point in space


def test_w5_what_cannot_be_ravelled():
    half = Box(0, np.inf, (2,), int)
    for space in (Box(0, 1, (2,)), half, spaces.Dict(a=half), spaces.Text(4), 3, {"a": spaces.Discrete(2)}):
        assert not check_space(space)


def test_f16_as_many_points_as_a_number_holds():
    assert ravel_space(spaces.MultiDiscrete([2] * 62)).n == 2**62


def test_f17_a_discrete_that_begins_elsewhere():
    space = spaces.Discrete(3, start=5)
    assert [ravel(space, point) for point in (5, 6, 7)] == [0, 1, 2]
    assert [unravel(space, number) for number in range(3)] == [5, 6, 7]


def test_w1_a_wrapper_has_its_own_agents():
    sim = MultiCorridor(end=5, num_agents=2)
    inner = Wrapper(sim)
    outer = SARWrapper(inner)
    assert outer.sim is inner
    assert outer.unwrapped is inner.unwrapped is sim.unwrapped is sim
    assert outer.agents == sim.agents
    assert all(outer.agents[name] is not sim.agents[name] for name in sim.agents)
    before = copy.deepcopy(sim.agents)
    FlattenWrapper(sim)
    assert sim.agents == before


def test_w1_dones_and_infos_pass_through():
    sim = Countdown({"a": 2})
    wrapped = SARWrapper(sim)
    wrapped.reset()
    assert wrapped.get_info("a") == {"clock": 0}
    wrapped.step({"a": 1})
    wrapped.step({"a": 1})
    assert wrapped.get_done("a") is wrapped.get_all_done() is True
    assert wrapped.render() == "clock 2"


def test_w2_what_is_wrapped_where():
    class Doubled(SARWrapper):
        """Doubles outputs, halves inputs, and records the agents that it is given."""

        seen: ClassVar[list[Any]] = []

        def wrap_observation(self, from_agent, observation):
            self.seen.append(from_agent)
            return 2 * observation

        def wrap_action(self, from_agent, action):
            self.seen.append(from_agent)
            return action // 2

        def wrap_reward(self, reward):
            return f"twice {reward}"

    sim = Countdown({"a": 9})
    given_actions = []
    inner_step = sim.step
    sim.step = lambda action, **kwargs: (given_actions.append(action), inner_step(action))[1]
    wrapped = Doubled(sim)
    manager = AllStepManager(wrapped)
    manager.reset()
    observations, rewards, _, _ = manager.step({"a": 4})
    assert (observations, rewards) == ({"a": 2}, {"a": "twice a at 1"})
    assert given_actions == [{"a": 2}]
    assert all(agent is sim.agents["a"] for agent in wrapped.seen)


def test_w6_f13_null_points_come_along():
    sim = Countdown({"a": 3})
    sim.agents = {
        "a": Agent(
            id="a",
            observation_space={"x": spaces.Discrete(3), "y": Box(-1, 2, (2,), int)},
            action_space=spaces.MultiDiscrete([2, 3]),
            null_observation={"x": 0, "y": np.array([-1, -1])},
            null_action=[1, 2],
        )
    }
    sim.finalize()
    ravelled = RavelDiscreteWrapper(sim).agents["a"]
    assert (ravelled.null_observation, ravelled.null_action) == (0, 5)
    flat = FlattenWrapper(sim).agents["a"]
    assert flat.null_observation.tolist() == [0, -1, -1]
    assert flat.null_action.tolist() == [1, 2]
    half = FlattenActionWrapper(sim).agents["a"]
    assert half.null_observation["x"] == 0
    assert half.null_observation["y"].tolist() == [-1, -1]
    assert half.observation_space == sim.agents["a"].observation_space
    assert half.action_space == flat.action_space


def test_masks_come_along():
    sim = Countdown({"a": 3})
    sim.get_action_mask = lambda agent_id: np.array([1, 0], np.int8)
    assert SARWrapper(sim).get_action_mask("a").tolist() == [1, 0]
    for kind in (FlattenWrapper, FlattenActionWrapper):
        assert kind(sim).get_action_mask("a").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("space", "mask", "legal"),
    [
        (spaces.Discrete(3, start=4), [1, 0, 1], [1, 0, 1]),
        (spaces.Dict(move=spaces.Discrete(3)), {"move": [0, 1, 1]}, [0, 1, 1]),
        (spaces.Dict(move=spaces.Discrete(3)), {"move": None}, [1, 1, 1]),
        (spaces.Discrete(3), None, None),
        # A point is legal if all its parts are.
        (spaces.Dict(a=spaces.Discrete(2), b=spaces.Discrete(2)), {"a": [1, 0], "b": [0, 1]}, [0, 1, 0, 0]),
        (spaces.MultiDiscrete([2, 2]), ([1, 1], [1, 0]), [1, 0, 1, 0]),
        (spaces.MultiBinary(2), [2, 1], [0, 1, 0, 1]),
        # A mover's free cells are points of its Box; a mask of another form says nothing about points.
        (spaces.Dict(move=Box(-1, 0, (2,), int)), {"move": [[1, 0], [0, 1]]}, [1, 0, 0, 1]),
        (spaces.Dict(hit=Box(0, 1, (1, 2), int)), {"hit": [[1, 0]]}, [1, 1, 1, 1]),
        (spaces.MultiDiscrete([300, 300]), ([0] * 300, [0] * 300), None),
    ],
)
def test_w5_a_ravelled_mask_is_of_the_points(space, mask, legal):
    """Specification 7, action masks: they come along where the numbers say the same."""
    sim = Countdown({"a": 3})
    sim.agents = {"a": Agent(id="a", observation_space=spaces.Discrete(9), action_space=space)}
    sim.finalize()
    sim.get_action_mask = lambda agent_id: mask
    told = RavelDiscreteWrapper(sim).get_action_mask("a")
    assert (told if told is None else told.tolist()) == legal
    if told is not None:
        drawn = RavelDiscreteWrapper(sim).agents["a"].action_space.sample(told)
        assert told[drawn]


def test_ravelled_actions_beside_observations_that_are_too_many():
    sim = Countdown({"a": 3})
    views = spaces.Dict(view=Box(-2, 3, (7, 7), int))
    nothing = {"view": np.zeros((7, 7), int)}
    given = {"observation_space": views, "null_observation": nothing, "null_action": {"move": [-1, 1]}}
    sim.agents = {"a": Agent(id="a", action_space={"move": Box(-1, 1, (2,), int)}, **given)}
    sim.finalize()
    with pytest.raises(AssertionError, match="flatten it instead"):
        RavelDiscreteWrapper(sim)
    wrapped = RavelActionWrapper(sim)
    assert wrapped.agents["a"].observation_space == views
    assert (wrapped.agents["a"].action_space, wrapped.agents["a"].null_action) == (spaces.Discrete(9), 2)
    assert wrapped.wrap_observation(sim.agents["a"], nothing) is nothing
    assert wrapped.wrap_action(sim.agents["a"], 5)["move"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "kind", [FlattenWrapper, FlattenActionWrapper, RavelDiscreteWrapper, RavelActionWrapper, Wrapper]
)
def test_wrapped_and_plain_play_the_same_episode(kind):
    def play(wrap):
        sim = wrap(MultiCorridor(end=8, num_agents=4))
        manager = AllStepManager(sim, randomize_action_input=True, time_limit=60)
        manager.reset(seed=4)
        rng, rewards, dones = np.random.default_rng(0), [], {"__all__": False}
        while not dones["__all__"]:
            actions = {i: int(rng.integers(3)) for i in manager.agents if i not in manager.done_agents}
            if isinstance(sim, FlattenWrapper):
                actions = {i: np.array([a]) for i, a in actions.items()}
            observations, earned, dones, _ = manager.step(actions)
            assert all(o in manager.agents[i].observation_space for i, o in observations.items())
            rewards.append(earned)
        return rewards

    assert play(kind) == play(lambda sim: sim)
