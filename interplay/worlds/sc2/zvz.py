"""Full matches of Zerg against Zerg in the real game, by macro actions (specification 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import CannotSave
from interplay.core.scene import Canvas
from interplay.core.world import Array, Kind, Outputs, TimeStep, World
from interplay.worlds.sc2 import engine
from interplay.worlds.sc2.areas import FEATURES
from interplay.worlds.sc2.config import LOOPS_PER_SECOND, MatchSettings
from interplay.worlds.sc2.copies import Copies
from interplay.worlds.sc2.duel import Duel, heads_of, macros_of
from interplay.worlds.sc2.features import CHANNELS
from interplay.worlds.sc2.progress import TECHS, TIMED
from interplay.worlds.sc2.render import draw_match

BASE_NUMBERS, REGION_NUMBERS = 299, 684  # of the vector, besides 9 for each action


class ZvzWorld(World):
    """W matches of two players, or of one against a level of the game's own.

    A player acts every `wait` game loops, or after the waiting time of its action. One that is not due does not act: its observation stays,
    and the match goes on until the next one is due (specification interfaces 3.1). An illegal action gives no order; where no thing can be made, the mask of the
    production manager allows all.
    A match with a lost process is truncated.

    Raises:
        MissingExtraError: without protocol package, game or map.
    """

    version = 1
    ignores_illegal = True

    def __init__(
        self, settings: MatchSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        engine.programs()
        self.settings = settings
        players = 2 if settings.opponent == "player" else 1
        self.action_names = self._heads = heads_of(settings)
        sizes = [len(names) for names in self._heads.values()]
        actions: spaces.Space = spaces.Discrete(sizes[0]) if len(sizes) == 1 else spaces.MultiDiscrete(sizes)
        space = observation_space(settings)
        names = ["first", "second"][:players]
        super().__init__(
            num_worlds, names, [Kind("agent", tuple(range(players)), space, actions)], seed, first_world
        )
        waits = settings.wait[:players]
        if not settings.chosen_waits and max(waits) % min(waits) == 0:  # else steps differ in length
            self.tick_seconds = min(waits) / LOOPS_PER_SECOND
        shape = num_worlds, players
        acting, terminated, truncated = np.zeros((3, *shape), bool)
        over = np.zeros(num_worlds, bool)
        self._outputs = Outputs(np.zeros(shape, np.float32), acting, terminated, truncated, over)
        self._seen = {
            name: np.zeros((*shape, *leaf.shape), leaf.dtype)
            for name, leaf in space.spaces.items()
            if leaf.shape is not None
        }
        self._legal = np.ones((*shape, sum(sizes)), bool)
        self._outcome = np.full(shape, np.nan)
        self._loops = np.zeros(num_worlds, np.int64)
        self._stream = seeding.new_stream(num_worlds)
        self._duels = [Duel(settings) for _ in range(num_worlds)]
        self._copies = Copies(self._duels)

    @property
    def metrics(self) -> Mapping[str, Array]:
        """Of the match so far.

        ``outcome`` (W, A): +1, 0, -1; 0 at the limit; NaN before the end and for a match with a lost process. ``loops`` (W,) of the game;
        ``engine_restarts`` (W,), processes lost since the world was made.
        """
        return {
            "outcome": self._outcome.copy(),
            "loops": self._loops.copy(),
            "engine_restarts": self._copies.restarts.copy(),
        }

    def save(self) -> dict[str, Array]:
        """Refused: the game has no snapshots.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(f"{self.id}: a match of StarCraft II cannot be saved; reset it instead")

    def load(self, snapshot: Mapping[str, Array]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: a match of StarCraft II cannot be restored; reset it instead")

    def close(self) -> None:
        self._copies.close()

    def draw(self, canvas: Canvas, world: int) -> None:
        duel = self._duels[world]
        draw_match(
            canvas, self.agents, [player.view for player in duel.players], duel.players[0].ground, duel.loops
        )

    def _reset(self, which: Array, seeds: Array | None) -> TimeStep:
        for array in self._outputs:
            array[which] = 0
        self._outcome[which] = np.nan
        seeding.begin_episode(self._stream, which, seeds)
        numbers = (self._stream[:, seeding.SEED] + self._stream[:, seeding.EPISODE]) % np.uint64(2**31)
        self._copies.begin(lambda w: self._duels[w].begin(int(numbers[w])), which)
        for w in np.flatnonzero(which).tolist():
            self._copy(w)
        return self._timestep()

    def _step(self, action: Any) -> TimeStep:
        going = ~self._outputs.over
        for array in (self._outputs.reward, self._outputs.terminated, self._outputs.truncated):
            array.fill(0)
        lost = self._copies.run(lambda w: self._duels[w].play(action[w]), going)
        for w in np.flatnonzero(going & ~lost).tolist():
            self._copy(w)
        self._outputs.over[lost] = True
        self._outputs.acting[lost] = False
        self._outputs.truncated[lost] = True
        return self._timestep()

    def _copy(self, w: int) -> None:
        """Takes a copy's players into the arrays."""
        duel, outputs = self._duels[w], self._outputs
        self._loops[w] = duel.loops
        outputs.over[w] = duel.over or duel.cut
        outputs.terminated[w], outputs.truncated[w] = duel.over, duel.cut
        for a, player in enumerate(duel.players):
            outputs.reward[w, a] = player.reward
            outputs.acting[w, a] = player.due and not outputs.over[w]
            if {"macro", "production"} & self._heads.keys():  # the first head
                self._legal[w, a, : len(player.mask)] = player.mask if player.mask.any() else True
            for name, leaf in self._seen.items():
                leaf[w, a] = player.observation[name]
            if outputs.over[w]:
                self._outcome[w, a] = player.result or 0.0

    def _timestep(self) -> TimeStep:
        return TimeStep(self._seen, *self._outputs, {"action": self._legal})


def observation_space(settings: MatchSettings) -> spaces.Dict:
    """Of one player; optional parts by the settings."""
    size, numbers = settings.resolution, BASE_NUMBERS + 9 * len(macros_of(settings))
    shapes: dict[str, tuple[int, ...]] = {
        "picture": (CHANNELS, size, size),
        "vector": (numbers + REGION_NUMBERS * settings.regions,),
        "areas": (settings.areas, FEATURES) if settings.see_areas else (),
        "techs": (len(TECHS),) if settings.see_techs else (),
        "progress": (2 * (len(TIMED) + len(TECHS)),) if settings.see_progress else (),
    }
    return spaces.Dict(
        {name: spaces.Box(0.0, np.inf, shape, np.float32) for name, shape in shapes.items() if shape}
    )
