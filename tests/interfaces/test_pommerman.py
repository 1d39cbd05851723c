"""Interfaces for Pommerman on boards made up for them (specification interfaces 9, D2 and D26 to D29; games 3.6)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.interfaces import from_settings
from interplay.interfaces.pommerman import boards
from interplay.interfaces.pommerman.rotation import ACTIONS, quarter_turns, turn
from tests.interfaces import toys

ALL = ["RotateItf", "BoardMapObs", "AttrObsItf", "ActMaskObsItf"]
CORNERS = {0: (1, 1), 1: (-2, 1), 2: (-2, -2), 3: (1, -2)}
# (players, team-mate's code, enemies' codes) for each agent of each variant.
FREE = {own: (9, [10 + k for k in range(4) if k != own]) for own in range(4)}
TEAM = {
    own: (10 + (own + 2) % 4, [*sorted(10 + k for k in range(4) if k % 2 != own % 2), 9]) for own in range(4)
}
DUEL = {own: (9, [11 - own, 9, 9]) for own in range(2)}
VARIANTS = {"free": (FREE, 11), "team": (TEAM, 11), "duel": (DUEL, 8)}
SEATS = [(variant, own) for variant, (agents, _) in VARIANTS.items() for own in agents]
every_seat = pytest.mark.parametrize(("variant", "own"), SEATS)


def space_of(n):
    def numbers(high, shape=()):
        return spaces.Box(0, high, shape, np.int16)

    maps = {
        "board": 13,
        "bomb_blast_strength": 11,
        "bomb_life": 10,
        "bomb_moving_direction": 4,
        "flame_life": 3,
    }
    return spaces.Dict(
        {name: numbers(high, (n, n)) for name, high in maps.items()}
        | {"position": numbers(n - 1, (2,)), "ammo": numbers(10), "blast_strength": numbers(11)}
        | {"can_kick": spaces.Discrete(2), "teammate": numbers(13), "enemies": numbers(13, (3,))}
        | {"alive": spaces.MultiBinary(4), "message": numbers(7, (2,)), "step_count": numbers(800)}
    )


def raw_of(variant, own, rng=None):
    """A raw observation; random bombs and walls if there is a generator."""
    agents, n = VARIANTS[variant]
    mate, enemies = agents[own]
    obs = {name: np.zeros(part.shape or (), part.dtype) for name, part in space_of(n).items()}
    if rng is not None:
        obs["board"][...] = rng.choice([0, 1, 2, 4, 5, 6, 7, 8], (n, n))
        bombs = rng.random((n, n)) < 0.1
        obs["board"][bombs] = boards.BOMB
        obs["bomb_blast_strength"][bombs] = rng.integers(1, 5, bombs.sum())
        obs["bomb_life"][bombs] = rng.integers(1, 10, bombs.sum())
        obs["bomb_moving_direction"][bombs] = rng.integers(0, 5, bombs.sum())
        obs["flame_life"][obs["board"] == boards.FLAMES] = 2
        obs["message"][...] = rng.integers(0, 8, 2)
    for other in agents:
        cell = tuple(np.array(CORNERS[other if variant != "duel" else 2 * other]) % n)
        obs["board"][cell] = 10 + other
        obs["alive"][other] = 1
        if other == own:
            obs["position"][...] = cell
    obs |= {"teammate": np.int16(mate), "enemies": np.array(enemies, np.int16), "can_kick": 1}
    obs |= {"ammo": np.int16(2), "blast_strength": np.int16(3), "step_count": np.int16(7)}
    return obs, space_of(n)


def batch(obs, space):
    return toys.stacked(space, [obs])


def shown(names, variant, own, rng=None, change=None):
    obs, space = raw_of(variant, own, rng)
    if change:
        change(obs)
    stack = from_settings(names).setup(space, spaces.Discrete(6))
    stack.reset()
    return stack.obs_trans(obs), stack, obs


@every_seat
def test_d26_everybody_finds_itself(variant, own):
    obs, _, raw = shown(ALL[1:], variant, own)
    n = VARIANTS[variant][1]
    row, column = np.array(CORNERS[own if variant != "duel" else 2 * own]) % n
    for plane in (8, 15):
        assert np.argwhere(obs["planes"][..., plane]).tolist() == [[row, column]]
    assert (obs["planes"][..., 21] == 1).all()
    assert obs["attributes"][0] == 1
    assert int(boards.own_id(batch(raw, space_of(n)))[0]) == own
    enemies = sum(code >= 10 for code in VARIANTS[variant][0][own][1])
    assert obs["planes"][..., 17].sum() == obs["planes"][..., 10:13].sum() == enemies
    assert obs["planes"][..., 9].sum() == obs["planes"][..., 16].sum() == (variant == "team")

    def dies(raw):
        raw["alive"][own] = 0

    obs, _, _ = shown(ALL[1:], variant, own, change=dies)
    assert obs["attributes"][[0, 3, 4, 5]].tolist() == [0, 0, 0, 0]
    assert obs["wise"].tolist() == [1, 0, 0, 0, 0, 0]
    assert (obs["planes"][..., 21] == 0).all()


@every_seat
def test_d29_everybody_begins_top_left_and_is_agent_0(variant, own):
    obs, _, _ = shown(["RotateItf"], variant, own)
    assert obs["position"].tolist() == [1, 1]
    assert obs["board"][1, 1] == 10
    assert obs["alive"][0] == 1
    if variant == "team":
        assert int(obs["teammate"]) == 12
        assert obs["enemies"].tolist() == [11, 13, 9]
    if variant == "duel":
        assert obs["enemies"].tolist() == [11, 9, 9]


@every_seat
def test_d2_and_d28_twenty_steps_are_the_board_turned_by_hand(variant, own):
    rng = np.random.default_rng(own)
    space = space_of(VARIANTS[variant][1])
    stack = from_settings(["RotateItf"]).setup(space, spaces.Discrete(6))
    stack.reset()
    turns = own if variant != "duel" else 2 * own
    for _ in range(20):
        raw, _ = raw_of(variant, own, rng)
        obs = stack.obs_trans(raw)
        assert obs in space
        assert set(obs) == set(raw)
        for key in ("bomb_blast_strength", "bomb_life", "flame_life"):
            assert np.array_equal(obs[key], np.rot90(raw[key], -turns))
        board, turned = np.rot90(raw["board"], -turns), obs["board"]
        assert np.array_equal(turned[board < 10], board[board < 10])
        assert np.array_equal(obs["message"], raw["message"])
        assert obs["step_count"] == raw["step_count"]
        # What moves one cell on the board moves one cell in the turned picture.
        n = len(board)
        for row, column in np.argwhere(raw["bomb_moving_direction"] > 0):
            ahead = np.array([row, column]) + boards.STEPS[raw["bomb_moving_direction"][row, column]]
            marks = np.zeros((2, n, n), bool)
            marks[0, row, column] = True
            if (ahead >= 0).all() and (ahead < n).all():
                marks[1][tuple(ahead)] = True
                here, there = (np.argwhere(np.rot90(mark, -turns))[0] for mark in marks)
                direction = obs["bomb_moving_direction"][tuple(here)]
                assert np.array_equal(here + boards.STEPS[direction], there)


@every_seat
def test_actions_and_masks_turn_back(variant, own):
    _, stack, _ = shown(["RotateItf"], variant, own)
    n = VARIANTS[variant][1]
    turns = own if variant != "duel" else 2 * own
    for action in range(1, 5):
        step = boards.STEPS[action]
        on_board = boards.STEPS[int(stack.act_trans(action))]
        marks = np.zeros((2, n, n), bool)
        marks[0, 4, 4] = True
        marks[1][tuple(np.array([4, 4]) + on_board)] = True
        here, there = (np.argwhere(np.rot90(mark, -turns))[0] for mark in marks)
        assert np.array_equal(there - here, step)
    assert [int(stack.act_trans(action)) for action in (0, 5)] == [0, 5]
    mask = np.array([1, 1, 0, 0, 1, 0], bool)
    outside = stack.mask_trans(mask)
    assert [bool(mask[int(stack.act_trans(action))]) for action in range(6)] == outside.tolist()


def test_radio_words_stay_and_turns_of_a_batch_differ():
    space, acts = space_of(11), spaces.MultiDiscrete([6, 8, 8])
    stack = from_settings(["RotateItf"]).setup(space, acts, num_worlds=4)
    stack.reset()
    raw = toys.stacked(space, [raw_of("team", own)[0] for own in range(4)])
    stack.obs_trans(raw)
    told = stack.act_trans(np.array([[1, 5, own] for own in range(4)]))
    assert told[:, 0].tolist() == [1, 3, 2, 4]
    assert told[:, 1:].tolist() == [[5, own] for own in range(4)]
    assert quarter_turns(raw).tolist() == [0, 1, 2, 3]
    assert np.array_equal(np.sort(ACTIONS, axis=1), np.tile(np.arange(6), (4, 1)))
    again = turn(turn(raw))
    assert np.array_equal(again["board"], turn(raw)["board"])  # who is agent 0 stays as it is


def test_d27_a_bomb_near_the_far_edge_of_a_small_board():
    def lay(raw):
        raw["board"][...] = 0
        raw["bomb_blast_strength"][7, 6], raw["bomb_life"][7, 6] = 3, 4

    obs, _, _ = shown(["BoardMapObs"], "duel", 0, change=lay)
    cross, danger = obs["planes"][..., 13], obs["planes"][..., 14]
    assert sorted(map(tuple, np.argwhere(cross).tolist())) == [(5, 6), (6, 6), (7, 4), (7, 5), (7, 6), (7, 7)]
    assert np.allclose(danger[cross > 0], 0.6)
    assert danger[cross == 0].max() == 0


def test_the_sooner_bomb_wins_and_walls_stop_the_cross_if_asked():
    def lay(raw):
        raw["board"][...] = 0
        for cell, life in (((4, 2), 9), ((4, 6), 2)):
            raw["board"][cell] = boards.BOMB
            raw["bomb_blast_strength"][cell], raw["bomb_life"][cell] = 4, life
        raw["board"][3, 6], raw["board"][6, 6] = boards.RIGID, boards.WOOD

    open_ground, _, _ = shown(["BoardMapObs"], "free", 0, change=lay)
    walled, _, _ = shown([{"name": "BoardMapObs", "stop_at_walls": True}], "free", 0, change=lay)
    danger = open_ground["planes"][..., 14]
    assert np.allclose(danger[4, [1, 2, 3, 4, 5, 6, 9]], [0.1, 0.1, 0.8, 0.8, 0.8, 0.8, 0.8])
    assert open_ground["planes"][[3, 2, 1, 7], 6, 13].tolist() == [1, 1, 1, 1]
    assert walled["planes"][[3, 2, 1], 6, 13].tolist() == [0, 0, 0]
    assert walled["planes"][[5, 6, 7], 6, 13].tolist() == [1, 1, 0]  # on the wood, not behind it


def test_wise_moves():
    def around(raw):
        raw["board"][...] = 0
        raw["board"][1, 1] = 10
        raw["board"][0, 1] = boards.FLAMES
        raw["board"][2, 1] = boards.BOMB  # the cell beyond is free: it can be kicked
        raw["board"][1, 2] = boards.RANGE
        raw["board"][1, 0] = boards.BOMB  # beyond is the edge

    obs, _, _ = shown(["ActMaskObsItf"], "free", 0, change=around)
    assert obs["wise"].tolist() == [1, 0, 1, 0, 1, 1]

    def no_kick(raw):
        around(raw)
        raw["can_kick"], raw["ammo"] = 0, np.int16(0)

    assert shown(["ActMaskObsItf"], "free", 0, change=no_kick)[0]["wise"].tolist() == [1, 0, 0, 0, 1, 0]

    def on_a_bomb(raw):
        around(raw)
        raw["bomb_blast_strength"][1, 1] = 2

    assert shown(["ActMaskObsItf"], "free", 0, change=on_a_bomb)[0]["wise"].tolist() == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_laws_on_random_boards(variant):
    """L8, L10, L11 and L12: what is shown lies in its space, and rows are as matches of their own."""
    agents, n = VARIANTS[variant]
    rng, space = np.random.default_rng(5), space_of(n)
    rows = [raw_of(variant, own, rng)[0] for own in agents]
    together = from_settings(ALL).setup(space, spaces.Discrete(6), num_worlds=len(rows))
    together.reset()
    before = toys.stacked(space, rows)
    given = toys.copied(space, before)
    found = together.obs_trans(given)
    assert toys.same(space, before, given)
    assert toys.same(together.observation_space, together.look(given), found)
    for at, raw in enumerate(rows):
        single = from_settings(ALL).setup(space, spaces.Discrete(6))
        single.reset()
        obs = single.obs_trans(raw)
        assert obs in single.observation_space
        outer = single.observation_space
        assert toys.same(outer, toys.stacked(outer, [obs]), toys.stacked(outer, [toys.row(outer, found, at)]))
