"""What a named thing makes is told without calling it."""

from __future__ import annotations

import functools
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from pettingzoo.classic import rps_v2
from pettingzoo.utils.env import ParallelEnv

import interplay
from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.targets import ENVIRONMENT, POLICY, SIMULATION, WORLD, kind_made
from interplay.core.world import World
from interplay.sim.managers import AllStepManager, SimulationManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.toys import Line

if TYPE_CHECKING:
    from somewhere import Elsewhere, ParallelEnv as Hidden  # noqa: I001

CALLED: list[str] = []


def _called(name: str) -> Any:
    CALLED.append(name)
    raise AssertionError(f"{name} was called")


def world(num_worlds: int) -> Line:
    return _called("world")


def manager() -> SimulationManager:
    return _called("manager")


def parallel() -> ParallelEnv[str, Any, Any]:
    return _called("parallel")


def hidden() -> Hidden:
    return _called("hidden")


def abroad(x: Elsewhere) -> World:
    return _called("abroad")


def unknown() -> Elsewhere:
    return _called("unknown")


def unsaid():
    return _called("unsaid")


def anything() -> Any:
    return _called("anything")


def text() -> str:
    return _called("text")


def player() -> Policy:
    return _called("player")


@functools.wraps(world)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return _called("wrapped")


class Foreign:
    """Written like a parallel environment, without being a subclass."""

    def reset(self, seed=None, options=None): ...
    def step(self, actions): ...
    def observation_space(self, agent): ...
    def action_space(self, agent): ...


class Resets:
    """Has one method of an environment."""

    def reset(self, seed=None): ...


class Acts:
    """Has one method of a policy."""

    def act(self, step): ...


class Callable:
    def __call__(self) -> World:
        return _called("Callable")


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (Line, WORLD),
        (world, WORLD),
        (wrapped, WORLD),
        (abroad, WORLD),
        (functools.partial(world, 2), WORLD),
        (manager, SIMULATION),
        (AllStepManager, SIMULATION),
        (MultiCorridor, SIMULATION),
        (parallel, ENVIRONMENT),
        (rps_v2.parallel_env, ENVIRONMENT),
        (Foreign, ENVIRONMENT),
        (RandomPolicy, POLICY),
        (player, POLICY),
        (unknown, None),
        (unsaid, None),
        (anything, None),
        (text, None),
        (Resets, None),
        (Acts, None),
        (Callable, None),
        (Callable(), None),
        (os.system, None),
        (os.getcwd, None),
        (subprocess.check_output, None),
        (subprocess.Popen, None),
        (print, None),
        (exec, None),
        (type, None),
        (3, None),
    ],
)
def test_kinds_are_told_without_a_call(target, kind):
    assert kind_made(target) == kind
    assert CALLED == []


def test_a_name_for_type_checkers_alone_is_known_by_its_word():
    hidden.__annotations__["return"] = "somewhere.ParallelEnv[str]"
    assert kind_made(hidden) == ENVIRONMENT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{__name__}:unsaid", "annotation"),
        (f"{__name__}:anything", "annotation"),
        (f"{__name__}:player", "annotation"),
        (f"{__name__}:CALLED", ": no world"),
        (f"{__name__}:Callable", ": no world"),
        ("os:system", "annotation"),
        ("subprocess:check_output", "annotation"),
        ("subprocess:Popen", ": no world"),
    ],
)
def test_what_does_not_say_that_it_makes_a_world_is_not_called(name, message, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: _called("os.system"))
    with pytest.raises(UserError, match=message) as refused:
        interplay.make_world(name, command="touch executed", args="touch executed")
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)
    assert CALLED == []


@pytest.mark.parametrize("name", ["os:getcwd", "subprocess:Popen", f"{__name__}:unsaid", f"{__name__}:world"])
def test_what_does_not_say_that_it_makes_a_policy_is_not_called(name):
    with pytest.raises(UserError, match="is no policy"):
        interplay.make_policy("simulation/multi-corridor", name)
    assert CALLED == []


def single() -> World:
    return _called("single")
