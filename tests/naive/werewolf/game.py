"""The werewolf game again: one game, plain Python, one thing after another.

It draws nothing: random outcomes come from `Told`, and are checked to be possible.
"""

from __future__ import annotations

from typing import Any, Protocol

from tests.naive.werewolf.ballots import DRAW, REVOTE, accord_charges, count, top_seats, verdict
from tests.naive.werewolf.boards import Board, written
from tests.naive.werewolf.crew import (
    HUNTER,
    MEDIUM,
    NAMES,
    NONE,
    VILLAGERS,
    WITCH,
    WOLVES,
    in_pack,
    team,
)
from tests.naive.werewolf.metrics import Diary
from tests.naive.werewolf.targets import brews, named

SPOKEN = ("speak", "speak_in_pack", "attack", "vote")  # abilities whose names and words stand on a board


def phase_names(rows: list[str]) -> list[str]:
    """Names of phases by number: six of the rule book, then a table's own."""
    standard = ["night_talk", "night_kill", "day_talk", "day_execution", "potions", "last_shot"]
    return standard + [name for name in dict.fromkeys(rows) if name not in standard]


class Told(Protocol):
    """What chance decided in a step."""

    def name(self, game: Game, seat: int, slot: int) -> int:
        """The legal name that stands in for an illegal one."""

    def drawn(self) -> int:
        """The drawn seat among the tied."""

    def word(self, game: Game, seat: int) -> list[int]:
        """The word that the board shows for a speaker, where an arm changed it by chance."""


class Game:
    """One game.

    Args:
        settings: as the world was made with.
        roles: role number of each seat.
    """

    def __init__(self, settings: Any, roles: list[int]) -> None:
        self.settings, self.n, self.role = settings, settings.n_players, list(roles)
        self.table = [row for row in settings.table if row.rounds > 0]
        self.phase_names = phase_names([row.name for row in settings.table])
        self.alive = [True] * self.n
        self.living = set(range(self.n))
        self.day, self.talk_round, self.revotes = 0, 0, 0
        self.row, self.stage, self.voted = -1, "row", False
        self.suspects: list[int] = []
        self.victim = self.eaten = self.executed = NONE
        self.boards: list[Board] = []
        self.known = [[NONE] * self.n for _ in range(self.n)]
        self.revealed = [NONE] * self.n
        self.guarded = [NONE] * self.n
        self.potions = [[role == WITCH] * 2 for role in self.role]
        self.owed: list[int] = []
        self.diary = Diary(settings)
        self.over, self.cut, self.winner = False, False, NONE
        self.late = [0.0] * self.n
        self.ended = (NONE, 0, 0)
        self.clear()
        self.next_row()
        self.look_ahead()

    def clear(self) -> None:
        """Clears the outputs of one step."""
        self.reward = [0.0] * self.n
        self.chosen, self.tied = NONE, False
        self.terminated, self.truncated = [False] * self.n, [False] * self.n

    # -- actors and phases ----------------------------------------------------------------------

    def wolves(self) -> int:
        return sum(in_pack(self.role[seat]) for seat in self.living)

    def phase(self) -> int:
        """The number of the phase that comes next."""
        if self.stage in ("potions", "shot"):
            return self.phase_names.index("potions" if self.stage == "potions" else "last_shot")
        return self.phase_names.index(self.table[self.row].name)

    def ability(self, seat: int) -> str:
        """What a seat's role does in the row that comes next."""
        actors = self.table[self.row].actors
        return actors.get(NAMES[self.role[seat]], actors.get("all", "none"))

    def look_ahead(self) -> None:
        """Sets the next actors and their legal names; all others may only pass."""
        self.acting = self.who_acts()
        self.legal = [named(self, seat) if seat in self.acting else {self.n} for seat in range(self.n)]

    def who_acts(self) -> set[int]:
        if self.over:
            return set()
        if self.stage == "potions":
            return self.brewers()
        if self.stage == "shot":
            return {self.owed[0]}
        return {seat for seat in self.living if self.ability(seat) != "none" and named(self, seat)}

    def speaks(self, seat: int) -> bool:
        """Whether an acting seat writes to a board; others have no words."""
        return self.stage in ("row", "revote") and self.ability(seat) in SPOKEN

    def brewers(self) -> set[int]:
        """Living witches with something left that they may use tonight."""
        return {seat for seat in self.living if any(self.potions[seat]) and brews(self, seat) != {self.n}}

    def next_row(self) -> None:
        """Goes on in the table, past rows that are not held today or have no actors."""
        self.stage, self.talk_round, self.revotes, self.suspects = "row", 0, 0, []
        while True:
            self.row += 1
            if self.row == len(self.table):
                self.row = 0
                self.day += not self.voted  # a day without a vote passes too
                self.voted = False
            row = self.table[self.row]
            if row.only_day in (None, self.day) and row.except_day != self.day and self.who_acts():
                return

    # -- a step -----------------------------------------------------------------------------------

    def step(self, action: list[list[int]], told: Told) -> None:
        """Plays the phase that comes next; `action` holds a row for every seat, those of sleepers are not looked at."""
        self.clear()
        ballots = {seat: self.ballot(seat, action[seat], told) for seat in sorted(self.acting)}
        words = {seat: action[seat][self.settings.names :] for seat in ballots}
        self.ended = (self.phase(), self.talk_round, self.day)
        if self.stage == "potions":
            self.brew({seat: ballot[0] for seat, ballot in ballots.items()})
        elif self.stage == "shot":
            self.shoot(ballots[self.owed[0]][0])
        else:
            self.hold_row(ballots, words, told)
        self.look_ahead()

    def ballot(self, seat: int, action: list[int], told: Told) -> list[int]:
        names = []
        for slot, name in enumerate(action[: self.settings.names]):
            if name not in self.legal[seat]:
                self.diary.illegal += 1
                name = told.name(self, seat, slot)
                assert name in self.legal[seat], f"seat {seat} got the name {name}, not of {self.legal[seat]}"
            names.append(name)
        return names

    def hold_row(self, ballots: dict[int, list[int]], words: dict[int, list[int]], told: Told) -> None:
        row = self.table[self.row]
        shown = {seat: ballot for seat, ballot in ballots.items() if self.speaks(seat)}
        self.boards.append(written(self, shown, words, told))
        if row.resolver == "kill":
            self.hold_night(ballots, told)
        elif row.resolver == "execution":
            self.hold_execution(ballots, told)
        else:
            self.go_on()

    def go_on(self) -> None:
        """The next round of this row, or the next row."""
        if self.talk_round + 1 < self.table[self.row].rounds:
            self.talk_round += 1
            self.stage, self.revotes, self.suspects = "row", 0, []
        else:
            self.next_row()

    # -- night ------------------------------------------------------------------------------------

    def hold_night(self, ballots: dict[int, list[int]], told: Told) -> None:
        """Divine, guard, attack; the rest waits for the potions."""
        protected = set()
        for seat, ballot in ballots.items():
            if self.ability(seat) == "divine" and ballot[0] != self.n:
                self.known[seat][ballot[0]] = int(in_pack(self.role[ballot[0]]))
            if self.ability(seat) == "guard":
                self.guarded[seat] = ballot[0] if ballot[0] != self.n else NONE
                protected.add(ballot[0])
        attacks = {seat: ballot for seat, ballot in ballots.items() if self.ability(seat) == "attack"}
        votes = count(list(attacks.values()), self.settings)
        top = top_seats(votes)
        self.tied = len(top) > 1
        if top:
            self.chosen = self.drawn(top, told) if self.tied else top[0]
            self.charge_accord(attacks)
        self.diary.count(self, votes, attacks, night=True)
        self.victim = NONE if self.chosen in protected else self.chosen
        if self.brewers():
            self.stage = "potions"
        else:
            self.break_dawn(set())

    def brew(self, named: dict[int, int]) -> None:
        """Each witch uses one potion or none."""
        healed, poisoned = False, set()
        for seat, name in named.items():
            if name == self.n:
                continue
            if name == self.victim and self.potions[seat][0]:
                self.potions[seat][0], healed = False, True
            else:
                self.potions[seat][1] = False
                poisoned.add(name)
        if healed:
            self.victim = NONE
        self.break_dawn(poisoned)

    def break_dawn(self, poisoned: set[int]) -> None:
        self.eaten = self.victim
        deaths = sorted((poisoned | {self.victim}) - {NONE})
        self.victim = NONE
        for seat in deaths:
            self.die(seat)
        self.ask_hunters()

    # -- day --------------------------------------------------------------------------------------

    def hold_execution(self, ballots: dict[int, list[int]], told: Told) -> None:
        votes = count(list(ballots.values()), self.settings)
        wolves = self.wolves()
        top = top_seats(votes)
        self.tied = len(top) > 1
        self.diary.compare(self, ballots)
        said = verdict(votes, wolves, len(self.living) - wolves, self.revotes, self.settings)
        if said == REVOTE:
            self.diary.votes(self, votes, len(ballots))
            self.stage, self.suspects = "revote", top
            self.revotes += 1
            return
        self.chosen = self.drawn(top, told) if said == DRAW else said
        self.boards[-1].chosen = self.chosen
        self.conclude_execution(ballots)
        self.diary.count(self, votes, ballots, night=False)
        self.executed = self.chosen
        if self.chosen != NONE:
            for seat in self.living:
                if self.role[seat] == MEDIUM:
                    self.known[seat][self.chosen] = int(in_pack(self.role[self.chosen]))
            self.die(self.chosen)
        self.ask_hunters()

    def conclude_execution(self, ballots: dict[int, list[int]]) -> None:
        penalties = self.settings.penalties
        for seat in self.living:
            self.reward[seat] += penalties.day
            if self.chosen == NONE:
                self.reward[seat] += penalties.wasted
        if self.chosen != NONE:
            self.charge_accord(ballots)

    def charge_accord(self, ballots: dict[int, list[int]]) -> None:
        for seat, ballot in ballots.items():
            times = accord_charges(ballot, self.chosen, self.settings)
            self.reward[seat] += self.settings.penalties.accord * times

    def drawn(self, top: list[int], told: Told) -> int:
        assert told.drawn() in top, f"{told.drawn()} was drawn from {top}"
        return told.drawn()

    # -- deaths and the end -----------------------------------------------------------------------

    def die(self, seat: int) -> None:
        self.alive[seat] = False
        self.living.remove(seat)
        self.reward[seat] += self.settings.penalties.death
        self.revealed[seat] = self.role[seat]
        if self.role[seat] == HUNTER:
            self.owed = sorted([*self.owed, seat])
        elif self.settings.dead == "end_with_bootstrap":
            self.terminated[seat] = True

    def ask_hunters(self) -> None:
        """A dying hunter acts before the game continues."""
        if self.owed and self.living:
            self.stage = "shot"
        else:
            self.conclude()

    def shoot(self, name: int) -> None:
        shooter = self.owed.pop(0)
        if self.settings.dead == "end_with_bootstrap":
            self.terminated[shooter] = True
        self.stage = "row"
        if name != self.n:
            self.chosen = name
            self.die(name)
        self.ask_hunters()

    def conclude(self) -> None:
        """The end test, after a day or a night."""
        by_day = self.table[self.row].resolver == "execution"
        self.day += by_day
        self.voted |= by_day
        wolves, others = self.wolves(), len(self.living) - self.wolves()
        if wolves == 0:
            self.win(VILLAGERS)
        elif wolves >= others:
            self.win(WOLVES)
        elif self.day >= self.settings.days:
            self.cut_off()
        else:
            self.go_on()

    def win(self, winner: int) -> None:
        self.over, self.winner = True, winner
        penalties = self.settings.penalties
        for seat in range(self.n):
            result = penalties.victory if team(self.role[seat]) == winner else penalties.lost
            if self.present(seat):
                self.reward[seat] += result
                self.terminated[seat] = True
            else:
                self.late[seat] = result

    def cut_off(self) -> None:
        self.over = self.cut = True
        spectates = self.settings.dead == "spectate"
        self.truncated = [spectates or self.alive[seat] for seat in range(self.n)]

    def present(self, seat: int) -> bool:
        """Whether a seat's life goes on, or ended only in this step."""
        return self.settings.dead == "spectate" or self.alive[seat] or self.terminated[seat]
