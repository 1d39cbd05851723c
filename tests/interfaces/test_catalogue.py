"""The generic interfaces, by numbers that were worked out by hand (specification interfaces 10)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.generic.boxes import OPERATIONS, BoxTransform, Downsample, Reshape, Transpose
from interplay.interfaces.generic.counters import MultiBinObs
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.generic.vectors import ConcatObsAct, ConcatVec, Dict2Vec, RemoveTuple

NUMBER = spaces.Box(0, 9, (), np.float32)
VECTOR = spaces.Box(0, 9, (2,), np.float32)


def begun(stack, obs_space, act_space, obs):
    stack.setup(obs_space, act_space)
    stack.reset()
    return stack.obs_trans(obs)


def test_previous_actions_are_one_hot_the_oldest_first():
    stack = PrevActObs(n=2)
    shown = begun(stack, VECTOR, spaces.MultiDiscrete([2, 3], start=[5, 0]), np.ones(2))
    assert isinstance(shown, tuple)
    assert shown[1].tolist() == [0] * 10
    for action, expected in (
        ([6, 2], [0, 0, 0, 0, 0, 0, 1, 0, 0, 1]),
        ([5, 0], [0, 1, 0, 0, 1, 1, 0, 1, 0, 0]),
    ):
        stack.act_trans(np.array(action))
        assert stack.obs_trans(np.ones(2))[1].tolist() == expected
    stack.act_trans(np.array([6, 1]), decided=False)  # held: no decision
    assert stack.obs_trans(np.ones(2))[1].tolist() == expected


def test_previous_actions_of_nested_spaces_leave_boxes_out():
    act = spaces.Tuple(
        [spaces.Dict({"b": spaces.Discrete(2), "a": spaces.MultiBinary(2)}), spaces.Box(0, 1, (3,))]
    )
    stack = PrevActObs(mode="replace")
    begun(stack, VECTOR, act, np.ones(2))
    stack.act_trans(({"a": np.array([1, 0], np.int8), "b": 1}, np.zeros(3, np.float32)))
    assert stack.obs_trans(np.ones(2)).tolist() == [0, 1, 1, 0, 0, 1]  # two bits, then the choice


def test_the_last_action_itself_begins_nearest_to_zero():
    act = spaces.Dict({"go": spaces.Box(2, 5, (2,), np.float32), "do": spaces.Discrete(3, start=-5)})
    stack = PrevActObs(raw=True, key="did")
    first = begun(stack, spaces.Dict({"x": NUMBER}), act, {"x": np.float32(1)})
    assert first["did"]["do"] == -3
    assert first["did"]["go"].tolist() == [2, 2]
    stack.act_trans({"go": np.array([3, 4], np.float32), "do": -4})
    assert stack.obs_trans({"x": np.float32(1)})["did"]["go"].tolist() == [3, 4]


def test_bins_of_the_step_counter():
    stack = MultiBinObs(max=8, bins=(4, 2), mode="replace")
    shown = begun(stack, VECTOR, spaces.Discrete(2), np.ones(2))
    found = [shown.tolist()]
    for _ in range(9):
        found.append(stack.obs_trans(np.ones(2)).tolist())
    assert [row[:4].index(1) for row in found] == [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]
    assert [row[4:].index(1) for row in found] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    default = MultiBinObs(mode="replace").setup(VECTOR, spaces.Discrete(2))
    assert default.observation_space.shape == (100,)


def test_frames_begin_with_the_first_one_repeated():
    stack = FrameStack(k=3)
    space = spaces.Tuple([NUMBER, spaces.Discrete(5), spaces.MultiBinary(2), spaces.MultiDiscrete([2, 3])])
    bits, heads = np.array([1, 0], np.int8), np.array([1, 2])
    shown = begun(stack, space, spaces.Discrete(2), (np.float32(4), 2, bits, heads))
    assert [part.shape for part in shown] == [(3,), (3,), (3, 2), (3, 2)]
    assert shown[0].tolist() == [4, 4, 4]
    shown = stack.obs_trans((np.float32(5), 3, bits, heads))
    assert [part.tolist() for part in shown[:2]] == [[4, 4, 5], [2, 2, 3]]
    assert stack.observation_space[3].nvec.tolist() == [[2, 3]] * 3


@pytest.mark.parametrize("op", OPERATIONS)
def test_operations_keep_their_bounds(op):
    box = spaces.Box(np.array([-3, 0, 2], np.float32), np.array([-1, 4, 9], np.float32))
    stack = BoxTransform(op=op).setup(box, spaces.Discrete(2))
    stack.reset()
    for value in (box.low, box.high, box.sample()):
        assert stack.observation_space.contains(stack.obs_trans(value))
    edges = [stack.look(box.low), stack.look(box.high)]
    assert np.array_equal(np.minimum(*edges), stack.observation_space.low)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", OPERATIONS)
def test_whole_numbers_are_transformed_as_fractions_are(op, dtype):
    limits = np.iinfo(dtype)
    array = np.array([limits.min, 0, 1, 100, limits.max], dtype)
    whole, real = spaces.Box(limits.min, limits.max, (5,), dtype), spaces.Box(limits.min, limits.max, (5,))
    one, two = BoxTransform(op=op), BoxTransform(op=op)
    shown = begun(one, whole, spaces.Discrete(2), array)
    assert np.array_equal(shown, begun(two, real, spaces.Discrete(2), array.astype(np.float32)))
    assert one.observation_space == two.observation_space
    assert shown in one.observation_space


def test_one_entry_is_transformed_and_its_bounds_with_it():
    space = spaces.Tuple([VECTOR, spaces.Box(0, 255, (2, 3), np.uint8)])
    stack = Transpose(Reshape(BoxTransform(op="bytes_to_unit", index=1), (3, 2), 1), index=1)
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3) * 51
    shown = begun(stack, space, spaces.Discrete(2), (np.ones(2), picture))
    assert stack.observation_space[1] == spaces.Box(0, 1, (2, 3), np.float32)
    assert shown[1].tolist() == (picture.reshape(3, 2).T / np.float32(255)).tolist()
    doubled = BoxTransform(op=lambda x: 2 * x + 1, index="x").setup(
        spaces.Dict({"x": NUMBER}), spaces.Discrete(2)
    )
    assert (doubled.observation_space["x"].low, doubled.observation_space["x"].high) == (1, 19)


def test_a_picture_is_shrunk_by_means_of_blocks_and_what_fills_none_is_left_out():
    picture = np.arange(40, dtype=np.uint8).reshape(4, 5, 2)
    picture[0, 0], picture[0, 2, 0] = (255, 1), 6
    stack = Downsample(factor=2, index="screen")
    space = spaces.Dict({"screen": spaces.Box(0, 255, (4, 5, 2), np.uint8), "x": NUMBER})
    shown = begun(stack, space, spaces.Discrete(2), {"screen": picture, "x": np.float32(3)})
    assert shown["x"] == 3
    # (255 + 2 + 10 + 12) / 4 = 69.75, (1 + 3 + 11 + 13) / 4 = 7; (6 + 6 + 14 + 16) / 4 = 10.5, (5 + 7 + 15 + 17) / 4 = 11
    assert shown["screen"].tolist() == [[[70, 7], [11, 11]], [[26, 27], [30, 31]]]
    assert stack.observation_space["screen"] == spaces.Box(0, 255, (2, 2, 2), np.uint8)
    white = np.full((17, 17, 1), 255, np.uint8)
    assert (
        begun(Downsample(factor=17), spaces.Box(0, 29, (17, 17, 1), np.uint8), spaces.Discrete(2), white)
        == 255
    )


def test_operations_that_turn_back_are_refused():
    square = BoxTransform(op=np.square).setup(spaces.Box(-2, 1, (2,)), spaces.Discrete(2))
    square.reset()
    with pytest.raises(UserError, match="not monotone"):
        square.obs_trans(np.zeros(2))
    endless = BoxTransform(op="sqrt").setup(spaces.Box(0, np.inf, (1,)), spaces.Discrete(2))
    assert endless.observation_space.high == np.inf


def test_everything_as_one_vector_in_the_order_of_the_space():
    space = spaces.Dict(
        [("z", spaces.Tuple([spaces.Discrete(3, start=1), VECTOR])), ("a", spaces.MultiBinary(2))]
    )
    stack = ConcatVec()
    value = {"a": np.array([1, 0], np.int8), "z": (3, np.array([4, 5], np.float32))}
    assert begun(stack, space, spaces.Discrete(2), value).tolist() == [0, 0, 1, 4, 5, 1, 0]
    assert stack.observation_space.high.tolist() == [1, 1, 1, 9, 9, 1, 1]
    pixels = ConcatVec().setup(spaces.Tuple([spaces.Box(0, 255, (2,), np.uint8)] * 2), spaces.Discrete(2))
    assert pixels.observation_space.dtype == np.uint8


def test_d25_mappings_as_vectors_without_statistics():
    space = spaces.Dict({"height": NUMBER, "stats_goals": NUMBER, "ball": VECTOR})
    value = {"ball": np.array([1, 2], np.float32), "height": np.float32(3), "stats_goals": np.float32(9)}
    assert begun(Dict2Vec(), space, spaces.Discrete(2), value).tolist() == [1, 2, 3]
    assert begun(Dict2Vec(leave_out=()), space, spaces.Discrete(2), value).tolist() == [1, 2, 3, 9]
    team = Dict2Vec()
    shown = begun(team, spaces.Tuple([space, VECTOR, space]), spaces.Discrete(2), (value, np.zeros(2), value))
    assert [part.tolist() for part in shown] == [[1, 2, 3], [0, 0], [1, 2, 3]]


def test_d3_a_team_as_one_model_joins_observations_and_splits_actions():
    obs = spaces.Tuple([VECTOR, VECTOR])
    walk = spaces.Box(-1, 1, (3,), np.float32)
    stack = ConcatObsAct()
    shown = begun(stack, obs, spaces.Tuple([walk, walk]), (np.array([1, 2]) * 1.0, np.array([3, 4]) * 1.0))
    assert shown.tolist() == [1, 2, 3, 4]
    assert stack.action_space.shape == (6,)
    split = stack.act_trans(np.arange(6, dtype=np.float32) / 10)
    assert [part.tolist() for part in split] == [
        np.float32([0, 0.1, 0.2]).tolist(),
        np.float32([0.3, 0.4, 0.5]).tolist(),
    ]


def test_a_team_of_choices_is_one_choice_with_many_heads_and_their_mask():
    act = spaces.Tuple([spaces.Discrete(3, start=2), spaces.MultiDiscrete([2, 2])])
    stack = ConcatObsAct()
    begun(stack, spaces.Tuple([VECTOR, VECTOR]), act, (np.zeros(2), np.zeros(2)))
    assert stack.action_space == spaces.MultiDiscrete([3, 2, 2], start=[2, 0, 0])
    one, two = stack.act_trans(np.array([4, 1, 0]))
    assert one == 4
    assert two.tolist() == [1, 0]
    assert stack.mask_trans((None, np.array([0, 1, 1, 1]))).tolist() == [True] * 3 + [False, True, True, True]
    assert stack.mask_trans((None, None)) is None


def test_tuples_of_one_are_opened():
    stack = RemoveTuple()
    shown = begun(stack, spaces.Tuple([VECTOR]), spaces.Tuple([spaces.Discrete(3)]), (np.ones(2),))
    assert shown.tolist() == [1, 1]
    assert stack.act_trans(2) == (2,)
    assert stack.mask_trans((np.array([0, 1, 1]),)).tolist() == [False, True, True]
    half = RemoveTuple().setup(VECTOR, spaces.Tuple([spaces.Discrete(3)]))
    assert half.observation_space == VECTOR
