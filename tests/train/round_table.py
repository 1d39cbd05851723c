"""Observations of a round of werewolf made of its list of fields, without the world."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

PHASES, ROLES = 6, 8
VERBS = 6


class Game(NamedTuple):
    """Which game; names as in the settings of the world."""

    n: int = 9
    words: int = 1
    symbols: int = 9
    names: int = 1
    history: int = 0
    claims: bool = False
    rounds: int = 1
    role: bool = True
    pack: bool = True
    extra: bool = False
    revealed: bool = False

    @property
    def choices(self) -> list[int]:
        """Of every head."""
        claim = [VERBS, self.n + 1, ROLES] if self.claims else []
        return [self.n + 1] * self.names + [self.symbols] * self.words + claim


def spaces_of(game: Game) -> tuple[spaces.Dict, spaces.MultiDiscrete]:
    """Observation and action space of one agent."""
    n = game.n

    def box(high: Any, *shape: int, low: int = -1) -> spaces.Box:
        full = np.broadcast_to(np.asarray(high), shape).astype(np.int16)
        return spaces.Box(np.full(shape, low, np.int16), full, dtype=np.int16)

    leaves: dict[str, spaces.Space] = {"day": box(n, low=0), "phase": box(PHASES - 1, low=0)}
    if game.rounds > 1:
        leaves["talk_round"] = box(game.rounds - 1, low=0)
    leaves |= {"own_id": box(n - 1, low=0), "status_map": box(1, n, low=0)}
    for whose in ("public", "pack"):
        leaves |= _board(game, whose, box, ())
        leaves[f"{whose}_phase"] = box(PHASES - 1)
    leaves |= {"last_eaten": box(n - 1), "last_executed": box(n - 1)}
    if game.role:
        leaves["role"] = box(ROLES - 1, low=0)
    if game.pack:
        leaves["pack"] = box(1, n, low=0)
    if game.extra:
        leaves["private_info"] = box(1, n)
    if game.revealed:
        leaves["revealed"] = box(ROLES - 1, n)
    if game.history:
        leaves |= _board(game, "past", box, (game.history,))
        for key, high in (("phase", PHASES - 1), ("day", n), ("chosen", n - 1)):
            leaves[f"past_{key}"] = box(high, game.history)
    return spaces.Dict(leaves), spaces.MultiDiscrete(game.choices)


def _board(game: Game, whose: str, box: Any, first: tuple[int, ...]) -> dict[str, spaces.Space]:
    last = (game.names,) if game.names > 1 else ()
    leaves = {f"{whose}_targets": box(game.n - 1, *first, game.n, *last)}
    if game.words:
        leaves[f"{whose}_signals"] = box(game.symbols - 1, *first, game.n, game.words)
    if game.claims:
        leaves[f"{whose}_claims"] = box((VERBS - 1, game.n, ROLES - 1), *first, game.n, 3)
    return leaves


def observe(game: Game, rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Random observations within the bounds; with history, the newest past board is the public one."""
    rng = np.random.default_rng(seed)
    seen = {
        key: rng.integers(leaf.low, leaf.high, (rows, *leaf.shape), endpoint=True).astype(leaf.dtype)
        for key, leaf in spaces_of(game)[0].spaces.items()
    }
    seen["status_map"][np.arange(rows), seen["own_id"]] = 1
    if game.history:
        for key in [key for key in seen if key.startswith("past_")]:
            if key.replace("past", "public") in seen:
                seen[key.replace("past", "public")] = seen[key][:, 0]
    return seen


def exchange(game: Game, seen: dict[str, np.ndarray], places: np.ndarray) -> dict[str, np.ndarray]:
    """The same observations with seat j sitting at ``places[j]``: rows of boards move, and every number of a seat with them."""
    renamed = np.append(places, [game.n, -1])  # nobody keeps its number; index -1 is the last
    out = {}
    for key, leaf in seen.items():
        if key in ("own_id", "last_eaten", "last_executed", "past_chosen"):
            leaf = renamed[leaf]
        elif key.endswith("_targets"):
            leaf = _move(game, renamed[leaf], key, places)
        elif key.endswith("_claims"):
            leaf = leaf.copy()
            leaf[..., 1] = renamed[leaf[..., 1]]
            leaf = _move(game, leaf, key, places)
        elif key.endswith("_signals") or key in ("status_map", "pack", "private_info", "revealed"):
            leaf = _move(game, leaf, key, places)
        out[key] = leaf.astype(seen[key].dtype)
    return out


def _move(game: Game, leaf: np.ndarray, key: str, places: np.ndarray) -> np.ndarray:
    axis = 2 if key.startswith("past_") else 1
    assert leaf.shape[axis] == game.n
    out = np.empty_like(leaf)
    out[(slice(None),) * axis + (places,)] = leaf
    return out


def exchange_logits(game: Game, logits: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Logits as they should be after `exchange`: heads that choose a seat move, the others stay."""
    out, at = [], 0
    for head, count in enumerate(game.choices):
        part = logits[:, at : at + count]
        if head < game.names or (game.claims and head == len(game.choices) - 2):
            part = part[:, np.append(np.argsort(places), game.n)]
        out.append(part)
        at += count
    return np.concatenate(out, axis=1)


def on_device(seen: dict[str, np.ndarray]) -> dict[str, jax.Array]:
    """As the trainer hands it over."""
    return {key: jnp.asarray(leaf) for key, leaf in seen.items()}
