"""Two new mechanics in one new file: poison bottles that hurt who uses them, and a patch of mud that slows.

Run it with ``python examples/poison_and_mud.py``. Nothing in the package changes: a mechanic is a `Module`, new bodies
are a `Group`, and the survival world takes both (`docs/new-mechanic.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.planar.modules import Health, IndexBodies, Item, ResetSpawns
from interplay.planar.simulation import Group, Module
from interplay.worlds.survival.config import SurvivalSettings
from interplay.worlds.survival.world import SurvivalWorld


class Poison(Item):
    """Using a bottle costs `damage` hit points. Agents see bottles as they see heals.

    Args:
        damage: hit points.
    """

    def __init__(self, damage: int = 30) -> None:
        self.damage = damage

    def use(self, users: np.ndarray) -> None:
        agents = self.simulation.group("agents")
        health = agents.get_module(Health)
        assert isinstance(health, Health)
        health.change(users, -self.damage)

    def fields(self) -> Mapping[str, tuple[int, ...]]:
        return {"poisons": (self.group.count, 2), "poisons_mask": (self.group.count,)}

    def observe(self, out: Mapping[str, np.ndarray]) -> None:
        state, rows = self.simulation.state, slice(self.group.first, self.group.end)
        present = self.group.present
        out["poisons"][...] = (state.bodies.position[:, rows] * present[..., None])[:, None]
        seen = state.visible[:, :, rows] & present[:, None]
        out["poisons_mask"][...] = ~seen


class MudPatch(Module):
    """Agents inside a circle lose a share of their speed in every step.

    Args:
        centre: metres.
        radius: metres.
        drag: share of the speed that is lost per step.
    """

    def __init__(
        self, centre: tuple[float, float] = (0.0, 0.0), radius: float = 4.0, drag: float = 0.3
    ) -> None:
        self.centre, self.radius, self.drag = np.array(centre), radius, drag

    def pre_step(self) -> None:
        rows = slice(self.group.first, self.group.end)
        bodies = self.simulation.state.bodies
        away = np.linalg.norm(bodies.position[:, rows] - self.centre, axis=-1)
        slowed = (away < self.radius) & self.simulation.active[:, None]
        bodies.velocity[:, rows] *= np.where(slowed, 1.0 - self.drag, 1.0)[..., None]

    def draw(self, canvas: Any, world: int) -> None:
        canvas.circles("mud", self.centre[:1], self.centre[1:], radius=self.radius, fill=False)


def make(num_worlds: int = 1, seed: int = 0, threads: int = 1) -> SurvivalWorld:
    """A duel with eight bottles of poison and mud in the middle."""
    poisons = Group("poisons", 8, [Poison(), ResetSpawns(), IndexBodies()])
    return SurvivalWorld(
        SurvivalSettings(heals=7),
        num_worlds,
        seed,
        threads,
        extra_modules={"agents": [MudPatch()]},
        extra_groups=[poisons],
    )


def main() -> None:
    world = make(num_worlds=64)
    policy = RandomPolicy()
    policy.start(world)
    step = world.reset()
    while not step.over.all():
        step = world.step(policy.act(step))
    drunk = (world.simulation.group("poisons").first <= world.state.inventory).sum()
    print(
        f"{world.num_worlds} duels: mean length {world.metrics['episode_length'].mean():.0f} steps, {drunk} bottles kept"
    )


if __name__ == "__main__":
    main()
