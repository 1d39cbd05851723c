"""The defects of the published code that no other test names (specification interfaces 9, D1 to D18, D34 and D35)."""

from __future__ import annotations

import copy
import json
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings

import interplay.interfaces
from interplay.core.errors import UserError
from interplay.interfaces import Combine, Interface, from_settings, list_interfaces, register, to_settings
from interplay.interfaces.agents import AgtItfWrapper, RandomAgent, play
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.names import find_interface
from tests.interfaces import toys
from tests.interfaces.matches import Duel
from tests.interfaces.toys import Counting, Shift, built

# Each interface of the catalogue with arguments and raw spaces that it takes.
BOX, CHOICE = spaces.Box(0, 9, (2, 2), np.float32), spaces.Discrete(3)
PAIR, BOTH = spaces.Tuple([BOX, BOX]), spaces.Tuple([CHOICE, CHOICE])
CASES = {
    "Interface": ({}, BOX, CHOICE),
    "Combine": ({"children": (None, None)}, PAIR, BOTH),
    "PrevActObs": ({"n": 2}, BOX, CHOICE),
    "MultiBinObs": ({}, BOX, CHOICE),
    "FrameStack": ({"k": 3}, BOX, CHOICE),
    "BoxTransform": ({"op": "tanh"}, BOX, CHOICE),
    "Reshape": ({"shape": (4,)}, BOX, CHOICE),
    "Transpose": ({}, BOX, CHOICE),
    "Downsample": ({"factor": 3}, spaces.Box(0, 255, (7, 6, 2), np.uint8), CHOICE),
    "RemoveTuple": ({}, spaces.Tuple([BOX]), CHOICE),
    "ConcatVec": ({}, PAIR, CHOICE),
    "ConcatObsAct": ({}, PAIR, BOTH),
    "Dict2Vec": ({}, spaces.Dict({"a": BOX}), CHOICE),
    "PongPreprocess": ({"frames": 2}, spaces.Box(0, 255, (10, 15, 3), np.uint8), CHOICE),
    "PongDiscreteAct": ({}, BOX, spaces.Discrete(6)),
}
# What reads one game's numbers alone: see test_pommerman.py, test_pommerman_pairs.py, test_escapes.py and test_pong.py.
BATTLES = {
    "Img5IObsItf",
    "Img3I2ZObsItf",
    "ImgMABObsItf",
    "ImgActItf",
    "ImgMABActItf",
}  # tests/interfaces/test_battle.py
ELSEWHERE = BATTLES | {
    "BoardMapObs",
    "AttrObsItf",
    "ActMaskObsItf",
    "RotateItf",
    "CombineObs",
    "PongImageObs",
}
ELSEWHERE |= {"CentredBoardObs", "EscapeMaskItf"}
catalogue = pytest.mark.parametrize("name", CASES)


def test_d35_the_whole_catalogue_is_here_and_named():
    ours = {name for name in list_interfaces() if find_interface(name).__module__.startswith("interplay.")}
    assert set(CASES) == ours - ELSEWHERE  # guides and tests register others in the same process


def shown_by(stack, obs_space, act_space, episodes=2, steps=4):
    """What a stack says over some episodes, as text."""
    for number, space in enumerate((obs_space, stack.action_space)):
        space.seed(number)
    told = []
    for _ in range(episodes):
        stack.reset()
        for _ in range(steps):
            told.append((stack.obs_trans(obs_space.sample()), stack.act_trans(stack.action_space.sample())))
    return told


def test_d1_children_of_a_combine_are_asked_for_actions():
    stack = Combine(None, [Shift(by=1), Shift(by=2)]).setup(BOTH, BOTH)
    stack.reset()
    stack.obs_trans((0, 0))
    assert stack.act_trans((0, 0)) == (2, 1)


def test_d5_spaces_can_be_sampled_right_after_construction():
    env = EnvItfWrapper(Duel(), [FrameStack(PrevActObs()), None])
    for space in (env.observation_space, env.action_space):
        assert space.contains(space.sample())
    with pytest.raises(UserError, match="call setup"):
        _ = FrameStack().observation_space


def test_d8_instances_with_defaults_do_not_know_each_other():
    one, two = AgtItfWrapper(RandomAgent()), AgtItfWrapper(RandomAgent())
    play(Duel(), [one, two])
    assert one.itf is not two.itf
    first, second = Combine(), Combine()
    first.children += (Interface(),)
    assert second.children == ()
    bins = [1, 2]
    stack = find_interface("MultiBinObs")(None, 8, bins)
    bins.append(4)
    assert stack.clone().bins == (1, 2)


@catalogue
def test_d9_subclasses_of_subclasses_work(name):
    arguments, obs, act = CASES[name]
    kind = find_interface(name)

    class Child(kind):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    class Grandchild(Child):
        pass

    one, two = kind(None, **arguments), Grandchild(None, **arguments)
    one.setup(obs, act)
    two.setup(obs, act)
    assert repr(shown_by(one, obs, act)) == repr(shown_by(two, obs, act))
    twin = two.clone()
    assert type(twin) is Grandchild
    assert twin.configuration() == one.configuration()

    class Secretive(kind):
        def __init__(self, *args, colour="red", **kwargs):
            super().__init__(*args, **kwargs)

    with pytest.raises(UserError, match="name all arguments"):
        Secretive(None, colour="blue", **arguments).clone()


@catalogue
def test_d10_what_lies_below_is_asked_once_in_each_pass(name):
    arguments, obs, act = CASES[name]
    below = Counting()
    stack = find_interface(name)(below, **arguments)
    stack.setup(obs, act)
    shown_by(stack, obs, act, episodes=1, steps=5)
    assert (below.seen, below.noted, below.acted) == (5, 5, 5)


def test_d13_steps_are_those_of_the_environment_on_both_sides():
    on_env, on_agent = Counting(), Counting()
    env = EnvItfWrapper(Duel(), [on_env, None])
    env.reset(seed=0)
    steps = []
    for _ in range(4):
        steps.append(int(on_env.ctx.step[0]))
        env.step(env.action_space.sample())

    class Noting(RandomAgent):
        def step(self, obs, mask=None):
            taken.append(int(on_agent.ctx.step[0]))
            return super().step(obs, mask)

    taken = []
    play(Duel(length=8), [AgtItfWrapper(Noting(), on_agent, step_mul=2), RandomAgent()])
    assert steps == [0, 1, 2, 3]
    assert taken == [0, 2, 4, 6]
    assert (on_agent.noted, on_agent.acted) == (8, 4)


def test_d14_a_vector_stays_whole_when_something_is_appended():
    stack = PrevActObs().setup(spaces.Box(0, 1, (3,)), CHOICE)
    stack.reset()
    shown = stack.obs_trans(np.ones(3, np.float32))
    assert [part.shape for part in shown] == [(3,), (3,)]


@catalogue
def test_d17_raw_spaces_are_left_as_they_are(name):
    arguments, obs, act = CASES[name]
    kept = copy.deepcopy((obs, act))
    stack = find_interface(name)(None, **arguments).setup(obs, act)
    stack.observation_space.seed(5)
    stack.action_space.sample()
    assert (obs, act) == kept
    assert stack.ctx.raw_observation_space is not obs


@catalogue
def test_d35_the_laws_hold_for_each_interface_of_the_catalogue(name):
    """L8 and L12 by name; the others are asked of random stacks."""
    arguments, obs, act = CASES[name]
    single = find_interface(name)(None, **arguments).setup(obs, act)
    batch = single.clone().setup(obs, act, num_worlds=2)
    obs.seed(0)
    single.action_space.seed(0)
    single.reset()
    batch.reset()
    for _ in range(4):
        raw, wish = obs.sample(), single.action_space.sample()
        one, two = single.obs_trans(raw), batch.obs_trans(toys.stacked(obs, [raw, raw]))
        assert one in single.observation_space
        for at in range(2):
            row = toys.row(single.observation_space, two, at)
            assert toys.same(
                single.observation_space,
                toys.stacked(single.observation_space, [one]),
                toys.stacked(single.observation_space, [row]),
            )
        deed = single.act_trans(wish)
        assert deed in act
        batch.act_trans(toys.stacked(single.action_space, [wish, wish]))


def test_d34_every_module_is_imported_with_warnings_as_errors():
    names = [
        module.name
        for module in pkgutil.walk_packages(interplay.interfaces.__path__, "interplay.interfaces.")
    ]
    assert len(names) > 20
    code = f"import importlib\nfor name in {names!r}: importlib.import_module(name)"
    found = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning:pkg_resources", "-c", code],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr[-500:]


@catalogue
def test_settings_make_the_same_stack_again(name):
    arguments, obs, act = CASES[name]
    stack = find_interface(name)(None, **arguments)
    plain = json.loads(json.dumps(to_settings(stack)))
    again = from_settings([{key: value for key, value in one.items() if value is not None} for one in plain])
    assert to_settings(again) == to_settings(stack)
    stack.setup(obs, act)
    again.setup(obs, act)
    assert repr(shown_by(stack, obs, act)) == repr(shown_by(again, obs, act))


@settings(max_examples=30)
@given(toys.stacks)
def test_settings_of_stacks_side_by_side(names):
    names = [name for name in names if name not in ("shift", "noise")]
    stack = Combine(None, [built(names), None])
    again = from_settings(to_settings(stack))
    assert repr(again).count("->") == repr(stack).count("->")
    assert to_settings(again) == to_settings(stack)


def test_no_interfaces_are_no_settings():
    assert (from_settings(None), to_settings(None)) == (None, [])


def test_a_class_of_ones_own_is_registered():
    @register
    class TestDoubled(Interface):
        def __init__(self, inner=None, by=2):
            super().__init__(inner)
            self.by = by

    assert to_settings(from_settings(["TestDoubled"])) == [{"name": "TestDoubled", "by": 2}]


def test_an_interface_that_forgets_masks_is_refused_where_masks_are():
    class Forgetful(Interface):
        def _act(self, action):
            return 2 - action

    stack = Forgetful().setup(BOX, CHOICE)
    assert stack.mask_trans(None) is None
    with pytest.raises(UserError, match="without a _mask"):
        stack.mask_trans(np.array([1, 0, 1]))


def test_a_mask_of_the_wrong_length_is_refused_on_both_ends():
    class Longer(Interface):
        def _mask(self, mask):
            return np.concatenate([mask, mask], axis=1)

    stack = Longer().setup(BOX, CHOICE, num_worlds=2)
    for mask in (np.ones((2, 3), bool), np.ones((2, 4), bool), np.ones((1, 3), bool)):
        with pytest.raises(UserError, match="rows, choices"):
            stack.mask_trans(mask)


def test_what_does_not_fit_is_refused_in_one_line():
    stack = FrameStack(k=2).setup(spaces.Dict({"a": BOX, "b": CHOICE}), CHOICE)
    with pytest.raises(RuntimeError, match="before the first observation"):
        stack.act_trans(1)
    stack.reset()
    good = {"a": np.zeros((2, 2), np.float32), "b": 1}
    for bad in (
        {"a": good["a"]},
        {**good, "c": 1},
        {**good, "a": np.zeros(2)},
        {**good, "b": 0.5},
        (good["a"], 1),
    ):
        with pytest.raises(UserError) as refused:
            stack.obs_trans(bad)
        assert "\n" not in str(refused.value)
    stack.obs_trans(good)
    for bad in (3, -1, 1.0, [1, 1]):
        with pytest.raises(UserError):
            stack.act_trans(bad)
    with pytest.raises(UserError, match="mask of 1 bools"):
        stack.obs_trans(good, which=np.ones(2, bool))
    with pytest.raises(UserError, match="uint64"):
        stack.reset(seeds=np.ones(1))


def test_a_refused_stack_can_be_bound_elsewhere():
    stack = Combine(FrameStack(), [None, FrameStack()])
    with pytest.raises(UserError):
        stack.setup(BOX, BOTH)
    stack.setup(PAIR, BOTH)
    assert stack.observation_space[1].shape == (4, 4, 2, 2)


def test_random_numbers_are_drawn_where_they_are_kept():
    class Careless(Interface):
        def _observe(self, obs):
            return obs + self.ctx.uniform(1)

    stack = Careless().setup(spaces.Box(0, 9, (1,)), CHOICE)
    stack.reset()
    with pytest.raises(UserError, match="_note_observation"):
        stack.obs_trans(np.zeros(1))
