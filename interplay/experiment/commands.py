"""The verbs of an experiment by its file or run folder; `interplay.cli` loads them by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interplay.experiment import files, verbs


def debug(config: Path, episodes: int, steps_per_episode: int, render: bool) -> Path:
    """Plays the experiment of a file at random; the folder of its logs."""
    return verbs.debug_experiment(files.load_experiment(config), episodes, steps_per_episode, render, config)


def train(config: Path) -> Path:
    """Trains the experiment of a file; the run folder."""
    return verbs.train_experiment(files.load_experiment(config), config)


def visualize(run: Path, trust: bool, **options: Any) -> list[Path]:
    """Shows the trained policies of a run; the files that were written."""
    return verbs.visualize(files.load_experiment_of(run, trust).params, run, trust=trust, **options)


def analyze(run: Path, script: str, trust: bool, **options: Any) -> None:
    """Calls a script's ``run(sim, trainer)`` with a run's simulation and policies."""
    experiment = files.load_experiment_of(run, trust)
    verbs.analyze(experiment.params, run, files.load_script(script), trust=trust, **options)
