"""Steps that leave something out: an observation, a reward, a mask; and rewards and infos of agents that do not act."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.spaces import sample_actions
from tests.connect.planted import Sound

STILL = np.zeros((1, 2), np.int64)


class Gaps(Sound):
    """`left` leaves after three steps; one gap, from the second step on."""

    def __init__(self, gap=""):
        self.gap = gap

    def step(self, actions):
        seen, rewards, ended, cut, infos = super().step(actions)
        if self.t == 3:
            ended["left"] = True
            self.agents = ["right"]
        elif self.t > 3:
            seen.pop("left")
        if self.gap == "observation" and self.t == 2:
            seen.pop("right")
        if self.gap == "another name" and self.t == 2:
            seen["Right"] = seen.pop("right")
        if self.gap == "reward" and self.t == 2:
            rewards.pop("right")
        if self.gap == "last observation" and self.t == 5:
            ended["right"], cut["right"], self.agents = False, True, []
            seen.pop("right")
        if self.gap == "all truncated" and self.t == 5:
            ended["right"], cut, self.agents = False, {"left": True, "right": True}, []
        if self.gap == "paid after" and self.t > 3:
            rewards["left"] = 4.0
        if self.gap == "stranger" and self.t == 2:
            self.agents = [*self.agents, "third"]
        if self.gap == "waits" and self.t in (2, 4):
            infos["right"] = {"acting": False}
        infos = {agent: {**info, "hits": 1} for agent, info in infos.items()}
        return seen, rewards, ended, cut, infos


class Counted(Gaps):
    metadata = {"name": "counted", "metrics": {"hits": "sum"}}  # noqa: RUF012


def played(make):
    world = ParallelEnvWorld(make)
    step = world.reset()
    while not step.over.all():
        step = world.step(STILL)
    return world, step


@pytest.mark.parametrize(
    ("gap", "step"),
    [("observation", 2), ("another name", 2), ("reward", 2), ("last observation", 5), ("stranger", 2)],
)
def test_what_a_step_leaves_out_is_refused(gap, step):
    with pytest.raises(UserError, match=f"step {step}: .*(right|third)"):
        played(lambda: Gaps(gap))


def test_rewards_of_an_agent_that_has_left_are_named_once_and_do_not_count():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        world, _ = played(lambda: Gaps("paid after"))
    assert [word for word in found if "left is paid after it has left" in str(word.message)]
    assert len(found) == 1
    assert world.metrics["episode_return"].tolist() == [[3.0, 6.0]]


class Lingering(Sound):
    """`left` ends in the second step and stays listed, with its flag and a reward; with `back` it comes back in the fifth."""

    def __init__(self, cut=False, back=9):
        self.cut, self.back = cut, back

    def step(self, actions):
        seen, rewards, ended, cut, infos = super().step(actions)
        flags = cut if self.cut else ended
        flags["left"] = 2 <= self.t < self.back or self.t == 6
        return seen, rewards, ended, cut, infos


@pytest.mark.parametrize("cut", [False, True])
def test_an_agent_that_stays_listed_after_its_end_ends_once_and_earns_no_more(cut):
    world, ends = ParallelEnvWorld(lambda: Lingering(cut)), []
    step = world.reset()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        while not step.over.all():
            step = world.step(STILL)
            ends.append(bool((step.truncated if cut else step.terminated)[0, 0]))
    assert ends == [False, True, False, False, False, False]
    assert world.metrics["episode_return"].tolist() == [[2.0, 6.0]]
    assert ["left is paid after it has left" in str(word.message) for word in found] == [True]


def test_an_agent_that_stayed_listed_comes_back_in_a_step_without_a_flag():
    world = ParallelEnvWorld(lambda: Lingering(back=5))
    world.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = [world.step(STILL) for _ in range(4)]
        assert not steps[-1].acting[0, 0]
        assert world.step(STILL).acting[0, 0]
        assert world.step(STILL).terminated.tolist() == [[True, True]]
    assert world.metrics["episode_return"].tolist() == [[4.0, 6.0]]
    assert world.reset().acting.all()


def test_a_flag_of_an_agent_that_left_long_ago_needs_no_observation():
    world, step = played(lambda: Gaps("all truncated"))
    assert step.truncated.tolist() == [[False, True]]
    assert world.metrics["episode_return"].tolist() == [[3.0, 5.0]]


def test_infos_of_an_agent_that_waits_count_in_a_parallel_environment():
    world, _ = played(lambda: Counted("waits"))
    assert world.metrics["hits"].tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize(("low", "high"), [(3.0, np.inf), (-np.inf, -3.0), (-np.inf, np.inf), (0.0, np.inf)])
def test_half_bounded_boxes_are_sampled_within_them(low, high):
    from gymnasium import spaces

    box = spaces.Box(low, high, (5,), np.float32)
    drawn = sample_actions(box, np.random.default_rng(0), (40,))
    assert ((drawn >= low) & (drawn <= high)).all()
    assert np.ptp(drawn) > 0.5
