"""What the viewer costs: the page, its server and the start of both, beside the bars of docs/specs/viewer.md 12.

Run from the repository root, after ``make page``; needs Node 20, Chromium and Linux, whose /proc tells processor time and memory::

    make bench-viewer                                # every row, about ten minutes
    make bench-viewer ARGS="--agents 1024 --json figures.json"
    .venv/bin/python -m bench.viewer --quick         # seconds: what the tests ask, at twice the bars

Real servers, a real browser that draws by software at 1280 x 800, and the persistent world on its own maps with every slot alive
and players at random; rows of walkers are of the toy world with which the bars were set (bench/walkers.py). Each row has the
median of its measurements, their least and most, and the bar. Ends with 1 where a bar is missed. Figures of a machine that does other work are worth nothing; ``--quick`` keeps the faster half of them and asks for twice the bars, of rates for half.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.recordings import record
from interplay.core.policy import RandomPolicy
from interplay.registry import make_world

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ALIVE = {"mask_lava": "true", "respawn": "immediate", "cap_draw": "fixed"}  # every slot stays taken
TICKS = {
    128: 1500,
    1024: 1300,
    8192: 300,
}  # of a recording; 640 ticks/s are asked of 1,024 agents for two seconds
BARS: dict[str, tuple[float, ...]] = {  # of 128, 1,024 and 8,192 agents; docs/specs/viewer.md 12
    "flat, whole map, ms a frame": (2, 2, 10),
    "flat, near, ms a frame": (2, 2, 10),
    "frames a second at 10 ticks/s": (58, 58, 50),
    "frames a second at 20 ticks/s": (58, 58, 50),
    "frames a second at 60 ticks/s": (58, 58, 50),
    "frames that waited at 20 ticks/s, %": (10, 10, 0),  # a page of 8,192 agents is busy itself
    "browser at 10 ticks/s, % of a core": (50, 60, 100),
    "browser at 60 ticks/s, % of a core": (50, 60, 100),
    "server at 60 ticks/s, % of a core": (20, 20, 20),
    "frames a second at 10 ticks/s, walkers": (58, 58, 50),
    "frames a second at 60 ticks/s, walkers": (58, 58, 50),
    "browser at 10 ticks/s, % of a core, walkers": (50, 60, 100),
    "browser at 60 ticks/s, % of a core, walkers": (50, 60, 100),
    "server at 60 ticks/s, % of a core, walkers": (20, 20, 20),
    "solid, ms a frame": (50, 60, 150),
    "seek, nothing cached, ms": (50, 150, 200),
    "a tick forward, ms": (1, 2, 8),
    "asked 640 ticks/s": (0, 600, 0),
    "first picture, s": (1.5, 1.5, 1.5),
    "solid view ready, s": (2, 2, 2),
    "memory of the page, MB": (0, 150, 0),
}
START = {
    "server ready, s": 1.0,
    "server without worlds, MB": 150.0,
    "import interplay.view, s": 1.0,
    "page, kB": 120.0,
    "solid view, kB": 700.0,
}
AT_LEAST = ("frames a second", "asked")  # rows whose bar is a floor


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        name: what was measured, with its unit.
        agents: in the world; 0 where there is none.
        values: every measurement.
        bar: what the median has to keep.
    """

    name: str
    agents: int
    values: Sequence[float]
    bar: float

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool:
        return self.median >= self.bar if self.name.startswith(AT_LEAST) else self.median <= self.bar

    def line(self) -> str:
        """For people."""
        sign = "≥" if self.name.startswith(AT_LEAST) else "≤"
        spread = f"{min(self.values):.3g} … {max(self.values):.3g}"
        told = "met" if self.met else "MISSED"
        agents = f"{self.agents:,}" if self.agents else ""
        return f"{self.name:45} {agents:>6} {self.median:10.3g}   {spread:20} {sign} {self.bar:<6g} {told}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, nargs="+", choices=list(TICKS), default=list(TICKS))
    parser.add_argument(
        "--minutes", type=float, default=1.0, help="that the page stays open before its memory is read"
    )
    parser.add_argument(
        "--quick", action="store_true", help="128 agents, what a busy machine can tell, twice the bars"
    )
    parser.add_argument("--json", type=Path, help="a file for the figures")
    asked = parser.parse_args(arguments)
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if shutil.which("node") is None or browser is None or not sys.platform.startswith("linux"):
        print(
            "the viewer was not measured: it needs Linux, Node 20 and Chromium, named by CHROMIUM or found",
            file=sys.stderr,
        )
        return 1
    rows = told(quick_start_rows() if asked.quick else start_rows())
    with tempfile.TemporaryDirectory() as folder:
        for agents in [128] if asked.quick else asked.agents:
            rows += told(agent_rows(agents, Path(folder), browser, asked.minutes, asked.quick))
            if not asked.quick:
                tell_world(agents)
    missed = sum(not row.met for row in rows)
    print(f"{machine()}; {missed} of {len(rows)} bars missed")
    if asked.json:
        kept = [
            {**row._asdict(), "values": list(row.values), "median": row.median, "met": row.met}
            for row in rows
        ]
        asked.json.write_text(
            json.dumps({"machine": machine(), "rows": kept}, indent=1) + "\n", encoding="utf-8"
        )
    return 1 if missed else 0


def told(rows: list[Row]) -> list[Row]:
    """Prints them; a size takes minutes."""
    for row in rows:
        print(row.line(), flush=True)
    return rows


def tell_world(agents: int) -> None:
    """Prints how much of the server's share at 60 ticks/s is the world's step and its random players; there is no bar for that."""
    world = make_world(f"mmo/combat-{agents}", **{**ALIVE, "mask_lava": True, "prefill": agents})
    players = RandomPolicy()
    players.start(world, 1)
    now, seconds = world.reset(seeds=1), []
    for _ in range(TICKS[8192]):
        began = time.perf_counter()
        now = world.step(players.act(now))
        seconds.append(100 * 60 * (time.perf_counter() - began))
    world.close()
    spread = f"{min(seconds):.3g} … {max(seconds):.3g}"
    print(
        f"{'  of that the world and its players alone, %':45} {agents:>6,} {statistics.median(seconds):10.3g}   {spread}",
        flush=True,
    )


# -- the server's start -------------------------------------------------------------------------------------------------


def start_rows() -> list[Row]:
    """How long a server takes and what it holds before anything is played, and what an import costs."""
    ready, memory = starts(6)
    imported = [seconds_of_import() for _ in range(5)]
    return [
        Row("server ready, s", 0, ready[1:], START["server ready, s"]),  # the first one reads the disk
        Row("server without worlds, MB", 0, memory, START["server without worlds, MB"]),
        Row("import interplay.view, s", 0, imported, START["import interplay.view, s"]),
    ]


def quick_start_rows() -> list[Row]:
    """The first of them, of fewer starts, at twice its bar."""
    name = "server ready, s"
    ready, _ = starts(4)
    return [Row(name, 0, faster_half(name, ready[1:]), _eased(name, START[name], 2.0))]


def starts(count: int) -> tuple[list[float], list[float]]:
    """Seconds until a server says where it is, and the MB that it holds then, of so many starts."""
    ready, memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            began = time.monotonic()
            with served(["view"], Path(folder)) as (_, pid):
                ready.append(time.monotonic() - began)
                memory.append(resident(pid))
    return ready, memory


def seconds_of_import() -> float:
    """Of a new Python; refuses jax."""
    code = "import interplay.view, sys; sys.exit('jax' in sys.modules)"
    began = time.monotonic()
    if subprocess.run([sys.executable, "-c", code], env=_environment()).returncode:
        raise SystemExit("import interplay.view loads jax")
    return time.monotonic() - began


@contextmanager
def served(words: Sequence[str], folder: Path) -> Iterator[tuple[str, int]]:
    """The address of a server on that folder, and its process."""
    command = [sys.executable, "-m", "interplay", *words, "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+#token=\S+", server.stdout.readline())
        if found is None:
            raise SystemExit("the server has not said where it is")
        yield found[0], server.pid
    finally:
        server.terminate()
        server.wait(20)


def resident(pid: int) -> float:
    """MB of memory that a process holds."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0.0


# -- the page -----------------------------------------------------------------------------------------------------------


def agent_rows(agents: int, folder: Path, browser: str, minutes: float, quick: bool) -> list[Row]:
    """What bench/viewer.mjs measures with so many agents."""
    inside = folder / str(agents)
    inside.mkdir()
    world = f"mmo/combat-{agents}"
    options = [f"{key}={value}" for key, value in {**ALIVE, "prefill": agents}.items()]
    words = ["view", world, *(part for option in options for part in ("--option", option))]
    if quick:
        record(agents, 150, inside)
        with served(["view", str(inside)], folder) as (recorded, _), served(words, folder) as (live, _):
            found = _measure({"recorded": recorded, "live": live, "browser": browser, "quick": True})
            return _rows(agents, {name: faster_half(name, values) for name, values in found.items()}, 2.0)
    command = ["record", "random", "--world", world, *options, "--max-steps", str(TICKS[agents])]
    command += ["--out", str(inside / "match.replay")]
    subprocess.run(
        [sys.executable, "-m", "interplay", *command],
        env=_environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    toy = ["view", "bench.walkers:Walkers", "--option", f"agents={agents}"]
    with (
        served(["view", str(inside)], folder) as (recorded, _),
        served(words, folder) as (live, pid),
        served(toy, folder) as (walkers, other),
    ):
        asked = {"recorded": recorded, "live": live, "server": pid, "browser": browser, "minutes": minutes}
        return _rows(agents, _measure({**asked, "walkers": walkers, "walkersServer": other}), 1.0)


def faster_half(name: str, values: Sequence[float]) -> list[float]:
    """What a machine that does other work can tell: the lower half of times, the upper half of rates."""
    best_first = sorted(values, reverse=name.startswith(AT_LEAST))
    return best_first[: (len(values) + 1) // 2]


def _eased(name: str, bar: float, times: float) -> float:
    return bar / times if name.startswith(AT_LEAST) else bar * times


def _measure(asked: dict[str, Any]) -> dict[str, list[float]]:
    script = ROOT / "bench" / "viewer.mjs"
    done = subprocess.run(
        ["node", str(script), json.dumps(asked)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def _rows(agents: int, found: dict[str, list[float]], times: float) -> list[Row]:
    place = list(TICKS).index(agents)
    sizes = [
        Row(name, 0, values, START[name]) for name, values in found.items() if name in START and agents == 128
    ]
    bars = {name: BARS[name][place] for name in found if name in BARS}
    return sizes + [
        Row(name, agents, found[name], _eased(name, bar, times)) for name, bar in bars.items() if bar
    ]


def machine() -> str:
    """What the figures were measured on."""
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    load = os.getloadavg()[0]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


if __name__ == "__main__":
    sys.exit(main())
