"""Verbs that need no training: worlds, evaluate, check, bench, record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import interplay
from interplay.cli.options import whole_number
from tests.cli.command import MARSH, refusal, typed
from tests.cli.command import interplay as command


def test_worlds_lists_every_world(capsys):
    _, out, _ = typed(capsys, "worlds")
    listed = [line.split()[0] for line in out.splitlines()]
    assert listed == [spec.id for spec in interplay.list_worlds()]
    rows = json.loads(typed(capsys, "worlds", "--json")[1])
    assert [row["id"] for row in rows] == listed
    assert all(row["summary"] for row in rows)


def test_worlds_tells_of_ones_own_and_of_a_family(capsys):
    told = json.loads(typed(capsys, "worlds", MARSH, "--json")[1])
    assert told["id"] == MARSH
    assert told["kinds"][0]["agents"]
    assert MARSH in typed(capsys, "worlds", MARSH)[1]
    for family in ("mmo", "mmo/"):
        listed = [line.split()[0] for line in typed(capsys, "worlds", family)[1].splitlines()]
        assert listed == [s.id for s in interplay.list_worlds() if s.id.startswith("mmo/")]
    rows = json.loads(typed(capsys, "worlds", "mmo", "--json")[1])
    assert [row["id"] for row in rows] == listed
    assert "did you mean" in refusal(capsys, "worlds", "mmo/forrage")


def test_the_package_is_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "interplay", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"interplay {interplay.__version__}\n"


def test_evaluate_prints_means_and_the_same_ones_again(capsys):
    def report(*more: str) -> dict:
        arguments = ("evaluate", "random", "--world", MARSH, "--episodes", "20", "--json")
        return json.loads(typed(capsys, *arguments, *more)[1])

    first = report()
    assert first["world"] == MARSH
    assert first["episodes"] == first["metrics"]["steps"]["n"] == 20
    assert 5 < first["metrics"]["steps"]["mean"] <= 30
    # A frog earns 1 per step.
    assert first["metrics"]["return"]["mean"] == first["metrics"]["steps"]["mean"]
    assert report() == first
    assert report("--seed", "1") != first
    assert report("--num-worlds", "3")["num_worlds"] == 3 != first["num_worlds"]


def test_evaluate_prints_a_table(capsys):
    _, out, _ = typed(capsys, "evaluate", "random", "--world", MARSH, "--episodes", "5")
    assert "5 episodes" in out
    assert any(line.split()[0] == "steps" and "±" in line for line in out.splitlines())


@pytest.mark.parametrize(("slots", "one_by_one"), [(16, True), (17, False)])
def test_the_agents_of_a_crowd_are_not_told_one_by_one(capsys, slots, one_by_one):
    options = (f"slots={slots}", "npop=1", "interior=12", "vision=3")
    play = ("evaluate", "random", "--world", "mmo/forage", *options, "--episodes", "2", "--max-steps", "5")
    _, table, _ = typed(capsys, *play)
    assert ("return[slot_0]" in table) == one_by_one
    assert "mean_life" in table
    assert "return[slot_0]" in json.loads(typed(capsys, *play, "--json")[1])["metrics"]


def test_check_passes_a_sound_world_and_fails_a_faulty_one(capsys):
    code, out, _ = typed(capsys, "check", MARSH, "masked=true", "--steps", "120")
    assert code == 0, out
    code, out, errors = typed(capsys, "check", "tests.cli.marsh:Bog", "--steps", "120")
    assert code == 1
    assert "reward" in out
    assert errors == ""


@pytest.mark.parametrize("option", ["num_worlds=2", "seed=2", "first_world=1"])
def test_what_the_verb_itself_says_is_no_option_of_the_world(capsys, option):
    name, _, value = option.partition("=")
    line = refusal(capsys, "evaluate", "random", "--world", "pong/2p", option)
    assert line.startswith(f"interplay: {name} = {value} is no option of pong/2p")


@pytest.mark.parametrize("option", ["masked=false", "masked=true"])
def test_bench_reports_the_promised_keys(option):
    done = command("bench", MARSH, option, "--num-worlds", "8", "--seconds", "0.5", "--json")
    (row,) = json.loads(done.stdout)
    keys = "world num_worlds threads world_steps_per_s agent_steps_per_s spread compile_s"
    assert list(row) == keys.split()
    assert (row["world"], row["num_worlds"], row["threads"]) == (MARSH, 8, 1)
    assert row["agent_steps_per_s"] == pytest.approx(2 * row["world_steps_per_s"], rel=0.2)
    assert row["spread"] >= 0


def test_bench_counts_the_steps_of_those_who_act(monkeypatch):
    """In turns one of three acts: an agent-step for every step of a world."""
    from interplay.cli import measure

    monkeypatch.setattr(measure, "WARM_UP_SECONDS", 0.0)
    make = partial(interplay.make_world, "simulation/multi-corridor-turns", 2, end=6, num_agents=3)
    row = measure.measure(make, 1, 0.1, "corridor")
    assert row.agent_steps_per_s == pytest.approx(row.world_steps_per_s, rel=0.2)


def test_bench_counts_every_world_of_a_batch(monkeypatch):
    from interplay.cli import measure

    now = [0.0]

    def one_second_later():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(measure.time, "perf_counter", one_second_later)
    world = interplay.make_world("simulation/multi-corridor", 4, end=6, num_agents=3)
    world.reset()
    moves = np.ones((4, 3), np.int64)
    assert measure._window(world, lambda timestep: moves, 5.0) == (
        4.0,
        12.0,
    )  # a step of the batch each second


@pytest.mark.parametrize("ignored", [False, True])
def test_where_illegal_choices_do_nothing_actions_are_drawn_beforehand(ignored):
    from interplay.cli.measure import POOL, _drawer, draws_inside
    from interplay.core.policy import RandomPolicy
    from tests.cli.marsh import Marsh

    world = Marsh(8, masked=True)
    world.ignores_illegal = ignored
    timestep, player = world.reset(), RandomPolicy()
    player.start(world, seed=1)
    timestep.action_mask["action"][0, 0] = True, False
    draw = _drawer(world, player)
    given = [draw(timestep) for _ in range(2 * POOL)]
    assert draws_inside(world) is not ignored
    assert (given[0] is given[POOL]) is ignored
    assert any(action[0, 0] for action in given) is ignored


def test_bench_takes_several_worlds():
    out = command("bench", MARSH, "tests.cli.marsh:Bog", "--num-worlds", "4", "--seconds", "0.2").stdout
    assert [line.split(":Marsh: ")[0].split(":Bog: ")[0] for line in out.splitlines()] == [
        "tests.cli.marsh"
    ] * 2


def test_record_writes_what_the_suffix_says(capsys, tmp_path):
    pytest.importorskip("pygame", reason="pictures need the render extra")
    out = tmp_path / "frogs.png"
    code, said, errors = typed(capsys, "record", "random", "--world", MARSH, "--out", out)
    assert code == 0, errors
    assert out.read_bytes().startswith(b"\x89PNG")
    assert str(out) in said


def test_pinning_keeps_the_first_cores():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system has no processor affinity")
    from interplay.cli.measure import pin

    before = os.sched_getaffinity(0)
    try:
        assert pin(1)
        assert os.sched_getaffinity(0) == {min(before)}
    finally:
        os.sched_setaffinity(0, before)


def test_a_number_of_steps_may_be_typed_as_people_write_it(capsys, tmp_path):
    for steps, words in (
        ("1e-3", "is no whole number"),
        ("many", "write for example 1000000"),
        ("1e99", "no whole number"),
        ("nan", "no whole number"),
        ("-1", "no whole number from 0 on"),
    ):
        code, _, errors = typed(capsys, "train", "dilemma/fixed", "--steps", steps)
        assert (code, errors.count("\n")) == (2, 1)
        assert words in errors
    assert typed(capsys, "resume", tmp_path, "--steps", "0")[0] == 2
    assert [whole_number(steps) for steps in ("1e6", "1_000_000", "2.5e3", "9007199254740993")] == [
        10**6,
        10**6,
        2_500,
        2**53 + 1,
    ]


def test_evaluate_tells_no_figure_twice(capsys):
    play = ("evaluate", "random", "--world", "survival/1v1-heals-low", "--episodes", "2", "--max-steps", "20")
    _, out, _ = typed(capsys, *play)
    names = [line.split()[0] for line in out.splitlines()[1:]]
    assert {"steps", "return", "return[agent_0]"} <= set(names)
    assert not any(name.startswith("episode_") for name in names)
    _, out, _ = typed(capsys, *play, "--json")
    assert "episode_return" in json.loads(out)["metrics"]


def test_a_worlds_choices_are_named(capsys):
    _, out, _ = typed(capsys, "worlds", "survival/1v1-heals-low")
    assert "SafeZone (one of on, off)" in out
