"""The end of a complete run: its last policy plays the episodes under way to their ends, so that the log reaches the end of the run.

Without it the last episodes of a run, in a short run a third of it, are in no line of the log (decision 16). The last checkpoint is
written before, and nothing is learnt: a run that goes on with more steps drops these lines and logs what it would have logged without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.train.parallel.exchange import tree_sum
from interplay.train.rollout import collect

if TYPE_CHECKING:
    from interplay.train.update import Worker

SHARE = 0.5  # of the updates of a run, as many rollouts at most are played at its end
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
    """What was played at the end of a run.

    Attributes:
        lines: numbers of the log, in the order in which the episodes began.
        left: episodes that had not ended when the play ended; they, and those of later windows, are in no line.
        steps: of each world.
    """

    lines: list[dict[str, Any]]
    left: int
    steps: int


def play_out(worker: Worker, interrupted: Callable[[], bool] = lambda: False) -> Ending | None:
    """Plays the episodes under way to their ends with the current policy; every worker calls it at the same time.

    The worker's counters stay; its worlds, trajectories and replays are those of a run that has ended.

    Args:
        worker: of the run, after its last update was saved.
        interrupted: of the first worker: whether to give up.

    Returns:
        None where it was interrupted.
    """
    counters = worker.agent_steps, worker.episodes
    shards, lines, steps = worker.shards, [], 0
    most = 0 if shards[0].world.persistent else max(round(SHARE * worker.updates), 1)
    nobody = np.zeros(len(worker.learner.populations.names), bool)
    parameters = worker.learner.inference_parameters()
    for shard in shards:
        shard.collector.episodes.windows.close()
        shard.set_learning(nobody)
    for turn in range(most):
        if worker.agree(int(interrupted())):
            return None
        if not _under_way(worker):
            break
        collect([shard.collector for shard in shards], parameters, worker.updates + turn)
        steps += shards[0].collector.buffer.steps
        for shard in shards:
            shard.set_learning(nobody)  # forgets the samples
            shard.collector.buffer.advance()
        numbers = worker.summarise()
        if numbers["episodes"]:
            lines.append(_of_episodes(numbers))
    worker.agent_steps, worker.episodes = counters
    return Ending(lines, _under_way(worker), steps)


def _under_way(worker: Worker) -> int:
    """Episodes of the run that have not ended, of all workers."""
    waiting = [shard.collector.episodes.windows.waiting().astype(np.float64) for shard in worker.shards]
    return int(worker.exchange.all_reduce(tree_sum(waiting)).sum())


def _of_episodes(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers that are of episodes, and counts of lives where these are."""
    bases = {name.partition("[")[0] for name in numbers["of_episodes"]} | set(OF_EPISODES)
    bases |= {"lives"} if "life" in bases else set()
    return {name: value for name, value in numbers.items() if name.partition("[")[0] in bases}
