"""What worlds call their choices, which keys mean them, and what a click means."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from interplay.core.controls import controls_of, head_sizes, names_of
from interplay.core.world import World
from interplay.gridworld.actors import (
    BinaryAttackActor,
    CrossMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.gridworld.wrappers import ExclusiveChannelActionWrapper, RavelActionWrapper
from interplay.registry import make_world
from tests.gridworld.fighters import Fighter
from tests.present import worlds_to_test

WITHOUT_KEYS = {"dilemma", "matrix", "navigation/town", "soccer", "werewolf"}  # a form is enough
OWN = (
    "gridworld",
    "matrix",
    "navigation",
    "simulation",
    "pommerman",
)  # families whose worlds have actions of their own


def test_every_world_names_all_its_choices_and_its_keys_mean_some():
    seen = Counter[str]()
    for spec in worlds_to_test():
        family = spec.id.partition("/")[0]
        seen[family] += 1
        if seen[family] > 2 and family not in OWN:
            continue
        world = make_world(spec.id, num_worlds=1)
        for kind in world.kinds:
            names = names_of(world, kind.name)
            assert names is not None, spec.id
            assert [len(choices) for choices in names.values()] == list(head_sizes(kind.action_space))
            controls = controls_of(world, kind.slots[-1])
            keyless = spec.id in WITHOUT_KEYS or family in WITHOUT_KEYS
            if kind.name != "target":  # that of gridworld/reach-the-target aims at nine cells
                assert (controls is None) == keyless, spec.id
        world.close()


def begun(world_id: str, **options: Any) -> World:
    world = make_world(world_id, num_worlds=1, seed=3, **options)
    world.reset()
    return world


def test_sides_of_a_battle_go_where_the_arrows_point():
    world = begun("battle/3m")
    for slot, way in ((0, "ahead"), (3, "back")):
        controls = world.controls(slot)
        assert controls is not None
        assert controls.keys["ArrowRight"] == {"order": way}
        before = world.state.unit["x"][0, slot].copy()
        names = names_of(world, "agent")
        assert names is not None
        action = np.array(world.timestep.action_mask["action"].argmax(-1))
        action[0, slot] = names["order"].index(way)
        world.step(action)
        assert world.state.unit["x"][0, slot] > before
        far = float(world.state.unit["x"][0, slot]) + 9.0
        assert world.click(0, slot, far, 20.0) is not None
        assert world.click(0, slot, far, float(world.state.unit["y"][0, slot])) == {"order": way}


def test_clicks_attack_enemies_walk_to_neighbours_and_mean_nothing_elsewhere():
    battle = begun("battle/3m")
    x, y = (float(battle.state.unit[name][0, 4]) for name in "xy")
    assert battle.click(0, 0, x + 0.1, y) == {"order": "ahead"}  # a hidden enemy is not revealed
    battle.state.unit["x"][0, 0] = x - 3.0
    assert battle.click(0, 0, x + 0.1, y) == {"order": "attack 1"}
    assert battle.click(0, 0, x + 0.7, y) == {"order": "attack 1"}  # twice a marine's radius
    assert battle.click(0, 0, x + 0.8, y) == {"order": "ahead"}
    battle.state.unit["alive"][0, 4] = False
    assert battle.click(0, 0, x + 0.1, y) != {"order": "attack 1"}
    mmo = begun("mmo/combat", slots=8, interior=20, prefill=8)
    row, col = (int(mmo.state.agent[name][0, 2]) for name in ("row", "col"))
    assert mmo.click(0, 2, col + 1.5, row + 0.5) == {"move": "east"}
    assert mmo.click(0, 2, col + 0.5, row - 0.5) == {"move": "north"}
    assert mmo.click(0, 2, col + 3.5, row + 0.5) is None
    pommerman = begun("pommerman/ffa")
    row, col = (int(part) - 1 for part in divmod(int(pommerman.state.agent["cell"][0, 1]), 13))
    assert pommerman.click(0, 1, col + 0.5, row + 0.5) == {"move": "bomb"}
    assert pommerman.click(0, 1, col - 0.5, row + 0.5) == {"move": "left"}


def grid(*actors: Any, attacks: int = 1, view: int = 2) -> World:
    """Two fighters, b to the right of a."""
    agents = {
        name: Fighter(
            id=name,
            encoding=place + 1,
            initial_position=np.array([1, 1 + place]),
            attack_strength=1,
            simultaneous_attacks=attacks,
            view_range=view,
        )
        for place, name in enumerate("ab")
    }
    sim = SmartGridWorldSimulation.build_sim(
        4, 4, agents=agents, states=["PositionState", "HealthState"], actors=[*actors], dones=["ActiveDone"],
        observers=["PositionCenteredEncodingObserver"], rewards=["StepPenalty"], attack_mapping={1: {2}, 2: {1}},
    )  # fmt: skip
    world = sim.vectorize(1)
    world.reset()
    return world


def test_grid_worlds_are_clicked_in():
    world = grid(BinaryAttackActor, MoveActor)
    assert world.click(0, 0, 2.5, 1.5) == {"attack": "attack"}
    assert world.click(0, 0, 0.5, 2.5) == {"up or down": "down", "left or right": "left"}
    assert world.click(0, 0, 1.5, 1.5) is None
    assert world.click(0, 0, 3.5, 3.5) is None
    blind = grid(BinaryAttackActor, MoveActor, view=0)  # a click tells as little as the eye
    assert blind.click(0, 0, 2.5, 1.5) == {"up or down": "stay", "left or right": "right"}
    crossing = grid(CrossMoveActor)
    assert crossing.click(0, 0, 1.5, 0.5) == {"move": "up"}
    assert crossing.click(0, 0, 2.5, 0.5) is None


@pytest.mark.parametrize(
    ("actor", "attacks", "named"),
    [
        (BinaryAttackActor, 2, {"attack": ("0 attacks", "1 attacks", "2 attacks")}),
        (EncodingBasedAttackActor, 1, {"attack encoding 2": ("no attack", "attack")}),
        ((ExclusiveChannelActionWrapper, EncodingBasedAttackActor), 2, None),
        (RestrictedSelectiveAttackActor, 1, {"attack": ("none", "up left", "up", "up right", "left", "here", "right", "down left", "down", "down right")}),
        ((RavelActionWrapper, MoveActor), 1, {"move": ("up left", "up", "up right", "left", "stay", "right", "down left", "down", "down right")}),
    ],
)  # fmt: skip
def test_actors_name_what_can_be_chosen(actor, attacks, named):
    world = grid(actor, attacks=attacks)
    first = world.kinds[0].name
    if named is None:  # a and b would attack others by the same numbers
        assert names_of(world, first) is None
    else:
        assert names_of(world, first) == named
        controls = world.controls(0)
        assert controls is None or controls.idle in (
            {"move": "stay"},
            {"attack": next(iter(named.values()))[0]},
        )


def test_cells_that_are_attacked_one_by_one_are_heads():
    names = names_of(grid(SelectiveAttackActor), "agent")
    assert names is not None
    assert list(names)[:2] == ["attack up left", "attack up"]
    assert len(names) == 9
