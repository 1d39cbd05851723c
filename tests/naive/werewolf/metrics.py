"""The metrics of a game (specification 10): sums during the game, shares on request."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.naive.werewolf.ballots import counted_names, top_seats
from tests.naive.werewolf.crew import NONE, VILLAGERS, WOLVES, in_pack

if TYPE_CHECKING:
    from tests.naive.werewolf.game import Game

Ballots = dict[int, list[int]]
OF_BALLOTS = (
    "index_distance",
    "repetition_distance",
    "set_difference",
    "day_drift",
)  # only with several names


def mean(values: list[float]) -> float:
    """NaN where there is nothing to take the mean of."""
    return sum(values) / len(values) if values else math.nan


class Diary:
    """One game's lists: an entry for each phase, or each voter, that a measure speaks of."""

    def __init__(self, settings: Any) -> None:
        self.settings, self.illegal = settings, 0
        self.lists: dict[str, list[float]] = {
            name: []
            for name in (
                "suicide",
                "accord",
                "wolf_hit",
                "tie_rate",
                "margin",
                "vote_entropy",
                "switch",
                "trg_influence",
                "follow",
                "index_distance",
                "repetition_distance",
                "set_difference",
                "day_drift",
                "bussing",
                "pack_split",
            )
        }
        self.last_ballots: Ballots = {}

    def count(self, game: Game, votes: list[int], ballots: Ballots, night: bool) -> None:
        """Records a counted kill or execution, before the deaths."""
        add = {name: entries.append for name, entries in self.lists.items()}
        self.votes(game, votes, len(ballots))
        if game.chosen != NONE:
            named = [game.chosen in counted_names(ballot, self.settings) for ballot in ballots.values()]
            add["accord"](mean([float(yes) for yes in named]))
        if night:
            add["pack_split"](len({name for b in ballots.values() for name in b[:1]}) > 1)
        else:
            self.day(game, ballots)

    def votes(self, game: Game, votes: list[int], voters: int) -> None:
        """Of every count, also one that leads to a revote."""
        self.lists["tie_rate"].append(len(top_seats(votes)) > 1 and game.chosen != NONE)
        self.lists["margin"].append((max(votes) - sorted(votes)[-2]) / voters)
        self.lists["vote_entropy"].append(entropy(votes) / math.log(len(game.living)))

    def day(self, game: Game, ballots: Ballots) -> None:
        add = {name: entries.append for name, entries in self.lists.items()}
        add["suicide"](mean([float(ballot[0] == seat) for seat, ballot in ballots.items()]))
        add["wolf_hit"](game.chosen != NONE and in_pack(game.role[game.chosen]))
        for seat, ballot in ballots.items():
            if in_pack(game.role[seat]) and ballot[0] != game.n:
                add["bussing"](in_pack(game.role[ballot[0]]))
        for seat, ballot in ballots.items():
            if seat in self.last_ballots:
                add["day_drift"](apart(self.last_ballots[seat], ballot))
        self.last_ballots = ballots

    def compare(self, game: Game, ballots: Ballots) -> None:
        """A vote beside the public talk that it follows; a revote follows a vote."""
        add = {name: entries.append for name, entries in self.lists.items()}
        heard = [board for board in game.boards[:-1] if board.public]
        if heard and heard[-1].talk and self.settings.arm != "targets_off":
            talk = {seat: heard[-1].targets[seat] for seat in ballots}
            pairs = [(talk[seat], shown(ballots[seat], game.n)) for seat in ballots]
            add["switch"](mean([float(said[0] != done[0]) for said, done in pairs]))
            before, after = frequencies(talk, game.n), frequencies(ballots, game.n)
            add["trg_influence"](1 - sum((p - q) ** 2 for p, q in zip(before, after, strict=True)))
            add["index_distance"](mean([apart(said, done) for said, done in pairs]))
            add["repetition_distance"](
                mean([abs(repeats(said) - repeats(done)) / len(done) for said, done in pairs])
            )
            add["set_difference"](mean([unlike(said, done) for said, done in pairs]))
            self.lists["follow"] += follows(talk, ballots, game.n)

    def shares(self, game: Game) -> dict[str, float]:
        """Every measure by name."""
        found = {name: mean(entries) for name, entries in self.lists.items()}
        if self.settings.names == 1:
            found = {name: value for name, value in found.items() if name not in OF_BALLOTS}
        lists = self.lists
        return found | {
            "win_vil": float(game.winner == VILLAGERS),
            "win_wolf": float(game.winner == WOLVES),
            "timeout": float(game.cut),
            "tot_days": float(game.day),
            "suicide": found["suicide"] if lists["suicide"] else 0.0,
            "discord": 1 - found["accord"],
            "suicide_refnorm": sum(lists["suicide"]) / (game.day + 1),
            "accord_refnorm": sum(lists["accord"]) / (2 * (game.day + 1)),
            "illegal": float(self.illegal),
        }


def entropy(votes: list[int]) -> float:
    """Of the distribution of counted names, in nats."""
    total = sum(votes)
    return -sum(v / total * math.log(v / total) for v in votes if v)


def frequencies(ballots: Ballots, n: int) -> list[float]:
    """Share of each seat among the first names; passes do not count."""
    names = Counter(ballot[0] for ballot in ballots.values() if 0 <= ballot[0] < n)
    total = sum(names.values())
    return [names[seat] / total if total else 0.0 for seat in range(n)]


def apart(one: list[int], other: list[int]) -> float:
    """Share of the places at which two ballots differ."""
    return mean([float(a != b) for a, b in zip(one, other, strict=True)])


def shown(ballot: list[int], n: int) -> list[int]:
    """As it stands on a board: a pass is no name."""
    return [NONE if name == n else name for name in ballot]


def repeats(ballot: list[int]) -> int:
    """Names on a board's row that stood there before."""
    return len([name for name in ballot if name != NONE]) - distinct(ballot)


def distinct(ballot: list[int]) -> int:
    """Different names on a board's row."""
    return len(set(ballot) - {NONE})


def unlike(one: list[int], other: list[int]) -> float:
    """Names that only one of two rows has, over the names of both (0 the same, 1 nothing in common)."""
    a, b = set(one) - {NONE}, set(other) - {NONE}
    return len(a ^ b) / (len(a) + len(b)) if a or b else 0.0


def follows(talk: Ballots, ballots: Ballots, n: int) -> list[float]:
    """For each voter that switched to a name, and each other voter: whether the other voted for that name."""
    return [
        float(ballots[other][0] == ballot[0])
        for seat, ballot in ballots.items()
        if ballot[0] not in (talk[seat][0], n)
        for other in ballots
        if other != seat
    ]
