"""Making and playing games at random, for tests that look at what comes of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay import make_world
from interplay.core.policy import RandomPolicy
from interplay.worlds.werewolf.world import WerewolfWorld


def game(variant: str = "9", num_worlds: int = 1, seed: int = 0, **options: Any) -> WerewolfWorld:
    """A batch that was reset; without a word on games that are decided in the first night."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        world = make_world(f"werewolf/{variant}", num_worlds, seed, **options)
    assert isinstance(world, WerewolfWorld)
    world.reset()
    return world


def rounds(world: WerewolfWorld, seed: int = 0, most: int = 10_000) -> Iterator[np.ndarray]:
    """Random legal actions until every game is over; the caller steps."""
    player = RandomPolicy()
    player.start(world, seed=seed)
    for _ in range(most):
        if world.timestep.over.all():
            return
        yield np.asarray(player.act(world.timestep))
    raise AssertionError("the games never end")


def play(world: WerewolfWorld, seed: int = 0) -> None:
    """Plays at random to the end."""
    for action in rounds(world, seed):
        world.step(action)


def shown(world: WerewolfWorld) -> dict[str, np.ndarray]:
    """Copies of all outputs of the world."""
    now = world.timestep
    told = {f"observation/{name}": field.copy() for name, field in now.observation.items()}
    told["mask"] = now.action_mask["action"].copy()  # type: ignore[index]
    for name in ("reward", "acting", "terminated", "truncated", "over"):
        told[name] = np.array(getattr(now, name))
    return told


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray], where: str = "") -> None:
    """Bit for bit; shapes and types as well."""
    assert one.keys() == other.keys(), where
    for name, value in one.items():
        assert (value.dtype, value.shape) == (other[name].dtype, other[name].shape), f"{name} {where}"
        assert value.tobytes() == np.ascontiguousarray(other[name]).tobytes(), (
            f"{name} {where}:\n{value}\n{other[name]}"
        )


def split(world: WerewolfWorld, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(..., n + 1) names and (..., L, S) symbols of masks (..., choices) of a world without claims."""
    s = world.settings
    names = mask[..., : s.n_players + 1]
    words = mask[..., s.names * (s.n_players + 1) :]
    return names, words.reshape(*mask.shape[:-1], s.signal_length, -1 if s.signal_length else 0)
