"""Threads that step worlds change no bit of a run, and reach worlds that take them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import interplay
from interplay.core.chunks import Chunks
from interplay.core.settings import changed
from interplay.train import making
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.settings import TrainSettings

CLOCKS = ("time", "agent_steps_per_s", "time_share")
WORLDS: dict[str, dict[str, Any]] = {
    "survival/1v1-heals-low": {"ppo": {"rollout": 16, "minibatch": 64, "epochs": 1}},
    "battle/3m": {"ppo": {"rollout": 16, "minibatch": 64, "epochs": 1}},
}


def result_of(run: Path) -> tuple[list[dict[str, Any]], str]:
    """The log without its clocks, and the digest of the last checkpoint's arrays."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    newest = latest_checkpoint(run)
    assert newest is not None
    digest = hashlib.sha256()
    for stem, arrays in sorted(read_checkpoint(newest).arrays.items()):
        for name, array in sorted(arrays.items()):
            digest.update(f"{stem}/{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return [
        {key: value for key, value in line.items() if key not in CLOCKS} for line in lines
    ], digest.hexdigest()


@pytest.mark.parametrize("world", WORLDS)
def test_threads_change_no_bit(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, pools = [], []
    for threads in (1, 2):
        made: list[int] = []
        init = Chunks.__init__

        def noted(self: Chunks, worlds: int, asked: int, made: list[int] = made, init: Any = init) -> None:
            init(self, worlds, asked)
            made.append(self.threads)

        own = {"threads": threads, "max_updates": 2, "shards": 2, "quiet": True}
        with monkeypatch.context() as patch:
            patch.setattr(Chunks, "__init__", noted)
            run = interplay.train(
                world,
                tmp_path / str(threads),
                num_worlds=8,
                workers=1,
                train=own,
                network={"kind": "mlp", "hidden": [8]},
                **WORLDS[world],
            )
        results.append(result_of(run.folder))
        pools.append(max(made))
    assert pools == [1, 2]
    assert len(results[0][0]) == 2
    assert results[0] == results[1]


def test_a_run_goes_on_with_other_threads(tmp_path: Path) -> None:
    run = interplay.train(
        "simulation/multi-corridor",  # plain Python: it takes threads and uses none
        tmp_path / "run",
        num_worlds=4,
        workers=1,
        train={"threads": 3, "max_updates": 1, "shards": 2, "quiet": True},
        network={"kind": "mlp", "hidden": [8]},
    )
    file = run.folder / "settings.toml"
    file.write_text(file.read_text().replace("max_updates = 1", "max_updates = 2"))
    assert run.resume(threads="auto").metrics["updates"][-1] == 2
    assert 'threads = "auto"' in file.read_text()


@pytest.mark.parametrize(
    ("threads", "device", "cores", "expected"),
    [
        ("auto", "cpu", 16, 1),
        ("auto", "gpu", 16, 14),
        ("auto", "gpu:1", 2, 1),
        (5, "cpu", 2, 5),
        (5, "gpu", 2, 5),
    ],
)
def test_auto_leaves_cores_to_the_process_that_feeds_a_card(
    monkeypatch: pytest.MonkeyPatch, threads: int | str, device: str, cores: int, expected: int
) -> None:
    monkeypatch.setattr(making, "processors", lambda: cores)
    base = TrainSettings.model_validate({"world": {"id": "pong/2p"}})
    settings = changed(base, {"train": {"threads": threads, "device": device}}, "test")
    assert making.threads_of(settings) == expected
    assert making.registry_factory(settings).keywords["threads"] == expected  # type: ignore[attr-defined]
