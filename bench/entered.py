"""How many files of the package a run enters: functions of which are called, before the first update and in the second one.

python -m bench.entered             # survival/1v1-heals-low, MLP, one process
"""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from interplay.core.settings import build, merge
from interplay.registry import make_world, training_settings
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker

WORLD = "survival/1v1-heals-low"


def main() -> None:
    """Prints a line for each of the two."""
    own = {
        "world": {"id": WORLD},
        "num_worlds": 8,
        "train": {"shards": 1},
        "network": {"kind": "mlp", "hidden": [16]},
        "ppo": {"rollout": 16, "minibatch": 64},
    }
    settings = build(TrainSettings, merge(training_settings(WORLD), own), "bench")
    make = functools.partial(make_world, WORLD)
    workers: list[Worker] = []

    def begin() -> None:
        learner = make_learner(settings, make, begins=True, say=str)
        workers.append(Worker(settings, make, learner, SingleProcess()))

    print_line("before the first update", entered(begin))
    workers[0].update()
    print_line("in an update", entered(workers[0].update))


def entered(work: Any) -> set[str]:
    """The files of the package with a function that `work` calls."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {
        file.rpartition("/interplay/")[2]
        for file in files
        if "/interplay/" in file and "site-packages" not in file
    }


def print_line(what: str, files: set[str]) -> None:
    of_train = sum(file.startswith("train/") for file in files)
    print(f"{what}: {len(files)} files, {of_train} of them in train/")


if __name__ == "__main__":
    main()
