"""On-policy Monte Carlo control with a table.

Source: Sutton and Barto, *Reinforcement Learning*, 2nd edition, section 5.4; manual 7.6; specification F21.
"""

from __future__ import annotations

from typing import Any

from interplay.sim.checks import require
from interplay.train.tabular.policies import QTablePolicy
from interplay.train.tabular.trainers import SinglePolicyTrainer


class OnPolicyMonteCarloTrainer(SinglePolicyTrainer):
    """First-visit Monte Carlo with a table, from all agents that share the policy.

    Args:
        sim: the manager; put a `RavelDiscreteWrapper` around simulations without Discrete spaces.
        policy: a `QTablePolicy`, such as the exploring `EpsilonSoftPolicy`.

    Raises:
        AssertionError: for another policy, and as `SinglePolicyTrainer` does.
    """

    def _check_policy(self, name: str, value: Any) -> None:
        require(
            isinstance(value, QTablePolicy),
            f"{name} is {value!r}, which has no table; give for example an EpsilonSoftPolicy",
        )

    def train(self, iterations: int = 10_000, gamma: float = 0.9, **kwargs: Any) -> None:
        """Plays episodes and sets each cell to the mean return after first visits.

        Args:
            iterations: episodes.
            gamma: discount per action of the agent.
            **kwargs: of `generate_episode`.
        """
        totals: dict[tuple[int, int], tuple[int, float]] = {}  # (observation, action) -> visits, mean return
        for _ in range(iterations):
            episode = self.generate_episode(**kwargs)
            for agent_id, actions in episode.actions.items():
                returns = first_visits(
                    episode.observations[agent_id], actions, episode.rewards[agent_id], gamma
                )
                for (obs, action), value in returns.items():
                    count, mean = totals.get((obs, action), (0, 0.0))
                    mean += (value - mean) / (count + 1)
                    totals[obs, action] = count + 1, mean
                    self.policy.update(obs, action, mean)


def first_visits(
    observations: list[Any], actions: list[Any], rewards: list[Any], gamma: float
) -> dict[tuple[int, int], float]:
    """The return after the first occurrence of each pair of observation and action.

    Args:
        observations: as many as actions, or one more.
        actions, rewards: of one agent, in order of time.
        gamma: discount.

    Returns:
        (observation, action) -> discounted return (F21).

    Example:
        >>> first_visits([0, 0, 1], [0, 1, 0], [1, 2, 4], 0.5)
        {(1, 0): 4.0, (0, 1): 4.0, (0, 0): 3.0}
    """
    found: dict[tuple[int, int], float] = {}
    value = 0.0
    for i in reversed(range(len(actions))):
        value = rewards[i] + gamma * value
        found[int(observations[i]), int(actions[i])] = value  # the earliest visit is written last
    return found
