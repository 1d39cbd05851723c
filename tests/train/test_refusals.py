"""Refusals of training: of settings that cannot be, and of runs that do not fit their world, which leave no folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.pointing import Pointing
from interplay.core.settings import build, changed, parse_overrides
from interplay.train import networks
from interplay.train.algorithms import make_algorithm
from interplay.train.making import make_learner
from interplay.train.populations import find_populations
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import NetworkGroup, PopulationGroup, TrainSettings
from interplay.train.settings.unread import check_read
from interplay.train.sweep.axes import read_axis
from interplay.train.sweep.plan import plan
from interplay.train.trainer import train
from interplay.verbs.settings import build_settings
from tests.connect.telling_envs import Alone
from tests.refusals import case, refuses
from tests.train import (
    test_algorithms,
    test_alternation,
    test_critic,
    test_evaluation,
    test_guessing,
    test_interfaces,
    test_league,
    test_memory,
    test_opponents,
    test_pictures,
    test_pointer,
    test_pool,
    test_sweep,
)
from tests.train.meadow import Meadow
from tests.train.test_curriculum import trained as trained_in_stages
from tests.train.test_evaluation import AGAINST
from tests.train.test_league import PBT, rules
from tests.train.test_learners import TRAIN, meadow
from tests.train.test_own_numbers import trained as trained_alone
from tests.train.toy_worlds import Corridor, make_corridor, make_two_kinds

pytestmark = pytest.mark.slow


def trained(make: Callable[..., TrainSettings], *args: Any, made: Any = None, **own: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        try:
            train(make(*args, **own), run, *([] if made is None else [made]))
        finally:
            assert made or not run.exists()


def in_stages(*stages: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trained_in_stages(Path(folder) / "run", list(stages))


def alone(**own: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trained_alone(Alone, Path(folder) / "run", **own)


def in_turns(**own: Any) -> TrainSettings:
    return changed(test_alternation.settings_of(1), own, "test")


def pooled(**own: Any) -> TrainSettings:
    return build(TrainSettings, test_pool.settings_of(1).model_dump() | own, "test")


def remembering(**network: Any) -> None:
    test_memory.learner_of(test_memory.settings_of(network=network))


def named(*names: str) -> None:
    world = Meadow(1, npop=2)
    world.population_names = names
    find_populations(PopulationGroup(), world)


def grouped(**groups: list[str]) -> None:
    find_populations(PopulationGroup(by="name", groups=groups), Corridor(1))


def of_one_population() -> None:
    asked = changed(test_opponents.settings_of(1), {"world": {"id": "corridor"}}, "test")
    with_opponents(asked, Corridor(1))


def met(**own: Any) -> TrainSettings:
    return test_opponents.settings_of(1, **own)


def rated(**own: Any) -> TrainSettings:
    return test_evaluation.settings_of(1, **own)


def seen_through(**own: Any) -> TrainSettings:
    return test_interfaces.settings_of(**own)


def sees(space: Any, **changes: Any) -> None:
    settings = test_pictures.SETTINGS.model_copy(update=changes)
    networks.make_network(settings, spaces.Dict(x=space), spaces.Discrete(3), key=jax.random.key(0))


def pictures(**network: Any) -> None:
    build(TrainSettings, {"world": {"id": "x"}, "network": {"kind": "pictures", **network}}, "test")


def algorithm(name: str, **own: Any) -> None:
    make_algorithm(test_algorithms.settings_of(name, **own))


def unread(**own: Any) -> None:
    check_read(test_league.settings_of(**own))


def written(*words: str) -> None:
    build(TrainSettings, {"world": {"id": "x"}} | parse_overrides(words), "test")


def in_a_corridor(*words: str) -> None:
    build_settings("simulation/multi-corridor", list(words), {})


def preset(name: str | None, world: str = "") -> None:
    build_settings(world, [], {}, preset=name)


def planned(**more: Any) -> None:
    plan(test_sweep.asked(**more))


def pointing(heads: list[int], rows: dict[int, str], kind: str) -> None:
    action = Pointing(heads, rows)
    networks.make_network(NetworkGroup(kind=kind), test_pointer.SPACE, action, key=jax.random.key(0))


def with_critic(critic: str) -> None:
    make_learner(test_critic.settings_of(critic), make_two_kinds, begins=True)


in_a_league, guessing, own_algorithm = (
    test_league.settings_of,
    test_guessing.settings_of,
    test_algorithms.settings_of,
)
POINTING = ("tiles", "tiles_attention")
FIRST, SECOND = test_interfaces.STACKS.values()
MEADOW = {"opponents": {"pop1": "random"}}
BY_SELF = {"main": {"meets": [{"by": "self"}]}}
BY_SIDE = {"population": {"by": "name", "groups": {"a": ["walker_0"], "b": ["walker_1"]}}}
LEAGUES = [
    ({"learners": rules(by="pfps")}, "by"),
    ({"learners": {"main": {"meets": [{"by": "self", "share": 0.5}]}}}, "sum to 0.5"),
    ({"learners": {"main": {"meets": []}}}, "sum to 0"),
    ({"learners": {"main": {"meets": [{"by": "self"}], "freeze": False}}}, "a league of one player"),
    ({"learners": {"main": {"meets": [{"by": "current"}]}}}, "no other learner"),
    ({"learners": rules(by="latest", among=["mian"])}, "'main'"),
    ({"learners": rules(by="fixed")}, "without play"),
    ({"learners": rules(by="self", last=3)}, "last = 3"),
    ({"learners": rules(by="self"), "pbt": {"rates": ["learning_rat"]}}, "'learning_rate'"),
    ({"learners": BY_SELF, "pbt": PBT}, r"pbt\.rates = .* with 1 learner"),
    ({"learners": rules(by="near", matches=9)}, "matches = 9"),
    ({"learners": rules(by="current", among=["other", "other"])}, "a name twice"),
    ({"learners": rules(by="self") | {"main-0001": {}}}, "'main-0001'"),
    ({"learners": rules(by="fixed", play="other")}, "'other' is a fixed player"),
    ({"learners": {"main": {"meets": [{"by": "pfsp"}], "freeze": False}}}, "no copy of main"),
    ({"learners": rules(by="latest", among=["other"]) | {"other": {"freeze": False}}}, "no copy of other"),
    ({"learners": {"no/name": {"meets": [{"by": "self"}]}}}, "names files"),
    ({"period": 255}, "league.period = 255"),
]
REFUSED = [
    *(case(key, in_a_league, league=own) for own, key in LEAGUES),
    case(r"league\.learners and ", in_a_league, opponents={"any": "random"}),
    case(r"league\.learners and population\.by", in_a_league, population={"by": "kind"}),
    case("league.pbt.spread = 4.0", unread, league={"pbt": {"spread": 4.0}}),
    case("league.keep = 5", unread, league={"learners": {}, "period": 500_000, "keep": 5}),
    case("league: .*stone", trained, in_a_league, league={"learners": rules(by="fixed", play="stone")}),
    case("'return'", trained, in_a_league, league={"learners": rules(by="self"), "score": "returns"}),
    case("may never end|populations", trained, in_a_league, world={"id": "mmo/forage"}),
    case("'episode_length'", trained, in_turns, alternate={"metric": "episode_lenth"}),
    case("alternate.at_high: .*'left'", trained, in_turns, alternate={"at_high": "lefty"}),
    case("left", trained, in_turns, alternate={"at_low": "left"}),
    case("low = 17.5 .* high = 1.0", trained, in_turns, alternate={"high": 1.0}),
    case("metric", trained, in_turns, alternate={"metric": "off"}),
    case("alternate.at_high: left", trained, in_turns, opponents={"left": "random"}),
    case("pool.populations: .*'left'", trained, pooled, pool={"populations": ["lefty"]}),
    case("pool.populations: left is played by", trained, pooled, opponents={"left": "random"}),
    case("has one population", trained, pooled, population={"by": "kind", "groups": {}}),
    case("pool.populations: ", trained, pooled, pool={"populations": ["left", "left"]}),
    case("'pop7'", trained, met, opponents={"pop7": test_opponents.GRAZER}),
    case("opponents.pop1: .*'random'", trained, met, opponents={"pop1": "randm"}),
    case("opponents.pop1: runs/nobody", trained, met, opponents={"pop1": "runs/nobody"}),
    case("opponents: ", trained, met, opponents=dict.fromkeys(("pop0", "pop1", "pop2"), "random")),
    case('population.by = "kind"', trained, met, population={"by": "kind"}),
    case(r"has one population; .*population\.by", of_one_population),
    case("against: .*'random'", trained, rated, train={"evaluate_against": ["randm"]}),
    case("against: runs/nobody", trained, rated, train={"evaluate_against": ["runs/nobody"]}),
    case("evaluate_against: ", trained, rated, train={"evaluate_against": ["random"] * 2}),
    case("evaluate_episodes = 8", trained, rated, train={"evaluate_episodes": 8}),
    case("evaluate_episodes = 7", trained, rated, train=AGAINST | {"evaluate_episodes": 7}),
    case("matrix/climbing: 1 side", trained, rated, world={"id": "matrix/climbing"}),
    case("its 5 sides", trained, rated, world={"id": "simulation/multi-corridor"}),
    case("may never end", trained, rated, world={"id": "tests.train.meadow:Meadow"}),
    case("b is played by", trained, rated, **BY_SIDE, opponents={"b": "random"}),
    case("'FrameStack'", seen_through, interfaces={"one": ["FrameStak"]}),
    *(case("no list of interfaces", seen_through, interfaces={"one": one}) for one in ("FrameStack", [])),
    case("'three'; name a kind", trained, seen_through, interfaces={"three": FIRST}),
    case("one interface", trained, seen_through, interfaces={"agent": FIRST, "one": SECOND}),
    case("train.learners: .*'pop9'", meadow, train=TRAIN | {"learners": ["pop9"]}, **MEADOW),
    case("'nobody'; there are agent, pop0", meadow, train=TRAIN | {"learners": ["pop0", "nobody"]}, **MEADOW),
    case("train.learners: pop1 is played by", meadow, train=TRAIN | {"learners": ["pop1"]}, **MEADOW),
    case("network.memory = own: mlp", remembering, kind="mlp", memory="own"),
    case("network.memory = gru: Counter", remembering, kind="tests.train.test_memory:Counter", memory="gru"),
    case("ppo.sequence = 12 .* ppo.rollout = 32", test_memory.settings_of, ppo={"sequence": 12}),
    *(case("for 2 populations", named, *names) for names in (["villager"], ["villager", "villager"])),
    case("'../wolf' names files", named, "villager", "../wolf"),
    case("'nobody_", grouped, a=["walker_0"], b=["nobody_*"]),
    case("walker_1 is in a and in b", grouped, a=["walker_*"], b=["walker_1"]),
    case("walker_1 is in no group", grouped, a=["walker_0"]),
    case("groups", build, PopulationGroup, {"by": "name"}, "test"),
    case("groups", build, PopulationGroup, {"groups": {"a": ["x"]}}, "test"),
    case("groups", build, PopulationGroup, {"by": "name", "groups": {"a/b": ["x"]}}, "test"),
    case("none of x is a picture", sees, spaces.Box(0, 1, (40, 40, 3), np.float32)),
    case("uint8 in 0..255", sees, spaces.Box(0, 3, (40, 40, 3), np.uint8)),
    case("x is 40 x 35", sees, spaces.Box(0, 255, (40, 35, 3), np.uint8)),
    case("network.input_scale=false", sees, spaces.Box(0, 255, (40, 40, 3), np.uint8), input_scale=True),
    case("network.channels", pictures, channels=[8, 8]),
    case("every layer has 1 to", pictures, channels=[8, 0, 8]),
    case("one observation", pictures, stack=4),
    case("belief.about: .*'wolf'", trained, guessing, belief={"about": "wolf"}),
    case("network.kind=seats", trained, guessing, belief={"about": "werewolf"}, network={"kind": "mlp"}),
    case("guess itself", trained, guessing, belief={"about": "werewolf"}, opponents={"villager": "random"}),
    case("stage 2.*kinds", in_stages, {"until": 0.5}, {"options": {"wide": True}}),
    case("sise", in_stages, {"until": 0.5}, {"options": {"sise": 4}}),
    *(case("until", in_stages, {"until": until}, {}) for until in ("won >> 1", -1.0)),
    case("until", in_stages, {}, {}),
    case("until", in_stages, {"until": 0.5}),
    case("wins", in_stages, {"until": "wins > 0.5"}, {}),
    case("best_by.*success", alone, train={"best_by": "sucess", "max_updates": 3}),
    case("best_by.*metadata", alone, train={"best_by": "nothing", "max_updates": 3}),
    case("alternate.*metadata", alone, alternate={"metric": "success", "at_high": "a", "at_low": "b"}),
    case(
        "advantage of shape", trained, own_algorithm, "tests.train.test_algorithms:Late", made=make_corridor
    ),
    case(
        "target .* not finite",
        trained,
        own_algorithm,
        "tests.train.test_algorithms:Rooted",
        made=make_corridor,
    ),
    case("Lazy has no loss", algorithm, "tests.train.test_algorithms:Lazy"),
    case("Foreign does not inherit", algorithm, "tests.train.test_algorithms:Foreign"),
    case("a function", algorithm, "tests.train.test_algorithms:function"),
    case("Nobody", algorithm, "tests.train.test_algorithms:Nobody"),
    case("nobody_s_module", algorithm, "nobody_s_module:Mine"),
    case('"pppo"', algorithm, "pppo"),
    case("-0.1 is not 0 to 1", written, "ppo.learning_rate=-0.1"),
    case("-1e-05 is not 0 to 1", written, 'ppo.learning_rate="linear 3e-4 -1e-5"'),
    case("ppo.clip: 0 ", written, 'ppo.clip="linear 0.2 0"'),
    case("'linearly 1 0'", written, 'ppo.learning_rate="linearly 1 0"'),
    case("warmup 1", written, 'ppo.learning_rate="linear 1 0 warmup 1"'),
    case("shares of the run", written, "ppo.learning_rate=[[0.5,0.1],[0.2,0.1]]"),
    case("ppo.entropy_coefficient = nan", written, "ppo.entropy_coefficient=nan"),
    case("populations.pop0.lr", written, "ppo.populations={pop0={lr=0.1}}"),
    case("network.layers = 4 .*hidden", in_a_corridor, "network.kind=mlp", "network.layers=4"),
    case("network.memory_size = 8", in_a_corridor, "network.memory_size=8"),
    case("network.critic_hidden = ", in_a_corridor, "network.critic_hidden=[8]"),
    case("ppo.sequence = 8", in_a_corridor, "ppo.sequence=8"),
    case("by_role.* seats", in_a_corridor, "network.kind=seats", "world.options.seats=by_role"),
    case("ppo.clip = 0.1", in_a_corridor, "algorithm=policy_gradient", "ppo.clip=0.1"),
    case(r"fanti2022 is for survival/\*", preset, "fanti2022", "werewolf/9"),
    case("'suarez2019'", preset, "suarez"),
    *(case("no world; name one", preset, name) for name in ("gpu", None)),
    case("not KEY=VALUES", read_axis, "ppo.clip"),
    case("4 is above 0", read_axis, "seed=4..0"),
    case("has no logarithm", read_axis, "a=log:0..1"),
    case("bounds are numbers", read_axis, "a=log:x..1"),
    case("swap them", read_axis, "a=linear:2..1"),
    case(r"linear:0\.1\.\.0\.3 or log:", read_axis, "a=0.1..0.3"),
    case("0.123457 are equal", read_axis, "a=linear:0.123456..0.123457"),
    case("unknown key ppo.clipp", planned, grid={"ppo.clipp": [0.1]}),
    case("no value, or one twice", planned, grid={"ppo.clip": [0.1, 0.1]}),
    case("no value", planned, grid={"ppo.clip": []}),
    case("two ways", planned, grid={"ppo.clip": [0.1]}, points=[{"ppo.clip": 0.2}]),
    case("both given", planned, grid={"seed": [1]}, seeds=(1,)),
    case("one process", planned, settings={"train": {"workers": 2}}),
    case("is not read", planned, grid={"policy_gradient.gamma": [0.5]}),
    case("at most 100,000", planned, grid={str(i): list(range(100)) for i in range(9)}),
    *(case("no table", pointing, [5, 8], {1: row}, kind) for row in ("others", "count") for kind in POINTING),
    *(case("head 1 .* 4 choices", pointing, [5, 4], {1: "entities"}, kind) for kind in POINTING),
    *(case("head 1 .* tiles", pointing, [5, 5], {1: "tiles"}, kind) for kind in POINTING),
    case("network.critic = team: TwoKinds", with_critic, "team"),
    case("TwoKinds has no state", with_critic, "world"),
    case("there are learning_rate", algorithm, test_algorithms.OWN, algorithm_options={"learning_rat": 0.1}),
    case("under ppo", algorithm, "ppo", algorithm_options={"clip": 0.1}),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call: Any, key: str, error: Any) -> None:
    refuses(call, key, error)
