"""Under fog nothing is sent that an agent does not observe: where two states look the same to it, so do their frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.fog import EVERYTHING, UNSEEN, fogged, hideable
from interplay.core.frames import Encoder
from interplay.core.scene import Canvas, scene_of
from interplay.core.world import World
from interplay.registry import make_world
from tests.present import worlds_to_test

# World, options: small, so that much is out of sight.
WORLDS: list[tuple[str, dict[str, Any]]] = [
    ("mmo/combat", {"slots": 24, "interior": 20, "prefill": 20, "vision": 3, "respawn": "none"}),
    ("battle/3s5z", {}),
    ("battle/3s5z", {"look_directions": 4, "unit_ranges": True, "notice_chance": 0.5}),
    ("survival/2v2-all-low", {}),
    ("pommerman/team-fog", {}),
    ("gridworld/team-battle", {"num_agents": 12}),
    ("gridworld/hunters-foragers", {}),
    ("matrix/credit", {}),
    ("simulation/multi-corridor", {"end": 16}),
]


@pytest.mark.parametrize(("world_id", "options"), WORLDS)
def test_frames_under_fog_say_no_more_than_observations(world_id, options):
    world = make_world(world_id, num_worlds=1, seed=5, **options)
    rng = np.random.default_rng(1)
    world.reset(seeds=5)
    alike = apart = 0
    for _ in range(8):
        for _ in range(2):
            play(world, act(world, rng))
        before = world.save()
        base = act(world, rng)
        for slot, another in pairs(world, rng):
            views, scenes = [], []
            world.load(before)
            for action in (base, replaced(world, base, act(world, rng), another)):
                world.load(before)
                world.step(action)
                views.append(observed(world, slot))
                scenes.append((frame(world, slot), frame(world)))
            if views[0] == views[1]:
                assert scenes[0][0] == scenes[1][0], f"slot {slot}"
                alike += 1
                apart += scenes[0][1] != scenes[1][1]
        world.load(before)
        play(world, base)
    assert alike > 10
    assert apart > 5  # something was hidden
    world.close()


def test_worlds_that_hide_nothing_say_so_and_none_names_a_layer_that_is_not_there():
    said = {}
    for spec in worlds_to_test():
        family = spec.id.partition("/")[0]
        if spec.id.endswith(("-1024", "-8192", "-32000", "-50")) or (
            family in said and family != "gridworld"
        ):
            continue
        world = make_world(spec.id, num_worlds=1)
        world.reset(seeds=1)
        found = [world.visible(0, slot) for slot in range(min(len(world.agents), 3))]
        for visible in found:
            if visible is not None:
                fogged(hideable(scene_of(world)), visible)
        said[family] = None if found[0] is None else found[0] is EVERYTHING
        world.close()
    assert said == {
        "battle": False, "dilemma": True, "gridworld": False, "matrix": True, "mmo": False, "navigation": False, "pommerman": True,
        "pong": True, "simulation": False, "soccer": True, "survival": False, "werewolf": True,
    }  # fmt: skip


def test_what_is_hidden_is_taken_out_and_rows_keep_their_places():
    canvas = Canvas(bounds=(0, 0, 4, 4))
    canvas.tiles("ground", [[1, 2], [3, 4]])
    canvas.circles(
        "agents", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], bars={"health": ([3, 4, 5], 9)}, labels=["a", "b", "c"]
    )
    absent = np.array([True, False, False])
    canvas.circles("bombs", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], colour=[1, 2, 3], absent=absent)
    canvas.table("counts", ["n"], [[1], [2]])
    canvas.labels("words", [1.0], [1.0], ["secret"])
    scene = hideable(canvas.scene())
    mask = np.array([False, True, False])
    left = fogged(
        scene,
        {"agents": mask, "agents/bar.health": ~mask, "bombs": np.array([2]), "ground": np.eye(2, dtype=bool), "counts": np.array([False, True])},
    )  # fmt: skip
    agents, bombs = left.layer("agents"), left.layer("bombs")
    assert agents.columns["x"].tolist() == [0, 2, 0]
    assert agents.columns["absent"].tolist() == [True, False, True]
    assert agents.columns["bar.health"].tolist() == [0, 0, 0]
    assert agents.text == ("", "b", "")
    assert (bombs.rows, bombs.columns["colour"].tolist()) == (1, [3])
    assert bombs.columns["absent"].tolist() == [False]
    some = fogged(scene, {"bombs": np.array([True, True, False])}).layer("bombs").columns["absent"]
    assert some.tolist() == [True, False, True]  # a row that is absent in the scene remains so
    assert left.layer("ground").columns["tile"].tolist() == [[1, UNSEEN], [UNSEEN, 4]]
    assert left.layer("counts").text == ((2,),)
    assert (left.layer("words").rows, left.layer("words").text) == (0, ())
    nobody = fogged(scene, {}).layer("agents")
    assert (nobody.rows, nobody.columns["absent"].all()) == (3, True)
    assert scene.layer("agents").columns["x"].tolist() == [1, 2, 3]
    assert fogged(scene, EVERYTHING) is scene
    left.check_follows(scene)
    with pytest.raises(UserError, match="agent is no layer"):
        fogged(scene, {"agent": True})
    with pytest.raises(UserError, match="agents has no column angel; name one"):
        fogged(scene, {"agents": mask, "agents/angel": mask})
    with pytest.raises(UserError, match=r"agents has mask bool\(2,\); give True or bool\(3,\)"):
        fogged(scene, {"agents": np.ones(2, bool)})


def pairs(world: World, rng: np.random.Generator) -> list[list[int]]:
    """Up to four acting agents, each with another one."""
    acting = rng.permutation(np.flatnonzero(world.timestep.acting[0]))[:8]
    return acting[: len(acting) // 2 * 2].reshape(-1, 2).tolist()


def play(world: World, action: Any) -> None:
    world.step(action)
    if world.timestep.over.any():
        world.reset(which=world.timestep.over.copy())


def act(world: World, rng: np.random.Generator) -> Any:
    """Random legal actions."""
    from interplay.checker.bench import Players

    return Players(world, int(rng.integers(2**31)), range(1)).act(world.timestep)


def replaced(world: World, base: Any, action: Any, slot: int) -> Any:
    """The same actions, but another one of one slot."""
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    column = kind.slots.index(slot)

    def merged(one: Any, other: Any) -> Any:
        if isinstance(one, dict):
            return {key: merged(one[key], other[key]) for key in one}
        one = np.array(one)
        one[0, column] = other[0, column]
        return one

    if len(world.kinds) == 1:
        return merged(base, action)
    return {**base, kind.name: merged(base[kind.name], action[kind.name])}


def observed(world: World, slot: int) -> bytes:
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    fields = world.by_kind(world.timestep.observation)[kind.name]
    seen = {name: np.array(array[0, kind.slots.index(slot)]) for name, array in fields.items()}
    for name, array in seen.items():
        if f"{name}_mask" in seen:  # survival leaves it to networks to hide masked rows
            array[seen[f"{name}_mask"] > 0] = 0
    # The agent's own place is always shown, also where it is not observed.
    own = [
        layer.columns[name][slot]
        for layer in scene_of(world).layers
        if layer.name == "agents"
        for name in "xy"
        if layer.columns
    ]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in (*seen.values(), *own))


def frame(world: World, slot: int | None = None) -> bytes:
    scene = hideable(scene_of(world))
    if slot is not None:
        visible = world.visible(0, slot)
        assert visible is not None
        scene = fogged(scene, visible)
    return Encoder(scene, recording=False).encode(scene, 0, key=True)


def test_who_is_visible_is_who_is_observed():
    mmo = make_world("mmo/combat", num_worlds=1, seed=5, **WORLDS[0][1])
    mmo.reset(seeds=5)
    for slot in np.flatnonzero(mmo.timestep.acting[0]).tolist():
        assert mmo.visible(0, slot)["agents"].sum() == mmo.timestep.observation["count"][0, slot]
    battle = make_world("battle/3m", num_worlds=1, red="2 marine", blue="3 marine", notice_chance=0.5)
    battle.reset(seeds=5)
    battle.state.unit["x"][0] = [-1.0, 0.0, -1.0, 0.0, 1.0]
    battle.state.known[:] = False
    battle.state.known[0, 0, 1] = battle.state.known[0, 3, 0] = True
    assert battle.visible(0, 0)["agents"].tolist() == [True, True, False, True, False]
    assert battle.visible(0, 3)["agents"].tolist() == [True, False, True, True, True]
