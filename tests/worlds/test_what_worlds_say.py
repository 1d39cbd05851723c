"""Properties of worlds that trainers, tournaments and viewers rely on: teams, persistence, hidden information."""

from __future__ import annotations

from typing import Any

import pytest

from interplay.registry import make_world
from tests.present import worlds_to_test

USUAL = {
    "persistent": False,
    "respawns": False,
    "dead_stay": False,
    "ignores_illegal": False,
    "num_populations": 1,
    "population_names": None,
    "teams": None,
    "privileged_view": None,
    "frames_per_step": 1,
    "tick_seconds": None,
}
EVERLASTING = {
    "persistent": True,
    "respawns": True,
    "ignores_illegal": True,
    "num_populations": 8,
    "frames_per_step": 6,
    "tick_seconds": 0.6,
}
TALK = {"privileged_view": False, "frames_per_step": 45}
THIRTIETH = {"dead_stay": True, "tick_seconds": pytest.approx(1 / 30)}
HALVES = ((0, 1), (2, 3))
# World, options, its unusual properties, and the numbers of its kinds.
SAID: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, int]]] = [
    ("battle/3m", {}, {"dead_stay": True, "frames_per_step": 4, "tick_seconds": 0.5, "teams": ((0, 1, 2), (3, 4, 5))}, {"agent": 6}),
    ("battle/3m", {"blue": "1 zealot"}, {"dead_stay": True, "frames_per_step": 4, "tick_seconds": 0.5, "teams": ((0, 1, 2), (3,))}, {"agent": 4}),
    ("dilemma/fixed", {}, {}, {"agent": 2}),
    ("dilemma/open-ended", {}, {}, {"agent": 2}),
    ("doom/basic", {}, {"tick_seconds": pytest.approx(2 / 35)}, {"agent": 1}),
    ("doom/duel", {"frames": 4}, {"tick_seconds": pytest.approx(4 / 35)}, {"agent": 2}),
    ("gridworld/broadcast", {}, {}, {"broadcaster": 4, "blocker": 3}),
    ("gridworld/foragers", {}, {}, {"agent": 5}),
    ("gridworld/foraging", {}, {}, {"agent": 1}),
    ("gridworld/hunters-foragers", {}, {}, {"forager": 5, "hunter": 2}),
    ("gridworld/maze", {}, {}, {"agent": 1}),
    ("gridworld/multi-maze", {}, {}, {"agent": 5}),
    ("gridworld/pacman", {}, {}, {"baddie": 5, "pacman": 1}),
    ("gridworld/pacman-simple", {}, {}, {"agent": 1}),
    ("gridworld/reach-the-target", {}, {}, {"target": 1, "runner": 4}),
    (
        "gridworld/team-battle",
        {"num_agents": 7, "teams": 3},
        {"teams": ((0, 3, 6), (1, 4), (2, 5))},
        {"agent": 7},
    ),
    ("gridworld/traffic-corridor", {}, {}, {"agent": 4}),
    ("matrix/climbing", {}, {"teams": ((0, 1),)}, {"agent": 2}),
    ("matrix/credit", {"agents": 3}, {"teams": ((0, 1, 2),)}, {"agent": 3}),
    ("matrix/recall", {"agents": 2}, {}, {"agent": 2}),
    ("matrix/rock-paper-scissors", {}, {}, {"agent": 2}),
    ("mmo/combat", {}, EVERLASTING, {"agent": 128}),
    ("mmo/combat", {"max_ticks": 9, "npop": 4}, {**EVERLASTING, "persistent": False, "num_populations": 4}, {"agent": 128}),
    ("mmo/forage", {"slots": 40}, EVERLASTING, {"agent": 40}),
    ("navigation/proxy-soft", {}, {}, {"agent": 1}),
    ("pong/2p", {}, {}, {"agent": 2}),
    ("pong/2p-pictures", {"follow": "right"}, {}, {"agent": 2}),
    ("pommerman/1v1", {}, {"frames_per_step": 4}, {"agent": 2}),
    ("pommerman/ffa", {}, {"frames_per_step": 4}, {"agent": 4}),
    ("pommerman/radio", {}, {"dead_stay": True, "frames_per_step": 4, "teams": ((0, 2), (1, 3))}, {"agent": 4}),
    ("simulation/multi-corridor", {"num_agents": 3}, {}, {"agent": 3}),
    ("simulation/multi-corridor-turns", {}, {}, {"agent": 5}),
    ("soccer/2v2", {}, {"teams": ((0, 1), (2, 3)), "tick_seconds": 0.05}, {"agent": 4}),
    ("soccer/2v2", {"players": 1, "decision": 0.025}, {"teams": ((0,), (1,)), "tick_seconds": 0.025}, {"agent": 2}),
    ("survival/1v1-heals-low", {}, THIRTIETH, {"agent": 2}),
    ("survival/2v2-all-high", {}, {**THIRTIETH, "teams": HALVES}, {"agent": 4}),
    ("survival/2v2-all-high", {"teams": False}, THIRTIETH, {"agent": 4}),
    (
        "werewolf/9-l1s9",
        {},
        {**TALK, "num_populations": 2, "population_names": ("villager", "werewolf")},
        {"agent": 9},
    ),
    (
        "werewolf/aiwolf5",
        {},
        {**TALK, "num_populations": 4, "population_names": ("villager", "werewolf", "seer", "possessed")},
        {"agent": 5},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("world_id", "options", "said", "kinds"), SAID)
def test_what_a_world_says_of_itself(world_id, options, said, kinds):
    world = make_world(world_id, num_worlds=3, first_world=5, **options)
    assert {name: getattr(world, name) for name in USUAL} == {**USUAL, **said}
    assert {kind.name: len(kind.slots) for kind in world.kinds} == kinds
    assert (world.id, world.num_worlds, world.first_world) == (world_id, 3, 5)
    assert sorted(slot for kind in world.kinds for slot in kind.slots) == list(range(len(world.agents)))
    world.close()


def test_every_family_is_asked():
    asked = {world_id.partition("/")[0] for world_id, *_ in SAID}
    assert asked == {spec.id.partition("/")[0] for spec in worlds_to_test()} | {"doom"}
