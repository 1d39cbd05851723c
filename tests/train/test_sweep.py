"""Sweeps: what varies, which runs that means, and each of them exactly once whoever is killed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core import processes
from interplay.core.errors import UserError
from interplay.core.processes import HERE
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.registry import training_settings
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.settings import TrainGroup
from interplay.train.sweep import SweepSettings, plan, pool, resume_sweep, sweep, work
from interplay.train.sweep.axes import Drawn, name_runs, nested, points, read_axis
from interplay.train.sweep.sweep import _Coordinator
from interplay.train.sweep.work import Job
from interplay.train.trainer import train
from tests.cli.command import ROOT, refusal, typed
from tests.evaluate.farm_play import FewCores

pytestmark = pytest.mark.slow

WORLD = "dilemma/fixed"
SMALL = ["num_worlds=8", "ppo.rollout=32", "network.hidden=[8]", "train.checkpoint_updates=2"]


def asked(**more) -> SweepSettings:
    return SweepSettings(settings={"world": {"id": WORLD}, **more.pop("settings", {})}, **more)


def typed_sweep(out: Path, *more: str) -> list[str]:
    start = [sys.executable, "-m", "interplay.cli", "sweep"]
    return [*start, *more, "--out", str(out), "--workers", "2"]


# -- what varies ------------------------------------------------------------------------------------------------


def test_grid_points_and_draws_are_combined():
    found = points({"a": [1, 2]}, {"c": Drawn(low=0.0, high=1.0)}, 2, 0, [{"b": 1}, {"b": 2}])
    assert len(found) == 8
    assert Counter((point["a"], point["b"]) for point in found) == {(a, b): 2 for a in (1, 2) for b in (1, 2)}
    assert len({point["c"] for point in found}) == 2  # a draw is of its number, not of the place


def test_more_draws_add_to_those_that_there_are():
    few, many = (points({}, {"a": Drawn(low=0, high=9)}, n, 3, []) for n in (5, 50))
    assert many[: len(few)] == few
    assert {point["a"] for point in many} == set(range(10))
    assert points({}, {"a": Drawn(low=0, high=9)}, 50, 4, []) != many


def test_equal_points_are_one(capsys):
    said = asked(random={"ppo.epochs": Drawn(low=1, high=2)}, draws=9, points=[{"seed": 1}, {"seed": 1}])
    assert sorted(run.name for run in plan(said)) == ["seed-1--epochs-1", "seed-1--epochs-2"]
    drawn = ["--dry-run", "-p", "ppo.epochs=linear:1..2", "--draws", "9"]
    assert "9 points, without duplicates 2" in typed(capsys, "sweep", WORLD, *drawn)[1]
    unequal = typed(capsys, "sweep", WORLD, "--dry-run", "-p", "steps=1000,200,30")[1]
    assert unequal.splitlines()[-1] == "3 runs, 1,230 agent-steps"


def test_draws_stay_in_their_range_and_are_even_below_0():
    whole = Counter(Drawn(low=-2, high=2).at(share) for share in np.arange(0.0, 1.0, 0.001))
    assert whole == dict.fromkeys(range(-2, 3), 200)
    narrow = Drawn(low=0.123454, high=0.125)
    assert narrow.at(0.0) == 0.123454
    assert Drawn(low=0.1, high=0.123456).at(0.99999) == 0.123456
    assert Drawn(low=3, high=5, scale="log").at(0.0) == 3


def test_logarithms_are_drawn_evenly():
    found = points({}, {"a": Drawn(low=1e-5, high=1e-1, scale="log")}, 2000, 0, [])
    logs = np.log10([point["a"] for point in found])
    assert np.histogram(logs, 4, (-5, -1))[0].min() > 430  # 500 expected, sigma 19
    assert (logs.min() >= -5, logs.max() <= -1) == (True, True)


def test_keys_are_drawn_independently():
    both = {"a": Drawn(low=0.0, high=1.0), "b": Drawn(low=0.0, high=1.0)}
    found = np.array([[point["a"], point["b"]] for point in points({}, both, 1000, 0, [])])
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.13  # sigma 0.032
    assert np.abs(np.histogram2d(*found.T, 2, ((0, 1), (0, 1)))[0] - 250).max() < 55  # sigma 14


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ppo.clip=0.1,0.2", ("ppo.clip", [0.1, 0.2])),
        ("seed=-1..1", ("seed", [-1, 0, 1])),
        ("world.id=a/b,c/d", ("world.id", ["a/b", "c/d"])),
        ("network.hidden=[64],[8, 8]", ("network.hidden", [[64], [8, 8]])),
        ("ppo.learning_rate=linear 3e-4 0,1e-3", ("ppo.learning_rate", ["linear 3e-4 0", 1e-3])),
        ("a=log:1e-5..1e-3", ("a", Drawn(low=1e-5, high=1e-3, scale="log"))),
        ("a=../b..c,2.0", ("a", ["../b..c", 2.0])),
        ("a=linear:0..4", ("a", Drawn(low=0, high=4))),
    ],
)
def test_what_is_typed_is_read(text, found):
    assert read_axis(text) == found


VALUES = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(max_size=200), st.lists(st.integers()))


@given(
    st.lists(st.dictionaries(st.sampled_from(["a.b", "c.b", "d", "e.f.g"]), VALUES, min_size=1), min_size=1)
)
def test_names_differ_where_points_do_and_are_names_of_folders(found):
    unique = list({json.dumps(point, sort_keys=True): point for point in found}.values())
    names = name_runs(unique)
    assert len(set(names)) == len(names)
    for name in names:
        assert Path(name).name == name
        assert len(name) <= 120
        assert not set(name) & set("=,:/ \0\n")


def test_values_go_where_their_keys_lead():
    assert nested({"ppo.clip": 1, "ppo.gamma": 2, "seed": 3}) == {"ppo": {"clip": 1, "gamma": 2}, "seed": 3}
    with pytest.raises(UserError, match="both vary"):
        nested({"ppo": 1, "ppo.clip": 2})
    with pytest.raises(UserError, match="both vary"):
        nested({"ppo.clip": 2, "ppo": {"clip": 1}})


def test_a_group_in_a_point_is_its_values_and_stays_as_it_was_said():
    said = asked(points=[{"ppo": {"rollout": 32}, "ppo.clip": 0.1}], settings={"num_worlds": 8})
    names = [run.name for run in plan(said)]
    assert names == [run.name for run in plan(said)] == ["rollout-32--clip-0.1--seed-0"]
    assert said.points == [{"ppo": {"rollout": 32}, "ppo.clip": 0.1}]
    options = {"world.options": {"a": 1}, "world.options.b": 2}
    assert nested(options) == {"world": {"options": {"a": 1, "b": 2}}}
    assert options["world.options"] == {"a": 1}
    with pytest.raises(UserError, match=r"ppo\.clip twice"):
        points({}, {}, 1, 0, [{"ppo": {"clip": 1}, "ppo.clip": 2}])


# -- which runs that means --------------------------------------------------------------------------------------


def test_a_plan_has_every_point_with_every_seed_and_the_worlds_own_settings():
    runs = plan(asked(grid={"ppo.clip": [0.1, 0.3]}, seeds=3))
    assert [(run.settings.ppo.clip, run.settings.seed) for run in runs] == [
        (clip, seed) for clip in (0.1, 0.3) for seed in range(3)
    ]
    assert len({run.digest for run in runs}) == 6
    assert plan(asked(settings={"seed": 7}))[0].settings.seed == 7
    own = training_settings(WORLD)["ppo"]["reward_scale"]
    settings = [plan(asked(settings=given))[0].settings for given in ({}, {"ppo": {"reward_scale": own / 4}})]
    assert [one.ppo.reward_scale for one in settings] == [own, own / 4]


def test_a_file_says_what_varies_and_what_was_typed_wins(tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    file.write_text(
        f'steps = 500\n[world]\nid = "{WORLD}"\n[sweep]\nseeds = 2\n[sweep.grid]\n"ppo.clip" = [0.1, 0.2]\n'
        '[[sweep.points]]\n"ppo.gamma" = 0.9\n"ppo.gae_lambda" = 0.8\n'
    )
    code, out, _ = typed(capsys, "sweep", file, "--dry-run", "--steps", "1000", "-p", "ppo.clip=0.3")
    assert code == 0
    assert out.splitlines() == [
        "gamma-0.9--gae_lambda-0.8--clip-0.3--seed-0",
        "gamma-0.9--gae_lambda-0.8--clip-0.3--seed-1",
        "2 runs, 2,000 agent-steps",
    ]


def test_what_is_typed_twice_is_one_line(tmp_path, capsys):
    both = ["-p", "ppo.clip=0.1", "-p", "ppo.clip=0.2"]
    line = refusal(capsys, "sweep", WORLD, "--dry-run", *both)
    assert "-p ppo.clip is given twice, ppo.clip=0.1 and ppo.clip=0.2; write all values into one" in line
    for key, word in (("ppo.clip", "ppo.clip=1"), ("seed", "seed=1"), ("steps", "--steps")):
        other = ["--steps", "9"] if key == "steps" else [f"{key}=1"]
        line = refusal(capsys, "sweep", WORLD, "--dry-run", *other, "-p", f"{key}=3,4")
        assert f"{word} is typed, but -p {key}=3,4 varies {key}; leave one of them out" in line
    file = tmp_path / "asked.toml"
    file.write_text(f'[world]\nid = "{WORLD}"\n[sweep]\nseeds = 2\n')
    assert f"[sweep] of {file} varies seed" in refusal(capsys, "sweep", file, "--dry-run", "seed=1")


def test_a_program_in_a_file_of_a_sweep_needs_trust(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # other tests trust the same program
    file = tmp_path / "sweep.toml"
    file.write_text('[world]\nid = "dilemma/fixed"\n[sweep.grid]\n"world.id" = ["tests.cli.marsh:Marsh"]\n')
    line = refusal(capsys, "sweep", file, "--dry-run")
    assert 'world.id = "tests.cli.marsh:Marsh" names a program' in line
    assert typed(capsys, "sweep", file, "--dry-run", "--trust")[0] == 0


@pytest.mark.parametrize(
    "group", ['"world.id" = ["{}"]', '"network.kind" = ["{}"]', '"opponents.right" = ["{}"]', "", "points"]
)
def test_a_program_that_is_not_trusted_is_not_imported(tmp_path, capsys, monkeypatch, group):
    """However the sweep names it, and whoever opens it."""
    monkeypatch.chdir(tmp_path)
    ran, program = tmp_path / "ran", "planted_by_somebody:World"
    (tmp_path / "planted_by_somebody.py").write_text(f"open({str(ran)!r}, 'w').close()\nWorld = int\n")
    world, grid = (WORLD, f"[grid]\n{group.format(program)}\n") if group else (program, "")
    if group == "points":
        grid = f'[[points]]\nworld = {{ id = "{program}" }}\n'
    file, folder = tmp_path / "asked.toml", tmp_path / "folder"
    file.write_text(
        f'[world]\nid = "{world}"\n[sweep]\n{grid.replace("[grid]", "[sweep.grid]").replace("[[points", "[[sweep.points")}'
    )
    folder.mkdir()
    (folder / "sweep.toml").write_text(f'[settings.world]\nid = "{world}"\n{grid}')
    for more in ([file, "--dry-run"], [file, "--out", tmp_path / "new"], ["--resume", "--out", folder]):
        assert "names a program" in refusal(capsys, "sweep", *more)
    with pytest.raises(UserError, match="names a program"):
        resume_sweep(folder)
    assert not ran.exists()


# -- each exactly once ------------------------------------------------------------------------------------------


def weights(run: Path) -> bytes:
    path = latest_checkpoint(run)
    assert path is not None
    found = read_checkpoint(path).arrays
    return b"".join(array.tobytes() for stem in sorted(found) for _, array in sorted(found[stem].items()))


def lines(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def wait_for(met, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A sweep that nobody disturbed."""
    out = tmp_path_factory.mktemp("sweeps") / "whole"
    command = typed_sweep(out, WORLD, *SMALL, "-p", "ppo.clip=0.1,0.3", "-p", "seed=0..1", "--steps", "8000")
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=500)
    return out


def test_every_run_is_what_training_it_alone_gives(whole, tmp_path):
    """Bit for bit, though its process had trained another one before."""
    alone = tmp_path / "alone"
    more = ["ppo.clip=0.3", "seed=1", "--steps", "8000", "--workers", "1", "--out", str(alone)]
    command = [sys.executable, "-m", "interplay.cli", "train", WORLD, *SMALL, *more]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=500)
    assert weights(whole / "clip-0.3--seed-1") == weights(alone)


def test_killed_again_and_again_each_run_is_there_once_and_the_same(whole, tmp_path):
    out = tmp_path / "killed"
    command = typed_sweep(out, WORLD, *SMALL, "-p", "ppo.clip=0.1,0.3", "-p", "seed=0..1", "--steps", "8000")
    rng = np.random.default_rng(5)
    for _ in range(2):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        logged = sum(len(lines(run)) for run in out.glob("clip-*") if (run / "metrics.jsonl").exists())

        def further(before=logged) -> bool:
            runs = [run for run in out.glob("clip-*") if (run / "metrics.jsonl").exists()]
            return process.poll() is not None or sum(len(lines(run)) for run in runs) > before  # noqa: B023

        wait_for(further)
        time.sleep(float(rng.uniform(0, 0.5)))
        process.kill()
        process.wait()
    command = typed_sweep(out, "--resume")
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=500)
    kept = [json.loads(line)["key"] for line in (out / "sweep.jsonl").read_text().splitlines()]
    names = sorted(path.name for path in whole.glob("clip-*"))
    assert sorted(kept) == sorted(f"{deed} {name}" for name in names for deed in ("begun", "done"))
    for name in names:
        assert weights(out / name) == weights(whole / name)
        steps = [line["agent_steps"] for line in lines(out / name)]
        assert steps == [line["agent_steps"] for line in lines(whole / name)]


def test_what_is_done_is_not_done_again_and_more_seeds_join(whole, capsys):
    before = {path: path.stat().st_mtime_ns for path in whole.glob("*/metrics.jsonl")}
    more = [*SMALL, "-p", "ppo.clip=0.1,0.3", "--steps", "8000", "--out", str(whole)]
    code, out, _ = typed(capsys, "sweep", WORLD, *more, "-p", "seed=0..1")
    assert (code, out.split(";")[0]) == (0, f"4 of 4 runs are done in {whole}")
    code, out, _ = typed(capsys, "sweep", WORLD, *more, "-p", "seed=0..2")
    assert (code, out.split(";")[0]) == (0, f"6 of 6 runs are done in {whole}")
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    line = refusal(capsys, "sweep", WORLD, *more, "-p", "seed=0..2", "ppo.gamma=0.5")
    assert "run clip-0.1--seed-0 was begun with other settings than now" in line


def test_progress_begins_at_the_checkpoints_and_never_goes_back(tmp_path):
    """What a log has beyond its run's checkpoint is trained again; runs that wait count, and longer last updates do not."""
    kept = SimpleNamespace(results={"done b": {}})
    runs = [
        SimpleNamespace(name=name, settings=SimpleNamespace(steps=1000, train=TrainGroup()))
        for name in ("a", "b", "c")
    ]
    for name, checkpoint, logged in (("a", 300, 900), ("b", 1100, 1100), ("c", None, 0)):
        (tmp_path / name).mkdir()
        if checkpoint is not None:
            (tmp_path / name / "checkpoints" / f"{checkpoint:012d}").mkdir(parents=True)
            (tmp_path / name / "metrics.jsonl").write_text(f'{{"agent_steps": {logged}}}\n' * 3)
    shown, stream = [], io.StringIO()
    coordinator = _Coordinator(runs, {"a": None, "c": None}, tmp_path, kept, [], stream)
    with coordinator.progress:
        for a, c in ((None, None), (300, None), (400, 128), (500, 128), (1064, 256)):
            for name, steps in (("a", a), ("c", c)):
                if steps is not None:  # the run has rewound its log, then goes on
                    count = 1 + len(shown)
                    (tmp_path / name / "metrics.jsonl").write_text(f'{{"agent_steps": {steps}}}\n' * count)
            coordinator._show(["a", "c"])
            shown.append(coordinator.progress.done)
        assert shown == [1300, 1300, 1528, 1628, 2256]
    begins = stream.getvalue().splitlines()[0]
    assert begins.startswith("1,300 / 3,000 agent-steps (43 %), runs 3, done 1, running 2, ")
    assert begins.endswith("before their first update 2")


def test_ctrl_c_saves_and_says_where(tmp_path):
    out = tmp_path / "stopped"
    command = typed_sweep(out, WORLD, *SMALL, "-p", "seed=0..3", "--steps", "40000000")
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: len(list(out.glob("seed-*/metrics.jsonl"))) == 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everybody hears it
    stdout, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert (
        f"stopped: 0 of 4 runs are done in {out}; go on with `interplay sweep --resume --out {out}`" in errors
    )
    assert "Traceback" not in errors + stdout
    assert (errors + stdout).count("runs are done in") == 1  # said once
    for run in out.glob("seed-*"):
        newest = latest_checkpoint(run)
        assert newest is not None
        assert int(newest.name) == lines(run)[-1]["agent_steps"]


def test_a_run_that_fails_is_listed_and_the_others_go_on(tmp_path):
    found = sweep(
        asked(
            settings={"num_worlds": 8, "steps": 4000, "ppo": {"rollout": 32}, "network": {"hidden": [8]}},
            points=[
                {"ppo.learning_rate": 1e-3},
                {"train.start_from": "no-such-run"},
                {"ppo.learning_rate": 2e-3},
            ],
        ),
        tmp_path / "some",
        workers=1,
        stream=(stream := io.StringIO()),
    )
    assert found.done == ("learning_rate-0.001--seed-0", "learning_rate-0.002--seed-0")
    assert list(found.failed) == ["start_from-no-such-run--seed-0"]
    assert not found.complete
    (error,) = found.failed.values()
    assert "no-such-run" in error
    assert f"failed: {error}" in stream.getvalue()
    again = sweep(plan_of(tmp_path / "some"), tmp_path / "some", workers=1, stream=stream)
    assert list(again.failed) == list(found.failed)


def small(**more) -> SweepSettings:
    one = {"num_worlds": 8, "steps": 1000, "ppo": {"rollout": 32}, "network": {"hidden": [8]}}
    return asked(settings={**one, **more.pop("settings", {})}, **more)


def test_a_run_that_lies_there_with_other_settings_is_not_done(tmp_path):
    other = plan(small(settings={"ppo": {"rollout": 32, "clip": 0.3}}))[0].settings
    same = plan(small(seeds=(1,)))[0].settings
    train(other, tmp_path / "seed-0")
    train(same, tmp_path / "seed-1")
    found = sweep(small(seeds=2), tmp_path, workers=1, stream=io.StringIO())
    assert found.done == ("seed-1",)
    file = tmp_path / "seed-0" / "settings.toml"
    assert (
        f"{file}: ppo.clip = 0.3, but the sweep's run has 0.2; move this run away" in found.failed["seed-0"]
    )


def test_folders_and_logs_that_do_not_fit_are_one_line(tmp_path):
    """A run's own folder, a log that cannot be opened, fewer seeds than there are, a run that is gone."""
    out, stream = tmp_path / "out", io.StringIO()
    (out / "logs").mkdir(parents=True)
    (out / "logs" / "seed-1.log").symlink_to(tmp_path / "elsewhere")
    found = sweep(small(seeds=2), out, workers=1, stream=stream)
    assert found.done == ("seed-0",)
    assert "opening the run's log" in found.failed["seed-1"]
    (out / "logs" / "seed-1.log").unlink()
    with pytest.raises(UserError, match=r"is the folder of a run, it holds settings\.toml"):
        sweep(small(), out / "seed-0")
    with pytest.raises(UserError, match="run seed-0 is in the folder"):
        sweep(small(seeds=(1,)), out)
    assert len(plan_of(out).seeds) == 2
    shutil.rmtree(out / "seed-0")
    found = resume_sweep(out, workers=1, stream=stream)
    assert found.complete
    assert f"{out / 'seed-0'}: done, but its folder is missing" in stream.getvalue()
    assert lines(out / "seed-0")
    (out / "sweep.jsonl").unlink()
    with ResultsLog(out / "sweep.jsonl") as log:
        log.append({"begun seed-0": {}})
    with pytest.raises(UserError, match="was begun with other settings"):
        resume_sweep(out)


def test_processes_without_a_core_hold_no_run(tmp_path):
    found = sweep(small(seeds=3), tmp_path, workers=3, stream=io.StringIO(), place=FewCores(1))
    assert found.done == ("seed-0", "seed-1", "seed-2")


def test_a_sweep_without_a_core_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.5)
    with pytest.raises(UserError, match="2 processes"):
        sweep(small(seeds=2), tmp_path, workers=4, stream=io.StringIO(), place=FewCores(0))


@pytest.mark.parametrize("cores", [0, 1])
def test_processes_that_end_before_they_begin_are_started_nine_times(tmp_path, cores):
    place = FewCores(cores, ended=True)
    with contextlib.nullcontext() if cores else pytest.raises(UserError, match=f"{pool.EARLY} processes"):
        found = sweep(small(seeds=2), tmp_path, workers=1 + cores, stream=io.StringIO(), place=place)
        assert found.done == ("seed-0", "seed-1")
    assert len(place.kept) == pool.EARLY


def test_a_machine_with_another_version_trains_no_run(tmp_path, monkeypatch):
    there = pool.versions()
    monkeypatch.setattr(pool, "versions", lambda: there | {"jaxlib": "0.1"})
    with pytest.raises(UserError, match=rf"{socket.gethostname()} .*jaxlib = {there['jaxlib']}, .* 0\.1;"):
        sweep(small(seeds=2), tmp_path, workers=1, stream=io.StringIO(), place=FewCores(1))
    assert not list(tmp_path.glob("seed-*"))


class OtherDisk:
    """This machine; its processes find the folder `there` under the path `out`."""

    def __init__(self, out: Path, there: Path) -> None:
        self._paths = str(out), str(there)

    def start(self, work, arguments):
        return HERE.start(work_in_other_folder, (work, arguments, *self._paths))

    def cores(self) -> int:
        return 1


def work_in_other_folder(pipe, work, arguments, out: str, there: str) -> None:
    def moved(values):
        return [
            type(one)(str(one).replace(out, there)) if isinstance(one, str | Path) else one for one in values
        ]

    receive = pipe.recv
    pipe.recv = lambda: Job(*moved(receive()))
    work(pipe, *moved(arguments))


def test_a_machine_with_another_folder_of_that_path_trains_no_run(tmp_path):
    out, there = tmp_path / "out", tmp_path / "there"
    (there / "logs").mkdir(parents=True)
    with pytest.raises(UserError, match=f"machine {socket.gethostname()} "):
        sweep(small(seeds=2), out, workers=1, stream=io.StringIO(), place=OtherDisk(out, there))
    assert not list(there.glob("seed-*"))
    assert "done" not in (out / "sweep.jsonl").read_text()
    assert sorted(path.name for path in out.iterdir()) == [".lock", "logs", "sweep.jsonl", "sweep.toml"]


@pytest.fixture
def begun_elsewhere(tmp_path, monkeypatch) -> Job:
    """A run of a user-defined world, begun on a machine with another home than this one's."""
    settings = small(
        settings={
            "world": {"id": "tests.train.toy_worlds:make_corridor"},
            "network": {"kind": "mlp", "hidden": [8]},
            "train": {"evaluate_against": ["random"]},
        }
    )
    (run,) = plan(settings)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "there"))
    train(run.settings, tmp_path / "run", on_update=lambda *_: True)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "here"))
    return Job(tmp_path / "run", tmp_path / "log", run.settings.model_dump_json())


def test_a_run_that_another_machine_began_goes_on_with_the_programs_of_the_sweep(begun_elsewhere):
    assert work._trained(begun_elsewhere)[::2] == (work.DONE, "")
    assert lines(begun_elsewhere.folder)[-1]["agent_steps"] >= 1000


def test_a_program_that_the_sweep_does_not_name_is_still_not_trusted(begun_elsewhere):
    file = begun_elsewhere.folder / "settings.toml"
    file.write_text(file.read_text().replace('["random"]', '["tests.evaluate.farm_play:Stalls"]'))
    outcome = work._trained(begun_elsewhere)
    assert outcome.status == work.FAILED
    assert "open it once with --trust" in outcome.error


def plan_of(out: Path) -> SweepSettings:
    from interplay.core.trust import read_settings

    return read_settings(out / "sweep.toml", SweepSettings)
