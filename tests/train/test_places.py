"""Before machines train: which are chosen, what they must have in common, and what is refused."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.processes import Place
from interplay.core.settings import changed
from interplay.core.stopping import Stop
from interplay.core.versions import versions as command_versions
from interplay.train import cluster_report, places
from interplay.train.cluster_report import report_on
from interplay.train.over_machines import follow_lead, values, versions, with_workers
from interplay.train.parallel import machines as network
from interplay.train.parallel.machines import Machines, Network
from interplay.train.places import BROKEN, DONE, ENDED_BY_JAX, PRINTED, READY, REFUSED, SAID, Job, train_on
from interplay.train.supervision import MOST, MOST_THERE
from tests.train.machine_runs import LocalHost, settings_of

PPO = settings_of("ppo", 5)


class Ended:
    """A process that has ended."""

    exitcode = 1

    def join(self) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Failing:
    """A cluster on which every process ends before it begins.

    Args:
        cores: of each machine.
        coming: machines that come between two looks; None: all are there.

    Attributes:
        looks: at the machines.
        asked: names of the machines with their cores, one of each start.
    """

    def __init__(self, *cores: int, coming: int | None = None) -> None:
        self.all = [LocalHost(name, cores=own) for name, own in zip("abcdefgh", cores, strict=False)]
        self.coming, self.looks = coming, 0
        self.asked: list[tuple[str, int]] = []

    def hosts(self) -> list[LocalHost]:
        self.looks += 1
        return self.all if self.coming is None else self.all[: self.coming * self.looks]

    def at(self, host: LocalHost, cores: int) -> Place:
        self.asked.append((host.name, cores))
        return self

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Ended]:
        mine, theirs = multiprocessing.Pipe()
        theirs.close()
        return mine, Ended()

    def cores(self) -> int:
        return sum(host.cores for host in self.all)


def refused(hosts: Failing, run: Path, nodes: int | None, workers: int) -> str:
    with pytest.raises(UserError) as caught:
        train_on(hosts, run, PPO, nodes, workers, shards=4)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cores", "nodes", "workers", "chosen"),
    [
        ((2, 2), None, 2, "ab"),
        ((2, 2, 2), None, 1, "ab"),
        ((1, 2, 1, 2), None, 2, "bd"),
        ((2, 2, 2, 2), 2, 1, "ab"),
        ((8,) * 8, None, 1, "abcd"),
        ((8,) * 8, None, 2, "ab"),
    ],
)
def test_machines_with_cores_for_all_workers_are_chosen_and_three_losses_end_the_run(
    tmp_path: Path, cores: tuple[int, ...], nodes: int | None, workers: int, chosen: str
) -> None:
    hosts = Failing(*cores)
    line = refused(hosts, tmp_path / "run", nodes, workers)
    assert hosts.asked == [(name, workers) for name in chosen] * MOST
    last = f"machine 0 ({chosen[0]}) ended before it began"
    assert line.startswith(f"{last}, the third time without a checkpoint in between")
    assert not (tmp_path / "run").exists()


def test_checkpoints_between_losses_make_them_single_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the first five starts saves before it is lost, further ones do not."""
    hosts = Failing(2)
    monkeypatch.setattr(places, "latest_checkpoint", lambda _: Path(str(64 * min(len(hosts.asked), 5))))
    assert "the third time without a checkpoint in between" in refused(hosts, tmp_path / "run", 1, 2)
    assert len(hosts.asked) == 5 + MOST - 1


def test_a_loss_at_the_same_place_again_and_again_ends_the_run_with_its_agent_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each start begins at 8,192 agent-steps and is lost after it saved 12,288, which are damaged before the next one."""
    hosts = Failing(2)

    def newest(_: Path) -> Path:
        return Path("12288" if len(hosts.asked) == hosts.looks else "8192")

    monkeypatch.setattr(places, "latest_checkpoint", newest)
    assert f", {MOST_THERE} times after 12,288 agent-steps; " in refused(hosts, tmp_path / "run", 1, 2)
    assert len(hosts.asked) == MOST_THERE


class Scripted(Failing):
    """A cluster of machines that are threads, which begin and get a job.

    Args:
        act: called with a machine's end of its pipe, and the job; the machine is lost when it returns.
    """

    def __init__(self, *cores: int, act: Callable[[Any, Job], None]) -> None:
        super().__init__(*cores)
        self.act = act

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Ended]:
        mine, theirs = multiprocessing.Pipe()
        threading.Thread(target=self.begin, args=(theirs,), daemon=True).start()
        return mine, Ended()

    def begin(self, pipe: Any) -> None:
        with contextlib.suppress(EOFError, OSError), pipe:
            pipe.send((READY, "7"))
            self.act(pipe, pipe.recv())


def end(pipe: Any, job: Job) -> None:
    """Trains to the end, and stays until it is ended."""
    pipe.send((DONE, str(job.run)))
    pipe.recv()


def test_a_machine_that_is_done_ends_before_the_others(tmp_path: Path) -> None:
    """The first one still plays episodes out, rates and saves."""

    def act(pipe: Any, job: Job) -> None:
        time.sleep(0.3 * (job.machines.node == 0))
        pipe.send((DONE, str(job.run)))

    hosts = Scripted(1, 1, act=act)
    assert train_on(hosts, tmp_path, None, 2, 1, shards=2) == tmp_path
    assert hosts.asked == [("a", 1), ("b", 1)]


def test_a_resumed_run_has_the_workers_that_are_asked_for(tmp_path: Path) -> None:
    jobs: list[Job] = []

    def act(pipe: Any, job: Job) -> None:
        jobs.append(job)
        end(pipe, job)

    hosts = Scripted(2, 2, act=act)
    assert train_on(hosts, tmp_path, None, 2, 2, shards=4, accept_settings=True) == tmp_path
    changes = {"accept_settings": True, "workers": 2}
    assert sorted(jobs, key=lambda job: job.machines.node) == [
        Job(Machines(2, node, "127.0.0.1:7"), tmp_path, "", False, changes) for node in range(2)
    ]


@pytest.mark.parametrize("late", [0, 1])
def test_the_last_lines_of_a_lost_machine_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], late: int
) -> None:
    """Whether its loss or the failure of the other machine comes first."""

    def act(pipe: Any, job: Job) -> None:
        node = job.machines.node
        if len(hosts.asked) > 2:
            end(pipe, job)
        time.sleep(0.3 * (node == late))
        for message in [(PRINTED, f"line {n}\n") for n in range(SAID + 5)] if node else [(BROKEN, "")]:
            pipe.send(message)

    hosts = Scripted(1, 1, act=act)
    assert train_on(hosts, tmp_path, None, 2, 1, shards=2) == tmp_path
    lines = [f"line {n}\n" for n in range(5, SAID + 5)]
    machines = "machines: a, b; workers on each: 1\n"
    lost = "machine 1 (b) was lost; going on from the beginning\n"
    assert capsys.readouterr().err == "".join([machines, *lines, lost, machines])


@pytest.mark.parametrize(
    ("code", "lost"), [(1, "machine 1 (b) was lost"), (ENDED_BY_JAX, "machine 0 (a) does not answer")]
)
def test_a_killed_machine_is_named_before_one_that_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int, lost: str
) -> None:
    """jax ends a machine that misses another one, so the other one, which is silent, is the cause."""
    monkeypatch.setattr(places, "LAST", 0.3)
    monkeypatch.setattr(Ended, "exitcode", code)

    def act(pipe: Any, job: Job) -> None:
        if len(hosts.asked) > 2:
            end(pipe, job)
        time.sleep(1.0 * (job.machines.node == 0))

    hosts = Scripted(1, 1, act=act)
    assert train_on(hosts, tmp_path, None, 2, 1, shards=2) == tmp_path
    assert f"{lost}; going on" in capsys.readouterr().err


def test_machines_without_a_free_core_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.4)

    class Busy(Scripted):
        def begin(self, pipe: Any) -> None:
            if self.asked[-1][0] == "a":
                super().begin(pipe)
            else:
                time.sleep(2.0)

    hosts = Busy(2, 2, act=end)
    assert train_on(hosts, tmp_path, None, None, 2, shards=4) == tmp_path
    assert hosts.asked == [("a", 2), ("b", 2), ("a", 2)]
    assert " s: b; going on from the beginning" in capsys.readouterr().err


def test_workers_are_as_many_as_the_machines_shards(tmp_path: Path) -> None:
    hosts = Scripted(8, 8, act=end)
    assert train_on(hosts, tmp_path, None, 2, 4, shards=4) == tmp_path
    assert hosts.asked == [("a", 2), ("b", 2)]


def test_a_machine_that_does_not_see_the_run_s_storage_is_refused(tmp_path: Path) -> None:
    mine, theirs = multiprocessing.Pipe()
    places.work(theirs, str(tmp_path / "mark"), {})
    assert mine.recv()[0] == REFUSED

    class Apart(Scripted):
        def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Ended]:
            assert Path(arguments[0]).parent == tmp_path  # beside the run, while machines begin
            assert Path(arguments[0]).exists()
            mine, theirs = multiprocessing.Pipe()
            work(theirs, str(tmp_path / "elsewhere"), arguments[1])
            return mine, Ended()

    with pytest.raises(UserError, match=r"machine 0 \(a\)"):
        train_on(Apart(2, act=end), tmp_path / "run", PPO, 1, 2, shards=4)
    assert list(tmp_path.iterdir()) == []


def test_a_machine_with_another_version_than_the_command_is_refused_also_when_it_trains_alone(
    tmp_path: Path,
) -> None:
    class Older(Scripted):
        def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Ended]:
            mark, wanted = arguments
            assert wanted == command_versions()
            mine, theirs = multiprocessing.Pipe()
            work(theirs, mark, wanted | {"numba": "9.9.9"})
            return mine, Ended()

    numba = command_versions()["numba"]
    with pytest.raises(
        UserError, match=rf"machine 0 \(a\): .* has numba = {numba}, this command has 9\.9\.9"
    ):
        train_on(Older(2, act=end), tmp_path / "run", PPO, 1, 2, shards=4)
    assert list(tmp_path.iterdir()) == []


def test_a_stop_while_machines_are_waited_for_starts_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = Failing(1, 1)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    assert train_on(hosts, tmp_path / "run", PPO, 2, 2, shards=4) == tmp_path / "run"
    assert hosts.asked == []
    assert "start the run again" in capsys.readouterr().err


def test_machines_that_do_not_meet_begin_anew_and_other_refusals_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bool] = []
    monkeypatch.setattr(network, "leaving", lambda final, _: sent.append(final))
    monkeypatch.setattr(network.os, "_exit", lambda code: None)
    for error in (network.NotMet("late"), UserError("wrong")):
        network._leave(error)
    assert sent == [False, True]


def test_fewer_machines_train_after_a_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.4)
    hosts = Failing(2, 2, 2)
    refused(hosts, tmp_path / "run", 4, 1)
    assert hosts.asked == [("a", 1), ("b", 1)] * MOST
    assert hosts.looks == 2 * MOST
    assert capsys.readouterr().err.count("training on 2 machines, not 4") == MOST


def test_machines_that_come_late_are_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = Failing(2, 2, coming=1)
    refused(hosts, tmp_path / "run", 2, 1)
    assert hosts.asked == [("a", 1), ("b", 1)] * MOST
    assert hosts.looks == MOST + 1
    assert "training on" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cores", "nodes", "workers", "reason"),
    [
        ((2, 3), None, 4, "the cluster has no machine with 4 free cores"),
        ((2, 3), 1, 4, "the cluster has no machine with 4 free cores"),
        ((8,) * 8, 8, 2, "8 machines of 2 workers cannot share train.shards = 4"),
        ((8,) * 8, 3, 1, "nodes = 3: "),
        ((8,) * 8, 0, 1, "nodes = 0: "),
        ((8,) * 8, -2, 1, "nodes = -2: "),
    ],
)
def test_what_no_machines_can_do_is_refused_before_a_start(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: tuple[int, ...],
    nodes: int | None,
    workers: int,
    reason: str,
) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.0)
    hosts = Failing(*cores)
    assert refused(hosts, tmp_path / "run", nodes, workers).startswith(reason)
    assert hosts.asked == []
    assert not (tmp_path / "run").exists()


def test_a_folder_with_a_run_is_refused_before_a_start(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("of a run")
    hosts = Failing(2, 2)
    assert f"resume it with `interplay resume {tmp_path}`" in refused(hosts, tmp_path, 2, 1)
    assert (hosts.asked, hosts.looks) == ([], 0)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("settings.toml", "of a run")]


class Answering(Failing):
    """A cluster of machines that answer `interplay cluster`, from threads.

    Args:
        facts: of each machine: its versions, and whether it sees the folder.
    """

    def __init__(self, *facts: tuple[dict[str, str], bool]) -> None:
        super().__init__(*[1] * len(facts))
        self.facts = iter(facts)
        self.met: list[Machines] = []

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Ended]:
        mine, theirs = multiprocessing.Pipe()
        threading.Thread(target=self.answer, args=(theirs, *next(self.facts)), daemon=True).start()
        return mine, Ended()

    def answer(self, pipe: Any, own: dict[str, str], sees: bool) -> None:
        mark = Path(pipe.recv())
        pipe.send({"versions": own, "machine": {"sees_folder": sees and mark.is_file()}, "port": 7})
        with contextlib.suppress(EOFError, OSError):  # machines that differ are asked no more
            self.met.append(pipe.recv())
            pipe.send({9: 1.5})
            pipe.recv()


def test_a_report_names_the_machine_that_does_not_see_the_folder(tmp_path: Path) -> None:
    hosts = Answering(({"xla_flags": "1"}, True), ({"xla_flags": "1"}, False), ({"xla_flags": "1"}, True))
    report = report_on(hosts, tmp_path / "runs")
    assert [(one["name"], one["sees_folder"]) for one in report.machines] == [
        ("a", True), ("b", False), ("c", True)
    ]  # fmt: skip
    assert (report.differences, report.is_sound) == ({}, False)
    assert report.exchange == {9: 1.5}
    assert sorted(hosts.met) == [(2, node, "127.0.0.1:7") for node in range(2)]
    assert list((tmp_path / "runs").iterdir()) == []


def test_an_exchange_is_reported_in_milliseconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first exchange of a vector takes a second, each further one 2 ms; the median counts."""
    now, sizes = 0.0, list[int]()

    def all_reduce(vector: Any) -> None:
        nonlocal now
        now += 2e-3 if vector.size in sizes else 1.0
        sizes.append(vector.size)

    monkeypatch.setattr(cluster_report, "Network", lambda _: SimpleNamespace(all_reduce=all_reduce))
    monkeypatch.setattr(cluster_report, "time", SimpleNamespace(perf_counter=lambda: now))
    mine, theirs = multiprocessing.Pipe()
    for message in (str(tmp_path), Machines(2, 0, "a:1"), None):
        mine.send(message)
    cluster_report.examine(theirs)
    assert mine.recv()["machine"]["sees_folder"]
    assert mine.recv() == pytest.approx({20_000: 2.0, 177_000: 2.0})
    assert sizes == [20_000] * 50 + [177_000] * 50


def test_a_report_holds_all_values_of_what_differs_and_measures_nothing(tmp_path: Path) -> None:
    hosts = Answering(*[({"xla_flags": own, "machine": "3"}, True) for own in ("1", "1", "2")])
    report = report_on(hosts, tmp_path / "runs")
    assert report.differences == {"xla_flags": ["1", "1", "2"]}
    assert (report.exchange, report.is_sound, hosts.met) == ({}, False, [])
    assert hosts.asked == [("a", 1), ("b", 1), ("c", 1)]


def test_a_report_compares_the_command_too(tmp_path: Path) -> None:
    report = report_on(Answering(({"xla_flags": "1", "numba": "9.9.9"}, True)), tmp_path / "runs")
    assert report.differences == {"numba": ["9.9.9"]}
    assert report.versions == command_versions()
    assert not report.is_sound


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[Network]]:
    """Makes machines that are threads of this process, joined by pairs of sockets."""

    def join(nodes: int) -> list[Network]:
        partners: list[dict[int, socket.socket]] = [{} for _ in range(nodes)]
        for distance in (1 << bit for bit in range(nodes.bit_length() - 1)):
            for node in range(nodes):
                if not node & distance:
                    ends = socket.socketpair()
                    for at, end in zip((node, node | distance), ends, strict=True):
                        end.setblocking(False)
                        partners[at][distance] = end
        monkeypatch.setattr(network, "_connect", lambda machines, _stop: (None, partners[machines.node]))
        return [Network(Machines(nodes, node, "a:1")) for node in range(nodes)]

    return join


def compared(machines: list[Network], facts: list[dict[str, Any]]) -> list[str]:
    """What each machine says of the facts of all; "": they are equal."""

    def compare(machine: Network, own: dict[str, Any]) -> str:
        try:
            machine.compare(own)
        except UserError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(machines)) as pool:
        return list(pool.map(compare, machines, facts))


@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize(
    ("name", "theirs"), [("jaxlib", "0.0.1"), ("xla_flags", "--of=another"), ("ppo.rollout", 77), ("seed", 5)]
)
def test_machines_that_differ_are_refused_by_all_with_both_values(
    joined: Callable[[int], list[Network]], nodes: int, name: str, theirs: Any
) -> None:
    ours = versions() | values(PPO)
    assert ours[name] != theirs
    facts = [ours] * (nodes - 1) + [ours | {name: theirs}]
    here = socket.gethostname()
    assert compared(joined(nodes), facts) == nodes * [
        f"machine {nodes - 1} ({here}) has {name} = {theirs}, machine 0 ({here}) has {ours[name]}; start all machines alike"
    ]


@pytest.mark.parametrize("lead", [True, False])
def test_all_machines_refuse_what_one_alone_has(joined: Callable[[int], list[Network]], lead: bool) -> None:
    endless = values(changed(PPO, {"world": {"options": {"length": float("inf")}}}, "test"))
    facts = [endless, values(PPO)] if lead else [values(PPO), endless]
    here, first, second = socket.gethostname(), *(("inf", None) if lead else (None, "inf"))
    line = f"machine 1 ({here}) has world.options.length = {second}, machine 0 ({here}) has {first}"
    assert compared(joined(2), facts) == 2 * [f"{line}; start all machines alike"]
    assert compared(joined(2), [endless, endless]) == ["", ""]


def test_machines_may_have_different_numbers_of_workers(joined: Callable[[int], list[Network]]) -> None:
    facts = [values(changed(PPO, {"train": {"workers": workers}}, "test")) for workers in (1, 2, 4, 1)]
    assert compared(joined(4), facts) == ["", "", "", ""]


def test_a_machine_that_does_not_see_the_folder_is_refused(
    tmp_path: Path, joined: Callable[[int], list[Network]]
) -> None:
    lead, other = joined(2)
    shared = [PPO.model_dump_json(), str(tmp_path / "elsewhere"), None]
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(lead.share, shared)
        with pytest.raises(UserError) as caught:
            follow_lead(other, None, Stop())
        assert sent.result() == shared
    assert str(caught.value).startswith(
        f"machine 1 has no {tmp_path / 'elsewhere'}, which machine 0 writes; "
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("nodes", "workers", "fit"), [(2, 2, 2), (2, 4, 2), (4, 1, 1), (4, 2, 1)])
def test_machines_with_too_few_shards_have_fewer_workers(
    capsys: pytest.CaptureFixture[str], nodes: int, workers: int, fit: int
) -> None:
    asked: Any = SimpleNamespace(nodes=nodes)
    found = with_workers(asked, changed(PPO, {"train": {"workers": workers}}, "test"))
    assert found == changed(PPO, {"train": {"workers": fit}}, "test")
    line = f"train.workers = {fit}, not {workers}: {nodes} machines share train.shards = 4\n"
    assert capsys.readouterr().err == (line if fit != workers else "")
