"""Pictures and orders by cell of one side of a battle (specification games 4.4 and interfaces 10)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker import check_world
from interplay.core.policy import RandomPolicy
from interplay.interfaces import from_settings
from interplay.interfaces.battle.fields import read_field, shared_cells
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.world import InterfacedWorld
from interplay.interfaces.wrappers import MakeTeam, RandPlayer
from interplay.registry import make_world
from interplay.worlds.battle.units import UNITS
from tests.interfaces import toys

PAIRS = {
    "5i": ["Img5IObsItf", "ImgActItf"],
    "3i2z": ["Img3I2ZObsItf", "ImgActItf"],
    "mab": ["ImgMABObsItf", "ImgMABActItf"],
}
GRIDS = {"5i": 8, "3i2z": 8, "mab": 16}
CLOCKWISE = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]


def make(variant, num_worlds=3, seed=1, **options):
    raw = make_world(f"battle/{variant}", num_worlds, seed=seed, see_field=True, diagonals=True, **options)
    names = PAIRS[variant]
    return raw, InterfacedWorld(raw, {"team0": names, "team1": names}, teams=True)


def own_units(raw, w, side):
    """(unit, its type, place as its side sees it) of the living, own first."""
    red, blue = raw.settings.sides
    sign = -1 if side else 1
    slots = [*range(len(red)), *range(len(red), len(red) + len(blue))]
    mine = [slot for slot in slots if (slot >= len(red)) == bool(side)]
    for own, slot in [(True, slot) for slot in mine] + [(False, slot) for slot in slots if slot not in mine]:
        unit = raw.state.unit[w, slot]
        if unit["alive"]:
            place = np.float32(sign * unit["x"]), np.float32(unit["y"])  # as the table tells it
            yield own, slot, (red + blue)[slot], unit, place


def picture(variant, raw, w, side):
    """The picture once more, unit by unit."""
    grid = GRIDS[variant]
    channels = {"5i": 3, "3i2z": 8, "mab": 9}[variant]
    image = np.zeros((grid, grid, 2 * channels))
    for own, _, name, unit, place in own_units(raw, w, side):
        facts = UNITS[name]
        health, shield = unit["health"] / facts.health, unit["shield"] / max(facts.shield, 1)
        cooldown = unit["cooldown"] / (facts.cooldown * 16) if facts.cooldown else 0
        damage = facts.damage * facts.strikes / 50
        if variant == "5i":
            told = [health, shield, cooldown]
        elif variant == "3i2z":
            told = (
                [0] * 4 * (name == "zealot")
                + [health, shield, cooldown, damage]
                + [0] * 4 * (name != "zealot")
            )
        else:
            kinds = ["mutalisk", "hydralisk", "roach", "zergling", "baneling"]
            told = [health * (name == kind) for kind in kinds]
            told += [cooldown, facts.range / 6, damage, float("hits_air" in facts.attributes)]
        cell = cell_of(place, grid)
        first = 0 if own else channels
        image[cell][first : first + channels] += told
    return image


def cell_of(place, grid):
    column, row = (place[0] + grid) // 2, (grid - place[1]) // 2
    return int(min(max(row, 0), grid - 1)), int(min(max(column, 0), grid - 1))


@pytest.mark.parametrize("variant", PAIRS)
def test_pictures_are_those_of_the_field(variant):
    raw, world = make(variant)
    player = RandomPolicy()
    player.start(world, 3)
    step = world.reset()
    for _ in range(25):
        for side in (0, 1):
            seen = step.observation[f"team{side}"]["observation"]
            for w in range(raw.num_worlds):
                assert np.allclose(seen[w, 0], picture(variant, raw, w, side), atol=1e-5)
        step = world.step(player.act(step))


@pytest.mark.parametrize("variant", PAIRS)
def test_units_obey_their_cells(variant):
    """Every raw action is what the cell says, or the legal move that is nearest to it."""
    raw, world = make(variant)
    rng = np.random.default_rng(2)
    world.reset()
    space = world.kinds[0].action_space
    asked = 0
    for _ in range(12):
        mask = raw.timestep.action_mask["action"].copy()
        entry = {
            f"team{side}": rng.integers(0, space.nvec.ravel()[0], (3, 1, *space.shape)) for side in (0, 1)
        }
        places = [[list(own_units(raw, w, side)) for side in (0, 1)] for w in range(3)]
        heads = world.timestep.action_mask["team0"]["action"].reshape(3, -1, space.nvec.ravel()[0])
        entry = {
            name: legal_entries(world.timestep.action_mask[name]["action"], one)
            for name, one in entry.items()
        }
        assert heads.any(axis=2).all()
        world.step(entry)
        for w in range(3):
            for side in (0, 1):
                for own, slot, name, _unit, place in places[w][side]:
                    if not own:
                        continue
                    order = entry[f"team{side}"][w, 0]
                    plane = order[int("flies" in UNITS[name].attributes)] if variant == "mab" else order
                    wanted = plane[cell_of(place, GRIDS[variant])]
                    others = [each for each in places[w][side] if not each[0]]
                    assert raw.state.unit["last"][w, slot] == expected(
                        raw, mask[w, slot], wanted, name, place, others
                    )
                    asked += 1
    assert asked > 60


def legal_entries(mask, entry):
    """Entries where they are legal, else 0."""
    heads = mask.reshape(*mask.shape[:2], -1, mask.shape[2] // entry[0, 0].size)
    flat = entry.reshape(*entry.shape[:2], -1)
    legal = np.take_along_axis(heads, flat[..., None], axis=3)[..., 0]
    return np.where(legal, flat, 0).reshape(entry.shape)


def expected(raw, legal, wanted, name, place, enemies):
    most = max(map(len, raw.settings.sides))
    moves = [2, 6 + most, 4, 7 + most, 3, 8 + most, 5, 9 + most]
    if wanted < 8:
        way = CLOCKWISE[wanted]
    else:
        hit = [
            one
            for one in enemies
            if "hits_air" in UNITS[name].attributes or "flies" not in UNITS[one[2]].attributes
        ]
        if not hit:
            return 1

        def far(one):
            air = "flies" in UNITS[one[2]].attributes
            first = air == (wanted == 9) if raw.settings.drawn else True
            return (not first, math.dist(one[4], place))

        target = min(hit, key=far)
        reds = len(raw.settings.sides[0])
        attack = 6 + target[1] % reds
        if legal[attack]:
            return attack
        way = target[4][0] - place[0], target[4][1] - place[1]
    gains = []
    for move, (right, up) in zip(moves, CLOCKWISE, strict=True):
        gain = (way[0] * right + way[1] * up) / math.hypot(right, up)
        gains.append(gain if legal[move] else 0)
    return moves[int(np.argmax(gains))] if max(gains) > 1e-9 else 1


@pytest.mark.parametrize("variant", PAIRS)
def test_laws(variant):
    """L8, L10, L11, L12: in the space, looking moves nothing, no shared memory, rows as matches of their own."""
    raw, world = make(variant)
    world.reset()
    player = RandomPolicy()
    player.start(world, 1)
    for _ in range(9):
        world.step(player.act(world.timestep))
    members = raw.teams[0]
    seen = spaces.Tuple([raw.observation_space] * len(members))
    done = spaces.Tuple([raw.action_space] * len(members))
    given = tuple({name: part[:, a] for name, part in raw.timestep.observation.items()} for a in members)
    batch = from_settings(PAIRS[variant]).setup(seen, done, num_worlds=3)
    batch.reset()
    before = toys.copied(seen, given)
    found = batch.obs_trans(given)
    assert toys.same(seen, before, given)
    assert np.array_equal(batch.look(given), found)
    for w in range(3):
        single = from_settings(PAIRS[variant]).setup(seen, done)
        single.reset()
        own = single.obs_trans(tuple({name: part[w] for name, part in one.items()} for one in given))
        assert own in single.observation_space
        assert np.array_equal(own, found[w])


def test_a_world_of_sides_keeps_every_law():
    report = check_world(lambda num_worlds, seed: make("3i2z", num_worlds, seed, limit=20)[1], steps=60)
    assert report.ok, str(report)


def test_units_that_share_a_cell_are_counted():
    raw, _ = make("5i", 1)
    raw.reset()
    raw.state.unit["x"][0, :5], raw.state.unit["y"][0, :5] = [-7, -7, -3, 3, 3.5], [1, 1.5, 1, 1, 1.2]
    raw.refresh()
    field = read_field([{name: part[:, 0] for name, part in raw.timestep.observation.items()}], 8)
    assert shared_cells(field, 5).tolist() == [4]


def shared(raw, side):
    """How many living units of a side, all on the ground, stand in a cell with another one."""
    cells = [cell_of(place, 8) for own, *_, place in own_units(raw, 0, side) if own]
    return sum(cells.count(cell) > 1 for cell in cells)


def test_infos_of_matches_count_them():
    """For each slot, also where wrappers change seats."""
    raw = make_world("battle/5i", see_field=True, diagonals=True)
    sides = EnvItfWrapper(MakeTeam(raw, raw.teams), [from_settings(PAIRS["5i"]) for _ in raw.teams])
    env = RandPlayer(sides)
    _, info = env.reset(seed=3)
    rng, seen = np.random.default_rng(0), set()
    for _ in range(20):
        assert info["shared_cells"] == tuple(shared(raw, seat) for seat in info["seats"])
        seen.add(info["shared_cells"])
        *_, info = env.step(tuple(rng.integers(0, 9, (2, 8, 8)) * stands(info["action_mask"])))
    assert len(seen) > 2
    one = EnvItfWrapper(MakeTeam(raw, raw.teams), [from_settings(PAIRS["5i"]), None])
    assert one.reset(seed=3)[1]["shared_cells"] == (shared(raw, 0), None)


def stands(masks):
    """(sides, 8, 8) bool, cells whose entries are all legal."""
    return np.array([np.array(mask).reshape(8, 8, 9).all(axis=2) for mask in masks])
