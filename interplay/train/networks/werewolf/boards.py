"""Reads a werewolf observation by seat and by board, with samples innermost.

A *board* holds the names and words of all seats in one phase. The public boards come newest first, then the pack's; a board with phase
-1 is padding. Arrays are (..., B), so that on a CPU sums and comparisons over seats, boards and places are vector operations over
samples, and a dense layer is one product for all seats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices

NEEDED = ("day", "phase", "own_id", "status_map", "last_eaten", "last_executed")
OPTIONAL = ("talk_round", "role", "pack", "private_info", "revealed")
ENTRIES = ("targets", "signals", "claims", "phase")
PAST = ("past_day", "past_chosen")
CLAIM = 3  # verb, subject, role


class Table(NamedTuple):
    """The sizes of a game, from its spaces.

    Attributes:
        players: n.
        names: b, names on a ballot.
        symbols: choices of each head after the names; the subject of a claim has n + 1.
        words: L, places of a word without a claim.
        claims: whether a claim (verb, subject, role) follows the word.
        public: public boards, H, or 1 without history.
        history: whether they are the ``past_*`` fields.
        phases: number of phases.
        days: greatest day.
        rounds: talk rounds; 1 if not observed.
        roles: values of `role`; 0 without it.
        revealed: values of `revealed`; 0 without it.
        pack: whether `pack` is observed.
        private: whether `private_info` is observed.
    """

    players: int
    names: int
    symbols: tuple[int, ...]
    words: int
    claims: bool
    public: int
    history: bool
    phases: int
    days: int
    rounds: int
    roles: int
    revealed: int
    pack: bool
    private: bool

    @property
    def boards(self) -> int:
        """T: the public ones and the pack's."""
        return self.public + 1

    @property
    def plain(self) -> tuple[int, ...]:
        """Choices of the symbols that are not seats: a word's places, a claim's verb and role."""
        if not self.claims:
            return self.symbols
        return (*self.symbols[:-CLAIM], self.symbols[-CLAIM], self.symbols[-1])


class Boards(NamedTuple):
    """T boards of n seats.

    Attributes:
        names: (T, n, b, B) int32, seats that a seat named, or -1.
        subjects: (T, n, 1, B) int32, subject of its claim, or -1; None without claims.
        words: (T, n, places, B) int32 symbols, or -1; places as in `Table.plain`.
        phase: (T, B) int32, -1 for padding.
        day: (T, B) int32, or -1; None without history.
        chosen: (T, B) int32, the seat that a board's vote executed, or -1; None without history.
    """

    names: jax.Array
    subjects: jax.Array | None
    words: jax.Array
    phase: jax.Array
    day: jax.Array | None
    chosen: jax.Array | None


class SeatInput(NamedTuple):
    """One batch of observations.

    Attributes:
        boards: names and words.
        scalars: key -> (B,) int32.
        seats: key -> (n, B) int32.
    """

    boards: Boards
    scalars: dict[str, jax.Array]
    seats: dict[str, jax.Array]


def find_table(space: spaces.Dict, action_space: spaces.Space) -> Table:
    """The sizes of a game."""
    keys = space.spaces
    if "targets" in keys:
        raise UserError(
            "network.kind = seats: the observation has one block of targets, it reads public and pack boards; "
            "set world.options.board=split, or network.kind=mlp"
        )
    missing = [key for key in (*NEEDED, "public_targets", "pack_targets") if key not in keys]
    if missing:
        raise UserError(
            f"network.kind = seats: the observation has no {missing[0]}, it has {', '.join(keys)}; "
            "it is made for werewolf worlds: use network.kind=mlp or attention"
        )
    part_of = [f"{part_of}_{part}" for part_of in ("public", "pack", "past") for part in ENTRIES]
    unknown = [key for key in keys if key not in (*NEEDED, *OPTIONAL, *PAST, *part_of)]
    if unknown:
        raise UserError(f"network.kind = seats: it does not read {unknown[0]}; use network.kind=mlp")
    choices = action_choices(action_space)
    targets = keys["public_targets"].shape or ()
    names = math.prod(targets[1:])
    if choices[:names] != (targets[0] + 1,) * names:
        raise UserError(
            f"network.kind = seats: actions have {list(choices)} choices, {names} names of {targets[0] + 1} "
            "have to come first; use network.kind=mlp"
        )
    return _sizes(space, choices, targets[0], names)


def _sizes(space: spaces.Dict, choices: tuple[int, ...], players: int, names: int) -> Table:
    keys = space.spaces
    history = "past_targets" in keys
    phases = [_numbers(part) for key, part in keys.items() if key == "phase" or key.endswith("_phase")]
    return Table(
        players=players,
        names=names,
        symbols=choices[names:],
        words=(keys["public_signals"].shape or ())[-1] if "public_signals" in keys else 0,
        claims="public_claims" in keys,
        public=(keys["past_targets"].shape or ())[0] if history else 1,
        history=history,
        phases=max(phases),
        days=max(_numbers(keys["day"]) - 1, 1),
        rounds=_numbers(keys["talk_round"]) if "talk_round" in keys else 1,
        roles=_numbers(keys["role"]) if "role" in keys else 0,
        revealed=_numbers(keys["revealed"]) if "revealed" in keys else 0,
        pack="pack" in keys,
        private="private_info" in keys,
    )


def _numbers(part: spaces.Space) -> int:
    """Number of values, from 0, of a leaf."""
    return int(part.n) if isinstance(part, spaces.Discrete) else int(np.max(part.high)) + 1  # type: ignore[attr-defined]


def read_seen(table: Table, observation: Mapping[str, jax.Array]) -> SeatInput:
    """Converts observations by key, (B, ...) of any dtype."""
    turned = {key: jnp.moveaxis(leaf, 0, -1).astype(jnp.int32) for key, leaf in observation.items()}
    scalars: dict[str, jax.Array] = {
        key: turned[key].reshape(-1)
        for key in ("day", "phase", "own_id", "last_eaten", "last_executed", "talk_round", "role")
        if key in turned
    }
    seats: dict[str, jax.Array] = {
        key: turned[key] for key in ("status_map", "pack", "private_info", "revealed") if key in turned
    }
    return SeatInput(_read_boards(table, turned), scalars, seats)


def _read_boards(table: Table, turned: Mapping[str, jax.Array]) -> Boards:
    n, part_of, batch = table.players, "past" if table.history else "public", turned["day"].size

    def entries(part: str, last: int) -> jax.Array:
        public = turned[f"{part_of}_{part}"].reshape(table.public, n, last, batch)
        return jnp.concatenate([public, turned[f"pack_{part}"].reshape(1, n, last, batch)])

    def facts(key: str, pack: jax.Array) -> jax.Array:
        return jnp.concatenate([turned[key].reshape(table.public, batch), pack.reshape(1, batch)])

    words = [entries("signals", table.words)] if table.words else []
    subjects, nothing = None, jnp.full(batch, -1, jnp.int32)
    if table.claims:
        claims = entries("claims", CLAIM)
        words += [claims[:, :, :1], claims[:, :, 2:]]
        subjects = jnp.where(claims[:, :, 1:2] < n, claims[:, :, 1:2], -1)
    empty = jnp.zeros((table.boards, n, 0, batch), jnp.int32)
    return Boards(
        names=entries("targets", table.names),
        subjects=subjects,
        words=jnp.concatenate(words, axis=2) if words else empty,
        phase=facts(f"{part_of}_phase", turned["pack_phase"]),
        day=facts("past_day", nothing) if table.history else None,
        chosen=facts("past_chosen", nothing) if table.history else None,
    )
