"""`BatchedEnvRunner` against RLlib's own runner over `MultiAgentEnv`s: speed, and learning curves.

Run from the repository root, on one core::

    taskset -c 0 .venv/bin/python -m bench.rllib_runner speed survival/1v1-heals-low
    taskset -c 0 .venv/bin/python -m bench.rllib_runner curves simulation/multi-corridor

`speed`: whole iterations of PPO (sampling 64 steps of every world, 4 epochs of learning, weights to the runner), everything in one process on one
thread, MLP of two layers of 64, minibatches of 2,048. Both take turns, iteration by iteration, so that other work on the machine meets both; the first of each is left
out. Rates are of CPU time, of which others' work takes none; seconds by the clock stand beside them.

`curves`: both train over several seeds with equal settings; the mean return of the last 100 episodes is compared after equal numbers of steps.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from typing import Any

import numpy as np

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env
from scipy import stats

from interplay.connect.rllib import BatchedEnvRunner, world_to_rllib

RUNNERS = {"RLlib's runner": {}, "BatchedEnvRunner": {"env_runner_cls": BatchedEnvRunner}}


def algorithm(world: str, worlds: int, steps: int, runner: dict[str, Any], seed: int, **training: Any) -> Any:
    return (
        PPOConfig()
        .environment("interplay-bench", env_config={"world_id": world, "flat": True})
        .env_runners(
            num_env_runners=0, num_envs_per_env_runner=worlds, rollout_fragment_length=steps, **runner
        )
        .training(train_batch_size_per_learner=worlds * steps, **training)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *args, **kwargs: "shared")
        .rl_module(model_config={"fcnet_hiddens": [64, 64]})
        .debugging(seed=seed)
        .build_algo()
    )


def iterate(trained: Any) -> tuple[float, float, float, float]:
    """Trains one iteration: CPU seconds, seconds, agent-steps, mean return."""
    began, clock = time.process_time(), time.perf_counter()
    metrics = trained.train()["env_runners"]
    spent = time.process_time() - began, time.perf_counter() - clock
    return (
        *spent,
        float(sum(metrics["num_agent_steps_sampled"].values())),
        float(metrics.get("episode_return_mean", np.nan)),
    )


def speed(world: str, iterations: int) -> None:
    print(
        "| worlds | runner | agent-steps/s of CPU | spread | world steps/s | seconds of CPU | by the clock |"
    )
    print("|---|---|---|---|---|---|---|")
    for worlds in (32, 256):
        both = {
            name: algorithm(world, worlds, 64, runner, 1, minibatch_size=2048, num_epochs=4)
            for name, runner in RUNNERS.items()
        }
        rows: dict[str, list[Any]] = {name: [] for name in both}
        for _ in range(iterations + 1):
            for name, trained in both.items():
                rows[name].append(iterate(trained))
        rates = {}
        for name, measured in rows.items():
            cpu, clock, agents, _ = np.array(measured[1:]).T
            rate = agents / cpu
            rates[name] = np.median(rate)
            spread = (rate.max() - rate.min()) / np.median(rate)
            print(
                f"| {worlds} | {name} | {np.median(rate):,.0f} | {spread:.0%} | {np.median(worlds * 64 / cpu):,.0f} "
                f"| {np.median(cpu):.2f} | {np.median(clock):.2f} |"
            )
        print(
            f"| {worlds} | ratio | {rates['BatchedEnvRunner'] / rates[next(iter(RUNNERS))]:.2f} | | | | |",
            flush=True,
        )
        for trained in both.values():
            trained.stop()


def curves(world: str, seeds: int, iterations: int) -> None:
    settings = {
        "lr": 1e-3,
        "minibatch_size": 256,
        "num_epochs": 4,
        "gamma": 0.95,
        "entropy_coeff": 0.01,
        "vf_clip_param": 1e4,
    }
    found = {}
    for name, runner in RUNNERS.items():
        rows = []
        for seed in range(seeds):
            trained = algorithm(world, 16, 16, runner, 1000 * (seed + 1), **settings)
            rows.append([iterate(trained)[-1] for _ in range(iterations)])
            trained.stop()
            print(name, seed, " ".join(f"{value:.1f}" for value in rows[-1][3::4]), flush=True)
        found[name] = np.array(rows)
    theirs, ours = found.values()
    print("\n| iterations | RLlib's runner | BatchedEnvRunner | difference |\n|---|---|---|---|")
    points = [
        (f"{end}", np.s_[:, end - 1]) for end in (np.array([0.1, 0.2, 0.4, 0.6, 1]) * iterations).astype(int)
    ]
    for label, part in (*points, ("mean of all", None)):
        a, b = ((x[part] if part is not None else np.nanmean(x, axis=1)) for x in (theirs, ours))
        low, high = stats.ttest_rel(b, a).confidence_interval(0.95)  # equal seeds begin with equal worlds
        print(
            f"| {label} | {shown(a)} | {shown(b)} | {b.mean() - a.mean():+.2f} ({low:+.2f} to {high:+.2f}) |"
        )


def shown(values: np.ndarray) -> str:
    """Mean and 95 % interval of the mean (Student's t) over seeds."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.2f} ± {half:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "curves"))
    parser.add_argument("world", help="id of a world without masks")
    parser.add_argument("--iterations", type=int, help="5 of speed, 40 of curves")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("ray").setLevel(logging.ERROR)
    register_env("interplay-bench", lambda config: world_to_rllib(**config))
    ray.init(
        address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    if given.what == "speed":
        speed(given.world, given.iterations or 5)
    else:
        curves(given.world, given.seeds, given.iterations or 40)
    ray.shutdown()


if __name__ == "__main__":
    main()
