"""A Ray cluster of two machines, both of which are this one: runs, matches and sweeps are those of one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from interplay.connect.cluster import Cluster
from interplay.core.errors import UserError
from interplay.core.settings import to_toml
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.trainer import train
from tests.train.machine_runs import settings_of
from tests.train.runs import arrays_of, log_of

OWN_WORLD = """
from interplay.sim.managers import AllStepManager
from interplay.worlds.corridor.simulation import MultiCorridor

def make() -> AllStepManager:
    return AllStepManager(MultiCorridor(end=6, num_agents=3), time_limit=60)
"""
PORT = 26379
ADDRESS = f"127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a command that finds the cluster and its token."""
    folder = tmp_path_factory.mktemp("ray")
    token = folder / "token"
    token.write_text("0123456789abcdef" * 4)
    token.chmod(0o600)
    tree = str(Path(__file__).parents[2])
    own = {"RAY_AUTH_TOKEN_PATH": str(token), "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": tree}
    env = os.environ | own
    ray = [str(Path(sys.executable).with_name("ray"))]
    start = [*ray, "start", "--num-cpus=2", "--disable-usage-stats"]
    head = [*start, "--head", f"--port={PORT}", "--node-ip-address=127.0.0.1", "--include-dashboard=false"]
    for command in (head, [*start, f"--address={ADDRESS}"]):
        subprocess.run(command, env=env | {"RAY_AUTH_MODE": "token"}, check=True, capture_output=True)
    yield env
    subprocess.run([*ray, "stop", "--force"], env=env, check=True, capture_output=True)


def typed(env: dict[str, str], *words: object, cwd: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "interplay", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stderr=pipe, stdout=pipe, text=True, cwd=cwd)


def finished(process: subprocess.Popen[str], errors: bool = False) -> str:
    """Standard output, or standard error, of a command that ends well."""
    said = process.communicate(timeout=300)
    assert process.returncode == 0, said[1]
    return said[errors]


def held() -> list[psutil.Process]:
    """The processes that the cluster's actors hold, the oldest first."""
    words = {one: one.info["cmdline"] or [""] for one in psutil.process_iter(["cmdline"])}
    found = [
        one
        for one, typed in words.items()
        if "spawn_main" in " ".join(typed) and words.get(one.parent(), [""])[0].startswith("ray::")
    ]
    return sorted(found, key=lambda one: one.create_time())


def test_messages_keep_their_order(cluster: dict[str, str]) -> None:
    """Results are matched to tasks by it. In a process of its own, which Ray leaves when it ends."""
    finished(
        subprocess.Popen(
            [sys.executable, "-m", "tests.connect.echo", ADDRESS],
            env=cluster,
            stderr=subprocess.PIPE,
            text=True,
        )
    )


@pytest.mark.parametrize("case", ["ppo", "league"])
def test_a_killed_machine_changes_no_bit(tmp_path: Path, cluster: dict[str, str], case: str) -> None:
    settings, run, file = settings_of(case, 60), tmp_path / "run", tmp_path / "run.toml"
    train(settings, tmp_path / "alone")
    file.write_text(to_toml(settings))
    process = typed(cluster, "train", file, "--out", run, "--ray", ADDRESS, "--nodes", 2, "--workers", 1)
    while not latest_checkpoint(run):
        assert process.poll() is None
        time.sleep(0.02)
    held()[-1].kill()
    assert "was lost; going on from the last checkpoint" in finished(process, errors=True)
    assert arrays_of(run) == arrays_of(tmp_path / "alone")


def test_sigterm_saves_a_run(tmp_path: Path, cluster: dict[str, str]) -> None:
    """As a scheduler ends a command; Ray has a handler of its own."""
    run, file = tmp_path / "run", tmp_path / "run.toml"
    file.write_text(to_toml(settings_of("ppo", 10**6)))
    process = typed(cluster, "train", file, "--out", run, "--ray", ADDRESS, "--nodes", 1, "--workers", 1)
    while not latest_checkpoint(run):
        assert process.poll() is None
        time.sleep(0.02)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert int(latest_checkpoint(run).name) == log_of(run)[-1]["agent_steps"]


@pytest.mark.parametrize("address", ["local", "10.0.0.1", "ray://10.0.0.1:6379"])
def test_addresses_for_which_ray_would_start_a_server_are_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="give auto, or HOST:PORT"):
        Cluster(address)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(UserError, match="give auto, or HOST:PORT"):
        Cluster("auto")


def test_a_tournament_has_the_results_of_one_process(tmp_path: Path, cluster: dict[str, str]) -> None:
    words = ("tournament", "random", "tit_for_tat", "defect", "--world", "dilemma/fixed", "--matches", 6)
    for out, more in (("here", ()), ("there", ("--ray", ADDRESS, "--workers", 2))):
        finished(typed(cluster, *words, "--out", tmp_path / out, *more))
    here, there = (
        sorted((tmp_path / out / "results.jsonl").read_text().splitlines()) for out in ("here", "there")
    )
    assert here == there
    assert len(here) == 18


def test_killed_processes_cost_no_match(cluster: dict[str, str]) -> None:
    """Processes and Ray's actors by turns; the program compares the table with the expected one."""
    words = ("--matches", "300", "--kills", "10", "--ray", ADDRESS)
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.ledger", *words], env=cluster, stderr=pipe, stdout=pipe, text=True
    )
    said = finished(process)  # with another exit code if a match is missing or there twice
    assert int(said.splitlines()[-1].split()[0]) >= 2, said  # Ray prints lines before it


def test_a_sweep_has_the_runs_of_one_machine(tmp_path: Path, cluster: dict[str, str]) -> None:
    """Of a world in the command's folder."""
    (tmp_path / "own_corridor.py").write_text(OWN_WORLD)
    words = (
        "sweep",
        "own_corridor:make",
        "num_worlds=4",
        "network.kind=mlp",
        "--steps",
        512,
        "-p",
        "seed=0..1",
    )
    for out, more in (("here", ()), ("there", ("--ray", ADDRESS))):
        finished(typed(cluster, *words, "--workers", 2, "--out", out, *more, cwd=tmp_path))
    runs = sorted(path.parent.name for path in (tmp_path / "here").glob("*/checkpoints"))
    assert len(runs) == 2
    assert all(arrays_of(tmp_path / "here" / run) == arrays_of(tmp_path / "there" / run) for run in runs)


def test_the_machines_are_reported(tmp_path: Path, cluster: dict[str, str]) -> None:
    found = json.loads(finished(typed(cluster, "cluster", ADDRESS, "--out", tmp_path / "runs", "--json")))
    assert found["is_sound"]
    assert [(one["cores"], one["sees_folder"]) for one in found["machines"]] == [(2, True), (2, True)]
    assert set(found["exchange"]) == {"20000", "177000"}
    assert all(milliseconds > 0 for milliseconds in found["exchange"].values())
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_machine_without_the_token_is_not_admitted(tmp_path: Path, cluster: dict[str, str]) -> None:
    """A cluster is there, so the error must not deny it."""
    without = {name: value for name, value in cluster.items() if not name.startswith("RAY_AUTH")}
    process = typed(without | {"HOME": str(tmp_path)}, "cluster", ADDRESS, "--out", tmp_path)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode
    assert "does not admit this machine" in errors.strip().splitlines()[-1]  # after warnings of Ray's own


def test_a_cluster_that_is_not_there_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "auth_token"  # Ray writes the user's own with any rights
    token.write_text("secret")
    token.chmod(0o600)
    own = dict(os.environ) | {"RAY_AUTH_TOKEN_PATH": str(token)}
    process = typed(own, "train", "pong/2p", "--out", tmp_path / "run", "--ray", "127.0.0.1:26390")
    errors = process.communicate(timeout=120)[1]
    assert process.returncode
    assert len(errors.strip().splitlines()) == 1
    assert "--ray 127.0.0.1:26390" in errors


def test_a_token_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = tmp_path / "auth_token"
    token.write_text("secret")
    token.chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    with pytest.raises(UserError, match="chmod 600"):
        Cluster("auto")
