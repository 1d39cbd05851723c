"""Refusals of interfaces."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces, wrappers

from interplay.core.policy import RandomPolicy
from interplay.interfaces import Combine, Interface, from_settings, register, to_settings
from interplay.interfaces.agents import AgtItfWrapper, PolicyAgent, RandomAgent, play
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.generic.boxes import BoxTransform, Reshape, Transpose
from interplay.interfaces.generic.counters import MultiBinObs
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.generic.vectors import ConcatObsAct, Dict2Vec, RemoveTuple
from interplay.interfaces.match import match
from interplay.interfaces.names import find_interface
from interplay.interfaces.world import InterfacedWorld
from interplay.interfaces.wrappers import (
    ActingRates,
    AllObs,
    MakeTeam,
    OpponentObs,
    RandPlayer,
    RecordEpisodeStatistics,
    SplitTeam,
)
from interplay.registry import make_world
from tests.interfaces.matches import Duel
from tests.interfaces.test_battle import PAIRS
from tests.interfaces.test_pommerman import ALL, space_of
from tests.interfaces.test_pommerman_pairs import DONE, JOINT, ONE, SEEN
from tests.interfaces.test_pong import RAW, STACKED
from tests.interfaces.toys import Shift
from tests.refusals import case, refuses

NUMBER, VECTOR = spaces.Box(0, 9, (), np.float32), spaces.Box(0, 9, (2,), np.float32)
TWO, SIX, VECTORS = spaces.Discrete(2), spaces.Discrete(6), spaces.Tuple([VECTOR, VECTOR])
MAPPING = spaces.Dict({"height": NUMBER, "stats_goals": NUMBER})
BOARD = spaces.Dict({"board": spaces.Box(0, 13, (8, 8))})
FLAMELESS = spaces.Dict({key: part for key, part in ONE.spaces.items() if key != "flame_life"})
SHARED, TEAMS = FrameStack(), [[0, 2], [3, 1]]
ONCE, POLICY = RandomAgent(), RandomPolicy()


class Tenfold(Interface):
    def _reward(self, reward):
        return 10 * reward


class Late:
    """A PettingZoo environment in which an agent enters after the reset."""

    possible_agents = ("early", "late")

    def observation_space(self, name):
        return NUMBER

    def action_space(self, name):
        return TWO

    def reset(self, seed=None, options=None):
        self.agents = ["early"]
        return {"early": np.float32(0)}, {"early": {}}


def world(world_id, *given, **options):
    return InterfacedWorld(make_world(world_id), *given, **options)


def bound(names, seen, done):
    return from_settings(names).setup(seen, done)


def battle(variant, names, **options):
    raw = make_world(f"battle/{variant}", 1, **{"see_field": True, "diagonals": True, **options})
    return InterfacedWorld(raw, {"team0": PAIRS[names]}, teams=True)


def pictures(channels, dtype=np.uint8):
    return spaces.Box(0, 255, (84, 84, channels), dtype)


def shared_agents():
    play(Duel(), [AgtItfWrapper(RandomAgent(), SHARED), AgtItfWrapper(RandomAgent(), SHARED)])


REFUSED = [
    *(
        case("fit|field = |diagonals = ", battle, "5i", "5i", **{key: False})
        for key in ("see_field", "diagonals")
    ),
    case("no place for marine", battle, "3m", "5i", width=16.0, height=16.0),
    case("20 x 16", battle, "5i", "5i", width=20.0),
    case("raw=True", PrevActObs().setup, VECTOR, spaces.Box(0, 1)),
    case("raw ones one at most", PrevActObs, n=2, raw=True),
    case("max = 8", MultiBinObs, max=8, bins=(9,)),
    case("0, 1", BoxTransform(op="negate", index=2).setup, VECTORS, TWO),
    case("0, 1", BoxTransform(op="negate").setup, VECTORS, TWO),
    case("keeps the shape", BoxTransform(op=np.sum, index=0).setup, VECTORS, TWO),
    case("2 numbers", Reshape(shape=(3,), index=0).setup, VECTORS, TWO),
    case("axes", Transpose(axes=(1, 0), index=0).setup, VECTORS, TWO),
    case("negate", BoxTransform, op="squared"),
    case("ConcatVec", Dict2Vec().setup, VECTOR, TWO),
    case("leaves nothing", Dict2Vec(leave_out=("height", "stats_")).setup, MAPPING, TWO),
    case("some are not", ConcatObsAct().setup, VECTORS, spaces.Tuple([VECTOR, TWO])),
    case("MakeTeam", ConcatObsAct().setup, VECTOR, TWO),
    case("tuple of one", RemoveTuple().setup, VECTOR, TWO),
    case("FrameStack", from_settings, ["FrameStak"]),
    case("'n'", from_settings, [{"name": "FrameStack", "n": 2}]),
    case("'mode'", from_settings, [{"name": "PrevActObs", "mod": "append"}]),
    case("neither a name", from_settings, [{"k": 2}]),
    case("a list of interfaces", from_settings, "FrameStack"),
    case("FrameStack", from_settings, [{"name": "FrameStack", "k": "two"}]),
    case("one frame", from_settings, [{"name": "FrameStack", "k": 0}]),
    case("'inner'", from_settings, [{"name": "FrameStack", "inner": None}]),
    case("no plain data", to_settings, BoxTransform(op=np.square)),
    case("register the class", to_settings, Shift()),
    case("taken", register, type("FrameStack", (Interface,), {})),
    case("FrameStackInt", find_interface, "FrameStackInt"),
    case("no space of arrays", FrameStack().setup, spaces.Text(3), TWO),
    case("no interface", FrameStack, 3),
    case("3 children for a tuple of 2", Combine(None, [None] * 3).setup, VECTORS, spaces.Tuple([TWO, TWO])),
    case("Tenfold", Combine(None, [Tenfold(), None]).setup, VECTORS, spaces.Tuple([TWO, TWO])),
    case("need a tuple", Combine(None, [None]).setup, TWO, TWO),
    case("'board'", bound, ["EscapeMaskItf"], spaces.Box(0, 1, (3,)), SIX),
    case("six actions", bound, ["EscapeMaskItf"], ONE, spaces.Discrete(5)),
    case("'flame_life'", bound, ["CentredBoardObs"], FLAMELESS, SIX),
    case("reach = 0", from_settings, [{"name": "CentredBoardObs", "reach": 0}]),
    *(case("Pommerman", bound, [name], BOARD, SIX) for name in ALL),
    case("six actions", bound, ["RotateItf"], space_of(8), spaces.Discrete(5)),
    case("group the team first", bound, ["CombineObs"], ONE, DONE),
    case("two alike", bound, ["CombineObs"], spaces.Tuple([ONE, space_of(8)]), DONE),
    case("Pommerman", bound, ["CombineObs"], spaces.Tuple([ONE["board"]] * 2), DONE),
    case("'pair'", bound, JOINT[1:], SEEN, DONE),
    case("Pommerman", bound, ["CombineObs", "BoardMapObs"], SEEN, DONE),
    case("pong/2p", bound, ["PongImageObs"], spaces.Dict(pictures=pictures(4)), SIX),
    case("PongImageObs", bound, ["PongPreprocess"], pictures(3, np.float32), SIX),
    case("the world's frames", bound, STACKED, spaces.Dict(pictures=pictures(2)), SIX),
    case("Pong's actions", bound, ["PongDiscreteAct"], RAW, spaces.Discrete(5)),
    case("two digits", from_settings, [{"name": "PongImageObs", "rounds": 100}]),
    case("one at least", from_settings, [{"name": "PongPreprocess", "frames": 0}]),
    case("Autoreset", RecordEpisodeStatistics, wrappers.Autoreset(Duel())),
    case("merges all slots", EnvItfWrapper, wrappers.FlattenObservation(Duel()), [None, None]),
    case("'agent'", world, "survival/2v2-all-low", {"agnt": []}),
    case("'pop0'", world, "mmo/combat-128", {"pop0": []}),
    case("moves from slot to slot", world, "werewolf/6", {"villager": []}),
    case("each slot has one interface", world, "survival/2v2-all-low", {"agent": [], "team0": []}),
    case("slots below 4", world, "survival/2v2-all-low", {"red": []}, {"red": [0, 9]}),
    case("whole teams", world, "survival/2v2-all-low", {"red": []}, {"red": [0]}, teams=True),
    case("leave teams off", world, "mmo/combat-128", {"agent": []}, teams=True),
    case("each kind", world, "gridworld/hunters-foragers", {"all": []}, {"all": range(7)}),
    case("mean, sum, first", world, "survival/2v2-all-low", {"agent": []}, teams=True, reward="best"),
    case(r"clone\(\)", EnvItfWrapper, Duel(), [SHARED, SHARED]),
    case("3 interfaces for 2 slots", EnvItfWrapper, Duel(), [None] * 3),
    case(r"clone\(\)", shared_agents),
    case("RandomAgent", play, Duel(), [ONCE, ONCE]),
    case("RandomAgent", AgtItfWrapper, [ONCE, ONCE]),
    case("RandomAgent", play, Duel(), [AgtItfWrapper(ONCE), ONCE]),
    case("RandomPolicy", play, Duel(), [PolicyAgent(POLICY), AgtItfWrapper(PolicyAgent(POLICY))]),
    case("late", match(Late()).reset),
    case("num_worlds = 2", lambda: match(make_world("dilemma/fixed", num_worlds=2))),
    case("no match", match, "survival"),
    case(
        "team of 3", AgtItfWrapper([RandomAgent() for _ in range(3)]).setup, VECTORS, spaces.Tuple([TWO, TWO])
    ),
    case("no agent", AgtItfWrapper, []),
    *(
        case("one group", MakeTeam, Duel(4), g)
        for g in ([[0, 1], [2]], [[0, 1], [1, 2, 3]], [[0, 1], [2, 4]])
    ),
    case("mean, sum, first", MakeTeam, Duel(4), TEAMS, "best"),
    case("no teams", SplitTeam, Duel(2, bare=True)),
    case("for teams", SplitTeam, MakeTeam(Duel(4), TEAMS), [[0, 1, 2], [3]]),
    case("different spaces", RandPlayer, EnvItfWrapper(Duel(), [PrevActObs(), None])),
    case("no slot 3", AllObs, Duel(3), seeing=[3]),
    case("one of two", OpponentObs, Duel(3)),
    case("3 waiting functions", ActingRates, Duel(), [len] * 3),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error):
    refuses(call, key, error)
