"""Wild snapshots for every registered world: planted, loaded, and played on where they are accepted.

    python -m bench.trust_wild_snapshots --count 100000          # all worlds, in child processes under a watchdog
    python -m bench.trust_wild_snapshots --count 2000 --bounds   # kernels check every index, negative ones too
    python -m bench.trust_wild_snapshots --count 500 --only survival/1v1-all-high --show

A child that dies by a signal is a crash, one that says nothing for `--patience` seconds a hang; both are named with their number,
and a new child goes on behind it. Snapshot number n of a world is the same in every run with the same seed.
"""

from __future__ import annotations

import argparse
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from typing import Any

import numpy as np

import interplay

# The large persistent worlds differ from the small one in numbers alone: fewer agents on less ground plant more snapshots.
LARGE = ("1024", "8192", "32000")
SMALLER = {"slots": 128, "interior": 100}
WORLDS = 2  # copies in a batch
REFRESHED = 50  # snapshots planted into the same sound ones
COLUMNS = ("planted", "refused", "accepted", "crashes", "hangs", "harms")


def main() -> int:
    args = _arguments()
    if args.child:
        return _child(args)
    started, table = time.time(), {}
    ids = [spec.id for spec in interplay.list_worlds() if args.only in spec.id and not spec.missing]
    for place, world_id in enumerate(ids):
        count = args.count // len(ids) + (place < args.count % len(ids))
        table[world_id] = _watch(world_id, count, args)
        line = ", ".join(f"{table[world_id][name]} {name}" for name in COLUMNS)
        print(f"{world_id}: {line}, {time.time() - started:.0f} s", file=sys.stderr, flush=True)
    families: dict[str, Counter[str]] = {}
    for world_id, counted in table.items():
        families.setdefault(world_id.partition("/")[0], Counter()).update(counted)
    print(f"{'family':12}" + "".join(f"{name:>10}" for name in COLUMNS))
    for family, counted in [*families.items(), ("all", sum(families.values(), Counter()))]:
        print(f"{family:12}" + "".join(f"{counted[name]:>10}" for name in COLUMNS))
    harm = sum(sum(counted[name] for name in COLUMNS[3:]) for counted in families.values())
    mode = "with checked bounds" if args.bounds else "as they run"
    print(
        f"{sum(c['planted'] for c in families.values())} wild snapshots of {len(ids)} worlds {mode}, seed {args.seed}: {harm} harms"
    )
    return 1 if harm else 0


def _arguments() -> Any:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000, help="snapshots over all worlds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="worlds with this in their id")
    parser.add_argument("--bounds", action="store_true", help="kernels check every index")
    parser.add_argument("--cache", default="", help="folder of kernels with checked bounds")
    parser.add_argument(
        "--patience", type=float, default=120.0, help="seconds without a word that are a hang"
    )
    parser.add_argument("--show", action="store_true", help="says what was accepted")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


# -- the parent -------------------------------------------------------------------------------------------------------


def _watch(world_id: str, count: int, args: Any) -> Counter[str]:
    """Plants `count` snapshots into one world, by as many children as it takes."""
    counted: Counter[str] = Counter()
    first = 0
    while first < count:
        end = _run_child(world_id, first, count, args, counted)
        if end < count:
            counted["planted"] += 1
        first = end + 1
    return counted


def _run_child(world_id: str, first: int, count: int, args: Any, counted: Counter[str]) -> int:
    """Runs one child; the number of the snapshot that ended it, or `count`."""
    command = [sys.executable, "-m", "bench.trust_wild_snapshots", "--child", world_id]
    command += ["--first", str(first), "--count", str(count), "--seed", str(args.seed)]
    command += ["--bounds"] * args.bounds + ["--show"] * args.show
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(args))
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_pump, args=(process, lines), daemon=True).start()
    at, patience = first, max(args.patience, 900.0)  # kernels may have to be compiled first
    while True:
        try:
            word, _, rest = lines.get(timeout=patience).partition(" ")
        except queue.Empty:
            process.kill()
            process.wait()
            counted["hangs"] += 1
            print(f"{world_id}: HANG at snapshot {at}", file=sys.stderr, flush=True)
            return at
        if word == "begun":
            at, patience = int(rest), args.patience if int(rest) > first else 900.0
        elif word in ("refused", "accepted"):
            counted["planted"] += 1
            counted[word] += 1
        elif word == "harm":
            counted["harms"] += 1
            print(f"{world_id}: HARM at snapshot {at}: {rest}", file=sys.stderr, flush=True)
        elif word == "shown":
            print(f"{world_id}: accepted {rest}", file=sys.stderr, flush=True)
        else:  # the end of its words
            if process.wait() == 0:
                return count
            counted["crashes"] += 1
            print(f"{world_id}: CRASH ({process.returncode}) at snapshot {at}", file=sys.stderr, flush=True)
            return at


def _pump(process: Any, lines: queue.Queue[str]) -> None:
    for line in process.stdout:
        lines.put(line.rstrip("\n"))
    lines.put("")


def _environment(args: Any) -> dict[str, str]:
    """Kernels with checked bounds are others: they have a cache of their own."""
    if not args.bounds:
        return dict(os.environ)
    folder = args.cache or os.path.join(tempfile.gettempdir(), f"interplay-bounds-{os.getuid()}")
    return {**os.environ, "NUMBA_BOUNDSCHECK": "1", "INTERPLAY_CACHE": folder}


# -- a child ----------------------------------------------------------------------------------------------------------


def _child(args: Any) -> int:
    if args.bounds:
        _forbid_negative_indices()
    from interplay.checker.planting import plant
    from interplay.checker.wild import attempt

    options = SMALLER if args.child.rpartition("-")[2] in LARGE else {}
    world = interplay.make_world(args.child, num_worlds=WORLDS, seed=args.seed, **options)
    world.reset()
    name, sound = zlib.crc32(args.child.encode()), []
    for number in range(args.first, args.count):
        if number % REFRESHED == 0 or not sound:
            sound = _sound(world, args.seed, name, number // REFRESHED)
        planted = plant(np.random.default_rng([args.seed, name, number]), sound)
        _say("begun", number)
        outcome = attempt(world, planted, number)
        _say("refused" if outcome.refused else "accepted", number)
        if outcome.harm:
            _say("harm", f"{planted.story}: {outcome.harm}")
        elif args.show and not outcome.refused:
            _say("shown", planted.story)
        world.load(sound[0])
    world.close()
    return 0


def _sound(world: Any, seed: int, name: int, part: int) -> list[Any]:
    """Three moments of episodes of their own: the same for every child that begins in this part."""
    from interplay.checker.bench import Players

    world.reset(seeds=seed + part)
    rng = np.random.default_rng([seed, name, 1, part])
    players, taken = Players(world, int(rng.integers(2**31)), range(WORLDS)), []
    for moment in sorted(rng.integers(0, 120, 3)):
        for _ in range(moment // (1 + len(taken))):
            if world.timestep.over.all():
                world.reset()
            world.step(players.act(world.timestep))
        taken.append(world.save())
    return taken


def _say(word: str, what: Any) -> None:
    print(word, " ".join(str(what).split()), flush=True)


def _forbid_negative_indices() -> None:
    """Has kernels refuse negative indices too, which Numba would count from the end."""
    from numba.core import types
    from numba.np import arrayobj

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    arrayobj.fix_integer_index = as_it_is


if __name__ == "__main__":
    sys.exit(main())
