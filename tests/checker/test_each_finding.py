"""Findings that no world of `faulty_worlds` comes to: each has a world of its own here, in a line or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker import check_world
from interplay.core.world import TimeStep, World
from tests.checker.sound_worlds import Camp, Surveyed
from tests.checker.test_checker import check_form


def made(change: Callable[[Any], Any]) -> Callable[[int, int], World]:
    """A camp that is changed after its construction."""

    def make(num_worlds: int, seed: int) -> World:
        world = Camp(num_worlds, seed)
        change(world)
        return world

    return make


def with_kind(**own: Any) -> Callable[[int, int], World]:
    return made(lambda world: setattr(world, "kinds", (world.kinds[0]._replace(**own),)))


def camp(base: type[Camp] = Camp, **own: Any) -> type[Camp]:
    return type("Made", (base,), own)


def asleep(world: Camp, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
    Camp._reset(world, which, seeds)
    world.state.acting[which] = False
    return world._read()


def no_guides(world: Camp, index: int, slot: int) -> Any:
    raise RuntimeError("no guides\nat all")


def in_two_lines(world: Camp, action: Any) -> TimeStep:
    try:
        return Camp.step(world, action)
    except ValueError as error:
        raise ValueError(f"wrong:\n{error}") from error


class Buffered(Surveyed):
    """Its state is computed in every step, and the array handed out."""

    def _read(self) -> TimeStep:
        state = super().global_state()
        self.shown = getattr(self, "shown", np.zeros_like(state))
        self.shown[...] = state
        return super()._read()

    def global_state(self) -> np.ndarray:
        seen = self.shown[:]
        seen.flags.writeable = False
        return seen


class Revived(Camp):
    limit = 20

    def _read(self) -> TimeStep:
        step = super()._read()
        self.stood = getattr(self, "stood", 0) + step.over
        return step._replace(over=step.over & (self.stood != 2))


class Strict(Camp):
    """It refuses an illegal choice when the clock has been set on."""

    error: type[Exception] = ValueError

    def move_and_eat(self, action: np.ndarray, going: np.ndarray) -> None:
        legal = np.take_along_axis(self.state.legal, action[..., None], axis=-1)[..., 0]
        if (self.asked(going) & ~legal).any():
            raise self.error("an illegal choice" if self.error is ValueError else "no\nchoice")
        super().move_and_eat(action, going)


class Noted(Camp):
    """Its snapshots have a note, which load leaves out; it counts the steps of all batches, and the loads of this one."""

    steps, loads = 0, 0

    def note(self) -> Any:
        return np.full(self.num_worlds, Noted.steps)

    def save(self) -> dict[str, np.ndarray]:
        return {**super().save(), "note": self.note()}

    def load(self, snapshot: Any) -> TimeStep:
        self.loads += 1
        return super().load({name: array for name, array in snapshot.items() if name != "note"})

    def _step(self, action: np.ndarray) -> TimeStep:
        Noted.steps += 1
        return super()._step(action)


class Posted(Camp):
    """All its batches of one size show the food of the one that moved last, in read-only memory."""

    boards: ClassVar[dict[int, np.ndarray]] = {}

    def _read(self) -> TimeStep:
        board = Posted.boards.setdefault(self.num_worlds, np.zeros_like(self.state.larder))
        board[...] = self.state.larder
        shown = board.view()
        shown.flags.writeable = False
        step = super()._read()
        return step._replace(observation={**step.observation, "larder": shown})


def late_name(world: Camp) -> dict[str, np.ndarray]:
    return {"steps": world.state.clock} | ({"late": world.state.clock} if world.state.clock.max() > 3 else {})


CASES = [
    (lambda num_worlds, seed: Camp(3, seed), "identity", "did not give a World of that many"),
    (made(lambda world: setattr(world, "id", 7)), "identity", "the id"),
    (made(lambda world: setattr(world, "agents", ("a", "b", "a", "c"))), "identity", "not unique"),
    (with_kind(slots=(0, 1, 2)), "identity", "cover every slot"),
    (with_kind(observation_space=spaces.Box(0, 1, (3,))), "spaces", "no spaces.Dict"),
    (Buffered, "global-state", "changed with the next step"),
    (camp(Surveyed, team_states=lambda world: World.team_states(world).astype(np.float64)), "global-state", "team_states: no float32"),
    (Revived, "stands-still", "no longer over"),
    (camp(_reset=asleep), "starts-clean", "no agent acts after reset"),
    (camp(metrics=property(late_name)), "metrics", "the names changed"),
    (camp(step=lambda world, action: Camp.step(world, action)._replace()), "crash", "not what step returned"),
    (Strict, "mask-honoured", "refused after state had changed"),
    (camp(Strict, error=RuntimeError), "mask-honoured", "raised RuntimeError"),
    (camp(observation_guides=no_guides), "people", "it raised RuntimeError: no guides"),
    (camp(step=in_two_lines), "refusal", "not one line"),
    (camp(hash=lambda world: Camp.hash(world).astype(np.int64)), "hash", "expected (W,) uint64"),
    (camp(Noted, note=lambda world: np.full(world.num_worlds, world.loads)), "hash", "the hash is not the one at save"),
    (camp(Noted, note=lambda world: [7] * world.num_worlds), "save-load", "no array of numbers"),
    (camp(Noted, note=lambda world: np.zeros(1)), "save-load", "the first axis is not the worlds'"),
    (Noted, "shared-buffers", "playing another batch of this world changed this one"),
    (Posted, "shared-buffers", "playing another batch of this world changed this one"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "law", "seen"), CASES, ids=[seen for *_, seen in CASES])
def test_a_fault_has_its_finding(make: Callable[[int, int], World], law: str, seen: str) -> None:
    report = check_world(make, steps=40)
    assert any(one.law == law and seen in one.seen for one in report.findings), str(report)
    check_form(report)
