"""Sides of a world: others play them in their shares of the episodes, and nobody learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.train.learner import Learner
from interplay.train.selfplay.casting import Casting
from interplay.train.selfplay.matchups import find_sides, make_roles, with_opponents
from interplay.train.selfplay.pool import Pool, pool_of
from interplay.train.settings import SidesGroup, TrainSettings
from interplay.train.settings.unread import check_read
from interplay.train.shard import Shard
from interplay.train.trainer import load_policy, train
from tests.train.meadow import Meadow
from tests.train.runs import log_of, short_run
from tests.train.test_alternation import settings_of as two_populations
from tests.train.test_opponents import last
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

COUNTING = "tests.train.test_opponents:Counting"
MIXED = [
    {"play": "past", "share": 0.3},
    {"play": COUNTING, "share": 0.2},
    {"play": "random", "share": 0.2},
    {"play": "self", "share": 0.3},
]


def settings_of(updates: int = 1, **own: Any) -> TrainSettings:
    values = {
        "train": {"max_updates": updates},
        "ppo": {"rollout": 32, "minibatch": 128, "epochs": 2, "learning_rate": 1e-2, "target_kl": "off"},
        "sides": {"by": "seat"},
        "opponents": {"any": MIXED},
    }
    return short_run("tests.train.toy_worlds:Corridor", {**values, **own})


def shard_of(settings: TrainSettings, worlds: int = 8) -> tuple[Learner, Shard]:
    world = Corridor(worlds)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    world.reset()
    return learner, Shard(0, world, learner, settings)


def players_of(settings: TrainSettings, worlds: int, episodes: int) -> np.ndarray:
    """(episodes, worlds, A) who played each slot, with a pool of three members."""
    world = Corridor(worlds)
    populations = with_opponents(settings, world)
    pool = Pool(pool_of(settings, populations), populations, {"agent": 1})
    pool.taken[:] = 3
    sides = find_sides(settings.sides, world, populations)
    casting = Casting(make_roles(settings, populations, sides), sides, pool, world, seed=9)
    told = []
    for _ in range(episodes):
        told.append(casting.seat(populations.of(world), world))
        casting.draw(np.ones(worlds, bool))
    return np.array(told)


def test_shares_are_of_the_episodes_and_any_side_is_as_likely() -> None:
    told = players_of(settings_of(), 2_000, 10).reshape(-1, 2)
    others = told != 0
    assert (others.sum(axis=1) <= 1).all()  # one side of a world
    names, count = {1: 0.1, 2: 0.1, 3: 0.1, 9: 0.2, 10: 0.2}, len(told)
    assert set(np.unique(told[others])) == set(names)
    for player, share in names.items():
        for slot in range(2):
            expected, spread = count * share / 2, np.sqrt(count * share / 2)
            assert abs((told[:, slot] == player).sum() - expected) < 4 * spread


def test_every_side_draws_for_itself() -> None:
    own = {"walker_0": "random", "walker_1": [MIXED[1] | {"share": 0.25}, MIXED[3] | {"share": 0.75}]}
    told = players_of(settings_of(opponents=own), 2_000, 5).reshape(-1, 2)
    assert (told[:, 0] == 1).all()
    assert set(np.unique(told[:, 1])) == {0, 2}
    assert abs((told[:, 1] == 2).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 10_000)
    own |= {"walker_0": [MIXED[2] | {"share": 0.4}, MIXED[3] | {"share": 0.6}]}
    told = players_of(settings_of(opponents=own), 2_000, 5).reshape(-1, 2)
    both = (told == [1, 2]).all(axis=1).mean()
    assert abs(both - 0.4 * 0.25) < 4 * np.sqrt(0.1 * 0.9 / 10_000)


@pytest.mark.parametrize("memory", ["none", "gru"])
def test_nobody_learns_from_the_others(memory: str) -> None:
    """Rewards of a million are planted where others play; and what they do is not counted."""
    settings = settings_of(network={"kind": "mlp", "hidden": [8], "memory": memory})
    learner, shard = shard_of(settings)
    learner.pool.end_update(50, 0, learner.vectors)
    shard.collector.casting.draw(np.ones(8, bool))
    world, collector, own = shard.world, shard.collector, 0
    step, seen = world.step, []

    def plant(action: np.ndarray) -> Any:
        nonlocal own
        player, acting = collector._network.copy(), world.timestep.acting.copy()
        own += int((acting & (player == 0)).sum())
        seen.append(player)
        timestep = step(action)
        timestep.reward[player != 0] = 1e6
        return timestep

    world.step = plant  # type: ignore[method-assign]
    for update in range(3):
        seen.clear()
        shard.play(learner.inference_parameters(), update)
        shard.estimate()
        pending, ready = collector.pending["agent"], shard.ready["agent"]
        at = pending.step[: pending.count] - collector.buffer.earlier, pending.slot[: pending.count]
        assert (np.array(seen).reshape(32, -1)[at] == 0).all()
        assert np.abs(ready.target).max() < 100 > np.abs(ready.advantage).max()
        assert collector.acted == own
        assert pending.count > 100
        shard.finish()
        own = 0
    assert len({int(player) for player in np.unique(seen)}) == 4  # the learner, its past self, two guests


def test_past_selves_play_with_the_weights_of_then() -> None:
    """Now everybody goes left; before, everybody went right."""
    listed = [{"play": "past", "share": 0.5}, {"play": "self", "share": 0.5}]
    learner, shard = shard_of(settings_of(opponents={"any": listed}))
    network = learner.networks["agent"]
    at = network._ends[network.names.index("policy_head/dense/bias")]
    weights = np.array(learner.vectors["agent"])
    weights[0, at - 2 : at] = [-50.0, 50.0]
    learner.pool.end_update(50, 0, {"agent": weights})
    weights[0, at - 2 : at] = [50.0, -50.0]
    learner.begin_with({"agent": weights})
    shard.collector.casting.draw(np.ones(8, bool))
    world, collector = shard.world, shard.collector
    step, played = world.step, np.zeros((2, 2), int)

    def spy(action: np.ndarray) -> Any:
        acting, past = world.timestep.acting, collector._network == 1
        assert (action[acting & past] == 1).all()
        assert (action[acting & ~past] == 0).all()
        played[0] += (acting & past).sum(axis=0)
        played[1] += (acting & ~past).sum(axis=0)
        return step(action)

    world.step = spy  # type: ignore[method-assign]
    shard.play(learner.inference_parameters(), 0)
    assert played.min() > 5


def test_sides_that_the_learner_always_plays_change_nothing(tmp_path: Path) -> None:
    plain = train(settings_of(2, sides={}, opponents={}), tmp_path / "plain")
    alone = [{"play": "self", "share": 1.0}]
    sided = train(settings_of(2, opponents={"any": alone}), tmp_path / "sided")
    mine, other = last(sided), last(plain)
    for stem in ("policy-pop0", "optimiser-pop0"):
        assert mine[stem].keys() == other[stem].keys()
        assert all(np.array_equal(array, other[stem][name]) for name, array in mine[stem].items())


def test_shares_work_for_populations_and_for_evaluation(tmp_path: Path) -> None:
    """A population that is never the run's own has no weights, and is played by the most frequent in evaluation."""
    own = two_populations(1).model_dump() | {"alternate": {}}
    listed = [{"play": "random", "share": 0.3}, {"play": COUNTING, "share": 0.7}]
    run = train(build(TrainSettings, own | {"opponents": {"left": listed}}, "test"), tmp_path / "never")
    assert {stem for stem in last(run) if stem.startswith("policy")} == {"policy-right"}
    assert type(load_policy(run)._others["left"]).__name__ == "Counting"
    listed[0]["play"] = "self"
    run = train(build(TrainSettings, own | {"opponents": {"left": listed}}, "test"), tmp_path / "some")
    assert {stem for stem in last(run) if stem.startswith("policy")} == {"policy-left", "policy-right"}
    assert not load_policy(run)._others


def test_another_run_plays_a_side(tmp_path: Path) -> None:
    first = train(settings_of(1, sides={}, opponents={}), tmp_path / "first")
    own = {"walker_1": [{"play": str(first), "share": 0.5}, {"play": "self", "share": 0.5}]}
    run = train(settings_of(1, opponents=own), tmp_path / "run")
    text = (run / "settings.toml").read_text()
    assert f'{{ play = "{first}/checkpoints/' in text
    policy = load_policy(run)  # plays both sides
    world = Corridor(2)
    policy.start(world)
    assert policy.act(world.reset()).shape == (2, 2)


def test_sides_by_teams_seats_and_names() -> None:
    world = interplay.make_world("survival/2v2-all-low")
    populations = with_opponents(settings_of(sides={}, opponents={}), world)

    def sides(**own: Any) -> tuple[tuple[str, ...], list[int]]:
        found = find_sides(SidesGroup(**own), world, populations)
        assert found.fixed is not None
        return found.names, found.fixed.tolist()

    assert sides(by="team") == (("team0", "team1"), [0, 0, 1, 1])
    assert sides(by="seat") == (world.agents, [0, 1, 2, 3])
    first, rest = world.agents[0], list(world.agents[1:])
    assert sides(by="name", groups={"a": rest, "b": [first]}) == (("a", "b"), [1, 0, 0, 0])
    with pytest.raises(UserError, match=r'sides.by = "team": Corridor has no teams; use "seat"'):
        find_sides(SidesGroup(by="team"), Corridor(1), populations)


SELF, RANDOM = {"play": "self", "share": 0.5}, {"play": "random", "share": 0.5}
RATED = {"shards": 2, "evaluate_against": ["random"]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"opponents": {"walker_9": "random"}}, r"no side 'walker_9'; did you mean 'walker_\d'\?"),
    ({"opponents": {"any": [SELF]}}, r"any: shares \[0.5\] sum to 0.5; make them sum to 1"),
    ({"opponents": {"any": [{"play": "self"}]}}, r"any = .*play = \"self\""),
    ({"opponents": {"any": [SELF | {"share": 0.0}]}}, r"any = .*share = 0.0"),
    ({"opponents": {"any": 3}}, r"any = 3 "),
    ({"opponents": {"any": [SELF, RANDOM], "walker_0": "random"}}, "any beside walker_0; leave one of them out"),
    ({"opponents": {"walker_0": "random", "walker_1": "random"}}, "all sides are played by opponents"),
    ({"opponents": {}}, 'sides.by = "seat" is not read without other players'),
    ({"sides": {}}, 'has one population; make several with .* or set sides.by = "seat"'),
    ({"pool": {"share": 0.5}}, "pool.share = 0.5 is not read where opponents gives past selves their shares"),
    ({"pool": {"every": 3}, "opponents": {"walker_0": "random"}}, "pool.every = 3 is not read without past selves"),
    (
        {"pool": {"populations": ["pop0"]}, "opponents": {"any": [SELF, RANDOM]}},
        'past selves and opponents.any would play the same side; .*{play = "past", share = ...}',
    ),
    ({"sides": {"by": "name", "groups": {"a": ["walker_0"]}}}, r"sides.groups: walker_1 is in no group"),
    ({"sides": {"by": "name"}}, 'by = "name" with 0 groups'),
    ({"opponents": {"any": [RANDOM, RANDOM]}}, "opponents: any"),
    ({"opponents": {"any": "a" * 300}}, "opponents.any: "),
    ({"opponents": {"any": MIXED}, "pool": {"populations": ["gone"]}}, "opponents.any: .*pop0"),
    ({"sides": {}, "opponents": {}, "belief": {"speaking": 2.0}}, "belief.speaking = 2.0"),
    ({"alternate": {"high": 0.7}}, "alternate.high = 0.7"),
    ({"train": {"shards": 2, "best_measurements": 5}}, "train.best_measurements = 5"),
    ({"train": {"shards": 2, "most_age": 5}}, "train.most_age = 5"),
    ({"train": RATED | {"evaluate_episodes": 2 * 10**13}}, "train.evaluate_episodes = 20000000000000"),
    ({"train": RATED | {"evaluate_episodes": 7}}, "train.evaluate_episodes"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "says"), REFUSED)
def test_sides_that_cannot_be_are_one_line(own: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=says) as told:
        train(settings_of(1, **own), tmp_path / "run")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "run").exists()


def test_worlds_that_never_end_and_populations_that_never_play_have_no_shares() -> None:
    meadow = Meadow(1)
    asked = settings_of(sides={}, opponents={"pop1": [SELF, RANDOM]})
    with pytest.raises(
        UserError, match=r"opponents.pop1: worlds of .* may never end, shares are of episodes"
    ):
        with_opponents(asked, meadow)
    own = two_populations(1).model_dump() | {"alternate": {}}
    listed = [{"play": "past", "share": 0.5}, RANDOM]
    asked = build(TrainSettings, own | {"opponents": {"left": listed}}, "test")
    with pytest.raises(
        UserError, match=r"opponents.left: past selves of a population that never plays itself"
    ):
        with_opponents(asked, Corridor(1))


def test_a_pool_alone_plays_any_side() -> None:
    asked = settings_of(opponents={}, pool={"populations": ["pop0"], "share": 0.4})
    check_read(asked)
    told = players_of(asked, 2_000, 5).reshape(-1, 2)
    assert abs((told != 0).any(axis=1).mean() - 0.4) < 4 * np.sqrt(0.24 / 10_000)
    assert abs((told != 0).mean(axis=0) - 0.2).max() < 4 * np.sqrt(0.16 / 10_000)


def test_a_side_may_be_past_selves_in_every_episode(tmp_path: Path) -> None:
    own = {"opponents": {"any": "past"}, "pool": {"every": 1, "keep": 2}}
    run = train(settings_of(3, **own), tmp_path / "run")
    lines = log_of(run)
    assert [line["past_selves"] for line in lines] == [0, 1, 2]


def test_more_groups_than_a_byte_counts_are_refused() -> None:
    world = Corridor(1)
    groups = {f"g{number}": ["*"] for number in range(300)}
    with pytest.raises(UserError, match="300 groups, populations are numbered in a byte"):
        find_sides(
            SidesGroup(by="name", groups=groups),
            world,
            with_opponents(settings_of(opponents={}, sides={}), world),
        )
