"""What of Pommerman can be survived: a slow twin of the search, lives that keep to it, and masks that interfaces make themselves."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.interfaces import from_settings
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.pommerman import boards
from interplay.interfaces.pommerman.search import HORIZON, STAYS
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_policy, make_world
from tests.interfaces.test_pommerman import raw_of

STEPS = {0: (0, 0), 1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}
CLOSED = (boards.RIGID, boards.WOOD, boards.FOG, boards.DUMMY)


# -- the slow twin: sets of cells, a dictionary of fires ---------------------------------------------------


def cells_hit(board, cell, strength):
    found, n = {cell}, len(board)
    for action in range(1, 5):
        for distance in range(1, strength):
            row, col = cell[0] + STEPS[action][0] * distance, cell[1] + STEPS[action][1] * distance
            if not (0 <= row < n and 0 <= col < n) or board[row, col] == boards.RIGID:
                break
            found.add((row, col))
            if board[row, col] == boards.WOOD:
                break
    return found


def fires(board, bombs, flame):
    """Step -> cells that kill in it; bombs: cell -> (step, strength)."""
    times = {cell: time for cell, (time, _) in bombs.items()}
    while True:
        sooner = {
            other: min(
                [times[other], *(times[c] for c, (_, s) in bombs.items() if other in cells_hit(board, c, s))]
            )
            for other in bombs
        }
        if sooner == times:
            break
        times = sooner
    found = {t: {tuple(c) for c in np.argwhere(flame > t)} for t in range(1, HORIZON + 1)}
    for cell, (_, strength) in bombs.items():
        for t in range(times[cell], times[cell] + 3):
            found[t] |= cells_hit(board, cell, strength)
    return found, times


def lives(board, start, burning, times, me):
    n, here = len(board), {start} - burning[1]
    for t in range(2, HORIZON + 1):
        reached = set(here)
        for row, col in here:
            for down, right in STEPS.values():
                cell = (row + down, col + right)
                if not (0 <= cell[0] < n and 0 <= cell[1] < n) or board[cell] in CLOSED:
                    continue
                if cell in times:
                    open_now = t > times[cell]
                else:
                    open_now = board[cell] < boards.AGENT or cell == me or t > STAYS
                if open_now:
                    reached.add(cell)
        here = reached - burning[t]
    return bool(here)


def slow_moves(obs):
    board, n = obs["board"], len(obs["board"])
    me = tuple(int(x) for x in obs["position"])
    strength, life = obs["bomb_blast_strength"], obs["bomb_life"]
    bombs = {
        tuple(map(int, c)): (int(life[tuple(c)]), int(strength[tuple(c)])) for c in np.argwhere(strength > 0)
    }
    burning, times = fires(board, bombs, obs["flame_life"])
    soon = np.zeros((n, n), int)
    for t in range(HORIZON, 0, -1):
        for cell in burning[t]:
            soon[cell] = t
    moves = np.zeros(6, int)
    for action in range(5):
        cell = (me[0] + STEPS[action][0], me[1] + STEPS[action][1])
        if action:
            if not (0 <= cell[0] < n and 0 <= cell[1] < n) or board[cell] in CLOSED:
                continue
            if cell in times:
                if not obs["can_kick"]:
                    continue
                cell = me
            elif board[cell] >= boards.AGENT:
                cell = me
        moves[action] = lives(board, cell, burning, times, me)
    none = not moves.any()
    if obs["ammo"] > 0 and me not in bombs:
        own = bombs | {me: (10, int(obs["blast_strength"]))}
        again, at = fires(board, own, obs["flame_life"])
        moves[5] = lives(board, me, again, at, me)
    if none:
        moves[:5] = 1
    return moves, soon


@pytest.mark.parametrize("variant", ["free", "duel"])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_agrees_with_its_slow_twin(variant, seed):
    rng = np.random.default_rng(seed)
    allowed, burnt = 0, 0
    for _ in range(60):
        obs, space = raw_of(variant, int(rng.integers(2)), rng)
        obs["can_kick"] = int(rng.integers(2))
        obs["ammo"] = np.int16(rng.integers(2))
        obs["blast_strength"] = np.int16(rng.integers(2, 5))
        obs["flame_life"][...] = np.where(
            obs["board"] == boards.FLAMES, rng.integers(1, 4, obs["board"].shape), 0
        )
        stack = from_settings([{"name": "EscapeMaskItf", "mode": "replace"}]).setup(space, spaces.Discrete(6))
        stack.reset(obs)
        moves, soon = slow_moves(obs)
        np.testing.assert_array_equal(stack.obs_trans(obs), moves)
        np.testing.assert_array_equal(stack.mask_trans(None), moves.astype(bool))
        near = from_settings([{"name": "CentredBoardObs", "reach": 10, "mode": "replace"}])
        near.setup(space, spaces.Discrete(6)).reset(obs)
        n, (row, col) = len(obs["board"]), obs["position"]
        fire = near.obs_trans(obs)[10 - row : 10 - row + n, 10 - col : 10 - col + n, 3]
        np.testing.assert_allclose(fire, np.where(soon, (HORIZON + 1 - soon) / HORIZON, 0), rtol=1e-6)
        allowed += moves.sum()
        burnt += (soon > 0).sum()
    assert 60 < allowed < 300  # both answers came up
    assert burnt > 600


# -- the law: who keeps to it among players who lay nothing dies by nothing ----------------------------------


def test_who_lays_bombs_and_keeps_to_the_mask_lives():
    world = InterfacedWorld(
        make_world("pommerman/ffa", num_worlds=32, seed=5, limit=300, items=0), {"agent": ["EscapeMaskItf"]}
    )
    rng, laid, dead = np.random.default_rng(1), 0, 0
    step = world.reset()
    for _ in range(400):
        legal = step.action_mask["action"]
        action = (rng.random(legal.shape) * legal).argmax(axis=-1)
        action[:, 1:] = 0  # they stand still, and are in the way; no items: nobody kicks bombs
        laid += int((action[:, 0] == 5).sum())
        step = world.step(action)
        dead += int((step.terminated[:, 0] & ~step.over).sum())
        lost = step.over & (world.metrics["outcome"][:, 0] < 0)
        dead += int(lost.sum())
        if step.over.any():
            step = world.reset(step.over)
    assert laid > 500
    assert dead == 0


def test_random_play_among_what_can_be_survived_beats_two_simple_agents():
    raw = make_world("pommerman/team-fog", num_worlds=64, seed=3)
    world = InterfacedWorld(raw, {"agent": ["EscapeMaskItf"]})
    simple = make_policy("pommerman/team-fog", "simple")
    step = world.reset()
    simple.start(raw)
    rng, won, lost = np.random.default_rng(2), 0, 0
    while not step.over.all():
        legal = step.action_mask["action"]
        action = (rng.random(legal.shape) * legal).argmax(axis=-1)
        action[:, 1::2] = simple.act(raw.timestep)[:, 1::2]
        world.override(action, np.broadcast_to(np.arange(4) % 2 == 1, (64, 4)))
        step = world.step(action)
    outcome = world.metrics["outcome"][:, 0]
    won, lost = (outcome > 0).mean(), (outcome < 0).mean()
    assert won > 0.45
    assert won > lost


# -- masks that nobody below has -------------------------------------------------------------------------


def test_a_world_without_masks_gets_one():
    world = InterfacedWorld(make_world("pommerman/radio", num_worlds=2, seed=1), {"agent": ["EscapeMaskItf"]})
    step = world.reset()
    legal = step.action_mask["action"]
    assert legal.shape == (2, 4, 6 + 8 + 8)
    assert legal[..., 6:].all()
    assert legal[..., 0].all()
    assert not legal[..., :6].all()  # walls
    plain = InterfacedWorld(make_world("pommerman/radio", num_worlds=2, seed=1), {"agent": ["AttrObsItf"]})
    assert plain.reset().action_mask is None


def test_a_mask_below_a_turned_view_is_turned_with_it():
    """Agents 0 to 3 begin in four corners, so three of them are turned: both orders allow the same moves."""
    masks = []
    for names in (["RotateItf", "EscapeMaskItf"], ["EscapeMaskItf", "RotateItf"]):
        world = InterfacedWorld(make_world("pommerman/team", num_worlds=4), {"agent": names})
        step, found = world.reset(seeds=1), []
        for t in range(20):
            legal = step.action_mask["action"]
            found.append(legal.copy())
            step = world.step(np.argsort(~legal, axis=-1, kind="stable")[..., t % 2])
        masks.append(np.stack(found))
    np.testing.assert_array_equal(*masks)
    assert not masks[0].all()


def test_matches_are_told_of_it_too():
    env = EnvItfWrapper(make_world("pommerman/1v1"), [from_settings(["EscapeMaskItf"]), None])
    _, info = env.reset(seed=1)
    mine, other = info["action_mask"]
    assert mine.dtype == np.int8
    assert 0 < mine.sum() < 6
    assert other is None


def test_a_team_as_one_slot_is_masked_member_by_member():
    pair = {"name": "Combine", "children": [["EscapeMaskItf"], None]}
    world = InterfacedWorld(
        make_world("pommerman/team", num_worlds=3, seed=1), {"team0": [pair], "team1": None}, teams=True
    )
    legal = world.reset().action_mask["team0"]
    assert not legal["0"].all()
    assert legal["1"].all()


def test_where_nothing_can_be_survived_all_moves_are_allowed():
    obs, space = raw_of("duel", 0)
    me = tuple(obs["position"])
    obs["bomb_blast_strength"][me], obs["bomb_life"][me] = 9, 1
    stack = from_settings(["EscapeMaskItf"]).setup(space, spaces.Discrete(6))
    stack.reset(obs)
    stack.obs_trans(obs)
    np.testing.assert_array_equal(stack.mask_trans(None), [1, 1, 1, 1, 1, 0])
    only = np.array([1, 0, 0, 0, 0, 1], bool)
    np.testing.assert_array_equal(stack.mask_trans(only), [1, 0, 0, 0, 0, 0])
