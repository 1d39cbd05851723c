"""Words of scripted players: given, or drawn from a seed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.worlds.werewolf.config import WerewolfSettings


def find_word(
    settings: WerewolfSettings, given: int | Sequence[int] | str | None, seed: int, owner: str
) -> np.ndarray:
    """A word as the settings define it: (L,) int16.

    Args:
        given: a symbol for all places, or a symbol for each; None draws a word.
        seed: of the draw, which depends only on it and the owner.
        owner: name of the policy, for the draw and errors.
    """
    length, symbols = settings.signal_length, settings.signal_range
    if given is None:
        rng = seeding.generator(seed, zlib.crc32(f"word/{owner}".encode()))
        return rng.integers(0, max(symbols, 1), length).astype(np.int16)
    if isinstance(given, str):
        raise UserError(f"{owner}: word = {given!r}; pass a symbol, a list of symbols, or nothing")
    word = np.full(length, given) if isinstance(given, int) else np.asarray(given, np.int64)
    if word.shape != (length,) or (word < 0).any() or (word >= symbols).any():
        raise UserError(
            f"{owner}: word = {given} does not fit signal_length = {length}, signal_range = {symbols}; "
            f"pass {length} symbols from 0 to {symbols - 1}"
        )
    return word.astype(np.int16)
