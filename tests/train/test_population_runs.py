"""Whole runs with populations: they learn, the best checkpoint is kept, a population's file can be loaded alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.settings import changed
from interplay.evaluate.last import count_last
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.run.best import Best
from interplay.train.run.checkpoint import latest_checkpoint, list_checkpoints, read_checkpoint
from interplay.train.settings import (
    NetworkGroup,
    PopulationGroup,
    PpoGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.trainer import load_policy, train
from interplay.view.run_log import read_run
from tests.train.meadow import Meadow, make_meadow
from tests.train.runs import go_on, log_of, short_run
from tests.train.toy_worlds import make_corridor

pytestmark = pytest.mark.slow


def settings_of(
    updates: int, workers: int = 1, algorithm: str = "policy_gradient", **own: Any
) -> TrainSettings:
    group: dict[str, Any] = {"rollout": 16, "horizon": 40, "learning_rate": 2e-2, "gamma": 0.9}
    if algorithm == "ppo":
        group = {"rollout": 16, "minibatch": 256, "epochs": 2, "learning_rate": 1e-2, "target_kl": 0.05}
    return short_run(
        "meadow",
        {algorithm: group | own},
        num_worlds=16,
        algorithm=algorithm,
        train={"shards": 4, "workers": workers, "max_updates": updates, "best_by": "life"},
        population={"block": 32},
        network={"kind": "tiles", "width": 8, "activation": "none", "probability_floor": 0.001},
    )


def mean_life(policy: Policy) -> float:
    world = Meadow(16, seed=77)
    policy.start(world, seed=1)
    timestep = world.reset()
    lives, steps = 0, 0
    for _ in range(200):
        timestep = world.step(policy.act(timestep))
        lives += int((timestep.terminated | timestep.truncated).sum())
        steps += int(timestep.acting.sum())
    return steps / max(lives, 1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    saved = {"checkpoint_updates": 7, "best_measurements": 10}
    settings = changed(settings_of(60), {"train": saved}, "test")
    return train(settings, tmp_path_factory.mktemp("trained") / "run", make_meadow)


def test_every_population_learns_to_live_longer(trained: Path) -> None:
    log = log_of(trained)
    for name in ("pop0", "pop1", "pop2"):
        lives = [line[f"life[{name}]"] for line in log if f"life[{name}]" in line]
        assert np.mean(lives[-5:]) > 2.5 * np.mean(lives[:5])
    assert {"entropy[pop1]", "rows[pop2]", "life_return[pop0]", "fed[pop0]", "fed"} <= set(log[-1])
    assert mean_life(load_policy(trained)) > 2.5 * mean_life(RandomPolicy())


@pytest.mark.parametrize("metric", ["fed", "fed[pop1]", "life_return"])
def test_the_last_value_of_a_world_s_own_metric_is_that_of_its_lives(trained: Path, metric: str) -> None:
    _, bracket, population = metric.partition("[")
    found = [
        (line[metric], line[f"lives{bracket}{population}"]) for line in log_of(trained) if metric in line
    ]
    values, lives = np.array(found[-count_last(len(found)) :]).T
    last = read_run(trained).last(metric)
    assert (last.value, last.cases) == (pytest.approx((values * lives).sum() / lives.sum()), lives.sum())
    assert last.value != pytest.approx(values.mean(), rel=1e-6)
    assert read_run(trained).unit(metric) == "per life"


def test_ppo_learns_with_populations_too(tmp_path: Path) -> None:
    settings = settings_of(25, algorithm="ppo", epochs=8, gamma=0.9)
    run = train(settings, tmp_path / "run", make_meadow)
    log = log_of(run)
    assert log[-1]["life"] > 2.0 * log[0]["life"]
    assert log[-1]["gradient_steps"] > 1


def test_the_best_checkpoint_by_mean_life_is_kept(trained: Path) -> None:
    log, saved = log_of(trained), list_checkpoints(trained)
    assert len(saved) == 3  # keep_checkpoints; the best one stands beside them
    windows = [log[i : i + 10] for i in range(0, 60, 10)]
    means = [sum(x["life"] * x["lives"] for x in s) / sum(x["lives"] for x in s) for s in windows]
    best = read_checkpoint(trained / "checkpoints" / "best")
    assert best.agent_steps == windows[int(np.argmax(means))][-1]["agent_steps"]
    assert best.record["best"]["value"] == pytest.approx(max(means))
    assert isinstance(load_policy(trained / "checkpoints" / "best"), TrainedPolicy)


def best_bits(run: Path) -> tuple[int, dict[str, bytes]]:
    best = read_checkpoint(run / "checkpoints" / "best")
    arrays = best.arrays.items()
    bits = {f"{stem}/{name}": a.tobytes() for stem, group in arrays for name, a in group.items()}
    return best.agent_steps, bits


def test_the_best_does_not_depend_on_when_checkpoints_fall(tmp_path: Path) -> None:
    """Seldom, after every update, or with a stop in the middle of a window."""
    rare, often = (
        {"best_measurements": 3},
        {"best_measurements": 3, "checkpoint_updates": 1, "keep_checkpoints": 1},
    )
    few = train(changed(settings_of(11), {"train": rare}, "test"), tmp_path / "few", make_meadow)
    many = train(changed(settings_of(11), {"train": often}, "test"), tmp_path / "many", make_meadow)
    stopped = train(changed(settings_of(4), {"train": rare}, "test"), tmp_path / "stopped", make_meadow)
    go_on(stopped, 11, make=make_meadow)
    steps = [line["agent_steps"] for line in log_of(few)]
    assert best_bits(few)[0] in steps[2::3]
    assert best_bits(few) == best_bits(many) == best_bits(stopped)


def test_the_copy_of_the_best_is_made_again_if_it_was_lost(tmp_path: Path) -> None:
    """As after a crash between the checkpoint and its copy."""
    settings = changed(settings_of(2), {"train": {"best_measurements": 2}}, "test")
    run = train(settings, tmp_path / "run", make_meadow)
    kept = best_bits(run)
    shutil.rmtree(run / "checkpoints" / "best")
    go_on(run, 2, make=make_meadow)
    assert best_bits(run) == kept


def test_a_run_shorter_than_a_window_keeps_its_end_until_one_is_full(tmp_path: Path) -> None:
    run = train(
        changed(settings_of(2), {"train": {"best_measurements": 3}}, "test"), tmp_path / "run", make_meadow
    )
    assert best_bits(run)[0] == log_of(run)[-1]["agent_steps"]
    go_on(run, 4, make=make_meadow)
    assert best_bits(run)[0] == log_of(run)[2]["agent_steps"]


def test_an_update_without_a_case_is_no_measurement() -> None:
    best = Best("share", 2, None)
    for share, full in (
        (0.5, False),
        (float("nan"), False),
        (0.7, True),
        (float("nan"), False),
        (0.9, False),
        (0.1, False),
    ):
        best.add({"share": share, "episodes": 3})
        assert best.close(100) == full
    assert best.value == pytest.approx(0.6)


def test_an_unknown_metric_of_the_best_names_the_near_one(tmp_path: Path) -> None:
    settings = changed(settings_of(3), {"train": {"best_by": "lifes"}}, "test")
    with pytest.raises(UserError, match=r"train.best_by: there is no metric lifes; did you mean li"):
        train(settings, tmp_path / "run", make_meadow)
    train(settings_of(1), tmp_path / "run", make_meadow)  # the folder is free for what was meant
    with pytest.raises(UserError, match="already holds a run"):
        train(settings, tmp_path / "run", make_meadow)
    assert latest_checkpoint(tmp_path / "run") is not None


@pytest.mark.parametrize(
    ("metric", "words"), [("zzz", "known: lives, life"), ("time_share", "no metric time_share")]
)
def test_a_metric_without_a_near_one_lists_what_there_is(metric: str, words: str) -> None:
    best = Best(metric, 1, None)
    with pytest.raises(UserError, match=words):
        best.add({"lives": 3, "life[pop0]": 2.0, "time_share": {"act": 1.0}}, known=["life", "lives"])


def test_a_population_is_loaded_alone_and_a_damaged_one_is_named(trained: Path, tmp_path: Path) -> None:
    path = latest_checkpoint(trained)
    assert path is not None
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    shutil.copy(trained / "settings.toml", run)
    copy = run / "checkpoints" / path.name
    shutil.copytree(path, copy)
    file = copy / "policy-pop1.safetensors"
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    (copy / "policy-pop2.safetensors").unlink()
    alone = load_policy(copy, populations=["pop0"])
    assert mean_life(alone) > 20
    with pytest.raises(UserError, match=r"damaged: policy-pop1.safetensors: its checksum does not match"):
        load_policy(copy)
    with pytest.raises(UserError, match=r"damaged: policy-pop2.safetensors: the file is missing"):
        load_policy(copy, populations=["pop2"])
    with pytest.raises(UserError, match=r"no population pop7; there are pop0, pop1, pop2"):
        load_policy(copy, populations=["pop7"])


def test_every_agent_is_moved_by_its_own_population(trained: Path) -> None:
    """Values of the same observation differ between populations, and are those of each one loaded alone."""
    together, world = load_policy(trained), Meadow(2, seed=3)
    assert isinstance(together, TrainedPolicy)
    together.start(world)
    seen = {k: leaf.reshape(-1, *leaf.shape[2:]) for k, leaf in world.reset().observation.items()}
    told = together.values(seen, np.arange(16) % 3)
    for number, name in enumerate(("pop0", "pop1", "pop2")):
        alone = load_policy(trained, populations=[name])
        assert isinstance(alone, TrainedPolicy)
        alone.start(world)
        mine = np.arange(16) % 3 == number
        np.testing.assert_allclose(alone.values(seen, np.zeros(16, int))[mine], told[mine], atol=1e-5)


def test_populations_with_names_are_matched_by_them(trained: Path) -> None:
    """In a world whose populations stand in another order; the likeliest actions are those that each has alone."""
    names, order = ("pop0", "pop1", "pop2"), (2, 0, 1)
    world = Meadow(4, seed=3)
    world.population_names = tuple(names[i] for i in order)
    timestep = world.reset()
    for _ in range(3):
        timestep = world.step(np.zeros((4, 8, 2), np.int64))
    together = load_policy(trained, greedy=True)
    together.start(world)
    chosen, odd = together.act(timestep), 0
    for number, name in enumerate(world.population_names):
        alone = load_policy(trained, greedy=True, populations=[name])
        other = load_policy(trained, greedy=True, populations=[names[number]])
        mine = timestep.acting & (world.population == number)
        for policy in (alone, other):
            policy.start(world)
        assert mine.any()
        assert np.array_equal(chosen[mine], alone.act(timestep)[mine])
        odd += int((chosen[mine] != other.act(timestep)[mine]).sum())
    assert odd > 0  # it does matter who moves whom


def test_a_run_begins_with_another_run_s_populations(trained: Path, tmp_path: Path) -> None:
    settings = changed(settings_of(1, learning_rate=1e-9), {"train": {"start_from": str(trained)}}, "test")
    run = train(settings, tmp_path / "run", make_meadow)
    mine, source = (read_checkpoint(latest_checkpoint(one) or "").arrays for one in (run, trained))
    for name in ("pop0", "pop1", "pop2"):
        for tensor, array in source[f"policy-{name}"].items():
            np.testing.assert_allclose(mine[f"policy-{name}"][tensor], array, atol=1e-6)


def test_names_make_populations_of_a_world_that_has_none(tmp_path: Path) -> None:
    settings = TrainSettings(
        world=WorldChoice(id="corridor"),
        num_worlds=16,
        steps=10**9,
        train=TrainGroup(shards=2, max_updates=14),
        ppo=PpoGroup(rollout=32, minibatch=128, epochs=4, learning_rate=3e-3, target_kl=0.05),
        population=PopulationGroup(by="name", groups={"left": ["walker_0"], "right": ["walker_1"]}, block=64),
        network=NetworkGroup(kind="mlp", hidden=(16, 16)),
    )
    run = train(settings, tmp_path / "run", make_corridor)
    log = log_of(run)
    first = next(line for line in log if line["episodes"])
    assert log[-1]["episode_return"] > 0.5 > 0.0 > first["episode_return"]
    assert {"entropy[left]", "entropy[right]"} <= set(log[-1])
    arrays = read_checkpoint(latest_checkpoint(run) or "").arrays
    assert not np.array_equal(
        arrays["policy-left"]["agent/value_head/weight"], arrays["policy-right"]["agent/value_head/weight"]
    )
