"""External simulators: faults of a program, its end, and its drivers.

Most programs here are `raw_program.py`, which was written from the page alone and shares no code with us.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from interplay.core.errors import UserError
from interplay.sim.managers import AllStepManager
from interplay.sim.remote import (
    AgentSpaces,
    Choice,
    Limits,
    Range,
    RemoteSimulation,
    RemoteSimulationError,
    RemoteSimulator,
    Report,
    child,
    lobby,
    serve,
)
from interplay.sim.remote.wire import LARGEST, Connection, encode

ROOT = Path(__file__).resolve().parents[2]
RAW = Path(__file__).with_name("raw_program.py")
QUICK = Limits(
    start=3.0, reply=1.5, close=0.5
)  # a sound program on a busy machine needs some tenths of a second
SOON = (
    20.0  # seconds in which every failure has ended; without limits it would be a minute, see raw_program.py
)

AT_START = {
    "dies at once": "ended with exit code 3 after it was started",
    "never connects": "did not connect to INTERPLAY_REMOTE_PORT",
    "says nothing": "said nothing for",
    "garbage hello": "announced a message of 1,195,725,856 bytes",
    "wrong version": "uses version 99 of the protocol",
    "wrong token": "showed a wrong token",
    "no token": "sent a hello without 'token'",
    "no agents": "sent a hello without agents",
    "odd agent id": "printable",
    "everybody's id": "the agent '__all__'",
    "twice the same agent": "the key 'counter' stands twice",
    "endless choice": "a choice of 9223372036854775807; give a whole number from 1",
    "upside-down space": "low 3 is above high 1",
}
AT_STEP_3 = {
    "hangs on step": "said nothing for 1.5 s",
    "dies mid-episode": "ended with exit code 7",
    "crashes": "was ended by SIGABRT",
    "hangs up": "closed the connection",
    "drips": "said nothing but a part of a message for 1.5 s",
    "garbage": "announced a message of 1,213,486,160 bytes",
    "no JSON": "sent 8 bytes that are no JSON",
    "no UTF-8": "sent 2 bytes that are no JSON",
    "no object": "sent '[1, 2]', which has no type",
    "empty": "announced a message of 0 bytes",
    "too large": "announced a message of 2,147,483,648 bytes",
    "too short": "said nothing but a part of a message",
    "twice": "sent more than one answer",
    "deep": "that are no JSON",
    "endless digits": "no JSON in UTF-8: a whole number has more than 40 digits",
    "infinite info": "-1e999 is not finite",
    "twice the same name": "the key 'reward' stands twice",
    "nested": "it is nested deeper than 64 levels",
    "NaN": "NaN is not finite",
    "infinite reward": "Infinity is not finite",
    "huge number": "1e999 is not finite",
    "huge whole number": "a whole number has more than 40 digits",
    "wrong shape": "observes 3 numbers instead of 2",
    "no row": "instead of a row of 2",
    "text for a number": "observes 1 instead of a finite number",
    "bool for a number": "observes True instead of a finite number",
    "out of range": "observes 101, which is not in 0..100",
    "done is a number": "in which 'done' is '0'",
    "missing agent": "agents differ from its hello in ['counter']",
    "missing field": "without 'agents'",
    "no step": "without 'step'",
    "wrong step": "sent the state of step 2 instead of 3",
    "wrong type": "sent 'stat' where 'state' belongs",
    "reports an error": "reported: out of fuel ?[31m!!!",
}


def raw(fault: str = "none", limits: Limits = QUICK) -> RemoteSimulator:
    return RemoteSimulator([sys.executable, "-S", str(RAW), fault], limits=limits)


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Every test reaps what it started: neither programs nor zombies stay."""
    before = set(psutil.Process().children(recursive=True))
    yield
    left = set(psutil.Process().children(recursive=True)) - before
    assert not left


def check_line(error: pytest.ExceptionInfo[RemoteSimulationError], deed: str) -> None:
    text = str(error.value)
    assert deed in text
    assert RAW.name in text  # the program
    assert "; " in text  # and the cure
    assert text.isprintable()
    assert len(text) < 800


def test_a_program_written_from_the_page_works():
    with raw() as simulator:
        assert simulator.program == "raw 1"
        assert simulator.agents == {"counter": AgentSpaces(Range([0, None], [100, None]), Choice(2))}
        assert simulator.reset(seed=5) == {"counter": Report([0, -0.5], 1.0, False, {})}
        for _ in range(2):
            simulator.step({"counter": 1})
        assert simulator.step({})["counter"].observation == [3, -0.5]
        assert simulator.reset()["counter"].observation == [0, -0.5]
        assert simulator.step({"counter": 0})["counter"].observation == [1, -0.5]


@pytest.mark.parametrize("fault", AT_START)
def test_bad_starts_end_in_one_line(fault):
    start = time.monotonic()
    with pytest.raises(RemoteSimulationError) as error:
        raw(fault)
    assert time.monotonic() - start < SOON
    check_line(error, AT_START[fault])


@pytest.mark.parametrize("fault", AT_STEP_3)
def test_bad_answers_end_in_one_line(fault):
    simulator = raw(fault)
    simulator.reset()
    for _ in range(2):
        simulator.step({"counter": 0})
    start = time.monotonic()
    with pytest.raises(RemoteSimulationError) as error:
        simulator.step({"counter": 0})
    assert time.monotonic() - start < SOON
    check_line(error, AT_STEP_3[fault])
    assert "step 3" in str(error.value)
    assert simulator.closed
    assert not psutil.pid_exists(simulator.pid)
    with pytest.raises(RemoteSimulationError, match="is closed; make a new one"):
        simulator.step({"counter": 0})


def test_a_reset_that_hangs():
    simulator = raw("hangs on reset")
    with pytest.raises(RemoteSimulationError, match=r"said nothing for 1.5 s after it was asked for a reset"):
        simulator.reset()
    assert simulator.closed


def test_who_ignores_close_is_killed():
    simulator = raw("ignores close")
    simulator.reset()
    start = time.monotonic()
    simulator.close()
    simulator.close()
    assert 0.4 < time.monotonic() - start < SOON
    assert not psutil.pid_exists(simulator.pid)


def test_what_a_wrapper_script_started_ends_with_it(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\nsleep 60 &\n{sys.executable} -S {RAW}\n")
    script.chmod(0o755)
    simulator = RemoteSimulator([str(script)], limits=QUICK)
    family = psutil.Process(simulator.pid).children(recursive=True)
    assert len(family) == 2
    simulator.close()
    deadline = time.monotonic() + SOON
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in family):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("argv", "deed"),
    [
        (["./no-such-program"], "cannot be started: No such file"),
        ([str(ROOT / "README.md")], "cannot be started: Permission denied"),
        (["a\0b"], "cannot be started: embedded null byte"),
        ([sys.executable, "-c", "pass"], "ended with exit code 0"),
    ],
)
def test_what_cannot_be_started(argv, deed):
    with pytest.raises(RemoteSimulationError, match=deed):
        RemoteSimulator(argv, limits=QUICK)


def test_the_program_in_another_language_that_the_page_shows(tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    code = re.search(
        r"^```cpp\n(.*?)^```$", (ROOT / "docs" / "remote.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert code
    (tmp_path / "walk.cpp").write_text(code[1])
    build = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "walk", "walk.cpp"]
    subprocess.run(build, cwd=tmp_path, check=True)
    with RemoteSimulator([str(tmp_path / "walk")], limits=QUICK) as simulator:
        for _ in range(2):
            assert simulator.reset(seed=1) == {"walker": Report([5])}
            assert simulator.step({"walker": [-0.1]}) == {"walker": Report([4.9])}
            assert simulator.step({}) == {"walker": Report([4.9])}
            for _ in range(6):
                last = simulator.step({"walker": [1]})["walker"]
            assert last == Report([10], 1.0, True)
    assert not psutil.pid_exists(simulator.pid)


def test_arguments_reach_no_shell(tmp_path):
    with pytest.raises(UserError, match="is no list of texts"):
        RemoteSimulator(f"{sys.executable} {RAW}")
    sly = f"none; touch {tmp_path / 'sly'}"
    with RemoteSimulator([sys.executable, "-S", str(RAW), sly, "$(id)"], limits=QUICK):
        assert not (tmp_path / "sly").exists()


def test_wrong_actions_are_refused_here_and_change_nothing():
    with raw() as simulator:
        with pytest.raises(UserError, match="step before the first reset"):
            simulator.step({})
        simulator.reset()
        for actions, complaint in (
            ({"counter": 2}, "action of counter is 2, which is not in 0..1"),
            ({"counter": 1.0}, "1.0 instead of a whole number"),
            ({"nobody": 1}, "'nobody'"),
        ):
            with pytest.raises(UserError, match=complaint):
                simulator.step(actions)
        with pytest.raises(UserError, match="a reset cannot be sent"):
            simulator.reset(options={"far": float("nan")})
        with pytest.raises(UserError, match="a reset cannot be sent"):
            simulator.reset(options={"long": "x" * LARGEST})
        assert simulator.step({"counter": 1})["counter"].observation == [1, -0.5]


# -- how programs end when their driver does ------------------------------------------------------------------------

DRIVER = f"""
import os, signal, sys, time
sys.path.insert(0, {str(ROOT)!r})
from interplay.sim.remote import Limits, RemoteSimulator
simulator = RemoteSimulator([sys.executable, "-S", {str(RAW)!r}, sys.argv[1]], limits=Limits(5, 30, 1))
print(simulator.pid, flush=True)
simulator.reset()
for step in range(2):
    simulator.step({{}})
"""


def start_driver(tail: str, fault: str = "none") -> tuple[subprocess.Popen[str], int]:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER + textwrap.dedent(tail), fault],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    return driver, int(driver.stdout.readline())


def check_ends(pid: int) -> None:
    deadline = time.monotonic() + SOON
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the program outlived its driver"
        time.sleep(0.02)


@pytest.mark.parametrize("fault", ["none", "stops listening"])
def test_the_end_of_the_interpreter_ends_the_program(fault):
    driver, pid = start_driver("", fault)
    _, errors = driver.communicate(timeout=20)
    assert driver.returncode == 0, errors
    assert not psutil.pid_exists(pid)


def test_an_exception_ends_the_program():
    driver, pid = start_driver("raise SystemExit(5)")
    driver.communicate(timeout=20)
    assert driver.returncode == 5
    assert not psutil.pid_exists(pid)


def test_ctrl_c_in_the_middle_of_a_step_ends_the_program():
    driver, pid = start_driver("simulator.step({})", "hangs on step")
    time.sleep(0.3)
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_is_killed_takes_the_program_along(number):
    driver, pid = start_driver("time.sleep(60)")
    driver.send_signal(number)
    driver.communicate(timeout=20)
    check_ends(pid)


def test_a_forked_worker_does_not_keep_the_program_alive_nor_ends_it():
    driver, pid = start_driver(
        """
        worker = os.fork()
        if worker == 0:
            try:
                simulator.step({})
            except Exception as error:
                if "closed the connection" not in str(error):
                    os._exit(9)
            simulator.close()
            time.sleep(20)
            os._exit(0)
        time.sleep(0.5)
        assert os.waitpid(worker, os.WNOHANG) == (0, 0)
        assert simulator.step({})["counter"].observation[0] == 3
        print(worker, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    assert driver.stdout is not None
    worker = driver.stdout.readline()
    assert worker, driver.stderr and driver.stderr.read()
    check_ends(pid)
    os.kill(int(worker), signal.SIGKILL)
    driver.communicate(timeout=20)


def test_forgetting_a_simulator_ends_its_program():
    simulator = raw()
    pid = simulator.pid
    del simulator
    assert not psutil.pid_exists(pid)


# -- our own server --------------------------------------------------------------------------------------------------


class Walk:
    """Walks between 0 and 10; goes wrong in ways that the server has to tell."""

    program = "walk 1"
    agents = {"walker": AgentSpaces(observation=Range([0], [10]), action=Range([-1.1], [1.1]))}  # noqa: RUF012

    def reset(self, seed, options):
        self.at = float(options.get("at", 5))
        return {"walker": Report([self.at], info={"seed": seed})}

    def step(self, actions):
        self.at += actions.get("walker", [0])[0]
        if self.at == 3:
            raise RuntimeError("a hole\nin the road")
        return {"walker": Report([self.at], reward=float(self.at == 10), done=self.at == 10)}


@pytest.fixture
def served(monkeypatch, capfd):
    """A server in a thread of this process, started by hand: its port, and how it ended."""
    monkeypatch.setenv("INTERPLAY_REMOTE_TOKEN", "secret")
    monkeypatch.delenv("INTERPLAY_REMOTE_PORT", raising=False)
    ended: list[BaseException | None] = []

    def run():
        try:
            serve(Walk(), port=0)
            ended.append(None)
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    deadline, text = time.monotonic() + SOON, ""
    while "listening" not in text and time.monotonic() < deadline:
        text += capfd.readouterr().out
        time.sleep(0.01)
    yield int(text.split(":")[1]), ended
    thread.join(SOON)
    assert not thread.is_alive()


def finish(ended: list[BaseException | None]) -> BaseException | None:
    deadline = time.monotonic() + SOON
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    return ended[0]


def test_a_server_started_by_hand_is_driven_by_who_knows_the_token(served):
    port, ended = served
    with pytest.raises(RemoteSimulationError, match=r"port .*showed a wrong token"):
        RemoteSimulator.connect(port, token="guess", limits=QUICK)
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert b"secret" not in stranger.recv(1000)
    with RemoteSimulator.connect(port, limits=QUICK) as simulator:
        assert simulator.pid is None
        assert simulator.reset(7, {"at": 9})["walker"].info == {"seed": 7}
        assert simulator.step({"walker": [1]}) == {"walker": Report([10.0], 1.0, True)}
    assert finish(ended) is None


@pytest.fixture
def strangers():
    """A function that knocks and says nothing, or a part of something."""
    held = []

    def knock(port, count, first=b""):
        for _ in range(count):
            held.append(socket.create_connection(("127.0.0.1", port)))
            held[-1].sendall(first)
        return held[-count:]

    yield knock
    for sock in held:
        sock.close()


@pytest.mark.parametrize("first", [b"", b"\x00\x00", b"\x00\x00\x0f\xff{"])
def test_the_owner_does_not_wait_for_strangers(served, strangers, first):
    port, ended = served
    strangers(port, 20, first)
    began = time.monotonic()
    with RemoteSimulator.connect(port, limits=QUICK) as simulator:
        simulator.reset()
        assert time.monotonic() - began < 1.0
    assert finish(ended) is None


def test_a_crowd_of_strangers_makes_room(served, strangers):
    """More than the limit: the oldest pending caller is rejected, the owner comes in."""
    port, ended = served
    first, *_, last = strangers(port, 3 * lobby.MOST)
    first.settimeout(SOON)
    assert b"one of too many pending callers" in first.recv(1000)
    with RemoteSimulator.connect(port, limits=QUICK) as simulator:
        simulator.reset()
    last.settimeout(SOON)
    assert last.recv(1000) == b""  # who still waited is hung up on
    assert finish(ended) is None


def test_a_token_that_drips_is_cut_off(strangers):
    with socket.create_server(("127.0.0.1", 0)) as listener, lobby.Lobby(listener, "secret", 0.3) as hall:
        (slow,) = strangers(listener.getsockname()[1], 1)
        began = time.monotonic()
        for byte in encode({"type": "hello", "protocol": 1, "token": "secret"}):
            assert hall.admit(0.05) is None
            if hall.refusal is not None:
                break
            slow.sendall(bytes([byte]))
        assert 0.25 < time.monotonic() - began < SOON
        assert "said nothing but a part of a message for 0.3 s" in str(hall.refusal)
        slow.settimeout(SOON)
        assert b'"type":"error"' in slow.recv(1000)


def test_a_callers_hello_is_short(served, strangers):
    port, ended = served
    (caller,) = strangers(port, 1, (1 << 20).to_bytes(4, "big"))
    caller.settimeout(SOON)
    assert b"announced a message of 1,048,576 bytes; send 1 to 4,096" in caller.recv(1000)
    RemoteSimulator.connect(port, limits=QUICK).close()
    assert finish(ended) is None


def test_a_stranger_at_the_drivers_own_port_does_not_stand_in_for_the_program(strangers, monkeypatch):
    """Another process connects before the started program, and sends nothing or nonsense."""
    start = child.Child.__init__
    called = []

    def called_before(self, argv, environment):
        port = int(environment["INTERPLAY_REMOTE_PORT"])
        called.extend(strangers(port, 3) + strangers(port, 3, encode({"type": "hello", "token": "guess"})))
        start(self, argv, environment)

    monkeypatch.setattr(child.Child, "__init__", called_before)
    began = time.monotonic()
    with raw() as simulator:
        assert time.monotonic() - began < QUICK.start
        assert simulator.reset()["counter"].observation == [0, -0.5]
    assert len(called) == 6


def test_an_exception_of_the_rules_reaches_the_driver_in_one_line(served):
    port, ended = served
    simulator = RemoteSimulator.connect(port, limits=QUICK)
    simulator.reset(options={"at": 4})
    with pytest.raises(RemoteSimulationError, match=r"reported: RuntimeError: a hole in the road") as error:
        simulator.step({"walker": [-1]})
    assert "\n" not in str(error.value)
    assert isinstance(finish(ended), RuntimeError)


def test_a_wrong_report_of_the_rules_is_told_where_it_was_made(served):
    port, ended = served
    simulator = RemoteSimulator.connect(port, limits=QUICK)
    with pytest.raises(RemoteSimulationError, match=r"observes 11.0, which is not in 0..10"):
        simulator.reset(options={"at": 11})
    assert isinstance(finish(ended), ValueError)


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({"type": "step", "actions": {}}, "a step before the first reset"),
        ({"type": "reset", "seed": "x", "options": {}}, "'seed' is 'x'"),
        ({"type": "jump"}, "sent 'jump' where 'step' belongs"),
    ],
)
def test_a_driver_that_breaks_the_protocol_is_told(served, request_, complaint):
    port, ended = served
    line = Connection(socket.create_connection(("127.0.0.1", port)))
    line.send({"type": "hello", "protocol": 1, "token": "secret"})
    assert line.receive(2)["program"] == "walk 1"
    line.send(request_)
    answer = line.receive(2)
    assert answer["type"] == "error"
    assert complaint in answer["message"]
    line.close()
    assert isinstance(finish(ended), RemoteSimulationError)


def test_a_program_that_nobody_started_says_what_it_lacks(monkeypatch):
    monkeypatch.delenv("INTERPLAY_REMOTE_TOKEN", raising=False)
    with pytest.raises(UserError, match="set INTERPLAY_REMOTE_TOKEN"):
        serve(Walk())
    with pytest.raises(UserError, match="set INTERPLAY_REMOTE_TOKEN"):
        RemoteSimulator.connect(5005)
    monkeypatch.setenv("INTERPLAY_REMOTE_TOKEN", "secret")
    with pytest.raises(UserError, match="give it a port"):
        serve(Walk())
    with pytest.raises(UserError, match="cannot be used"):
        serve(Walk(), port=99999)
    with pytest.raises(RemoteSimulationError, match=r"port 1: cannot be reached: Connection refused"):
        RemoteSimulator.connect(1, limits=QUICK)


# -- as a simulation -------------------------------------------------------------------------------------------------


def test_a_program_is_a_simulation_under_a_manager():
    with RemoteSimulation(raw()) as simulation:
        manager = AllStepManager(simulation)
        space = simulation.agents["counter"].observation_space
        observations = manager.reset(seed=3)
        steps, earned = 0, 0.0
        while True:
            assert observations["counter"] in space
            observations, rewards, dones, infos = manager.step({"counter": np.int64(1)})
            steps, earned = steps + 1, earned + rewards["counter"]
            assert type(rewards["counter"]) is float
            assert type(dones["counter"]) is bool
            if dones["__all__"]:
                break
        assert (steps, earned, infos) == (50, 50.0, {"counter": {}})
        with pytest.raises(AssertionError, match="is not in Discrete"):
            simulation.step({"counter": 2})


def test_it_is_over_when_all_its_agents_are_done():
    class Relay(RemoteSimulator):
        """Stands in for a program of two runners, which are done after 1 and 3 steps."""

        def __init__(self):
            self.agents = {name: AgentSpaces(observation=Choice(9), action=Choice(2)) for name in "ab"}

        def reset(self, seed, options=None):
            self.at = 0
            return {"a": Report(5), "b": Report(6)}

        def step(self, actions):
            self.at += 1
            return {"a": Report(5, 0.5, self.at >= 1), "b": Report(6, 2.0, self.at >= 3, {"at": self.at})}

    simulation = RemoteSimulation(Relay())
    simulation.reset()
    told = []
    for _ in range(3):
        simulation.step({"a": 0, "b": 1})
        told.append([simulation.get_done("a"), simulation.get_done("b"), simulation.get_all_done()])
    assert told == [[True, False, False], [True, False, False], [True, True, True]]
    assert [simulation.get_obs(name) for name in "ab"] == [5, 6]
    assert [simulation.get_reward(name) for name in "ab"] == [1.5, 6.0]
    assert [simulation.get_info(name) for name in "ab"] == [{}, {"at": 3}]


def test_what_a_program_pays_waits_until_somebody_asks():
    with RemoteSimulation(raw()) as simulation:
        simulation.reset(options=None)
        for _ in range(3):
            simulation.step({"counter": 0})
        assert [simulation.get_reward("counter") for _ in range(2)] == [3.0, 0.0]
        simulation.step({"counter": 0})
        simulation.reset()
        assert simulation.get_reward("counter") == 0.0  # of an episode that is over nothing is paid


def test_a_managers_seed_names_the_episode(served):
    port, ended = served
    simulation = RemoteSimulation(RemoteSimulator.connect(port, limits=QUICK))
    manager = AllStepManager(simulation)
    seeds = []
    for seed in (1, 1, 2):
        manager.reset(seed=seed, options={"at": 2})
        seeds.append(simulation.get_info("walker")["seed"])
    assert seeds[0] == seeds[1] != seeds[2]
    simulation.close()
    assert finish(ended) is None


def test_an_action_may_be_a_bound_in_another_precision(served):
    port, ended = served
    with RemoteSimulation(RemoteSimulator.connect(port, limits=QUICK)) as simulation:
        simulation.reset()
        simulation.step({"walker": np.array([1.1], np.float32)})  # as a float64 it lies above 1.1
        assert simulation.get_obs("walker").tolist() == [6.1]
        assert simulation.get_obs("walker").dtype == np.float64
        for form in (">f8", ">f4", "<f8"):
            simulation.reset()
            simulation.step({"walker": np.array([0.5], form)})
            assert simulation.get_obs("walker").tolist() == [5.5]
        for wrong in ([1.11], [np.nan], [0, 0], "left", None):
            with pytest.raises(AssertionError, match="is not in Box"):
                simulation.step({"walker": wrong})
        with pytest.raises(AssertionError, match="not in the simulation"):
            simulation.step({"runner": [0]})
    assert finish(ended) is None


def test_frames_are_what_the_page_shows():
    assert encode({"type": "close"}) == b'\x00\x00\x00\x10{"type":"close"}'
    with pytest.raises(ValueError, match="JSON"):
        encode({"type": "state", "x": float("inf")})
