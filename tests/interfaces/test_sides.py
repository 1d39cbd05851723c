"""Around environments, agents and teams it is the same (specification interfaces 3 to 6; L6 and L7)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.wrappers import TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.interfaces import Combine, Interface
from interplay.interfaces.agents import Agent, AgtItfWrapper, PolicyAgent, RandomAgent, play
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.match import match, outcomes
from interplay.interfaces.world import InterfacedWorld
from interplay.interfaces.wrappers import MakeTeam, RandPlayer, RewardWeights, SignReward, StepMul
from interplay.registry import make_world
from tests.interfaces import toys
from tests.interfaces.matches import Duel
from tests.interfaces.toys import Counting, Noise, Regroup, Shift, built, same
from tests.train.toy_worlds import LENGTH, Corridor


class Recorder(Agent):
    """Keeps what it saw and does what a random agent would."""

    def __init__(self):
        self.seen, self.player, self.legal = [], RandomAgent(), []

    def setup(self, obs_space, act_space, slot=0, seed=0):
        super().setup(obs_space, act_space, slot, seed)
        self.player.setup(obs_space, act_space, slot, seed)

    def reset(self, obs, info=None):
        super().reset(obs, info)
        self.first = obs

    def step(self, obs, mask=None):
        self.seen.append(obs)
        self.legal.append(mask)
        return self.player.step(obs, mask)


def on_both_sides(stacks, env=Duel, step_mul=1, episodes=2):
    """Raw actions, what models saw, and what was legal: with the interfaces on the environment, and on the agents."""
    told = []
    for on_environment in (True, False):
        game, models = env(), [Recorder() for _ in stacks]
        layers = [None if names is None else built(names) for names in stacks]
        raw = []
        if on_environment:
            wrapped = StepMul(EnvItfWrapper(game, layers, seed=3), step_mul)
            for slot, model in enumerate(models):
                model.setup(wrapped.observation_space[slot], wrapped.action_space[slot], slot, 3)
            for _ in range(episodes):
                obs, info = wrapped.reset()
                for model, part in zip(models, obs, strict=True):
                    model.reset(part)
                over = False
                while not over:
                    legal = info["action_mask"]
                    chosen = tuple(m.step(o, k) for m, o, k in zip(models, obs, legal, strict=True))
                    obs, _, terminated, truncated, info = wrapped.step(chosen)
                    over = terminated or truncated
                raw += game.actions
        else:
            game_of_tuples = match(game)
            agents = [AgtItfWrapper(m, s, step_mul) for m, s in zip(models, layers, strict=True)]
            for slot, agent in enumerate(agents):
                agent.setup(game.observation_space[slot], game.action_space[slot], slot, 3)
            for _ in range(episodes):
                obs, info = game_of_tuples.reset()
                for agent, part in zip(agents, obs, strict=True):
                    agent.reset(part)
                over = False
                while not over:
                    legal = info["action_mask"]
                    deeds = tuple(a.step(o, k) for a, o, k in zip(agents, obs, legal, strict=True))
                    obs, _, terminated, truncated, info = game_of_tuples.step(deeds)
                    over = terminated or truncated
                raw += game.actions
        told.append((raw, models))
    return told


@settings(max_examples=25)
@given(toys.stacks, st.one_of(st.none(), toys.stacks), st.sampled_from([1, 4]))
def test_l6_both_sides_are_alike_d6_d12_d16(one, two, step_mul):
    (raw, models), (raw_there, models_there) = on_both_sides([one, two], lambda: seeded(Duel()), step_mul)
    assert len(raw) == len(raw_there) == 12
    for deed, other in zip(raw, raw_there, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(deed, other, strict=True))
    for model, other in zip(models, models_there, strict=True):
        assert len(model.seen) == len(other.seen)
        for a, b in zip(model.seen, other.seen, strict=True):
            assert same(model.observation_space, a, b)
        assert repr(model.legal) == repr(other.legal)


def seeded(env):
    env.reset(seed=11)
    return env


def teams(stack_of_two):
    """A match of two team slots whose second is played by `stack_of_two`."""
    from interplay.interfaces.wrappers import MakeTeam

    return MakeTeam(seeded(Duel(4)), [[0, 1], [2, 3]])


@settings(max_examples=15)
@given(toys.stacks, toys.stacks, st.booleans())
def test_l7_a_team_is_an_agent_d7(one, two, regroup):
    told = []
    for combined in (False, True):
        from interplay.interfaces.wrappers import MakeTeam

        env = MakeTeam(seeded(Duel(3 if regroup else 2)), [[0, 1, 2] if regroup else [0, 1]])
        joint = Regroup() if regroup else Interface()
        members = [RandomAgent(), RandomAgent()]
        if combined:
            team = AgtItfWrapper(members, Combine(joint, [built(one), built(two)]))
        else:
            wrapped = [
                AgtItfWrapper(member, built(names)) for member, names in zip(members, (one, two), strict=True)
            ]
            team = AgtItfWrapper(wrapped, joint)
        results = play(env, [team], seed=5, episodes=2)
        told.append((results, repr(env.unwrapped.actions)))
    assert told[0] == told[1]


def test_agents_with_different_interfaces_meet_in_the_raw_environment():
    agents = [
        AgtItfWrapper(RandomAgent(), FrameStack()),
        AgtItfWrapper(RandomAgent(), PrevActObs(Shift(), n=2), step_mul=2),
    ]
    results = play(Duel(), agents, episodes=3)
    assert [game["steps"] for game in results] == [6] * 3
    assert agents[0].episodes == 3
    assert agents[0].steps == 6


def test_the_first_episode_has_the_seed_and_later_ones_continue_its_stream():
    class Starts(RandomAgent):
        def reset(self, obs, info=None):
            super().reset(obs, info)
            begun.append((obs[0][0], info))

    begun = []
    play(Duel(3), [RandomAgent(), Starts(), RandomAgent()], seed=7, episodes=6)
    stream = seeding.np_random(7)[0]
    assert [start for start, _ in begun] == [stream.integers(0, 3, 3)[1] for _ in range(6)]
    assert len({start for start, _ in begun}) > 1
    assert [info for _, info in begun] == [{"seed": 7}, *[None] * 5]


def test_a_wrapped_agent_plays_one_match_after_another():
    agent = AgtItfWrapper(RandomAgent(), FrameStack())
    for slots in (2, 3):
        play(Duel(slots), [agent, *[RandomAgent() for _ in range(slots - 1)]])


def test_nested_wrappers_are_a_stack_in_each_slot():
    env = EnvItfWrapper(EnvItfWrapper(seeded(Duel()), [Shift(by=3), None]), [FrameStack(k=2), None])
    flat = EnvItfWrapper(seeded(Duel()), [FrameStack(Shift(by=3), k=2), None])
    assert env.observation_space == flat.observation_space
    one, two = env.reset(seed=2), flat.reset(seed=2)
    for _ in range(5):
        assert same(env.observation_space, one[0], two[0])
        deed = (np.array([1, 0]), np.array([2, 1]))
        one, two = env.step(deed), flat.step(deed)
        assert repr(one[4]["action_mask"]) == repr(two[4]["action_mask"])


def test_options_reach_the_interfaces_of_their_slot_alone():
    env = EnvItfWrapper(Duel(), [Counting(), Counting()])
    env.reset(options={"itf": {1: {"map": 4}}})
    assert [stack.ctx.info for stack in env.interfaces] == [None, {"map": 4}]
    with pytest.raises(UserError, match="itf"):
        env.reset(options={"itf": {2: {}}})
    with pytest.raises(UserError, match="itf"):
        env.reset(options={"itf": [1]})


def test_rewards_go_through_on_the_environments_side():
    class Twice(Interface):
        def _reward(self, reward):
            return 2 * reward

    class More(Interface):
        def _reward(self, reward):
            return reward + 3

    for stack, earned in ((Twice(More()), 8.0), (More(Twice()), 5.0)):
        env = EnvItfWrapper(Duel(), [stack, None])
        env.reset(seed=0)
        _, rewards, *_ = env.step((np.array([2, 1]), np.array([0, 0])))
        assert rewards == (earned, -1.0)
    vectors = EnvItfWrapper(Duel(vector=True), [Twice(), None])
    vectors.reset(seed=0)
    _, rewards, *_ = vectors.step((np.array([2, 1]), np.array([0, 0])))
    assert rewards[0].tolist() == [2, 2]


@pytest.mark.parametrize("cut", [False, True])
def test_d21_every_last_step_has_the_outcome_of_its_own_episode(cut):
    env = EnvItfWrapper(Duel(length=3, cut=cut), [None, None])
    for winner in (0, 1, 0):
        env.reset(seed=0)
        for t in range(3):
            deed = tuple(np.array([2 if slot == winner else 0, 0]) for slot in range(2))
            _, _, terminated, truncated, info = env.step(deed)
            assert ("outcome" in info) == (t == 2)
        assert (terminated, truncated) == (not cut, cut)
        assert info["outcome"] == ((1, -1) if winner == 0 else (-1, 1))


def test_d23_equal_scores_are_equal_outcomes():
    assert outcomes([4, 4]) == (0, 0)
    assert outcomes([1, 3, 3, 0]) == (-1 / 3, 2 / 3, 2 / 3, -1)
    assert outcomes([1, 2, 5, 0], teams=[(0, 2), (1, 3)]) == (1, -1, 1, -1)
    assert outcomes([7]) is None


def test_a_world_of_ours_is_a_match():
    env = match(make_world("werewolf/6"))
    obs, info = env.reset(seed=4)
    over = False
    while not over:
        assert obs in env.observation_space
        asked = [legal is not None for legal in info["action_mask"]]
        assert all(asked)
        for acting, legal in zip(info["acting"], info["action_mask"], strict=True):
            assert acting or int(np.sum(legal)) == 1  # who is not asked has one action
        deed = tuple(s.sample(mask=m) for s, m in zip(env.action_space, info["action_mask"], strict=True))
        obs, rewards, terminated, truncated, info = env.step(deed)
        over = terminated or truncated
    assert len(info["outcome"]) == len(rewards) == 6


def test_the_score_of_a_world_may_be_a_metric():
    world = make_world("survival/1v1-heals-low")
    name = next(key for key, value in world.metrics.items() if np.ndim(value) == 2)
    (result,) = play(match(world, score=name), [RandomAgent(), RandomAgent()])
    assert len(result["outcome"]) == 2
    with pytest.raises(UserError, match="no score"):
        play(match(make_world("dilemma/fixed"), score="frags"), [RandomAgent(), RandomAgent()])


class Backwards(Corridor):
    """Its metric is the way that is left: the less an agent earned, the more."""

    @property
    def metrics(self):
        return {"left": LENGTH - 1.0 - self.state.place[:, :, 0]}


@pytest.mark.parametrize(("score", "outcome"), [("return", (1, -1)), ("left", (-1, 1))])
def test_a_match_is_ranked_by_its_score(score, outcome):
    env = match(Backwards(), score)
    env.reset(seed=0)
    over, returns = False, np.zeros(2)
    while not over:
        _, rewards, terminated, truncated, info = env.step((1, 0))
        returns += rewards
        over = terminated or truncated
    assert returns.tolist() == pytest.approx([0.6, -2.0])
    assert info["outcome"] == outcome


def test_a_pettingzoo_environment_is_a_match():
    rps = pytest.importorskip("pettingzoo.classic.rps_v2")
    env = EnvItfWrapper(rps.parallel_env(max_cycles=4), [PrevActObs(), None])
    (result,) = play(env, [RandomAgent(), RandomAgent()])
    assert result["steps"] == 4
    assert sum(result["returns"]) == 0
    assert sum(result["outcome"]) == 0


def test_environments_of_turns_are_refused_with_a_cure():
    rps = pytest.importorskip("pettingzoo.classic.rps_v2")
    with pytest.raises(UserError, match="aec_to_parallel"):
        match(rps.env())


def test_drawing_agents_leave_the_environments_spaces_alone():
    env = match(Duel())
    env.action_space.seed(3)
    kept = env.action_space.sample()
    env.action_space.seed(3)
    play(env, [RandomAgent(), RandomAgent()])
    assert repr(env.action_space.sample()) == repr(kept)


def test_a_player_alone_is_a_tuple_of_one():
    import gymnasium

    env = EnvItfWrapper(gymnasium.make("CartPole-v1"), [FrameStack(k=3)])
    obs, _ = env.reset(seed=0)
    assert obs[0].shape == (3, 4)
    (result,) = play(env, [RandomAgent()])
    assert result["outcome"] is None


@pytest.mark.parametrize("world", ["survival/1v1-heals-low", "dilemma/fixed"])
def test_a_policy_sits_in_a_slot(world):
    agents = [
        PolicyAgent(RandomPolicy()),
        AgtItfWrapper(PolicyAgent(RandomPolicy()), PrevActObs(FrameStack())),
    ]
    one, two = (play(make_world(world), agents, seed=3) for _ in range(2))
    assert one == two


def test_a_policy_is_told_what_is_legal_and_where_tuples_nest():
    class Legal(RandomPolicy):
        def act(self, timestep):
            assert set(timestep.action_mask) == {"0.0", "0.1", "1"}
            found = super().act(timestep)
            for key, mask in timestep.action_mask.items():
                assert mask[0, 0, found[key][0, 0]].all()
            return found

    agent = PolicyAgent(Legal())
    act = spaces.Tuple([spaces.Tuple([spaces.Discrete(3), spaces.Discrete(2)]), spaces.Discrete(2)])
    agent.setup(spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1, (2,))]), act)
    obs = agent.observation_space.sample()
    agent.reset(obs)
    mask = ((np.array([0, 1, 0], np.int8), np.array([1, 0], np.int8)), np.array([0, 1], np.int8))
    assert agent.step(obs, mask) == ((1, 0), 1)


class Logged(PolicyAgent):
    """Keeps its actions."""

    def __init__(self):
        super().__init__(RandomPolicy())
        self.log = []

    def step(self, obs, mask=None):
        self.log.append(int(super().step(obs, mask)))
        return self.log[-1]


def test_a_policy_draws_other_numbers_in_each_slot_and_place_of_a_team():
    def logs():
        alone, members = [Logged() for _ in range(2)], [Logged() for _ in range(2)]
        play(make_world("dilemma/fixed"), alone, seed=5)
        team = MakeTeam(make_world("dilemma/fixed"), [[0, 1]])
        play(team, [AgtItfWrapper(members)], seed=5)
        return [tuple(agent.log) for agent in (*alone, *members)]

    found = logs()
    assert len(set(found)) == 4
    assert found == logs()


class Judged(Corridor):
    """With an outcome of its own, whatever the returns: NaN while it is played."""

    ruling = (-1.0, 1.0)

    @property
    def metrics(self):
        return {"outcome": np.where(self.state.over[:, None], [self.ruling], np.nan)}


@pytest.mark.parametrize("ruling", [(-1.0, 1.0), (0.0, 0.0), (np.nan, np.nan)])
def test_a_world_with_an_outcome_of_its_own_ranks_its_matches_itself(ruling):
    env = match(Judged())
    env.world.ruling = ruling
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step((1, 0))  # the first returns more
        over = terminated or truncated
    assert info["outcome"] == (None if np.isnan(ruling[0]) else ruling)


def limited(env):
    return TimeLimit(env, 5)


@pytest.mark.parametrize(
    "wrap",
    [
        limited,
        lambda env: EnvItfWrapper(limited(env), [None, None]),
        lambda env: limited(EnvItfWrapper(env, [None, None])),
        lambda env: limited(RandPlayer(RandPlayer(env, seed=2), seed=3)),
        lambda env: SignReward(limited(env)),
    ],
)
def test_a_limit_of_gymnasium_cuts_with_the_outcome_of_the_match_so_far(wrap):
    class Chosen(RandomAgent):
        def step(self, obs, mask=None):
            alone = isinstance(self.action_space, spaces.Discrete)
            return int(self.wins) if alone else np.array([2 * self.wins, 0])

    agents = [Chosen(), Chosen()]
    for winner, outcome in ((0, (1, -1)), (1, (-1, 1))):
        for slot, agent in enumerate(agents):
            agent.wins = slot == winner
        (result,) = play(wrap(match(Duel(length=9))), agents)
        assert (result["outcome"], result["steps"]) == (outcome, 5)
        (result,) = play(wrap(match(Judged())), agents)  # one arrives: its return is the higher one
        assert (result["outcome"], result["steps"]) == ((0, 0), 5)


def test_vectors_of_rewards_rank_nobody():
    (result,) = play(RewardWeights(Duel(vector=True), [1, 1]), [RandomAgent(), RandomAgent()])
    assert result["outcome"] is None
    assert result["returns"] != (0, 0)


HISTORY = {"n": 3, "mode": "replace"}
TURNS = "simulation/multi-corridor-turns"


def test_only_slots_that_act_decide_in_worlds_matches_and_agents():
    raw = make_world(TURNS)
    world, slots = InterfacedWorld(raw, {"agent": PrevActObs(**HISTORY)}), len(raw.agents)
    env = EnvItfWrapper(make_world(TURNS), [PrevActObs(**HISTORY) for _ in range(slots)])
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 2, (12, slots))

    class Follows(Agent):
        def step(self, obs, mask=None):
            self.steps += 1
            self.seen = [*getattr(self, "seen", ()), obs]
            return chosen[min(self.steps, len(chosen)) - 1, self.slot]

    agents = [Follows() for _ in range(slots)]
    step, (seen, info) = world.reset(seeds=3), env.reset(seed=3)
    play(
        TimeLimit(match(make_world(TURNS)), 12),
        [AgtItfWrapper(a, PrevActObs(**HISTORY)) for a in agents],
        seed=3,
    )
    idle = 0
    for t in range(12):
        for slot in range(slots):
            shown = step.observation["observation"][0, slot]
            assert np.array_equal(shown, seen[slot])
            assert np.array_equal(shown, agents[slot].seen[t])
        idle += info["acting"].count(False)
        step = world.step(chosen[t][None])
        seen, _, _, _, info = env.step(tuple(chosen[t].tolist()))
    assert idle > 30


def test_a_held_action_is_decided_when_it_is_read_first():
    """Slots take turns, and every action holds for two steps: each slot's action is read in its own turn."""
    env = StepMul(EnvItfWrapper(make_world(TURNS), [PrevActObs(**HISTORY) for _ in range(5)]), 2)
    _, info = env.reset(seed=3)
    first = info["acting"].index(True)
    second = (first + 1) % 5
    seen, *_ = env.step((1,) * 5)
    assert [own.reshape(3, 3).sum() for own in seen] == [slot in (first, second) for slot in range(5)]


def test_a_slot_that_waits_for_its_turn_is_alive():
    env = match(make_world("werewolf/6"))
    _, info = env.reset(seed=4)
    assert not all(info["acting"])
    assert info["alive"] == (True,) * 6


def test_nested_wrappers_draw_other_numbers_alike_on_both_sides():
    nested = EnvItfWrapper(EnvItfWrapper(Duel(length=10), [Noise(), None]), [Noise(), None])
    seen, _ = nested.reset(seed=1)
    wide = [seen[0]]
    for _ in range(9):
        wide.append(nested.step((np.array([0, 0]),) * 2)[0][0])
    inner, outer = ([tuple(one[1]) for one in part] for part in ([one[0] for one in wide], wide))
    assert inner != outer
    model = Recorder()
    model.player.step = lambda obs, mask=None: np.array([0, 0])
    agent = AgtItfWrapper(AgtItfWrapper(model, Noise()), Noise())
    game = Duel(length=10)
    agent.setup(game.observation_space[0], game.action_space[0], 0)
    seen, _ = game.reset(seed=1)
    agent.reset(seen[0], {"seed": 1})
    for _ in range(10):
        agent.step(seen[0])
        seen, *_ = game.step((np.array([0, 0]),) * 2)
    assert [tuple(one[1]) for one in model.seen] == outer
    assert [tuple(one[0][1]) for one in model.seen] == inner


def test_a_held_choice_that_became_illegal_is_the_first_legal_one():
    """The middle choice of `Duel` is legal in odd steps alone."""
    chosen = [np.array([1, 1]), np.array([2, 0])]
    env = StepMul(Duel(length=4), 4)
    env.reset(seed=0)
    env.step(tuple(chosen))
    assert [[one.tolist() for one in both] for both in env.unwrapped.actions] == [
        [[1, 1], [2, 0]],  # not held yet
        [[1, 1], [2, 0]],
        [[0, 1], [2, 0]],
        [[1, 1], [2, 0]],
    ]
    game = Duel(length=4)

    class Fixed(RandomAgent):
        def step(self, obs, mask=None):
            return chosen[self.slot]

    play(game, [AgtItfWrapper(Fixed(), step_mul=4) for _ in range(2)])
    assert repr(game.actions) == repr(env.unwrapped.actions)


def test_infos_of_children_have_the_number_of_their_entry():
    class Total(Interface):
        def _infos(self):
            return {"total": self.ctx.raw[0][:, 0]}

    env = EnvItfWrapper(MakeTeam(Duel(4), [[0, 1], [2, 3]]), [Combine(None, [Total(), Total()]), None])
    env.reset(seed=0)
    *_, info = env.step(((np.array([2, 0]), np.array([0, 1])), (np.array([0, 0]),) * 2))
    sums = env.unwrapped.sums
    assert (info["0/total"], info["1/total"]) == ((sums[0], None), (sums[1], None))


def test_what_is_needed_has_to_be_provided_below():
    class Map(Interface):
        provides = ("map",)

        def _observe(self, obs):
            self.ctx.memory["map"] = obs * 2
            return obs

    class Reader(Interface):
        needs = ("map",)

        def _observe(self, obs):
            return self.ctx.memory["map"]

    stack = Reader(Map()).setup(spaces.Box(0, 9, ()), spaces.Discrete(2))
    stack.reset()
    assert stack.obs_trans(np.float32(2)) == 4
    with pytest.raises(UserError, match="nothing below it provides"):
        Map(Reader()).setup(spaces.Box(0, 9, ()), spaces.Discrete(2))


def test_a_view_is_replaced_for_those_above_and_raw_is_read_only():
    class Turned(Interface):
        def _observe(self, obs):
            self.ctx.view = self.ctx.view[:, ::-1]
            return obs

    class Seeing(Interface):
        def _observe(self, obs):
            self.found = self.ctx.view.copy()
            with pytest.raises(ValueError, match="read-only"):
                self.ctx.raw[...] = 0
            return obs

    below, above = Seeing(), Seeing(Turned())
    stack = Seeing(Turned(below))
    above = stack
    stack.setup(spaces.Box(0, 9, (2,)), spaces.Discrete(2))
    for _ in range(2):
        stack.reset()
        stack.obs_trans(np.array([1, 2], np.float32))
        assert below.found.tolist() == [[1, 2]]
        assert above.found.tolist() == [[2, 1]]
