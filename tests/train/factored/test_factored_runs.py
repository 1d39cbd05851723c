"""Whole runs by value factorisation: games whose best play is known, what is logged, and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.train.making import registry_factory
from interplay.train.play.single import SingleActor
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.settings.unread import check_read
from interplay.train.trainer import load_policy, train
from tests.train import runs
from tests.train.factored.games import Parting, TwoStep, make_cut_short, make_parting, make_two_step
from tests.train.runs import short_run, worker_of
from tests.train.toy_worlds import make_corridor, make_two_kinds

CLOCKS = ("time", "time_share", "agent_steps_per_s")


def settings_of(algorithm: str = "qmix", **own: Any) -> TrainSettings:
    """Of a short run; `own` are settings over those here."""
    group = {
        "rollout": 6,
        "sequence": 5,
        "minibatch": 80,
        "replay": 400,
        "epsilon_steps": 500,
        "target_every": 3,
        "replays": 1.0,
    }
    values = {"algorithm": algorithm, "network": {"hidden": [16]}, algorithm: group}
    return short_run("x", values, {"steps": 10**6, "train": {"quiet": True, "writers": []}}, **own)


def log_of(run: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name not in CLOCKS} for line in runs.log_of(run)]


def earned(run: Path) -> float:
    """What two trained agents earn in the two-step game."""
    world, policy = TwoStep(4), load_policy(run)
    policy.start(world)
    timestep, total = world.reset(), 0.0
    for _ in range(2):
        timestep = world.step(policy.act(timestep))
        total += float(timestep.reward[:, 0].mean())
    return total


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "expected"), [("qmix", 8.0), ("vdn", 7.0)])
def test_the_two_step_game(tmp_path: Path, algorithm: str, expected: float):
    """A sum cannot tell that 8 needs both, so it takes the safe 7 (Rashid et al. 2018, table 1)."""
    group = {
        "rollout": 8,
        "sequence": 8,
        "minibatch": 256,
        "replay": 20_000,
        "replays": 8.0,
        "target_every": 20,
    }
    learns = {"gamma": 1.0, "td_lambda": 0.0, "epsilon_end": 1.0}
    settings = settings_of(algorithm, num_worlds=32, steps=50_000, **{algorithm: group | learns})
    settings = build(TrainSettings, {**settings.model_dump(), "network": {"kind": "mlp"}}, "test")
    run = train(settings, tmp_path / "run", make_two_step)
    assert earned(run) == expected
    if algorithm == "qmix":
        last = log_of(run)[-1]
        assert last["td_error"] < 0.1
        assert last["q"] == pytest.approx(last["q_target"], abs=0.1)


def test_the_log_tells_what_is_learnt(tmp_path: Path):
    run = train(settings_of(train={"max_updates": 12}), tmp_path / "run", make_two_step)
    lines = log_of(run)
    assert lines[0]["epsilon"] == 1.0
    assert lines[-1]["epsilon"] == 0.05
    assert "td_error" not in lines[0]  # nothing is learnt before there is a minibatch
    for name in ("td_error", "value_loss", "q", "q_target", "gradient_norm"):
        assert np.isfinite(lines[-1][name])
    assert lines[-1]["replay"] == 400
    assert "explained_variance" not in lines[-1]


@pytest.mark.parametrize("minibatch", [30, 4])
def test_a_decision_is_learnt_from_as_often_as_asked(minibatch: int):
    """Also where a minibatch is less than a stretch of every shard, which is the least that is drawn."""
    group = {"rollout": 30, "sequence": 15, "minibatch": minibatch, "replays": 2.0}
    settings = settings_of(qmix=group)
    with contextlib.closing(worker_of(settings, make_two_step)) as worker:
        numbers = worker.update()
    assert numbers["gradient_steps"] == 16
    assert numbers["rows"] == 30 * settings.num_worlds * 2


def test_a_truncation_takes_the_place_of_a_decision():
    """Episodes of two decisions and a last frame: 10 of the 15 places of a stretch decide, so 2 replays are 4/3 uses."""
    settings = settings_of(qmix={"rollout": 30, "sequence": 15, "minibatch": 30, "replays": 2.0})
    with contextlib.closing(worker_of(settings, make_cut_short)) as worker:
        numbers = worker.update()
    assert numbers["replay"] == 2 * 10 * settings.num_worlds  # the third stretch waits for its last frame
    assert numbers["gradient_steps"] == 16
    assert numbers["rows"] == 30 * settings.num_worlds * 4 / 3


@pytest.mark.parametrize(("mine", "rest"), [("agent0", "agent[!0]"), ("agent[01]", "agent[!01]")])
def test_a_team_that_decides_in_some_steps_is_learnt_from_as_often(mine: str, rest: str):
    """Five agents take turns, and each turn of its own is a decision of the team; the sum of 30 fractions has a deviation below 2.8."""
    group = {"rollout": 30, "sequence": 5, "minibatch": 20, "replays": 2.0}
    settings = settings_of(
        qmix=group,
        world={"id": "simulation/multi-corridor-turns"},
        population={"by": "name", "groups": {"mine": [mine], "rest": [rest]}},
        opponents={"rest": "random"},
    )
    with contextlib.closing(worker_of(settings, registry_factory(settings))) as worker:
        worker.update()  # the replay fills
        before = worker.agent_steps
        steps = sum(worker.update()["gradient_steps"] for _ in range(30))
        decisions = worker.agent_steps - before
    assert decisions < 30 * 30 * settings.num_worlds / 2
    assert steps == pytest.approx(decisions * 2.0 / 20, abs=4 * 2.8)


def test_a_policy_plays_its_best_choice_whoever_asks(tmp_path: Path):
    run = train(settings_of(train={"max_updates": 3}), tmp_path / "run", make_two_step)
    world = TwoStep(64)
    actions = []
    for greedy in (False, True):
        policy = load_policy(run, greedy=greedy)
        policy.start(world, seed=3)
        actions.append(policy.act(world.reset()))
    assert (actions[0] == actions[1]).all()
    seen = {"place": world.timestep.observation["place"][:, 0]}
    odds = policy.probabilities(seen)
    assert set(odds.ravel()) == {0.0, 1.0}
    assert (odds.argmax(axis=1) == actions[1][:, 0]).all()
    assert policy.look({"place": seen["place"][0]}).value is None
    with pytest.raises(UserError, match="an observation alone has no value"):
        policy.values(seen, np.zeros(64, np.int64))


def test_members_who_know_their_places_part(tmp_path: Path):
    """One network for two who see the same: only their places tell them apart, in play and wherever it is asked."""
    group = {"minibatch": 160, "replay": 4000, "replays": 8.0, "agent_id": True, "epsilon_steps": 2000}
    settings = settings_of(num_worlds=32, qmix=group, train={"max_updates": 24})
    run = train(settings, tmp_path / "run", make_parting)
    world, policy = Parting(4), load_policy(run)
    policy.start(world)
    actions = policy.act(world.reset())
    assert (actions[:, 0] != actions[:, 1]).all()
    seen = np.zeros(5, np.float32)
    for agent, action in zip(world.agents, actions[0], strict=True):
        assert policy.look({"place": seen}, agent=agent).action == action
        assert (
            policy.look({"place": seen[None].repeat(3, axis=0)}, agent=agent).action.tolist() == [action] * 3
        )
        assert policy.to_numpy(agent)({"place": seen[None]})["action"].tolist() == [action]
    unsaid = r"need the agent \(qmix.agent_id\)"
    with pytest.raises(UserError, match=unsaid):
        policy.look({"place": seen})
    with pytest.raises(UserError, match=unsaid):
        policy.to_numpy()
    with pytest.raises(UserError, match="an observation alone has no probabilities"):
        policy.probabilities({"place": seen[None]})
    with pytest.raises(UserError, match="agent_id"):
        SingleActor(latest_checkpoint(run) or Path(), world.kinds)


def test_kinds_learn_apart(tmp_path: Path):
    groups = {"by": "name", "groups": {"walkers": ["walker_0", "walker_1"], "guide": ["walker_2"]}}
    run = train(
        settings_of("vdn", population=groups, train={"max_updates": 8}), tmp_path / "run", make_two_kinds
    )
    last = log_of(run)[-1]
    assert last["gradient_steps"] == 2
    assert np.isfinite([last["td_error[walkers]"], last["td_error[guide]"]]).all()


def test_who_does_not_learn_is_not_replayed(tmp_path: Path):
    groups = {"by": "name", "groups": {"walkers": ["walker_0", "walker_1"], "guide": ["walker_2"]}}
    settings = settings_of("vdn", population=groups, train={"max_updates": 6, "learners": ["guide"]})
    run = train(settings, tmp_path / "run", make_two_kinds)
    assert "td_error[walkers]" not in log_of(run)[-1]
    arrays = read_checkpoint(latest_checkpoint(run) or "").arrays["shard-0000"]
    assert not arrays["replay/walker-0/taken"][0]
    assert arrays["replay/guide-1/taken"][0]


REFUSED = [
    ({"network": {"critic": "team"}}, r"network.critic = \"team\" is not read by qmix, which has a mixer"),
    ({"network": {"probability_floor": 0.1}}, "network.probability_floor = 0.1 is not read by qmix"),
    ({"ppo": {"clip": 0.1}}, "ppo.clip = 0.1 is not read by algorithm = qmix"),
    ({"vdn": {"gamma": 0.5}}, "vdn.gamma = 0.5 is not read by algorithm = qmix"),
    ({"league": {"learners": {"main": {}}}}, "league.learners = "),
    ({"belief": {"about": "wolf"}}, 'belief.about = "wolf"'),
    (
        {"network": {"kind": "tiles"}, "qmix": {"agent_id": True}},
        'agent_id = true with network.kind = "tiles"',
    ),
    ({"qmix": {"replay": 10}}, "replay = 10 holds no minibatch of 80"),
    ({"qmix": {"epsilon": 0.1}}, "unknown key qmix.epsilon"),
]


@pytest.mark.parametrize(("own", "words"), REFUSED)
def test_settings_that_are_not_honoured_are_refused(own: dict[str, Any], words: str):
    with pytest.raises(UserError, match=words):
        check_read(settings_of(**own))


def test_a_world_without_teams_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="has no teams"):
        train(settings_of(), tmp_path / "run", make_corridor)
    assert not (tmp_path / "run").exists()


def test_teams_of_several_kinds_are_refused(tmp_path: Path):
    groups = {"by": "name", "groups": {"all": ["*"]}}
    with pytest.raises(UserError, match="several kinds or populations"):
        train(settings_of(population=groups), tmp_path / "run", make_two_kinds)


def test_a_state_that_is_not_there_is_refused(tmp_path: Path):
    groups = {"by": "name", "groups": {"all": ["*"]}}
    with pytest.raises(UserError, match=r"qmix.state = world: Corridor has no state"):
        train(settings_of(population=groups, qmix={"state": "world"}), tmp_path / "run", make_corridor)


def test_exported_networks_play_their_best_choice_too(tmp_path: Path):
    run = train(settings_of(train={"max_updates": 3}), tmp_path / "run", make_two_step)
    world, policy = TwoStep(3), load_policy(run)
    policy.start(world)
    actions = policy.act(world.reset())
    said = policy.to_numpy()({"place": world.timestep.observation["place"][:, 0]})
    assert "value" not in said
    assert (said["probabilities"].argmax(axis=1) == actions[:, 0]).all()
    assert (said["action"].reshape(-1) == actions[:, 0]).all()
