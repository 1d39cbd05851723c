"""Speed of the network of seats on werewolf observations: microseconds per row, forward and forward with backward, on one core.

    .venv/bin/python -m bench.seats                            # 9 players, L = 1, S = 9; history 0 and 8; blocks of 64 to 512
    .venv/bin/python -m bench.seats --history 8 --block 128 --width 32 --layers 1 --activation tanh
    .venv/bin/python -m bench.seats --world werewolf/21-l3s9 --history 0 --block 256

Observations are those of random legal play. The backward pass is that of one step of PPO on a block. Wall-clock time of a call, the
least of many, which a busy machine disturbs little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.registry import make_world
from interplay.train.distributions import Distribution
from interplay.train.networks import make_network
from interplay.train.settings import NetworkGroup

STEPS = 6  # of random play before the observations are taken: the second day, in which boards are filled


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", default="werewolf/9-l1s9")
    parser.add_argument("--network", default="seats")
    parser.add_argument("--history", type=int, nargs="+", default=[0, 8])
    parser.add_argument("--block", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--activation", default="relu")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each is repeated")
    given = parser.parse_args()
    settings = NetworkGroup(
        kind=given.network, width=given.width, layers=given.layers, activation=given.activation
    )
    print(f"{'history':>7} {'block':>6} {'parameters':>10} {'forward':>8} {'and backward':>12}   us/row")
    for history in given.history:
        for block in given.block:
            size, forward, both = measure(given.world, settings, history, block, given.seconds)
            print(f"{history:7d} {block:6d} {size:10d} {forward:8.2f} {both:12.2f}", flush=True)


def measure(
    world_id: str, settings: NetworkGroup, history: int, block: int, seconds: float
) -> tuple[int, float, float]:
    """Parameters, and microseconds per row forward, and forward and backward."""
    world = make_world(world_id, num_worlds=block, seed=1, obs={"history": history})
    rows, mask = observe(world, block)
    (kind,) = world.kinds
    network = make_network(settings, kind.observation_space, kind.action_space, key=jax.random.key(0))
    numbers, rest = eqx.partition(network, eqx.is_inexact_array)
    distribution = Distribution(kind.action_space)

    def forward(numbers: Any, rows: Any) -> Any:
        return eqx.combine(numbers, rest)(rows)

    first = jax.jit(forward)
    action = jnp.asarray(distribution.greedy(first(numbers, rows)[0], mask))

    def loss(numbers: Any, rows: Any) -> jax.Array:
        logits, value = forward(numbers, rows)
        ratio = jnp.exp(distribution.log_prob(logits, action, mask))
        return (ratio + 0.01 * distribution.entropy(logits, mask) + 0.5 * (value - 1.0) ** 2).sum()

    times = [least(f, (numbers, rows), seconds) for f in (first, jax.jit(jax.grad(loss)))]
    size = sum(leaf.size for leaf in jax.tree.leaves(numbers))
    return size, times[0] / block * 1e6, times[1] / block * 1e6


def observe(world: Any, rows: int) -> tuple[dict[str, jax.Array], jax.Array]:
    """One seat's observation and mask in each world, after random play."""
    world.reset()
    players = RandomPolicy()
    players.start(world)
    for _ in range(STEPS):
        world.step(players.act(world.timestep))
        if world.timestep.over.any():
            world.reset(world.timestep.over)
    seats = np.arange(rows) % len(world.agents)
    timestep = world.timestep
    seen = {key: jnp.asarray(leaf[np.arange(rows), seats]) for key, leaf in timestep.observation.items()}
    return seen, jnp.asarray(timestep.action_mask["action"][np.arange(rows), seats])


def least(work: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> float:
    """Least seconds of one call; the first call compiles and does not count."""
    jax.block_until_ready(work(*arguments))
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        jax.block_until_ready(work(*arguments))
        best = min(best, time.perf_counter() - began)
    return float(best)


if __name__ == "__main__":
    main()
