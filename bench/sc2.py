"""What an observation of a full match of StarCraft II takes: ours, and pysc2's where it is importable.

    PYTHONPATH=FOLDER python -m bench.sc2 [--units 100] [--observations 300] [--repeats 5]

FOLDER has pysc2, as ``pip install --no-deps --target FOLDER pysc2==4.0.0 absl-py deepdiff orderly-set mpyq portpicker websocket-client mock
six`` puts it there. Both begin with the same parsed message. ``ours`` is the table of units and all that `sc2/zvz` shows: pictures,
vector with mask, areas, techs, progress; ``ours, table`` is the table of units alone, which is what pysc2's ``raw_units`` are.
Times are process CPU time, the least of the repeats.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.worlds.sc2.areas import area_rows
from interplay.worlds.sc2.features import picture, vector
from interplay.worlds.sc2.ids import GATHER, UNITS
from interplay.worlds.sc2.macro import legal
from interplay.worlds.sc2.progress import ProgressTracker, techs
from interplay.worlds.sc2.regions import ground_of
from interplay.worlds.sc2.view import read_view
from tests.worlds.sc2.messages import observation, prices, unit
from tests.worlds.sc2.zerg import data

KINDS = ("drone", "zergling", "roach", "hydralisk", "overlord", "larva", "hatchery", "spawning_pool", "queen")
SIZE = 128  # of the map


def made_up(units: int) -> Any:
    """A `ResponseObservation` with so many units."""
    rng = np.random.default_rng(0)
    found = [
        unit(
            ("own", "enemy")[int(rng.integers(2))],
            KINDS[int(rng.integers(len(KINDS)))],
            *rng.uniform(1, SIZE - 1, 2).tolist(),
            order=GATHER,
            target=1,
            health=30.0,
            health_max=40.0,
            owner=1,
            radius=0.5,
        )
        for _ in range(units - 8)
    ]
    found += [
        unit("neutral", "field", *rng.uniform(1, 127, 2).tolist(), mineral_contents=900) for _ in range(8)
    ]
    return observation(*found, loop=5_000, minerals=400, vespene=200, food_used=60, food_cap=100)


def ours(answer: Any) -> Callable[[], Any]:
    """Builds everything."""
    ground, price = ground_of(SIZE, SIZE, read_view(answer), data()), prices()
    tracker, past = ProgressTracker(price), deque([1, 2, 3], maxlen=8)

    def build() -> Any:
        view = read_view(answer)
        mask = legal(view, ground, price)
        return (
            picture(view, ground, 32),
            vector(view, ground, past, mask),
            area_rows(view, ground, 16),
            techs(view),
            tracker.read(view),
        )

    return build


def pysc2s(answer: Any) -> Callable[[], Any]:
    """pysc2's observation with raw units."""
    plain = random.shuffle
    random.shuffle = lambda items, *_: plain(
        items
    )  # its colours are shuffled with two arguments, as Python 3.10 allowed
    try:
        from pysc2.lib import actions, features
    finally:
        random.shuffle = plain
    from s2clientprotocol import sc2api_pb2

    full = sc2api_pb2.ResponseObservation()
    full.CopyFrom(answer)
    raw = full.observation.raw_data
    raw.player.camera.x = raw.player.camera.y = SIZE / 2
    form = features.AgentInterfaceFormat(
        use_raw_units=True,
        use_raw_actions=True,
        raw_resolution=SIZE,
        action_space=actions.ActionSpace.RAW,
    )
    builder = features.Features(form, map_size=features.point.Point(SIZE, SIZE))
    return lambda: builder.transform_obs(full)


def seconds(build: Callable[[], Any], times: int, repeats: int) -> float:
    """CPU seconds of a call."""
    build()
    least = np.inf
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(times):
            build()
        least = min(least, (time.process_time() - begun) / times)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--observations", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    answer = made_up(given.units)
    builders = {"ours": ours(answer), "ours, table": lambda: read_view(answer)}
    try:
        builders["pysc2"] = pysc2s(answer)
    except ImportError as error:
        print(f"pysc2 is left out: {error}")
    found = {name: seconds(build, given.observations, given.repeats) for name, build in builders.items()}
    for name, one in found.items():
        ratio = f", {found['pysc2'] / one:.1f} times as fast as pysc2" if "pysc2" in found else ""
        print(f"{name}: {1e3 * one:.3f} ms an observation of {given.units} units{ratio}")


assert set(KINDS) <= set(UNITS)

if __name__ == "__main__":
    main()
