"""One survival room that a test furnishes by hand and then steps."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from interplay.core.world import TimeStep
from interplay.registry import make_world
from interplay.worlds.survival.state import arrays_of

HEADS = ("ahead", "left", "turn", "attack", "use", "give", "drop")
IDLE = {"ahead": 1, "left": 1, "turn": 1}
FAR = 8.0  # in the corners of the first zone, out of the way


class Scene:
    """A room of the preset without interference: agents wait in its corners, items are not scattered."""

    def __init__(self, variant: str = "1v1-heals-low", **options: Any) -> None:
        radii = options.get("zone_radii", (12.5, 10.0, 7.5, 5.0, 4.0, 2.0, 1.0))
        options.setdefault("zone_centres", ((0.0, 0.0),) * (len(radii) + 1))
        self.world = make_world(f"survival/{variant}", 1, 7, **options)
        self.world.reset()
        self.rules = self.world.rules
        self.state = SimpleNamespace(**arrays_of(self.world.state), bodies=self.world.state.bodies)
        self.state.bodies.present[0, self.rules.agents :] = False
        for agent, (x, y) in zip(
            range(self.rules.agents), ((1, 1), (1, -1), (-1, 1), (-1, -1)), strict=False
        ):
            self.put(agent, FAR * x, FAR * y, math.atan2(y, x))

    def put(self, body: int, x: float, y: float, angle: float = 0.0) -> None:
        """Body row `body` stands at (x, y), at rest."""
        bodies = self.state.bodies
        bodies.present[0, body] = True
        bodies.position[0, body] = x, y
        bodies.angle[0, body] = angle
        bodies.turn[0, body] = math.cos(angle), math.sin(angle)
        bodies.velocity[0, body], bodies.spin[0, body] = 0.0, 0.0

    def lay_heal(self, k: int, x: float, y: float) -> None:
        self.put(self.rules.first_heal + k, x, y)

    def stand_box(self, k: int, x: float, y: float, width: float = 1.0, height: float = 1.0) -> None:
        self.state.bodies.half[0, self.rules.first_box + k] = width / 2, height / 2
        self.put(self.rules.first_box + k, x, y)

    def hold(self, agent: int, *items: tuple[str, int]) -> None:
        """Fills an inventory, first slot first, with ("heal", k) and ("box", k)."""
        first = {"heal": self.rules.first_heal, "box": self.rules.first_box_item}
        self.state.inventory[0, agent, : len(items)] = [first[kind] + k for kind, k in items]
        self.state.held[0, agent] = len(items)
        for kind, k in items:
            if kind == "box":
                self.state.broken[0, self.rules.first_box + k] = True

    def held(self, agent: int) -> list[tuple[str, int]]:
        rows = self.state.inventory[0, agent, : self.state.held[0, agent]]
        rules = self.rules
        return [
            ("heal", int(row) - rules.first_heal)
            if row < rules.first_box_item
            else ("box", int(row) - rules.first_box_item)
            for row in rows
        ]

    def step(self, **actions: str) -> TimeStep:
        """``step(a0="attack use")``: the heads named are 2 for motion and 1 for the rest, everything else idles."""
        table = np.zeros((1, self.rules.agents, len(self.world.action_space.nvec)), np.int64)
        table[..., :3] = 1
        for name, wanted in actions.items():
            for head in wanted.split():
                table[0, int(name[1:]), HEADS.index(head)] = 2 if head in IDLE else 1
        return self.world.step(table)

    def health(self, body: int) -> int:
        return int(self.state.health[0, body])

    def alive(self, agent: int) -> bool:
        return bool(self.state.bodies.present[0, agent])

    def place(self, body: int) -> tuple[float, float]:
        x, y = self.state.bodies.position[0, body]
        return float(x), float(y)
