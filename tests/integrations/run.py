"""Runs the lines of docs/integrations/ for clients that are too heavy for every test run, and prints a table.

``python -m tests.integrations.run [CLIENT ...]`` in an environment with `requirements.txt` of this folder and the package itself. Each
client runs in a process of its own. EPyMARL is a checkout: name it by the variable ``EPYMARL``. PyMARL and on-policy are not among them: they
need Pythons and packages of their time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "integrations.md", *sorted((ROOT / "docs" / "integrations").glob("*.md"))]
BLOCK = re.compile(r"^```(py|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT = 900  # seconds for each client


class Client(NamedTuple):
    """One client.

    Attributes:
        name: in the table.
        package: for its version; empty: EPyMARL's checkout.
        heading: of its section.
        block: which Python block of the section, from 0.
        what: what runs.
        checks: lines put after the block, which must hold.
        module: the file that the block becomes; a checkout's main program imports it.
        arguments: of a checkout's main program.
    """

    name: str
    package: str
    heading: str
    block: int
    what: str
    checks: str = ""
    module: str = "lines.py"
    arguments: tuple[str, ...] = ()


SAME_REWARDS = """
import numpy as np
plain = interplay.make("simulation/multi-corridor", flat=True, keep_dead=True)
four = supersuit.concat_vec_envs_v1(
    supersuit.pettingzoo_env_to_vec_env_v1(interplay.make("simulation/multi-corridor", flat=True, keep_dead=True)),
    2, num_cpus=0, base_class="stable_baselines3",
)
plain.reset(), four.reset()
earned, rng = [], np.random.default_rng(0)
for _ in range(60):
    action = rng.integers(0, 3, 5)
    if not plain.agents:
        break
    _, rewards, *_ = plain.step(dict(zip(plain.possible_agents, action)))
    _, copied, _, _ = four.step(np.tile(action, 2))
    assert np.array_equal(copied, np.tile(list(rewards.values()), 2)), (copied, rewards)
    earned += list(rewards.values())
assert np.any(np.array(earned) != 0)
"""
TRAINED = """
assert model.num_timesteps >= 1280
rewards = [info["r"] for info in model.ep_info_buffer] if model.ep_info_buffer else []
"""
SHORT = ("t_max=500", "test_interval=100000", "batch_size=4", "use_cuda=False", "use_tensorboard=False")
CLIENTS = (
    Client("PettingZoo", "pettingzoo", "PettingZoo", 1, "its parallel API and seed tests"),
    Client(
        "SuperSuit + SB3",
        "SuperSuit",
        "SuperSuit and Stable-Baselines3",
        0,
        "concat_vec_envs, PPO; copies earn what the original earns",
        TRAINED + SAME_REWARDS,
    ),
    Client("CleanRL-style PPO", "torch", "Scripts in CleanRL's style", 0, "three updates"),
    Client(
        "TorchRL",
        "torchrl",
        "TorchRL and BenchMARL",
        0,
        "check_env_specs, rollouts with and without the dead",
    ),
    Client("BenchMARL", "benchmarl", "TorchRL and BenchMARL", 1, "two iterations of MAPPO"),
    Client("Tianshou", "tianshou", "Tianshou", 0, "DQN for each of five agents, with masks"),
    Client(
        "EPyMARL",
        "",
        "EPyMARL's gymma",
        0,
        "IQL through gymma, 500 steps",
        arguments=(
            *("--config=iql", "--env-config=gymma", "with", "env_args.key=lines:corridor-v0"),
            *("env_args.time_limit=50", "common_reward=False", "mixer=None", *SHORT),
        ),
    ),
    Client(
        "EPyMARL's SMAC",
        "",
        "SMAC",
        0,
        "QMIX on 2s3z through its own wrapper of SMAC, 500 steps",
        module="smac/env.py",
        arguments=("--config=qmix", "--env-config=sc2", "with", "env_args.map_name=2s3z", *SHORT),
    ),
)


def pages() -> str:
    """The text of all pages."""
    return "\n".join(page.read_text() for page in PAGES)


def lines_of(client: Client) -> str:
    """The client's lines in the pages.

    Raises:
        LookupError: if they are missing.
    """
    text = pages()
    start = text.index(f"\n## {client.heading}\n")
    end = text.find("\n## ", start + 1)
    blocks = [match[2] for match in BLOCK.finditer(text[start:end])]
    if len(blocks) <= client.block:
        raise LookupError(f"{client.name}: no Python block {client.block} under {client.heading}")
    return blocks[client.block]


def version_of(client: Client) -> str:
    """The installed version, or empty."""
    if not client.package:
        return "checkout" if os.environ.get("EPYMARL") else ""
    try:
        return metadata.version(client.package)
    except metadata.PackageNotFoundError:
        return ""


def run(client: Client) -> tuple[bool, str]:
    """Whether the client's lines ran to their end, and the last line of its output if not."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, client.module)
        head = (
            ""
            if client.heading != "PettingZoo" and "import interplay" in lines_of(client)
            else "import interplay\n"
        )
        script.parent.mkdir(exist_ok=True)
        script.write_text(head + lines_of(client) + client.checks)
        command, where = [sys.executable, "-W", "ignore", str(script)], folder
        if client.arguments:
            where = os.environ["EPYMARL"]
            Path(folder, "smaclite.py").touch()  # which EPyMARL imports whatever is trained
            script.with_name("__init__.py").touch()
            command = [sys.executable, "-W", "ignore", "src/main.py", *client.arguments]
        paths = [str(ROOT), folder, os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        try:
            done = subprocess.run(
                command,
                cwd=where,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, f"took more than {LIMIT} s"
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return done.returncode == 0, "" if done.returncode == 0 else (said[-1] if said else "no word")


def main(chosen: list[str]) -> int:
    """Prints the table; 1 if a client that is installed fails."""
    print("| client | version | what ran | ok |\n|---|---|---|---|", flush=True)
    failed = 0
    for client in CLIENTS:
        if chosen and client.name not in chosen:
            continue
        version = version_of(client)
        if not version:
            print(f"| {client.name} | not installed | | |", flush=True)
            continue
        began = time.monotonic()
        ok, why = run(client)
        failed += not ok
        told = f"yes, {time.monotonic() - began:.0f} s" if ok else f"no: {why}"
        print(f"| {client.name} | {version} | {client.what} | {told} |", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
