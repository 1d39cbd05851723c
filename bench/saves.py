"""Seconds and bytes of a checkpoint of a run, which `train.checkpoint_seconds` pays for. From the repository root::

    python -m bench.saves battle/3m algorithm=vdn steps=450000
    python -m bench.saves survival/1v1-heals-low steps=1000000

The settings are those of `interplay train`; it is saved every five seconds and at its end. Training waits meanwhile.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from interplay.core.settings import parse_overrides
from interplay.train import update_loop
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.verbs.settings import run_settings
from interplay.verbs.trainer import load_trainer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("world")
    parser.add_argument("setting", nargs="*")
    given = parser.parse_args()
    typed = {"train.quiet": True, "train.workers": 1, "train.checkpoint_seconds": 5.0}
    settings = run_settings(given.world, parse_overrides(given.setting), typed)
    save = update_loop._save

    def timed(worker: Any, folder: Any, *rest: Any) -> None:
        began = time.perf_counter()
        save(worker, folder, *rest)
        seconds = time.perf_counter() - began
        path = latest_checkpoint(folder.path)
        assert path is not None
        size = sum(file.stat().st_size for file in path.iterdir())
        print(f"{worker.agent_steps:>10,} agent-steps: {seconds:.3f} s, {size / 2**20:,.1f} MiB", flush=True)

    update_loop._save = timed
    with tempfile.TemporaryDirectory() as folder:
        load_trainer().train(settings, Path(folder) / "run")


if __name__ == "__main__":
    main()
