"""Only the process that trains asks for a card: whatever plays its run later, or beside it, has the processor alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import pytest

import interplay
from interplay.core.trust import read_settings
from interplay.train import devices
from interplay.train.settings import TrainSettings
from tests.train.beside_a_card import WORLD


def processor() -> Sequence[Any]:
    return jax.devices("cpu")


def test_no_process_but_the_learners_asks_for_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, seen = tmp_path / "run", tmp_path / "seen"
    with monkeypatch.context() as patch:
        patch.setattr(devices, "_has_cuda", lambda: True)
        patch.setattr(devices, "_cards", processor)
        small: Any = {
            "ppo": {"rollout": 8, "minibatch": 16, "epochs": 1},
            "network": {"kind": "mlp", "hidden": [8]},
        }
        small["train"] = {"device": "gpu", "max_updates": 1, "shards": 1, "quiet": True}
        interplay.train(WORLD, run, num_worlds=2, **small)
    assert read_settings(run / "settings.toml", TrainSettings).train.device == "gpu"
    plain = {key: value for key, value in os.environ.items() if key != "JAX_PLATFORMS"}
    asked = [sys.executable, "-m", "tests.train.beside_a_card", str(run), str(tmp_path)]
    subprocess.run(asked, env=plain | {"WATCHED": str(seen)}, check=True, capture_output=True)
    lines = [line.split() for line in seen.read_text().splitlines()]
    processes = {verb: {pid for name, pid, _ in lines if name == verb} for verb, _, _ in lines}
    assert processes.keys() == {"view", "evaluate", "tournament", "sweep"}
    assert processes["view"] == processes["evaluate"]
    assert not processes["view"] & (processes["tournament"] | processes["sweep"])  # which have workers
    assert {platforms for _, _, platforms in lines} == {"cpu"}
