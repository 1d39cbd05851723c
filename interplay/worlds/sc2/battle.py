"""The battles of `interplay.worlds.battle` in the real game: the same spaces, rewards and players (specification 4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core import seeding
from interplay.core.errors import CannotSave
from interplay.core.world import TimeStep
from interplay.worlds.battle.rules import step
from interplay.worlds.battle.state import BLUE, RED, allocate_scratch
from interplay.worlds.battle.units import UNITS
from interplay.worlds.battle.world import BattleWorld
from interplay.worlds.sc2 import engine, orders
from interplay.worlds.sc2.arena import Arena
from interplay.worlds.sc2.config import GameBattleSettings
from interplay.worlds.sc2.copies import Copies


class GameBattleWorld(BattleWorld):
    """W battles, each between two processes of StarCraft II.

    The episode's units and places are drawn as in a native battle and then made in the game, which moves them from there on.
    A battle with a lost process is truncated.

    Raises:
        MissingExtraError: without protocol package, game or map.
    """

    version = 1

    def __init__(
        self, settings: GameBattleSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        engine.programs()
        super().__init__(settings, num_worlds, seed, 1, first_world)
        self._scratch = allocate_scratch(settings, num_worlds)  # a row for each world, see `orders`
        types = [name for side in settings.sides for name in side]
        sides = np.repeat([RED, BLUE], [len(side) for side in settings.sides])
        race = _race(types[0])
        self._arenas = [Arena(settings, types, sides, race) for _ in range(num_worlds)]
        self._copies = Copies(self._arenas)
        self._lost = np.zeros(num_worlds, bool)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Those of `BattleWorld`, and ``engine_restarts`` (W,), processes lost since the world was made.

        ``outcome`` of a battle with a lost process is NaN.
        """
        found = {**super().metrics, "engine_restarts": self._copies.restarts.copy()}
        found["outcome"][self._lost] = np.nan
        return found

    def save(self) -> dict[str, np.ndarray]:
        """Refused: the game has no snapshots.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(f"{self.id}: a match of StarCraft II cannot be saved; reset it instead")

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: a match of StarCraft II cannot be restored; reset it instead")

    def hash(self) -> np.ndarray:
        """Refused, as `save` is."""
        return self.save()  # type: ignore[return-value]

    def close(self) -> None:
        self._copies.close()
        super().close()

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        super()._begin(which, seeds)
        self._lost[which] = False
        numbers = self.state.stream[:, seeding.SEED] + self.state.stream[:, seeding.EPISODE]
        self._copies.begin(
            lambda w: self._arenas[w].begin(self.state.unit[w], int(numbers[w] % np.uint64(2**31))), which
        )
        self._look_anew()

    def _advance(self, action: np.ndarray) -> None:
        state, scratch = self.state, self._scratch
        going = ~self.outputs.over
        orders.read_orders(state, self.body, self.table, scratch, self._action, going)
        lost = self._copies.run(self._play, going)
        orders.judge(state, self.outputs, self._sight, self.body, self.table, scratch, going & ~lost)
        self._lost |= lost
        self._cut(lost)

    def _play(self, w: int) -> None:
        arena, unit = self._arenas[w], self.state.unit[w]
        arena.order(unit, self._scratch.target[w], self._scratch.goal[w])
        arena.play(unit)

    def _cut(self, lost: np.ndarray) -> None:
        """Truncates battles without a game; their last observation stays."""
        self.outputs.over[lost] = True
        self.outputs.acting[lost] = False
        self.outputs.truncated[lost] = self.state.unit["present"][lost]
        step.look_at_worlds(self.state, self._sight, self.body, self.table, 0, self.num_worlds)


def _race(unit: str) -> str:
    """The race of a side's first unit; the map gives its melee start."""
    return next(name.capitalize() for name in ("protoss", "zerg", "terran") if name in UNITS[unit].attributes)
