"""Simulation, Group and Module: fused and single phases agree, users' modules are notified, order and threads do not matter."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.planar.modules import Health, IndexBodies, Lidars, LogDeaths, ResetSpawns
from interplay.planar.simulation import Group, Module
from interplay.worlds.survival.config import VARIANTS, SurvivalSettings
from interplay.worlds.survival.policies import Hunter
from interplay.worlds.survival.world import SurvivalWorld

EXAMPLE = Path(__file__).parents[2] / "examples" / "poison_and_mud.py"
CROWDED = {
    **VARIANTS["2v2-all-high"],
    "health": 30,
    "room": 12.0,
    "zone_radii": (6.0, 4.0, 2.0),
    "zone_cooldown": 20,
}


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("poison_and_mud", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(world: SurvivalWorld, steps: int = 150) -> list[np.ndarray]:
    """Hashes of a hunt, with resets of the worlds that end."""
    policy = Hunter()
    policy.start(world)
    step = world.reset()
    hashes = [world.hash()]
    for _ in range(steps):
        step = world.step(policy.act(step))
        if step.over.any():
            step = world.reset(step.over)
        hashes.append(world.hash())
    return hashes


class Listener(Module):
    """Does nothing but split the compiled step at its place, and records the bodies of its notifications."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def pre_step(self) -> None:
        self.told.append(("pre_step", 0))

    def post_spawn(self, bodies: np.ndarray) -> None:
        assert self.group.present[bodies].all()
        self.told.append(("post_spawn", int(bodies.sum())))

    def pre_despawn(self, bodies: np.ndarray) -> None:
        self.told.append(("pre_despawn", int(bodies.sum())))


def crowd(**arguments: object) -> SurvivalWorld:
    return SurvivalWorld(SurvivalSettings(**CROWDED), 6, 5, **arguments)  # type: ignore[arg-type]


def test_fused_single_phases_split_and_threads_give_the_same_bits() -> None:
    fused = play(crowd())
    assert np.array_equal(fused, play(crowd(fused=False)))
    assert np.array_equal(fused, play(crowd(threads=3)))
    split = {name: [Listener()] for name in ("agents", "boxes", "heals", "box_items")}
    assert np.array_equal(fused, play(crowd(extra_modules=split)))


def test_a_listener_hears_of_every_body_that_comes_and_goes() -> None:
    agents, heals, boxes = Listener(), Listener(), Listener()
    world = crowd(extra_modules={"agents": [agents], "heals": [heals], "boxes": [boxes]})
    play(world, 200)

    def count(listener: Listener, event: str) -> int:
        return sum(bodies for told, bodies in listener.told if told == event)

    standing = {group.name: int(group.present.sum()) for group in world.simulation.groups}
    # Bodies of earlier episodes vanish with the reset, not by a despawn.
    assert count(agents, "post_spawn") - count(agents, "pre_despawn") >= standing["agents"]
    assert count(agents, "pre_despawn") > 0
    assert count(heals, "pre_despawn") > 0
    assert count(boxes, "pre_despawn") > 0
    assert ("pre_step", 0) in agents.told


def test_a_module_told_of_bodies_by_the_group_itself() -> None:
    standing: list[bool] = []

    class Looking(Listener):
        def pre_despawn(self, bodies: np.ndarray) -> None:
            super().pre_despawn(bodies)
            standing.append(bool(self.group.present[bodies].all()))

    heals = Looking()
    world = SurvivalWorld(SurvivalSettings(), 2, extra_modules={"heals": [heals]})
    world.reset()
    group = world.simulation.group("heals")
    gone = np.zeros((2, 15), bool)
    gone[1, 3] = True
    group.despawn(gone)
    assert heals.told[-1] == ("pre_despawn", 1)
    assert standing == [True]  # it is notified before they go
    assert group.present.sum() == 29
    assert world.state.body["index"][1, group.first + 3] == -1
    group.spawn(gone, np.full((2, 15, 2), 1.5))
    assert heals.told[-1] == ("post_spawn", 1)
    assert np.array_equal(world.state.bodies.position[1, group.first + 3], [1.5, 1.5])
    assert world.state.body["index"][1, group.first + 3] == -1  # a number is never used again


def test_who_spawns_stands_at_rest_where_it_was_told_and_nobody_else_is_touched() -> None:
    world = SurvivalWorld(SurvivalSettings(), 2)
    world.reset()
    group, bodies = world.simulation.group("heals"), world.state.bodies
    moving = ("position", "angle", "turn", "velocity", "spin")
    for number, name in enumerate(moving, 1):
        getattr(bodies, name)[...] = number / 7
    bodies.present[:, group.first : group.end] = False
    before = {name: getattr(bodies, name).copy() for name in (*moving, "present", "radius", "inverse_mass")}
    some = np.zeros((2, group.count), bool)
    some[0, 1] = some[1, [0, 4]] = True
    places = np.random.default_rng(1).uniform(-2, 2, (2, group.count, 2))
    group.spawn(some, places, angle=0.5)
    told = np.zeros(bodies.present.shape, bool)
    told[:, group.first : group.end] = some
    expected = {
        "angle": 0.5,
        "turn": (np.cos(0.5), np.sin(0.5)),
        "velocity": 0.0,
        "spin": 0.0,
        "present": True,
    }
    for name, array in before.items():
        found = getattr(bodies, name)
        assert np.array_equal(found[~told], array[~told]), name
        wanted = places[some] if name == "position" else expected.get(name, array[told])
        assert np.array_equal(found[told], np.broadcast_to(wanted, found[told].shape)), name


def test_health_changes_for_those_who_were_named_and_stand_there() -> None:
    world = SurvivalWorld(SurvivalSettings(**VARIANTS["2v2-all-high"]), 2)
    world.reset()
    group = world.simulation.group("agents")
    health = group.get_module(Health)
    assert isinstance(health, Health)
    rows = slice(group.first, group.end)
    state = world.state.body
    state["health"][:, rows], state["cause"][:, rows] = 50, -1
    world.state.bodies.present[1, group.first + 2] = False
    some = np.zeros((2, group.count), bool)
    some[0, 1] = some[1, [0, 2]] = True
    health.change(some, np.arange(8).reshape(2, 4) - 10, cause=3)
    assert state["health"][:, rows].tolist() == [
        [50, 41, 50, 50],
        [44, 50, 50, 50],
    ]  # absent bodies are not hurt
    assert state["cause"][:, rows].tolist() == [[-1, 3, -1, -1], [3, -1, -1, -1]]
    health.change(some, 5)
    assert state["health"][:, rows].tolist() == [[50, 46, 50, 50], [49, 50, 50, 50]]
    assert state["cause"][:, rows].tolist() == [[-1] * 4] * 2  # no cause is recorded if none is given


def test_new_mechanics_in_one_file_change_the_game_and_nothing_else() -> None:
    module = example()
    world = module.make(num_worlds=8, seed=1)
    step = world.reset()
    assert step.observation["poisons"].shape == (8, 2, 8, 2)
    assert "poisons_mask" in world.observation_space.spaces
    # Agent 0 of every world holds a bottle and drinks it: exactly the damage, without a cause.
    poisons = world.simulation.group("poisons")
    bottle = np.zeros((8, 8), bool)
    bottle[:, 0] = True
    poisons.despawn(bottle)
    world.state.inventory[:, 0, 0] = poisons.first
    world.state.agent["held"][:, 0] = 1
    world.state.bodies.position[:, 0], world.state.bodies.position[:, 1] = (
        (3.0, 3.0),
        (-3.0, 3.0),
    )  # inside the zone
    drink = np.tile([1, 1, 1, 0, 1, 0], (8, 2, 1))
    world.step(drink)
    assert np.array_equal(world.state.body["health"][:, 0], np.full(8, 70))
    assert np.array_equal(world.state.body["health"][:, 1], np.full(8, 100))
    assert (world.state.agent["held"][:, 0] == 0).all()


def test_mud_slows_inside_and_only_inside() -> None:
    module = example()
    world = module.make(num_worlds=4, seed=2)
    world.reset()
    bodies = world.state.bodies
    bodies.position[:, 0], bodies.position[:, 1] = (1.0, 1.0), (10.0, 10.0)
    bodies.velocity[:, :2] = (2.0, 0.0)
    world.step(np.tile([1, 1, 1, 0, 0, 0], (4, 2, 1)))
    decay = (1 - 0.8 / 60) ** 2
    assert np.allclose(bodies.velocity[:, 0, 0], 2.0 * 0.7 * decay)
    assert np.allclose(bodies.velocity[:, 1, 0], 2.0 * decay)


def test_a_users_world_saves_and_loads_its_modules() -> None:
    module = example()
    world = module.make(num_worlds=3, seed=4)
    policy = RandomPolicy()
    policy.start(world)
    step = world.reset()
    actions = [policy.act(step) for _ in range(60)]
    for action in actions[:30]:
        world.step(action)
    saved = world.save()
    for action in actions[30:]:
        world.step(action)
    end = world.hash()
    other = module.make(num_worlds=3, seed=9)
    other.load(saved)
    for action in actions[30:]:
        other.step(action)
    assert np.array_equal(other.hash(), end)


def test_lidars_measure_the_wall_ahead() -> None:
    lidars = Lidars(rays=1, depth=40.0)
    world = SurvivalWorld(SurvivalSettings(heals=0, agents=1), 3, extra_modules={"agents": [lidars]})
    world.reset()
    expected = world.settings.wall - world.state.bodies.position[:, 0, 0]
    assert np.allclose(lidars.distance[:, 0, 0], expected)


def test_deaths_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    world = SurvivalWorld(SurvivalSettings(heals=0), 2, extra_modules={"agents": [LogDeaths(sys.stdout)]})
    world.reset()
    world.state.body["health"][1, 0] = 0
    world.step(np.tile([1, 1, 1, 0, 0, 0], (2, 2, 1)))
    assert capsys.readouterr().out == "world 1: agents 0 died\n"


def test_groups_name_what_they_lack() -> None:
    group = Group("stones", 2, [ResetSpawns(), IndexBodies()])
    with pytest.raises(UserError, match="group stones has no Health"):
        group.get_module(Health)
    world = SurvivalWorld(SurvivalSettings(), 1)
    with pytest.raises(UserError, match="no group 'stones'"):
        world.simulation.group("stones")


def test_the_merged_plan_is_written_down() -> None:
    """Survival's order of phases, as in `docs/specs/survival.md` 3."""
    written = Path(__file__).parents[1] / "worlds" / "survival_phases.txt"
    for fused in (True, False):
        world = SurvivalWorld(SurvivalSettings(**VARIANTS["2v2-all-low"]), fused=fused)
        assert world.simulation.describe() + "\n" == written.read_text(encoding="utf-8")
    plan = example().make(num_worlds=1).simulation.describe().splitlines()
    assert plan.index("  MudPatch.pre_step agents") < plan.index("  move_bodies")
