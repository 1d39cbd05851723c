"""What stands, lies and is carried in the room."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Body:
    """A place and a motion; `half` is None for a circle."""

    present: bool = False
    x: float = 0.0
    y: float = 0.0
    angle: float = 0.0
    vx: float = 0.0
    vy: float = 0.0
    spin: float = 0.0
    radius: float = 0.0
    half: tuple[float, float] | None = None
    inverse_mass: float = 0.0
    inverse_inertia: float = 0.0

    def rest_at(self, x: float, y: float) -> None:
        self.present = True
        self.x, self.y, self.angle = x, y, 0.0
        self.vx = self.vy = self.spin = 0.0

    def distance(self, other: Body) -> float:
        return math.hypot(self.x - other.x, self.y - other.y)


@dataclass
class Box(Body):
    """A breakable box: it stands, is about to become an item, or is one."""

    row: int = 0
    width: float = 1.0
    height: float = 1.0
    health: int | None = None  # None: just placed, nothing can damage it yet
    cause: object = None
    owner: object = None  # who broke it first
    broken_once: bool = False
    due: bool = False  # broken in this step, its item appears in the next


@dataclass
class Item(Body):
    """A heal (box is None) or a box item; `present` while it lies on the ground."""

    row: int = 0
    box: Box | None = None


@dataclass
class Agent(Body):
    """An agent; `present` means alive."""

    id: int = 0
    team: int | None = None
    health: int = 0
    cause: object = None  # of the last change of health
    cooldown: int = 0
    inventory: list[Item] = field(default_factory=list)

    @property
    def badge(self) -> int:
        """The cause that its attacks carry: itself, or its team."""
        return self.id if self.team is None else self.team
