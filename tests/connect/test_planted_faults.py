"""The checker finds planted faults of a user's environment and names them; training and play refuse the same."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gymnasium import spaces

import interplay.checker
from interplay.checker import check_world
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from tests.connect.masked_envs import Masked, Older, OldGym
from tests.connect.planted import BYTES, FAULTS, REAL, Sound
from tests.connect.test_masks_of_environments import FOUR
from tests.connect.test_masks_of_environments import REFUSED as UNREADABLE
from tests.connect.test_older_interfaces import REFUSED as OLDER
from tests.connect.test_turn_rewards import Bare, Silent
from tests.connect.turn_games import Rounds

SILENT = [
    name
    for name, (_, words) in FAULTS.items()
    if words[0] not in ("in-space", "mask", "determinism", "global-random")
]


def report_of(cls):
    def make(num_worlds, seed):
        return ParallelEnvWorld(cls, num_worlds, seed)

    return check_world(make, steps=20)


def play(cls):
    world = ParallelEnvWorld(cls, num_worlds=2)
    space = world.kinds[0].action_space
    world.reset()
    for _ in range(6):
        world.step(np.zeros((2, 2, *space.shape), space.dtype))


def test_nothing_is_found_where_nothing_is_wrong():
    assert report_of(Sound).ok


@pytest.mark.parametrize("name", FAULTS)
def test_the_checker_finds_a_planted_fault(name, monkeypatch):
    monkeypatch.setattr(interplay.checker, "BLOCKED", 1.0)
    cls, words = FAULTS[name]
    report = report_of(cls)
    assert not report.ok
    assert [word for word in words if word not in str(report)] == []


OF_CALLS = {fault: partial(Older, fault) for fault in OLDER if fault != "None"}
OF_CALLS |= {f"gym {call}": partial(OldGym, call) for call in ("reset", "step")}
OF_MASKS = {
    case: partial(Masked, acts, mask, space) for case, (acts, mask, space, _) in UNREADABLE.items()
} | {key: partial(Masked, FOUR, np.ones(4), key=key) for key in ("action_masks", "actionmask")}
OF_TURNS = {book: partial(Rounds, book) for book in Rounds.wrong} | {"silent": Silent, "bare": Bare}


@pytest.mark.parametrize(
    ("make", "words"),
    [(make, ("()", "seed", "__all__")) for make in OF_CALLS.values()]
    + [(make, ("mask",)) for make in OF_MASKS.values()]
    + [(make, ("_cumulative_rewards", "_was_dead_step")) for make in OF_TURNS.values()],
    ids=[*OF_CALLS, *OF_MASKS, *OF_TURNS],
)
def test_the_checker_finds_calls_masks_and_turns_that_are_not_as_they_must_be(make, words):
    report = report_of(make)
    assert not report.ok
    assert any(word in str(report) for word in words)


@pytest.mark.parametrize("name", [name for name in SILENT if "blocks" not in name])
def test_a_fault_that_would_be_cast_away_is_refused_as_it_is_played(name):
    cls, words = FAULTS[name]
    with pytest.raises(UserError) as caught:
        play(cls)
    assert [word for word in words if word not in str(caught.value)] == []


class Given(Sound):
    """Gives one value to each agent, whatever the step."""

    def __init__(self, space, value):
        self.space, self.value = space, value

    def seen(self, agent):
        return self.value


@pytest.mark.parametrize(
    ("space", "value", "kept"),
    [
        (spaces.Discrete(3, start=1), 3, 3),
        (spaces.MultiDiscrete([2, 3], start=[-1, 4]), np.array([-1, 6]), [-1, 6]),
        (spaces.MultiBinary(2), np.array([0, 1]), [0, 1]),
        (BYTES, np.array([3, 255]), [3, 255]),
        (BYTES, [3.0, 4.0], [3, 4]),
        (BYTES, np.array([True, False]), [1, 0]),
        (REAL, np.array([1, 2], ">i4"), [1, 2]),
        (REAL, np.array([0.5, 1.5]), [0.5, 1.5]),
        (REAL, (0.5, np.float16(1.5)), [0.5, 1.5]),
    ],
)
def test_numbers_of_another_dtype_that_fit_are_taken(space, value, kept):
    world = ParallelEnvWorld(partial(Given, space, value), num_worlds=2)
    first = world.reset().observation["observation"]
    assert first.dtype == space.dtype
    assert first.tolist() == [[kept, kept]] * 2
    again = world.step(np.zeros((2, 2), np.int64)).observation["observation"]
    assert again.tolist() == [[kept, kept]] * 2


def test_choices_count_where_an_agent_acts_or_is_truncated():
    class Going(Sound):
        """`left` leaves in the second step, its observation 0 outside its space; `right` is truncated later."""

        space = spaces.Discrete(9, start=1)

        def seen(self, agent):
            return 1 + self.t if agent == "right" or self.t < 2 else 0

        def step(self, actions):
            seen, rewards, ended, cut, infos = super().step(actions)
            if self.t == 2:
                ended["left"], self.agents = True, ["right"]
            return seen, rewards, ended, cut, infos

    play(Going)


class Turning(Sound):
    """Bytes in odd steps, floats in even ones."""

    space = BYTES

    def seen(self, agent):
        return np.full(2, self.t, np.uint8 if self.t % 2 else np.float64)


def test_dtypes_that_change_from_step_to_step_keep_the_rows_of_the_other_worlds():
    world = ParallelEnvWorld(Turning, num_worlds=2)
    world.reset()
    for t in range(1, 4):
        seen = world.step(np.zeros((2, 2), np.int64)).observation["observation"]
        assert seen.tolist() == [[[t, t]] * 2] * 2
    seen = world.reset(np.array([True, False])).observation["observation"]
    assert seen.tolist() == [[[0, 0]] * 2, [[3, 3]] * 2]


@pytest.mark.parametrize("reward", [np.array([1.5]), np.array(1.5), np.float32(1.5), 1.5])
@pytest.mark.parametrize("flag", [bool, np.bool_, int, np.array])
def test_rewards_and_ends_of_usual_types_count(reward, flag):
    class Odd(Sound):
        def reward(self, agent):
            return reward

        def end(self, over):
            return flag(over)

    world = ParallelEnvWorld(Odd)
    world.reset()
    for _ in range(6):
        step = world.step(np.zeros((1, 2), np.int64))
    assert world.metrics["episode_return"].tolist() == [[9.0, 9.0]]
    assert step.terminated.all()
    assert step.over.all()


def test_a_dead_agent_may_show_what_is_no_number():
    class Dead(Sound):
        def seen(self, agent):
            return np.full(2, np.nan if self.t == 6 else 1.0, np.float32)

    world = ParallelEnvWorld(Dead)
    world.reset()
    for _ in range(6):
        step = world.step(np.zeros((1, 2), np.int64))
    assert step.over.all()
