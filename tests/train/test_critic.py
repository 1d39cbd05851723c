"""Critics that see more than the policy: what they see, that the policy does not, and that values get better for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import Kind, World
from interplay.registry import make_world
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, train
from interplay.train.views import TeamView, WorldView
from tests.train import toy_worlds
from tests.train.runs import short_run, worker_of
from tests.train.toy_worlds import Corridor, TwoKinds, make_two_kinds

pytestmark = pytest.mark.slow


class Pairs(Corridor):
    """Walkers 0 and 2, and 1 and 3, win together; everybody earns what the others' noise says as well."""

    teams = ((0, 2), (1, 3))

    def __init__(self, num_worlds: int = 1, seed: int = 0, first_world: int = 0) -> None:
        super().__init__(num_worlds, seed, first_world, agents=4)

    def _step(self, action: Any) -> Any:
        noise = self.state.noise[:, :, 0].copy()  # what was seen before this step
        super()._step(action)
        mate = noise[:, [2, 3, 0, 1]]
        self.state.reward[:] = np.where(self.state.over[:, None], 0.0, 4.0 * (mate - 0.5))
        return self._read()


def make_pairs(num_worlds: int, seed: int, first_world: int) -> Pairs:
    """A factory that worker processes can import."""
    return Pairs(num_worlds, seed, first_world)


def settings_of(critic: str, **own: Any) -> TrainSettings:
    values = {
        "num_worlds": 16,
        "train": {"max_updates": 30},
        "ppo": {"rollout": 32, "minibatch": 256, "epochs": 4, "gamma": 0.0, "gae_lambda": 0.0, "learning_rate": 1e-2, "target_kl": "off"},
        "network": {"hidden": [16], "critic": critic, "critic_hidden": [16]},
    }  # fmt: skip
    return short_run("pairs", values, **own)


def test_a_team_is_seen_with_oneself_first() -> None:
    small = spaces.Dict(x=spaces.Box(0, 1, (1,)))
    kinds = (
        Kind("a", (0, 2), spaces.Dict(x=spaces.Box(0, 1, (1,)), y=spaces.Box(0, 9, (2,), np.int8)), spaces.Discrete(2)),
        Kind("b", (1,), small, spaces.Discrete(2)),
    )  # fmt: skip

    class Stub:
        num_worlds = 1
        timestep = type("T", (), {"observation": None})()

        def by_kind(self, tree: Any) -> Any:
            return {
                "a": {"x": np.array([[[1.0], [2.0]]]), "y": np.array([[[3, 4], [5, 6]]], np.int8)},
                "b": {"x": np.array([[[7.0]]])},
            }

    view = TeamView(kinds, [(0, 1), (2,)])
    assert view.size == 8
    seen = view.of(Stub(), np.array([[True, False, True]]))[0].tolist()  # type: ignore[arg-type]
    assert seen[0] == [1, 3, 4, 1, 7, 0, 0, 0]
    assert seen[1] == [7, 0, 0, 0, 1, 3, 4, 1]
    assert seen[2] == [2, 5, 6, 1, 0, 0, 0, 0]  # alone; nobody's numbers are zeros


def test_only_a_critic_that_sees_the_team_can_tell_what_the_mate_brings() -> None:
    explained = {}
    for critic in ("own", "team"):
        worker = worker_of(settings_of(critic), make_pairs)
        numbers = [worker.update() for _ in range(30)]
        explained[critic] = np.mean([n["explained_variance"] for n in numbers[-5:]])
    assert explained["team"] > 0.9
    assert explained["own"] < 0.3


def test_at_a_time_limit_the_team_is_seen_as_if_the_episode_went_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same steps, cut and not cut: an agent that arrived and waits does not act, the others do."""
    steps, values = 12, {}
    for limit in (steps, steps + 1):
        monkeypatch.setattr(toy_worlds, "LIMIT", limit)
        worker = worker_of(settings_of("team", ppo={"rollout": steps}, seed=3), make_pairs)
        worker.play()
        own = [shard.collector for shard in worker.shards]
        values[limit] = np.concatenate(
            [each.buffer.bootstrap[-1] if limit == steps else each.buffer.last_value for each in own]
        )
    acting = np.concatenate([each.world.timestep.acting for each in own])
    going = np.concatenate([each.world.state.steps == steps for each in own])
    still = (np.concatenate([each.buffer.acting[-1] for each in own]) == acting).all(axis=1) & going
    assert (still & ~acting.all(axis=1)).any(), "none waits"
    assert np.array_equal(values[steps][still], values[steps + 1][still])


def make_battle(num_worlds: int, seed: int, first_world: int) -> World:
    """What is drawn for red is blue's, mirrored."""
    return make_world("battle/2s3z", num_worlds, seed, first_world=first_world, randomize="all")


def test_both_sides_of_a_mirrored_battle_are_worth_the_same() -> None:
    worker = worker_of(settings_of("world"), make_battle)
    worker.play()
    buffer = worker.shards[0].collector.buffer
    value = buffer.value[buffer.earlier]
    assert np.array_equal(value[:, :5], value[:, 5:])
    assert len(np.unique(value)) == value.size / 2


def test_a_unit_is_shown_the_state_of_its_own_side() -> None:
    world = make_world("battle/10m_vs_11m", 2, randomize="all")
    world.reset()
    view, states = WorldView(world), world.team_states()
    acting = world.timestep.acting
    seen, first = view.of(world, acting), 0
    for side, size in enumerate((10, 11)):
        own = seen[:, first : first + size]
        assert (own[..., :-21] == states[:, side, None]).all()
        assert (own[..., -21:] == np.eye(21)[:size]).all()
        first += size
    assert np.array_equal(view.of(world, acting, np.array([0, 10])), seen[:, [0, 10]])


def test_the_policy_never_sees_the_view() -> None:
    """Another view changes values and no probability."""
    worker = worker_of(settings_of("team"), make_pairs)
    worker.play()
    pending = worker.shards[0].collector.pending["agent"]
    network, inference = worker.learner.networks["agent"], worker.learner.inference_parameters()["agent"]
    rows = {dtype: array[None, :64] for dtype, array in pending.seen.rows.items()}
    key, told = np.zeros((1, 1, 2), np.uint32), {}
    assert pending.seen.view is not None
    for name, view in (("seen", pending.seen.view[None, :64]), ("other", pending.seen.view[None, :64] + 1)):
        told[name] = np.asarray(network.act(inference, rows, None, None, key, None, view, block=64))[0]
    assert np.array_equal(told["seen"][:, :-1], told["other"][:, :-1])
    assert not np.isclose(told["seen"][:, -1], told["other"][:, -1]).any()


def test_a_policy_plays_without_its_critic(tmp_path: Path) -> None:
    short = {
        "train": {"max_updates": 1},
        "ppo": {"sequence": 8},
        "network": {"memory": "gru", "memory_size": 4},
    }
    run = train(settings_of("team", **short), tmp_path / "run", make_pairs)
    policy, world = load_policy(run), Pairs(3, seed=1)
    timestep = world.reset()
    policy.start(world, seed=1)
    assert policy.act(timestep).shape == (3, 4)
    with pytest.raises(UserError, match="its critic sees the team, so an observation alone has no value"):
        policy.values({"place": np.zeros((2, 1)), "noise": np.zeros((2, 1))}, np.zeros(2, int))


def test_populations_by_name_are_teams_where_the_world_has_none() -> None:
    groups = {"by": "name", "groups": {"walkers": ["walker_0", "walker_1"], "guides": ["walker_2"]}}
    worker = worker_of(settings_of("team", population=groups), make_two_kinds)
    numbers = worker.update()
    assert np.isfinite(numbers["value_loss"])
    assert worker.learner.view is not None
    assert worker.learner.view.size == 2 * (2 + 1)
    assert isinstance(worker.shards[0].world, TwoKinds)


def test_one_group_of_everybody_is_a_team_of_unlike_agents() -> None:
    everybody = {"by": "name", "groups": {"all": ["*"]}}
    worker = worker_of(settings_of("team", population=everybody), make_two_kinds)
    assert np.isfinite(worker.update()["value_loss"])
    assert worker.learner.view is not None
    assert worker.learner.view.size == 3 * (2 + 1)
