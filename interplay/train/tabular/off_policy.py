"""Off-policy Monte Carlo control with a table.

Source: Sutton and Barto, *Reinforcement Learning*, 2nd edition, section 5.7; specification 2.11, L6 and L7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.registry import load
from interplay.sim.managers import SimulationManager
from interplay.train.tabular.policies import EpsilonSoftPolicy, Policy, QTablePolicy

# Epsilon of the playing policy in the first and last episode. With a constant 0.1, 0.3 or 0.5 a tenth to two fifths of
# 20 seeds did not quite solve the corridor in 1000 episodes of 10 steps; with this 2 of 40.
FIRST_EPSILON, LAST_EPSILON = 0.6, 0.1


def generate_episode(sim: Any, policy: Policy, horizon: int = 200) -> tuple[list[Any], list[Any], list[Any]]:
    """Plays one episode of an environment with Gymnasium's methods.

    Args:
        sim: ``reset() -> (obs, info)`` and ``step(action) -> (obs, reward, terminated, truncated, info)``.
        policy: chooses the actions.
        horizon: most steps.

    Returns:
        States, actions and rewards of equal length, without the state after the last action.
    """
    states: list[Any] = []
    actions: list[Any] = []
    rewards: list[Any] = []
    policy.reset()
    state, _ = sim.reset()
    for _ in range(horizon):
        states.append(state)
        actions.append(policy.compute_action(state))
        state, reward, terminated, truncated, _ = sim.step(actions[-1])
        rewards.append(reward)
        if terminated or truncated:
            break
    return states, actions, rewards


def off_policy(
    sim: SimulationManager,
    iteration: int = 10_000,
    gamma: float = 0.9,
    horizon: int = 200,
    seed: int | None = None,
) -> tuple[Any, np.ndarray, EpsilonSoftPolicy]:
    """Learns the greedy policy from episodes of an exploring one, by weighted importance sampling.

    The exploring policy is epsilon-soft around the current table, with epsilon falling from 0.6 to 0.1.

    Args:
        sim: a manager with one learning agent and Discrete spaces (`RavelDiscreteWrapper`).
        iteration: episodes.
        gamma: discount per step.
        horizon: most steps of an episode.
        seed: of everything random; None: a random one.

    Returns:
        The simulation as a `GymWrapper`, the (observations, actions) table, and the exploring policy with epsilon 0.1;
        set ``policy.epsilon = 0`` for the greedy one.

    Raises:
        AssertionError: for spaces that are not Discrete, or another number of learning agents.
    """
    env = load("interplay.connect.gymnasium:GymWrapper")(sim)  # by name: train may not import connect
    playing = EpsilonSoftPolicy(env.action_space, env.observation_space, epsilon=FIRST_EPSILON, seed=seed)
    table = playing.q_table
    greedy = QTablePolicy(env.action_space, env.observation_space, q_table=table)
    weights = np.zeros_like(table)
    if seed is not None:
        env.reset(seed=seed)  # the episodes below continue the simulation's random stream
    for i in range(iteration):
        playing.epsilon = FIRST_EPSILON + (LAST_EPSILON - FIRST_EPSILON) * i / iteration
        states, actions, rewards = generate_episode(env, playing, horizon)
        # Before the table changes below.
        chances = [playing.probability(state, action) for state, action in zip(states, actions, strict=True)]
        value, weight = 0.0, 1.0
        for state, action, reward, chance in reversed(
            list(zip(states, actions, rewards, chances, strict=True))
        ):
            value = gamma * value + reward
            cell = int(state) - int(env.observation_space.start), int(action) - int(env.action_space.start)
            weights[cell] += weight
            table[cell] += weight / weights[cell] * (value - table[cell])
            if greedy.compute_action(state) != action:
                break
            weight /= chance
    playing.epsilon = LAST_EPSILON
    return env, table, playing
