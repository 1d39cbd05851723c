"""Features of seats and of pairs of seats from names and words, without parameters.

Words are compared, so that "this seat's word differs from mine" is one number, and need not be learned for every symbol. Each board
gives numbers for every seat (`seat_features`) and every pair (`pair_features`), all within 0..1 and with samples innermost.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import jax
import jax.numpy as jnp

from interplay.train.networks.werewolf.boards import Boards, SeatInput, Table
from interplay.train.networks.werewolf.innermost import total


def seat_features(table: Table, seen: SeatInput) -> jax.Array:
    """Features of each seat on each board, without its word: (F, T, n, B)."""
    boards = seen.boards
    spoken, named, same = _spoken(boards), _named(table, boards), _same(boards)
    others = _living_share(seen)
    shape = spoken.shape
    found = [spoken, spoken * (boards.names[:, :, 0] < 0)]
    found += [total(each, 1) * others for each in (*named, *same)]
    if table.pack:
        pack = seen.seats["pack"].astype(jnp.float32)
        found += [total(each * pack[None, :, None], 1) * others for each in (*named, *same)]
        found += [total(each * pack[None, None], 2) for each in named]
    for mark in _marks(seen):
        found += _about(table, boards, mark)
    if table.history:
        found += _echoes(boards, seen.scalars["last_executed"])
    return jnp.stack([jnp.broadcast_to(each, shape).astype(jnp.float32) for each in found])


def pair_features(table: Table, seen: SeatInput) -> jax.Array:
    """Features of pairs (i, j) from the boards of each phase: (relations x phases, n, n, B).

    Relations: i named j, j named i, their words agree. The newest board of a phase counts 1, the next 1/2, ...
    """
    boards = seen.boards
    named = _named(table, boards)
    pairs = [*named, *(each.swapaxes(1, 2) for each in named), *_same(boards)]
    weights = _recency(table, boards.phase)
    found = [[total(weights[p][:, None, None] * each, 0) for p in range(table.phases)] for each in pairs]
    return jnp.stack([one for each in found for one in each])


def count_seat_features(table: Table) -> int:
    """F of `seat_features`."""
    names, same = 1 + table.claims, _kinds_of_same(table)
    marks = 3 + table.history
    per_set = names + same
    found = 2 + per_set + (per_set + names if table.pack else 0) + marks * (2 * names + same)
    return found + (2 * same if table.history else 0)


def count_pair_features(table: Table) -> int:
    """Relations of `pair_features`."""
    return 2 * (1 + table.claims) + _kinds_of_same(table)


def _kinds_of_same(table: Table) -> int:
    return min(len(table.plain), 2)


def _living_share(seen: SeatInput) -> jax.Array:
    """1 / living seats, at most 1: (B,); counts become shares of the living."""
    living = total(seen.seats["status_map"], 0)
    return 1.0 / jnp.maximum(living, 1).astype(jnp.float32)


def _marks(seen: SeatInput) -> list[jax.Array]:
    """Seats to compare with all others, (T or 1, B): the own, the last dead, each board's vote."""
    marks = [seen.scalars[key][None] for key in ("own_id", "last_executed", "last_eaten")]
    return marks if seen.boards.chosen is None else [*marks, seen.boards.chosen]


def _spoken(boards: Boards) -> jax.Array:
    """1 if a seat named or spoke on a board: (T, n, B)."""
    spoken = boards.names[:, :, 0] >= 0
    if boards.words.shape[2]:
        spoken |= boards.words[:, :, 0] >= 0
    return spoken.astype(jnp.float32)


def _hits(names: jax.Array, seat: jax.Array) -> jax.Array:
    """Rank of `seat` among names (..., b, B): 1 for the first, 1/b for the last, 0 if absent."""
    b = names.shape[-2]
    there = [(names[..., s, :] == seat) * jnp.float32((b - s) / b) for s in range(b)]
    return jnp.where(seat >= 0, reduce(jnp.maximum, there), 0.0)


def _ballots(boards: Boards) -> list[jax.Array]:
    return [boards.names] if boards.subjects is None else [boards.names, boards.subjects]


def _named(table: Table, boards: Boards) -> list[jax.Array]:
    """Rank of j among i's names: (T, n, n, B) each for ballots and claims."""
    seats = jnp.arange(table.players, dtype=jnp.int32)[:, None]
    return [_hits(ballot[:, :, None], seats) for ballot in _ballots(boards)]


def _agree(words: jax.Array, others: jax.Array) -> list[jax.Array]:
    """1 if two words (..., places, B) are equal, and the share of equal places if there are several."""
    places = words.shape[-2]
    if not places:
        return []
    each = [(words[..., p, :] == others[..., p, :]) & (words[..., p, :] >= 0) for p in range(places)]
    share = reduce(add, [e.astype(jnp.float32) for e in each]) * (1.0 / places)
    whole = reduce(jnp.logical_and, each).astype(jnp.float32)
    return [whole] if places == 1 else [whole, share]


def _same(boards: Boards) -> list[jax.Array]:
    """1 if the words of i and j are equal: (T, n, n, B) each."""
    return _agree(boards.words[:, :, None], boards.words[:, None])


def _row_of(entries: jax.Array, seat: jax.Array) -> jax.Array:
    """The entries of `seat` (T or 1, B): (T, n, x, B) -> (T, x, B), -1 if `seat` is -1."""
    numbers = jnp.arange(entries.shape[1], dtype=jnp.int32)[:, None]
    own = (seat[:, None] == numbers)[:, :, None]
    return total(jnp.where(own, entries + 1, 0), 1) - 1


def _about(table: Table, boards: Boards, mark: jax.Array) -> list[jax.Array]:
    """Relations of every seat to a marked one: named it, was named by it, same word; (T, n, B) each."""
    seats = jnp.arange(table.players, dtype=jnp.int32)[:, None]
    found = []
    for ballot in _ballots(boards):
        found += [_hits(ballot, mark[:, None]), _hits(_row_of(ballot, mark)[:, None], seats)]
    return found + _agree(boards.words, _row_of(boards.words, mark)[:, None])


def _echoes(boards: Boards, executed: jax.Array) -> list[jax.Array]:
    """1 if a seat's newest word equals the executed seat's, or its own, on each board: (T, n, B) each."""
    newest = boards.words[:1]
    theirs = _row_of(boards.words, executed[None])[:, None]
    return _agree(theirs, newest) + _agree(boards.words, newest)


def _recency(table: Table, phase: jax.Array) -> list[jax.Array]:
    """Per phase, 2**-k for its k-th newest board and 0 for boards of others: (T, B) each."""
    found = []
    for p in range(table.phases):
        here = (phase == p).astype(jnp.int32)
        newer = jnp.cumsum(here, axis=0) - here
        found.append(here * jnp.exp2(-newer.astype(jnp.float32)))
    return found
