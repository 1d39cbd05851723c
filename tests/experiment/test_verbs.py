"""Debug, train, visualize and analyze, as functions and as verbs; all of it without a display (F27)."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from interplay.cli import analyze, debug, train, visualize
from interplay.core.errors import UserError
from interplay.experiment import files
from interplay.experiment.params import read_params
from interplay.sim.managers import AllStepManager
from interplay.worlds import BattleAgent, TeamBattleSim
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.cli.command import refusal, typed
from tests.experiment.corridors import changed, corridor, params, write_file
from tests.experiment.crews import crew_params

pytestmark = pytest.mark.slow

STAMP = r"\d{4}-\d\d-\d\d_\d\d-\d\d"


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    """F27: no display, and a backend of matplotlib without windows."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    """A finished run of the verb, three iterations, a checkpoint after each second one."""
    pytest.importorskip("jax", reason="training needs the train extra")
    base = tmp_path_factory.mktemp("base")
    config = write_file(base, base, checkpoint_freq=2)
    from interplay.cli.main import run

    assert run(["train", str(config)]) == 0
    (folder,) = (base / "interplay_results").iterdir()
    return folder


def log_lines(run: Path) -> list[dict]:
    """The lines of a run's log about updates."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line for line in lines if "ending" not in line]


def gym_wrapped():
    from interplay.connect.gymnasium import GymWrapper

    return GymWrapper(AllStepManager(MultiCorridor(end=4, num_agents=1)))


@pytest.mark.parametrize("make", [corridor, lambda config=None: gym_wrapped()], ids=["manager", "gym"])
def test_debug_takes_managers_and_connectors(tmp_path, make):
    """F19, 6.2: exactly two files per episode."""
    given = changed(params(tmp_path), "experiment.sim_creator", make)
    folder = debug(given, episodes=2, steps_per_episode=5)
    assert folder.parent == tmp_path / "interplay_results"
    assert re.fullmatch(f"DEBUG_Two_{STAMP}(_1)?", folder.name)
    names = {f"Episode_{i}_by_{form}.txt" for i in (0, 1) for form in ("event", "agent")}
    assert {path.name for path in folder.iterdir()} == names
    events = (folder / "Episode_1_by_event.txt").read_text()
    assert events.count("Step ") <= 5


def test_the_seed_names_what_debug_plays(tmp_path):
    """6.3: config.seed"""
    texts = [(debug(params(tmp_path)) / "Episode_0_by_event.txt").read_text() for _ in range(2)]
    assert texts[0] == texts[1]
    other = debug(changed(params(tmp_path), "ray_tune.config.seed", 4)) / "Episode_0_by_event.txt"
    assert other.read_text() != texts[0]


def test_results_go_below_the_folder_of_the_call_or_home(tmp_path, monkeypatch):
    """6.2: a relative storage_path is relative to the working folder; none is the home directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert debug(params("out")).parent == tmp_path / "out" / "interplay_results"
    assert debug(params()).parent == tmp_path / "home" / "interplay_results"


def test_the_debug_verb_adds_the_file_and_draws(capsys, tmp_path):
    """6.1 and 6.2, F27: --render without a display."""
    pytest.importorskip("matplotlib", reason="drawing needs the plot extra")
    config = write_file(tmp_path, tmp_path)
    code, out, errors = typed(capsys, "debug", config, "-n", "1", "-s", "3", "--render")
    assert code == 0, errors
    (folder,) = (tmp_path / "interplay_results").iterdir()
    assert str(folder) in out
    assert sorted(path.name for path in folder.iterdir()) == [
        "Episode_0_by_agent.txt",
        "Episode_0_by_event.txt",
        "two_policies.py",
    ]
    assert (folder / "two_policies.py").read_bytes() == config.read_bytes()


def test_two_runs_of_one_minute_keep_apart(tmp_path, monkeypatch):
    """F28"""

    class Clock(files.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2025, 3, 1, 9, 5)

    monkeypatch.setattr(files, "datetime", Clock)
    experiment = read_params(params(tmp_path))
    names = [files.new_run(experiment).name for _ in range(3)]
    assert names == ["Two_2025-03-01_09-05", "Two_2025-03-01_09-05_1", "Two_2025-03-01_09-05_2"]


def test_a_run_holds_the_file_and_its_checkpoints(run_folder):
    """6.2, 6.3: checkpoint_freq and checkpoint_at_end; 16 steps of 4 worlds in an update, in each of which one of 3 agents acts."""
    assert re.fullmatch(f"Two_{STAMP}", run_folder.name)
    assert (run_folder / "two_policies.py").exists()
    checkpoints = sorted(path.name for path in (run_folder / "checkpoints").iterdir())
    assert checkpoints == [f"{steps:012}" for steps in (128, 192)]
    lines = log_lines(run_folder)
    assert [line["updates"] for line in lines] == [1, 2, 3]
    assert all(line["gradient_steps"] == 1 and line["kl"] == pytest.approx(0, abs=1e-6) for line in lines)


def test_policies_have_weights_of_their_own(run_folder):
    from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint

    tensors = read_checkpoint(latest_checkpoint(run_folder)).arrays["policy-pop0"]
    names = {name.partition("/")[0] for name in tensors}
    assert names == {"even", "odd"}
    weight = "policy/layers/0/weight"
    assert not np.array_equal(tensors[f"even/{weight}"], tensors[f"odd/{weight}"])


def test_checkpoints_are_chosen_by_number(run_folder, tmp_path):
    """6.2"""

    def chosen(number):
        return int(files.choose_checkpoint(run_folder, number).name)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [chosen(number) for number in (None, 128, 192, 2, 3)] == [192, 128, 192, 128, 192]
    with pytest.warns(UserWarning, match="no checkpoint 50"):
        assert chosen(50) == 192
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        files.choose_checkpoint(tmp_path)


def test_a_run_that_was_cut_is_resumed_to_its_end(capsys, run_folder, tmp_path):
    """The simulation is found by the copy of the file in the run folder, and the stop condition still holds."""
    cut = tmp_path / "cut"
    shutil.copytree(run_folder, cut)
    shutil.rmtree(cut / "checkpoints" / f"{192:012}")
    code, _, errors = typed(capsys, "resume", cut)
    assert code == 0, errors
    assert [path.name for path in sorted((cut / "checkpoints").iterdir())] == [
        f"{steps:012}" for steps in (128, 192)
    ]
    lines = log_lines(cut)
    assert [line["updates"] for line in lines] == [1, 2, 3]


def test_two_policies_learn(tmp_path):
    """6.3: a few thousand steps of three agents in five cells, two policies, from about -20 to above 10 each."""
    pytest.importorskip("jax", reason="training needs the train extra")
    given = params(
        tmp_path,
        run_or_experiment="A2C",
        stop={"timesteps_total": 8_000},
        settings={
            "network": {"hidden": [32]},
            "a2c": {"normalise_advantage": True, "rollout": 16},
        },
        config={"num_envs_per_worker": 8},
    )
    lines = log_lines(train(given))
    ended = [line for line in lines if line["episodes"]]

    def mean(some):
        return sum(line["episode_return"] * line["episodes"] for line in some) / sum(
            line["episodes"] for line in some
        )

    before, after = mean(ended[:3]), mean(ended[-5:])
    assert after > 15 > before + 5


@pytest.mark.parametrize("flag", ["--record-only", "--record"])
def test_recordings_are_gifs_in_the_run(capsys, run_folder, flag):
    """6.2, F27, section 3, row 10"""
    pytest.importorskip("matplotlib", reason="drawing needs the plot extra")
    pytest.importorskip("av", reason="animations need the video extra")
    code, out, errors = typed(
        capsys, "visualize", run_folder, flag, "-n", "2", "-s", "4", "--frame-delay", "100", "--seed", "1"
    )
    assert code == 0, errors
    for i in (0, 1):
        path = run_folder / f"Episode_{i}.gif"
        assert str(path) in out
        assert path.read_bytes().startswith(b"GIF89a")
        path.unlink()


def test_without_a_display_visualize_points_to_record_only(capsys, run_folder):
    """6.2"""
    assert "--record-only" in refusal(capsys, "visualize", run_folder)


def test_visualize_plays_whole_steps_and_the_likeliest_actions(run_folder, tmp_path):
    """6.2: an episode ends at done or after -s steps; the same seed shows the same."""
    pytest.importorskip("av", reason="animations need the video extra")
    given = params()
    pictures = []
    for _ in range(2):
        (path,) = visualize(given, run_folder, record_only=True, steps_per_episode=6, seed=4)
        pictures.append(path.read_bytes())
        path.unlink()
    assert pictures[0] == pictures[1]


MANUAL = '''
def run(sim, trainer):
    """As an analysis is written in the manual."""
    policy_agent_mapping = trainer.config["multiagent"]["policy_mapping_fn"]
    steps = []
    for episode in range(2):
        obs, count = sim.reset(), 0
        done = {agent: False for agent in obs}
        while True:
            joint_action = {}
            for agent_id, agent_obs in obs.items():
                if done[agent_id]:
                    continue
                policy_id = policy_agent_mapping(agent_id)
                joint_action[agent_id] = trainer.compute_action(agent_obs, policy_id=policy_id)
            obs, reward, done, info = sim.step(joint_action)
            count += 1
            if done["__all__"]:
                break
        steps.append(count)
    print("steps", *steps)
    return steps, sim, trainer
'''


def test_the_manuals_analysis_runs(capsys, run_folder, tmp_path):
    """Section 3, row 7; 6.1: `sim` is the manager."""
    script = tmp_path / "script.py"
    script.write_text(MANUAL)
    outs = [typed(capsys, "analyze", run_folder, script, "--seed", "2") for _ in range(2)]
    assert [code for code, _, _ in outs] == [0, 0], outs
    assert outs[0][1] == outs[1][1]
    assert outs[0][1].startswith("steps ")
    steps, sim, trainer = analyze(params(), run_folder, files.load_script(script), seed=2)
    assert f"steps {steps[0]} {steps[1]}\n" == outs[0][1]
    assert max(steps) <= 30  # the experiment's horizon
    assert sim.sim.unwrapped.__class__ is MultiCorridor
    assert trainer.config["policy_mapping_fn"]("agent1") == "odd"  # where the release and RLlib keep it today
    observation = sim.sim.get_obs("agent1")
    assert trainer.compute_single_action(observation, policy_id="odd") in (0, 1, 2)
    drawn = {trainer.compute_action(observation, "odd", explore=True) for _ in range(60)}
    assert len(drawn) > 1
    with pytest.raises(UserError, match="even, odd"):
        trainer.compute_action(observation)


def test_a_call_says_whether_actions_are_drawn(run_folder):
    """6.3: `explore`, either way."""
    from interplay.experiment.verbs import TrainedPolicies
    from interplay.train.run.checkpoint import latest_checkpoint

    trainer = TrainedPolicies(
        read_params(params()), latest_checkpoint(run_folder), explore=True, seed=1, trust=True
    )
    observation = corridor().reset(seed=1)["agent0"]
    drawn, likeliest = (
        {trainer.compute_action(observation, "even", explore=said) for _ in range(60)}
        for said in (None, False)
    )
    assert (len(drawn) > 1, len(likeliest)) == (True, 1)


def test_a_run_folder_needs_exactly_one_python_file(capsys, run_folder, tmp_path):
    """6.2: and says which it found otherwise."""
    (tmp_path / "script.py").write_text(MANUAL)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no Python file" in refusal(capsys, "visualize", empty)
    for name in ("a.py", "b.py"):
        (empty / name).write_text("params = {}")
    assert "a.py, b.py" in refusal(capsys, "analyze", empty, tmp_path / "script.py")
    assert "no folder" in refusal(capsys, "visualize", tmp_path / "nowhere")


def test_a_run_that_is_given_back_brings_no_modules(run_folder, tmp_path, monkeypatch):
    """The file is still signed; a module put beside it is not, and any import might find it."""
    back = tmp_path / "back"
    shutil.copytree(run_folder, back)
    (back / "planted_beside").mkdir()
    (back / "planted_beside" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [*sys.path])
    files.load_experiment_of(back)
    assert str(back) not in sys.path
    assert importlib.util.find_spec("planted_beside") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "no dictionary `params`"),
        ("params = 3", "an experiment is a dictionary"),
        ("from ray.tune.registry import register_env", "ray"),
        ("params = {'experiment': {'title': 'x', 'sim_creator': lambda config: 3}}", "sim_creator"),
    ],
)
def test_files_that_are_no_experiments(capsys, tmp_path, text, words):
    if words == "ray":
        try:
            import ray  # noqa: F401
        except ImportError:
            pass
        else:
            return  # it is there, nothing to refuse
    config = tmp_path / "config.py"
    config.write_text(text)
    assert words in refusal(capsys, "debug", config)


def test_train_takes_nothing_else_beside_an_experiment(capsys, tmp_path):
    config = write_file(tmp_path, tmp_path)
    assert "--num-worlds" in refusal(capsys, "train", config, "--num-worlds", "4")
    assert "ppo.clip" in refusal(capsys, "train", config, "ppo.clip=0.1")
    assert "no such Python file" in refusal(capsys, "train", tmp_path / "other.py")


def test_algorithms_that_there_are_not(tmp_path):
    """6.3"""
    with pytest.raises(UserError, match=r"A2C, PG, PPO.*rllib"):
        train(changed(params(tmp_path), "ray_tune.run_or_experiment", "DQN"))
    with pytest.raises(UserError, match=r"ray_tune\.stop is missing"):
        train(changed(params(tmp_path), "ray_tune.stop", {}))


def test_functions_train_kinds_masks_and_nested_spaces(tmp_path):
    """The simulation of `crews.py` refuses illegal and misdirected actions."""
    pytest.importorskip("jax", reason="training needs the train extra")
    given = crew_params(tmp_path, run_or_experiment="PPO")
    folder = train(given)
    assert [path.suffix for path in folder.glob("*.py")] == []
    pytest.importorskip("av", reason="animations need the video extra")
    (path,) = visualize(given, folder, record_only=True, seed=1)
    assert path.exists()


def test_only_policies_to_train_change(tmp_path):
    """6.3: policies_to_train"""
    pytest.importorskip("jax", reason="training needs the train extra")
    from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint

    given = params(tmp_path, checkpoint_freq=1)
    folder = train(changed(given, "ray_tune.config.multiagent.policies_to_train", ["odd"]))
    first, *_, last = (read_checkpoint(path).arrays["policy-pop0"] for path in list_checkpoints(folder))
    for name in first:
        if first[name].size:
            assert np.array_equal(first[name], last[name]) == name.startswith("even/"), name


@pytest.mark.parametrize(
    ("stop", "key", "least"),
    [
        ({"timesteps_total": 100}, "slot_steps", 300),  # slots: three agents, of which one acts in a step
        ({"episodes_total": 5}, "episodes", 5),
        ({"time_total_s": 0.1}, "time", 0.1),
        ({"training_iteration": 2, "timesteps_total": 10**6}, "updates", 2),
    ],
)
def test_stop_conditions(tmp_path, stop, key, least):
    """6.3: the run ends with the first update after which one holds."""
    pytest.importorskip("jax", reason="training needs the train extra")
    folder = train(changed(params(tmp_path), "ray_tune.stop", stop))
    lines = log_lines(folder)
    reached = np.cumsum([line[key] for line in lines]) if key == "episodes" else [line[key] for line in lines]
    assert reached[-1] >= least
    assert all(count < least for count in reached[:-1])


def test_a_run_without_checkpoints_keeps_none(tmp_path):
    """6.3: checkpoint_at_end"""
    pytest.importorskip("jax", reason="training needs the train extra")
    folder = train(params(tmp_path, checkpoint_at_end=False))
    assert list((folder / "checkpoints").iterdir()) == []
    with pytest.raises(FileNotFoundError):
        visualize(params(), folder, record_only=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = (\n", "SyntaxError: '(' was never closed"),
        ("\nx = 1 / 0\n", r"broken.py, line 2: ZeroDivisionError: division by zero; mend the file"),
        ("from interplay.sim import Agent\nAgent()\n", "broken.py: agent id None is no str"),
    ],
)
def test_what_goes_wrong_in_the_file_is_one_line(capsys, tmp_path, text, words):
    path = tmp_path / "broken.py"
    path.write_text(text)
    assert words in refusal(capsys, "debug", path)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return config['x']", "sim_creator raised KeyError: 'x'; mend it"),
        ("return AllStepManager(3)", "sim_creator: sim 3 is no AgentBasedSimulation"),
        ("return AllStepManager(crowd())", "agent b: initial_position (0, 0) is taken"),
    ],
)
def test_wrong_values_of_a_simulation_are_the_users_to_mend(capsys, tmp_path, body, words):
    """C1: one line and exit code 2, as for every other mistake."""
    path = tmp_path / "wrong.py"
    path.write_text(
        "from interplay.sim.managers import AllStepManager\n"
        "from tests.experiment.test_verbs import crowd\n"
        f"def make(config):\n    {body}\n"
        f"params = {{'experiment': {{'title': 'Wrong', 'sim_creator': make}}, 'ray_tune': {{'storage_path': {str(tmp_path)!r}}}}}\n"
    )
    assert words in refusal(capsys, "debug", path)


def crowd():
    """Two agents on one cell."""
    agents = {
        name: BattleAgent(id=name, encoding=number, initial_position=np.zeros(2, int))
        for number, name in enumerate("ab", 1)
    }
    return TeamBattleSim.build_sim(4, 4, agents=agents, attack_mapping={1: 2, 2: 1})
