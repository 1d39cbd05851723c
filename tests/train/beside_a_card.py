"""What is done beside a run on a card: a world that writes down what jax may open, and a script that plays a run in every way.

python -m tests.train.beside_a_card RUN OUT     # with the variable WATCHED: the file that worlds write to
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

import interplay
from interplay.core.world import TimeStep
from interplay.verbs.viewing import Players
from tests.cli.marsh import Marsh


class Watched(Marsh):
    """At its first step it adds a line to a file: verb, process, and jax's platforms."""

    _seen = False

    def _step(self, action: np.ndarray) -> TimeStep:
        jax: Any = sys.modules.get("jax")
        if not self._seen and jax is not None and "WATCHED" in os.environ:
            with open(os.environ["WATCHED"], "a") as file:
                file.write(f"{os.environ['VERB']} {os.getpid()} {jax.config.jax_platforms}\n")
            self._seen = True
        return super()._step(action)


WORLD = f"{Watched.__module__}:Watched"


def main(run: str, out: str) -> None:
    """Each verb once; tournaments and sweeps with processes of their own."""
    os.environ["VERB"] = "view"
    cast = Players().cast("run", run)
    cast.world.reset()
    cast.policy.start(cast.world)
    cast.world.step(cast.policy.act(cast.world.timestep))
    cast.world.close()
    os.environ["VERB"] = "evaluate"
    interplay.evaluate(run, episodes=2, num_worlds=2)
    os.environ["VERB"] = "tournament"
    interplay.tournament([run, "random"], out=f"{out}/cup", matches=4, workers=2)
    os.environ["VERB"] = "sweep"
    small: Any = {
        "ppo": {"rollout": 8, "minibatch": 16, "epochs": 1},
        "network": {"kind": "mlp", "hidden": [8]},
    }
    small["train"] = {"shards": 1, "start_from": run}
    interplay.sweep(
        WORLD,
        f"{out}/sweep",
        {"ppo.clip": [0.1, 0.2]},
        steps=16,
        num_worlds=2,
        workers=2,
        trust=True,
        **small,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
