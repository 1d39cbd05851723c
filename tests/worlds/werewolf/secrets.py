"""What one player cannot know, overwritten: after `scramble` nothing that it is shown may have changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.worlds.werewolf.roles import NAMES, WEREWOLF, WITCH
from interplay.worlds.werewolf.state import NONE
from interplay.worlds.werewolf.world import WerewolfWorld


def scramble(world: WerewolfWorld, w: int, owner: int, rng: np.random.Generator) -> int:
    """Deals the other seats' roles anew and overwrites their private state; returns how many roles changed.

    A wolf observes the pack, so for a wolf the pack stays. Other seats may face any deal; what a seer learned is its own state and
    stays.
    """
    state = world.state
    before = state.role[w].copy()
    others = np.array([seat for seat in range(len(before)) if seat != owner])
    if before[owner] == WEREWOLF:
        others = others[before[others] != WEREWOLF]
    state.role[w, others] = rng.permutation(before[others])
    if before[owner] != WEREWOLF:
        forge_pack_board(world, w, rng)
    forge_private_arrays(world, w, owner, rng)
    return int((state.role[w] != before).sum())


def forge_pack_board(world: WerewolfWorld, w: int, rng: np.random.Generator) -> None:
    """Another night's talk."""
    state, n = world.state, world.settings.n_players
    state.pack_targets[w] = rng.integers(-1, n, state.pack_targets[w].shape)
    state.pack_signals[w] = rng.integers(-1, 1, state.pack_signals[w].shape)


def forge_private_arrays(world: WerewolfWorld, w: int, owner: int, rng: np.random.Generator) -> None:
    """Overwrites other seats' private knowledge, guarded seats and potions, and the attack that only a witch sees."""
    state, n = world.state, world.settings.n_players
    others = [seat for seat in range(n) if seat != owner]
    if state.known.shape[1]:
        state.known[w, others] = rng.integers(-1, 2, (n - 1, n))
    state.guarded[w, others] = rng.integers(-1, n, n - 1)
    state.potions[w, others] = rng.integers(0, 2, (n - 1, 2)).astype(bool)
    state.last_votes[w] = NONE
    if state.role[w, owner] != WITCH:
        state.room["victim"][w] = rng.integers(-1, n)


def sight_of(world: WerewolfWorld, adapter: Any, w: int, seat: int) -> dict[str, np.ndarray]:
    """Everything that one seat observes: its row of every field and of the mask, and the adapter's infos."""
    now = world.timestep
    told = {name: field[w, seat].copy() for name, field in now.observation.items()}
    told["mask"] = now.action_mask["action"][w, seat].copy()  # type: ignore[index]
    info = adapter._report(now, adapter._legal(now))[1].get(world.agents[seat], {})
    told |= {f"info/{key}": np.array(value) for key, value in info.items()}
    assert all(key in ("acting", "action_mask") or key.startswith("metrics/") for key in info)
    return told


def role_names(world: WerewolfWorld, w: int) -> list[str]:
    """For messages."""
    return [NAMES[role] for role in world.state.role[w]]
