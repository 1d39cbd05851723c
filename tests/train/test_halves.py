"""Halves of the shards on a device: the same bits as all at once, however late the answers are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.settings import build, merge
from interplay.train import rollout
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker
from tests.train.meadow import make_meadow
from tests.train.toy_worlds import make_corridor, make_two_kinds

MEMORY = {"network": {"memory": "gru", "memory_size": 6}, "ppo": {"sequence": 8}}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "memory": (make_corridor, MEMORY),
    "two kinds": (make_two_kinds, {}),
    "deaths in populations": (
        make_meadow,
        {"network": {"kind": "tiles", "width": 8}, "population": {"block": 24}},
    ),
}


class Late:
    """A network's outputs that are computed when they are read."""

    def __init__(self, compute: Any) -> None:
        self._compute = compute

    def copy_to_host_async(self) -> None:
        pass

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return np.asarray(self._compute())


def late(act: Any) -> Any:
    return lambda *given, **named: Late(lambda: act(*given, **named))


def learnt(case: str, shards: int, is_late: bool = False) -> dict[str, np.ndarray]:
    """All arrays of a checkpoint after three updates."""
    make, own = CASES[case]
    values = {
        "world": {"id": "toy"},
        "num_worlds": 8,
        "train": {"shards": shards, "device": "host:0"},
        "ppo": {"rollout": 32, "minibatch": 64, "epochs": 1},
        "network": {"kind": "mlp", "hidden": [8]},
    }
    settings = build(TrainSettings, merge(values, own), "test")
    learner = make_learner(settings, make, begins=True)
    if is_late:
        for network in learner.networks.values():
            network.act = late(network.act)
    worker = Worker(settings, make, learner, SingleProcess())
    for _ in range(3):
        worker.update()
    arrays = dict(learner.save()) | {f"shard-{shard.index}": shard.save() for shard in worker.shards}
    return {f"{stem}/{name}": array for stem, own in arrays.items() for name, array in own.items()}


@pytest.mark.parametrize("shards", [2, 4])
@pytest.mark.parametrize("case", CASES)
def test_halves_give_the_bits_of_all_shards_at_once(
    case: str, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    cut = rollout.cut_groups

    def noted(shards: Any) -> Any:
        groups.append(len(cut(shards)))
        return cut(shards)

    monkeypatch.setattr(rollout, "cut_groups", noted)
    found = learnt(case, shards)
    assert groups == [2, 2, 2]
    monkeypatch.setattr(rollout, "cut_groups", lambda shards: [shards])
    compare(found, learnt(case, shards))


@pytest.mark.parametrize("case", CASES)
def test_answers_that_are_read_late_are_those_to_what_was_asked(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The networks read the staged arrays themselves when an answer is fetched; a write before that changes it."""
    wanted = learnt(case, 4)
    monkeypatch.setattr(rollout, "put_rows", lambda rows, beside, *_: (rows, beside))
    compare(wanted, learnt(case, 4, is_late=True))


def compare(wanted: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    assert wanted.keys() == found.keys()
    assert any(name.startswith("shard-") for name in wanted)
    for name, array in wanted.items():
        assert np.array_equal(array, found[name], equal_nan=array.dtype.kind == "f"), name
