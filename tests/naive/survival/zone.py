"""The safe zone (section 4.5), by its clock alone."""

from __future__ import annotations

import math

from .settings import Settings
from .things import Body

Circle = tuple[float, float, float]


class SafeZone:
    """After n ticks: which phase, and which circle."""

    def __init__(self, settings: Settings, rng) -> None:
        self.cooldown = settings.zone_cooldown
        self.ticks = 0
        self.phases: list[Circle] = []
        for p, radius in enumerate((*settings.zone_radii, 0.0) if settings.zone else ()):
            free = settings.room / 2 - radius
            x, y = ((2.0 * rng.uniform() - 1.0) * free for _ in "xy")
            if settings.zone_centres is not None:
                x, y = settings.zone_centres[p]
            self.phases.append((x, y, radius))

    @property
    def phase(self) -> int:
        return min(self.ticks // (2 * self.cooldown), len(self.phases) - 1)

    @property
    def endgame(self) -> bool:
        return self.phase == len(self.phases) - 1

    @property
    def now(self) -> Circle:
        old = self.phases[self.phase]
        moved = self.ticks - self.phase * 2 * self.cooldown - self.cooldown
        if self.endgame or moved <= 0:
            return old
        k = moved / self.cooldown
        return tuple((1.0 - k) * a + k * b for a, b in zip(old, self.phases[self.phase + 1], strict=True))

    @property
    def next(self) -> Circle:
        return (0.0, 0.0, 0.0) if self.endgame else self.phases[self.phase + 1]

    def outside(self, body: Body) -> bool:
        x, y, radius = self.now
        return self.endgame or math.hypot(body.x - x, body.y - y) > radius
