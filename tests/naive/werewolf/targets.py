"""The legal names of an actor, by its ability (specification 6 and 16.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.naive.werewolf.crew import NONE, in_pack

if TYPE_CHECKING:
    from tests.naive.werewolf.game import Game


def named(game: Game, seat: int) -> set[int]:
    """The legal names, n for a pass; a seer that knows all species has none, and sleeps."""
    if game.stage == "potions":
        return brews(game, seat)
    if game.stage == "shot":
        return (game.living - {seat}) | ({game.n} if game.settings.hunter_pass else set())
    ability = game.ability(seat)
    if ability == "speak":
        return set(game.living)
    if ability in ("speak_in_pack", "attack"):
        return {other for other in game.living if not in_pack(game.role[other])}
    if ability == "divine":
        return {other for other in game.living if game.known[seat][other] == NONE} - {seat}
    if ability == "guard":
        return _guard(game, seat)
    assert ability == "vote"
    return _vote(game, seat)


def _vote(game: Game, seat: int) -> set[int]:
    names = set(game.suspects if game.stage == "revote" else game.living)
    if not game.settings.allow_self_vote:
        names -= {seat}
    if game.settings.allow_abstain:
        names |= {game.n}
    return names


def _guard(game: Game, seat: int) -> set[int]:
    names = set(game.living)
    if not game.settings.guard_self:
        names -= {seat}
    if not game.settings.guard_repeat:
        names -= {game.guarded[seat]}
    return names


def brews(game: Game, seat: int) -> set[int]:
    """A pass; the attacked seat, to heal; another living player, to poison: each while its potion is left."""
    heal, poison = game.potions[seat]
    names = {game.n}
    if poison:
        names |= game.living - {seat}
    if heal:
        names |= {game.victim} - {NONE}
    return names
