"""The original's spaces, their mask columns, and the settings that do not fit them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.world import WerewolfWorld

PHASES = 4


def observed_spaces(settings: WerewolfSettings) -> dict[str, spaces.Space[Any]]:
    """The original's fields in the table's order; ``signal`` only where there are words."""
    n, length = settings.n_players, settings.signal_length
    found: dict[str, spaces.Space[Any]] = {
        "day": spaces.Discrete(settings.days + 1),
        "status_map": spaces.MultiBinary(n),
        "phase": spaces.Discrete(PHASES),
        "targets": spaces.Box(-1, n - 1, (n,), np.int16),
    }
    if length:
        found["signal"] = spaces.Box(-1, settings.signal_range - 1, (n, length), np.int16)
    return found | {"own_id": spaces.Discrete(n)}


def action_space_of(settings: WerewolfSettings) -> spaces.Space[Any]:
    """``MultiDiscrete([n] * (1 + L))``, or ``Discrete(n)`` without words."""
    n, length = settings.n_players, settings.signal_length
    return spaces.MultiDiscrete([n] * (1 + length)) if length else spaces.Discrete(n)


def refuse_others(world: WerewolfWorld) -> None:
    """Refuses settings that do not fit the original's spaces, naming setting and cure."""
    s = world.settings
    cures = (
        (world.num_worlds > 1, f"num_worlds = {world.num_worlds}", "this environment is one game; pass 1"),
        (
            s.signal_length > 0 and s.signal_range > s.n_players,
            f"signal_range = {s.signal_range}",
            f"every entry of an action has n_players = {s.n_players} values; lower signal_range or use interplay.make",
        ),
        (s.names > 1, f"ballots of {s.names} names", "there is room for one; use interplay.make"),
        (s.claims, "claims = True", "there is no room for them; use interplay.make"),
        (s.allow_abstain, "allow_abstain = True", "there is no value for a pass; use interplay.make"),
        (bool(s.roles), f"roles = {s.roles}", "there are villagers and werewolves only; use interplay.make"),
        (s.phases is not None, "a table of phases", "there are the original's four; use interplay.make"),
        (s.board == "split", "board = split", "there is one board; set last_visible or last_phase"),
    )
    for wrong, what, cure in cures:
        if wrong:
            raise UserError(f"{world.id}: {what} does not go with the original's spaces: {cure}")


def columns_of(settings: WerewolfSettings) -> np.ndarray:
    """(n * (1 + L),) mask column of each original choice, -1 for missing symbols."""
    n, symbols = settings.n_players, np.arange(settings.n_players)
    heads = [np.arange(n)]
    for place in range(settings.signal_length):
        start = n + 1 + place * settings.signal_range
        heads.append(np.where(symbols < settings.signal_range, start + symbols, -1))
    return np.concatenate(heads)


def point_of(space: spaces.Space[Any], action: Any, what: str, name: str) -> np.ndarray:
    """An action as an array."""
    try:
        row = np.asarray(action)
    except ValueError:  # lists of different lengths
        row = np.empty(0)
    whole = row.dtype.kind in "iu" and row.shape == (space.shape or ())
    if not whole or not space.contains(row.astype(space.dtype)):
        shown = " ".join(repr(action).split())
        raise UserError(f"{what} {shown} of {name} is not in {space}; mend the policy")
    return row
