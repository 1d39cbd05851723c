"""How what was said relates the seats: who named whom, whose word is whose. Nothing here has parameters.

Words are compared, so that "the seat whose word is not mine" is one number of a seat, not something to be learnt for every symbol.
Each board gives every seat numbers (`say`) and every pair of seats numbers (`relate`), all within 0..1 and samples innermost.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import jax
import jax.numpy as jnp

from interplay.train.networks.werewolf.boards import Boards, Seen, Table
from interplay.train.networks.werewolf.innermost import total


def say(table: Table, seen: Seen) -> jax.Array:
    """What each board says of each seat beside its word: (F, T, n, B)."""
    boards = seen.boards
    said, named, same = _said(boards), _named(table, boards), _same(boards)
    others = _living_share(table, seen)
    shape = said.shape
    found = [said, said * (boards.names[:, :, 0] < 0)]
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


def relate(table: Table, seen: Seen) -> jax.Array:
    """What the boards of each phase say of pairs (i, j): (relations x phases, n, n, B).

    Relations are: i named j, j named i, their words agree. Of several boards of a phase the newest counts 1, the next 1/2, ...
    """
    boards = seen.boards
    named = _named(table, boards)
    pairs = [*named, *(each.swapaxes(1, 2) for each in named), *_same(boards)]
    weights = _recency(table, boards.phase)
    found = [[total(weights[p][:, None, None] * each, 0) for p in range(table.phases)] for each in pairs]
    return jnp.stack([one for each in found for one in each])


def count_said(table: Table) -> int:
    """F of `say`."""
    names, same = 1 + table.claims, _kinds_of_same(table)
    marks = 3 + table.history
    per_set = names + same
    found = 2 + per_set + (per_set + names if table.pack else 0) + marks * (2 * names + same)
    return found + (2 * same if table.history else 0)


def count_related(table: Table) -> int:
    """Relations of `relate`."""
    return 2 * (1 + table.claims) + _kinds_of_same(table)


def _kinds_of_same(table: Table) -> int:
    return min(len(table.plain), 2)


def _living_share(table: Table, seen: Seen) -> jax.Array:
    """1 / living seats, at most 1: (B,); counts become shares of the living."""
    living = total(seen.seats["status_map"], 0)
    return 1.0 / jnp.maximum(living, 1).astype(jnp.float32)


def _marks(seen: Seen) -> list[jax.Array]:
    """Seats that are compared with all others, (T or 1, B): oneself, whom death took last, whom a board's vote chose."""
    marks = [seen.scalars[key][None] for key in ("own_id", "last_executed", "last_eaten")]
    return marks if seen.boards.chosen is None else [*marks, seen.boards.chosen]


def _said(boards: Boards) -> jax.Array:
    """Whether a seat said anything on a board: (T, n, B)."""
    spoken = boards.names[:, :, 0] >= 0
    if boards.words.shape[2]:
        spoken |= boards.words[:, :, 0] >= 0
    return spoken.astype(jnp.float32)


def _hits(names: jax.Array, seat: jax.Array) -> jax.Array:
    """How high `seat` stands among names (..., b, B): 1 for the first, 1/b for the last, 0 if it is not there."""
    b = names.shape[-2]
    there = [(names[..., s, :] == seat) * jnp.float32((b - s) / b) for s in range(b)]
    return jnp.where(seat >= 0, reduce(jnp.maximum, there), 0.0)


def _ballots(boards: Boards) -> list[jax.Array]:
    return [boards.names] if boards.subjects is None else [boards.names, boards.subjects]


def _named(table: Table, boards: Boards) -> list[jax.Array]:
    """How i named j: (T, n, n, B) each for ballots and claims."""
    seats = jnp.arange(table.players, dtype=jnp.int32)[:, None]
    return [_hits(ballot[:, :, None], seats) for ballot in _ballots(boards)]


def _agree(words: jax.Array, others: jax.Array) -> list[jax.Array]:
    """Whether two words (..., places, B) are the same, and the share of places in which they are if there are several."""
    places = words.shape[-2]
    if not places:
        return []
    each = [(words[..., p, :] == others[..., p, :]) & (words[..., p, :] >= 0) for p in range(places)]
    share = reduce(add, [e.astype(jnp.float32) for e in each]) * (1.0 / places)
    whole = reduce(jnp.logical_and, each).astype(jnp.float32)
    return [whole] if places == 1 else [whole, share]


def _same(boards: Boards) -> list[jax.Array]:
    """Whether i's word is j's: (T, n, n, B) each."""
    return _agree(boards.words[:, :, None], boards.words[:, None])


def _row_of(entries: jax.Array, seat: jax.Array) -> jax.Array:
    """What `seat` (T or 1, B) said: (T, n, x, B) -> (T, x, B), -1 where it is nobody."""
    numbers = jnp.arange(entries.shape[1], dtype=jnp.int32)[:, None]
    own = (seat[:, None] == numbers)[:, :, None]
    return total(jnp.where(own, entries + 1, 0), 1) - 1


def _about(table: Table, boards: Boards, mark: jax.Array) -> list[jax.Array]:
    """What relates every seat to one: named it, was named by it, speaks as it does; (T, n, B) each."""
    seats = jnp.arange(table.players, dtype=jnp.int32)[:, None]
    found = []
    for ballot in _ballots(boards):
        found += [_hits(ballot, mark[:, None]), _hits(_row_of(ballot, mark)[:, None], seats)]
    return found + _agree(boards.words, _row_of(boards.words, mark)[:, None])


def _echoes(boards: Boards, executed: jax.Array) -> list[jax.Array]:
    """Whether a seat's newest word is what the executed, or the seat itself, said on each board: (T, n, B) each."""
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
