"""Each rule finds its fault in a run that has it; healthy runs are silent; a live run and its log agree."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.settings import build, merge
from interplay.train.diagnosis.judge import EVERY, Judge, LiveDiagnosis
from interplay.train.diagnosis.measures import (
    Counts,
    Sample,
    _count,
    count_actions,
    count_choices,
    spread,
)
from interplay.train.diagnosis.rules import STRETCH, columns_of
from interplay.train.distributions import Distribution
from interplay.train.observations import ObservationRows
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from interplay.verbs.run import Run
from tests.train.ailing_world import factory
from tests.train.runs import log_of
from tests.train.toy_worlds import make_two_kinds

BASE = {
    "world": {"id": "cues"},
    "num_worlds": 8,
    "steps": 10**9,
    "train": {"shards": 2, "max_updates": 30, "checkpoint_seconds": 1000.0, "quiet": True},
    "ppo": {"rollout": 32, "minibatch": 64, "epochs": 2, "learning_rate": 1e-3, "gamma": 0.9},
    "network": {"kind": "mlp", "hidden": [16]},
}

# Fault -> options of the world, settings, the rule that finds it, and others that may.
FAULTS: dict[str, tuple[dict[str, Any], dict[str, Any], str, set[str]]] = {
    "tiny max_grad_norm": (
        {},
        {"ppo": {"max_grad_norm": 1e-6}},
        "gradients are cut",
        {"the policy stands still"},
    ),
    "a critic that is not trained": (
        {"scale": 300.0},
        {
            "ppo": {"value_coefficient": 0.0, "target_kl": "off"},
            "network": {"activation": "relu"},
            "train": {"max_updates": 40},
        },
        "the critic does not fit",
        {"inputs are large", "the policy jumps"},
    ),
    "learning rate 0": ({}, {"ppo": {"learning_rate": 0.0}}, "the policy stands still", set()),
    "huge learning rate": (
        {"box": 1.0, "by_chance": True},
        {"ppo": {"learning_rate": 0.3}},
        "the policy jumps",
        {"the critic does not fit", "actions are clipped", "gradients are cut", "returns are far from 1"},
    ),
    "chosen at once": (
        {"gift": True},
        {"ppo": {"learning_rate": 0.3, "target_kl": "off"}},
        "entropy is gone early",
        {"the critic does not fit", "the policy jumps"},
    ),
    "huge entropy bonus": (
        {},
        {"ppo": {"entropy_coefficient": 10.0, "rollout": 8, "minibatch": 128}, "train": {"max_updates": 90}},
        "entropy stays high",
        {"the policy stands still"},
    ),
    "inputs around 5,000": ({"offset": 5e3}, {}, "inputs are large", {"inputs are far from 0"}),
    "inputs around 1,000": ({"offset": 1e3}, {}, "inputs are far from 0", {"inputs are large"}),
    "a constant input": (
        {"scale": 0.0, "offset": 1.0},
        {"train": {"max_updates": 60}},
        "inputs are constant",
        set(),
    ),
    "rewards times 1,000": (
        {},
        {"ppo": {"reward_scale": 1e3}},
        "returns are far from 1",
        {"gradients are cut"},
    ),
    "rewards over 10,000": ({}, {"ppo": {"reward_scale": 1e-4}}, "returns are far from 1", set()),
    "one agent is paid 1,000 times more": ({"pay": (1e-3, 1.0)}, {}, "rewards are of unlike size", set()),
    "no reward": ({"pay": (0.0, 0.0)}, {}, "no reward is paid", set()),
    "a Box with one bound": ({"least": 3.0}, {}, "actions are clipped", set()),
    "one legal choice": ({"forced": True}, {}, "masks leave one choice", {"the policy stands still"}),
    "a far reward": (
        {"length": 300},
        {"ppo": {"gamma": 0.999, "rollout": 8, "minibatch": 128}, "train": {"max_updates": 130}},
        "the horizon is short",
        {"the policy stands still"},
    ),
    "a run shorter than an episode": ({"length": 2000}, {}, "episodes are few", set()),
}


def settings_of(**more: Any) -> TrainSettings:
    return build(TrainSettings, merge(BASE, more), "test")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_with_a_fault_is_diagnosed(fault: str, tmp_path: Path) -> None:
    options, settings, rule, others = FAULTS[fault]
    run = train(settings_of(**settings), tmp_path / "run", factory(**options))
    found = {finding.rule for finding in Run(run).diagnose().findings}
    assert rule in found
    assert found <= {rule} | others


# -- measurements, by a second road --------------------------------------------------------------------


def test_a_row_has_one_choice_where_every_head_has_one() -> None:
    space = spaces.MultiDiscrete([3, 2])
    network: Any = SimpleNamespace(distribution=Distribution(space, masked=True))
    mask = np.array([[1, 0, 0, 1, 1], [1, 0, 0, 0, 1], [1, 1, 0, 1, 0], [0, 1, 0, 1, 0]], bool)
    found = Counts(*_count(network, Sample({}, mask, np.zeros((4, 2)), np.zeros(4, int))))
    assert (found.masked, found.single) == (4, 2)
    assert (found.numbers, found.clipped) == (0, 0)


def test_measurements_of_a_world_whose_numbers_are_known(tmp_path: Path) -> None:
    options = {"scale": 3.0, "offset": 1.0, "pay": (0.25, 2.0)}
    settings = settings_of(train={"max_updates": 2}, ppo={"reward_scale": 0.5})
    for line in log_of(train(settings, tmp_path / "run", factory(**options))):
        assert line["input_abs_max"] == {"cue": 4.0}
        assert line["input_range"] == {"cue": 6.0}
        assert line["reward_abs_max"] == 1.0
        assert line["reward_ratio"] == 8.0
        assert line["entropy_max"] == pytest.approx(np.log(2))
        assert "one_choice" not in line
        assert "clipped_actions" not in line
    assert line["episodes_ended"] == 8 * (2 * 32 // 10)


def test_kinds_with_networks_of_their_own_may_be_paid_unalike(tmp_path: Path) -> None:
    """Walkers are paid 0.1 a step, their guide 1: no policy has to learn from both."""
    settings = settings_of(train={"max_updates": 2})
    for line in log_of(train(settings, tmp_path / "run", make_two_kinds)):
        assert line["reward_abs_max"] == 1.0
        assert "reward_ratio" not in line


def test_choices_are_counted_by_head() -> None:
    mask = np.array([[1, 0, 0, 1, 1], [1, 1, 1, 0, 1]], bool)
    assert count_choices(Distribution(spaces.MultiDiscrete([3, 2])), mask).tolist() == [[1, 2], [3, 1]]


def test_numbers_beyond_the_box_are_counted() -> None:
    space = spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(-1, 2, (2,), np.float32))
    action = np.array([[1, -1.5, 0.0], [0, 1.0, 1.5]], np.float32)
    assert count_actions(Distribution(space), action) == (4, 2)


def test_extremes_are_those_that_a_network_reads() -> None:
    space = spaces.Dict(
        bounded=spaces.Box(0, 100, (2,), np.float32), free=spaces.Box(-np.inf, np.inf, (1,), np.float32)
    )
    rows = {"float32": np.array([[0.0, 50.0, 17.0], [100.0, 50.0, 19.0]], np.float32)}
    for scale, near in ((False, [0.0, 50.0, 100.0, 50.0]), (True, [-1.0, 0.0, 1.0, 0.0])):
        found = ObservationRows(space, scale).extremes(rows)
        low, high, offset = found["bounded"]
        assert offset.tolist() == [0.0, 0.0] if scale else [1.0, 0.0]
        assert found["free"][2] == 18.0
        assert [*low, *high] == near
        assert (*found["free"][0], *found["free"][1]) == (17.0, 19.0)


@pytest.mark.parametrize("count", [5_000, 8_192, 65_536])
def test_a_spread_sample_meets_every_agent(count: int) -> None:
    """Rows lie agent after agent: a sample of every n-th row could be one agent's alone."""
    some = spread(count, 2048)
    assert len(set(some)) == 2048
    for agents in (2, 8, 32):
        for part in (some, some[:256]):
            seen = np.bincount(part % agents, minlength=agents)
            assert seen.min() > 0.5 * len(part) / agents


# -- judging ---------------------------------------------------------------------------------------------


def healthy(lines: int) -> list[dict[str, Any]]:
    numbers = {
        "kl": 0.01,
        "entropy": 0.5,
        "entropy_max": 0.7,
        "gradient_norm": 1.0,
        "gradient_steps": 8,
        "rows": 512,
    }
    numbers |= {"explained_variance": 0.5, "target_rms": 1.0, "target_std": 0.5, "reward_abs_max": 1.0}
    return [{"agent_steps": 100 * (i + 1), "updates": i + 1, **numbers} for i in range(lines)]


def judged(lines: list[dict[str, Any]], **settings: Any) -> Judge:
    judge = Judge(settings_of(**settings))
    judge.add(columns_of(lines))
    return judge


def test_a_fault_is_reported_from_where_it_begins_to_where_it_ends() -> None:
    lines = healthy(60)
    for at in range(10, 10 + STRETCH + 5):
        lines[at]["gradient_norm"] = 100.0 + at
    (finding,) = judged(lines).findings()
    assert (finding.rule, finding.begins, finding.ends, finding.holds) == (
        "gradients are cut",
        1100,
        3500,
        False,
    )
    assert finding.value == 100.0 + 10 + (STRETCH - 1) / 2  # the median of the first stretch


@pytest.mark.parametrize("length", [STRETCH - 1, STRETCH])
def test_a_fault_must_last(length: int) -> None:
    lines = healthy(60)
    for line in lines[20 : 20 + length]:
        line["gradient_norm"] = 1e6
    assert bool(judged(lines).findings()) is (length == STRETCH)


def test_lines_without_the_number_neither_break_nor_lengthen_a_stretch() -> None:
    lines = healthy(2 * STRETCH)
    for i, line in enumerate(lines):
        line["gradient_norm"] = 1e6 if i % 2 else None
    (finding,) = judged(lines).findings()
    assert (finding.begins, finding.holds) == (200, True)
    assert judged(lines[:-1]).findings() == []


def test_subjects_are_judged_one_by_one() -> None:
    lines = healthy(30)
    for i, line in enumerate(lines):  # each leaf half of the time is no leaf all of the time
        line["input_abs_max"] = {"a": 99.0, "b": 50.0, "c": 99.0 if i % 2 else 1.0}
    (finding,) = judged(lines).findings()
    assert (finding.subjects, finding.value) == (("a", "b"), 99.0)


def test_a_live_run_finds_what_its_log_shows() -> None:
    lines = healthy(7 * EVERY)
    for line in lines[15:]:
        line["gradient_norm"] = 1e6
    for line in lines[33:60]:
        line["explained_variance"] = -1.0
    live = LiveDiagnosis(settings_of(), Path("no-such-log"))
    said = [word for line in lines for word in live.add(line["agent_steps"], line)]
    found = judged(lines).findings()
    assert sorted(said) == sorted(f"{one.rule}: {one.text}" for one in found)
    assert len(said) == 2


@pytest.mark.parametrize("algorithm", ["policy_gradient", "vdn", "qmix"])
def test_rules_of_ppo_are_silent_elsewhere(algorithm: str) -> None:
    lines = healthy(40)
    for line in lines:
        line["kl"] = 0.0
    assert judged(lines).findings() != []
    assert judged(lines, algorithm=algorithm).findings() == []


@pytest.mark.parametrize("length", [1.0, 2.0])
def test_a_game_of_one_step_has_nothing_to_see(length: float) -> None:
    lines = healthy(40)
    for line in lines:
        line |= {"input_range": {"a": 0.0, "b": 0.0}, "episode_length": length}
    assert [finding.rule for finding in judged(lines).findings()] == ["inputs are constant"] * (length > 1)


def test_an_old_log_is_judged_by_what_it_has() -> None:
    lines = [
        {name: line[name] for name in ("agent_steps", "kl", "gradient_steps", "gradient_norm", "rows")}
        for line in healthy(40)
    ]
    for line in lines:
        line["gradient_norm"] = 1e6
    judge = judged(lines)
    assert [finding.rule for finding in judge.findings()] == ["gradients are cut"]
    assert {one.rule: one.lacks for one in judge.unjudged()}["inputs are large"] == ("input_abs_max",)
    assert not judged(healthy(40)).unjudged()


# -- whole runs ------------------------------------------------------------------------------------------


def test_a_warning_comes_once_also_after_a_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_of(ppo={"learning_rate": 0.0}, train={"max_updates": 30, "quiet": False})
    run = train(settings, tmp_path / "run", factory())
    assert capsys.readouterr().err.count("the policy stands still") == 1
    text = (run / "settings.toml").read_text()
    (run / "settings.toml").write_text(text.replace("max_updates = 30", "max_updates = 60"))
    resume(run, make_world=factory(), accept_settings=True)
    assert len(log_of(run)) == 60
    assert capsys.readouterr().err.count("the policy stands still") == 0


def test_replayed_teams_are_measured(tmp_path: Path) -> None:
    settings = {
        "world": {"id": "matrix/climbing"},
        "num_worlds": 8,
        "steps": 10**6,
        "algorithm": "qmix",
        "train": {"shards": 2, "max_updates": 30, "quiet": True},
        "qmix": {"minibatch": 64, "sequence": 8, "max_grad_norm": 1e-6, "reward_scale": 1e3},
        "network": {"kind": "mlp", "hidden": [8]},
    }
    run = Run(train(build(TrainSettings, settings, "test"), tmp_path / "run"))
    assert {finding.rule for finding in run.diagnose().findings} == {
        "gradients are cut",
        "returns are far from 1",
    }
    last = log_of(run.folder)[-1]
    assert last["input_abs_max"] == {"own": 1.0, "other": 1.0, "round": pytest.approx(0.9)}
    assert not {"target_rms", "entropy_max", "clipped_actions"} & set(last)


HEALTHY = {
    "survival/1v1-heals-low": 150_000,
    "pong/2p": 200_000,
    "battle/3m": 250_000,  # in a quarter of it four worlds learn to run away
    "dilemma/fixed": 200_000,
    "simulation/multi-corridor": 100_000,
    "matrix/climbing": 50_000,
    "matrix/rock-paper-scissors": 60_000,
    "werewolf/9": 8_000,
    "gridworld/foraging": 60_000,
    "mmo/forage": 60_000,
}


@pytest.mark.parametrize("world", HEALTHY)
def test_a_healthy_run_is_silent(world: str, tmp_path: Path) -> None:
    import interplay

    run = interplay.train(world, tmp_path / "run", steps=HEALTHY[world], train={"workers": 1, "quiet": True})
    found = run.diagnose()
    assert found.measurements >= STRETCH
    assert found.findings == ()
