"""The forms of the PettingZoo adapter: flat, kept, slots, a number of lives, masks in observations, and all of them together."""

import itertools
import warnings

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import parallel_to_aec

import interplay
from interplay.connect.flat import FlatActions, flat_observation_space
from interplay.connect.pettingzoo import WorldEnv
from interplay.core import masks
from interplay.core.errors import UserError
from tests.checker.sound_worlds import Camp, Colony, Mourners
from tests.connect.relay import Relay
from tests.connect.toys import Hunt, Line

WORLDS = {
    "line": lambda: Line(1, seed=3),
    "line, masked": lambda: Line(1, seed=3, masked=True),
    "line, lives end": lambda: Line(1, seed=3, leave=True),
    "two kinds": lambda: Hunt(1, seed=3),
    "camp": lambda: Camp(1, seed=3),
    "mourners": lambda: Mourners(1, seed=3),
    "corridor": lambda: interplay.make_world("simulation/multi-corridor", seed=3),
    "battle": lambda: interplay.make_world("gridworld/team-battle", seed=3),
    "colony": lambda: Colony(1, seed=3),
}


def form(world, kept=False, lives=None, slots=False, **options):
    if world.respawns and not slots:
        lives = lives or 12
    return WorldEnv(world, on_death="keep" if kept else None, slots=slots, lives=lives, **options)


FORMS = [
    {"flat": flat, "mask_in_observation": shown, "kept": kept, "slots": slots}
    for flat, shown, (kept, slots) in itertools.product(
        (False, True, "discrete"), (False, True), ((False, False), (True, False), (False, True))
    )
    if flat or shown or kept or slots
]


def named(options):
    return ", ".join(f"{key} {value}" for key, value in options.items() if value)


def sampled(env, observation, infos):
    """Legal actions, drawn by whatever mask there is."""
    actions = {}
    for name in env.agents:
        mask = observation[name]["action_mask"] if env.mask_in_observation else infos[name].get("action_mask")
        actions[name] = env.action_space(name).sample(mask)
    return actions


def check_step(env, observation, infos, keys):
    """Dtypes, shapes, spaces, finite numbers, masks that fit, the same keys in every info."""
    assert observation.keys() == infos.keys()
    for name, seen in observation.items():
        assert env.observation_space(name).contains(seen), name
        action = env.action_space(name)
        choices = masks.length(action)
        if env.mask_in_observation:
            mask = seen["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (max(choices, 1),))
            assert mask.any()
            assert choices == 0 or np.array_equal(mask, infos[name].get("action_mask", mask))
            seen = seen["observation"]
        if env.flat:
            assert isinstance(seen, np.ndarray)
            assert seen.dtype == np.float32
            assert seen.ndim == 1
            assert np.isfinite(seen).all()
        info = infos[name]
        types = {key: type(value) for key, value in info.items()}
        assert keys.setdefault(name, types) == types
        assert set(types.values()) <= {bool, int, float, np.ndarray}
        if "action_mask" in info:
            row = info["action_mask"]
            assert (row.dtype, row.shape) == (bool, (choices,))
            at = 0
            for count in heads(action):
                assert row[at : at + count].any(), "no legal choice"
                at += count
            one_choice = env.slots or env.on_death == "keep"
            assert not one_choice or info["acting"] or row.sum() == len(heads(action))


def heads(action):
    if isinstance(action, spaces.Dict):
        return [count for part in action.values() for count in heads(part)]
    return [] if isinstance(action, spaces.Box) else list(masks.action_choices(action))


ALWAYS = ("line, masked", "two kinds", "colony")


@pytest.mark.parametrize("number", range(len(FORMS)), ids=lambda number: named(FORMS[number]))
def test_every_form_keeps_pettingzoos_laws_and_ours(number):
    options, others = FORMS[number], [title for title in WORLDS if title not in ALWAYS]
    for title in (*ALWAYS, others[number % len(others)]):
        make = WORLDS[title]
        env = form(make(), **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message="Action mask is a single number")
            warnings.filterwarnings("ignore", message="No agents present")
            parallel_api_test(env, num_cycles=25)
        parallel_seed_test(lambda make=make: form(make(), **options), num_cycles=15)
        keys = {}
        for seed in range(2):
            for name in env.possible_agents:
                env.action_space(name).seed(seed)
            observation, infos = env.reset(seed=seed)
            for _ in range(40):
                check_step(env, observation, infos, keys)
                if not env.agents:
                    break
                before = set(env.agents)
                observation, rewards, ended, cut, infos = env.step(sampled(env, observation, infos))
                assert before <= rewards.keys() == ended.keys() == cut.keys() == infos.keys()
                assert all(type(value) is float for value in rewards.values())
                if options["kept"] or options["slots"]:
                    assert list(infos) == env.possible_agents
                    assert len({*ended.values()}) == len({*cut.values()}) == 1


@pytest.mark.parametrize("title", ["line, masked", "two kinds", "corridor"])
def test_pettingzoos_own_aec_test_accepts_them_flat(title):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(parallel_to_aec(form(WORLDS[title](), kept=True, flat=True, mask_in_observation=True)), 60)


# -- flat ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [True, "discrete"])
@pytest.mark.parametrize("title", ["line, masked", "two kinds", "battle", "mourners"])
def test_flat_is_the_same_game(title, flat):
    """Field by field the plain observation, and a flat action does what the action does that it stands for."""
    plain, flattened = WorldEnv(WORLDS[title]()), WorldEnv(WORLDS[title](), flat=flat)
    told = [env.reset(seed=5) for env in (plain, flattened)]
    rng = np.random.default_rng(0)
    for _ in range(30):
        if not plain.agents:
            break
        (seen, infos), (rows, flat_infos) = told
        given, meant = {}, {}
        for name in plain.agents:
            parts = [np.ravel(seen[name][key]) for key in plain.observation_space(name).spaces]
            assert np.array_equal(rows[name], np.concatenate(parts).astype(np.float32))
            space = flattened.action_space(name)
            space.seed(int(rng.integers(2**31)))
            given[name] = space.sample(flat_infos[name].get("action_mask"))
            slot = plain.world.agents.index(name)
            inner = next(kind for kind in plain.world.kinds if slot in kind.slots).action_space
            meant[name] = first(FlatActions("", inner, flat == "discrete").batch([given[name]]))
            assert plain.action_space(name).contains(meant[name])
            if "action_mask" in infos[name]:
                legal = masks.as_gymnasium(plain.action_space(name), infos[name]["action_mask"])
                assert masks.is_legal(plain.action_space(name), legal, meant[name])
        told = [env.step(actions) for env, actions in ((plain, meant), (flattened, given))]
        assert told[0][1:4] == told[1][1:4]
        told = [(step[0], step[4]) for step in told]
        assert np.array_equal(plain.world.hash(), flattened.world.hash())


def first(batch):
    if isinstance(batch, dict):
        return {key: first(part) for key, part in batch.items()}
    return batch[0, 0] if batch.ndim > 2 else batch.dtype.type(batch[0, 0])


def test_flat_spaces():
    seen = spaces.Dict(
        a=spaces.Box(-1, 1, (2, 2), np.float32),
        b=spaces.Discrete(3, start=5),
        c=spaces.MultiBinary(2),
        d=spaces.Box(0, 255, (), np.uint8),
    )
    flat = flat_observation_space(seen)
    assert (flat.shape, flat.dtype) == ((8,), np.float32)
    assert flat.low.tolist() == [-1, -1, -1, -1, 5, 0, 0, 0]
    assert flat.high.tolist() == [1, 1, 1, 1, 7, 1, 1, 255]
    action = spaces.Dict(move=spaces.Box(-1, 1, (2,), int), hit=spaces.Discrete(2, start=4))
    mask = {"hit": np.array([[[True, False], [True, True]]])}
    two = FlatActions("me", action)
    assert two.space == spaces.MultiDiscrete([3, 3, 2]) or two.space == spaces.MultiDiscrete([2, 3, 3])
    assert two.space.start.tolist() == [0, 0, 0]
    one = FlatActions("me", action, single=True)
    assert one.space == spaces.Discrete(18)
    for flats, space in ((two, two.space), (one, one.space)):
        legal = flats.masks(mask, 2)
        for agent, row in enumerate(legal):
            for _ in range(20):
                point = first(flats.batch([space.sample(row)]))
                assert action.contains(point)
                assert agent == 1 or point["hit"] == 4
    assert FlatActions("me", spaces.MultiDiscrete([2, 2], start=[3, 3])).batch(
        [np.array([1, 0])]
    ).tolist() == [[[4, 3]]]


@pytest.mark.parametrize("single", [False, True])
def test_many_parts_of_a_flat_action_are_told_apart(single):
    space = spaces.Dict(
        a=spaces.Discrete(2, start=3),
        b=spaces.MultiDiscrete([3, 2]),
        c=spaces.Box(-1, 1, (2,), np.int8),
        d=spaces.Discrete(4),
    )
    flat = FlatActions("me", space, single)
    row = np.array([1, 2, 0, 0, 2, 3])
    given = np.ravel_multi_index(row, flat.counts) if single else row
    (a,), (b,), (c,), (d,) = (flat.batch([given])[key][0].tolist() for key in "abcd")
    assert (a, b, c, d) == (4, [2, 0], [-1, 1], 3)


def test_the_bounds_of_a_flat_box_are_the_worlds():
    wide = spaces.Box(-0.1, 0.1, (2,), np.float64)  # 0.1 in float32 is more than in float64
    flats = FlatActions("me", wide)
    for side in (flats.space.low, flats.space.high):
        assert wide.contains(flats.batch([side])[0, 0])
    assert not wide.contains(flats.batch([np.array([0.0, 0.11])])[0, 0])
    assert np.isnan(flats.batch([np.array([0.0, np.nan])])[0, 0, 1])


def test_a_wrong_flat_action_is_one_line_that_names_its_agent():
    env = WorldEnv(Line(1), flat="discrete")
    env.reset(seed=1)
    good = {name: env.action_space(name).sample() for name in env.agents}
    before = env.world.hash()
    for bad in (6, -1, 1.5, "left", np.array([1, 2])):
        with pytest.raises(UserError, match="agent_1") as caught:
            env.step({**good, "agent_1": bad})
        assert "\n" not in str(caught.value)
        assert np.array_equal(env.world.hash(), before)
    env.step(good)


# -- kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", [False, True])
def test_the_dead_stay_with_zeros_and_one_legal_action(shown):
    plain = WorldEnv(Line(1, seed=1, leave=True), mask_in_observation=shown)
    kept = WorldEnv(Line(1, seed=1, leave=True), mask_in_observation=shown, on_death="keep")
    gone = 0
    for seed in range(20):
        plain.reset(seed=seed)
        told = kept.reset(seed=seed)
        while plain.agents:
            actions = {name: kept.action_space(name).sample() for name in kept.agents}
            expected = plain.step({name: actions[name] for name in plain.agents})
            told = kept.step(actions)
            observation, rewards, ended, cut, infos = told
            absent = set(kept.possible_agents) - expected[0].keys()
            gone += len(absent)
            for name in kept.possible_agents:
                seen = observation[name]
                if name not in absent:
                    assert rewards[name] == expected[1][name]
                    assert np.array_equal(
                        (seen["observation"] if shown else seen)["self"],
                        (expected[0][name]["observation"] if shown else expected[0][name])["self"],
                    )
                    continue
                assert rewards[name] == 0.0
                assert not any(part.any() for part in (seen["observation"] if shown else seen).values())
                assert infos[name]["action_mask"].tolist() == [True, False, False, True, False]
                assert infos[name]["metrics/steps"] > 0, "what the last info said stands"
                if shown:
                    assert seen["action_mask"].tolist() == [1, 0, 0, 1, 0]
            over = not plain.agents
            was_cut = over and any(expected[3].values())
            assert set(ended.values()) == {over and not was_cut}
            assert set(cut.values()) == {was_cut}
            assert bool(kept.agents) is not over
    assert gone > 20


def test_who_is_dead_but_paid_stays_paid_and_has_one_legal_action():
    env = WorldEnv(Line(1, seed=2), on_death="keep")
    paid = 0
    for seed in range(10):
        _, infos = env.reset(seed=seed)
        while env.agents:
            _, rewards, _, _, infos = env.step({n: env.action_space(n).sample() for n in env.agents})
            for name, info in infos.items():
                if not info["acting"] and env.agents:
                    paid += rewards[name] == -1.0
                    assert info["action_mask"].sum() == 2
    assert paid


# -- slots --------------------------------------------------------------------------------------------------


def test_a_slot_is_its_world_and_infos_tell_its_lives():
    env, world = WorldEnv(Colony(1, seed=8), slots=True), Colony(1, seed=8)
    assert env.possible_agents == list(world.agents)
    ends = reborn = 0
    for seed in range(3):
        env.reset(seed=seed)
        step = world.reset(seeds=seed)
        for _ in range(150):
            if not env.agents:
                break
            actions = {name: env.action_space(name).sample() for name in env.agents}
            _, rewards, ended, cut, infos = env.step(actions)
            step = world.step(np.array([list(actions.values())]))
            assert list(rewards.values()) == step.reward[0].tolist()
            for flag, key in (("terminated", "life_terminated"), ("truncated", "life_truncated")):
                assert [info[key] for info in infos.values()] == getattr(step, flag)[0].tolist()
            acting = [info["acting"] for info in infos.values()]
            assert acting == step.acting[0].tolist()
            ends += int(step.terminated.sum())
            reborn += int((step.terminated & step.acting).sum())
            over = bool(step.over[0])
            assert {a or b for a, b in zip(ended.values(), cut.values(), strict=True)} == {over}
            assert set(cut.values()) == {over and bool(step.truncated.any())}
    assert ends > 3


def test_slots_of_the_persistent_world():
    env = interplay.make(
        "mmo/forage", agents="slots", flat=True, mask_in_observation=True,
        slots=16, interior=24, npop=2, prefill=8, cap_draw="fixed", spawn_per_tick=2, max_ticks=40,
    )  # fmt: skip
    keys = {}
    observation, infos = env.reset(seed=1)
    assert env.agents == [f"slot_{i}" for i in range(16)]
    lives = deaths = 0
    while env.agents:
        check_step(env, observation, infos, keys)
        lives += sum(info["acting"] for info in infos.values())
        deaths += sum(info["ended/life"] > 0 for info in infos.values())
        assert all(
            (info["ended/life"] == 0) or info["life_terminated"] or info["life_truncated"]
            for info in infos.values()
        )
        observation, _, _, cut, infos = env.step(sampled(env, observation, infos))
    assert lives
    assert deaths
    assert all(cut.values())
    assert env.state_space.contains(env.state())


# -- numbered lives -----------------------------------------------------------------------------------------


def test_so_many_lives_are_the_lives_until_one_more_is_born():
    cuts = 0
    for seed in range(6):
        free, counted = WorldEnv(Colony(1, seed=2)), WorldEnv(Colony(1, seed=2), lives=6)
        assert counted.possible_agents == [f"life_{n}" for n in range(6)]
        assert (
            counted.observation_spaces.keys() == counted.action_spaces.keys() == set(counted.possible_agents)
        )
        free.reset(seed=seed)
        counted.reset(seed=seed)
        while counted.agents:
            actions = {name: counted.action_space(name).sample() for name in counted.agents}
            before = counted.agents
            told, expected = counted.step(actions), free.step(actions)
            while not (free.agents or free.over):
                more = free.step({})
                expected = tuple(a | b for a, b in zip(expected, more, strict=True))
            if any(int(name.removeprefix("life_")) >= 6 for name in free.agents):
                cuts += 1
                assert counted.agents == []
                assert counted.over
                assert told[0].keys() == set(before)
                assert all(told[2][name] != told[3][name] for name in before)
                assert {n: told[1][n] for n in before} == {n: expected[1][n] for n in before}
                assert counted.step({}) == ({}, {}, {}, {}, {})
            else:
                assert told[1:4] == expected[1:4]
                assert counted.agents == free.agents
    assert cuts


def test_who_dies_in_the_step_of_the_cut_is_terminated_and_the_others_are_cut():
    env = WorldEnv(Relay(1, story=("oo*oo", "ooooo")), lives=2)
    env.reset(seed=1)
    _, _, ended, cut, _ = env.step({"life_0": 0, "life_1": 0})
    assert not any(ended.values())
    assert not any(cut.values())
    _, rewards, ended, cut, _ = env.step({"life_0": 0, "life_1": 0})
    assert ended == {"life_0": True, "life_1": False}
    assert cut == {"life_0": False, "life_1": True}
    assert rewards == pytest.approx({"life_0": 0.02, "life_1": 1.02})
    assert env.agents == []


def test_all_lives_of_an_episode_are_there_from_its_beginning_if_they_are_kept():
    env = interplay.make("tests.checker.sound_worlds:Colony", lives=9, keep_dead=True, flat=True)
    _, infos = env.reset(seed=1)
    assert list(infos) == [f"life_{n}" for n in range(9)]
    unborn = [name for name, info in infos.items() if info["slot"] == -1]
    assert unborn
    assert all(infos[name]["action_mask"].sum() == len(heads(env.action_space(name))) for name in unborn)
    lived = set()
    while env.agents:
        lived |= {name for name, info in infos.items() if info["acting"]}
        *_, infos = env.step(
            {name: env.action_space(name).sample(infos[name]["action_mask"]) for name in env.agents}
        )
    assert set(unborn) & lived, "some were born"


def test_an_episode_knows_nothing_of_the_lives_of_the_one_before():
    env = interplay.make("tests.checker.sound_worlds:Colony", lives=9, keep_dead=True)
    told = []
    for _ in range(2):
        _, infos = env.reset(seed=1)
        told.append(
            {name: {k: v for k, v in info.items() if k != "action_mask"} for name, info in infos.items()}
        )
        while env.agents:
            *_, infos = env.step(
                {name: env.action_space(name).sample(infos[name]["action_mask"]) for name in env.agents}
            )
    assert told[0] == told[1]
    assert any(info["slot"] == -1 for info in told[1].values()), "not all are born at the beginning"


# -- together -------------------------------------------------------------------------------------------------


LINE, COLONY = "tests.connect.toys:Line", "tests.checker.sound_worlds:Colony"


def test_make_gives_every_form():
    assert interplay.make(LINE, agents=2).possible_agents == ["agent_0", "agent_1"]
    assert interplay.make(COLONY, lives=9).possible_agents[-1] == "life_8"
    forms = {"agents": "slots"}, {"keep_dead": True}, {"remove_dead": True}, {}
    made = [interplay.make(LINE, **options) for options in forms]
    assert [(env.slots, env.on_death) for env in made] == [
        (True, None),
        (False, "keep"),
        (False, "remove"),
        (False, None),
    ]


def test_a_life_that_a_limit_cuts_is_truncated_also_where_the_dead_are_removed():
    env = WorldEnv(Relay(1, story=("ooc-o", "ooooo")), on_death="remove")
    env.reset()
    env.step({"life_0": 0, "life_1": 0})
    _, _, terminated, truncated, _ = env.step({"life_0": 0, "life_1": 0})
    assert (terminated["life_0"], truncated["life_0"]) == (False, True)
