"""Whole games played by scripted players, many at a time, and what came of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay import make_world
from interplay.core.policy import Policy
from interplay.registry import make_policy
from interplay.worlds.werewolf.roles import VILLAGER, VILLAGERS, WEREWOLF, WOLVES

BATCH = 20_000


class Games(NamedTuple):
    """One entry for each game."""

    winner: np.ndarray
    last_phase: np.ndarray  # the one that ended it
    wolf_return: np.ndarray  # mean over the wolves
    villager_return: np.ndarray  # mean over the plain villagers
    metrics: dict[str, np.ndarray]

    def wolves_win(self) -> np.ndarray:
        assert np.isin(self.winner, (VILLAGERS, WOLVES)).all()
        return (self.winner == WOLVES).astype(float)


def play(games: int, policy: str | Policy = "random", seed: int = 1, **options: Any) -> Games:
    """Plays a number of games to their ends; `policy` acts for all seats."""
    world: Any = make_world("werewolf/9", min(games, BATCH), seed, **options)
    player = make_policy("werewolf/9", policy) if isinstance(policy, str) else policy
    player.start(world, seed + 1)
    parts = [_play_once(world, player) for _ in range(games // world.num_worlds)]
    columns = [np.concatenate(column) for column in list(zip(*parts, strict=True))[:4]]
    names = parts[0].metrics
    return Games(*columns, {name: np.concatenate([part.metrics[name] for part in parts]) for name in names})


def _play_once(world: Any, player: Policy) -> Games:
    timestep = world.reset()
    player.forget(np.ones(world.num_worlds, bool))
    earned = np.zeros(timestep.reward.shape)
    while not timestep.over.all():
        timestep = world.step(player.act(timestep))
        earned += timestep.reward
    room, role = world.state.room, world.state.role
    return Games(
        room["winner"].copy(),
        room["ended_phase"].copy(),
        _mean_over(earned, role == WEREWOLF),
        _mean_over(earned, role == VILLAGER),
        {name: np.array(values, float) for name, values in world.metrics.items()},
    )


def _mean_over(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    return (values * members).sum(axis=1) / np.maximum(members.sum(axis=1), 1)


def score(values: np.ndarray, expected: float) -> float:
    """How many standard errors the mean of `values` lies from what is expected; infinite for a wrong certainty."""
    away = values.mean() - expected
    error = values.std(ddof=1) / np.sqrt(len(values))
    if abs(away) < 1e-12:
        return 0.0
    return float(away / error) if error else float("inf")
