"""Each rule finds its fault in a run that has it; healthy runs are silent; a live run and its log agree."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.settings import build, merge
from interplay.train.diagnosis import measures
from interplay.train.diagnosis.judge import EVERY, Judge, LiveDiagnosis
from interplay.train.diagnosis.measures import (
    Counts,
    Sample,
    _count,
    _measure_shard,
    _most_entropy,
    _powers,
    _read_counts,
    _read_entropy,
    _read_slots,
    _sample,
    count_choices,
    count_clipped,
    spread,
)
from interplay.train.diagnosis.rules import STRETCH, columns_of
from interplay.train.distributions import Distribution
from interplay.train.observations import ObservationRows
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from interplay.verbs.run import Run
from tests.train.ailing_world import factory
from tests.train.runs import log_of, worker_of
from tests.train.toy_worlds import make_two_kinds

BASE = {
    "world": {"id": "cues"},
    "num_worlds": 8,
    "steps": 10**9,
    "train": {"shards": 2, "max_updates": 30, "checkpoint_seconds": 1000.0, "quiet": True},
    "ppo": {"rollout": 32, "minibatch": 64, "epochs": 2, "learning_rate": 1e-3, "gamma": 0.9},
    "network": {"kind": "mlp", "hidden": [16]},
}

CUT = "updates are cut short"

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
        {
            "the critic does not fit",
            "actions are clipped",
            "gradients are cut",
            "returns are far from 1",
            CUT,
        },
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
    """Rows 1 and 3, which stand for 1 and 2 of the rows; beside a Box none."""
    space = spaces.MultiDiscrete([3, 2])
    network: Any = SimpleNamespace(distribution=Distribution(space, masked=True))
    mask = np.array([[1, 0, 0, 1, 1], [1, 0, 0, 0, 1], [1, 1, 0, 1, 0], [0, 1, 0, 1, 0]], bool)
    sample = Sample({}, mask, np.zeros((4, 2)), np.zeros(4, int), np.array([1.0, 1, 1, 2]))
    found = Counts(*_count(network, sample))
    assert (found.masked, found.single) == (5, 3)
    assert (found.numbers, found.clipped) == (0, 0)
    both = spaces.Dict(a=space, b=spaces.Box(-1, 1, (1,), np.float32))
    network.distribution = Distribution(both, masked=True)
    found = Counts(*_count(network, sample._replace(action=np.array([[0, 0, own] for own in (2, 0, 0, 2)]))))
    assert found[:4] == (5, 3, 5, 0)


def test_shares_and_sizes_by_hand() -> None:
    """Values 1, 2, 3 and 4 have the mean 2.5 and the mean square 7.5; slots with few rewards are not compared."""
    numbers = _read_counts(Counts(8, 2, 10, 4, *_powers(np.arange(1, 5, dtype=np.float32))))
    assert numbers == {
        "clipped_actions": 0.25,
        "one_choice": 0.4,
        "target_rms": pytest.approx(7.5**0.5),
        "target_std": pytest.approx(1.25**0.5),
    }
    assert _read_counts(Counts(0, 0)) == {}
    assert _read_entropy(np.array([[2, 0, 6], [1, 0, 6.5]]), "abc") == {
        "entropy_max": 7.5 / 8,
        "entropy_max[a]": 0.5,
        "entropy_max[c]": 6.5 / 6,
    }
    assert _read_entropy(np.array([[2, 6], [1, np.inf]]), "ab") == {"entropy_max[a]": 0.5}
    assert _read_slots(np.array([40, 31, 50]), np.array([160.0, 1e9, 12.5])) == {"reward_ratio": 4.0}
    assert _read_slots(np.array([40, 31]), np.array([160.0, 1e9])) == {}


def test_the_greatest_entropy_is_that_of_the_legal_choices() -> None:
    """Of two heads: 2 and 1 choices for population 0; 3 and 2, 1 and 1 for population 2."""
    mask = np.array([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]], bool)
    sample = Sample({}, mask, np.zeros((3, 2)), np.array([0, 2, 2]), np.ones(3))
    network: Any = SimpleNamespace(
        distribution=Distribution(spaces.MultiDiscrete([3, 2]), masked=True), always_greedy=False
    )
    rows, most = _most_entropy(network, sample, 3)
    assert rows.tolist() == [1, 0, 2]
    assert most == pytest.approx([np.log(2), 0, np.log(6)])
    assert _most_entropy(network, sample._replace(mask=None), 3)[1] == pytest.approx(
        np.log(6) * np.array([1, 0, 2])
    )
    weighted = _most_entropy(network, sample._replace(weight=np.array([5.0, 3, 3])), 3)
    assert weighted == pytest.approx(np.array([[5, 0, 6], [5 * np.log(2), 0, 3 * np.log(6)]]))
    network.distribution = Distribution(spaces.Box(-1, 1, (2,), np.float32))
    assert _most_entropy(network, sample, 3).tolist() == [[1, 0, 2], [np.inf, 0, np.inf]]


@pytest.mark.parametrize("rows", [2048, 8])
def test_a_policy_without_preferences_has_the_greatest_entropy_of_all_its_kinds(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a shard's rows in an update, 2 x 128 of walkers with 2 choices and 128 of guides with 6, at most 8 of each are measured."""
    monkeypatch.setattr(measures, "ROWS", rows)
    settings = settings_of(ppo={"learning_rate": 0.0})
    with contextlib.closing(worker_of(settings, make_two_kinds)) as worker:
        worker.learner.vectors = {name: 0 * own for name, own in worker.learner.vectors.items()}
        numbers = worker.update()
    assert np.log(2) < numbers["entropy"] < np.log(6)
    assert numbers["entropy_max"] == pytest.approx(numbers["entropy"], rel=1e-5)


def test_an_update_s_own_rows_and_rewards_are_measured() -> None:
    """Two steps and three rows are of earlier updates; a row that does not act is none."""
    reward = np.array([[[9, 9]], [[9, 9]], [[-3, 0]], [[2, 0.5]]], np.float32)
    pending = SimpleNamespace(
        kept=3,
        count=7,
        acts=np.array([1, 1, 1, 1, 0, 1, 1, 1], bool),
        seen=SimpleNamespace(mask=None, rows={"float32": np.arange(8.0)[:, None]}),
        action=np.arange(8.0)[:, None] + 100,
        population=np.arange(8) + 200,
    )
    buffer = SimpleNamespace(reward=reward, earlier=2)
    collector = SimpleNamespace(recorder=None, pending={"agent": pending}, buffer=buffer)
    shard: Any = SimpleNamespace(networks={}, collector=collector)
    sample = _sample(shard, "agent")
    assert sample.rows["float32"][:, 0].tolist() == [3, 5, 6]
    assert sample.weight.tolist() == [1, 1, 1]
    assert (sample.action[:, 0].tolist(), sample.population.tolist()) == ([103, 105, 106], [203, 205, 206])
    row = _measure_shard(shard, count=1, slots=2)
    assert row[len(Counts._fields) :].tolist() == [3.0, 0, 0, 2, 1, 13, 0.25]


def test_rows_of_a_small_and_a_large_replay_weigh_as_many_as_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At most 4 of each are read: 4 of 2 x 8 x 1, which all act, and both of 1 x 2 x 1, of which one acts."""
    monkeypatch.setattr(measures, "ROWS", 4)

    def replay(there: int, acts: np.ndarray) -> SimpleNamespace:
        ring = SimpleNamespace(
            acts=acts,
            mask=None,
            action=np.zeros((*acts.shape, 1)),
            rows={"float32": np.zeros((*acts.shape, 2))},
        )
        return SimpleNamespace(there=there, ring=ring)

    replays = replay(2, np.ones((3, 8, 1), bool)), replay(1, np.array([[[True], [False]]]))
    groups = [SimpleNamespace(kind="agent", population=number) for number in range(2)]
    recorder: Any = SimpleNamespace(team_groups=groups, replays=replays)
    collector = SimpleNamespace(recorder=recorder)
    shard: Any = SimpleNamespace(networks={"agent": None}, collector=collector)
    sample = _sample(shard, "agent")
    assert sample.population.tolist() == [0, 0, 0, 0, 1]
    assert sample.weight.tolist() == [4, 4, 4, 4, 1]


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
    assert count_clipped(Distribution(space), action).tolist() == [1, 1]


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


def late(first: int, numbers: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """These numbers from update `first` on."""
    return lambda update: numbers if update >= first else {}


def early(last: int, numbers: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """These numbers up to update `last`."""
    return lambda update: numbers if update <= last else {}


FIT, STILL, FAR = "the critic does not fit", "the policy stands still", "the policy jumps"
EARLY, HIGH, LARGE = "entropy is gone early", "entropy stays high", "inputs are large"
SIZE, SHORT, FEW = "returns are far from 1", "the horizon is short", "episodes are few"
GONE, CHANCE = {"entropy": 0.007, "episode_return": -2.0}, {"entropy": 0.69}
BAD, NO_STEP = {"explained_variance": -0.06}, {"kl": 0.5e-7}
PPO, BONUS = {"rollout": 4, "minibatch": 16}, {"ppo": {"entropy_coefficient": 0.01}}


def lives(horizon: int) -> dict[str, Any]:
    """Settings that sum rewards over this many steps."""
    own = {"rollout": 4, "gamma": 0.999, "returns": "lives", "horizon": horizon}
    return {"algorithm": "policy_gradient", "policy_gradient": own}


# Numbers of each of 60 lines of healthy ones, or a function of the update; settings; the fault, if it is one.
JUDGED: list[tuple[Any, dict[str, Any], str]] = [
    ({"gradient_norm": 51.0}, {"ppo": {"max_grad_norm": 0.5}}, "gradients are cut"),
    ({"gradient_norm": 49.0}, {"ppo": {"max_grad_norm": 0.5}}, ""),
    (BAD, {}, FIT),  # 8 gradient steps an update: judged from update 25 on
    ({"explained_variance": -0.04}, {}, ""),
    (BAD | {"target_std": 0.009}, {}, ""),
    (BAD | {"target_std": 0.011}, {}, FIT),
    (BAD | {"target_std": 0.011, "target_rms": 2.0}, {}, ""),
    (BAD | {"gradient_steps": 4}, {}, ""),  # from update 50 on: 11 lines
    (BAD | {"gradient_steps": 5}, {}, FIT),
    (NO_STEP, {}, STILL),
    ({"kl": 2e-7}, {}, ""),
    *(({"kl": 0.0}, {"algorithm": own}, "") for own in ("policy_gradient", "vdn", "qmix")),
    (NO_STEP | {"gradient_steps": 1}, {}, ""),
    (NO_STEP | {"rows": 0}, {}, ""),
    (NO_STEP | {"entropy": 0.034}, {}, ""),
    (NO_STEP | {"entropy": 0.036}, {}, STILL),
    (NO_STEP, {"ppo": {"learning_rate": "linear 1e-3 0"}}, ""),  # the second half begins at update 15
    (NO_STEP, {"ppo": {"learning_rate": "linear 1e-3 0"}, "train": {"max_updates": 50}}, STILL),
    ({"kl": 0.11}, {"ppo": {"target_kl": 0.02}}, FAR),
    ({"kl": 0.09}, {"ppo": {"target_kl": 0.02}}, ""),
    ({"kl": 0.21}, {"ppo": {"target_kl": "off"}}, FAR),
    ({"kl": 0.19}, {"ppo": {"target_kl": "off"}}, ""),
    (lambda update: {"epochs": 0.9 if update % 2 else 2.0}, {}, CUT),
    (lambda update: {"epochs": 0.9 if update % 20 < 9 else 2.0}, {}, ""),
    ({"epochs": 1.0}, {}, ""),
    (lambda update: {"epochs": 2.0 if update > 19 else 0.5}, {}, CUT),  # 10 of 20 from update 20 to 29
    (lambda update: {"epochs": 2.0 if update > 18 else 0.5}, {}, ""),
    (lambda update: {"epochs": 0.5 if update > 41 else 2.0}, {}, CUT),  # from update 51 to 60
    (lambda update: {"epochs": 0.5 if update > 42 else 2.0}, {}, ""),
    ({"epochs": 0.5}, {"algorithm": "vtrace"}, ""),
    (GONE, {}, EARLY),
    (GONE | {"entropy": 0.015}, {}, ""),
    ({"entropy": 0.007}, {}, ""),  # no episode has ended
    (lambda update: GONE | {"episode_return": 0.1 * update - 3.0}, {}, ""),
    (lambda update: GONE | {"episode_return": -0.1 * update}, {}, EARLY),
    (late(11, GONE), {}, EARLY),
    (late(12, GONE), {}, ""),  # until update 20: 9 lines
    (CHANCE, BONUS | {"train": {"max_updates": 41}}, ""),  # late from update 50 on: 11 lines
    (lambda update: CHANCE | {"updates": update + 10}, BONUS | {"train": {"max_updates": 41}}, HIGH),
    (lambda update: CHANCE | {"updates": update + 10}, BONUS | {"train": {"max_updates": 110}}, ""),
    (lambda update: CHANCE | {"updates": update + 10}, {}, ""),
    (lambda update: {"entropy": 0.68, "updates": update + 10}, BONUS, ""),
    ({"input_offset": {"a": 19.0, "b": 21.0}}, {}, "inputs are far from 0"),
    ({"input_offset": {"a": 19.0}}, {}, ""),
    ({"input_abs_max": {"a": 9.0, "b": 11.0}}, {}, LARGE),
    ({"input_abs_max": {"a": 9.0}}, {}, ""),
    ({"input_abs_max": {"a": 11.0}, "explained_variance": 0.51}, {}, ""),
    (lambda u: {"input_abs_max": {"a": 11.0}, "episode_return": -4.0 if u < 3 else -2.9}, {}, ""),
    (lambda u: {"input_abs_max": {"a": 11.0}, "episode_return": -4.0 if u < 3 else -3.1}, {}, LARGE),
    ({"input_range": {"a": 0.0, "b": 0.1}, "episode_length": 9.0}, {}, ""),
    ({"input_range": {"a": 0.0, "b": 0.0}, "episode_length": 2.0}, {}, "inputs are constant"),
    ({"input_range": {"a": 0.0, "b": 0.0}, "episode_length": 1.0}, {}, ""),  # nothing to see
    ({"target_rms": 101.0, "target_std": 9.0}, {}, SIZE),
    ({"target_rms": 99.0, "target_std": 9.0}, {}, ""),
    ({"target_rms": 0.9e-3}, {}, SIZE),
    ({"target_rms": 1.1e-3}, {}, ""),
    ({"target_rms": None, "q_target": -101.0}, {"algorithm": "qmix"}, SIZE),
    ({"target_rms": None, "q_target": -99.0}, {"algorithm": "qmix"}, ""),
    ({"reward_ratio": 101.0}, {}, "rewards are of unlike size"),
    ({"reward_ratio": 99.0}, {}, ""),
    (BAD | {"reward_abs_max": 0.0, "target_rms": 0.0}, {}, "no reward is paid"),
    ({"clipped_actions": 0.91}, {}, "actions are clipped"),
    ({"clipped_actions": 0.89}, {}, ""),
    ({"one_choice": 0.91}, {}, "masks leave one choice"),
    ({"one_choice": 0.89}, {}, ""),
    ({"episode_length": 121.0}, {"ppo": PPO | {"gamma": 0.995}}, SHORT),  # 30 times 4 steps, and 200 ahead
    ({"episode_length": 119.0}, {"ppo": PPO | {"gamma": 0.995}}, ""),
    ({"episode_length": 999.0}, {"ppo": PPO | {"gamma": 0.99}}, ""),
    ({"episode_length": 999.0}, lives(34), ""),
    ({"episode_length": 999.0}, lives(33), SHORT),
    ({"episode_length": 999.0}, {"algorithm": "qmix", "qmix": {"gamma": 0.999, "sequence": 33}}, SHORT),
    ({"episode_length": 999.0}, {"algorithm": "qmix", "qmix": {"gamma": 0.999, "sequence": 34}}, ""),
    ({"episode_length": 999.0}, {"ppo": PPO | {"gamma": 0.999, "discount": "decision"}}, ""),
    ({"episodes_ended": 7}, {}, FEW),  # of 8 worlds
    ({"episodes_ended": 8}, {}, ""),
    (early(14, {"episodes_ended": 7}), {}, ""),
    ({"episodes_ended": 7, "life": 5.0}, {}, ""),
    ({"episodes_ended": 7, "lives": 2}, {}, ""),
    ({"episodes_ended": 7}, {"train": {"max_updates": 130}}, ""),
    ({"episodes_ended": 7}, {"train": {"max_updates": 130, "max_episodes": 14}}, FEW),
    ({"episodes_ended": 7}, {"train": {"max_updates": 130, "max_episodes": 15}}, ""),
    ({"episodes_ended": 7}, {"train": {"max_updates": 130}, "steps": 11_000}, FEW),
]


@pytest.mark.parametrize("case", range(len(JUDGED)))
def test_each_rule_has_its_bounds(case: int) -> None:
    """Judged at once, or a few lines at a time."""
    numbers, settings, fault = JUDGED[case]
    lines = healthy(60)
    for line in lines:
        line |= numbers(line["updates"]) if callable(numbers) else numbers
    at_once = judged(lines, **settings)
    assert [finding.rule for finding in at_once.findings()] == ([fault] if fault else [])
    by_and_by = Judge(settings_of(**settings))
    for first in range(0, 60, 7):
        by_and_by.add(columns_of(lines[first : first + 7]))
    assert by_and_by.findings() == at_once.findings()


def test_of_several_the_worst_is_named() -> None:
    lines = healthy(30)
    for line in lines:
        line |= {"gradient_norm[a]": 60.0, "gradient_norm[b]": 80.0, "episode_return": 1.0}
        line |= {"entropy[a]": 0.01, "entropy_max[a]": 1.0, "entropy[b]": 0.001, "entropy_max[b]": 0.5}
    found = judged(lines, ppo={"max_grad_norm": 0.5}).findings()
    assert [(one.subjects, one.value) for one in found] == [(("a", "b"), 80.0), (("a", "b"), 0.002)]


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
