"""Short runs on one, two and four devices that XLA makes of the processor: how far the weights are apart after two updates.

With two devices the run is made again, with four it is stopped and resumed.

XLA_FLAGS=--xla_force_host_platform_device_count=4 python -m tests.train.mesh_runs FOLDER [CASE ...]
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.train.devices import open_device, put_rows
from interplay.train.making import make_learner, registry_factory
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainGroup
from interplay.train.update import Worker
from interplay.verbs.settings import build_settings
from interplay.verbs.training import nested
from tests.train.placed_runs import CASES, learn, run_of, stop_and_resume
from tests.train.placed_runs import SMALL as SMALL_RUN

# Eighteen samples, or four sequences, of which four devices compute unequal parts.
SMALL = {"minibatch": 18, "sequence": 4}


def rows_of(case: str, folder: Path) -> list[float]:
    """The rows that each update learnt from, as they are logged."""
    rows: list[float] = interplay.Run(run_of(case, "host:0", folder)).metrics["rows"].tolist()
    return rows


def parts_of_rows() -> list[list[list[int]]]:
    """Shapes of what each device gets of 8 rows, of 7 rows, and of what stands beside them."""
    device = open_device(TrainGroup(device="host:0", devices=4))
    found = []
    for count in (8, 7):
        rows, beside = put_rows({"seen": np.zeros((1, count, 3))}, np.zeros((5, 2)), device)
        found += [
            sorted({part.data.shape for part in each.addressable_shards}) for each in (rows["seen"], beside)
        ]
    return found


def parts_of_outputs(case: str) -> list[list[int]]:
    """Shapes of the outputs of acting in an update of one shard, the whole and what each of four devices computed."""
    world, values = CASES[case]
    own = SMALL_RUN | values | {"train.device": "host:0", "train.devices": 4, "train.shards": 1}
    settings = build_settings(world, nested(own), {})
    make = registry_factory(settings)
    learner = make_learner(settings, make, begins=True, say=str)
    (network,), found = learner.networks.values(), set()
    act = network.act

    def noted(*given: Any, **named: Any) -> Any:
        outputs = act(*given, **named)
        found.update({outputs.shape, *(part.data.shape for part in outputs.addressable_shards)})
        return outputs

    network.act = noted
    with contextlib.closing(Worker(settings, make, learner, SingleProcess())) as worker:
        worker.update()
    return sorted(map(list, found))


def main(folder: str, *cases: str) -> None:
    """A JSON line for the rows of a step, one for the outputs of two cases, then one for each case and number of devices."""
    print(json.dumps(parts_of_rows()))
    print(json.dumps([parts_of_outputs(case) for case in ("mlp", "populations")]))
    for case in cases:
        values = {f"{rule}.{key}": value for key, value in SMALL.items() for rule in ("ppo", "vtrace")}
        values = {key: value for key, value in values.items() if key in CASES[case][1]}
        alone = learn(case, "host:0", Path(folder) / "1", values)
        for devices in (2, 4):
            own = values | {"train.devices": devices}
            first = learn(case, "host:0", Path(folder) / f"{devices}", own)
            if devices == 2:
                same = np.array_equal(first[2], learn(case, "host:0", Path(folder) / "2-again", own)[2])
            else:
                same = stop_and_resume(case, "host:0", Path(folder) / "4-stopped", own)
            moved = float(np.linalg.norm(alone[2]))
            line = {
                "case": case,
                "devices": devices,
                "places": first[0],
                "moved": moved,
                "apart": float(np.linalg.norm(alone[2] - first[2])) / moved,
                "rows": [rows_of(case, Path(folder) / name) for name in ("1", f"{devices}")],
                "same": bool(same),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
