"""Plays the unfinished episodes of a complete run to their ends, so that they are in the log (decision 16).

This happens after the last checkpoint and without learning. A run resumed with more steps drops these lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.train.rollout import collect

if TYPE_CHECKING:
    from interplay.train.update import Worker

SHARE = 0.5  # most rollouts at the end, as a share of the run's updates
OF_EPISODES = (
    "episodes",
    "episodes_began",
    "of_episodes",
    "episodes_with_others",
    "of_others",
    "by_agent",
    "learner",
)


class Ending(NamedTuple):
    """Result of `play_out`.

    Attributes:
        lines: metrics for the log, in the order in which the episodes began.
        begun: unfinished episodes at the beginning.
        left: of these still unfinished; they, and those of later windows, are in no line.
        steps: of each world.
    """

    lines: list[dict[str, Any]]
    begun: int
    left: int
    steps: int


def play_out(worker: Worker, interrupted: Callable[[], bool] = lambda: False) -> Ending | None:
    """Plays unfinished episodes to their ends with the current policy; all workers call it together.

    The worker's counters stay; its worlds, trajectories and replays are unusable afterwards.

    Args:
        worker: of the run, after its last update was saved.
        interrupted: of the first worker: whether to stop.

    Returns:
        None if it was interrupted.
    """
    counters = worker.agent_steps, worker.episodes
    shards, lines, steps = worker.shards, [], 0
    most = 0 if shards[0].world.persistent else max(round(SHARE * worker.updates), 1)
    none = np.zeros(len(worker.learner.populations.names), bool)
    parameters = worker.learner.inference_parameters()
    for shard in shards:
        shard.collector.episodes.windows.close()
        shard.collector.set_learning(none)
    begun = left = _unfinished(worker)
    for turn in range(most):
        if worker.agree(int(interrupted())):
            return None
        if not left:
            break
        collect([shard.collector for shard in shards], parameters, worker.updates + turn)
        steps += shards[0].collector.buffer.steps
        for shard in shards:
            shard.collector.set_learning(none)  # drops the samples; the next rollout overwrites the rest
        numbers = worker.summarise()
        if numbers["episodes"]:
            lines.append(_of_episodes(numbers))
        left = _unfinished(worker)
    worker.agent_steps, worker.episodes = counters
    return Ending(lines, begun, left, steps)


def _unfinished(worker: Worker) -> int:
    """Unfinished episodes of all workers."""
    waiting = [shard.collector.episodes.windows.waiting().astype(np.float64) for shard in worker.shards]
    return int(worker.add_up(waiting).sum())


def _of_episodes(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics that are means over episodes, with counts of lives where present."""
    bases = {name.partition("[")[0] for name in numbers["of_episodes"]} | set(OF_EPISODES)
    bases |= {"lives"} if "life" in bases else set()
    return {name: value for name, value in numbers.items() if name.partition("[")[0] in bases}
