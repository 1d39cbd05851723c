"""Lives: where the dead keep their slots they last until the death, as the world's state has it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from interplay import make_policy, make_world
from interplay.train.populations import Populations
from interplay.train.run.episodes import EpisodeStatistics, LifeStatistics, read_lives
from interplay.train.run.side_sums import Balance
from tests.train.plain_rollout import count_lives
from tests.train.toy_worlds import Corridor


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


def test_lives_of_others_end_and_count_for_nobody() -> None:
    """Two worlds of three slots; population 2 is another player's, and one life of population 1 is no learner's."""
    world: Any = SimpleNamespace(num_worlds=2, agents=("a", "b", "c"))
    statistics = LifeStatistics(world, Populations(("p", "q"), None), others=True)
    statistics.steps[:] = [[3, 4, 5], [6, 7, 8]]
    statistics.earned[:] = [[0.5, 1, 2], [4, 8, 16]]
    over = np.array([[0, 1, 1], [1, 1, 0]], bool)
    population = np.array([[1, 2, 0], [1, 0, 1]])
    statistics.end(over, population, np.array([[1, 0, 1], [0, 1, 1]], bool))
    found = statistics.in_episode.reshape(2, 3, 3)  # count, steps and return of p, of q and of the learner
    assert found[0].tolist() == [[1, 5, 2], [0, 0, 0], [1, 5, 2]]
    assert found[1].tolist() == [[1, 7, 8], [1, 6, 4], [1, 7, 8]]
    assert statistics.steps.tolist() == [[3, 0, 0], [0, 0, 8]]
    assert statistics.earned.tolist() == [[0.5, 0, 0], [0, 0, 16]]
    statistics.begin(np.array([True, False]))
    assert (found[0].any(), found[1].any()) == (False, True)


def test_an_episode_that_goes_on_is_still_counted() -> None:
    world = Corridor(2)
    world.reset()
    statistics = EpisodeStatistics(world)
    statistics.lengths[:], statistics.returns[:] = [5, 9], [[1, 2], [3, 4]]
    statistics.windows.of[:] = statistics.windows.current
    statistics.end(world.timestep._replace(over=np.array([True, False])))
    assert (statistics.ended, statistics.lengths.tolist()) == (1, [0, 9])
    assert statistics.returns.tolist() == [[0, 0], [3, 4]]
    logged = statistics.read(statistics.windows.sums.sum(axis=0), Balance())
    assert (logged["episodes"], logged["episode_length"], logged["episode_return"]) == (1, 5, 1.5)
    assert logged["by_agent"]["episode_return"] == [1, 2]
