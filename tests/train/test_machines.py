"""Several machines: the sums of one, the bits of one, and the end of all with the loss of one; here they are processes of one machine."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.parallel.exchange import tree_sum
from interplay.train.parallel.machines import Machines, Network
from interplay.train.trainer import train
from tests.train.machine_runs import KILL, RUNS, settings_of, start, vectors_of
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
    assert [machine.returncode for machine in machines] == [1, 1]
    assert all("settings = of machine 1" in line and "of machine 0" in line for line in said)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case == "ppo" else pytest.mark.long) for case in RUNS]
)
def test_machines_workers_and_a_killed_machine_change_no_bit(tmp_path: Path, case: str) -> None:
    alone = train(settings_of(case, 12), tmp_path / "alone")

    lead, other = start([{"victim": 1}, {}], folder=str(tmp_path), case=case)
    said = lead.communicate(timeout=300)[1]
    assert (lead.returncode, other.wait(timeout=30)) == (1, -9)
    assert "another machine of 2 is gone" in said
    run = tmp_path / "run"
    assert [line["updates"] for line in log_of(run)] == list(range(1, KILL + 1))

    for machine in start([{"workers": 2}, {"workers": 2}], folder=str(tmp_path), case=case):
        _, said = machine.communicate(timeout=300)
        assert machine.returncode == 0, said
    assert arrays_of(run) == arrays_of(alone)
    logs = [
        [{k: v for k, v in line.items() if k not in TIMES} for line in log_of(path)] for path in (run, alone)
    ]
    assert str(logs[0]) == str(logs[1])  # as text, since NaN is unequal to itself


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
