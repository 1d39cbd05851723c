"""Every law of the persistent world can fail: a fault is planted for each. And the laws hold, in short, over odd settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bench import mmo_laws as laws
from bench import mmo_soak
from bench.mmo_invariants import Invariants, Violation
from interplay import make_world
from interplay.worlds.mmo.tiles import GRASS, WATER

SETTINGS: dict[str, Any] = {
    "interior": 24,
    "slots": 32,
    "npop": 4,
    "cap_draw": "fixed",
    "prefill": 24,
    "spawn_per_tick": 2,
    "immunity": "off",
}
WORLD = 1  # where faults are planted


class Scene:
    """A batch in a tick in which agents in WORLD were born, died and lived on."""

    def __init__(self, num_worlds: int = 3) -> None:
        self.world: Any = make_world("mmo/combat", num_worlds, 4, **SETTINGS)
        timestep, rng = self.world.reset(), np.random.default_rng(2)
        self.watch, self.state = Invariants(self.world), self.world.state
        while True:
            if self.tick > 0:
                self.watch.check(timestep)
            timestep = self.world.step(rng.integers(0, (5, 3), (num_worlds, 32, 2)))
            young = self.state.agent["life"][-1] == 0
            if self.tick > 30 and (young & self.alive).any() and timestep.terminated[-1].any():
                break
        self.timestep = timestep

    @property
    def tick(self) -> int:
        return int(self.state.room["tick"][0])

    @property
    def alive(self) -> np.ndarray:
        return np.asarray(self.state.agent["alive"][-1])

    def slots_by_age(self) -> np.ndarray:
        """Living slots of the last world, the oldest first."""
        slots = np.flatnonzero(self.alive)
        return slots[np.argsort(self.state.agent["life_id"][-1, slots])]


@pytest.fixture
def scene() -> Scene:
    return Scene(WORLD + 1)


# Each plants one fault in the last world and returns the slot that has to be named, or None.


def shown_as_dead(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.acting[WORLD, slot] = False
    return slot


def off_the_map(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.agent["row"][WORLD, slot] = -3
    return slot


def in_the_water(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    row, col = np.argwhere(s.state.tiles[WORLD] == WATER)[0]
    s.state.agent["row"][WORLD, slot], s.state.agent["col"][WORLD, slot] = row, col
    return slot


def ghost_head(s: Scene) -> None:
    row, col = np.argwhere(s.state.heads[WORLD] == 0)[0]
    s.state.heads[WORLD, row, col] = 1


def one_living_more(s: Scene) -> None:
    s.state.room["living"][WORLD] += 1


def one_standing_more(s: Scene) -> None:
    s.state.standing[WORLD, 0] += 1


def lower_cap(s: Scene) -> None:
    s.state.room["cap"][WORLD] = s.alive.sum() - 1


def lower_quota(s: Scene) -> None:
    p = s.state.standing[WORLD].argmax()
    s.state.quota[WORLD, p] = s.state.standing[WORLD, p] - 1


def one_death_more(s: Scene) -> None:
    s.state.room["deaths"][WORLD] += 1


def one_cause_more(s: Scene) -> None:
    s.state.causes[WORLD, 1] += 1


def another_cause(s: Scene) -> None:
    s.state.causes[WORLD, 1] += 1
    s.state.causes[WORLD, 2] -= 1


def twins(s: Scene) -> None:
    first, second = s.slots_by_age()[:2]
    s.state.agent["life_id"][WORLD, second] = s.state.agent["life_id"][WORLD, first]


def births_swapped(s: Scene) -> None:
    ends = s.slots_by_age()[[0, -1]]
    s.state.agent["birth"][WORLD, ends] = s.state.agent["birth"][WORLD, ends[::-1]]


def reborn(s: Scene) -> None:
    """The youngest gets the number of an agent that died long ago."""
    slot = s.slots_by_age()[-1]
    oldest = s.state.agent["life_id"][WORLD, s.slots_by_age()[0]]
    s.state.agent["life_id"][WORLD, slot] = oldest - 1
    s.state.agent["birth"][WORLD, slot] = 0


def slots_swapped(s: Scene) -> int:
    pair = np.sort(s.slots_by_age()[:2])
    s.state.agent[WORLD, pair] = s.state.agent[WORLD, pair[::-1]]
    return int(pair[0])


def longer_life(s: Scene) -> int:
    slot = int(np.flatnonzero(s.timestep.terminated[WORLD])[0])
    s.state.tally["ended_life"][WORLD, slot] += 1
    return slot


def forgotten_scrub(s: Scene) -> None:
    s.state.room["depleted"][WORLD] -= 1


def scrub_twice(s: Scene) -> None:
    s.state.depleted[WORLD, 0] = s.state.depleted[WORLD, 1]


def lava_cools(s: Scene) -> None:
    s.state.tiles[WORLD, 0, 0] = GRASS


def overfed(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.agent["food"][WORLD, slot] = 33
    return slot


def stiff(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.agent["freeze"][WORLD, slot] = 4
    return slot


def walking_dead(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.agent["health"][WORLD, slot] = 0
    return slot


def older(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.agent["life"][WORLD, slot] += 1
    return slot


def overpaid(s: Scene) -> int:
    slot = int(s.slots_by_age()[0])
    s.state.reward[WORLD, slot] = 2
    return slot


def tick_lost(s: Scene) -> None:
    s.state.room["life_ticks"][WORLD] -= 1


def kill_invented(s: Scene) -> None:
    s.state.agent["kills"][WORLD, s.slots_by_age()[0]] += 1


FAULTS: list[tuple[Callable[[Scene], int | None], Callable[[Any], np.ndarray]]] = [
    (shown_as_dead, laws.acting),
    (off_the_map, laws.on_the_map),
    (in_the_water, laws.on_ground),
    (ghost_head, laws.heads),
    (one_living_more, laws.living),
    (one_standing_more, laws.standing),
    (lower_cap, laws.caps),
    (lower_quota, laws.quotas),
    (one_death_more, laws.births_and_deaths),
    (one_cause_more, laws.every_death_has_a_cause),
    (another_cause, laws.causes_of_this_tick),
    (twins, laws.ids_are_unique),
    (births_swapped, laws.ids_ascend),
    (reborn, laws.ids_are_used_up),
    (slots_swapped, laws.one_occupant),
    (longer_life, laws.books_of_the_dead),
    (forgotten_scrub, laws.depleted_are_scrub),
    (scrub_twice, laws.depleted_are_scrub),
    (lava_cools, laws.ground_stays),
    (overfed, laws.stats),
    (stiff, laws.stats),
    (walking_dead, laws.stats),
    (older, laws.ages),
    (overpaid, laws.rewards),
    (tick_lost, laws.ticks_add_up),
    (kill_invented, laws.kills_add_up),
]


@pytest.mark.parametrize(("plant", "law"), FAULTS, ids=[plant.__name__ for plant, _ in FAULTS])
def test_a_planted_fault_breaks_its_law(scene, plant, law):
    slot = plant(scene)
    with pytest.raises(Violation) as caught:
        scene.watch.check(scene.timestep)
    assert laws.LAWS[caught.value.law] is law
    assert (caught.value.world, caught.value.tick, caught.value.slot) == (WORLD, scene.tick, slot)


def test_every_law_has_a_planted_fault(scene):
    scene.watch.check(scene.timestep)  # without one all is well
    assert {law for _, law in FAULTS} == set(laws.LAWS.values())


@pytest.mark.parametrize(
    ("field", "rows", "value", "law"),
    [
        ("filled", ..., 31, "a view's count is not the living in view"),
        ("entities", 0, np.nan, "a view's entities are not finite"),
        ("entities", 0, 3.0, "a view's first row is not the observer's own"),
        ("entities", -1, 1.0, "a view has numbers in rows that are not used"),
        ("tiles", ..., 6, "a view's tiles are not those of the map"),
        ("occupancy", ..., 200, "a view's heads are not those of the map"),
        ("mask", ..., False, "a mask of moves is not what the map allows"),
    ],
)
def test_a_wrong_view_is_seen(field, rows, value, law):
    scene = Scene(1)
    slot = int(scene.slots_by_age()[0])
    array = getattr(scene.world._sight, field)
    array[(0, slot) if rows is ... else (0, slot, rows)] = value
    with pytest.raises(Violation, match=law) as caught:
        scene.watch.check(scene.timestep)
    assert caught.value.slot == slot


def test_a_view_of_nobody_is_seen():
    scene = Scene(1)
    slot = int(np.flatnonzero(~scene.alive)[0])
    scene.world._sight.tiles[0, slot] = GRASS
    with pytest.raises(Violation, match=f"slot {slot}: a free slot's view is not empty"):
        scene.watch.check(scene.timestep)


@pytest.mark.parametrize("name", mmo_soak.PARTS)
def test_the_laws_hold_over_odd_settings(name):
    part = mmo_soak.PARTS[name]
    report = mmo_soak.soak(part._replace(worlds=min(part.worlds, 3)), 9_000, 5, lambda _: None)
    assert report.steps >= 9_000
    assert report.causes[1:].sum() > 0


def test_a_broken_law_ends_the_soak_in_one_line(monkeypatch, capsys):
    monkeypatch.setitem(laws.LAWS, "somebody is old", lambda m: m.alive & (m.agent("life") > 5))
    assert mmo_soak.soak_all(["forage"], 30_000, 0) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("broken law: forage, mmo/forage: world ")
    assert "tick 6, slot 0: somebody is old" in last


def test_an_interrupted_soak_says_how_far_it_came(monkeypatch, capsys):
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mmo_soak, "_show", interrupt)
    assert mmo_soak.soak_all(["crowded"], 1_000_000, 0) == 130
    assert "interrupted in crowded after 0 agent-steps" in capsys.readouterr().out


def test_soaks_are_the_same_again():
    part = mmo_soak.PARTS["learned"]._replace(worlds=2)
    runs = [mmo_soak.soak(part, 5_000, seed, lambda _: None) for seed in (1, 1, 2)]
    assert runs[0].hash == runs[1].hash != runs[2].hash
