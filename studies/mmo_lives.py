"""How long the scripted players of the persistent world live, among their like and among others.

Run from the repository root::

    .venv/bin/python -m studies.mmo_lives mmo/combat forager
    .venv/bin/python -m studies.mmo_lives mmo/combat random,forager,fighter

Each name plays a population of its own; all have the same share of the cap of 128, which is fixed. 16 worlds run for 500 ticks,
until they stand steady, and then for as many as asked for, in which the lives that end are counted. The cap does not bind: all
take part in the births alike, so the mean life of a population is its standing number over its share of the births. Printed: mean
life in ticks with the standard error over worlds, the number of lives, attacks that killed per life, and the shares of the causes.
"""

from __future__ import annotations

import argparse

import numpy as np

from interplay.core.policy import Policy
from interplay.core.world import TimeStep
from interplay.registry import make_policy, make_world
from interplay.worlds.mmo.state import CAUSES

WORLDS, BURN_IN = 16, 500


class Populations(Policy):
    """Each population is played by a policy of its own."""

    def __init__(self, world_id: str, names: list[str]) -> None:
        self.policies = [make_policy(world_id, name) for name in names]

    def start(self, world: object, seed: int = 0) -> None:
        self.world = world
        for number, policy in enumerate(self.policies):
            policy.start(world, seed + number)

    def act(self, timestep: TimeStep) -> np.ndarray:
        chosen = np.stack([policy.act(timestep) for policy in self.policies])
        whose = self.world.population[None, :, :, None].astype(np.int64)
        return np.take_along_axis(chosen, whose, axis=0)[0]


def count_lives(world_id: str, names: list[str], ticks: int) -> np.ndarray:
    """The lives that ended: (worlds, policies, 2 + causes) sums of lives' ticks, kills, and ends by cause."""
    world = make_world(world_id, num_worlds=WORLDS, seed=1, npop=len(names), cap_draw="fixed")
    players = Populations(world_id, names)
    timestep = world.reset()
    players.start(world)
    found = np.zeros((WORLDS, len(names), 2 + len(CAUSES)))
    for tick in range(BURN_IN + ticks):
        timestep = world.step(players.act(timestep))
        if tick < BURN_IN:
            continue
        w, a = np.nonzero(timestep.terminated)
        ended = {name: values[w, a] for name, values in world.ended.items()}
        for column, values in ((0, ended["life"]), (1, ended["kills"]), (2 + ended["cause"].astype(int), 1)):
            np.add.at(found, (w, ended["population"], column), values)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("world")
    parser.add_argument("names", help="with commas between them")
    parser.add_argument("--ticks", type=int, default=4000)
    given = parser.parse_args()
    names = given.names.split(",")
    found = count_lives(given.world, names, given.ticks)
    for number, name in enumerate(names):
        each = found[:, number]
        lives = each[:, 2:].sum(axis=1)
        mean = each[:, 0] / lives
        causes = each[:, 2:].sum(axis=0) / lives.sum()
        told = ", ".join(f"{CAUSES[i]} {share:.0%}" for i, share in enumerate(causes) if share >= 0.005)
        print(
            f"{name:8s} lives {mean.mean():6.1f} +- {mean.std(ddof=1) / len(mean) ** 0.5:.1f} ticks, "
            f"{lives.sum():,.0f} lives, {each[:, 1].sum() / lives.sum():.2f} kills each; {told}"
        )


if __name__ == "__main__":
    main()
