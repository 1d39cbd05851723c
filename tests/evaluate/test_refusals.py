"""Refusals of evaluate."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate import PolicyMap, play, round_robin
from interplay.evaluate.communication.belief import calibrate
from interplay.evaluate.communication.histories import read_histories
from interplay.evaluate.communication.probe import probe_roles
from interplay.evaluate.communication.recording import BroadcastReader, TalkRecorder, reader_of
from interplay.evaluate.communication.signals import prepare, signal_role, signal_vote
from interplay.evaluate.communication.table import Talk, join
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder
from interplay.evaluate.lifetimes.coverage import VisitRecorder, coverage
from interplay.evaluate.lifetimes.mmo.ghosts import value_map
from interplay.evaluate.lifetimes.niches import niche
from interplay.evaluate.lifetimes.overlays import Layer, compute_overlays, find_overlay
from interplay.evaluate.lifetimes.places import standing_reader
from interplay.evaluate.lifetimes.survival import kaplan_meier
from interplay.evaluate.lifetimes.survival_world.moments import moment_reader
from interplay.evaluate.lifetimes.tick import watch
from interplay.evaluate.results import results
from interplay.evaluate.tournaments.match_recordings import check_count
from interplay.evaluate.tournaments.matchups import check_sides
from interplay.evaluate.tournaments.merge import shares
from interplay.evaluate.tournaments.ratings.alpha_rank import alpha_rank
from interplay.evaluate.tournaments.ratings.league_table import nash
from interplay.evaluate.tournaments.round_robins import make_settings
from interplay.registry import make_world
from tests.connect.toys import Line
from tests.evaluate.commons import common, taste
from tests.evaluate.nursery import Nursery
from tests.evaluate.talks import made_up, random_words
from tests.evaluate.test_talk_believing import OWN, Constant
from tests.refusals import Silent, case, refuses
from tests.view.scenes import WalkWorld

DUEL = "survival/1v1-heals-low"


def walk(persistent: bool = False, **options: int) -> object:
    world = Line(2)
    world.persistent = persistent
    return play(world, RandomPolicy(), **{"episodes": 3, **options})


def seats(policies: dict[int | str, object], others: object = None) -> None:
    PolicyMap(policies, others).start(Line(1))


def populations(
    policies: dict[int | str, object], make: object = lambda: Nursery(1, npop=3), others: object = None
) -> None:
    PolicyMap(policies, others, by="population").start(make())


def overlays(name: str, make: object = common, **options: int) -> object:
    return compute_overlays([name], make(), Silent(), 10, **options)


def played(name: str, world: object, **options: object) -> object:
    return compute_overlays([name], world, RANDOM, 10, **options)


def believed() -> BeliefRecorder:
    return BeliefRecorder(RANDOM, Constant(0.5), OWN)


def talk(symbols: int = 3, games: int = 12, boards: dict | None = None, **about: int) -> Talk:
    found = made_up(random_words((symbols,)), games=games, symbols=(symbols,))
    return Talk(found.about._replace(**about), found.games, found.boards._replace(**(boards or {})))


def settings(*names: str) -> object:
    return make_settings(world=DUEL, players=names, identities=names)


RANDOM, ONE = RandomPolicy(), np.zeros((1, 1, 2))
PLAIN, DIVERGING = ("plain", "u", "m."), ("diverging", "u", "m.")
REFUSED = [
    case(r"\(2, 3\)", alpha_rank, np.zeros((2, 3))),
    case(r"\(2, 2\)", nash, np.ones((2, 2))),
    case(r"\(2, 2\)", nash, np.full((2, 2), np.nan)),
    case(r"\(0, 0\)", nash, np.zeros((0, 0))),
    case("map_seed", coverage, VisitRecorder(1, 1, 8), [0], [1]),
    case("stand_at", standing_reader, WalkWorld()),
    case("stand_at", WalkWorld().stand_at, 0, 0, 1.0, 1.0),
    case("max_steps", walk, persistent=True),
    case("episodes = 0", walk, episodes=0),
    case("max_steps = 0", walk, max_steps=0),
    case("population = 2", lambda: value_map(common(), taste, 2)),
    case("population = -1", lambda: value_map(common(), taste, -1)),
    case("'hungry'.* no food", lambda: value_map(common(), taste, 0, "hungry")),
    case("ghosts", value_map, Line(1), taste, 0),
    case("2 players.* 3 sides.* let 3 ", check_sides, Line(1), 2),
    case("1 side", lambda: check_sides(make_world("gridworld/maze"), 2)),
    case("'values'", find_overlay, "valuse"),
    case("'xyz'.* values, exploration", find_overlay, "xyz"),
    case("list", find_overlay, "tests.evaluate.test_overlays:NAMES"),
    case("scripted", overlays, "values"),
    case(r"0\.\.1", overlays, "lives", population=2),
    case("tiles", overlays, "lives", lambda: Line(1)),
    case("'exploration'.* maps = off", overlays, "exploration", lambda: common(2, maps=None)),
    case("'coverage'.* maps = off", overlays, "coverage", lambda: common(2, maps=None)),
    case("npop=2", overlays, "niches", lambda: common(npop=1)),
    case("exploration", overlays, "visits"),
    case("ticks = 3", played, "place_values", make_world("battle/3m", limit=3), value=taste),
    case("burn_in = 4.* 3 ticks", played, "visits", WalkWorld(length=3), burn_in=4),
    case("ticks = 0", lambda: watch(common(), RANDOM, [VisitRecorder(1, 2, 42)], 0)),
    case(r"\(3,\)", Layer, "a", "a", np.zeros(3), "map", *PLAIN),
    case("limits", Layer, "a", "a", np.zeros((3, 3)), "map", *DIVERGING),
    case("'agent_7'; did you mean", seats, {"agent_7": RANDOM}),
    case("slot 3; there are agent_0", seats, {3: RANDOM}),
    case(r"slot 1 \(agent_1\)", seats, {0: RANDOM}),
    case("pop1", populations, {0: RANDOM, 2: RANDOM}),
    case("population 3; .*pop2", populations, {3: RANDOM}, others=RANDOM),
    case("'werewolf'", populations, {"wolf": RANDOM}, lambda: make_world("werewolf/9"), RANDOM),
    case("cap = 17.* multiple of 2", shares, 17, [1, 1], "per_home", ["a", "b"]),
    case("cap = 8: b .* 16", shares, 8, [1, 8], "per_home", ["a", "b"]),
    case("outcome = 0.5", results, np.array([0.5]), np.array([False])),
    case("a match needs 2", settings, "a"),
    case("players: a ", settings, "a", "b", "a"),
    case(
        "--max-steps", round_robin, {"a": RANDOM, "b": RANDOM}, "mmo/forage", options={"slots": 8, "npop": 1}
    ),
    case("gridworld/maze", lambda: moment_reader(make_world("gridworld/maze"))),
    case("traffic-corridor", lambda: reader_of(make_world("gridworld/traffic-corridor", num_worlds=1))),
    case("'oracle'", lambda: probe_roles(talk(), models=("oracle",))),
    case("4 games", lambda: probe_roles(talk(games=4))),
    case("words or seats", lambda: probe_roles(talk(), talk(symbols=4))),
    case("no hidden team", lambda: read_histories(talk(wolves=-1))),
    case("belief.* 0 to 1", calibrate, ONE + 2, ONE[0] > 0, ONE == 0),
    case("counted", calibrate, ONE, ONE[0] > 0, ONE > 0),
    case("permutations = 0", lambda: signal_role(talk(), permutations=0)),
    case("no utterances", lambda: prepare(talk(), np.zeros(len(talk().boards.game), bool))),
    case("signal_role", lambda: signal_vote(talk(boards={"counted": np.zeros_like(talk().boards.counted)}))),
    case("symbols is", lambda: join([talk(), talk(symbols=4)])),
    case("log_every = 0", lambda: TalkRecorder(BroadcastReader(), log_every=0)),
    case("npop=2 or more", niche, np.zeros(4), np.arange(4), np.arange(4)),
    case("0 steps", niche, np.array([0, 1]), np.zeros(0, int), np.zeros(0, int)),
    case("watch more ticks", kaplan_meier, np.array([]), np.array([], bool)),
    case("exact observer", lambda: believed().start(make_world("gridworld/broadcast", num_worlds=1))),
    case("no votes", lambda: believed().scores()),
    case("'kills'", lambda: walk()["kills"]),
    case("10,002 recordings", check_count, 3, 1_667, 2, 100, True),
    case("record none", check_count, 1, 5_001, 2, 4, True),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error):
    refuses(call, key, error)
