"""Wrappers of whole matches (specification interfaces 3.1, 5 and 8)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from interplay.core.errors import UserError
from interplay.interfaces import Interface
from interplay.interfaces.agents import AgtItfWrapper, RandomAgent, play
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.match import Match, match
from interplay.interfaces.wrappers import (
    ActingRates,
    AllObs,
    CutWithoutReward,
    LifeEnds,
    MakeTeam,
    OpponentObs,
    RandPlayer,
    RecordEpisodeStatistics,
    RewardWeights,
    SignReward,
    SplitTeam,
    StepMul,
)
from interplay.registry import make_world
from tests.interfaces.matches import Duel
from tests.interfaces.toys import Counting, same

TEAMS = [[0, 2], [3, 1]]


def deeds(*firsts):
    return tuple(np.array([first, 0]) for first in firsts)


def test_teams_are_made_of_players_and_split_again():
    plain, team = Duel(4), MakeTeam(Duel(4), TEAMS)
    back = SplitTeam(MakeTeam(Duel(4), TEAMS), TEAMS)
    assert back.observation_space == plain.observation_space
    one, _ = plain.reset(seed=1)
    two, _ = team.reset(seed=1)
    three, info = back.reset(seed=1)
    assert same(plain.observation_space, one, three)
    assert len(info["action_mask"]) == 4
    for _ in range(6):
        one, rewards, *_ = plain.step(deeds(0, 1, 2, 0))
        two, earned, _, _, info = team.step((deeds(0, 2), deeds(0, 1)))
        three, own, _, _, flat = back.step(deeds(0, 1, 2, 0))
        assert same(
            spaces.Tuple([plain.observation_space[0]] * 4),
            (*two[0], *two[1]),
            (one[0], one[2], one[3], one[1]),
        )
        assert info["member_rewards"] == ((rewards[0], rewards[2]), (rewards[3], rewards[1]))
        assert earned == ((rewards[0] + rewards[2]) / 2, (rewards[3] + rewards[1]) / 2)
        assert own == rewards
        assert same(plain.observation_space, one, three)
    assert len(info["outcome"]) == 2
    assert len(info["action_mask"][0]) == 2
    assert len(flat["outcome"]) == 4
    assert flat["outcome"][0] == flat["outcome"][2] == info["outcome"][0]


@pytest.mark.parametrize(
    ("rule", "expected"), [("mean", (0.0, -1.0)), ("sum", (0.0, -2.0)), ("first", (-1.0, -1.0))]
)
def test_what_a_team_earns(rule, expected):
    env = MakeTeam(Duel(4), TEAMS, rule)
    env.reset(seed=0)
    env.unwrapped.sums[:] = 0
    _, earned, _, _, info = env.step((deeds(0, 2), deeds(0, 1)))
    assert earned == expected
    assert info["member_rewards"] == ((-1, 1), (-1, -1))


def test_a_team_of_a_world_of_ours_wins_together():
    env = MakeTeam(make_world("survival/2v2-all-low"), [[0, 1], [2, 3]])
    team = AgtItfWrapper([RandomAgent(), RandomAgent()])
    for game in play(env, [team, AgtItfWrapper([RandomAgent(), RandomAgent()])], episodes=2):
        assert sum(game["outcome"]) == 0


def test_d19_who_sits_elsewhere_has_that_seats_outcome():
    env, swapped = RandPlayer(Duel(3, length=3), seed=2), set()
    for _ in range(6):
        obs, info = env.reset()
        seats = info["seats"]
        swapped.add(seats)
        sums = env.unwrapped.sums
        assert [float(own[0][0]) for own in obs] == [sums[seat] for seat in seats]
        over = False
        while not over:
            _, rewards, terminated, truncated, info = env.step(deeds(2, 0, 0))  # player 0 is ahead soon
            over = terminated or truncated
        told = env.unwrapped.actions[-1]
        assert told[seats[0]][0] == 2
        best = int(np.argmax([env.env._returns[seat] for seat in seats]))
        assert info["outcome"][best] == max(info["outcome"])
        assert rewards[0] == max(rewards)
    assert len(swapped) > 1


def test_seats_follow_the_seed():
    def seats(env):
        return [env.reset(seed=4)[1]["seats"], *(env.reset()[1]["seats"] for _ in range(5))]

    assert seats(RandPlayer(Duel(4))) == seats(RandPlayer(Duel(4), seed=9))


def test_d20_everybodys_observation_also_where_it_is_a_plain_box():
    for bare in (True, False):
        env = AllObs(Duel(3, bare=bare), seeing=[0, 2])
        plain = Duel(3, bare=bare)
        obs, _ = env.reset(seed=5)
        raw, _ = plain.reset(seed=5)
        assert obs in env.observation_space
        assert [len(obs[0]), len(obs[2])] == [3, 3]
        for slot in (0, 2):
            for k in range(3):
                assert same(plain.observation_space[0], obs[slot][k], raw[(slot + k) % 3])
        assert same(plain.observation_space[0], obs[1], raw[1])
    both, _ = OpponentObs(Duel()).reset(seed=1)
    assert same(Duel().observation_space, both[0], both[1][::-1])


def test_d15_slots_wait_as_long_as_their_own_function_says():
    env = ActingRates(Duel(length=12), [lambda deed: 3, lambda deed: 1 + int(deed[0])])
    obs, info = env.reset(seed=0)
    assert info["due"] == (True, True)
    begin = env.unwrapped.sums.copy()
    first, _, _, _, info = env.step(deeds(2, 1))  # waits 3 and 2: two steps pass
    assert env.unwrapped.t == 2
    assert info["due"] == (False, True)
    assert same(env.observation_space[0], first[0], obs[0])  # not due: what it saw
    assert float(first[1][0][1]) == 2
    second, _, _, _, info = env.step(deeds(0, 0))  # the first 0 is ignored; waits 1
    assert env.unwrapped.t == 3
    assert [int(one[0][0]) for one in env.unwrapped.actions] == [2, 2, 2]
    assert info["due"] == (True, True)
    assert float(second[0][0][1]) == 3
    assert env.unwrapped.sums[0] == begin[0] + 6
    zero = ActingRates(Duel(), lambda deed: 0)
    zero.reset(seed=0)
    with pytest.raises(UserError, match="waits 0 steps"):
        zero.step(deeds(0, 0))


def test_rewards_add_up_while_actions_are_held_and_the_end_is_seen_by_all():
    env = ActingRates(Duel(length=5), [lambda deed: 4, lambda deed: 9])
    env.reset(seed=0)
    env.unwrapped.sums[:] = 0
    _, rewards, *_ = env.step(deeds(1, 0))
    assert rewards == (4.0, -4.0)
    obs, rewards, terminated, _, info = env.step(deeds(1, 0))
    assert rewards == (1.0, -1.0)
    assert terminated
    assert info["due"] == (True, True)
    assert [float(own[0][1]) for own in obs] == [5, 5]


def test_held_actions_are_no_decisions_of_the_interfaces_below():
    env = StepMul(EnvItfWrapper(Duel(length=8), [Counting(), Counting()]), 4)
    env.reset(seed=0)
    env.step(deeds(1, 1))
    counts = [(itf.noted, itf.acted) for itf in env.env.interfaces]
    assert counts == [(5, 1)] * 2  # the first observation and four steps, one decision


@pytest.mark.parametrize(
    "between",
    [
        lambda env: TimeLimit(env, 99),
        lambda env: EnvItfWrapper(env, [None, None]),
        SignReward,
        lambda env: RandPlayer(env, seed=1),
        lambda env: SplitTeam(MakeTeam(env, [[0, 1]])),
        lambda env: StepMul(env, 1),
    ],
)
def test_held_actions_are_no_decisions_whatever_lies_between(between):
    below = EnvItfWrapper(Duel(length=8), [Counting(), Counting()])
    env = StepMul(between(below), 4)
    env.reset(seed=0)
    env.step(deeds(0, 0))
    assert [(itf.noted, itf.acted) for itf in below.interfaces] == [(5, 1)] * 2


def test_decisions_follow_their_players_to_other_seats_and_into_teams():
    below = EnvItfWrapper(Duel(4, length=8), [Counting() for _ in range(4)])
    env = ActingRates(MakeTeam(RandPlayer(below), TEAMS), [lambda _: 4, lambda _: 1])
    _, _ = env.reset(seed=3)
    seats = env.env.env._seats
    for _ in range(4):
        env.step((deeds(0, 0), deeds(0, 0)))
    counts = [below.interfaces[seat].acted for seat in seats]
    assert counts == [1, 4, 1, 4]


class Four(Match):
    """Two teams of two. Slot 0 earns 5 at first, slots 2 and 3 earn 3 each; slot 1 may die in the second step."""

    teams = ((0, 1), (2, 3))
    observation_space = spaces.Tuple([spaces.Box(0, 1, (1,))] * 4)
    action_space = spaces.Tuple([spaces.Discrete(2)] * 4)

    def __init__(self, length, dies=False):
        self.length, self.dies = length, dies

    def reset(self, *, seed=None, options=None):
        self._start()
        self.t = 0
        return (np.zeros(1, np.float32),) * 4, {"alive": (True,) * 4}

    def step(self, action):
        self.t += 1
        rewards = (5.0, 0.0, 3.0, 3.0) if self.t == 1 else (0.0,) * 4
        alive = (True, not (self.dies and self.t > 1), True, True)
        seen = (np.zeros(1, np.float32),) * 4
        return self._finish((seen, rewards, self.t == self.length, False, {"alive": alive}))


def outcome_of(env):
    agents = [
        AgtItfWrapper([RandomAgent() for _ in own]) if isinstance(own, spaces.Tuple) else RandomAgent()
        for own in env.action_space
    ]
    (result,) = play(env, agents)
    return result["outcome"]


@pytest.mark.parametrize(
    ("ending", "own", "length"),
    [
        (lambda env: env, Four(4), 4),
        (lambda env: CutWithoutReward(env, 3), Four(9), 4),
        (LifeEnds, Four(9, dies=True), 2),
    ],
)
def test_early_ends_rank_whole_teams(ending, own, length):
    assert outcome_of(ending(own)) == (-1, -1, 1, 1)
    assert own.t == length
    pairs = [[0, 1], [2, 3]]
    assert outcome_of(MakeTeam(ending(own), pairs)) == (-1, 1)
    assert outcome_of(ending(MakeTeam(own, pairs))) == (-1, 1)
    assert outcome_of(SplitTeam(ending(MakeTeam(own, pairs)))) == (-1, -1, 1, 1)
    env = ending(RandPlayer(own))
    found = outcome_of(env)
    assert [found[env.get_wrapper_attr("_seats").index(seat)] for seat in range(4)] == [-1, -1, 1, 1]


def test_rewards_of_members_add_up_while_actions_are_held_and_are_left_out_where_those_of_teams_change():
    pairs = [[0, 1], [2, 3]]
    env = StepMul(MakeTeam(Duel(4), pairs), 3)
    env.reset(seed=0)
    env.unwrapped.sums[:] = 0
    _, rewards, _, _, info = env.step((deeds(2, 0), deeds(0, 0)))
    assert rewards == (0.0, -3.0)
    assert info["member_rewards"] == ((3.0, -3.0), (-3.0, -3.0))

    class Twice(Interface):
        def _reward(self, reward):
            return 2 * reward

    teams = MakeTeam(Duel(4), pairs, "first")
    for changed, earned in (
        (SignReward(teams), (1, 1, -1, -1)),
        (EnvItfWrapper(teams, [Twice(), None]), (2, 2, -1, -1)),
    ):
        env = SplitTeam(changed)
        env.reset(seed=0)
        env.unwrapped.sums[:] = 0
        assert env.step(deeds(2, 0, 0, 0))[1] == earned


def test_recorded_returns_move_with_their_players():
    env = RandPlayer(RecordEpisodeStatistics(Four(4)))
    moved = set()
    for seed in range(4):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            _, _, over, _, info = env.step((0,) * 4)
        moved.add(info["seats"])
        assert info["episode"]["r"] == tuple((5.0, 0.0, 3.0, 3.0)[seat] for seat in info["seats"])
    assert len(moved) > 1


def test_rewards_are_weighted_and_clipped():
    env = RewardWeights(Duel(vector=True), [2, 0.5])
    env.reset(seed=0)
    env.unwrapped.sums[:] = 0
    assert env.step(deeds(1, 0))[1] == (2.5, -1.5)
    wrong = RewardWeights(Duel(vector=True), [1, 1, 1])
    wrong.reset(seed=0)
    with pytest.raises(UserError, match="3 weights"):
        wrong.step(deeds(1, 0))
    signs = SignReward(RewardWeights(Duel(vector=True), [2, 0.5]))
    signs.reset(seed=0)
    signs.unwrapped.sums[:] = 0
    assert signs.step(deeds(1, 0))[1] == (1.0, -1.0)


def test_an_episode_is_cut_after_steps_without_reward():
    env = CutWithoutReward(Duel(length=50), 3)
    env.reset(seed=0)
    env.unwrapped.sums[:] = 0
    env.step(deeds(1, 0))
    env.step(deeds(0, 1))
    for t in range(2):
        _, _, _, truncated, info = env.step(deeds(1, 1))
        assert truncated == (t == 1)
    assert info["outcome"] == (1, -1)


def test_a_lost_life_ends_the_episode():
    env = LifeEnds(make_world("survival/2v2-all-low"))
    plain = match(make_world("survival/2v2-all-low"))
    env.reset(seed=3)
    plain.reset(seed=3)
    env.action_space.seed(0)
    over = False
    while not over:
        deed = env.action_space.sample()
        obs, _, over, _, info = env.step(deed)
        _, _, ended, _, told = plain.step(deed)
    assert not all(info["alive"])
    assert len(info["outcome"]) == 4
    assert info["alive"] == told["alive"]
    if not ended:
        living = [sum(info["alive"][slot] for slot in team) for team in plain.teams]
        sign = float(np.sign(living[0] - living[1]))
        assert info["outcome"] == (sign, sign, -sign, -sign)
    assert obs in env.observation_space
