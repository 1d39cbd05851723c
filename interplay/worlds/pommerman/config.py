"""Every number of Pommerman once, with unit and source, and the variants (specification 3).

Sources: the playground 0.2.0 (Resnick et al., "Pommerman: A Multi-Agent Playground", 2018), "the playground", and the Arena
paper (arXiv 1907.09467).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from interplay.core.settings import Settings

BOMB_LIFE = 10  # steps; a bomb ticks in the step in which it is laid
FLAME_LIFE = 3  # observations with deadly flames
MOST_AMMO = 10  # bombs in hand
MOST_BLAST = 10  # reach in cells, the bomb's own included; with fog, the view's
START_AMMO, START_BLAST = 1, 2
UNREACHABLE = 4  # passages that rigid cells may cut off
RINGS = 4  # that close, at equal intervals
STEPS_MOST = 30_000  # of an episode; observed as an int16

Count = Annotated[int, Field(ge=0, le=900)]
Weight = Annotated[float, Field(ge=-100, le=100)]


class Quirks(NamedTuple):
    """Where the playground deviates from its published rules; all off unless `classic_quirks` is on."""

    item_lost: bool  # an item under flames of two explosions is lost when the first of them ends
    late_collapse: bool  # a ring closes after the observation and the reward of its step
    pays_dead: bool  # in a game without teams the dead pay -1 in every step
    short_window: bool  # SimpleAgent's search ends one cell earlier towards the bottom and the right


class PommermanSettings(Settings):
    """Settings of one game. Lengths in cells, times in steps."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "words": ("radio", True),
        "vocabulary": ("radio", True),
    }

    size: Annotated[int, Field(ge=8, le=31)] = 11  # N, side of the board
    players: Literal[2, 4] = 4
    teams: bool = False  # {0, 2} against {1, 3}
    rigid: Count = 36  # cells, laid in pairs
    wood: Count = 36  # cells, including those between the players
    items: Count = 20  # under wood
    fog: Annotated[int, Field(ge=1, le=31)] | None = None  # view, a Chebyshev distance; 4 in the playground
    radio: bool = False  # team-mates send words
    words: Annotated[int, Field(ge=1, le=8)] = 2  # per step, with `radio`
    vocabulary: Annotated[int, Field(ge=2, le=256)] = 8  # word 0 is silence
    collapse: Annotated[int, Field(ge=1)] | None = None  # step in which the outermost ring closes
    limit: Annotated[int, Field(ge=1, le=STEPS_MOST)] = 800  # truncation
    reward: Literal["classic", "zero_sum"] = "classic"
    # Of the result, a lost member of its side (-1), a lost enemy, and range, kick and bomb gained by its side. Arena's example:
    # 1, 0.2, 0.2, 0.1, 0.1, 0.1.
    reward_weights: tuple[Weight, Weight, Weight, Weight, Weight, Weight] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    classic_quirks: bool = False  # all of `Quirks`

    @model_validator(mode="after")
    def _fits(self) -> PommermanSettings:
        if self.teams and self.players != 4:
            raise ValueError(f"teams need 4 players, players = {self.players}; raise it or switch teams off")
        if self.radio and not self.teams:
            raise ValueError("radio = true needs teams = true")
        for name in ("rigid", "wood"):
            if getattr(self, name) % 2:
                raise ValueError(
                    f"{name} = {getattr(self, name)} cannot be laid in pairs; use an even number"
                )
        if self.wood < self.bridges:
            raise ValueError(
                f"wood = {self.wood}: {self.bridges} cells of wood stand between the players of a board of {self.size}; use as many"
            )
        if self.rigid + self.wood - self.bridges > self.free_cells:
            raise ValueError(
                f"rigid = {self.rigid} and wood = {self.wood} do not fit: {self.free_cells} cells of a board of {self.size} are free for walls, "
                f"besides {self.bridges} of wood; lower one"
            )
        if self.items > self.wood:
            raise ValueError(
                f"items = {self.items} do not fit under wood = {self.wood}; lower items or raise wood"
            )
        if self.collapse is not None and self.limit - self.collapse < RINGS:
            raise ValueError(
                f"collapse = {self.collapse} leaves no time for {RINGS} rings before limit = {self.limit}; lower collapse"
            )
        return self

    @property
    def bridges(self) -> int:
        """Cells of wood between the players, in the middle of the sides of their ring."""
        return 4 * (self.size - 8) if self.players == 4 else 0

    @property
    def free_cells(self) -> int:
        """Cells for walls: off the diagonal, not a player's, not beside one, not a bridge."""
        taken = {2: 8, 4: 18 + self.bridges}[self.players]
        return self.size * (self.size - 1) - taken

    @property
    def most_blast(self) -> int:
        """Largest reach with items (3.3)."""
        return MOST_BLAST if self.fog is None else max(self.fog, START_BLAST)

    @property
    def ring_steps(self) -> tuple[int, ...]:
        """The steps after which rings close, outermost first; empty without `collapse`."""
        if self.collapse is None:
            return ()
        return tuple(self.collapse + k * ((self.limit - self.collapse) // RINGS) for k in range(RINGS))

    @property
    def bombs(self) -> int:
        """K, the most bombs alive at once: a player lays at most one a step."""
        return BOMB_LIFE * self.players

    @property
    def quirks(self) -> Quirks:
        return Quirks(*[self.classic_quirks] * len(Quirks._fields))


_TEAM: dict[str, Any] = {"teams": True}
_FOG: dict[str, Any] = {"teams": True, "fog": 4}

VARIANTS: dict[str, dict[str, Any]] = {
    "ffa": {},
    "ffa-collapse": {"collapse": 500},
    "team": _TEAM,
    "team-fog": _FOG,
    "team-fog-collapse": {**_FOG, "collapse": 500},
    "radio": {**_FOG, "radio": True},
    "1v1": {"size": 8, "players": 2, "rigid": 16, "wood": 16, "items": 10},
}
"""The named variants: name -> settings that differ from the defaults (specification 3.1)."""
