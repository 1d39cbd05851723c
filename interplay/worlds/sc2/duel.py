"""One copy of a full match: each player's views, orders, rewards and waiting times."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

import numpy as np

from interplay.worlds.sc2 import payoff
from interplay.worlds.sc2.areas import area_rows
from interplay.worlds.sc2.commander import Command, Commander
from interplay.worlds.sc2.config import WAITS, MatchSettings
from interplay.worlds.sc2.features import PAST, picture, vector
from interplay.worlds.sc2.macro import MACROS, RELEASED, legal
from interplay.worlds.sc2.managers import PRODUCTION, Managers, heads
from interplay.worlds.sc2.match import Match, MatchPlan, Opponent
from interplay.worlds.sc2.progress import ProgressTracker, techs
from interplay.worlds.sc2.regions import ground_of
from interplay.worlds.sc2.things import prices_of
from interplay.worlds.sc2.view import read_view


class Player:
    """One side. Its observation changes only when it is due.

    Attributes:
        due: its next action is read.
        wait: game loops until then.
        reward: earned since it last acted.
        result: +1, 0, -1 at the end of the match; None before.
        observation, mask: of its last decision.
    """

    def __init__(self, settings: MatchSettings, match: Match, number: int, data: Any, answer: Any) -> None:
        self._settings, self._prices = settings, prices_of(data)
        self.macros = macros_of(settings)
        self.view = read_view(answer)
        size = match.info.start_raw.map_size
        self.ground = ground_of(size.x, size.y, self.view, data)
        self._commander = Commander(self.ground, self._prices, partial(match.fits, number))
        self._managers = Managers(self._commander, self.ground, settings.areas)
        self._heads = list(heads_of(settings))
        self._tracker = ProgressTracker(self._prices)
        self._past: deque[int] = deque(maxlen=PAST)
        self._tally = payoff.tally(self.view)
        self._default = settings.wait[number]
        self.due, self.wait, self.reward = True, 0, 0.0
        self.result: float | None = None
        self.look()

    def decide(self, action: np.ndarray) -> list[Command]:
        """The orders of its action, if it is due."""
        if not self.due:
            return []
        chosen = dict(zip(self._heads, np.atleast_1d(action).tolist(), strict=True))
        self.wait = WAITS[chosen.pop("wait")] if self._settings.chosen_waits else self._default
        if "macro" in chosen:
            self._past.append(chosen["macro"])
            legal_one = chosen["macro"] if self.mask[chosen["macro"]] else 0
            return self._commander.orders(self.macros[legal_one], self.view)
        if "production" in chosen:
            self._past.append(chosen["production"])
        return self._managers.orders(chosen, self.mask, self.view)

    def advance(self, loops: int, answer: Any, result: float | None) -> None:
        """Reads the game after so many loops."""
        self.wait -= loops
        self.result = result
        self.due = self.wait == 0
        self.reward = 0.0
        self.view = read_view(answer)

    def settle(self) -> None:
        """Pays, and builds the observation."""
        now = payoff.tally(self.view)
        result = self.result or 0.0
        if self._settings.reward == "army_sign":
            self.reward = payoff.army_sign(self._tally, now, result)
        elif self._settings.reward == "army_change":
            self.reward = payoff.army_change(self._tally, now) + result
        elif self._settings.reward == "vector":
            self.reward = float(payoff.reward_vector(self._tally, now) @ self._settings.weights) + result
        else:
            self.reward = result
        self._tally = now
        self.look()

    def look(self) -> None:
        """Builds observation and mask from the view."""
        view, ground, settings = self.view, self.ground, self._settings
        self.mask = legal(view, ground, self._prices, self.macros)
        self.observation = {
            "picture": picture(view, ground, settings.resolution),
            "vector": vector(view, ground, self._past, self.mask, settings.regions),
        }
        if settings.see_areas:
            self.observation["areas"] = area_rows(view, ground, settings.areas)
        if settings.see_techs:
            self.observation["techs"] = techs(view)
        progress = self._tracker.read(view)  # always, so that clocks of morphs start when they do
        if settings.see_progress:
            self.observation["progress"] = progress


class Duel:
    """Two players, or one against the game's own, in one match after another.

    Attributes:
        players: of the present match.
        loops: played in it.
        cut: it was ended by the limit.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        alone = settings.opponent != "player"
        opponent = Opponent("Zerg", settings.opponent) if alone else None
        races = ("Zerg",) if alone else ("Zerg", "Zerg")
        self._match = Match(settings, MatchPlan(settings.map, races, opponent))
        self.players: list[Player] = []
        self.loops, self.cut = 0, False

    def begin(self, seed: int) -> None:
        """Starts a match."""
        self._match.begin(seed)
        self.loops, self.cut = 0, False
        data = self._match.data()
        self._match.step(1)  # the first observation of a match lacks what its first loop makes
        answers = self._match.observe()
        self.players = [
            Player(self._settings, self._match, number, data, answer) for number, answer in enumerate(answers)
        ]
        self._first = self.players[0].view.loop

    def play(self, actions: np.ndarray) -> None:
        """Gives the orders of the players that are due, and plays until the next one is."""
        self._match.act([player.decide(action) for player, action in zip(self.players, actions, strict=True)])
        loops = min(self._settings.limit - self.loops, *(player.wait for player in self.players))
        self._match.step(loops)
        answers = self._match.observe()
        results = {one.player_id: one.result for answer in answers for one in answer.player_result}
        for player, number, answer in zip(self.players, self._match.players, answers, strict=True):
            player.advance(loops, answer, payoff.result_of(results, number))
        self.loops = self.players[0].view.loop - self._first
        if self._settings.early_end and not results:
            self._give_up()
        self.cut = self.loops >= self._settings.limit and not self.over
        for player in self.players:
            if player.due or self.over or self.cut:
                player.settle()

    @property
    def over(self) -> bool:
        """Whether the match is decided."""
        return any(player.result is not None for player in self.players)

    def close(self) -> None:
        """Ends the processes; the next match starts new ones."""
        self._match.close()

    def _give_up(self) -> None:
        """Decides the match if a side can rebuild nothing; both: a draw."""
        lost = [payoff.is_hopeless(player.view) for player in self.players]
        if not any(lost):
            return
        for player, own in zip(self.players, lost, strict=True):
            player.result = 0.0 if all(lost) and len(lost) > 1 else (-1.0 if own else 1.0)


def macros_of(settings: MatchSettings) -> tuple[Any, ...]:
    """The macro actions of a match; those of the production manager if managers act."""
    if settings.control == "managers":
        return PRODUCTION
    return RELEASED if settings.active == "released" else MACROS


def heads_of(settings: MatchSettings) -> dict[str, tuple[str, ...]]:
    """The heads of an action: name -> names of its choices."""
    found = {"macro": tuple(macro.name for macro in macros_of(settings))}
    if settings.control == "managers":
        found = {name: names for name, names in heads(settings.areas).items() if name not in settings.scripts}
    if settings.chosen_waits:
        found["wait"] = tuple(f"{loops} loops" for loops in WAITS)
    return found
