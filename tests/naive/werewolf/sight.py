"""What one seat is shown, and what it may choose (specification 6 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.naive.werewolf.boards import Board
from tests.naive.werewolf.crew import NONE, WITCH, in_pack

if TYPE_CHECKING:
    from tests.naive.werewolf.game import Game


def mask(game: Game, seat: int) -> list[bool]:
    """Head after head: b names, then the places of a word."""
    names = [name in game.legal[seat] for name in range(game.n + 1)]
    speaks = seat in game.acting and game.speaks(seat)
    flat = names * game.settings.names
    for size in game.settings.symbols:
        flat += [speaks or symbol == 0 for symbol in range(size)]
    return flat


def observation(game: Game, seat: int) -> dict[str, Any]:
    """Field name -> number or nested lists."""
    settings = game.settings
    seen: dict[str, Any] = {
        "day": game.day,
        "phase": game.phase(),
        "own_id": seat,
        "status_map": [int(alive) for alive in game.alive],
        "last_eaten": game.eaten,
        "last_executed": game.executed,
    }
    if any(row.rounds > 1 for row in settings.rows):
        seen["talk_round"] = game.talk_round
    seen |= _split(game, seat) if settings.board == "split" else _one_block(game, seat)
    if settings.obs.role:
        seen["role"] = game.role[seat]
    if settings.obs.pack:
        knows = in_pack(game.role[seat])
        seen["pack"] = [int(knows and in_pack(role)) for role in game.role]
    if any(settings.roles.values()):
        seen["private_info"] = _private(game, seat)
    if settings.reveal_role:
        seen["revealed"] = list(game.revealed)
    if settings.obs.history:
        seen |= _past(game)
    return seen


def _private(game: Game, seat: int) -> list[int]:
    info = list(game.known[seat])
    if game.role[seat] == WITCH and game.stage == "potions" and game.potions[seat][0] and game.alive[seat]:
        info = [int(other == game.victim) or NONE for other in range(game.n)]
    return info


def _blocks(game: Game, board: Board | None, prefix: str, words: str, claims: str) -> dict[str, Any]:
    """A board as observation fields."""
    n, b, settings = game.n, game.settings.names, game.settings
    board = board or Board(NONE, NONE, True, True, {}, {})
    targets, said = board.shown_targets(n, b), board.shown_words(n, settings.word_length)
    seen: dict[str, Any] = {f"{prefix}targets": [row[0] for row in targets] if b == 1 else targets}
    if settings.signal_length:
        seen[f"{prefix}{words}"] = [word[: settings.signal_length] for word in said]
    if settings.claims:
        seen[f"{prefix}{claims}"] = [word[settings.signal_length :] for word in said]
    return seen


def _split(game: Game, seat: int) -> dict[str, Any]:
    public = next((board for board in reversed(game.boards) if board.public), None)
    pack = next((board for board in reversed(game.boards) if not board.public), None)
    if not in_pack(game.role[seat]):
        pack = None
    return (
        _blocks(game, public, "public_", "signals", "claims")
        | _blocks(game, pack, "pack_", "signals", "claims")
        | {"public_phase": public.phase if public else NONE, "pack_phase": pack.phase if pack else NONE}
    )


def _one_block(game: Game, seat: int) -> dict[str, Any]:
    """WD's form: the last board that the seat may see, or PC's: the last phase's board, if it may."""
    visible = [board for board in game.boards if board.public or in_pack(game.role[seat])]
    board = visible[-1] if visible else None
    if game.settings.board == "last_phase" and visible and board is not game.boards[-1]:
        board = None
    return _blocks(game, board, "", "signal", "claims")


def _past(game: Game) -> dict[str, Any]:
    length = game.settings.obs.history
    boards: list[Board | None] = [board for board in reversed(game.boards) if board.public][:length]
    boards += [None] * (length - len(boards))
    blocks = [_blocks(game, board, "past_", "signals", "claims") for board in boards]
    seen = {name: [block[name] for block in blocks] for name in blocks[0]}
    seen["past_phase"] = [board.phase if board else NONE for board in boards]
    seen["past_day"] = [board.day if board else NONE for board in boards]
    seen["past_chosen"] = [board.chosen if board else NONE for board in boards]
    return seen
