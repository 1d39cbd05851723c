"""Our game beside its slow twin: equal boards and actions give equal observations and outputs."""

from __future__ import annotations

import numpy as np

from interplay.worlds.pommerman.config import PommermanSettings
from interplay.worlds.pommerman.state import ACTIONS
from interplay.worlds.pommerman.world import PommermanWorld
from tests.naive.pommerman import PommermanTwin
from tests.worlds.pommerman.scenes import crowd

WORLDS = 8
CHOICES = (0.1, 0.2, 0.2, 0.2, 0.2, 0.1)  # more moves than bombs, so that games last


def draw(rng: np.random.Generator, settings: PommermanSettings, worlds: int = WORLDS) -> np.ndarray:
    """(W, A, heads) random actions."""
    shape = (worlds, settings.players)
    heads = [rng.choice(ACTIONS, shape, p=CHOICES)]
    heads += [rng.integers(0, settings.vocabulary, shape) for _ in range(settings.words * settings.radio)]
    return np.stack(heads, axis=-1)


def as_action(drawn: np.ndarray, settings: PommermanSettings) -> np.ndarray:
    """In the form of the action space."""
    return drawn if settings.radio else drawn[..., 0]


def march(settings: PommermanSettings, steps: int, crowded: bool = False, seed: int = 1) -> int:
    """Steps both, `steps` steps of one world in total; how many games ended.

    Raises:
        AssertionError: at the first difference, naming step, world and field.
    """
    world, rng = PommermanWorld(settings, WORLDS, seed=seed), np.random.default_rng(seed)
    world.reset()
    twins = [PommermanTwin(settings) for _ in range(WORLDS)]
    for twin, number in zip(twins, world.state.stream[:, 0], strict=True):
        twin.reset(int(number))
    everywhere = np.ones(WORLDS, bool)
    _crowd(world, twins, rng, everywhere, crowded)
    ended = 0
    for t in range(steps // WORLDS):
        drawn = draw(rng, settings)
        over = world.step(as_action(drawn, settings)).over.copy()
        for twin, action in zip(twins, drawn.tolist(), strict=True):
            twin.step(action)
        compare(world, twins, f"step {t}")
        if over.any():
            ended += int(over.sum())
            world.reset(over)
            for w in np.flatnonzero(over):
                twins[w].reset()
            _crowd(world, twins, rng, over, crowded)
            compare(world, twins, f"after step {t}")
    return ended


def _crowd(
    world: PommermanWorld,
    twins: list[PommermanTwin],
    rng: np.random.Generator,
    which: np.ndarray,
    crowded: bool,
) -> None:
    if crowded:
        crowd(world, rng, which)
        for w in np.flatnonzero(which):
            twins[w].adopt(world, int(w))


def compare(world: PommermanWorld, twins: list[PommermanTwin], where: str) -> None:
    """Compares a time step and the outcomes."""
    step = world.timestep
    for w, twin in enumerate(twins):
        place = f"{where}, world {w}"
        assert bool(step.over[w]) == twin.over, place
        for name in ("terminated", "truncated"):
            assert getattr(step, name)[w].tolist() == getattr(twin, name), f"{place}: {name}"
        assert np.allclose(step.reward[w], twin.reward, rtol=0, atol=1e-6), f"{place}: reward"
        alive = [player.alive and not twin.over for player in twin.players]
        assert step.acting[w].tolist() == alive, f"{place}: acting"
        outcome = [np.nan if one is None else one for one in twin.outcome]
        assert np.array_equal(world.metrics["outcome"][w], outcome, equal_nan=True), f"{place}: outcome"
        for a in range(world.settings.players):
            seen = twin.observe(a)
            assert seen.keys() == step.observation.keys()
            for name, value in seen.items():
                assert np.array_equal(step.observation[name][w, a], value), f"{place}, agent {a}: {name}"
