"""What a graphics card costs and gives a learner: floors, agreement with the CPU, whole runs, the update as one compiled program.

    python -m bench.device --out device.jsonl       # needs requirements of interplay[train], a jax with CUDA, a card; 15 minutes at most
    python -m bench.device --host                   # at a 64th of the size on a second host device, without bars of speed
    python -m bench.device --part runs --part bits  # some parts alone
    XLA_FLAGS=--xla_gpu_enable_triton_gemm=false python -m bench.device   # programs compile in seconds instead of minutes
    python -m bench.device --yardstick FILE         # a script of the whole iteration as one program, run with the shapes of `update`

Every part is a process of its own with a limit; each finished figure is one JSON line in FILE at once. A part that fails or does
not end in time is named, and the others go on. It ends with a table, and with 1 if a check failed.
Whole runs and what is asked of them are in `bench.device_runs`.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.device_runs import SURVIVAL, bits, cpu_run, guard, runs, two_runs

GRAPHS = "--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer="
# part -> seconds at most, its own XLA flags, whether it looks at the CPU alone
PARTS = {
    "facts": (60, "", False),
    "floors": (60, "", False),
    "agreement": (110, "", False),
    "guard": (60, "", False),
    "bits": (120, "", False),
    "runs": (400, "", False),
    "two-runs": (60, "", False),
    "cpu-run": (150, "", True),
    "update": (150, "", False),
    "graphs-off": (50, GRAPHS, False),
    "graphs-while": (50, GRAPHS + "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE", False),
    "acting": (70, "", False),
    "yardstick": (45, "", False),
    "cpu": (80, "--xla_cpu_multi_thread_eigen=true", True),
}
SECOND = "--xla_force_host_platform_device_count=2"  # flags on the host
QUICK = "--xla_backend_optimization_level=0"  # programs that are called a few times compile sooner
HOST_LIMIT = 600  # seconds of a part on the host, where nothing is a matter of speed
PROCESSES = ("bits", "runs", "two-runs", "cpu-run")  # parts whose work is done by processes of their own
CUDA_ONLY = ("graphs-off", "graphs-while")  # parts about flags of a card's programs
BARS = {
    "float32": 1e-5,
    "tf32": 2e-3,
    "bfloat16": 2e-2,
}  # of the first gradient's norm
PRODUCTS = {"float32": "highest", "tf32": "TF32_TF32_F32", "bfloat16": "BF16_BF16_F32"}


class Bench:
    """One part's process: the devices, the sizes, where figures go."""

    def __init__(self, part: str, out: Path, host: bool) -> None:
        self.part, self.out, self.host, self.failed = part, out, host, False
        self.small = 64 if host else 1
        self.device = "host:1" if host else "gpu"  # as `train.device` names it
        self.limit = float(os.environ.get("LIMIT", HOST_LIMIT))

    @cached_property
    def jax(self) -> Any:
        """jax, begun with our flags; parts whose work other processes do never begin it."""
        import interplay.train.trainer  # noqa: F401 (sets flags before the backend starts)

        os.environ.pop("NPROC", None)  # with one thread XLA takes minutes to choose kernels for a card
        import jax

        return jax

    @cached_property
    def cpu(self) -> Any:
        return self.jax.devices("cpu")[0]

    @cached_property
    def card(self) -> Any:
        if self.host:
            return self.jax.devices("cpu")[1]
        return self.cpu if self.part == "cpu" else self.jax.devices("cuda")[0]

    def lines(self) -> list[dict[str, Any]]:
        """What was found so far, by this call and earlier ones."""
        return [json.loads(line) for line in self.out.read_text().splitlines()] if self.out.exists() else []

    def emit(self, **figures: Any) -> None:
        line = json.dumps({"part": self.part} | figures)
        print(line, flush=True)
        with self.out.open("a") as file:
            file.write(line + "\n")

    def check(self, good: bool) -> str:
        self.failed |= not good
        return "pass" if good else "FAIL"

    def seconds(self, call: Callable[[], Any], budget: float = 2.0) -> float:
        """Median of calls that wait for their end, after two that warm up."""
        call(), call()
        taken: list[float] = []
        while len(taken) < 5 or (sum(taken) < budget / (8 if self.host else 1) and len(taken) < 500):
            begun = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begun)
        return sorted(taken)[len(taken) // 2]


# -- cases ---------------------------------------------------------------------------------------------


def make_learner(kind: str, world: str = SURVIVAL, memory: str = "none") -> tuple[Any, Any]:
    """A learner whose arrays are on the CPU, and the network of its first kind."""
    from interplay.core.settings import build
    from interplay.registry import make_world
    from interplay.train.making import make_learner as make
    from interplay.train.settings import TrainSettings

    network = {"kind": kind} | ({"hidden": [64, 64]} if kind == "mlp" else {})
    network |= {"memory": memory, "memory_size": 64} if memory != "none" else {}
    ppo = {"rollout": 64, "minibatch": 512, "epochs": 4, "target_kl": None}
    values = {"world": {"id": world}, "num_worlds": 64, "network": network, "ppo": ppo}
    settings = build(TrainSettings, values, "bench")
    learner = make(settings, functools.partial(make_world, settings.world.id), True, say=str)
    return learner, next(iter(learner.networks.values()))


def observations(net: Any, rows: int) -> tuple[Any, Any]:
    """Random rows as a world would give them, and what was remembered before them."""
    import numpy as np

    rng, out = np.random.default_rng(0), net.layout.allocate(rows)
    for array in out.values():
        array[...] = (
            rng.standard_normal(array.shape) if array.dtype.kind == "f" else rng.integers(0, 2, array.shape)
        )
    return out, rng.standard_normal((rows, net.memory), np.float32) if net.memory else None


def act(net: Any, vectors: Any, rows: Any, memory: Any, shards: int = 1, greedy: bool = False) -> Any:
    """Answers to rows of so many shards, (N, columns + 2 + size)."""
    import jax
    import jax.numpy as jnp

    cut = jax.tree.map(lambda leaf: leaf.reshape(shards, -1, *leaf.shape[1:]), (rows, memory))
    keys = jnp.arange(2 * shards, dtype=jnp.uint32).reshape(shards, 1, 2)
    block = next(iter(cut[0].values())).shape[1]
    answers = net._act(
        net._precompute(vectors[:1]),
        cut[0],
        None,
        None,
        keys,
        cut[1],
        block=block,
        greedy=greedy,
    )
    return answers.reshape(-1, answers.shape[-1])


def make_batch(net: Any, vectors: Any, rows: int, device: Any) -> Any:
    """What an update of so many rows learns from, on the host; beyond 16,384 they repeat."""
    import jax
    import numpy as np

    from interplay.train.batches import Batch

    few = min(rows, 16384)
    seen, memory = observations(net, few)
    seen, kept, vectors = jax.device_put((seen, memory, vectors), device)
    said = np.asarray(jax.jit(functools.partial(act, net))(vectors, seen, kept))
    columns, rng = net.distribution.columns, np.random.default_rng(1)
    prepared = jax.tree.map(np.asarray, net.prepare(seen))
    advantage = rng.standard_normal(few).astype(np.float32)
    fresh = None if memory is None else rng.random(few) < 0.01
    value = said[:, columns + 1]
    batch = Batch(
        prepared,
        said[:, :columns],
        said[:, columns],
        advantage,
        value + advantage,
        np.ones(few, np.float32),
        None,
    )
    batch = batch._replace(memory=memory, fresh=fresh)
    return jax.tree.map(lambda leaf: np.resize(leaf, (rows, *leaf.shape[1:])), batch)


def gradient(net: Any, vectors: Any, rates: Any, batch: Any, rows: Any) -> Any:
    """Summed gradient and terms of one population over rows in one block, (1, P + 8)."""
    import jax
    import jax.numpy as jnp

    inference, back = jax.vjp(net._precompute, vectors[:1])
    plan = jnp.int32(len(getattr(net._inner, "plans", (None,))) - 1)  # the last one computes all rows
    alone, rates = jax.tree.map(lambda leaf: leaf[0], (inference, rates))
    own, terms = net._block_gradient(alone, batch, rows, jnp.int32(0), plan, rates)
    return jnp.concatenate([back(jax.tree.map(lambda leaf: leaf[None], own))[0], terms[None]], axis=1)


def update(
    learner: Any,
    net: Any,
    minibatch: int,
    epochs: int,
    unroll: int,
    state: Any,
    rates: Any,
    batch: Any,
    key: Any,
) -> Any:
    """All epochs and minibatches as one program: orders drawn and rows gathered on the device, ends that are known, steps masked."""
    import jax
    import jax.numpy as jnp

    from interplay.train.learner import CONTINUE

    length = net.sequence
    units = batch.acts.shape[0] // length

    def step(carry: Any, chosen: Any) -> Any:
        vectors, moments, going = carry
        rows = (chosen[:, None] * length + jnp.arange(length)).reshape(-1)
        total = gradient(net, vectors[net.kind.name], rates, batch, rows).ravel()
        going = jnp.where(going == CONTINUE, learner._verdict(total), going)
        moved = learner._moved(vectors, moments, rates, total)
        vectors, moments = jax.tree.map(
            lambda new, old: jnp.where(going == CONTINUE, new, old), moved, (vectors, moments)
        )
        return (vectors, moments, going), (learner._sum_terms(total), learner._norms(total))

    def epoch(carry: Any, key: Any) -> Any:
        order = jnp.argsort(jax.random.bits(key, (units,), jnp.uint32))
        size = minibatch // length
        return jax.lax.scan(step, carry, order[: units // size * size].reshape(-1, size), unroll=unroll)

    return jax.lax.scan(epoch, state, jax.random.split(key, epochs))


def time_updates(bench: Bench, cases: list[dict[str, Any]]) -> None:
    """Compiles all cases side by side, then times one after another."""
    import jax
    import jax.numpy as jnp

    def ready(case: dict[str, Any]) -> Any:
        learner, net = made[case["network"]]
        batch, vectors = batches[case["network"]]
        rows = case["worlds"] * 2 * 64
        own = jax.tree.map(lambda leaf: leaf[:rows], batch)
        state = (vectors, learner._moments, jnp.int32(0))
        arguments = jax.device_put((state, learner._rates, own, jax.random.key(0)), bench.card)
        run = functools.partial(
            update, learner, net, case["minibatch"], case.get("epochs", 4), case.get("unroll", 1)
        )
        begun = time.perf_counter()
        with jax.default_matmul_precision(PRODUCTS[case.get("precision", "float32")]):
            lowered = jax.jit(run).lower(*arguments)
        return lowered.compile(), arguments, time.perf_counter() - begun, rows

    made, batches = {}, {}
    for kind in dict.fromkeys(case["network"] for case in cases):
        with jax.default_device(bench.cpu):
            learner, net = make_learner(
                "mlp" if kind == "gru" else kind, memory="gru" if kind == "gru" else "none"
            )
        made[kind] = learner, net
        most = max(case["worlds"] for case in cases if case["network"] == kind) * 2 * 64
        vectors = learner.vectors
        batches[kind] = make_batch(net, vectors[net.kind.name], most, bench.card), vectors
    waiting: list[Any] = []
    for at, case in enumerate(cases):
        if at % 4 == 0:  # nothing is compiled while something is timed
            with ThreadPoolExecutor(4) as pool:
                waiting += [pool.submit(ready, each) for each in cases[at : at + 4]]
        future = waiting[at]
        try:
            program, arguments, compiling, rows = future.result()
            weights, held = made[case["network"]][1].size, [arguments[0]]

            def call(program: Any = program, arguments: Any = arguments, held: Any = held) -> None:
                held[0] = jax.block_until_ready(program(held[0], *arguments[1:]))[0]

            taken, epochs = bench.seconds(call), case.get("epochs", 4)
            steps = epochs * (rows // case["minibatch"])
            bench.emit(
                **case,
                weights=weights,
                ms=taken * 1e3,
                us_a_gradient_step=taken / steps * 1e6,
                ns_an_agent_step=taken / rows * 1e9,
                agent_steps_s=rows / taken,
                compile_s=compiling,
            )
        except Exception as error:
            bench.emit(**case, error=f"{type(error).__name__}: {error}"[:300])


# -- parts ---------------------------------------------------------------------------------------------


def facts(bench: Bench) -> None:
    import jax
    import numpy as np

    query = "--query-gpu=name,driver_version,memory.free,clocks.sm"
    told = (
        "none"
        if bench.host
        else subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader"], text=True)
    )
    bench.emit(
        card=str(bench.card), nvidia_smi=told.strip(), cores=os.cpu_count(), python=sys.version.split()[0]
    )
    bench.emit(
        jax=jax.__version__, numpy=np.__version__, flags=os.environ["XLA_FLAGS"], kind=bench.card.device_kind
    )


def scans(bench: Bench) -> None:
    """What a step of a loop costs, with kernels that are not fused."""
    import jax
    import jax.numpy as jnp

    for kernels in (1, 30):

        def body(carry: Any, _: None, kernels: int = kernels) -> Any:
            for _i in range(kernels):
                carry = jax.lax.optimization_barrier(carry * 1.0001 + 1e-6)
            return carry, None

        run = jax.jit(lambda x, body=body: jax.lax.scan(body, x, None, length=500)[0])
        x = jax.device_put(jnp.ones(4096), bench.card)
        taken = bench.seconds(lambda run=run, x=x: run(x).block_until_ready(), 0.5)
        bench.emit(floor=f"scan step, {kernels} small kernels", us=taken / 500 * 1e6)


def floors(bench: Bench) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np

    card = bench.card
    empty, x = jax.jit(lambda x: x + 1), jax.device_put(jnp.float32(0), card)
    bench.emit(
        floor="empty call, waited for", us=bench.seconds(lambda: empty(x).block_until_ready(), 0.5) * 1e6
    )

    def many() -> None:
        y = x
        for _ in range(200):
            y = empty(y)
        y.block_until_ready()

    bench.emit(floor="empty call, 200 in a row", us=bench.seconds(many, 0.5) / 200 * 1e6)
    scans(bench)
    for label, size in (("36 kB", 36_000), ("2.3 MB", 2_300_000), ("73 MB", 73_000_000 // bench.small)):
        given = np.random.default_rng(0).random(size // 4, np.float32)
        taken = bench.seconds(lambda given=given: jax.device_put(given, card).block_until_ready(), 0.5)
        bench.emit(floor=f"{label} up", us=taken * 1e6, gb_s=given.nbytes / taken / 1e9)
    try:
        place = jax.sharding.SingleDeviceSharding(card)
        pinned = jax.block_until_ready(jax.device_put(given, place.with_memory_kind("pinned_host")))
        taken = bench.seconds(lambda: jax.device_put(pinned, place).block_until_ready(), 0.5)
        bench.emit(floor="73 MB up, pinned", us=taken * 1e6, gb_s=given.nbytes / taken / 1e9)
    except Exception as error:
        bench.emit(floor="73 MB up, pinned", error=str(error)[:200])
    made = jax.device_put(jnp.ones(65_000), card)
    taken = bench.seconds(lambda: np.asarray(empty(made)), 0.5)
    bench.emit(floor="0.26 MB down, with an empty call", us=taken * 1e6)
    side = 8192 // (16 if bench.host else 1)
    a, b = (jax.random.normal(jax.random.key(i), (side, side)) for i in range(2))
    a, b = jax.device_put((a, b), card)
    for name, precision in PRODUCTS.items():
        run = jax.jit(functools.partial(jnp.matmul, precision=precision))
        try:
            taken = bench.seconds(lambda run=run: run(a, b).block_until_ready(), 0.5)
            bench.emit(product=name, side=side, tflop_s=2 * side**3 / taken / 1e12)
        except Exception as error:
            bench.emit(product=name, error=str(error)[:200])


def agreement(bench: Bench) -> None:
    """Acting and one gradient on the card and on the CPU."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def case(label: str, kind: str, world: str, memory: str) -> Iterator[dict[str, Any]]:
        with jax.default_device(bench.cpu):
            learner, net = make_learner(kind, world, memory)
        name, rows = net.kind.name, 4096 // bench.small
        rows = rows // net.sequence * net.sequence
        vectors, seen = learner.vectors[name], observations(net, rows)
        batch = make_batch(net, vectors, rows, bench.cpu)
        index = jnp.arange(rows)

        def on(device: Any, precision: str) -> tuple[Any, Any]:
            given = jax.device_put((vectors, learner._rates, batch, index, *seen), device)
            with jax.default_matmul_precision(precision):
                said = jax.jit(functools.partial(act, net, greedy=True))(given[0], *given[4:])
                moved = jax.jit(functools.partial(gradient, net))(*given[:4])
            return np.asarray(said), np.asarray(moved)[0, : net.size]

        said, wanted = on(bench.cpu, "highest")
        for precision, products in PRODUCTS.items():
            if bench.host and precision != "float32":
                continue
            try:
                ours, moved = on(bench.card, products)
            except Exception as error:
                bench.check(False)
                yield {
                    "network": label,
                    "precision": precision,
                    "error": f"{type(error).__name__}: {error}"[:300],
                }
                continue
            off = float(np.linalg.norm(moved - wanted) / np.linalg.norm(wanted))
            columns = net.distribution.columns
            same = (ours[:, :columns] == said[:, :columns]).all(axis=1)
            yield {
                "network": label,
                "weights": net.size,
                "precision": precision,
                "gradient_off": off,
                "bar": BARS[precision],
                "check": bench.check(np.isfinite(off) and off <= BARS[precision]),
                "other_actions": float(1 - same.mean()),
                "log_prob_off": float(np.abs(ours - said)[same, columns].max()),
                "value_off": float(np.abs(ours - said)[:, columns + 1].max()),
            }

    def whole(given: tuple[str, str, str, str]) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        try:
            lines.extend(case(*given))  # what came before an error stays
        except Exception as error:
            bench.check(False)
            lines.append({"network": given[0], "error": f"{type(error).__name__}: {error}"[:300]})
        return lines

    cases = [("MLP", "mlp", SURVIVAL, "none"), ("GRU", "mlp", SURVIVAL, "gru")]
    cases += [("attention", "attention", SURVIVAL, "none"), ("tiles", "tiles", "mmo/forage", "none")]
    if bench.host:
        cases = [case for case in cases if case[0] != "attention"]  # a minute to compile; `runs` has it
    with ThreadPoolExecutor(4) as pool:
        for lines in pool.map(whole, cases):
            for line in lines:
                bench.emit(**line)


def updates(bench: Bench) -> None:
    small = bench.small
    middle = {"network": "mlp", "worlds": 4096 // small, "minibatch": 16384 // small}
    wide = {"network": "attention", "worlds": 2048 // small, "minibatch": 16384 // small}
    cases = [middle, wide, middle | {"network": "gru"}, middle | {"epochs": 1}]
    if not bench.host:
        cases += [one | {"precision": each} for one in (middle, wide) for each in ("tf32", "bfloat16")]
    cases += [
        middle | {"worlds": worlds // small, "minibatch": size // small}
        for worlds in (2048, 4096, 8192)
        for size in (16384, 32768)
    ]
    cases += [middle | {"minibatch": size // small} for size in (4096, 65536)]
    cases += [wide | {"minibatch": 32768 // small}]
    time_updates(bench, [middle] if bench.host else cases)  # each takes seconds to compile


def graphs(bench: Bench) -> None:
    scans(bench)
    small = bench.small
    middle = {"network": "mlp", "worlds": 4096 // small, "minibatch": 16384 // small}
    time_updates(bench, [middle, middle | {"unroll": 4}])


def on_cpu(bench: Bench) -> None:
    small = bench.small
    middle = {"network": "mlp", "worlds": 2048 // small, "minibatch": 16384 // small, "epochs": 1}
    time_updates(bench, [middle] if bench.host else [middle, middle | {"network": "attention"}])


def acting(bench: Bench) -> None:
    """A step of all worlds: rows up, networks, answers down, worlds on one core; and with the worlds in two halves."""

    for kind in ("mlp",) if bench.host else ("mlp", "attention"):
        act_and_step(bench, kind)


def act_and_step(bench: Bench, kind: str) -> None:
    import jax
    import numpy as np

    from interplay.registry import make_world

    with jax.default_device(bench.cpu):
        learner, net = make_learner(kind)
    vectors = jax.device_put(learner.vectors[net.kind.name], bench.card)
    with jax.default_matmul_precision("highest"):
        runs = {n: jax.jit(functools.partial(act, net, shards=n)) for n in (1, 2)}
        for worlds in (2048, 4096, 8192):
            rows, _ = observations(net, worlds * 2 // bench.small)
            there = jax.device_put(rows, bench.card)
            for n, run in runs.items():
                alone = bench.seconds(lambda run=run, r=there: run(vectors, r, None).block_until_ready(), 0.3)
                whole = bench.seconds(lambda run=run, r=rows: np.asarray(run(vectors, r, None)), 0.3)
                bench.emit(
                    network=kind, worlds=worlds, shards=n, act_ms=alone * 1e3, with_copies_ms=whole * 1e3
                )
    count, columns = 2048 // bench.small, net.distribution.columns
    halves = [make_world(SURVIVAL, num_worlds=count, seed=seed) for seed in (0, 1)]
    rows, _ = observations(net, count * 2)
    for world in halves:
        world.reset()

    def ask(net: Any = net, vectors: Any = vectors, run: Any = runs[1], rows: Any = rows) -> Any:
        out = run(vectors, rows, None)
        out.copy_to_host_async()
        return out

    def step(world: Any, out: Any, net: Any = net, columns: int = columns, count: int = count) -> None:
        flat = np.asarray(out)[:, :columns].reshape(count, 2, columns)
        over = world.step(net.distribution.to_world(flat)).over
        if over.any():
            world.reset(over.copy())

    def in_turn() -> None:
        for world in halves:
            step(world, ask())

    flying = [ask()]

    def in_halves() -> None:
        for world in halves:
            flying.append(ask())
            step(world, flying.pop(0))

    answer = ask()
    alone = bench.seconds(lambda: [step(world, answer) for world in halves], 1.0)
    one = bench.seconds(in_turn, 1.0)
    two = bench.seconds(in_halves, 1.0)
    bench.emit(
        network=kind,
        worlds=2 * count,
        step_ns=alone / count / 4 * 1e9,
        worlds_alone_ms=alone * 1e3,
        in_turn_ms=one * 1e3,
        halves_ms=two * 1e3,
    )


RUN = {
    "facts": facts,
    "floors": floors,
    "agreement": agreement,
    "guard": guard,
    "bits": bits,
    "runs": runs,
    "two-runs": two_runs,
    "cpu-run": cpu_run,
    "update": updates,
    "graphs-off": graphs,
    "graphs-while": graphs,
    "acting": acting,
    "cpu": on_cpu,
}


def run_part(part: str, given: argparse.Namespace, limit: float) -> int:
    """Runs a part in a process of its own, and ends all that it has started; its exit code, -1 where it did not end in time."""
    _, flags, alone = PARTS[part]
    small = 64 if given.host else 1
    if part == "yardstick":
        sizes = {"--worlds": 4096 // small, "--rollout": 64, "--minibatch": 16384 // small, "--seconds": 5}
        words = [given.yardstick, *(word for key, value in sizes.items() for word in (key, str(value)))]
    else:
        words = ["-m", "bench.device", "--child", "--part", part, "--out", str(given.out)]
        words += ["--host"] if given.host else []
    if given.host:
        flags = SECOND if part in PROCESSES else f"{SECOND} {QUICK}"
    places = "cpu" if given.host or alone else "cuda,cpu"
    environment = os.environ | {"JAX_PLATFORMS": places, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    environment |= {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(), "LIMIT": str(limit)}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "0"} if part == "guard" else {}  # it counts what XLA logs
    process = subprocess.Popen([sys.executable, *words], env=environment, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def show(lines: list[dict[str, Any]]) -> None:
    """A table of what was checked, and of the rates of whole runs."""
    hidden = ("part", "check", "time_share", "compile_s")
    for line in lines:
        if "check" in line:
            figures = (f"{key} {_short(value)}" for key, value in line.items() if key not in hidden)
            print(f"{line['check']:5} {line['part']:10} {', '.join(figures)}")


def _short(value: Any) -> str:
    return (
        f"{value:,.4g}"
        if isinstance(value, float) and abs(value) < 1e4
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--out", type=Path, default=Path("device.jsonl"))
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument(
        "--yardstick", help="a script that takes --worlds, --rollout, --minibatch and --seconds"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        bench = Bench(given.part[0], given.out, given.host)
        faulthandler.dump_traceback_later(bench.limit - 4)  # where it stood
        if bench.part not in PROCESSES:
            assert bench.jax  # its flags come first
        RUN[bench.part](bench)
        return int(bench.failed)
    end, bad = time.monotonic() + given.seconds * (4 if given.host else 1), []
    before = len(Bench("", given.out, given.host).lines())
    for part in given.part or PARTS:
        limit = min(HOST_LIMIT if given.host else PARTS[part][0], end - time.monotonic())
        if (part == "yardstick" and not given.yardstick) or (given.host and part in CUDA_ONLY):
            print(f"{part}: left out", flush=True)
            continue
        if limit < 5:
            bad.append(part)
            print(f"{part}: left out, no time", flush=True)
            continue
        begun = time.monotonic()
        code = run_part(part, given, limit)
        bad += [part] if code else []
        said = {0: "done", -1: "did not end in time"}.get(code, f"FAILED ({code})")
        print(f"{part}: {said}, {time.monotonic() - begun:.0f} s", flush=True)
    show(Bench("", given.out, given.host).lines()[before:])
    print("failed: " + ", ".join(bad) if bad else "all parts ended", flush=True)
    return int(bool(bad))


if __name__ == "__main__":
    raise SystemExit(main())
