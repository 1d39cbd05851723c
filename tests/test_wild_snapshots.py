"""Snapshots with wild numbers: refused in one line that names the field, the world as it was before; no kernel ever sees them."""

import numpy as np
import pytest

import interplay
from interplay.checker.planting import plant
from interplay.checker.wild import attempt
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.worlds.mmo.tiles import FOREST, GRASS
from interplay.worlds.werewolf.roles import ROLES, WOLF
from tests.connect.grids import battle

SURVIVAL, GRID, MMO, WEREWOLF = (
    "survival/1v1-all-high",
    "gridworld/team-battle",
    "mmo/combat-128",
    "werewolf/aiwolf13",
)
COUNTS_AS_WOLF = np.array([role.counts_as == WOLF for role in ROLES])


def played(world_id: str, steps: int = 12, **options):
    """A batch of two worlds in the middle of an episode."""
    world = interplay.make_world(world_id, num_worlds=2, seed=5, **options)
    policy = RandomPolicy()
    policy.start(world)
    step = world.reset()
    for _ in range(steps):
        step = world.step(policy.act(step))
    return world


def first(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(flags)[0])


def put(value, at=...):
    """Writes a number over one field."""

    def change(name, snapshot):
        snapshot[name][at] = value

    return change


def points_at_itself(name, snapshot):
    """An occupant that follows itself: whoever walks along the list of its cell never comes to an end."""
    w, a = first(snapshot["agents.placed"])
    snapshot[name][w, a] = a


def ring_of_one(name, snapshot):
    """As before, unreachable from any cell: each agent is listed once, by one in the same cell."""
    w, a = first(snapshot["agents.placed"] & (snapshot["agents.next"] < 0))
    row, col = snapshot["agents.row"][w, a], snapshot["agents.col"][w, a]
    while snapshot["cells.first"][w, row, col] != a:
        a = int(snapshot["cells.first"][w, row, col])
        snapshot["agents.next"][w, a] = -1
    snapshot["cells.first"][w, row, col], snapshot[name][w, a] = -1, a


def walks_through_walls(name, snapshot):
    w, a = first(snapshot["agents.placed"])
    snapshot["agents.row"][w, a] = (snapshot["agents.row"][w, a] + 1) % snapshot["cells.first"].shape[1]


def leads_into_another_cell(name, snapshot):
    """One who stands alone follows another one of his row, and the cell of that one leads nowhere."""
    placed, row, col = (snapshot[f"agents.{field}"] for field in ("placed", "row", "col"))
    alone = placed & (snapshot[name] < 0)
    alone &= snapshot["cells.first"][np.arange(len(row))[:, None], row, col] == np.arange(row.shape[1])
    pairs = alone[:, :, None] & alone[:, None] & (row[:, :, None] == row[:, None])
    w, a, b = first(pairs & (col[:, :, None] != col[:, None]))
    snapshot["cells.first"][w, row[w, b], col[w, b]], snapshot[name][w, a] = -1, b


def overgrown(name, snapshot):
    """More forest than the list of eaten tiles has room for."""
    tiles = snapshot["tiles"]
    tiles[tiles == GRASS] = FOREST


def grass_in_the_border(name, snapshot):
    snapshot[name][1, 0, 0] = GRASS


def one_more(name, snapshot):
    snapshot[name][1] += 1


def named_twice(name, snapshot):
    """The tile that another one stands for would never grow again."""
    (w,) = first(snapshot["room.depleted"] >= 2)
    snapshot[name][w, 0] = snapshot[name][w, 1]


def as_many_wolves_as_humans(name, snapshot):
    """Every count fits, and the game would be over."""
    humans, wolves = snapshot["room.humans"], snapshot[name]
    (w,) = first(~snapshot["room.over"])
    seats = np.flatnonzero(snapshot["alive"][w] & ~COUNTS_AS_WOLF[snapshot["role"][w]])
    fallen = seats[: humans[w] - wolves[w]]
    snapshot["alive"][w, fallen] = False
    snapshot["room.living"][w] -= len(fallen)
    humans[w] -= len(fallen)


def nowhere_to_be_born(name, snapshot):
    """Births would look for ground for ever."""
    snapshot["reachable"][:], snapshot["room.ground"][:] = False, 0


def a_byte_of_seven(name, snapshot):
    snapshot[name].reshape(-1).view(np.uint8)[3] = 7


WILD = [
    (
        SURVIVAL,
        "cause",
        put(30_000, (1, 0)),
        "of world 1 = 30000 is outside -2..1",
    ),  # a row that kills are counted in
    (SURVIVAL, "owner", put(2), "= 2 is outside -2..1"),  # a side that is not there
    (SURVIVAL, "inventory", put(31_000, (0, 1, 2)), "= 31000 is outside"),  # a row of the body table
    (SURVIVAL, "inventory", put(12, (0, 1, 2)), "disagrees with `held`"),
    (SURVIVAL, "held", put(5, (0, 1)), "= 5 is outside 0..4"),
    (
        SURVIVAL,
        "steps",
        put(-(2**40), 0),
        "is outside 0..",
    ),  # an index of the zone's phases once it is divided
    (SURVIVAL, "cells", put(64, (1, 3)), "= 64 is outside 0..63"),
    (SURVIVAL, "bodies.position", put(np.nan, (1, 0, 1)), "position[0, 1] of world 1 = nan"),
    (SURVIVAL, "bodies.inverse_mass", put(0.0, (0, 1)), "is outside"),
    (SURVIVAL, "bodies.turn", put(0.5, (0, 0)), "is not on the unit circle"),
    (SURVIVAL, "bodies.present", a_byte_of_seven, "= 7 is outside 0..1"),
    (GRID, "agents.next", points_at_itself, "in no list of occupants, or in two"),
    (GRID, "agents.next", ring_of_one, "is circular"),
    (GRID, "agents.next", leads_into_another_cell, "is not in the same cell"),
    (GRID, "agents.next", put(24, (0, 0)), "= 24 is outside -1..23"),
    (GRID, "cells.first", put(-2, (1, 0, 0)), "= -2 is outside -1..23"),
    (GRID, "cells.first", put(-1), "in no list of occupants"),
    (GRID, "agents.row", walks_through_walls, "is not in"),
    (GRID, "agents.row", put(2**30, (1, 5)), "is outside -1..7"),
    (GRID, "agents.encoding", put(4095, (1, 5)), "is outside 1..4"),
    (GRID, "agents.attack_range", put(50, (0, 5)), "is outside 1..1"),  # wider than its masks are
    (GRID, "agents.first_row", put(70, (0, 5)), "is outside"),  # would end the next reset
    (GRID, "cells.shown", put(0), "disagrees with its occupants"),
    (MMO, "agent.row", put(3, (1, 0)), "stands off the ground"),  # its view would leave the map
    (MMO, "agent.population", put(200, (1, 0)), "is outside 0..7"),
    (MMO, "tally.ended_cause", put(9, (1, 0)), "is outside 0..8"),
    (MMO, "tiles", put(6, (0, 40, 40)), "is outside 0..5"),
    (MMO, "tiles", grass_in_the_border, "is no lava in the border"),
    (MMO, "tiles", overgrown, "exceed a map's maximum"),
    (MMO, "depleted", put(2**31 - 1, (0, 0)), "is outside"),
    (MMO, "depleted", named_twice, "is no eaten tile, or listed twice"),
    (MMO, "room.depleted", one_more, "is not the number of eaten tiles"),
    (MMO, "room.living", one_more, "is not the number of those alive"),
    (MMO, "standing", one_more, "is not the number of those alive"),
    (MMO, "heads", put(1, (0, 0, 0)), "is not the number of those alive on the tile"),
    (MMO, "reachable", nowhere_to_be_born, "less than its world's cap"),
    (MMO, "agent.health", put(-1, (0, 3)), "is outside 0..10"),
    (WEREWOLF, "role", put(7, (0, 0)), "role"),
    (WEREWOLF, "room.row", put(200, 1), "is outside 0..3"),
    (WEREWOLF, "room.stage", put(2, 1), "= 2 is outside 0..0"),  # nobody in this game brews
    (WEREWOLF, "room.public_phase", put(100, 0), "is outside"),
    (WEREWOLF, "public_targets", put(13, (0, 2, 0)), "= 13 is outside -1..12"),
    (WEREWOLF, "room.living", one_more, "room.living"),
    (WEREWOLF, "room.wolves", as_many_wolves_as_humans, "room.wolves"),
    (WEREWOLF, "room.shots", one_more, "room.shots"),
    (WEREWOLF, "ability", put(8, (1, 4)), "ability"),
    (WEREWOLF, "room.day", put(-5, 0), "is outside 0.."),
    ("gridworld/pacman-simple", "RoundsState", put(-1, 0), "is outside 0.."),
    ("gridworld/broadcast", "heard", put(9, (0, 0, 0)), "is outside 0..1"),
    ("simulation/multi-corridor", "episode_length", put(-3, 0), "is outside 0.."),
    ("simulation/multi-corridor", "stood", a_byte_of_seven, "= 7 is outside 0..1"),
]


@pytest.fixture(scope="module")
def worlds():
    made = {}
    yield lambda world_id: made.setdefault(world_id, played(world_id))
    for world in made.values():
        world.close()


@pytest.mark.parametrize(("world_id", "field", "change", "message"), WILD)
def test_a_wild_number_is_refused_in_one_line_and_changes_nothing(worlds, world_id, field, change, message):
    world = worlds(world_id)
    snapshot = world.save()
    name = next(key for key in snapshot if key == field or (field not in snapshot and field in key))
    hashed, before = world.hash(), {key: array.copy() for key, array in snapshot.items()}
    if name == "stood" and len(snapshot[name]) < 4:
        snapshot[name].view(np.uint8)[0] = 7
    else:
        change(name, snapshot)
    with pytest.raises(UserError) as caught:
        world.load(snapshot)
    line = str(caught.value)
    assert line.startswith(f"{world_id}: snapshot field ")
    assert "\n" not in line
    assert message in line
    assert world.hash().tolist() == hashed.tolist()
    assert world.timestep is world.load(before)  # what it said itself it takes back


def test_a_seat_that_acts_in_a_game_that_is_over_is_refused(worlds):
    world = worlds(WEREWOLF)
    snapshot = world.save()
    snapshot["room.over"][:] = True
    with pytest.raises(UserError, match="ability"):
        world.load(snapshot)


@pytest.mark.parametrize(
    ("world_id", "field", "value"), [("dilemma/fixed", "rounds", 50), ("matrix/climbing", "steps", 10)]
)
def test_a_game_that_goes_on_behind_its_end_is_refused(world_id, field, value):
    world = interplay.make_world(world_id)
    world.reset()
    snapshot = world.save()
    snapshot[field][0] = value
    with pytest.raises(UserError, match="field over"):
        world.load(snapshot)


def test_an_agent_that_acts_in_a_grid_that_is_over_is_refused(worlds):
    world = worlds(GRID)
    snapshot = world.save()
    assert snapshot["acting"].any()
    snapshot["over"][:] = True
    with pytest.raises(UserError, match=r"field acting.*its world is over"):
        world.load(snapshot)


def test_an_observation_of_survival_is_made_anew(worlds):
    world = worlds(SURVIVAL)
    snapshot, seen = world.save(), world.timestep.observation["agent"].copy()
    snapshot["observation"][...] = 7
    world.load(snapshot)
    assert (world.timestep.observation["agent"] == seen).all()


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_masks_of_grids_are_made_anew_and_are_what_they_were(manager):
    world = manager(battle(action_masks=True), time_limit=60).vectorize(3, seed=4)
    policy = RandomPolicy()
    policy.start(world)
    world.reset()
    for number in range(40):
        world.step(policy.act(world.timestep))
        if number % 9 == 0:
            world.reset(np.array([False, True, False]))
        snapshot = world.save()
        names = [name for name in snapshot if "/mask/" in name]
        wild = snapshot | {name: np.zeros_like(snapshot[name]) for name in names}
        world.load(wild)
        for name in names:
            np.testing.assert_array_equal(world.save()[name], snapshot[name])


@pytest.mark.parametrize(
    "options", [{"spawn_where": "scatter"}, {"lava": "next_update"}, {"resolution": "simultaneous"}]
)
def test_states_of_other_persistent_worlds_are_taken_back(options):
    world = played("mmo/combat", 40, **options)
    again = played("mmo/combat", 1, **options)
    again.load(world.save())
    assert (again.hash() == world.hash()).all()


@pytest.mark.parametrize(
    "options",
    [
        {"roles": {"witch": 1, "hunter": 1, "seer": 1, "guard": 1, "medium": 1}, "n_players": 13},
        {"tie": "revote", "rule": "majority", "allow_self_vote": False, "dead": "end_with_bootstrap"},
        {"board": "last_phase", "signal_length": 2, "obs": {"history": 3}, "first_phase": "day_talk"},
    ],
)
def test_every_moment_of_other_games_is_taken_back(options):
    world = played("werewolf/9", 0, **options)
    policy = RandomPolicy()
    policy.start(world)
    for _ in range(60):
        if world.timestep.over.all():
            world.reset()
        world.step(policy.act(world.timestep))
        hashed = world.hash()
        world.load(world.save())
        assert (world.hash() == hashed).all()


@pytest.mark.parametrize(
    "world_id", [SURVIVAL, GRID, MMO, WEREWOLF, "gridworld/pacman-simple", "simulation/multi-corridor"]
)
def test_random_wild_snapshots_are_refused_or_play_on(worlds, world_id):
    world = worlds(world_id)
    sound, refused = [world.save(), played(world_id, 3).save()], 0
    rng = np.random.default_rng(17)
    for number in range(40):
        planted = plant(rng, sound)
        outcome = attempt(world, planted, number)
        assert not outcome.harm, f"{planted.story}: {outcome.harm}"
        refused += outcome.refused
        world.load(sound[0])
    assert refused >= 8
