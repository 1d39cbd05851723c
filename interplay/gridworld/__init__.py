"""Grid worlds from components, with the names of the Abmarl manual: agents, states, actors, observers, dones, rewards.

The arrays of a board hold the state; agents and the grid are views of them, and every built-in component is a kernel that
works for one world or for thousands. Invalid values raise `AssertionError`, invalid containers `TypeError`.
"""

from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.declare import register, registry
from interplay.gridworld.simulation import GridWorldSimulation
from interplay.gridworld.smart import SmartGridWorldSimulation

__all__ = [
    "GridWorldBaseComponent",
    "GridWorldSimulation",
    "SmartGridWorldSimulation",
    "register",
    "registry",
]
