"""Several machines: the sums of one, the bits of one, and the end of all with the loss of one; here they are processes of one machine."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.parallel.exchange import tree_sum
from interplay.train.parallel.machines import Machines, Network
from interplay.train.places import train_on
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.trainer import train
from tests.train.machine_runs import RUNS, TwoHosts, settings_of, start, vectors_of
from tests.train.runs import arrays_of, log_of

pytestmark = pytest.mark.slow

TIMES = ("time", "time_share", "agent_steps_per_s")


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
    logs = [
        [{k: v for k, v in line.items() if k not in TIMES} for line in log_of(path)] for path in (run, alone)
    ]
    assert str(logs[0]) == str(logs[1])  # as text, since NaN is unequal to itself


def test_a_run_goes_on_with_another_number_of_machines(tmp_path: Path) -> None:
    train(settings_of("ppo", 12), tmp_path / "alone")
    train(settings_of("ppo", 6), tmp_path / "run")
    file = tmp_path / "run/settings.toml"
    file.write_text(file.read_text().replace("max_updates = 6", "max_updates = 12"))
    for machine in start([{}, {}], folder=str(tmp_path), case="ppo"):
        assert machine.wait(timeout=300) == 0
    assert arrays_of(tmp_path / "run") == arrays_of(tmp_path / "alone")


def test_workers_of_one_machine_open_no_port(tmp_path: Path) -> None:
    settings = changed(settings_of("ppo", 2), {"train": {"workers": 2}}, "test")
    found = []

    def look(_run: Path, _numbers: object) -> None:
        workers = [psutil.Process(worker.pid) for worker in multiprocessing.active_children()]
        assert workers
        own = [one for process in (psutil.Process(), *workers) for one in process.net_connections("inet")]
        found.append([one for one in own if one.status == psutil.CONN_LISTEN])

    train(settings, tmp_path / "run", on_update=look)
    assert found == [[], []]


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


@pytest.mark.parametrize(
    "machines",
    [(1, 0, "a:1"), (3, 0, "a:1"), (2, 2, "a:1"), (2, -1, "a:1"), (2, 0, "a"), (2, 0, ":1"), (2, 0, "a:b")],
)
def test_machines_that_cannot_be_are_refused(machines: tuple[int, int, str]) -> None:
    with pytest.raises(UserError, match=r"nodes|node|coordinator"):
        Network(Machines(*machines))
