"""Refusals of evaluate: case -> call, and the key or value that the error names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate import PolicyMap, play, round_robin
from interplay.evaluate.communication.belief import calibrate
from interplay.evaluate.communication.histories import read_histories
from interplay.evaluate.communication.probe import probe_roles
from interplay.evaluate.communication.recording import reader_of
from interplay.evaluate.communication.signals import prepare, signal_role, signal_vote
from interplay.evaluate.communication.table import Talk
from interplay.evaluate.lifetimes.coverage import VisitRecorder, coverage
from interplay.evaluate.lifetimes.mmo.ghosts import value_map
from interplay.evaluate.lifetimes.overlays import Layer, compute_overlays, find_overlay
from interplay.evaluate.lifetimes.places import standing_reader
from interplay.evaluate.lifetimes.survival_world.moments import moment_reader
from interplay.evaluate.results import results
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
from tests.view.scenes import WalkWorld

DUEL = "survival/1v1-heals-low"


def walk(persistent: bool = False, **options: int) -> object:
    world = Line(2)
    world.persistent = persistent
    return play(world, RandomPolicy(), **{"episodes": 3, **options})


def seats(policies: dict[int | str, object], others: object = None) -> None:
    PolicyMap(policies, others).start(Line(1))


def populations(policies: dict[int | str, object], world: object, others: object = None) -> None:
    PolicyMap(policies, others, by="population").start(world)


def overlays(name: str, world: object, **options: int) -> object:
    return compute_overlays([name], world, Silent(), 10, **options)


class Silent(RandomPolicy):
    """Must not act: refusals come before play."""

    def act(self, timestep):
        pytest.fail("it acted")


def talk(symbols: int = 3, games: int = 12, boards: dict | None = None, **about: int) -> Talk:
    found = made_up(random_words((symbols,)), games=games, symbols=(symbols,))
    return Talk(found.about._replace(**about), found.games, found.boards._replace(**(boards or {})))


def settings(*names: str) -> object:
    return make_settings(world=DUEL, players=names, identities=names)


RANDOM, ONE = RandomPolicy(), np.zeros((1, 1, 2))
CASES: dict[str, tuple[Callable[[], object], str]] = {
    "payoffs not square": (lambda: alpha_rank(np.zeros((2, 3))), r"\(2, 3\)"),
    "no zero-sum game": (lambda: nash(np.ones((2, 2))), r"\(2, 2\)"),
    "payoffs of NaN": (lambda: nash(np.full((2, 2), np.nan)), r"\(2, 2\)"),
    "payoffs of nobody": (lambda: nash(np.zeros((0, 0))), r"\(0, 0\)"),
    "no reachable tile": (lambda: coverage(VisitRecorder(1, 1, 8), [0], [1]), "map_seed"),
    "no stand_at": (lambda: standing_reader(WalkWorld()), "stand_at"),
    "stand_at of a world without it": (lambda: WalkWorld().stand_at(0, 0, 1.0, 1.0), "stand_at"),
    "worlds without an end": (lambda: walk(persistent=True), "max_steps"),
    "no episodes": (lambda: walk(episodes=0), "episodes = 0"),
    "no steps": (lambda: walk(max_steps=0), "max_steps = 0"),
    "population too high": (lambda: value_map(common(), taste, 2), "population = 2"),
    "population below 0": (lambda: value_map(common(), taste, -1), "population = -1"),
    "unknown ghost": (lambda: value_map(common(), taste, 0, "hungry"), "'hungry'.* no food"),
    "no ghosts": (lambda: value_map(Line(1), taste, 0), "ghosts"),
    "three sides for two": (lambda: check_sides(Line(1), 2), "2 players.* 3 sides.* let 3 "),
    "one side for two": (lambda: check_sides(make_world("gridworld/maze"), 2), "1 side"),
    "near miss of an overlay": (lambda: find_overlay("valuse"), "'values'"),
    "unknown overlay": (lambda: find_overlay("xyz"), "'xyz'.* values, exploration"),
    "a list for an overlay": (lambda: find_overlay("tests.evaluate.test_overlays:NAMES"), "list"),
    "values of a scripted policy": (lambda: overlays("values", common()), "scripted"),
    "overlay of an unknown population": (lambda: overlays("lives", common(), population=2), r"0\.\.1"),
    "overlay of a world without tiles": (lambda: overlays("lives", Line(1)), "tiles"),
    "sum over maps": (lambda: overlays("exploration", common(2, maps=None)), "'exploration'.* maps = off"),
    "niches of one population": (lambda: overlays("niches", common(npop=1)), "npop=2"),
    "a map of one axis": (lambda: Layer("a", "a", np.zeros(3), "map", "plain", "u", "m."), r"\(3,\)"),
    "no limits": (lambda: Layer("a", "a", np.zeros((3, 3)), "map", "diverging", "u", "m."), "limits"),
    "near miss of a slot": (lambda: seats({"agent_7": RANDOM}), "'agent_7'; did you mean"),
    "unknown slot": (lambda: seats({3: RANDOM}), "slot 3; there are agent_0"),
    "slot without a policy": (lambda: seats({0: RANDOM}), r"slot 1 \(agent_1\)"),
    "population without a policy": (lambda: populations({0: RANDOM, 2: RANDOM}, Nursery(1, npop=3)), "pop1"),
    "unknown population": (
        lambda: populations({3: RANDOM}, Nursery(1, npop=3), RANDOM),
        "population 3; .*pop2",
    ),
    "near miss of a population": (
        lambda: populations({"wolf": RANDOM}, make_world("werewolf/9"), RANDOM),
        "'werewolf'",
    ),
    "places that do not halve": (
        lambda: shares(17, [1, 1], "per_home", ["a", "b"]),
        "cap = 17.* multiple of 2",
    ),
    "too few places": (lambda: shares(8, [1, 8], "per_home", ["a", "b"]), "cap = 8: b .* 16"),
    "half a win": (lambda: results(np.array([0.5]), np.array([False])), "outcome = 0.5"),
    "one player": (lambda: settings("a"), "a match needs 2"),
    "a player twice": (lambda: settings("a", "b", "a"), "players: a "),
    "matches without an end": (
        lambda: round_robin({"a": RANDOM, "b": RANDOM}, "mmo/forage", options={"slots": 8, "npop": 1}),
        "--max-steps",
    ),
    "moments of another world": (lambda: moment_reader(make_world("gridworld/maze")), "gridworld/maze"),
    "no talk": (
        lambda: reader_of(make_world("gridworld/traffic-corridor", num_worlds=1)),
        "traffic-corridor",
    ),
    "unknown model": (lambda: probe_roles(talk(), models=("oracle",)), "'oracle'"),
    "few games": (lambda: probe_roles(talk(games=4)), "4 games"),
    "other words": (lambda: probe_roles(talk(), talk(symbols=4)), "words or seats"),
    "nobody hides": (lambda: read_histories(talk(wolves=-1)), "no hidden team"),
    "belief of 2": (lambda: calibrate(ONE + 2, ONE[0] > 0, ONE == 0), "belief.* 0 to 1"),
    "nothing to score": (lambda: calibrate(ONE, ONE[0] > 0, ONE > 0), "counted"),
    "no permutations": (lambda: signal_role(talk(), permutations=0), "permutations = 0"),
    "boards without speakers": (
        lambda: prepare(talk(), np.zeros(len(talk().boards.game), bool)),
        "no utterances",
    ),
    "no executions": (
        lambda: signal_vote(talk(boards={"counted": np.zeros_like(talk().boards.counted)})),
        "signal_role",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_is_one_line_that_names_its_key(case):
    call, named = CASES[case]
    with pytest.raises(UserError, match=named) as refused:
        call()
    assert "\n" not in str(refused.value)
