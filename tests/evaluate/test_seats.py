"""`Seats`: each slot is played by the policy that sits there."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import Seats, play
from tests.connect.toys import Hunt, Line


class Always(Policy):
    """Chooses the same in every slot, and counts how often it was asked."""

    def __init__(self, *action):
        self.action, self.name, self.asked, self.forgot = action, f"always {action}", 0, 0

    def act(self, timestep):
        self.asked += 1
        return np.broadcast_to(self.action, (*timestep.acting.shape, 2))

    def forget(self, which):
        self.forgot += int(which.sum())


def test_columns_come_from_those_who_sit_there():
    world = Line(4)
    timestep = world.reset()
    seats = Seats({0: Always(0, 1), "agent_2": Always(2, 0)}, default=Always(1, 1))
    seats.start(world)
    assert seats.act(timestep)[3].tolist() == [[0, 1], [1, 1], [2, 0]]


def test_one_policy_in_two_seats_is_asked_once():
    world, policy = Line(2), Always(1, 0)
    seats = Seats({0: policy, 2: policy}, default=Always(0, 0))
    seats.start(world)
    assert seats.act(world.reset())[0].tolist() == [[1, 0], [0, 0], [1, 0]]
    assert policy.asked == 1


def test_random_seats_draw_from_streams_of_their_own():
    world = Line(64)
    seats = Seats({0: RandomPolicy(), 1: RandomPolicy()}, default=RandomPolicy())
    seats.start(world, 1)
    actions = seats.act(world.reset())
    assert not np.array_equal(actions[:, 0], actions[:, 1])


def test_kinds():
    world = Hunt(3)
    timestep = world.reset()

    class Fixed(Policy):
        def __init__(self, side, push):
            self.side, self.push = side, push

        def act(self, timestep):
            return {"hunter": np.full((3, 2), self.side), "prey": np.full((3, 1, 2), self.push, np.float32)}

    seats = Seats({"hunter_1": Fixed(2, 0.0), "prey_0": Fixed(0, 0.5)}, default=Fixed(1, -1.0))
    seats.start(world)
    action = seats.act(timestep)
    assert action["hunter"].tolist() == [[1, 2]] * 3
    assert (action["prey"] == 0.5).all()
    world.step(action)


def test_forgetting_reaches_everybody():
    policies = [Always(2, 1), Always(0, 1)]
    play(Line(2), Seats({0: policies[0]}, default=policies[1]), episodes=6)
    assert [policy.forgot for policy in policies] == [4, 4]


def test_a_seat_that_does_not_exist_or_stays_empty_is_named():
    world = Line(1)
    with pytest.raises(UserError, match="no seat 'agent_7'"):
        Seats({"agent_7": RandomPolicy()}).start(world)
    with pytest.raises(UserError, match="no seat 3"):
        Seats({3: RandomPolicy()}).start(world)
    with pytest.raises(UserError, match=r"nobody sits in slot 1 \(agent_1\)"):
        Seats({0: RandomPolicy()}).start(world)
