"""Past selves: who plays where is drawn as promised, they play and are not learnt from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.train.learner import Learner
from interplay.train.populations import Populations
from interplay.train.selfplay.casting import PAST, SELF, Casting, Role
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.selfplay.pool import Pool, check_pool
from interplay.train.settings import PoolGroup, TrainSettings
from interplay.train.shard import Shard
from tests.train.meadow import Meadow
from tests.train.test_alternation import settings_of as turns_of
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

TWO = Populations(("left", "right"), np.array([0, 1], np.uint8))


def settings_of(updates: int, **pool: Any) -> TrainSettings:
    asked = {"populations": ["left"], "every": 2, "keep": 2, "share": 0.5} | pool
    values = turns_of(updates).model_dump() | {"pool": asked, "alternate": {}}
    return build(TrainSettings, values, "test")


def pool_of(snapshots: int, **own: Any) -> Pool:
    asked = build(
        PoolGroup, {"populations": ["right", "left"], "every": 3, "keep": 4, "share": 0.25} | own, "x"
    )
    pool = Pool(asked, TWO, {"agent": 5})
    for update in range(1, 3 * snapshots + 1):
        pool.end_update(update, 0, {"agent": np.full((2, 5), update) + np.array([[0.0], [0.5]])})
    return pool


def casting_of(pool: Pool, world: Corridor, seed: int) -> Casting:
    """Of the worlds' episodes the pool's share, as runs without opponents have it."""
    share = pool.settings.share
    role = Role(pool.numbers, np.array([PAST, SELF]), np.array([share, 1.0 - share]))
    return Casting([role], TWO, pool, world, seed)


def test_the_newest_snapshots_are_kept() -> None:
    pool = pool_of(6)
    # Snapshots after the updates 3, 6, ... 18; the places of 3 and 6 went to 15 and 18.
    assert pool.stacks["agent"][:, 0].tolist() == [15.5, 18.5, 9.5, 12.5, 15.0, 18.0, 9.0, 12.0]
    assert pool.there.tolist() == [4, 4]
    assert pool_of(2).there.tolist() == [2, 2]


def test_a_share_of_the_episodes_meets_one_member_each() -> None:
    world = Corridor(2_000)
    past = casting_of(pool_of(3), world, seed=5)
    seen, again, before = np.zeros(8, int), np.zeros(8, int), np.full(2_000, -1)
    games, population = 0, TWO.of(world)
    for _ in range(10):
        past.draw(np.ones(2_000, bool))
        seat = past.seat(population, world)
        moved = seat != population
        assert (moved.sum(axis=1) <= 1).all()
        assert (seat[moved] >= 2).all()
        games += int(moved.any(axis=1).sum())
        for slot, places in ((1, range(4)), (0, range(4, 8))):  # right is the pool's first population
            for place in places:
                seen[place] += (seat[:, slot] == 2 + place).sum()
        member = seat.max(axis=1).astype(int) - 2  # of the pool; below 0: none
        again += np.bincount(before[(member >= 0) & (before >= 0)], minlength=8)
        before = member
    assert abs(games - 5_000) < 4 * np.sqrt(20_000 * 0.25 * 0.75)
    expected = np.array([5_000 / 6] * 3 + [0])
    for side in (seen[:4], seen[4:]):
        assert (np.abs(side - expected) <= 4 * np.sqrt(expected)).all()
    # An episode does not depend on the one before; none follows the tenth.
    expected = 0.25 * 0.9 * seen
    assert (np.abs(again - expected) <= 4 * np.sqrt(expected)).all()


def test_draws_are_the_world_s_own() -> None:
    """However the worlds are cut into batches, and whenever the others' episodes end."""
    pool = pool_of(4, share=0.5)
    whole = casting_of(pool, Corridor(8, seed=1), seed=3)
    part = casting_of(pool, Corridor(4, seed=1, first_world=4), seed=3)
    for _ in range(5):
        whole.draw(np.ones(8, bool))
        for w in range(4):
            part.draw(np.arange(4) == w)
        assert np.array_equal(whole.player[4:], part.player)
        assert np.array_equal(whole.side[4:], part.side)
    assert len(np.unique(whole.player)) > 2
    other = casting_of(pool, Corridor(8, seed=1), seed=4)
    other.episode[:] = 4
    other.draw(np.ones(8, bool))
    assert (other.player != whole.player).any()


def test_past_selves_play_and_are_not_learnt_from() -> None:
    """Now left goes left, before it went right; right keeps its random weights."""
    settings, world = settings_of(1), Corridor(8)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    network = learner.networks["agent"]
    at = network._ends[network.names.index("policy_head/dense/bias")]
    now = np.array(learner.vectors["agent"])
    now[0, at - 2 : at] = [-50.0, 50.0]
    learner.pool.end_update(2, 0, {"agent": now})
    now[0, at - 2 : at] = [50.0, -50.0]
    learner.begin_with({"agent": now})
    world.reset()
    shard = Shard(0, world, learner, settings)
    past = shard.collector.casting
    past.draw(np.ones(8, bool))
    actions: list[np.ndarray] = []
    step = world.step

    def spy(action: np.ndarray) -> Any:
        theirs = past.player[:, 0] >= 0
        acting = world.timestep.acting[:, 0]
        assert (action[theirs & acting, 0] == 1).all()
        assert (action[~theirs & acting, 0] == 0).all()
        actions.append(np.array([(theirs & acting).sum(), (~theirs & acting).sum(), acting.sum()]))
        return step(action)

    world.step = spy  # type: ignore[method-assign]
    shard.play(learner.inference_parameters(), 0)
    theirs, ours, everybody = np.sum(actions, axis=0)
    assert theirs > 10 < ours
    pending = shard.collector.pending["agent"]
    rows = pending.acts[: pending.count] & (pending.population[: pending.count] == 0)
    assert rows.sum() == ours == everybody - theirs
    assert (pending.action[: pending.count][rows] == 0).all()


def test_a_world_that_never_ends_has_no_past_selves() -> None:
    world = Meadow(1)
    three = Populations(("pop0", "pop1", "pop2"), None)
    with pytest.raises(UserError, match="may never end"):
        check_pool(PoolGroup(populations=("pop0",)), world, three, three)
