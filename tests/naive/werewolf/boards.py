"""Boards: the speakers' names and words, as shown, and their viewers (specification 3, 7 and 18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.naive.werewolf.crew import NONE

if TYPE_CHECKING:
    from tests.naive.werewolf.game import Game, Told


@dataclass
class Board:
    """One phase's board."""

    phase: int
    day: int
    public: bool
    talk: bool
    targets: dict[int, list[int]]  # of speakers
    words: dict[int, list[int]]
    chosen: int = NONE

    def shown_targets(self, n: int, b: int) -> list[list[int]]:
        return [self.targets.get(seat, [NONE] * b) for seat in range(n)]

    def shown_words(self, n: int, length: int) -> list[list[int]]:
        return [self.words.get(seat, [NONE] * length) for seat in range(n)]


def written(game: Game, ballots: dict[int, list[int]], words: dict[int, list[int]], told: Told) -> Board:
    """The board of the phase that is being held."""
    row, arm = game.table[game.row], game.settings.arm
    talk = row.resolver == "none"
    hidden = arm == "targets_off" and talk
    return Board(
        phase=game.phase(),
        day=game.day,
        public=row.audience == "public",
        talk=talk,
        targets={
            seat: [NONE if hidden or name == game.n else name for name in ballot]
            for seat, ballot in ballots.items()
        },
        words=_heard({seat: words[seat] for seat in ballots}, game, told),
    )


def _heard(words: dict[int, list[int]], game: Game, told: Told) -> dict[int, list[int]]:
    arm = game.settings.arm
    if arm == "signals_off":
        return {seat: [0] * len(word) for seat, word in words.items()}
    if arm not in ("signals_shuffled", "signals_resampled", "signals_replayed"):
        return words
    heard = {seat: told.word(game, seat) for seat in words}
    if arm == "signals_shuffled":
        assert sorted(heard.values()) == sorted(words.values()), (
            "shuffled words are not the words that were said"
        )
    for word in heard.values():
        assert all(0 <= symbol < size for symbol, size in zip(word, game.settings.symbols, strict=True))
    return heard
