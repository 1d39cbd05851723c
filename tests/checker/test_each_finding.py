"""Findings that no world of `faulty_worlds` comes to: each has a world of its own here, in a line or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker import check_world
from interplay.core.world import TimeStep, World
from tests.checker.sound_worlds import Camp, Surveyed


def made(change: Callable[[Any], Any]) -> Callable[[int, int], World]:
    """A camp that is changed after its construction."""

    def make(num_worlds: int, seed: int) -> World:
        world = Camp(num_worlds, seed)
        change(world)
        return world

    return make


def with_kind(**own: Any) -> Callable[[int, int], World]:
    return made(lambda world: setattr(world, "kinds", (world.kinds[0]._replace(**own),)))


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


class WideTeams(Surveyed):
    def team_states(self) -> np.ndarray:
        return super().team_states().astype(np.float64)


class Revived(Camp):
    limit = 20

    def _read(self) -> TimeStep:
        step = super()._read()
        self.stood = getattr(self, "stood", 0) + step.over
        return step._replace(over=step.over & (self.stood != 2))


class Sleepers(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        super()._reset(which, seeds)
        self.state.acting[which] = False
        return self._read()


class LaterName(Camp):
    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return super().metrics | ({"late": self.state.clock} if self.state.clock.max() > 3 else {})


class AnotherStep(Camp):
    def step(self, action: Any) -> TimeStep:
        return super().step(action)._replace()


class Strict(Camp):
    """It refuses an illegal choice when the clock has been set on."""

    error: type[Exception] = ValueError

    def move_and_eat(self, action: np.ndarray, going: np.ndarray) -> None:
        legal = np.take_along_axis(self.state.legal, action[..., None], axis=-1)[..., 0]
        if (self.asked(going) & ~legal).any():
            raise self.error("an illegal choice")
        super().move_and_eat(action, going)


class Failing(Strict):
    error = KeyError


class Unguided(Camp):
    def observation_guides(self, index: int, slot: int) -> Any:
        raise RuntimeError("no guides")


class TwoLines(Camp):
    def step(self, action: Any) -> TimeStep:
        try:
            return super().step(action)
        except ValueError as error:
            raise ValueError(f"wrong:\n{error}") from error


class SignedHash(Camp):
    def hash(self) -> np.ndarray:
        return super().hash().astype(np.int64)


class LoadsCounted(Camp):
    loads = 0

    def load(self, snapshot: Any) -> TimeStep:
        self.loads += 1
        return super().load(snapshot)

    def hash(self) -> np.ndarray:
        return super().hash() + np.uint64(self.loads)


class Noted(Camp):
    """Its snapshots have a note, which load leaves out."""

    def note(self) -> Any:
        return [7] * self.num_worlds

    def save(self) -> dict[str, np.ndarray]:
        return {**super().save(), "note": self.note()}

    def load(self, snapshot: Any) -> TimeStep:
        return super().load({name: array for name, array in snapshot.items() if name != "note"})


class OneNote(Noted):
    def note(self) -> Any:
        return np.zeros(1)


class StepsOfAll(Noted):
    """The note counts the steps of all batches."""

    steps = 0

    def _step(self, action: np.ndarray) -> TimeStep:
        StepsOfAll.steps += 1
        return super()._step(action)

    def note(self) -> Any:
        return np.full(self.num_worlds, StepsOfAll.steps)


CASES = [
    (lambda num_worlds, seed: Camp(3, seed), "identity", "did not give a World of that many"),
    (made(lambda world: setattr(world, "id", 7)), "identity", "the id"),
    (made(lambda world: setattr(world, "agents", ("a", "b", "a", "c"))), "identity", "not unique"),
    (with_kind(slots=(0, 1, 2)), "identity", "cover every slot"),
    (with_kind(observation_space=spaces.Box(0, 1, (3,))), "spaces", "no spaces.Dict"),
    (Buffered, "global-state", "changed with the next step"),
    (WideTeams, "global-state", "team_states: no float32"),
    (Revived, "stands-still", "no longer over"),
    (Sleepers, "starts-clean", "no agent acts after reset"),
    (LaterName, "metrics", "the names changed"),
    (AnotherStep, "crash", "not what step returned"),
    (Strict, "mask-honoured", "refused after state had changed"),
    (Failing, "mask-honoured", "raised KeyError"),
    (Unguided, "people", "it raised RuntimeError: no guides"),
    (TwoLines, "refusal", "not one line"),
    (SignedHash, "hash", "expected (W,) uint64"),
    (LoadsCounted, "hash", "the hash is not the one at save"),
    (Noted, "save-load", "no array of numbers"),
    (OneNote, "save-load", "the first axis is not the worlds'"),
    (StepsOfAll, "shared-buffers", "playing another batch of this world changed this one"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "law", "seen"), CASES, ids=[seen for *_, seen in CASES])
def test_a_fault_has_its_finding(make: Callable[[int, int], World], law: str, seen: str) -> None:
    report = check_world(make, steps=40)
    assert any(one.law == law and seen in one.seen for one in report.findings), str(report)
