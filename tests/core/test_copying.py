"""Worlds copy and pickle exactly: whatever was set by hand comes along, nothing is shared, what cannot be copied says why."""

import copy
import pickle
import threading
from typing import NamedTuple

import cloudpickle
import numpy as np
import pytest

import interplay
from interplay.checker.bench import Players
from interplay.checker.outputs import copy_fields, first_difference
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.world import ArrayWorld
from interplay.experiment.policy_world import PolicyWorld
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.checker.sound_worlds import SOUND, Camp, Colony

pytestmark = pytest.mark.slow

COPIERS = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda world: pickle.loads(pickle.dumps(world)),
    "cloudpickle": lambda world: pickle.loads(cloudpickle.dumps(world)),
}
LONG = {"deepcopy": 1_000, "copy": 100, "pickle": 1_000, "cloudpickle": 100}  # steps
copiers = pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)


def begun(world, steps=30):
    world.reset()
    play(world, steps, key=0)
    return world


def play(world, steps, key=1):
    """What a world says in so many steps, across the episodes that fit, and its hash at the end."""
    players = Players(world, key, range(world.num_worlds))
    told = []
    for _ in range(steps):
        step = world.step(players.act(world.timestep))
        told.append(copy_fields(world, step))
        if step.over.any():
            told.append(copy_fields(world, world.reset(step.over.copy())))
    return told, world.hash()


def assert_equal(ours, theirs):
    for t, (a, b) in enumerate(zip(ours[0], theirs[0], strict=True)):
        rows = range(len(ours[1]))
        assert first_difference(a, b, rows, rows) is None, t
    assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("kind", SOUND)
def test_copies_are_the_original_for_a_thousand_steps(kind):
    world = begun(kind(2, seed=5))
    seen = {}
    for name, copier in COPIERS.items():
        before = copy_fields(world, world.timestep)
        twin = copier(world)
        assert type(twin) is kind
        assert first_difference(copy_fields(twin, twin.timestep), before, range(2), range(2)) is None, name
        hashed = world.hash()
        seen[name] = play(twin, LONG[name])
        assert np.array_equal(world.hash(), hashed)
        assert first_difference(copy_fields(world, world.timestep), before, range(2), range(2)) is None, name
    expected, _ = play(world, LONG["deepcopy"])
    for name, (told, hashed) in seen.items():
        assert_equal((told, hashed), (expected[: len(told)], hashed if LONG[name] < 1_000 else world.hash()))


@copiers
@pytest.mark.parametrize(
    "world_id", ["simulation/multi-corridor", "simulation/multi-corridor-turns", "gridworld/foragers"]
)
def test_registered_worlds_keep_what_the_registry_gave_them(world_id, copier):
    world = interplay.make_world(world_id, num_worlds=2, seed=7, first_world=3)
    twin = copier(world)
    assert (twin.id, twin.version, twin.first_world) == (world_id, world.version, 3)
    for one in (twin, world):
        begun(one, 5)
    assert_equal(play(twin, 60), play(world, 60))
    assert_equal(play(copier(world), 200), play(world, 200))


@copiers
def test_a_world_that_was_never_reset_keeps_its_first_episode(copier):
    world = Camp(2, seed=9)
    twin = copier(world)
    with pytest.raises(RuntimeError, match="reset"):
        _ = twin.timestep
    twin.reset()
    world.reset()
    assert_equal(play(twin, 100), play(world, 100))


class Wind(NamedTuple):
    force: np.ndarray
    name: str


def doubled(number):
    return 2 * number


class Valley(Camp):
    """Settings of its own kinds, an object, and a default that is changed by hand."""

    def __init__(self, num_worlds: int = 1, *, seed: int = 0, names: tuple[str, ...] = ()) -> None:
        super().__init__(num_worlds, seed)
        self.names = list(names)
        self.wind = Wind(np.zeros(2), "calm")
        self.tables = {"rain": np.zeros(3), "lock": threading.Lock()}
        self.lock = threading.Lock()
        self.made = [threading.Lock()]
        self.rules = [abs]
        self.late = None


@copiers
def test_what_was_set_by_hand_comes_along(copier):
    names = ["north", "south"]
    world = begun(Valley(2, seed=1, names=names))
    names.append("changed afterwards")
    world.privileged_view, world.frames_per_step, world.id = True, 7, "mine/valley"
    world.wind = Wind(np.array([1.0, 2.0, 3.0]), "storm")
    world.tables["rain"][1] = 5.0
    world.late = np.array([4, 5])
    world.rules.append(doubled)
    world.note = {"who": ("me", 1)}
    twin = copier(world)
    assert (twin.privileged_view, twin.frames_per_step, twin.id) == (True, 7, "mine/valley")
    assert (twin.wind.force.tolist(), twin.wind.name) == ([1.0, 2.0, 3.0], "storm")
    assert twin.tables["rain"].tolist() == [0.0, 5.0, 0.0]
    assert (twin.late.tolist(), twin.rules, twin.note) == ([4, 5], [abs, doubled], {"who": ("me", 1)})
    assert twin.names == ["north", "south"]
    for mine, its in ((world.wind.force, twin.wind.force), (world.late, twin.late), (world.lock, twin.lock)):
        assert mine is not its
    assert twin.tables["lock"] is not world.tables["lock"]
    twin.tables["rain"][:] = -1
    assert world.tables["rain"].tolist() == [0.0, 5.0, 0.0]


@copiers
def test_an_array_set_by_hand_keeps_its_number_type(copier):
    world = begun(Valley(2, seed=1))
    world.tables["rain"] = np.array([1, 2, 3], np.int8)
    twin = copier(world)
    assert (twin.tables["rain"].dtype, twin.tables["rain"].tolist()) == (np.int8, [1, 2, 3])


def test_objects_that_came_later_are_no_silent_loss():
    world = begun(Valley(1))
    world.made.append(threading.Lock())
    with pytest.raises(UserError, match=r'Valley: .* its made has changed .* made_anew = \("made",\)'):
        copy.deepcopy(world)

    class Told(Valley):
        made_anew = ("made",)

    world = begun(Told(1))
    world.made.append(threading.Lock())
    assert len(copy.deepcopy(world).made) == 1

    class Further(Told):
        """What its base class names stays named."""

        made_anew = ("late",)

    world = begun(Further(1))
    world.made.append(threading.Lock())
    world.late = np.ones(2)
    twin = copy.deepcopy(world)
    assert (len(twin.made), twin.late) == (1, None)


def test_the_arguments_of_the_constructor_are_kept_as_they_were_given():
    class Map:
        def __init__(self):
            self.cells = [1, 2]

    class Mapped(Camp):
        def __init__(self, num_worlds, ground, seed=0):
            super().__init__(num_worlds, seed)
            self.total = sum(ground.cells)
            ground.cells.append(100)  # as constructors do that take an object over

    ground = Map()
    world = begun(Mapped(1, ground))
    assert (world.total, copy.deepcopy(world).total, copy.deepcopy(copy.deepcopy(world)).total) == (3, 3, 3)
    assert ground.cells == [1, 2, 100]


def test_an_argument_that_cannot_be_copied_is_no_hindrance_to_play_and_named_when_copied():
    class Locked(Camp):
        def __init__(self, num_worlds, lock):
            super().__init__(num_worlds)
            self.lock = lock

    world = begun(Locked(1, threading.Lock()))
    with pytest.raises(UserError, match=r"Locked: no copy can be made of it, an argument .* cannot pickle"):
        copy.deepcopy(world)


@copiers
def test_a_world_inside_a_world_is_copied_with_it(copier):
    inner = Colony(2, seed=4)
    slots = {name: f"policy{number % 2}" for number, name in enumerate(inner.agents)}
    world = begun(PolicyWorld(inner, slots))
    twin = copier(world)
    assert twin._inner is not inner
    before = world.hash()
    seen = play(twin, 100)
    assert np.array_equal(world.hash(), before)
    assert_equal(seen, play(world, 100))


def test_simulations_made_by_a_nameless_function_are_pickled_by_cloudpickle():
    world = begun(SimulationWorld(lambda: AllStepManager(MultiCorridor(num_agents=2)), num_worlds=2), 3)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(world)
    twin = COPIERS["cloudpickle"](world)
    assert_equal(play(twin, 50), play(world, 50))


def test_copies_in_processes_have_processes_of_their_own():
    world = SimulationWorld("tests.experiment.corridors:corridor", num_worlds=2, processes=1)
    try:
        begun(world, 4)
        twin = copy.deepcopy(world)
        try:
            assert_equal(play(twin, 20), play(world, 20))
        finally:
            twin.close()
        world.step(Players(world, 0, range(2)).act(world.timestep))  # goes on after the copy was closed
    finally:
        world.close()


def test_somebody_elses_environment_is_copied_before_its_first_reset_only():
    world = ParallelEnvWorld("tests.connect.foreign_envs:line", num_worlds=1)
    twin = copy.deepcopy(world)
    twin.reset()
    world.reset()
    with pytest.raises(UserError, match=r"cannot be saved .*; copy it before its first reset") as caught:
        copy.deepcopy(world)
    assert "\n" not in str(caught.value)


def test_a_state_of_the_authors_own_is_respected():
    class Own(ArrayWorld):
        _reset = _step = _read = None

        def __init__(self):
            self.given = 1

        def __getstate__(self):
            return {"given": self.given + 1}

    assert copy.deepcopy(Own()).given == 2
