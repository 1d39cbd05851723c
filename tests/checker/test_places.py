"""A finding names the world, the agent, the step, the field and the number of a fault that was planted at one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.checker.bench import Players
from interplay.checker.refusals import bad_actions
from interplay.core.world import TimeStep, World
from tests.checker.sound_worlds import Camp, Drift, Nim

WORLD, AGENT, STEP = 2, 1, 5


class Spot(Camp):
    """Something goes wrong in the fifth step of an episode, in world 2, for the second agent."""

    def here(self) -> np.ndarray:
        at = np.zeros(self.state.acting.shape, bool)
        at[WORLD:, AGENT] = self.state.clock[WORLD:] == STEP
        at[WORLD + 1 :] = False
        return at


def spot(field: str, at: Any, value: float, by: str = "observe") -> type[Spot]:
    """A world in which a number of the state is another one there."""

    def change(world: Spot, which: np.ndarray) -> None:
        getattr(Camp, by)(world, which)
        getattr(world.state, field)[(world.here(), at) if at is not None else world.here()] = value

    return type(f"Spot {field} {value}", (Spot,), {by: change})


class UnboundedShare(Spot):
    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {**super().metrics, "share": np.where(self.here(), -np.inf, np.nan)}


class OtherMeal(Spot):
    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"eaten": np.where(self.here(), 9, self.state.eaten)}


class Ends(Spot):
    flags: tuple[str, ...] = ("truncated",)

    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(**{name: getattr(step, name) | self.here() for name in self.flags})


class BothEnds(Ends):
    flags = ("terminated", "truncated")


class Restless(Spot):
    """World 2 ends in its fifth step, and the second agent is then seen elsewhere."""

    def end_lives(self, going: np.ndarray) -> None:
        super().end_lives(going)
        ends = self.here().any(axis=1)
        self.state.terminated[ends] = self.state.acting[ends]
        self.state.acting[ends], self.state.over[ends] = False, True

    def _step(self, action: np.ndarray) -> TimeStep:
        over = self.state.over.copy()
        super()._step(action)
        self.state.me[over, AGENT, 0] = 60.0
        return self._read()


class PaidAtTheReset(Camp):
    """World 0 is reset in the middle of an episode, before step 61."""

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        step = super()._reset(which, seeds)
        self.state.reward[which, AGENT] = 0.25 * (seeds is None)
        return step


class NeighbourCleared(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        step = super()._reset(which, seeds)
        if seeds is None and len(which) > WORLD and not which[WORLD]:
            self.state.storm[WORLD] = (self.state.storm[WORLD] + 1) % self.cells
        return step


class Loud(Spot):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        if self.here().any():
            raise ZeroDivisionError("no food\nat all")


class Uncopied(Camp):
    def __deepcopy__(self, memo: Any) -> World:
        raise TypeError("no copies\nof this one")


PLACES = [
    (spot("me", 0, np.nan), "finite", {"field": "observation/me", "value": pytest.approx(np.nan, nan_ok=True)}),
    (spot("me", 2, -3.0), "in-space", {"field": "observation/me", "value": -3.0}),
    (spot("reward", None, np.inf, "pay"), "finite", {"field": "reward", "value": np.inf}),
    (UnboundedShare, "metrics", {"field": "metrics/share", "value": -np.inf}),
    (spot("legal", slice(None), False), "mask", {"field": "action_mask/action"}),
    (BothEnds, "ended-flags", {"field": "terminated", "seen": "terminated and truncated at once"}),
    (Ends, "dead-acts", {"field": "acting", "seen": "acts in the time step in which it ended"}),
    (spot("me", 0, 50.0), "position", {"field": "observation/me", "value": 50.0}),
    (OtherMeal, "position", {"field": "metrics/eaten", "value": 9}),
    (Restless, "stands-still", {"step": STEP + 1, "field": "observation/me", "value": 60.0}),
    (PaidAtTheReset, "starts-clean", {"world": 0, "step": 61, "field": "reward", "value": 0.25}),
    (NeighbourCleared, "reset-untouched", {"agent": None, "step": 61, "field": "save/storm"}),
    (Loud, "crash", {"world": None, "agent": None, "seen": "step raised ZeroDivisionError: no food"}),
    (Uncopied, "copies", {"world": None, "agent": None, "step": None, "seen": "deepcopy raised TypeError: no copies"}),
]  # fmt: skip


@pytest.mark.parametrize(("world", "law", "more"), PLACES, ids=[world.__name__ for world, *_ in PLACES])
def test_a_finding_names_the_place_of_the_fault(world: type[World], law: str, more: dict[str, Any]) -> None:
    found = next(one for one in check_world(world, steps=62).findings if one.law == law)
    place = {"world": WORLD, "agent": f"camper_{AGENT}", "step": STEP, **more}
    assert found._asdict() | {"law": law} == found._asdict() | place


@pytest.mark.parametrize("total", [np.inf, np.ones(3), np.ones((4, 9)), np.full(4, "many")])
def test_a_metric_of_another_form_is_a_finding_and_all_else_is_judged(total: Any) -> None:
    class Total(Camp):
        @property
        def metrics(self) -> dict[str, Any]:
            return {
                **super().metrics,
                "total": total if self.state.clock.any() else np.zeros(self.num_worlds),
            }

    report = check_world(Total, steps=20)
    assert (report.findings[0].law, report.findings[0].field) == ("metrics", "metrics/total")
    assert {*report.laws} <= {
        "metrics",
        "batch-size",
        "draw",
    }  # three numbers fit a batch of three; pictures show metrics
    assert [line.partition(" ")[0] for line in report.skipped] == [
        "whether"
    ]  # a class in a function is not pickled


def test_why_a_world_is_not_pickled_is_told() -> None:
    class Local(Camp):
        pass

    (skipped,) = check_world(Local, steps=20).skipped
    assert "Local" in skipped.partition("(")[2]


def test_one_box_action_in_five_lies_on_a_bound() -> None:
    world = Drift(2)
    step = world.reset()
    players = Players(world, 0, [0, 1])
    drawn = np.array([players.act(step)["boat"] for _ in range(1500)])  # (draws, W, boats, 2)
    for bound in (-1.0, 1.0):
        assert (drawn == bound).all(axis=(2, 3)).mean() == pytest.approx(0.1, abs=0.02)
    assert not np.array_equal(drawn[:, 0], drawn[:, 1])


def test_a_player_depends_on_its_key_alone() -> None:
    three, one = Camp(3), Camp(1)
    seen, same = three.reset(seeds=np.array([4, 5, 6], np.uint64)), one.reset(seeds=np.array([6], np.uint64))
    many, alone = Players(three, 9, [1, 0, 7]), Players(one, 9, [7])
    for _ in range(9):
        actions, own = many.act(seen), alone.act(same)
        assert np.array_equal(actions[2], own[0])
        seen, same = three.step(actions), one.step(own)


def test_bad_actions_are_bad_in_every_way() -> None:
    nim, drift = Nim(2), Drift(2)
    for world in (nim, drift):
        world.reset()
    good = np.ones((2, 2), np.int64)
    bad = dict(bad_actions(nim, good))
    assert bad.pop("None") is None
    assert [bad[f"one {part}"].shape for part in ("world too few", "axis too many")] == [(1, 2), (2, 2, 1)]
    assert [bad[f"{side} the range"][0, 0] for side in ("above", "below")] == [4, 0]  # legal are 1 to 3
    assert bad["not whole numbers"][0, 0] == 1.5
    assert len(bad) == 5
    boat, buoy = (
        np.zeros((2, 2, 2), np.float32),
        {"anchor": np.zeros((2, 1, 2), int), "pull": np.zeros((2, 1), np.float32)},
    )
    bad = dict(bad_actions(drift, {"boat": boat, "buoy": buoy}))
    assert set(bad["a kind is missing"]) == {"buoy"}
    assert set(bad["buoy, a key is missing"]["buoy"]) == {"pull"}
    assert bad["buoy, anchor, above the range"]["buoy"]["anchor"].ravel().tolist() == [2, 0, 0, 0]
    beyond = [case["boat"].ravel()[0] for name, case in bad.items() if name == "boat, outside the range"]
    assert beyond == [-2.0]  # the lower bound's, which took the upper one's name here
    assert np.isnan(bad["boat, NaN"]["boat"].ravel()[0])
    assert bad["boat, NaN"]["buoy"] is buoy
