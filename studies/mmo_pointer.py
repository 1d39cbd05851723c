"""Learned targeting: does a head that points at rows learn whom to strike, and does a dense layer over the rows?

Run from the repository root::

    .venv/bin/python -m studies.mmo_pointer --seeds 3 --steps 200000 --out runs/pointer

A world in which only kills pay and every style hurts alike, so the best blow is at the weakest in reach: nobody starves, is immune or
robbed, lava is no legal move. Both networks are told by the action mask who is in reach. ``dense`` is the same network with a layer
over the numbers of rows, as a plain MultiDiscrete gives it. Printed for each: of the blows aimed where those in reach differ in
health, the share at the weakest, beside that of blows at any row in reach; how many name nobody; kills per life. Beside them stand
players that strike any row in reach, and always the first: whoever agree on a row wound the same victims.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from gymnasium import spaces

from interplay.core.policy import Policy, RandomPolicy
from interplay.registry import make_world
from interplay.train.networks import TilesAttentionNetwork, TilesNetwork
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.trainer import load_policy, train

ROWS, HEALTH = 8, 1  # rows of the table; the column of health
OPTIONS: dict[str, Any] = {
    "interior": 12, "slots": 16, "npop": 1, "vision": 3, "border": 3, "rows": ROWS, "spawn_where": "scatter", "spawn_per_tick": 4,
    "targeting": "learned", "damage": (2, 2, 2), "reach": (3, 3, 3), "immunity": "off", "freeze": 0, "steal_fraction": 0.0,
    "drain": 0, "mask_lava": True, "reward_alive": 0.0, "reward_kill": 1.0,
}  # fmt: skip
WORLDS, BURN_IN, TICKS = 16, 50, 200


class DenseTiles(TilesNetwork):
    """The network of tiles without pointers."""

    def __init__(self, seen: spaces.Dict, action: Any, settings: NetworkGroup, *, key: jax.Array) -> None:
        super().__init__(seen, spaces.MultiDiscrete(action.nvec), settings, key=key)


class DenseAttention(TilesAttentionNetwork):
    """The network of tiles and attention without pointers."""

    def __init__(self, seen: spaces.Dict, action: Any, settings: NetworkGroup, *, key: jax.Array) -> None:
        super().__init__(seen, spaces.MultiDiscrete(action.nvec), settings, key=key)


ARMS = {
    "tiles": "tiles",
    "tiles, dense": "studies.mmo_pointer:DenseTiles",
    "tiles_attention": "tiles_attention",
    "tiles_attention, dense": "studies.mmo_pointer:DenseAttention",
}


class FirstRow(Policy):
    """Draws move and style, and strikes the first row in reach, whoever stands in it."""

    def act(self, timestep: Any) -> np.ndarray:
        mask = timestep.action_mask["action"]
        drawn = [
            np.argmax(part * self.rng.random(part.shape), axis=-1) for part in (mask[..., :5], mask[..., 5:8])
        ]
        rows = mask[..., 8:].reshape(*mask.shape[:2], 3, ROWS)[..., 1:]
        return np.stack(
            [*drawn, *np.moveaxis(np.where(rows.any(axis=-1), 1 + np.argmax(rows, axis=-1), 0), -1, 0)],
            axis=-1,
        )


class Blows(NamedTuple):
    """How a policy aims; shares of the blows that could choose between health and health."""

    weakest: float
    any_row: float  # what a draw among those in reach would give
    nobody: float
    kills: float  # per life that ended


def measure(policy: Policy, seed: int = 77) -> Blows:
    """Plays a policy on maps that nobody trained on."""
    world = make_world("mmo/combat", num_worlds=WORLDS, seed=seed, **OPTIONS)
    policy.start(world, seed=seed)
    timestep, counts, kills, lives = world.reset(), np.zeros(4), 0.0, 0
    for tick in range(BURN_IN + TICKS):
        action = np.asarray(policy.act(timestep))
        if tick >= BURN_IN:
            counts += count_aims(timestep, action)
        timestep = world.step(action)
        if tick >= BURN_IN:
            kills += world.ended["kills"][timestep.terminated].sum()
            lives += int(timestep.terminated.sum())
    world.close()
    weakest, at_random, aimed, nobody = counts
    return Blows(weakest / aimed, at_random / aimed, nobody / (aimed + nobody), kills / lives)


def count_aims(timestep: Any, action: np.ndarray) -> np.ndarray:
    """Blows at the weakest, those that a draw would give it, all that choose, and those that name nobody."""
    style = action[..., 1]
    mask = timestep.action_mask["action"][..., -3 * ROWS :].reshape(*style.shape, 3, ROWS)
    legal = np.take_along_axis(mask, style[..., None, None], axis=2)[..., 0, :].copy()
    legal[..., 0] = False
    health = np.where(legal, timestep.observation["entities"][..., HEALTH], np.inf)
    least = legal & (health == health.min(axis=-1, keepdims=True))
    chooses = timestep.acting & (least.sum(axis=-1) < legal.sum(axis=-1))
    row = np.take_along_axis(action[..., 2:], style[..., None], axis=-1)
    aims = chooses & (row[..., 0] > 0)
    hits = np.take_along_axis(least, row, axis=-1)[..., 0]
    share = least.sum(axis=-1) / np.maximum(legal.sum(axis=-1), 1)
    return np.array([(hits & aims).sum(), share[aims].sum(), aims.sum(), (chooses & ~aims).sum()], float)


def train_arm(kind: str, seed: int, steps: int, out: Path) -> Policy:
    """Trains one network, or takes the run that is there."""
    settings = TrainSettings(
        world=WorldChoice(id="mmo/combat", options=OPTIONS),
        seed=seed,
        num_worlds=16,
        steps=steps,
        train=TrainGroup(shards=1, checkpoint_seconds=1e6, quiet=True),
        ppo=PpoGroup(
            rollout=16, minibatch=1024, epochs=3, gamma=0.0, learning_rate=2e-3, entropy_coefficient=0.003
        ),
        network=NetworkGroup(kind=kind, activation="tanh"),
    )
    if not any(out.glob("checkpoints/*")):
        train(settings, out)
    return load_policy(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--arms", default=";".join(ARMS), help="with semicolons between them")
    parser.add_argument("--out", type=Path, default=Path("runs/pointer"))
    given = parser.parse_args()
    print(f"{'network':24s} seed  at the weakest  at any row  nobody  kills per life")
    show("random", "-", measure(RandomPolicy()))
    show("the first row in reach", "-", measure(FirstRow()))
    for arm in given.arms.split(";"):
        for seed in range(given.seeds):
            out = given.out / f"{arm.replace(', ', '-')}-{seed}"
            show(arm, str(seed), measure(train_arm(ARMS[arm], seed, given.steps, out)))


def show(arm: str, seed: str, found: Blows) -> None:
    print(
        f"{arm:24s} {seed:>4s}  {found.weakest:14.3f}  {found.any_row:10.3f}  {found.nobody:6.3f}  {found.kills:14.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
