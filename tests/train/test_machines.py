"""Several machines: the sums of one, the bits of one, and the end of all with the loss of one; here they are processes of one machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from interplay.core.errors import UserError
from interplay.core.processes import Process
from interplay.core.settings import changed
from interplay.train.parallel.exchange import tree_sum
from interplay.train.parallel.machines import HEARTBEAT_TIMEOUT, Machines, Network
from interplay.train.places import train_on
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.run.folder import RunFolder
from interplay.train.trainer import resume, train
from tests.train.machine_runs import RUNS, TwoHosts, settings_of, start, vectors_of
from tests.train.runs import arrays_of, log_of, short_run
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

TIMES = ("time", "time_share", "agent_steps_per_s")
MARGIN = 10  # seconds from the deadline of a frozen machine to the ends of the others


def lines_of(run: Path) -> str:
    """The log without times, as text, since NaN is unequal to itself."""
    return str([{k: v for k, v in line.items() if k not in TIMES} for line in log_of(run)])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one process, 12 updates that never stopped."""
    return train(settings_of("ppo", 12), tmp_path_factory.mktemp("alone") / "run")


@pytest.fixture(scope="module")
def alone_for_long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `alone`, with time for a loss after the first checkpoint."""
    return train(settings_of("ppo", 60), tmp_path_factory.mktemp("alone") / "run")


def until_saved(run: Path, *machines: subprocess.Popen[str]) -> None:
    """Waits for a checkpoint."""
    while not latest_checkpoint(run):
        assert all(machine.poll() is None for machine in machines)
        time.sleep(0.02)


def test_a_league_whose_matches_need_more_than_a_seat_has_the_bits_of_one_worker(tmp_path: Path) -> None:
    """258 players: 2 x 258 x 258 numbers of an update are summed, and a seat holds 16,384."""
    one, two = (
        train(
            changed(settings_of("league", 1), {"league": {"keep": 256}, "train": {"workers": workers}}, ""),
            tmp_path / f"{workers}",
        )
        for workers in (1, 2)
    )
    assert arrays_of(one) == arrays_of(two)


def test_sums_over_machines_have_the_bits_of_the_tree(tmp_path: Path) -> None:
    machines = start([{}, {}], folder=str(tmp_path))
    said = [machine.communicate(timeout=120)[1] for machine in machines]
    wanted = [tree_sum(vectors) for vectors in zip(*map(vectors_of, range(2)), strict=True)]
    for rank in range(2):
        with np.load(tmp_path / f"sums-{rank}.npz") as found:
            assert [found[name].tobytes() for name in found.files] == [each.tobytes() for each in wanted]
            assert [found[name].dtype for name in found.files] == [each.dtype for each in wanted]
        assert (tmp_path / f"texts-{rank}").read_text() == "|aaa"
    # Their last facts differ, which both refuse.
    assert [machine.returncode for machine in machines] == [2, 2]
    assert all("settings = of machine 1" in line and "of machine 0" in line for line in said)


@pytest.mark.parametrize("case", RUNS)
def test_machines_workers_and_a_killed_machine_change_no_bit(
    tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, alone, run = settings_of(case, 60), tmp_path / "alone", tmp_path / "run"
    train(settings, alone)

    hosts = TwoHosts()
    killer = threading.Thread(target=hosts.kill_one, args=(run,))
    killer.start()
    assert train_on(hosts, run, settings, nodes=2, workers=2, shards=4) == run
    killer.join()

    assert len(hosts.started) == 4
    assert "machine 1 (b) was lost; going on from the last checkpoint" in capsys.readouterr().err
    assert arrays_of(run) == arrays_of(alone)
    assert lines_of(run) == lines_of(alone)


def test_a_run_goes_on_with_another_number_of_machines(tmp_path: Path, alone: Path) -> None:
    train(settings_of("ppo", 6), tmp_path / "run")
    file = tmp_path / "run/settings.toml"
    file.write_text(file.read_text().replace("max_updates = 6", "max_updates = 12"))
    for machine in start([{}, {}], folder=str(tmp_path), case="ppo"):
        assert machine.wait(timeout=300) == 0
    assert arrays_of(tmp_path / "run") == arrays_of(alone)


def test_four_machines_have_the_bits_of_one(tmp_path: Path, alone: Path) -> None:
    machines = start([{}, {}, {}, {}], folder=str(tmp_path), case="ppo")
    assert [machine.wait(timeout=300) for machine in machines] == [0, 0, 0, 0]
    assert arrays_of(tmp_path / "run") == arrays_of(alone)
    assert lines_of(tmp_path / "run") == lines_of(alone)


@pytest.mark.parametrize("machines", [1, 4])
def test_a_run_goes_on_with_another_number_of_machines_after_a_loss(
    tmp_path: Path, alone: Path, machines: int
) -> None:
    run = tmp_path / "run"
    lead, lost = start([{"victim": 1}, {}], folder=str(tmp_path), case="ppo")
    said = lead.communicate(timeout=300)[1]
    lost.communicate(timeout=60)
    assert (lead.returncode, lost.returncode) == (1, -signal.SIGKILL)
    assert "another machine of 2 is gone (" in said
    assert f"; go on with `interplay resume {run}` on all machines" in said
    saved = latest_checkpoint(run)
    assert saved is not None
    assert int(saved.name) < log_of(alone)[-1]["agent_steps"]
    if machines == 1:
        resume(run, workers=4)
    else:
        others = start([{}] * machines, folder=str(tmp_path), case="ppo")
        assert [machine.wait(timeout=300) for machine in others] == [0] * machines
    assert arrays_of(run) == arrays_of(alone)
    assert lines_of(run) == lines_of(alone)


def trained_through_a_loss(
    hosts: TwoHosts,
    run: Path,
    lose: Callable[[], None],
    nodes: int | None,
    updates: int,
    given: Mapping[str, Any] = {},
) -> None:
    """Trains on two machines, of which `lose` loses one."""
    loser = threading.Thread(target=lose, daemon=True)
    loser.start()
    settings = changed(settings_of("ppo", updates), given, "")
    assert train_on(hosts, run, settings, nodes=nodes, workers=2, shards=4) == run
    loser.join()


def test_a_program_of_the_run_needs_no_trust_on_machines_with_other_homes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a loss the other machine leads, which has not written the run."""
    run = tmp_path / "run"

    class Homes(TwoHosts):
        def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Process]:
            monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "abba"[min(len(self.started), 3)]))
            return super().start(work, arguments)

    hosts = Homes()

    def lose() -> None:
        until_saved(run)
        hosts.started[1].kill()

    world = {"world": {"id": "tests.train.toy_worlds:make_corridor"}}
    trained_through_a_loss(hosts, run, lose, 2, 60, world)
    assert len(hosts.started) == 4
    assert "was lost; going on from the last checkpoint" in capsys.readouterr().err
    assert max(line["updates"] for line in log_of(run)) == 60


def test_the_machine_that_is_left_trains_alone(
    tmp_path: Path, alone_for_long: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts, run = TwoHosts(), tmp_path / "run"

    def lose() -> None:
        until_saved(run)
        hosts.there.pop()
        hosts.started[1].kill()

    trained_through_a_loss(hosts, run, lose, None, 60)
    assert len(hosts.started) == 3
    assert "machine 1 (b) was lost; going on from the last checkpoint" in capsys.readouterr().err
    assert arrays_of(run) == arrays_of(alone_for_long)


def test_a_cluster_of_one_machine_has_the_bits_of_one_process(tmp_path: Path, alone: Path) -> None:
    hosts, run = TwoHosts(), tmp_path / "run"
    hosts.there.pop()
    assert train_on(hosts, run, settings_of("ppo", 12), nodes=None, workers=2, shards=4) == run
    assert len(hosts.started) == 1
    assert arrays_of(run) == arrays_of(alone)
    assert lines_of(run) == lines_of(alone)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_machine_that_is_lost_before_the_first_checkpoint_changes_no_bit(
    tmp_path: Path, alone: Path, lost: int, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts, run = TwoHosts(), tmp_path / "run"

    def lose() -> None:
        while not (run / "settings.toml").exists():
            time.sleep(0.02)
        hosts.started[lost].kill()
        assert not latest_checkpoint(run)

    trained_through_a_loss(hosts, run, lose, 2, 12)
    assert len(hosts.started) == 4
    assert f"machine {lost} ({'ab'[lost]}) was lost; going on from the beginning" in capsys.readouterr().err
    assert arrays_of(run) == arrays_of(alone)
    assert lines_of(run) == lines_of(alone)


def test_a_run_that_another_process_trains_is_refused_without_a_new_start(tmp_path: Path) -> None:
    hosts, run, settings = TwoHosts(), tmp_path / "run", settings_of("ppo", 5)
    with RunFolder.create(run, settings), pytest.raises(UserError) as caught:
        train_on(hosts, run, None, nodes=2, workers=1, shards=4)
    assert str(caught.value).startswith(
        f"machine 0 (a): {run} is in use by process {os.getpid()} of {socket.gethostname()};"
    )
    assert len(hosts.started) == 2
    assert [process.exitcode is not None for process in hosts.started] == [True, True]


def test_workers_of_one_machine_open_no_port_and_load_no_ray(tmp_path: Path) -> None:
    settings = changed(settings_of("ppo", 2), {"train": {"workers": 2}}, "test")
    found: list[list[Any]] = []

    def look(_run: Path, _numbers: object) -> None:
        workers = [psutil.Process(worker.pid) for worker in multiprocessing.active_children()]
        assert workers
        own = [one for process in (psutil.Process(), *workers) for one in process.net_connections("inet")]
        found.append([one for one in own if one.status == psutil.CONN_LISTEN])
        if sys.platform == "linux":
            found[-1] += [file.path for one in workers for file in one.memory_maps() if "/ray/" in file.path]

    train(settings, tmp_path / "run", on_update=look)
    assert found == [[], []]


class Telling(Corridor):
    """Writes whether Ray is loaded, a file for each process."""

    def __init__(self, num_worlds: int, seed: int, first_world: int, folder: str) -> None:
        super().__init__(num_worlds, seed, first_world)
        self._file = Path(folder) / str(os.getpid())

    def _step(self, action: np.ndarray) -> Any:
        self._file.write_text(str("ray" in sys.modules))
        return super()._step(action)


def test_the_command_with_workers_loads_no_ray(tmp_path: Path) -> None:
    (tmp_path / "found").mkdir()
    words = [f"world.options.folder={tmp_path / 'found'}", "num_worlds=4", "train.max_updates=2"]
    words += ["network.kind=mlp", "network.hidden=[8]", "ppo.rollout=16", "ppo.minibatch=32"]
    command = [sys.executable, "-m", "interplay", "train", "tests.train.test_machines:Telling", *words]
    with subprocess.Popen([*command, "--workers", "2", "--out", tmp_path / "run"]) as process:
        assert process.wait(timeout=120) == 0
    found = {file.name: file.read_text() for file in (tmp_path / "found").iterdir()}
    assert len(found) == 2
    assert found[str(process.pid)] == "False"
    assert set(found.values()) == {"False"}


class Mapless(Corridor):
    """Does not find its map."""

    def _step(self, action: np.ndarray) -> Any:
        return open("/no/such/map")


def test_an_error_of_a_machine_that_is_alone_ends_the_run_and_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = TwoHosts()
    hosts.there.pop()
    settings = short_run(
        "tests.train.test_machines:Mapless", {"train": {"shards": 2, "max_updates": 2, "quiet": True}}
    )
    with pytest.raises(UserError) as caught:
        train_on(hosts, tmp_path / "run", settings, nodes=None, workers=1, shards=2)
    assert len(hosts.started) == 1
    assert (
        str(caught.value)
        == "machine 0 (a): FileNotFoundError: [Errno 2] No such file or directory: '/no/such/map'"
    )
    assert 'return open("/no/such/map")' in capsys.readouterr().err


def test_a_stop_of_another_machine_saves_the_run(tmp_path: Path) -> None:
    lead, other = start([{}, {}], folder=str(tmp_path), case="ppo", updates=10**6)
    while not latest_checkpoint(tmp_path / "run"):
        time.sleep(0.02)
    other.terminate()
    said = lead.communicate(timeout=120)[1]
    other.communicate(timeout=60)
    assert (lead.returncode, other.returncode) == (0, 0)
    assert "stopped by another machine" in said
    last = latest_checkpoint(tmp_path / "run")
    assert last is not None
    assert int(last.name) == log_of(tmp_path / "run")[-1]["agent_steps"]


def test_a_machine_that_waits_for_the_others_can_be_stopped(tmp_path: Path) -> None:
    (lead,) = start([{}], folder=str(tmp_path), nodes=2, case="ppo")
    while not (tmp_path / "pid-0").exists():
        time.sleep(0.02)
    time.sleep(3.0)
    lead.terminate()
    said = lead.communicate(timeout=10)[1]
    assert (lead.returncode, said.splitlines()[-1]) == (143, "stopped")
    assert not (tmp_path / "run").exists()


def test_the_loss_of_the_lead_ends_the_others(tmp_path: Path) -> None:
    lead, other = start([{"victim": 0}, {}], folder=str(tmp_path), case="ppo")
    lead.communicate(timeout=300)
    began = time.monotonic()
    other.communicate(timeout=60)
    assert time.monotonic() - began < 5
    assert other.returncode


@pytest.mark.parametrize(("frozen", "heartbeat"), [(1, 10), (0, HEARTBEAT_TIMEOUT), (1, HEARTBEAT_TIMEOUT)])
def test_a_frozen_machine_ends_the_others(tmp_path: Path, frozen: int, heartbeat: int) -> None:
    machines = start([{}, {}], folder=str(tmp_path), case="ppo", updates=10**6, heartbeat=heartbeat)
    stopped, other = machines[frozen], machines[1 - frozen]
    until_saved(tmp_path / "run", *machines)
    try:
        stopped.send_signal(signal.SIGSTOP)
        said = other.communicate(timeout=heartbeat + MARGIN)[1]
        stopped.send_signal(signal.SIGCONT)  # it is alone now, and ends too
        stopped.communicate(timeout=heartbeat + MARGIN)
    finally:
        for machine in machines:
            machine.kill()
    assert other.returncode not in (0, -signal.SIGKILL)
    assert stopped.returncode not in (0, -signal.SIGKILL)
    lost = f"waits for another machine, which is lost after {heartbeat} s without a sign"
    assert f"machine {1 - frozen} of 2 {lost}" in said


def test_a_frozen_machine_changes_no_bit(
    tmp_path: Path, alone_for_long: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts, run = TwoHosts(), tmp_path / "run"

    def lose() -> None:
        until_saved(run)
        os.kill(hosts.started[1].pid, signal.SIGSTOP)  # type: ignore[attr-defined]

    trained_through_a_loss(hosts, run, lose, 2, 60)
    assert len(hosts.started) == 4
    assert "machine 1 (b) does not answer; going on from the last checkpoint" in capsys.readouterr().err
    assert arrays_of(run) == arrays_of(alone_for_long)


@pytest.mark.parametrize(
    "machines",
    [(1, 0, "a:1"), (3, 0, "a:1"), (2, 2, "a:1"), (2, -1, "a:1"), (2, 0, "a"), (2, 0, ":1"), (2, 0, "a:b")],
)
def test_machines_that_cannot_be_are_refused(machines: tuple[int, int, str]) -> None:
    with pytest.raises(UserError, match=r"nodes|node|coordinator"):
        Network(Machines(*machines))
