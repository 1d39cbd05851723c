"""The Arena paper's battles once more (arXiv 1907.09467): a side as one, by pictures and orders by cell, against its own stored models.

Run from the repository root::

    .venv/bin/python -m studies.battle_grid train --out runs/grid --steps 1000000
    .venv/bin/python -m studies.battle_grid report runs/grid --picture docs/results/images/battle-grid.png

A network after GridNet (Han et al. 2019) sees `Img5IObsItf` or `Img3I2ZObsItf` and gives `ImgActItf` an order for each cell. It meets itself in
half of the battles and one of its stored selves in the others. Training draws HP, shields, cooldowns and places; the report plays 100 battles
of each stored policy against `hit_and_run`, which it never met, where places alone are drawn, and draws the share that it won; actions are drawn, as in training.
Both sides are punished where the limit cuts a battle, as in the paper's code: without that they learn to keep away from each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.core.world import TimeStep, World
from interplay.evaluate import play
from interplay.evaluate.statistics import wilson
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_policy, make_world
from interplay.train.networks.layers import HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN, Dense
from interplay.train.play.policy import load_policy, sound_checkpoints
from interplay.train.settings import NetworkGroup, TrainSettings
from interplay.train.trainer import resume, train
from interplay.view.output import begin_figure, check_output, save_figure
from interplay.view.palette import POPULATIONS

PICTURES = {"5i": "Img5IObsItf", "3i2z": "Img3I2ZObsItf"}
OPPONENT = "hit_and_run"
STORED = 16  # policies of a run


class Sides(InterfacedWorld):
    """A battle of two slots, each a side that sees a picture and gives orders by cell."""

    def __init__(
        self, num_worlds: int = 1, seed: int = 0, first_world: int = 0, scenario: str = "5i", **options: Any
    ) -> None:
        battle = make_world(
            f"battle/{scenario}",
            num_worlds,
            seed=seed,
            first_world=first_world,
            see_field=True,
            diagonals=True,
            **options,
        )
        stack = [PICTURES[scenario], "ImgActItf"]
        super().__init__(battle, {"agent": stack}, teams=True)  # one kind: both sides share their weights

    @property
    def inner(self) -> World:
        """Itself: its past selves play what it shows, not the units behind it."""
        return self

    @property
    def battle(self) -> World:
        """The units behind it."""
        return self._inner


class GridNet(eqx.Module):
    """Orders for all cells of a picture (B, H, L, C) from what is around each and a code of the whole.

    Args:
        observation_space: of one side, a picture.
        action_space: (H, L) entries.
        settings: hidden is read: units of a cell, of a block of 2 x 2 cells and of the code.
        key: jax random key for the weights.
    """

    near: Dense
    block: Dense
    code: Dense
    back: Dense
    cell: Dense
    policy_head: Dense
    value_head: Dense

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.MultiDiscrete,
        settings: NetworkGroup,
        *,
        key: jax.Array,
    ) -> None:
        (picture,) = observation_space.spaces.values()
        assert picture.shape is not None
        high, wide, channels = picture.shape
        near, block, code = settings.hidden
        keys = jax.random.split(key, 7)
        self.near = Dense(9 * channels, near, HIDDEN_GAIN, key=keys[0])
        self.block = Dense(4 * near, block, HIDDEN_GAIN, key=keys[1])
        self.code = Dense(high * wide // 4 * block, code, HIDDEN_GAIN, key=keys[2])
        self.back = Dense(code, high * wide * near, HIDDEN_GAIN, key=keys[3])
        self.cell = Dense(2 * near, near, HIDDEN_GAIN, key=keys[4])
        self.policy_head = Dense(near, int(action_space.nvec.flat[0]), POLICY_GAIN, key=keys[5])
        self.value_head = Dense(code, 1, VALUE_GAIN, key=keys[6])

    def __call__(self, observation: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """Logits of every entry of every cell, (B, H * L * entries), and the value, (B,)."""
        (picture,) = observation.values()
        rows, high, wide, _ = picture.shape
        around = jnp.pad(picture, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = [around[:, i : i + high, j : j + wide] for i in range(3) for j in range(3)]
        near = jax.nn.relu(self.near(jnp.concatenate(windows, axis=3)))
        blocks = near.reshape(rows, high // 2, 2, wide // 2, 2, -1).transpose(0, 1, 3, 2, 4, 5)
        block = jax.nn.relu(self.block(blocks.reshape(rows, high * wide // 4, -1)))
        code = jax.nn.relu(self.code(block.reshape(rows, -1)))
        back = jax.nn.relu(self.back(code)).reshape(near.shape)
        cell = jax.nn.relu(self.cell(jnp.concatenate([near, back], axis=3)))
        value: Any = self.value_head(code)
        return self.policy_head(cell).reshape(rows, -1), value[:, 0]


class AgainstScript(Policy):
    """Plays one side of `Sides` by a policy and the units of the other by a script.

    Args:
        policy: of `Sides`.
        scenario: whose scripts there are.
        script: name of one; it plays blue.
    """

    def __init__(self, policy: Policy, scenario: str, script: str) -> None:
        self._policy, self._script = policy, make_policy(f"battle/{scenario}", script)
        self.name = f"{policy.name} against {script}"

    def start(self, world: World, seed: int = 0) -> None:
        assert isinstance(world, Sides)
        super().start(world, seed)
        self._sides = world
        self._blue = np.zeros((world.num_worlds, len(world.battle.agents)), bool)
        self._blue[:, list((world.battle.teams or ())[1])] = True
        self._policy.start(world, seed)
        self._script.start(world.battle, seed)

    def forget(self, which: np.ndarray) -> None:
        self._policy.forget(which)
        self._script.forget(which)

    def act(self, timestep: TimeStep) -> Any:
        self._sides.override(self._script.act(self._sides.battle.timestep), self._blue)
        return self._policy.act(timestep)


def settings_of(scenario: str, steps: int, seed: int) -> TrainSettings:
    """Of a run."""
    values: dict[str, Any] = {
        "world": {
            "id": "studies.battle_grid:Sides",
            "options": {"scenario": scenario, "timeout": -1.0, "reward": "smac"},
        },
        "seed": seed,
        "num_worlds": 256,
        "steps": steps,
        "sides": {"by": "team"},
        "opponents": {"any": [{"play": "self", "share": 0.5}, {"play": "past", "share": 0.5}]},
        "pool": {"every": 10, "keep": 20},
        "ppo": {
            "rollout": 64,
            "epochs": 4,
            "entropy_coefficient": "linear 0.005 0.0005",
            "learning_rate": "linear 1e-3 0",
        },
        "network": {"kind": "studies.battle_grid:GridNet", "hidden": [16, 32, 64]},
        "train": {"shards": 1, "keep_at": [0], "keep_every": max(steps // STORED, 1)},
    }
    return build(TrainSettings, values, "battle_grid")


def report(run: Path, games: int, picture: Path | None) -> None:
    """Plays every stored policy and prints a table of what it won; draws it where a picture is asked for."""
    if picture is not None:
        check_output(picture, (".png",))  # before hours of games
    steps, won = [], []
    print("| agent-steps | won | 95 % |\n|---|---|---|")
    for checkpoint in sound_checkpoints(run)[0]:
        policy = load_policy(checkpoint, trust=True)
        scenario = policy.settings.world.options["scenario"]
        sides = Sides(min(games, 100), seed=0, scenario=scenario, randomize="positions")
        table = play(sides, AgainstScript(policy, scenario, OPPONENT), games, seed=0)
        steps.append(int(checkpoint.name))
        won.append(int((table["outcome"][:, 0] > 0).sum()))
        low, high = wilson(won[-1], games)
        print(f"| {steps[-1]:,} | {won[-1] / games:.2f} | {low:.2f} to {high:.2f} |", flush=True)
    if picture is not None:
        draw(steps, won, games, picture)


def draw(steps: list[int], won: list[int], games: int, picture: Path) -> None:
    """The share of battles won over training, with its interval."""
    figure = begin_figure(picture, "win rates", (6.4, 4.0), dpi=120)
    axes = figure.subplots()
    low, high = np.array([wilson(wins, games) for wins in won]).T
    axes.fill_between(steps, low, high, color=POPULATIONS[0], alpha=0.18, linewidth=0)
    axes.plot(steps, np.array(won) / games, color=POPULATIONS[0], marker=".")
    axes.set(xlabel="orders of sides, agent-steps", ylabel=f"battles won against {OPPONENT}", ylim=(0, 1))
    save_figure(figure, picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train", help="train a run, or go on with it")
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--scenario", choices=PICTURES, default="5i")
    training.add_argument("--steps", type=int, default=4_000_000)
    training.add_argument("--seed", type=int, default=0)
    reporting = verbs.add_parser("report", help="play the stored policies")
    reporting.add_argument("run", type=Path)
    reporting.add_argument("--games", type=int, default=100)
    reporting.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.verb == "report":
        report(given.run, given.games, given.picture)
    elif (given.out / "settings.toml").exists():
        resume(given.out, trust=True)
    else:
        train(settings_of(given.scenario, given.steps, given.seed), given.out)


if __name__ == "__main__":
    main()
