"""Speed of soccer beside dm_control and bare MuJoCo, in one run. Run from the repository root::

    python -m bench.soccer
    python -m bench.soccer --worlds 64 --blocks 15

A step is a decision of one match of 2 against 2 for all four players, under random actions that were drawn beforehand, per second of CPU time of one
thread pinned to one core. Finished matches begin anew inside the measured time, in dm_control too, which builds a model for each. Bare MuJoCo steps our
model by as many physics steps as a decision of 0.05 s has, with no more than an action before each, and begins at the start again after 900. Median and spread,
(largest - smallest) / median, of blocks, each of which times every row in turn; ratios are medians of the blocks' ratios. The bars are those of specification 8.5.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import warnings
from collections.abc import Callable

import numpy as np

from bench.pong import measure
from interplay.cli.measure import pin
from interplay.registry import make_world
from interplay.worlds.soccer.config import SoccerSettings
from interplay.worlds.soccer.engine import load_mujoco
from interplay.worlds.soccer.model import build_mjcf

POOL = 64  # batches of actions
DECISIONS = (0.05, 0.025)  # s
BARS = {"dm_control, 0.05 s": 7.0, "dm_control, 0.025 s": 8.0, "bare MuJoCo": 0.7}

Runner = Callable[[int], int]  # number of calls -> decisions


def ours(worlds: int, decision: float) -> Runner:
    """Plays a batch of our matches."""
    world = make_world("soccer/2v2", worlds, seed=1, decision=decision)
    world.reset()
    pool = np.random.default_rng(2).uniform(-1, 1, (POOL, worlds, 4, 3)).astype(np.float32)

    def run(calls: int) -> int:
        for call in range(calls):
            timestep = world.step(pool[call % POOL])
            if timestep.over.any():
                world.reset(timestep.over)
        return calls * worlds

    return run


def library(decision: float) -> Runner:
    """Plays dm_control's match."""
    warnings.simplefilter("ignore")
    from dm_control.locomotion import soccer

    env = soccer.load(2, random_state=np.random.RandomState(3), disable_walker_contacts=True)
    env.task.set_timesteps(decision, 0.005)
    env.reset()
    pool = np.random.default_rng(4).uniform(-1, 1, (POOL, 4, 3))

    def run(calls: int) -> int:
        for call in range(calls):
            if env.step(list(pool[call % POOL])).last():
                env.reset()
        return calls

    return run


def batched(worlds: int) -> Runner:
    """Steps a batch of our model, without sensors, by MuJoCo's own batched rollout in one thread; matches never end."""
    from mujoco import rollout

    mujoco, settings = load_mujoco(), SoccerSettings()
    size = (settings.length[1], settings.width[1])
    model = mujoco.MjModel.from_xml_string(build_mjcf(2, contacts=False, size=size))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    models, data = [copy.copy(model) for _ in range(worlds)], [mujoco.MjData(model)]
    world = make_world("soccer/2v2", worlds, seed=7)
    world.reset()
    own = world.state  # type: ignore[attr-defined]
    states = np.concatenate([np.zeros((worlds, 1)), own.qpos, own.qvel], axis=1)
    pool = np.random.default_rng(8).uniform(-1, 1, (POOL, worlds, 1, 12))

    def run(calls: int) -> int:
        nonlocal states
        for call in range(calls):
            found, _ = rollout.rollout(
                models, data, states, pool[call % POOL], nstep=settings.substeps, persistent_pool=True
            )
            states = found[:, -1].copy()
        return calls * worlds

    return run


def bare() -> Runner:
    """Steps our model and does nothing else."""
    mujoco, settings = load_mujoco(), SoccerSettings()
    size = (settings.length[1], settings.width[1])
    model = mujoco.MjModel.from_xml_string(build_mjcf(2, contacts=False, size=size))
    data, world = mujoco.MjData(model), make_world("soccer/2v2", seed=5)
    world.reset()
    start = world.state.qpos[0].copy()  # type: ignore[attr-defined]
    pool = np.random.default_rng(6).uniform(-1, 1, (POOL, 12))
    done = 0

    def run(calls: int) -> int:
        nonlocal done
        for call in range(calls):
            if done % settings.steps == 0:
                mujoco.mj_resetData(model, data)
                data.qpos[:] = start
            data.ctrl[:] = pool[call % POOL]
            mujoco.mj_step(model, data, settings.substeps)
            done += 1
        return calls

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--alone", action="store_true", help="without dm_control")
    given = parser.parse_args()
    pin(1)
    own = {f"ours, {decision:g} s": ours(given.worlds, decision) for decision in DECISIONS}
    peers = (
        {} if given.alone else {f"dm_control, {decision:g} s": library(decision) for decision in DECISIONS}
    )
    found = measure(
        own | peers | {"bare MuJoCo": bare(), "its batched rollout": batched(given.worlds)},
        given.blocks,
        seconds=1.0,
    )
    print(f"decisions/s, {given.worlds} matches of ours, one core, {given.blocks} blocks")
    print(f"{'row':22}{'median':>10}{'spread':>8}")
    for name, speeds in found.items():
        middle = statistics.median(speeds)
        print(f"{name:22}{middle:>10,.0f}{(max(speeds) - min(speeds)) / middle:>8.0%}")
    for name, bar in BARS.items():
        if name not in found:
            continue
        mine = found["ours, 0.025 s" if name.endswith("0.025 s") else "ours, 0.05 s"]
        ratio = statistics.median(a / b for a, b in zip(mine, found[name], strict=True))
        print(f"ours x {name}: {ratio:.2f}, bar {bar:g}")


if __name__ == "__main__":
    main()
