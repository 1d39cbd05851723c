"""Whole runs of `bench.device`: each is an `interplay train` in a process of its own, as users start it; and one update under guard.

Figures are read from the runs' metrics.jsonl: medians over updates after the first three.
"""

from __future__ import annotations

import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from interplay.core.helping import processors

SURVIVAL = "survival/1v1-heals-low"
FIRST = 3  # updates that are not measured: they compile
UPDATES, SECONDS = 9, 45  # of a run that is measured, at most
MLP = ("network.kind=mlp", "network.hidden=[64,64]")
NETWORKS = {
    "mlp": MLP,
    "attention": ("network.kind=attention",),
    "gru": (*MLP, "network.memory=gru", "network.memory_size=64"),
}
# Agent-steps a second that whole runs are to reach on an H100 with 16 cores.
BARS = {"mlp, 4 epochs": 1e6, "mlp, 1 epoch": 1.5e6, "attention": 150e3, "mmo/combat": 150e3}
GRU_BAR = 0.5  # of the MLP's rate
CPU_BARS = {"mlp": 2.0, "attention": 8.0}  # times the rate of all cores without the card
OURS = ("JAX_PLATFORMS", "XLA_PYTHON_CLIENT_PREALLOCATE", "LIMIT")  # variables of the benchmark's parts
LITTLE = {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.002"}  # of the card's memory: too little for an update


def survival(bench: Any, network: str, worlds: int, epochs: int = 4, minibatch: int = 16_384) -> list[str]:
    """Words of the command line for a run in 1v1 survival; on the host a 64th of the worlds, and short rollouts."""
    given = {"num_worlds": worlds // bench.small, "ppo.minibatch": minibatch // bench.small}
    given |= {
        "ppo.rollout": 16 if bench.host else 64,
        "ppo.epochs": epochs,
        "ppo.target_kl": "off",
        "train.shards": 2,
    }
    return [SURVIVAL, *NETWORKS[network], *(f"{key}={value}" for key, value in given.items())]


def command(words: list[str], out: Path, device: str, updates: int) -> list[str]:
    usual = ("steps=1000000000", "train.quiet=true", f"train.max_updates={updates}", "train.writers=[]")
    run = [sys.executable, "-m", "interplay", "train", words[0], "--out", str(out), "--device", device]
    return [*run, *words[1:], *usual]


def start(asked: list[str], limit: float, **variables: str) -> tuple[int, str]:
    """Runs a command as a user would; its exit code, -1 for one that did not end, and what it wrote to stderr."""
    environment = {key: value for key, value in os.environ.items() if key not in OURS} | variables
    try:
        done = subprocess.run(
            asked, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"did not end in {limit:.0f} s"
    return done.returncode, done.stderr.strip()


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="interplay-bench-") as path:
        yield Path(path)


def measure(run: Path) -> dict[str, Any]:
    """Agent-steps a second and shares of time."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "time_share" in line]
    pairs = list(pairwise(lines))
    late = pairs[FIRST - 1 :] or pairs[-1:]
    rates = [(b["agent_steps"] - a["agent_steps"]) / (b["time"] - a["time"]) for a, b in late]
    shares = {
        name: round(statistics.median(line["time_share"][name] for _, line in late), 3)
        for name in lines[-1]["time_share"]
    }
    return {
        "agent_steps_s": statistics.median(rates),
        "updates": len(lines),
        "first_update_s": lines[0]["time"],
        "time_share": shares,
    }


def timed(bench: Any, words: list[str], out: Path, device: str = "") -> dict[str, Any]:
    """Trains for some updates and measures them; ``error`` where that failed."""
    asked = command(words, out, device or bench.device, FIRST + 2 if bench.host else UPDATES)
    asked += [] if bench.host else [f"train.max_seconds={SECONDS}"]
    code, output = start(asked, bench.limit)
    try:
        return measure(out) if code == 0 else {"error": f"{code}: {output[-300:]}"}
    except (OSError, LookupError, ValueError, statistics.StatisticsError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


# -- parts ---------------------------------------------------------------------------------------------


def runs(bench: Any) -> None:
    """Whole runs on the device: agent-steps a second, where the time goes."""
    cases: list[tuple[dict[str, Any], list[str]]] = []
    for epochs in (4, 1):
        for worlds in (2048,) if bench.host else (2048, 4096, 8192):
            case = {"network": "mlp", "worlds": worlds, "epochs": epochs}
            cases.append((case, survival(bench, "mlp", worlds, epochs)))
    for network, worlds in (("attention", 2048), ("gru", 4096)):
        case = {"network": network, "worlds": worlds, "epochs": 4}
        cases.append((case, survival(bench, network, worlds)))
    small = ["num_worlds=2", "policy_gradient.rollout=8"] if bench.host else ["population.block=4096"]
    cases.append(({"world": "mmo/combat"}, ["mmo/combat", "--preset", "gpu", *small]))
    found: list[dict[str, Any]] = []
    with folder() as out, ThreadPoolExecutor(2 if bench.host else 1) as pool:
        waiting = [pool.submit(timed, bench, words, out / str(at)) for at, (_, words) in enumerate(cases)]
        for (case, _), future in zip(cases, waiting, strict=True):
            figures = future.result()
            found.append(case | figures)
            bench.emit(**case, **figures, check=bench.check("error" not in figures))
    if not bench.host:
        check_bars(bench, found)


def check_bars(bench: Any, found: list[dict[str, Any]]) -> None:
    """The best of each kind of run against its bar."""

    def best(**wanted: Any) -> float:
        fitting = [one for one in found if all(one.get(key) == value for key, value in wanted.items())]
        return max((one.get("agent_steps_s", 0.0) for one in fitting), default=0.0)

    beside = best(network="mlp", worlds=4096, epochs=4)
    reached = {
        "mlp, 4 epochs": best(network="mlp", epochs=4),
        "mlp, 1 epoch": best(network="mlp", epochs=1),
        "attention": best(network="attention"),
        "mmo/combat": best(world="mmo/combat"),
        "gru": best(network="gru"),
    }
    for name, bar in (BARS | {"gru": GRU_BAR * beside}).items():
        rate = reached[name]
        bench.emit(best=name, agent_steps_s=rate, bar=bar, check=bench.check(rate >= bar > 0))


def digest(run: Path) -> str:
    """The checksums of all arrays of the newest checkpoint."""
    newest = max((run / "checkpoints").glob("[0-9]*"), key=lambda path: int(path.name))
    files = json.loads((newest / "manifest.json").read_text())["files"]
    return json.dumps({name: file["sha256"] for name, file in files.items() if name.endswith(".safetensors")})


def bits(bench: Any) -> None:
    """Twelve updates have the same bits when repeated, resumed in a new process, and with other threads."""
    words = survival(bench, "mlp", 2048, epochs=2)
    threads = {
        "whole": processors(),
        "again": processors(),
        "one thread": 1,
        "stopped and resumed": processors(),
    }

    def train(name: str) -> str:
        run = out / name.replace(" ", "-")
        updates = 6 if name.startswith("stopped") else 12
        code, output = start(
            [*command(words, run, bench.device, updates), "--threads", str(threads[name])], bench.limit
        )
        if code == 0 and updates == 6:
            file = run / "settings.toml"
            file.write_text(re.sub(r"max_updates = 6\b", "max_updates = 12", file.read_text()))
            code, output = start([sys.executable, "-m", "interplay", "resume", str(run)], bench.limit)
        return digest(run) if code == 0 else f"{code}: {output[-300:]}"

    with folder() as out, ThreadPoolExecutor(2 if bench.host else 3) as pool:
        whole = train("whole")  # alone, so that the others find its programs
        good = whole.startswith("{")
        bench.emit(
            run="whole", threads=processors(), **({} if good else {"error": whole}), check=bench.check(good)
        )
        others = [name for name in threads if name != "whole"]
        for name, found in zip(others, pool.map(train, others), strict=True):
            error = {} if found.startswith("{") else {"error": found}
            bench.emit(run=name, threads=threads[name], **error, check=bench.check(good and found == whole))


def guard(bench: Any) -> None:
    """Where a learner's arrays lie after two updates, and transfers of a third that the program does not name."""
    import jax

    from interplay.train.making import make_learner, registry_factory
    from interplay.train.parallel.exchange import SingleProcess
    from interplay.train.update import Worker
    from interplay.verbs.settings import build_settings

    world, *words = survival(bench, "mlp", 2048)
    settings = build_settings(world, [*words, "train.workers=1"], {"train.device": bench.device})
    make = registry_factory(settings)
    learner = make_learner(settings, make, begins=True, say=str)
    worker = Worker(settings, make, learner, SingleProcess())
    worker.update(), worker.update()
    held = {
        name: sorted(
            {
                str(place)
                for leaf in jax.tree.leaves(value)
                if isinstance(leaf, jax.Array)
                for place in leaf.devices()
            }
        )
        for name, value in vars(learner).items()
    }
    elsewhere = {name: places for name, places in held.items() if places and places != [str(bench.card)]}
    count = sum(bool(places) for places in held.values())
    bench.emit(arrays_of=count, elsewhere=elsewhere, check=bench.check(count > 0 and not elsewhere))
    counts = dict.fromkeys(("play", "estimate", "learn"), 0)
    for name in counts:
        setattr(worker, name, functools.partial(counted, getattr(worker, name), name, counts))
    worker.update()
    worker.close()
    for name, unnamed in counts.items():
        bench.emit(step=name, unnamed_transfers=unnamed, check=bench.check(unnamed == 0))


def counted(call: Any, name: str, counts: dict[str, int]) -> Any:
    """Calls; adds the transfers that jax logs in it, which it writes to the process's stderr."""
    import jax

    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            with jax.transfer_guard("log"):
                return call()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            log.seek(0)
            counts[name] += log.read().count(b" transfer: ")


def two_runs(bench: Any) -> None:
    """Two runs at once train; a third on a card, with hardly any memory, ends with one line."""
    words = survival(bench, "mlp", 2048, epochs=2)
    with folder() as out, ThreadPoolExecutor(2) as pool:
        for figures in pool.map(lambda at: timed(bench, words, out / str(at)), range(2)):
            bench.emit(run="beside another", **figures, check=bench.check("error" not in figures))
        if bench.host:
            return
        code, output = start(command(words, out / "third", bench.device, 2), bench.limit, **LITTLE)
        lines = [line for line in output.splitlines() if "not enough memory" in line]
        good = code == 2 and len(lines) == 1 and "Traceback" not in output
        bench.emit(run="with hardly any memory", output=output[-300:], check=bench.check(good))


def cpu_run(bench: Any) -> None:
    """The same runs on all cores of the machine, without the card."""
    workers = 1 << (processors().bit_length() - 1)
    earlier = [line for line in bench.lines() if line["part"] == "runs" and "agent_steps_s" in line]
    with folder() as out:
        for network, bar in list(CPU_BARS.items())[: 1 if bench.host else None]:
            words = [
                *survival(bench, network, 2048),
                f"train.shards={max(2, workers)}",
                "--workers",
                str(workers),
            ]
            figures = timed(bench, words, out / network, "cpu")
            rate = figures.get("agent_steps_s", 0.0)
            card = [
                one["agent_steps_s"]
                for one in earlier
                if one.get("network") == network and one["worlds"] == 2048
            ]
            times = {"card_times": card[0] / rate, "bar": bar} if card and rate and not bench.host else {}
            good = "error" not in figures and (bench.host or not times or times["card_times"] >= bar)
            bench.emit(
                network=network, worlds=2048, workers=workers, **figures, **times, check=bench.check(good)
            )
