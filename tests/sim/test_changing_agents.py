"""Simulations with other agents in each episode, and those with a set as next_agent."""

from __future__ import annotations

from typing import Any

import pytest
from gymnasium.spaces import Discrete

from interplay.sim import Agent, PrincipleAgent
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from tests.sim.toys import Called, Countdown

CASTS: list[dict[str, int]] = [{"a": 2, "b": 2}, {"b": 3, "c": 1}, {"d": 2}, {"a": 2, "b": 2, "e": 1}]


class Touring(Countdown):
    """Plays with another cast in every episode; a stagehand is always there."""

    def __init__(self) -> None:
        super().__init__(CASTS[-1], passive=("stagehand",))
        self.episode = -1

    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        self.episode += 1
        self.lives = CASTS[self.episode % len(CASTS)]
        cast: dict[str, Any] = {
            name: Agent(id=name, observation_space=Discrete(100), action_space=Discrete(2))
            for name in self.lives
        }
        self.agents = cast | {"stagehand": PrincipleAgent(id="stagehand")}
        self.finalize()


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_agents_changed_at_a_reset_are_looked_at(manager):
    """The manager asks those of this episode, ends when these have finished, and refuses those of the last one."""
    played = manager(Touring())
    for cast in 2 * CASTS:
        observations = played.reset()
        heard: set[str] = set()
        for _ in range(20):
            assert set(observations) <= set(cast)
            asked = [name for name in observations if name not in played.done_agents]
            heard.update(asked)
            observations, _, dones, _ = played.step(dict.fromkeys(asked, 0))
            if dones["__all__"]:
                break
        assert dones["__all__"]
        if manager is AllStepManager:
            assert heard == set(cast)
            assert played.sim.clock == max(cast.values())
    played.reset()  # the first cast again
    with pytest.raises(AssertionError, match="'c'"):
        played.step({"c": 0})


NAMES = [f"agent{number}" for number in range(8)]


@pytest.mark.parametrize("form", [set, frozenset, dict.fromkeys])
def test_next_agent_as_a_set_is_asked_in_the_order_of_the_agents(form):
    """Sets have no order of their own, and another one in each process."""
    lives = dict.fromkeys(reversed(NAMES), 9)
    first, second = ["agent3", "agent0", "agent7", "agent5", "agent1"], ["agent2", "agent6", "agent4"]
    manager = DynamicOrderManager(Called(lives, [form(first), form(second)]))
    assert list(manager.reset()) == [name for name in lives if name in first]
    told = manager.step(dict.fromkeys(first, 0))
    assert [list(part) for part in told[:2]] == 2 * [[name for name in lives if name in second]]


def test_next_agent_as_a_row_keeps_its_order():
    lives = dict.fromkeys(NAMES, 9)
    order = ["agent5", "agent0", "agent3"]
    for form in (list, tuple):
        assert list(DynamicOrderManager(Called(lives, [form(order)])).reset()) == order


def test_next_agent_as_a_set_leaves_out_who_has_finished():
    lives = {"a": 1, "b": 9, "c": 9}
    manager = DynamicOrderManager(Called(lives, [{"c", "a"}, {"a", "b", "c"}, {"a", "c"}]))
    manager.reset()
    observations, _, dones, _ = manager.step({"a": 0, "c": 0})
    assert (list(observations), dones["a"]) == (["a", "b", "c"], True)
    assert list(manager.step({"b": 0, "c": 0})[0]) == ["c"]
