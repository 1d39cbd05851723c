"""JaxMARL's SMAX under random legal actions: a process of an environment that has jaxmarl, asked by `bench.battle_peers`.

    PYTHON bench/battle_smax.py SCENARIO WORLDS

It tells on its first line how many CPU seconds compilation took, and then, for each line that it reads, steps per CPU second.
"""

import sys
import time

import jax
import jax.numpy as jnp
from jaxmarl import make
from jaxmarl.environments.smax import map_name_to_scenario

STEPS = 100  # of one scan


def main() -> None:
    """Compiles, warms up and answers."""
    env = make("SMAX", scenario=map_name_to_scenario(sys.argv[1]))
    worlds = int(sys.argv[2])

    def step(carry, _):
        key, states, check = carry
        key, choice, ahead = jax.random.split(key, 3)
        legal = jax.vmap(env.get_avail_actions)(states)
        keys = dict(zip(env.agents, jax.random.split(choice, len(env.agents)), strict=True))
        actions = {
            name: jax.random.categorical(keys[name], jnp.where(legal[name], 0.0, -jnp.inf))
            for name in env.agents
        }
        seen, states, rewards, _, _ = jax.vmap(env.step)(jax.random.split(ahead, worlds), states, actions)
        used = sum(
            jnp.sum(value) for value in (*seen.values(), *rewards.values())
        )  # so that nothing is left out
        return (key, states, check + used), None

    @jax.jit
    def scan(key, states):
        return jax.lax.scan(step, (key, states, 0.0), None, STEPS)[0]

    _, states = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), worlds))
    start = time.process_time()
    key, states, _ = jax.block_until_ready(scan(jax.random.key(2), states))
    first = time.process_time() - start
    key, states, _ = jax.block_until_ready(scan(key, states))
    print(first, flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        key, states, _ = jax.block_until_ready(scan(key, states))
        print(worlds * STEPS / (time.process_time() - start), flush=True)


if __name__ == "__main__":
    main()
