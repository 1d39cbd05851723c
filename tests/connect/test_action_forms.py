"""Actions in every form that NumPy has: each adapter takes them at their value, or refuses them in one line; none is misread.

The same number may come big-endian, strided, read-only, unsigned, 0-d, as a list or a bool. What is seen after a step with a form is
held against what is seen after the plain action.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium import spaces

from interplay.connect import GymWrapper, make_dense, to_aec, to_parallel
from interplay.connect.flat import FlatActions
from interplay.connect.gymnasium import WorldGymEnv
from interplay.connect.pettingzoo import WorldEnv
from interplay.core.errors import UserError
from interplay.core.spaces import check_action
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.sim.wrappers import RavelActionWrapper
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.grids import battle, traffic
from tests.connect.relay import Relay
from tests.connect.toy_simulations import Strict
from tests.connect.toys import Hunt, Line

FORMS = {
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "big-endian, of another size": lambda a: a.astype(">i2" if a.dtype.kind in "iu" else ">f8"),
    "strided": lambda a: np.stack([a, a + 1], axis=-1)[..., 0],
    "backwards": lambda a: np.flip(np.flip(a).copy()),
    "read-only": lambda a: _locked(a.copy()),
    "unsigned": lambda a: a.astype(np.uint64) if a.dtype.kind in "iu" and (a >= 0).all() else a,
    "list": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "whole floats": lambda a: a.astype(np.float64),
    "bools": lambda a: a.astype(bool) if np.isin(a, (0, 1)).all() else a,
    "masked": lambda a: np.ma.masked_array(a, np.zeros(a.shape, bool)),
    "texts": lambda a: a.astype(str),
    "complex": lambda a: a.astype(complex),
    "nothing": lambda a: None,
}
REFUSED = (UserError, AssertionError)


def _locked(array):
    array.flags.writeable = False
    return array


def plain(point):
    return {k: plain(v) for k, v in point.items()} if isinstance(point, dict) else np.asarray(point)


def formed(point, form):
    return {k: formed(v, form) for k, v in point.items()} if isinstance(point, dict) else form(point)


# -- adapters: each a function that makes (step, a plain action); step returns all that can be seen ----------------------


def batch(world):
    """A world itself."""
    world.reset(seeds=1)
    rng = np.random.default_rng(3)
    from interplay.core.spaces import sample_actions

    actions = {k.name: sample_actions(k.action_space, rng, (1, len(k.slots))) for k in world.kinds}
    return world.step, actions if len(world.kinds) > 1 else next(iter(actions.values()))


def together(env):
    """All agents of a PettingZoo environment."""
    env.reset(seed=1)
    for name in env.agents:
        env.action_space(name).seed(3)
    return env.step, {name: plain(env.action_space(name).sample()) for name in env.agents}


def alone(env):
    """A Gymnasium environment."""
    env.reset(seed=1)
    env.action_space.seed(3)
    return env.step, plain(env.action_space.sample())


def in_turns(env):
    env.reset(seed=1)
    env.action_space(env.agent_selection).seed(3)
    action = plain(env.action_space(env.agent_selection).sample())

    def step(action):
        env.step(action)
        return env.last(), env.agent_selection, {a: env.observe(a) for a in env.agents}

    return step, action


def rllib(make):
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    env = make()
    observations, _ = env.reset(seed=1)
    env.action_space.seed(3)
    return env.step, {name: plain(env.action_spaces[name].sample()) for name in observations}


def rllib_world():
    from interplay.connect.rllib import WorldMultiAgentEnv

    return WorldMultiAgentEnv(WorldEnv(Hunt(1)))


def rllib_manager():
    from interplay.connect.rllib import MultiAgentWrapper

    return MultiAgentWrapper(AllStepManager(Strict({"a": 9, "b": 9}, actions=MOVES)))


def openspiel(manager):
    pytest.importorskip("open_spiel", reason="the extra openspiel is not installed")
    from interplay.connect import OpenSpielListWrapper

    env = OpenSpielListWrapper(manager(RavelActionWrapper(traffic())))
    players = env.num_players if manager is AllStepManager else 1
    env.reset(seed=1)
    return lambda actions: env.step(actions), np.full(players, 2)


def stable_baselines():
    pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
    from interplay.connect.sb3 import SB3VecEnv

    env = SB3VecEnv(Line(2))
    env.seed(1)
    env.reset()
    return env.step, np.random.default_rng(3).integers(0, 2, (6, 2))


MOVES = spaces.Dict(
    move=spaces.Box(-1, 1, (2,), int), say=spaces.Discrete(3, start=2), push=spaces.Box(-1.0, 1.0, (1,))
)
ADAPTERS = {
    "World, MultiDiscrete": lambda: batch(Line(1)),
    "World, kinds": lambda: batch(Hunt(1)),
    "World, Discrete": lambda: batch(Relay(1, story=("oooo", "oooo"))),
    "World of a simulation": lambda: batch(AllStepManager(MultiCorridor(end=6, num_agents=3)).vectorize(1)),
    "PettingZoo": lambda: together(WorldEnv(Line(1))),
    "PettingZoo, flat": lambda: together(WorldEnv(Line(1), flat=True)),
    "PettingZoo, one number": lambda: together(WorldEnv(Line(1), flat="discrete")),
    "PettingZoo, kinds": lambda: together(WorldEnv(Hunt(1))),
    "PettingZoo, lives": lambda: together(WorldEnv(Relay(1, story=("oooo", "oooo")))),
    "PettingZoo, simulation": lambda: together(to_parallel(AllStepManager(Strict({"a": 9}, actions=MOVES)))),
    "PettingZoo, grid": lambda: together(to_parallel(AllStepManager(battle()))),
    "AEC, grid": lambda: in_turns(to_aec(TurnBasedManager(traffic()))),
    "Gymnasium, simulation": lambda: alone(GymWrapper(AllStepManager(MultiCorridor(end=6, num_agents=1)))),
    "Gymnasium, world": lambda: alone(WorldGymEnv(Line(1))),
    "Gymnasium, flat": lambda: alone(WorldGymEnv(Line(1), flat=True)),
    "Gymnasium, one number": lambda: alone(WorldGymEnv(Line(1), flat="discrete")),
    "Gymnasium, kinds": lambda: alone(WorldGymEnv(Hunt(1), "prey_0")),
    "dense": lambda: alone(make_dense("simulation/multi-corridor")),
    "RLlib, world": lambda: rllib(rllib_world),
    "RLlib, simulation": lambda: rllib(rllib_manager),
    "OpenSpiel": lambda: openspiel(AllStepManager),
    "OpenSpiel, in turns": lambda: openspiel(TurnBasedManager),
    "Stable-Baselines3": stable_baselines,
}


def outcome(step, given):
    """What can be seen after a step, or why it was refused."""
    try:
        return repr(step(given))
    except REFUSED as error:
        return f"refused: {error}"


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_form_of_an_action_is_misread(adapter):
    step, action = ADAPTERS[adapter]()
    expected = repr(step(copy.deepcopy(action)))
    taken = set()
    for name, form in FORMS.items():
        step, action = ADAPTERS[adapter]()
        given = formed(action, form)
        before = repr(given)
        told = outcome(step, given)
        assert repr(given) == before, f"{name}: the caller's actions were changed"
        if "\n" not in told and told.startswith("refused: "):
            continue
        assert told == expected, name
        taken.add(name)
    assert {"big-endian", "strided", "read-only"} <= taken


@pytest.mark.parametrize("dtype", [">i2", ">i4", ">i8", ">u4", "<i4"])
@pytest.mark.parametrize(
    "space", [spaces.Discrete(3), spaces.MultiDiscrete([3, 4]), spaces.MultiBinary(2)], ids=str
)
def test_bytes_are_read_in_the_order_that_the_array_has(space, dtype):
    """2**8k reads as 1 the other way round: refused, and 1 is taken."""
    shape = (1, 2, *space.shape)
    assert check_action("w", space, np.ones(shape, dtype), 1, 2).tolist() == np.ones(shape, int).tolist()
    checked = check_action("w", space, np.ones(shape, dtype), 1, 2)
    assert checked.dtype == space.dtype
    assert checked.dtype.isnative
    other_way = np.ones(shape, dtype).view(np.dtype(dtype).newbyteorder())
    with pytest.raises(UserError, match=f"action {other_way.flat[0]} at index"):
        check_action("w", space, other_way, 1, 2)


@pytest.mark.parametrize("wrong", [257, 256, -1, 1 << 40, -255])
def test_a_flat_action_is_not_cut_to_a_small_type(wrong):
    """As int8, which a MultiBinary has, 257 is 1."""
    flat = FlatActions("w", spaces.MultiBinary(2))
    assert flat.batch([[1, 0]]).tolist() == [[[1, 0]]]
    with pytest.raises(ValueError, match="out of range"):
        flat.batch([[wrong, 0]])
