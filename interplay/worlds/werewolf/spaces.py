"""One player's observation (specification 7): fields, spaces and arrays."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.kernel_world import read_only
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import phase_names
from interplay.worlds.werewolf.roles import NAMES
from interplay.worlds.werewolf.state import NONE, Sight, WerewolfState


class Field(NamedTuple):
    """One field of an observation."""

    space: spaces.Box  # of one player
    array: np.ndarray  # (W, A, ...), a read-only view of the world's arrays


def fields_of(settings: WerewolfSettings, state: WerewolfState, sight: Sight) -> dict[str, Field]:
    """The fields in the specification's order; common ones are one array, broadcast over players."""
    fields = _common(settings, state)
    fields |= _split_boards(settings, state, sight) if settings.board == "split" else _block(settings, sight)
    n, room = settings.n_players, state.room
    for name in ("eaten", "executed"):
        fields[f"last_{name}"] = _shared(room[name], NONE, n - 1, n)
    if settings.obs.role:
        fields["role"] = _own(state.role, 0, len(NAMES) - 1)
    if settings.obs.pack:
        fields["pack"] = _own(sight.pack.view(np.uint8), 0, 1)
    if settings.extra_roles:
        fields["private_info"] = _own(state.known, NONE, 1)
    if settings.reveal_role:
        fields["revealed"] = _shared(state.revealed, NONE, len(NAMES) - 1, n)
    if settings.obs.history:
        fields |= _past(settings, state)
    return fields


def _common(settings: WerewolfSettings, state: WerewolfState) -> dict[str, Field]:
    n, room = settings.n_players, state.room
    fields = {
        "day": _shared(room["day"], 0, settings.days, n),
        "phase": _shared(room["phase"], 0, last_phase(settings), n),
    }
    rounds = max(row.rounds for row in settings.rows)
    if rounds > 1:
        fields["talk_round"] = _shared(room["talk_round"], 0, rounds - 1, n)
    seats = np.broadcast_to(np.arange(n, dtype=np.int16), (len(room), n))
    return fields | {
        "own_id": _own(seats, 0, n - 1),
        "status_map": _shared(state.alive.view(np.uint8), 0, 1, n),
    }


def last_phase(settings: WerewolfSettings) -> int:
    """The highest number of a phase: 3, or more with a witch, a hunter or custom phases."""
    extra = settings.roles.get("witch", 0) or settings.roles.get("hunter", 0)
    names = phase_names(settings.rows)
    return len(names) - 1 if extra or len(names) > 6 else 3


def _split_boards(settings: WerewolfSettings, state: WerewolfState, sight: Sight) -> dict[str, Field]:
    n, room, most = settings.n_players, state.room, last_phase(settings)
    public = _board(settings, state.public_targets, state.public_signals, partial(_shared, players=n))
    pack = _board(settings, sight.pack_targets, sight.pack_signals, _own)
    fields = {f"public_{name}": field for name, field in public.items()}
    fields["public_phase"] = _shared(room["public_phase"], NONE, most, n)
    fields |= {f"pack_{name}": field for name, field in pack.items()}
    return fields | {"pack_phase": _own(sight.pack_phase, NONE, most)}


def _block(settings: WerewolfSettings, sight: Sight) -> dict[str, Field]:
    """WD's names for the parts of the single board."""
    board = _board(settings, sight.block_targets, sight.block_signals, _own)
    names = {"targets": "targets", "signals": "signal", "claims": "claims"}
    return {names[name]: field for name, field in board.items()}


def _past(settings: WerewolfSettings, state: WerewolfState) -> dict[str, Field]:
    n = settings.n_players
    board = _board(settings, state.past_targets, state.past_signals, partial(_shared, players=n))
    return {f"past_{name}": field for name, field in board.items()} | {
        "past_phase": _shared(state.past_phase, NONE, last_phase(settings), n),
        "past_day": _shared(state.past_day, NONE, settings.days, n),
        "past_chosen": _shared(state.past_chosen, NONE, n - 1, n),
    }


def _board(settings: WerewolfSettings, targets: np.ndarray, words: np.ndarray, make: Any) -> dict[str, Field]:
    """Names, symbols and claims of a board; the axis of names is dropped for one name per ballot."""
    n, length = settings.n_players, settings.signal_length
    named = targets[..., 0] if settings.names == 1 else targets
    fields = {"targets": make(named, NONE, n - 1)}
    if length:
        fields["signals"] = make(words[..., :length], NONE, settings.signal_range - 1)
    if settings.claims:
        most = np.array(settings.symbols[length:]) - 1
        fields["claims"] = make(words[..., length:], NONE, most)
    return fields


def _shared(array: np.ndarray, low: int, high: Any, players: int) -> Field:
    """A common array (W, ...) as (W, A, ...)."""
    wide = np.broadcast_to(array[:, None], (len(array), players, *array.shape[1:]))
    return Field(_box(low, high, array.shape[1:], array.dtype), wide)


def _own(array: np.ndarray, low: int, high: Any) -> Field:
    """An array per player, (W, A, ...)."""
    return Field(_box(low, high, array.shape[2:], array.dtype), read_only(array))


def _box(low: int, high: Any, shape: tuple[int, ...], dtype: Any) -> spaces.Box:
    most = np.broadcast_to(np.asarray(high), shape)
    return spaces.Box(np.full(shape, low, dtype), most.astype(dtype), shape, dtype)
