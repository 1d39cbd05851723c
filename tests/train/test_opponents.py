"""Training against somebody: scripted and trained opponents play their populations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.train.learner import Learner
from interplay.train.populations import Populations
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.selfplay.opponents import Guest, Opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.trainer import load_policy, load_population, train
from tests.train.meadow import Grazer, Meadow
from tests.train.runs import arrays_of, go_on, log_of, short_run
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

ID = "tests.train.meadow:Meadow"
GRAZER = "tests.train.meadow:Grazer"


def settings_of(updates: int, workers: int = 1, **own: Any) -> TrainSettings:
    values = {
        "train": {"workers": workers, "max_updates": updates},
        "ppo": {"rollout": 16, "minibatch": 128, "epochs": 2, "learning_rate": 1e-2, "target_kl": "off"},
        "population": {"block": 32},
        "network": {"kind": "tiles", "width": 8, "activation": "none"},
        "opponents": {"pop1": GRAZER},
    }
    return short_run(ID, {**values, **own})


def last(run: Path) -> dict[str, dict[str, np.ndarray]]:
    return read_checkpoint(latest_checkpoint(run) or "").arrays


def lives(policy: Policy, population: int) -> float:
    """Mean life in a population."""
    world = Meadow(16, seed=77)
    policy.start(world, seed=1)
    timestep = world.reset()
    ended = steps = 0
    for _ in range(200):
        timestep = world.step(policy.act(timestep))
        own = world.population == population
        ended += int(((timestep.terminated | timestep.truncated) & own).sum())
        steps += int((timestep.acting & own).sum())
    return steps / max(ended, 1)


@pytest.fixture(scope="module")
def four_updates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(4), tmp_path_factory.mktemp("four") / "run")


def test_only_learners_are_computed_and_kept() -> None:
    """What the shard hands to the world is the grazer's for its own, the networks' for the others; nothing of it is stored."""
    settings = settings_of(1)
    world = Meadow(4, seed=5)
    populations = with_opponents(settings, world)
    assert populations == Populations(("pop0", "pop1", "pop2"), None, ("pop1",))
    learner = Learner(world.kinds, settings, populations)
    world.reset()
    shard = Shard(0, world, learner, settings)
    acts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    step = world.step

    def spy(action: np.ndarray) -> Any:
        acts.append((action.copy(), world.population.copy(), world.timestep.acting.copy()))
        assert (action[~world.timestep.acting] < 90).all()
        return step(action)

    world.step = spy  # type: ignore[method-assign]
    shard.play(learner.inference_parameters(), 0)
    learns = sum(int((acting & (population != 1)).sum()) for _, population, acting in acts)
    pending = shard.collector.pending["agent"]
    assert shard.collector.acted == learns == pending.acts[: pending.count].sum()
    assert set(pending.population[: pending.count].tolist()) == {0, 2}
    own = [action[acting & (population == 1), 1] for action, population, acting in acts]
    assert not np.concatenate(own).any()  # the grazer always chooses 0 there, untrained networks do not
    other = [action[acting & (population != 1), 1] for action, population, acting in acts]
    assert 0.2 < np.concatenate(other).mean() < 0.8


def test_metrics_and_checkpoints_are_those_of_learners(four_updates: Path) -> None:
    line, arrays = log_of(four_updates)[-1], last(four_updates)
    assert {"entropy[pop0]", "entropy[pop2]", "lives[pop1]"} <= set(line)
    assert "entropy[pop1]" not in line
    assert {stem for stem in arrays if stem.startswith(("policy", "optimiser"))} == {
        "policy-pop0",
        "policy-pop2",
        "optimiser-pop0",
        "optimiser-pop2",
    }


def test_a_run_is_played_against_whom_it_was_trained(four_updates: Path) -> None:
    policy = load_policy(four_updates)
    assert lives(policy, 1) > 4 * lives(policy, 0)


def test_a_trained_opponent_keeps_its_weights(four_updates: Path, tmp_path: Path) -> None:
    """Its population of the same name plays, from the checkpoint that stood there when the run began."""
    own = {"opponents": {"pop2": str(four_updates)}}
    whole = train(settings_of(2, **own), tmp_path / "whole")
    checkpoint = latest_checkpoint(four_updates)
    assert f'opponents = {{ pop2 = "{checkpoint}" }}' in (whole / "settings.toml").read_text()
    assert {"policy-pop0", "policy-pop1"} < set(last(whole))
    assert "policy-pop2" not in last(whole)
    run = train(settings_of(1, **own), tmp_path / "run")
    assert arrays_of(go_on(run, 2)) == arrays_of(whole)
    # Greedy play of population 2 is that of the other run.
    world = Meadow(4, seed=3)
    ours, theirs = load_policy(whole), load_policy(four_updates, populations=["pop2"])
    timestep = world.reset()
    for policy in (ours, ours._others["pop2"], theirs):
        policy.greedy = True
    for policy in (ours, theirs):
        policy.start(world)
    mine = timestep.acting & (world.population == 2)
    assert mine.any()
    assert np.array_equal(ours.act(timestep)[mine], theirs.act(timestep)[mine])


def test_a_population_is_taken_for_its_most_frequent_player() -> None:
    def drawn(**shares: float) -> list[dict[str, Any]]:
        return [{"play": GRAZER if play == "grazer" else play, "share": shares[play]} for play in shares]

    opponents = {
        "pop0": drawn(self=0.1, random=0.9),
        "pop1": drawn(random=0.4, grazer=0.6),
        "pop2": drawn(random=0.6, past=0.4),
    }
    settings = settings_of(1, opponents=opponents)
    assert settings.foreign == {"pop1": GRAZER}


class Counting(Policy):
    """Counts the steps of every world's episode and compares with the world's own clock."""

    def start(self, world: Any, seed: int = 0) -> None:
        super().start(world, seed)
        self.count = np.zeros(world.num_worlds, np.int64)
        self.ends = 0

    def forget(self, which: np.ndarray) -> None:
        self.ends += int(which.sum())
        self.count[which] = 0

    def act(self, timestep: Any) -> np.ndarray:
        assert np.array_equal(self.count, self.world.state.steps)  # type: ignore[attr-defined]
        self.count += 1
        return np.ones(timestep.acting.shape, np.int64)


def test_opponents_are_told_of_every_new_episode() -> None:
    settings = settings_of(
        1,
        world={"id": "tests.train.toy_worlds:Corridor"},
        population={"by": "name", "groups": {"a": ["walker_0"], "b": ["walker_1"]}, "block": 32},
        ppo={"rollout": 64, "minibatch": 64},
        network={"kind": "mlp", "hidden": [8]},
        opponents={"b": "tests.train.test_opponents:Counting"},
    )
    world = Corridor(4)
    populations = with_opponents(settings, world)
    learner = Learner(world.kinds, settings, populations)
    world.reset()
    shard = Shard(0, world, learner, settings)
    shard.play(learner.inference_parameters(), 0)
    counting = shard.collector.opponents.guests[0].policy
    assert counting.ends == shard.collector.episodes.ended > 8  # type: ignore[attr-defined]


def test_a_kind_that_only_opponents_play_costs_its_network_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(
        1,
        world={"id": "tests.train.toy_worlds:TwoKinds"},
        population={
            "by": "name",
            "groups": {"walkers": ["walker_[01]"], "guides": ["walker_2"]},
            "block": 32,
        },
        network={"kind": "mlp", "hidden": [8]},
        opponents={"guides": "random"},
    )
    from tests.train.toy_worlds import TwoKinds

    world = TwoKinds(4)
    populations = with_opponents(settings, world)
    learner = Learner(world.kinds, settings, populations)
    world.reset()
    shard = Shard(0, world, learner, settings)

    def refuse(*_: Any, **__: Any) -> jax.Array:
        raise AssertionError("asked")

    monkeypatch.setattr(learner.networks["guide"], "act", refuse)
    shard.play(learner.inference_parameters(), 0)
    assert shard.collector.pending["guide"].count == 0
    walkers = shard.collector.pending["walker"]
    assert walkers.acts[: walkers.count].sum() == shard.collector.acted > 50


def test_one_population_of_a_run_is_loaded_by_name(four_updates: Path) -> None:
    """The weights where there are some, the opponent where one played."""
    ours = load_population(four_updates, "pop0", greedy=True)
    assert getattr(ours, "names", ()) == ("pop0",)
    assert getattr(ours, "greedy", False)
    assert type(load_population(four_updates, "pop1")) is Grazer
    with pytest.raises(UserError, match="no population pop9"):
        load_population(four_updates, "pop9")


class Listener(Policy):
    """Remembers the seed of its draws."""

    def start(self, world: Any, seed: int) -> None:
        self.seed = seed

    def act(self, timestep: Any) -> Any:
        raise AssertionError("nobody is asked")


def test_two_opponents_have_streams_of_their_own() -> None:
    """And others in another shard, after another update, and in another run."""
    world = Meadow(2)
    world.reset()

    def seeds(*key: int) -> list[int]:
        two = [Guest("pop1", Listener(), 1), Guest("pop2", Listener(), 2)]
        Opponents(world, two, (1, 2), key)  # type: ignore[arg-type]
        return [guest.policy.seed for guest in two]  # type: ignore[attr-defined]

    assert seeds(3, 0, 0) == seeds(3, 0, 0)
    told = [*seeds(3, 0, 0), *seeds(3, 1, 0), *seeds(3, 0, 1), *seeds(4, 0, 0)]
    assert len(set(told)) == len(told)
