"""Numbers of training computed again: from what worlds were seen to do, and from the lines of metrics.jsonl."""

from __future__ import annotations

import contextlib
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.world import TimeStep
from interplay.train.shard import Moments, _moments
from interplay.train.trainer import train
from interplay.train.update import Worker, _explained_variance
from tests.cli.command import typed
from tests.train.ailing_world import Cues, factory
from tests.train.runs import log_of, short_run, worker_of

WORLDS, ROLLOUT, GAMMA, LAMBDA = 6, 7, 0.9, 0.8
SMALL: dict[str, Any] = {
    "num_worlds": WORLDS,
    "ppo": {"rollout": ROLLOUT, "minibatch": 28, "epochs": 2, "learning_rate": 0.0, "gamma": GAMMA, "gae_lambda": LAMBDA, "reward_scale": 0.5},
    "population": {"by": "name", "groups": {"free": ["agent_0"], "bound": ["agent_1"]}},
}  # fmt: skip


class Bound(Cues):
    """Agent 1 has one choice where its cue is positive, agent 0 always has two."""

    def _read(self) -> TimeStep:
        timestep = super()._read()
        if timestep.action_mask is not None:
            mask = timestep.action_mask["action"]
            mask[:, 0] = True
            mask[:, 1, 1] = True
        return timestep


def _make(num_worlds: int, seed: int, first_world: int, **options: Any) -> Bound:
    return Bound(num_worlds, seed, first_world, **options)


class Seen:
    """What one shard's world showed and took in an update: (steps, worlds, agents, ...)."""

    def __init__(self, world: Any) -> None:
        self.world, self._step = world, world.step
        self.rows: list[tuple[np.ndarray, ...]] = []
        world.step = self._watch

    def _watch(self, action: Any) -> Any:
        before = self.world.timestep
        mask = before.action_mask["action"] if before.action_mask else np.ones((*before.acting.shape, 2))
        shown = np.array(before.observation["cue"]), np.array(mask)
        after = self._step(action)
        self.rows.append((*shown, np.array(action), np.array(after.reward), np.array(after.over)))
        return after

    def take(self) -> list[np.ndarray]:
        rows, self.rows = self.rows, []
        return [np.array(column) for column in zip(*rows, strict=True)]


def played(options: dict[str, Any], updates: int, zero: bool) -> Any:
    """Of each update the logged numbers, and what each shard saw and made of it."""
    settings = short_run("cues", SMALL)
    with contextlib.closing(worker_of(settings, partial(_make, **options))) as worker:
        if zero:
            worker.learner.vectors = {name: 0 * own for name, own in worker.learner.vectors.items()}
        shards = [Seen(shard.world) for shard in worker.shards]
        for _ in range(updates):
            made = held(worker)
            numbers = worker.update()
            yield numbers, [shard.take() for shard in shards], made


def held(worker: Worker) -> list[np.ndarray]:
    """Filled in the update: (3, N) targets, values and populations of all shards."""
    found: list[np.ndarray] = []
    summarise = worker.summarise

    def keep() -> dict[str, Any]:
        ready = [own for shard in worker.shards for own in shard.ready.values()]
        found.extend(np.array([own.target, own.value, own.population], np.float64) for own in ready)
        worker.summarise = summarise  # type: ignore[method-assign]
        return summarise()

    worker.summarise = keep  # type: ignore[method-assign]
    return found


def targets(reward: np.ndarray, over: np.ndarray) -> np.ndarray:
    """Of a critic that always says 0: rewards discounted by gamma lambda, to the end of the episode or the rollout."""
    found, later = np.zeros(reward.shape), np.zeros(reward.shape[1:])
    for t in reversed(range(len(reward))):
        later = 0.5 * reward[t] + GAMMA * LAMBDA * np.where(over[t][:, None], 0.0, later)
        found[t] = later
    return found


def test_an_update_of_a_policy_without_preferences() -> None:
    """All weights are 0: each legal choice is as likely, every value is 0."""
    options = {"forced": True, "pay": (0.25, 3.0), "scale": 3.0, "offset": 40.0}
    for numbers, shards, _ in played(options, 3, zero=True):
        cue, mask, _, reward, over = (np.concatenate(part, axis=1) for part in zip(*shards, strict=True))
        assert reward.shape == (ROLLOUT, WORLDS, 2)
        choices = mask.sum(axis=3)
        assert 0 < np.mean(choices[..., 1] == 1) < 1
        assert numbers["one_choice"] == pytest.approx(np.mean(choices == 1))
        aim = targets(reward, over)
        assert numbers["target_rms"] == pytest.approx(np.sqrt(np.mean(aim**2)), rel=1e-5)
        assert numbers["target_std"] == pytest.approx(aim.std(), rel=1e-5)
        assert numbers["explained_variance"] == pytest.approx(0.0, abs=1e-6)
        assert numbers["reward_abs_max"] == 0.5 * np.abs(reward).max()
        for part, own in (("", slice(None)), ("[free]", 0), ("[bound]", 1)):
            most = np.log(choices[..., own]).mean()
            assert numbers[f"entropy_max{part}"] == pytest.approx(most)
            assert numbers[f"entropy{part}"] == pytest.approx(most, rel=1e-5)
            assert numbers[f"value_loss{part}"] == pytest.approx(np.mean(aim[..., own] ** 2), rel=1e-5)
            assert numbers[f"rows{part}"] == 2 * aim[..., own].size  # two epochs
            assert numbers[f"kl{part}"] == numbers[f"clip_fraction{part}"] == 0
        far = [abs(own[0].mean()) / own[0].std() for own in shards]
        assert numbers["input_offset"] == {"cue": pytest.approx(max(far), rel=1e-3)}
        assert numbers["input_abs_max"] == {"cue": np.abs(cue).max()}
        assert numbers["epochs"] == 2
        assert numbers["gradient_steps"] == 2 * WORLDS * ROLLOUT * 2 / 28


def test_the_explained_variance_is_that_of_all_shards() -> None:
    options = {"pay": (0.25, 3.0), "scale": 3.0}
    for numbers, _, made in played(options, 2, zero=False):
        target, value, population = np.concatenate(made, axis=1)
        assert len(target) == WORLDS * ROLLOUT * 2
        assert numbers["explained_variance"] == pytest.approx(1 - np.var(target - value) / np.var(target))
        assert abs(numbers["explained_variance"]) > 1e-3
        for part, own in (("", population >= 0), ("[free]", population == 0), ("[bound]", population == 1)):
            error = np.mean((target - value)[own] ** 2)
            assert numbers[f"value_loss{part}"] == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (np.full(1000, 0.1, np.float32), np.nan),  # E[x^2] - E[x]^2 is 1.7e-18 by rounding
        (np.tile(np.float32([1 - 2**-10, 1 + 2**-10]), 500), 0.75),
    ],
)
def test_targets_that_are_equal_but_for_rounding_have_no_explained_variance(
    target: np.ndarray, expected: float
) -> None:
    value = (target + 1) / 2  # half of every deviation is left
    found = _explained_variance(Moments(*_moments(target, value)))
    assert found == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_numbers_of_actions_at_the_ends_of_their_box_were_clipped() -> None:
    """The world takes the nearest number of its Box, which nobody draws by chance."""
    for numbers, shards, _ in played({"box": 2.0}, 2, zero=True):
        action = np.concatenate([np.ravel(own[2]) for own in shards])
        assert numbers["clipped_actions"] == pytest.approx(np.mean(np.abs(action) == 2.0))
        assert 0.2 < numbers["clipped_actions"] < 0.45


# -- what a run prints -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run of 23 updates whose gradients are cut, and the lines that it printed."""
    import io

    settings = short_run(
        "cues",
        SMALL,
        {"steps": 23 * WORLDS * ROLLOUT * 2, "ppo": {"max_grad_norm": 1e-4, "learning_rate": 1e-3}},
    )
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        run = train(settings, tmp_path_factory.mktemp("runs") / "cut", factory(pay=(0.25, 3.0)))
    return run, out.getvalue().splitlines()


def test_the_last_line_of_progress_is_the_log_s_end(printed: tuple[Path, list[str]]) -> None:
    run, said = printed
    log = log_of(run)
    shown = [line for line in said if "agent-steps (" in line][-1]
    steps = sum(2 * WORLDS * ROLLOUT for _ in log)
    assert shown.startswith(f"{steps:,} / {steps:,} agent-steps (100 %)")
    for name in ("life", "episode_length", "episode_return", "kl", "epochs"):
        newest = [line[name] for line in log if line.get(name) is not None][-1]
        assert f", {name} {newest:.4g}" in shown


def test_a_diagnosis_is_the_median_of_the_first_twenty_lines(
    printed: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    run, said = printed
    code, out, errors = typed(capsys, "diagnose", run, "--json")
    assert code == 0, errors
    found = json.loads(out)
    log = log_of(run)
    assert found["measurements"] == len((run / "metrics.jsonl").read_text().splitlines()) > len(log)
    (cut,) = (one for one in found["findings"] if one["rule"] == "gradients are cut")
    norms = {name: [line[f"gradient_norm[{name}]"] for line in log] for name in ("free", "bound")}
    assert min(map(min, norms.values())) > 100 * 1e-4
    value = max(float(np.median(own[:20])) for own in norms.values())
    assert cut["value"] == pytest.approx(value)
    assert (cut["begins"], cut["ends"], cut["holds"]) == (log[0]["agent_steps"], log[-1]["agent_steps"], True)
    assert f"= {value:.3g} is {value / 1e-4:,.3g} times ppo.max_grad_norm" in cut["text"]
    assert any(line.endswith(f"gradients are cut: {cut['text']}") for line in said)
    total = np.mean([np.mean(own) for own in norms.values()])
    assert np.mean([line["gradient_norm"] for line in log]) == pytest.approx(total)


@pytest.mark.parametrize("every", [1, 2])
def test_training_prints_what_its_log_shows(
    every: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three late lines without an end of an episode are a fault: updates 5 to 9, or lines of the updates 6 and 8."""
    settings = short_run("cues", SMALL, {"train": {"max_updates": 9, "log_every": every}})
    run = train(settings, tmp_path / "run", factory(length=5000))
    said = capsys.readouterr().err.splitlines()
    _, out, _ = typed(capsys, "diagnose", run, "--json")
    found = [f"{one['rule']}: {one['text']}" for one in json.loads(out)["findings"]]
    warned = [match[1] for line in said if (match := re.match(r"update \d+: (.*)", line))]
    assert sorted(found) == sorted(warned)
    assert any("episodes are few" in line for line in found) == (every == 1)


def test_metrics_per_team_are_means_over_teams_of_unequal_size(tmp_path: Path) -> None:
    """What a team loses its opponent felled, so over two teams both means are equal; over 10 and 11 agents they are not."""
    own = {"num_worlds": 2, "ppo": {"rollout": 64, "minibatch": 64, "epochs": 1}}
    options = {"world": {"options": {"limit": 40}}, "train": {"max_updates": 3}}
    lines = [
        line
        for line in log_of(train(short_run("battle/10m_vs_11m", own, options), tmp_path / "run"))
        if "fallen" in line
    ]
    assert any(line["fallen"] > 0 for line in lines)
    for line in lines:
        each = line["by_agent"]["fallen"]
        assert line["fallen"] == pytest.approx((np.mean(each[:10]) + np.mean(each[10:])) / 2)
        assert line["fallen"] == pytest.approx(line["felled"])
