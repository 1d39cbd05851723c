"""Worlds seen through interfaces are worlds: every law of the protocol holds, with memory, births and teams."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.interfaces import Interface
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.legal import settled
from interplay.interfaces.names import from_settings
from interplay.interfaces.policy import InterfacedPolicy
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_world
from interplay.testing import world_laws
from tests.interfaces.toys import Noise, Shift
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

HISTORY = [{"name": "FrameStack", "k": 3}, {"name": "PrevActObs", "n": 2}, "ConcatVec"]


def through(world_id, interfaces, groups=None, teams=False, reward="mean", **options):
    """``make(num_worlds, seed)`` of a world of ours behind interfaces."""

    def make(num_worlds, seed):
        world = make_world(world_id, num_worlds=num_worlds, seed=seed, **options)
        return InterfacedWorld(world, interfaces, groups, teams, reward)

    return make


test_history = world_laws(through("survival/1v1-heals-low", {"agent": HISTORY}), steps=120)
test_two_sides = world_laws(
    through("survival/2v2-all-low", {"red": HISTORY, "blue": ["MultiBinObs"]}, {"red": [0, 2], "blue": [1]}),
    steps=100,
)
test_masks_and_turns = world_laws(
    through("werewolf/6", {"agent": [{"name": "PrevActObs", "n": 2}]}), steps=100
)
test_kinds = world_laws(through("gridworld/hunters-foragers", {"hunter": HISTORY}), steps=100)
test_births = world_laws(
    through("mmo/combat-128", {"agent": [{"name": "PrevActObs"}, {"name": "MultiBinObs"}]}),
    steps=80,
    num_worlds=2,
)
test_draws = world_laws(through("dilemma/fixed", {"agent": Noise(Shift())}), steps=100)
test_teams = world_laws(
    through(
        "survival/2v2-all-low",
        {"team0": ["ConcatObsAct"], "team1": [{"name": "FrameStack", "k": 2}]},
        teams=True,
    ),
    steps=100,
)
test_teams_of_one_group = world_laws(
    through("gridworld/team-battle", {"agent": ["ConcatObsAct"]}, teams=True, reward="sum"), steps=60
)


def test_the_outcome_of_a_team_is_whole_and_other_metrics_are_means(monkeypatch):
    raw = make_world("survival/2v2-all-low", num_worlds=2)
    world = InterfacedWorld(
        raw, {"red": None, "blue": None}, groups={"red": [0, 1], "blue": [2, 3]}, teams=True
    )
    given = np.array([[1.0, 0.0, -1.0, np.nan], [1.0, -1.0, np.nan, np.nan]])
    monkeypatch.setattr(type(raw), "metrics", property(lambda _: {"outcome": given, "points": given}))
    assert np.array_equal(world.metrics["outcome"], [[1, -1], [0, np.nan]], equal_nan=True)
    assert np.array_equal(world.metrics["points"], [[0.5, -1], [0, np.nan]], equal_nan=True)


def test_a_batch_sees_what_a_match_of_each_world_does():
    """L6 and L12 across both ways of wrapping: a world, and a match of one copy."""
    batch = through("survival/1v1-heals-low", {"agent": HISTORY})(2, 7)
    matches = [
        EnvItfWrapper(
            make_world("survival/1v1-heals-low", first_world=w, seed=7),
            [from_settings(HISTORY) for _ in range(2)],
        )
        for w in range(2)
    ]
    step = batch.reset()
    seen = [env.reset()[0] for env in matches]
    player = RandomPolicy()
    player.start(batch)
    for _ in range(30):
        for w in range(2):
            assert all(np.array_equal(step.observation["observation"][w, a], seen[w][a]) for a in range(2))
        action = player.act(step)
        step = batch.step(action)
        for w, env in enumerate(matches):
            seen[w], rewards, *_ = env.step(tuple(map_row(action, w, a) for a in range(2)))
            assert np.allclose(step.reward[w], rewards)


def map_row(action, w, a):
    return {key: part[w, a] for key, part in action.items()} if isinstance(action, dict) else action[w, a]


@pytest.mark.parametrize(
    "world_id", ["survival/1v1-heals-low", "werewolf/6", "mmo/combat-128", "gridworld/hunters-foragers"]
)
def test_a_policy_acts_alike_inside_and_outside_of_the_interfaces(world_id):
    name = make_world(world_id).kinds[0].name
    around = through(world_id, {name: HISTORY})(3, 5)
    raw = make_world(world_id, num_worlds=3, seed=5)
    inside, outside = RandomPolicy(), InterfacedPolicy(RandomPolicy(), {name: HISTORY})
    inside.start(around, 1)
    outside.start(raw, 1)
    one, two = around.reset(), raw.reset()
    for t in range(60):
        one, two = around.step(inside.act(one)), raw.step(outside.act(two))
        assert np.array_equal(around._inner.hash(), raw.hash()), t
        assert np.array_equal(around.timestep.acting, two.acting)
        if one.over.any() or t == 40:
            which = one.over | (np.arange(3) == 1)
            one, two = around.reset(which), raw.reset(which)
            inside.forget(which)
            outside.forget(which)
        if t == 20:  # in another process
            kept = outside.save()
            outside = InterfacedPolicy(RandomPolicy(), {name: HISTORY})
            outside.start(raw, 9)
            outside.load(kept)
            with pytest.raises(UserError, match="do not match"):
                outside.load({key: array for key, array in kept.items() if "PrevActObs" not in key})


def test_lives_begin_without_memory_where_slots_are_taken_over():
    world = through("mmo/combat-128", {"agent": [{"name": "MultiBinObs", "max": 4, "bins": [4]}]})(1, 0)
    player = RandomPolicy()
    player.start(world)
    step = world.reset()
    living, ages = step.acting.copy(), np.zeros_like(step.reward, int)
    births = 0
    for _ in range(120):
        step = world.step(player.act(step))
        ended = step.terminated | step.truncated
        born = step.acting & (~living | ended)
        births += int(born.sum())
        ages = np.where(born, 0, ages + 1)
        living = (living & ~ended) | step.acting
        shown = step.observation["step_bins"].argmax(axis=-1)
        assert np.array_equal(shown[step.acting], np.minimum(ages, 3)[step.acting])
    assert births > 20


def test_a_team_is_one_slot_that_lives_until_its_last_member_died():
    raw = make_world("survival/2v2-all-low", num_worlds=4, seed=2)
    world = InterfacedWorld(
        make_world("survival/2v2-all-low", num_worlds=4, seed=2),
        {"team0": [], "team1": ["ConcatObsAct"]},
        teams=True,
        reward="sum",
    )
    assert world.teams == ((0,), (1,))
    assert [kind.name for kind in world.kinds] == ["team0", "team1"]
    player = RandomPolicy()
    player.start(world)
    step, inner = world.reset(), raw.reset()
    living = inner.acting.copy()
    ends = 0
    while not step.over.all():
        action = player.act(step)
        members = world._inward(action)
        step, inner = world.step(action), raw.step(members)
        assert np.array_equal(world._inner.hash(), raw.hash())
        ended = inner.terminated | inner.truncated
        before, living = living, living & ~ended
        for k, unit in enumerate(raw.teams):
            at = list(unit)
            assert np.allclose(step.reward[:, k], inner.reward[:, at].sum(axis=1))
            assert np.array_equal(step.acting[:, k], inner.acting[:, at].any(axis=1))
            over = before[:, at].any(axis=1) & ~living[:, at].any(axis=1)
            assert np.array_equal(step.terminated[:, k] | step.truncated[:, k], over)
            ends += int(over.sum())
    assert ends == 8


@pytest.mark.parametrize(
    ("reward", "paid"), [("mean", [0.4, 0.4]), ("sum", [0.8, 0.8]), ("first", [0.9, -0.1])]
)
def test_a_team_earns_by_the_rule_that_is_asked_for(reward, paid):
    """In the fourth step the first member of team 0 and the second of team 1 arrive: 0.9, where the others earn -0.1."""
    corridor = Corridor(agents=4)
    corridor.teams = ((0, 1), (2, 3))
    world = InterfacedWorld(corridor, {"agent": None}, teams=True, reward=reward)
    world.reset()
    for _ in range(4):
        step = world.step({"0": np.array([[1, 0]]), "1": np.array([[0, 1]])})
    assert step.reward[0].tolist() == pytest.approx(paid)


def test_only_the_living_are_paid_by_interfaces():
    class Bonus(Interface):
        def _reward(self, reward):
            return reward + 10

    world = InterfacedWorld(make_world("survival/2v2-all-low", num_worlds=3), {"agent": Bonus()})
    raw = make_world("survival/2v2-all-low", num_worlds=3)
    player = RandomPolicy()
    player.start(world)
    step, inner = world.reset(), raw.reset()
    living = step.acting.copy()
    for _ in range(1500):
        action = player.act(step)
        step, inner = world.step(action), raw.step(action)
        assert np.allclose(step.reward - inner.reward, 10.0 * living)
        living &= ~(step.terminated | step.truncated)
    assert not living.all()


def test_a_slot_that_has_not_acted_yet_is_paid_by_interfaces():
    class Tenfold(Interface):
        def _reward(self, reward):
            return 10 * reward

    world = InterfacedWorld(make_world("werewolf/6", num_worlds=50), {"agent": Tenfold()})
    raw = make_world("werewolf/6", num_worlds=50)
    player = RandomPolicy()
    player.start(raw)
    inner, step = raw.reset(seeds=1), world.reset(seeds=1)
    acted, early = inner.acting.copy(), 0
    while not inner.over.all():
        action = player.act(inner)
        inner, step = raw.step(action), world.step(action)
        assert np.allclose(step.reward, 10 * inner.reward)
        early += int((~acted & (inner.reward != 0)).sum())
        acted |= inner.acting
    assert early > 10


def test_illegal_choices_are_remembered_as_what_was_played():
    world = through("werewolf/6", {"agent": [{"name": "PrevActObs", "mode": "replace", "raw": True}]})(8, 1)
    step, wrong = world.reset(), 0
    for _ in range(20):
        legal, acting = step.action_mask["action"], step.acting.copy()
        action = legal.argmin(axis=-1)[..., None]  # illegal wherever something is
        step = world.step(action)
        seen = step.observation["observation"]
        assert np.array_equal(seen[acting], legal.argmax(axis=-1)[..., None][acting])
        wrong += int((seen != action)[acting].sum())
        step = world.reset(step.over)
    assert wrong > 50


@pytest.mark.parametrize("ignored", [False, True])
def test_which_choice_an_illegal_one_becomes(ignored):
    space = spaces.Dict(
        {
            "go": spaces.MultiDiscrete([3, 2], start=[5, 0]),
            "do": spaces.Discrete(2),
            "push": spaces.Box(0, 1, (1,)),
        }
    )
    legal = {"go": np.array([[[0, 1, 1, 1, 0]]], bool), "do": np.array([[[1, 1]]], bool)}
    action = {"go": np.array([[[5, 1]]]), "do": np.array([[1]]), "push": np.zeros((1, 1, 1), np.float32)}
    found = settled(space, action, legal, ignored)
    assert found["go"].tolist() == [[[5, 1]]] if ignored else [[[6, 0]]]
    assert found["do"] is action["do"]
    assert action["go"].tolist() == [[[5, 1]]]
    two = {**action, "go": np.array([[[7, 0]]])}
    assert settled(space, two, legal, ignored)["go"] is two["go"]
    assert settled(space, action, None, ignored) is action


def test_a_snapshot_of_other_interfaces_is_refused_and_nothing_changes():
    one = through("dilemma/fixed", {"agent": ["PrevActObs"]})(2, 0)
    two = through("dilemma/fixed", {"agent": ["FrameStack"]})(2, 0)
    one.reset()
    two.reset()
    before = two.save()
    with pytest.raises(UserError, match="do not match"):
        two.load(one.save())
    with pytest.raises(UserError, match="interfaces/agent/step"):
        two.load({**before, "interfaces/agent/step": before["interfaces/agent/step"][:1]})
    wild = copy.deepcopy(before)
    wild["interfaces/agent/step"][0] = -1
    with pytest.raises(UserError, match="outside"):
        two.load(wild)
    assert all(np.array_equal(array, before[name]) for name, array in two.save().items())


def test_vector_rewards_are_no_rewards_of_worlds():
    class Vector(Interface):
        def _reward(self, reward):
            return np.stack([reward, reward], axis=1)

    world = InterfacedWorld(make_world("dilemma/fixed"), {"agent": Vector()})
    player = RandomPolicy()
    player.start(world)
    with pytest.raises(UserError, match="shape"):
        world.step(player.act(world.reset()))


def test_what_is_shown_cannot_be_written_into():
    """Views of what interfaces remember: they say what a world's own views say, and nobody spoils the memory through them."""
    world = through("dilemma/fixed", {"agent": ["PrevActObs", {"name": "FrameStack", "k": 2}]})(2, 0)
    player = RandomPolicy()
    player.start(world)
    step = world.reset()
    for _ in range(3):
        step = world.step(player.act(step))
        stack, raw = world.interfaces["agent"], world.inner.timestep.observation
        rows = {name: array.reshape(-1, *array.shape[2:]) for name, array in raw.items()}
        for name, array in stack.look(rows).items():
            assert np.array_equal(step.observation[name], array.reshape(step.observation[name].shape))
            with pytest.raises(ValueError, match="read-only"):
                step.observation[name][...] = 0
