"""A network for games of seats around a table, equivariant under exchange of seats.

Every seat is a row: the knowledge about it, and its names and words on each board (`boards`, `relations`). Boards are added up after one
layer that reads their age and phase. Then, `layers` times, every seat gets messages of the others, weighted by learned weights for
every relation and phase, and the mean of all rows. A name's logit is computed from the named seat's row, so exchanging two seats
exchanges their logits and nothing else. Words and the value come from the player's own row and the mean of all.

There is no softmax over seats: its gradient would make a round three times as long on a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.networks.layers import (
    ACTIVATIONS,
    HIDDEN_GAIN,
    POLICY_GAIN,
    VALUE_GAIN,
    Dense,
    orthogonal,
)
from interplay.train.networks.werewolf import relations
from interplay.train.networks.werewolf.boards import SeatInput, Table, find_table, read_seen
from interplay.train.networks.werewolf.innermost import (
    across,
    blend,
    keep,
    match,
    one_hot,
    spread,
    total,
    weigh,
)
from interplay.train.settings import NetworkGroup


class BoardEncoder(eqx.Module):
    """Encodes a seat's names and words on all boards: (width, n, B)."""

    word: Dense
    place: Dense
    table: Table = eqx.field(static=True)
    activation: str = eqx.field(static=True)

    def __init__(self, table: Table, settings: NetworkGroup, *, key: jax.Array) -> None:
        keys, inputs = jax.random.split(key, 2), sum(table.plain) + relations.count_seat_features(table)
        self.word = Dense(inputs, settings.width, HIDDEN_GAIN, key=keys[0])
        self.place = Dense(table.phases + 2 + table.boards, settings.width, HIDDEN_GAIN, key=keys[1])
        self.table, self.activation = table, settings.activation

    def __call__(self, seen: SeatInput) -> jax.Array:
        boards = seen.boards
        words = [
            one_hot(boards.words[:, :, place], choices) for place, choices in enumerate(self.table.plain)
        ]
        received = across(self.word, *words, relations.seat_features(self.table, seen))
        when = keep(across(self.place, _when(self.table, seen)))
        rows = ACTIVATIONS[self.activation](keep(received + spread(when, 2, self.table.players)))
        there = (boards.phase >= 0).astype(jnp.float32)[:, None]
        return keep(total(rows * there, 1) * self.table.boards**-0.5)


def _when(table: Table, seen: SeatInput) -> jax.Array:
    """One-hots of each board's phase, day (today, yesterday) and number: (phases + 2 + T, T, B)."""
    boards = seen.boards
    if boards.day is None:
        days = jnp.zeros((2, *boards.phase.shape), jnp.float32)
    else:
        days = one_hot(jnp.where(boards.day < 0, -1, seen.scalars["day"] - boards.day), 2)
    ages = jnp.broadcast_to(
        jnp.eye(table.boards, dtype=jnp.float32)[..., None], (table.boards, *days.shape[1:])
    )
    return jnp.concatenate([one_hot(boards.phase, table.phases), days, ages])


class Round(eqx.Module):
    """One round of messages between seats, weighted by their relations: (width, n, B) -> (width, n, B)."""

    speak: jax.Array
    move: jax.Array
    join: Dense
    crowd: Dense
    heads: int = eqx.field(static=True)
    activation: str = eqx.field(static=True)

    def __init__(self, table: Table, settings: NetworkGroup, *, key: jax.Array) -> None:
        keys, width = jax.random.split(key, 4), settings.width
        self.speak = orthogonal(width, width, 1.0, keys[0])
        related = relations.count_pair_features(table) * table.phases
        self.move = jax.random.normal(keys[1], (related, settings.heads), jnp.float32) / related**0.5
        self.join = Dense(2 * width, width, HIDDEN_GAIN, key=keys[2])
        self.crowd = Dense(width, width, 1.0, key=keys[3])
        self.heads, self.activation = settings.heads, settings.activation

    def __call__(self, rows: jax.Array, related: jax.Array) -> jax.Array:
        _, n, batch = rows.shape
        sent = keep(blend(self.speak, rows)).reshape(self.heads, -1, n, batch)
        weights = keep(blend(self.move, related))
        received = keep(weigh(weights, sent)).reshape(rows.shape)
        crowd = keep(across(self.crowd, keep(total(rows, 1) / n)))
        joined = keep(across(self.join, rows, received) + spread(crowd, 1, n))
        return keep(rows + ACTIVATIONS[self.activation](joined))


class SeatsNetwork(eqx.Module):
    """Policy and value of a player at a table of n.

    Args:
        observation_space: of one agent of a werewolf world with ``board = "split"``.
        action_space: its names and symbols, MultiDiscrete.
        settings: width, heads, tail, activation and layers are read.
    """

    listener: BoardEncoder
    seat: Dense
    scene: Dense
    rounds: tuple[Round, ...]
    policy: Dense
    point: Dense
    seek: Dense
    nobody: Dense
    speak: Dense
    value: Dense
    value_head: Dense
    table: Table = eqx.field(static=True)
    activation: str = eqx.field(static=True)
    raw = True  # takes observations in their own dtypes

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        settings: NetworkGroup,
        *,
        key: jax.Array,
    ) -> None:
        if settings.input_scale:
            raise UserError(
                "network.kind = seats reads seat numbers as they are; set network.input_scale=false"
            )
        self.table = table = find_table(observation_space, action_space)
        width, tail, self.activation = settings.width, settings.tail, settings.activation
        keys = jax.random.split(key, 10 + settings.layers)
        self.listener = BoardEncoder(table, settings, key=keys[0])
        self.seat = Dense(width + _count_known(table), width, HIDDEN_GAIN, key=keys[1])
        self.scene = Dense(_count_scene(table), width, HIDDEN_GAIN, key=keys[2])
        self.policy = Dense(2 * width, tail, HIDDEN_GAIN, key=keys[3])
        self.point = Dense(width, self.pointers, POLICY_GAIN, key=keys[4])
        self.seek = Dense(tail, self.pointers * width, POLICY_GAIN, key=keys[5])
        self.nobody = Dense(tail, self.pointers, POLICY_GAIN, key=keys[9])
        self.speak = Dense(tail, sum(table.plain), POLICY_GAIN, key=keys[6])
        self.value = Dense(2 * width, tail, HIDDEN_GAIN, key=keys[7])
        self.value_head = Dense(tail, 1, VALUE_GAIN, key=keys[8])
        self.rounds = tuple(Round(table, settings, key=k) for k in keys[10:])

    @property
    def pointers(self) -> int:
        """Heads that choose a seat or none: the names, and the subject of a claim."""
        return self.table.names + self.table.claims

    def __call__(self, observation: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return self.answer(*self.attend(observation))

    def attend(self, observation: Mapping[str, jax.Array]) -> tuple[jax.Array, SeatInput]:
        """Features of every seat, (width, n, B), and the observation as read."""
        seen, act = read_seen(self.table, observation), ACTIVATIONS[self.activation]
        scene = keep(across(self.scene, _scene(self.table, seen)))
        seats = across(self.seat, self.listener(seen), keep(_known(self.table, seen)))
        rows = keep(act(keep(seats + spread(scene, 1, self.table.players))))
        related = keep(relations.pair_features(self.table, seen))
        for attend in self.rounds:
            rows = attend(rows, related)
        return rows, seen

    def answer(self, rows: jax.Array, seen: SeatInput) -> tuple[jax.Array, jax.Array]:
        """Logits and value from the results of `attend`."""
        return self.decide(self._trunks(rows, seen), rows)

    def features(self, observation: Mapping[str, jax.Array]) -> tuple[tuple[jax.Array, ...], jax.Array]:
        """Inputs of the policy's and the value's head, (B, tail) each, and the rows of the seats."""
        rows, seen = self.attend(observation)
        return self._trunks(rows, seen), rows

    def decide(self, features: tuple[jax.Array, ...], rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Logits and value."""
        trunk, value = (keep(feature.T) for feature in features)
        return self._logits(rows, trunk).T, across(self.value_head, value)[0]

    def _trunks(self, rows: jax.Array, seen: SeatInput) -> tuple[jax.Array, jax.Array]:
        """(B, tail) for the policy and for the value."""
        act = ACTIVATIONS[self.activation]
        me = one_hot(seen.scalars["own_id"], self.table.players)
        features = keep(jnp.concatenate([total(rows * me, 1), total(rows, 1) / self.table.players]))
        return act(across(self.policy, features)).T, act(across(self.value, features)).T

    def _logits(self, rows: jax.Array, trunk: jax.Array) -> jax.Array:
        """Every head's logits in the order of the action space: (choices, B)."""
        width, _, batch = rows.shape
        sought = keep(across(self.seek, trunk)).reshape(1, width, self.pointers, batch)
        nobody = across(self.nobody, trunk)
        seats = across(self.point, rows) + keep(match(sought, rows[None]))[0]
        named = jnp.concatenate([seats, nobody[:, None]], axis=1)
        if not self.table.plain:  # a game without words
            return named.reshape(-1, batch)
        sent = across(self.speak, trunk)
        if not self.table.claims:
            return jnp.concatenate([named.reshape(-1, batch), sent])
        role = sum(self.table.plain[:-1])
        parts = [named[:-1].reshape(-1, batch), sent[:role], named[-1], sent[role:]]
        return jnp.concatenate(parts)


def _known(table: Table, seen: SeatInput) -> jax.Array:
    """Knowledge about each seat without names and words: (features, n, B)."""
    seats = [seen.seats["status_map"][None].astype(jnp.float32)]
    marks = jnp.stack([seen.scalars[key] for key in ("own_id", "last_executed", "last_eaten")])
    seats.append(one_hot(marks, table.players).swapaxes(0, 1))
    if table.pack:
        seats.append(seen.seats["pack"][None].astype(jnp.float32))
    if table.private:
        seats.append(one_hot(seen.seats["private_info"], 2))
    if table.revealed:
        seats.append(one_hot(seen.seats["revealed"], table.revealed))
    return jnp.concatenate(seats)


def _count_known(table: Table) -> int:
    return 4 + table.pack + 2 * table.private + table.revealed


def _scene(table: Table, seen: SeatInput) -> jax.Array:
    """Features common to all seats: phase, talk round, own role, day, share of living; (features, B)."""
    scalars = seen.scalars
    day = (scalars["day"].astype(jnp.float32) / table.days)[None]
    living = (total(seen.seats["status_map"], 0).astype(jnp.float32) / table.players)[None]
    parts = [one_hot(scalars["phase"], table.phases), day, living]
    if "talk_round" in scalars:
        parts.append(one_hot(scalars["talk_round"], table.rounds))
    if "role" in scalars:
        parts.append(one_hot(scalars["role"], table.roles))
    return jnp.concatenate(parts)


def _count_scene(table: Table) -> int:
    return table.phases + 2 + (table.rounds if table.rounds > 1 else 0) + table.roles
