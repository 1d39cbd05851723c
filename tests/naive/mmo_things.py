"""Agents, random stream and causes of death of the persistent world, in plain Python (specification 1, 3.2 and 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

WORD = 2**64
PHI = 0x9E3779B97F4A7C15

NONE, HUNGER, THIRST, BOTH, LAVA_DEATH, MELEE, RANGE, MAGE, CUT = range(9)
STEPS = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))  # pass, east, south, west, north as (row, column)


def mix(z: int) -> int:
    """Scatters the bits of a 64-bit number."""
    z %= WORD
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 % WORD
    z ^= z >> 27
    z = z * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


@dataclass
class Stream:
    """The k-th draw of an episode is a function of seed, episode and k."""

    seed: int
    episode: int = 0
    draws: int = 0

    def raw(self) -> int:
        self.draws += 1
        start = mix(self.seed + (self.episode + 1) * PHI)
        return mix(start + self.draws * PHI)

    def below(self, n: int) -> int:
        return (self.raw() >> 32) * n >> 32

    def chance(self, p: float) -> bool:
        return (self.raw() >> 11) * 2.0**-53 < p


@dataclass
class Tally:
    """What one agent did in one tick; rewards are made of it."""

    kills: int = 0
    food: int = 0
    water: int = 0
    new_tiles: int = 0


@dataclass
class Agent:
    """One life."""

    slot: int
    life_id: int
    population: int
    row: int
    col: int
    health: int
    food: int
    water: int
    life: int = 0  # updates so far
    survived: int = 0  # ticks at whose end it was alive, its birth not counted
    freeze: int = 0
    damage: int = 0  # received in the tick just ended
    alive: bool = True
    cause: int = NONE
    kills: int = 0  # of the whole life, like the next three
    eaten: int = 0
    drunk: int = 0
    harm: int = 0  # damage dealt
    came: float = 0.0  # how far it had come with the task when the tick began
    tick: Tally = field(default_factory=Tally)

    def distance(self, other: Agent) -> int:
        """Chebyshev."""
        return max(abs(self.row - other.row), abs(self.col - other.col))
