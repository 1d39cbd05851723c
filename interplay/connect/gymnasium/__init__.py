"""Gymnasium in both directions: simulations and worlds as `Env`s, and an `Env` as a simulation.

Importing it registers every world with Gymnasium: ``gymnasium.make("interplay/gridworld.maze")`` is the world's id
after the namespace, with dots for its slashes. ``gymnasium.make("interplay.connect.gymnasium:interplay/gridworld.maze")`` imports it first.
Source: manual 2.1.5 and 7.4; specification 2.12, X1 and X2, and section 3, rows 15 and 16.
"""

from interplay.connect.gymnasium.making import gym_id, register_worlds, world_to_gym
from interplay.connect.gymnasium.simulation import GymABS, gym_to_simulation
from interplay.connect.gymnasium.worlds import WorldGymEnv
from interplay.connect.gymnasium.wrapper import GymWrapper

__all__ = [
    "GymABS",
    "GymWrapper",
    "WorldGymEnv",
    "gym_id",
    "gym_to_simulation",
    "register_worlds",
    "world_to_gym",
]

register_worlds()
