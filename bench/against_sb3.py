"""Our trainer against Stable-Baselines3's: PPO, 2x64 MLP, 4 epochs, minibatch 512, the same world, one run.

Run from the repository root::

    .venv/bin/python -m bench.against_sb3 survival/1v1-heals-low --steps 400000 --rounds 5

Both collect 256 steps of 64 worlds per update and learn from the same number of samples with the same settings
(clip 0.2, gamma 0.99, lambda 0.95, Adam 3e-4, no KL stop). SB3 goes through `SB3VecEnv` with two torch threads (`--torch-threads`); ours uses
two workers with a shard each. A round trains both, one after the other. Printed: agent-steps per second of the whole training,
the mean return of the episodes that ended, against wall time, and the median and range of the rounds' ratios.
Our compilation is counted apart, as `first update`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from interplay.core.settings import build
from interplay.registry import make_world
from interplay.train.settings import TrainSettings

WORLDS, ROLLOUT = 64, 256


def run_ours(world: str, steps: int, workers: int) -> list[tuple[float, int, float]]:
    """(seconds, agent-steps, mean return) per update; time runs from the start of the process's training."""
    from interplay.train.trainer import train

    values = {
        "world": {"id": world},
        "num_worlds": WORLDS,
        "steps": steps,
        "train": {"workers": workers, "shards": workers},
        "ppo": {"rollout": ROLLOUT, "epochs": 4, "target_kl": "off"},
        "network": {"kind": "mlp"},
    }
    with tempfile.TemporaryDirectory() as folder:
        run = train(build(TrainSettings, values, "bench"), Path(folder) / "run")
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(line["time"], line["agent_steps"], line.get("episode_return") or np.nan) for line in lines]


def run_sb3(world: str, steps: int, threads: int) -> list[tuple[float, int, float]]:
    """The same of Stable-Baselines3."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback

    from interplay.connect.sb3 import SB3VecEnv

    torch.set_num_threads(threads)
    curve: list[tuple[float, int, float]] = []
    began = time.monotonic()

    class Watch(BaseCallback):
        """Notes the time and the returns of the episodes that ended since the last update."""

        def _on_training_start(self) -> None:
            self.returns: list[float] = []

        def _on_step(self) -> bool:
            self.returns += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
            return True

        def _on_rollout_start(self) -> None:
            if self.num_timesteps:
                mean = float(np.mean(self.returns)) if self.returns else np.nan
                curve.append((time.monotonic() - began, self.num_timesteps, mean))
                self.returns = []

    env = SB3VecEnv(make_world(world, num_worlds=WORLDS, seed=0))
    learner = PPO(
        "MultiInputPolicy",
        env,
        n_steps=ROLLOUT,
        batch_size=512,
        n_epochs=4,
        seed=0,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
    )
    learner.learn(steps, callback=Watch())
    curve.append((time.monotonic() - began, learner.num_timesteps, np.nan))
    return curve


def rate(curve: list[tuple[float, int, float]]) -> float:
    """Agent-steps per second after the first update, which compiles."""
    (began, first, _), (ended, last, _) = curve[0], curve[-1]
    return (last - first) / (ended - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("world", nargs="?", default="survival/1v1-heals-low")
    parser.add_argument("--steps", type=int, default=400_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--torch-threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    ratios = []
    for _ in range(given.rounds):
        ours = run_ours(given.world, given.steps, given.workers)
        theirs = run_sb3(given.world, given.steps, given.torch_threads)
        for name, curve in (("interplay", ours), ("stable-baselines3", theirs)):
            print(f"{name}: {rate(curve):,.0f} agent-steps/s, first update after {curve[0][0]:.1f} s")
            for seconds, steps, mean in curve:
                print(f"  {seconds:7.1f} s {steps:9,} agent-steps  mean return {mean:7.1f}")
        ratios.append(rate(ours) / rate(theirs))
    print(f"ratio: {np.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}, {given.rounds} rounds)")


if __name__ == "__main__":
    main()
