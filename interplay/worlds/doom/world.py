"""Doom as a world: spaces, reset, step, rewards, metrics, lost matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import mul
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.errors import CannotSave, UserError
from interplay.core.overdue import print_line
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.sim.batch.world import environment_seeds
from interplay.worlds.doom.batch import Matches
from interplay.worlds.doom.buttons import ACTION_SETS, FIRE, action_space, buttons_of, names_of, press_table
from interplay.worlds.doom.config import COMPONENTS, LOST_IN_A_ROW, TICS_PER_SECOND, TURN, DoomSettings
from interplay.worlds.doom.match import Match
from interplay.worlds.doom.observe import allocate, observation_space
from interplay.worlds.doom.outcome import outcomes, rounded
from interplay.worlds.doom.player import Player
from interplay.worlds.doom.post_rules import post_rule
from interplay.worlds.doom.render import draw_screens, keys_of
from interplay.worlds.doom.rewards import MOVEMENT, NAVIGATION, enter_room, reward_vector
from interplay.worlds.doom.variables import COLUMN, FRAGS_OF

_COUNTED = ("frags", "deaths", "hits", "hits_taken", "kills")  # metrics of an episode, by variable
_X, _Y = COLUMN["x"], COLUMN["y"]


class DoomWorld(ArrayWorld):
    """W matches of A players, each player with an engine process of its own.

    A dead player does not act until the engine lets it respawn; while all are dead, a step takes longer. A match that ends by its length, with several sides, is
    terminated; `doom/basic` is terminated by the kill and truncated by its length. A match with an engine that has died, or has not
    answered within `deadline`, is truncated, and its next reset starts new engines.

    Attributes:
        rewards: (W, A, 10) float64, the last step's components (`interplay.worlds.doom.config.COMPONENTS`); zeros where the
            engine's own reward is paid.
    """

    version = 1

    def __init__(
        self, settings: DoomSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        names = [f"player_{a}" for a in range(settings.players)]
        kind = Kind(
            "agent", tuple(range(settings.players)), observation_space(settings), action_space(settings)
        )
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.settings = settings
        self.action_names = names_of(settings)
        self.tick_seconds = settings.frames / TICS_PER_SECOND
        shown = allocate(settings, num_worlds)
        self._matches = Matches(settings, shown)
        self._views = TimeStep({name: _read_only(array) for name, array in shown.items()}, *self.outputs)
        self._stream = seeding.new_stream(num_worlds)
        slots = (num_worlds, settings.players)
        self.rewards = np.zeros((*slots, len(COMPONENTS)))
        self._steps = [0] * num_worlds  # of the episode
        self._going: list[tuple[int, Match]] = []  # worlds that are not over
        self._ended = False  # the last step has ended episodes
        self._hosted = settings.hosted
        self._engine_pays = settings.reward == "engine"
        self._drift = np.zeros(num_worlds, np.int64)
        self._restarts = np.zeros(num_worlds, np.int64)
        self._outcome = np.full(slots, np.nan)
        self._choices = () if settings.actions == "buttons" else ACTION_SETS[settings.actions]
        self._buttons = buttons_of(settings)
        self._table = press_table(self._choices, self._buttons)
        self._length = -(-settings.tics // settings.frames)  # decisions of an episode
        self._peaceful = [float(button not in FIRE) for button in self._buttons]  # factors without shots
        single = settings.actions != "buttons"
        self._plain = single and not (settings.post_rules or settings.suppress_fire or settings.avoid_barrel)
        self._nothing = [0.0] * len(self._buttons)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Counts of the episode (W, A), ``tic_drift`` and ``engine_restarts`` (W,), and of several sides ``outcome`` (W, A).

        With bots also ``bot_frags`` (W,), their mean. ``outcome`` is NaN before the match's end, and rounded where equal
        frags share places of different values. ``tic_drift`` is the largest difference of the players' tics; ``engine_restarts`` counts
        lost matches of the world's life.
        """
        rows = [match.players for match in self._matches]
        counts = {key: np.array([[one.gained(key) for one in row] for row in rows]) for key in _COUNTED}
        ranked = {"outcome": self._outcome} if self.settings.together else {}
        if self.settings.bots:
            ranked["bot_frags"] = np.array(
                [np.mean(_frags_of_bots(match, self.settings)) for match in self._matches]
            )
        return counts | ranked | {"tic_drift": self._drift, "engine_restarts": self._restarts}

    def controls(self, slot: int) -> Controls | None:
        return keys_of(self.settings)

    def draw(self, canvas: Canvas, world: int) -> None:
        screens = self._views.observation["screen"][world]
        draw_screens(canvas, screens, self.agents, self._matches[world].players)

    def save(self) -> dict[str, np.ndarray]:
        """Refused: the state is in the engines.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(
            f"{self.id}: the state of a match is in the engine and cannot be saved; reset it instead"
        )

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: a match cannot be restored; reset it instead")

    def close(self) -> None:
        self._matches.close()

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self._stream, which, seeds)
        worlds = np.flatnonzero(which).tolist()
        self._start_matches(worlds, environment_seeds(self._stream).tolist())
        self.rewards[which] = 0
        self._outcome[which] = np.nan
        self._drift[which] = 0
        for w in worlds:
            self._steps[w] = 0
            self.outputs.acting[w] = [not player.dead for player in self._matches[w].players]
        self._find_going()

    def _start_matches(self, worlds: list[int], seeds: list[int]) -> None:
        """Begins an episode in each world; a match that is lost on the way is started anew."""
        for _ in range(LOST_IN_A_ROW):
            self._matches.begin(worlds, [seeds[w] for w in worlds])
            lost = {w: self._matches[w].end() for w in worlds if self._matches[w].trouble}
            for w, trouble in lost.items():
                self._restarts[w] += 1
                print_line(f"{self.id}: world {w}: {trouble} as its episode began; it is started anew")
            worlds = list(lost)
            if not worlds:
                return
        raise UserError(f"{self.id}: world {worlds[0]}: {lost[worlds[0]]}, {LOST_IN_A_ROW} times in a row")

    def _find_going(self) -> None:
        self._going = [(w, self._matches[w]) for w in np.flatnonzero(~self.outputs.over).tolist()]

    def _step(self, action: np.ndarray) -> TimeStep:
        if self._ended:
            self._forget()
            self.rewards.fill(0)
            self._ended = False
        self._advance(action)
        return self._views

    def _advance(self, action: np.ndarray) -> None:
        going, chosen = self._going, action.tolist()
        self._matches.run(
            [
                (match, a, self._held(player, chosen[w][a]))
                for w, match in going
                for a, player in enumerate(match.players)
            ]
        )
        for w, _ in going:
            self._steps[w] += 1
        if self._hosted:
            self._wait_for_a_life(going)
        for w, match in going:
            if match.trouble:
                self._cut(w, match.end())
            else:
                self._settle(w, match.players)
        if self._ended:
            self._find_going()

    def _wait_for_a_life(self, going: Sequence[tuple[int, Match]]) -> None:
        """Plays on where all players are dead, so that one can act: until one has respawned, or the match is over."""
        while waiting := [(w, match) for w, match in going if match.dead and self._steps[w] < self._length]:
            before = [[(player.before, player.paid) for player in match.players] for _, match in waiting]
            self._matches.run(
                [(match, a, self._nothing) for _, match in waiting for a in range(len(self.agents))]
            )
            for (w, match), kept in zip(waiting, before, strict=True):
                self._steps[w] += 1
                for player, (values, paid) in zip(match.players, kept, strict=True):
                    player.before, player.paid, player.was_dead = values, player.paid + paid, True

    def _held(self, player: Player, chosen: Any) -> list[float]:
        """The value of each button; a dead player holds none."""
        if player.dead:
            return self._nothing
        if self._plain:
            return self._table[chosen]
        settings, held = self.settings, chosen
        if settings.post_rules:
            player.running = player.running + 1 if list(player.past)[-1:] == [chosen] else 1
            turn = TURN / settings.frames  # the engine adds it in every tic
            kept = post_rule(self._choices, player.past, player.running, chosen, settings.navigate, turn)
            player.past.append(chosen)
            held = [kept.get(name, 0.0) for name in self._buttons]
        elif settings.actions != "buttons":
            held = self._table[chosen]
        if player.holds_fire:
            return list(map(mul, held, self._peaceful))
        return held

    def _settle(self, w: int, players: Sequence[Player]) -> None:
        """Writes the outputs of a match after a step."""
        outputs, by_rule = self.outputs, False
        for a, player in enumerate(players):
            outputs.reward[w, a] = player.paid if self._engine_pays else self._pay(w, a, player)
            if player.dead or player.was_dead:
                outputs.acting[w, a] = not player.dead
                if player.dead != player.was_dead:
                    player.forget()
            by_rule = by_rule or player.ended
        if len(players) > 1:
            tics = [player.tic for player in players]
            self._drift[w] = max(self._drift[w], max(tics) - min(tics))
        if by_rule or self._steps[w] >= self._length:
            self._end(w, by_rule or self.settings.together)

    def _pay(self, w: int, a: int, player: Player) -> float:
        """A player's reward by its components, which it writes."""
        alive = not (player.dead or player.was_dead)
        vector = reward_vector(player.before, player.values, alive)
        if self.settings.no_cheat:
            vector[MOVEMENT] = 0.0  # the engine gives no positions
        elif alive:
            vector[NAVIGATION] = float(enter_room(player.rooms, player.values[_X], player.values[_Y]))
        self.rewards[w, a] = vector
        return sum(map(mul, vector, self.settings.weights))

    def _end(self, w: int, played: bool) -> None:
        """Ends a match: it was played to its end, or its length cuts it."""
        outputs = self.outputs
        outputs.over[w], outputs.acting[w] = True, False
        (outputs.terminated if played else outputs.truncated)[w] = True
        self._ended = True
        if self.settings.together:
            self._rank(w)

    def _rank(self, w: int) -> None:
        """Writes the outcome of a match, which takes the place of navigation in the last reward (specification 7.5)."""
        settings, match = self.settings, self._matches[w]
        frags = [player.gained("frags") for player in match.players] + _frags_of_bots(match, settings)
        exact = outcomes(np.array(frags))[: settings.players]
        self._outcome[w] = rounded(exact)
        if settings.reward == "vector":
            self.rewards[w, :, NAVIGATION] = exact
            self.outputs.reward[w] = self.rewards[w] @ np.array(settings.weights)

    def _cut(self, w: int, trouble: str) -> None:
        """Truncates the episode of a lost match."""
        outputs = self.outputs
        self._restarts[w] += 1
        self._ended = True
        self.rewards[w] = 0
        outputs.truncated[w], outputs.acting[w], outputs.over[w] = True, False, True
        print_line(
            f"{self.id}: world {w}: {trouble} at step {self._steps[w]}; its episode is cut, the next starts new engines"
        )

    def _read(self) -> TimeStep:
        return self._views


def _frags_of_bots(match: Match, settings: DoomSettings) -> list[float]:
    numbers = {int(player.values[COLUMN["number"]]) for player in match.players}
    of_all = match.players[0].values[FRAGS_OF][: settings.players + settings.bots]
    return [frags for number, frags in enumerate(of_all) if number not in numbers]


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
