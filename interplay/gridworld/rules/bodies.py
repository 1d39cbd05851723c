"""Initial health, ammo and orientation of agents (specification S7)."""

import numpy as np

from interplay.core.jit import kernel
from interplay.kernels.philox import integer_below, uniform


@kernel
def fill_health(agents, stream, which, users):
    """Sets the initial health of agents in ``users``, (A,) bool, or draws it from (0, 1)."""
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        for a in range(agents.shape[1]):
            if not users[a]:
                continue
            health = agents[w, a].first_health
            if np.isnan(health):
                health = 0.0
                while health == 0.0:  # no agent starts dead
                    health = uniform(stream[w, 0], stream[w, 1], stream[w, 2])
                    stream[w, 2] += np.uint64(1)
            agents[w, a].health = health
            agents[w, a].active = True


@kernel
def fill_ammo(agents, which, users):
    """Sets the initial rounds of agents in ``users``, (A,) bool, none if that number is negative."""
    for w in range(which.shape[0]):
        if which[w]:
            for a in range(agents.shape[1]):
                if users[a]:
                    agents[w, a].ammo = max(agents[w, a].first_ammo, 0)


@kernel
def turn(agents, stream, which, turning):
    """Turns agents in ``turning``, (A,) bool, to their initial orientation or a random one."""
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        for a in range(agents.shape[1]):
            if turning[a]:
                facing = agents[w, a].first_orientation
                if facing == 0:
                    facing = 1 + integer_below(stream[w, 0], stream[w, 1], stream[w, 2], 4)
                    stream[w, 2] += np.uint64(1)
                agents[w, a].orientation = facing
