"""Our battle beside its slow twin: equal seeds and equal actions, equal states and time steps."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import sample_legal
from interplay.core.seeding import DRAWS
from interplay.worlds.battle.config import VARIANTS, BattleSettings
from interplay.worlds.battle.world import BattleWorld
from tests.naive.battle import BattleTwin

WORLDS = 4
STATE = (
    "x",
    "y",
    "health",
    "shield",
    "cooldown",
    "barrier",
    "barrier_clock",
    "calm",
    "last",
    "alive",
    "present",
)


def settings_of(variant: str, **options: object) -> BattleSettings:
    """Of a named scenario."""
    return BattleSettings(**{**VARIANTS[variant], **options})  # type: ignore[arg-type]


def fight(world: BattleWorld, rng: np.random.Generator) -> np.ndarray:
    """(W, A) legal actions, attacks where there are any in seven of eight choices: random play alone hardly ever fights."""
    mask = world.timestep.action_mask["action"].copy()  # type: ignore[index]
    attacks = np.zeros_like(mask)
    enemies = int(world.table[0]["enemies"])
    attacks[..., 6 : 6 + enemies] = mask[..., 6 : 6 + enemies]
    forward = mask[..., 4] & ~attacks.any(axis=2)
    eager = rng.random(mask.shape[:2]) < 7 / 8
    mask = np.where((attacks.any(axis=2) & eager)[..., None], attacks, mask)
    action = sample_legal(world.action_space, {"action": mask}, rng, mask.shape[:2])
    return np.where(forward & eager, 4, action)


def march(settings: BattleSettings, steps: int, seed: int = 1) -> int:
    """Steps both; how many battles ended.

    Raises:
        AssertionError: at the first difference, naming step, world and field.
    """
    world, rng = BattleWorld(settings, WORLDS, seed=seed), np.random.default_rng(seed)
    world.reset()
    twins = [BattleTwin(settings) for _ in range(WORLDS)]
    for twin, number in zip(twins, world.state.stream[:, 0], strict=True):
        twin.reset(int(number))
    compare(world, twins, "at first")
    ended = 0
    for t in range(steps):
        action = fight(world, rng)
        over = world.step(action).over.copy()
        for twin, row in zip(twins, action.tolist(), strict=True):
            twin.step(row)
        compare(world, twins, f"step {t}")
        if over.any():
            ended += int(over.sum())
            world.reset(over)
            for w in np.flatnonzero(over):
                twins[w].reset()
            compare(world, twins, f"after step {t}")
    return ended


def compare(world: BattleWorld, twins: list[BattleTwin], where: str) -> None:
    """The whole state, and every field of a time step."""
    step, states = world.timestep, [world.side_state(side) for side in (0, 1)]
    for w, twin in enumerate(twins):
        place = f"{where}, world {w}"
        for name in STATE:
            ours = world.state.unit[name][w].tolist()
            assert ours == [getattr(unit, name) for unit in twin.units], f"{place}: {name}"
        if world.settings.look_directions:
            assert world.state.look[w].tolist() == [unit.look for unit in twin.units], f"{place}: look"
        if world.settings.notice_chance < 1:
            compare_knowledge(world, twin, w, place)
        assert int(world.state.stream[w, DRAWS]) == twin.draws, f"{place}: draws"
        assert bool(step.over[w]) == twin.over, place
        for name in ("terminated", "truncated"):
            assert getattr(step, name)[w].tolist() == getattr(twin, name), f"{place}: {name}"
        assert np.allclose(step.reward[w], twin.reward, rtol=1e-6, atol=1e-6), f"{place}: reward"
        acting = [unit.alive and not twin.over for unit in twin.units]
        assert step.acting[w].tolist() == acting, f"{place}: acting"
        for a, unit in enumerate(twin.units):
            assert step.action_mask["action"][w, a].tolist() == twin.legal(unit), f"{place}, unit {a}: legal"  # type: ignore[index]
            seen, wanted = step.observation["units"][w, a], np.float32(twin.observe(unit))
            assert np.array_equal(seen[: len(wanted)], wanted), f"{place}, unit {a}: seen"
            assert not seen[len(wanted) :].any(), f"{place}, unit {a}: padding"
        for side in (0, 1):
            assert np.array_equal(states[side][w], np.float32(twin.state(side))), f"{place}: state {side}"


def compare_knowledge(world: BattleWorld, twin: BattleTwin, w: int, place: str) -> None:
    """The first observers, and the noticed enemies."""
    reds = len(twin.sides[0])
    for unit in twin.units:
        seer = -1 if unit.seer is None else twin.sides[1 - unit.side].index(unit.seer)
        assert world.state.seer[w, unit.slot] == seer, f"{place}, unit {unit.slot}: seer"
        known = set(np.flatnonzero(world.state.known[w, unit.slot]) + (0 if unit.side else reds))
        assert known == unit.known, f"{place}, unit {unit.slot}: known"
