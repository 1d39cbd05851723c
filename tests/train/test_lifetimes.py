"""Lives: where the dead keep their slots they last until the death, as the world's state has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay import make_policy, make_world
from interplay.train.populations import Populations
from interplay.train.run.episodes import LifeStatistics, read_lives
from tests.train.plain_rollout import count_lives


def alive_in(world: Any) -> np.ndarray:
    """(W, A) bool, from the state."""
    if world.id.startswith("survival"):
        alive: np.ndarray = world.state.bodies.present[:, : len(world.agents)].copy()
        return alive
    return np.asarray(world.state.agent["alive"]).astype(bool)


@pytest.mark.parametrize(
    ("world_id", "options", "stays"),
    [
        ("survival/1v1-heals-low", {}, True),
        ("survival/2v2-all-high", {"health": 40, "max_steps": 600}, True),
        ("pommerman/team", {}, True),
        ("pommerman/ffa", {}, False),
    ],
)
def test_lives_end_with_deaths(world_id: str, options: dict[str, Any], stays: bool) -> None:
    world = make_world(world_id, 8, 3, **options)
    assert world.dead_stay == stays
    player = make_policy(world_id, "random")
    timestep = world.reset()
    player.start(world, 3)
    statistics = LifeStatistics(world, Populations(("all",), None))
    present = np.zeros((8, len(world.agents)), bool)
    lived, counted, lengths = np.zeros(present.shape, np.int64), [], []
    over = np.zeros(8, bool)
    for _ in range(4000):
        before = alive_in(world) & ~over[:, None]
        present |= timestep.acting
        if stays:
            statistics.living = timestep.acting.copy()
        timestep = world.step(player.act(timestep))
        lived += before
        ended = timestep.terminated | timestep.truncated
        count_lives(statistics, timestep, present, ended, np.zeros(present.shape, np.uint8))
        present &= ~ended
        for w in np.flatnonzero(timestep.over & ~over):
            counted.append(lived[w].copy())
            lengths.append(int(world.metrics["episode_length"][w]))
        over = timestep.over.copy()
        if over.all():
            break
    assert over.all()
    told = read_lives(statistics.names, ["all"], statistics.in_episode.sum(axis=0))
    assert told["lives"] == np.size(counted)
    assert told["life"] == pytest.approx(np.mean(counted))
    assert told["life"] < np.mean(lengths)
