"""Speed of Pong, and the published game beside it. Run from the repository root::

    python -m bench.pong
    python -m bench.pong --peer PATH      # a checkout of Arena; needs pygame-ce and gym 0.26
    python -m bench.pong --peer PATH --speeds 1 1      # of ball and bats

A world step is one step of one game for both players, per second of CPU time of one thread pinned to one core; 256 games, at random, finished
ones begin anew inside the measured time. Best and median of `BLOCKS` blocks, each of which times every row in turn, so that a neighbour
slows all of them. Actions are drawn beforehand (`drawn before`) or inside (`in the loop`); `copied` also copies every observation, as a
trainer does. The bars are 8 and 10 times what was measured of the published code (specification 2.7).

With a peer its game logic and its pictures of both players are timed in the same blocks, one game, actions drawn beforehand. First it is
played in step with ours (`classic_quirks`): in every step our game is put where the other stands, both take the same actions, and
bats, ball, points and the field of both pictures have to agree; with cv2 installed, the small grey pictures too, within one level.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from interplay.cli.measure import pin
from interplay.core.world import Array
from interplay.registry import make_world
from interplay.worlds.pong.config import BALL_HEIGHT, BAT_HEIGHT, DOWN, SIDE, TOP, UP
from interplay.worlds.pong.render import picture

WORLDS, BLOCKS, BLOCK_SECONDS = 256, 30, 0.2
POOL = 64  # batches of actions drawn beforehand
BARS = {"numbers": 900_000, "pictures": 25_000}
COMPARED = 20_000  # steps played in step with the published game
NEAR = 1e-6  # pixels
NUDGES = [1e-9 * np.array([x, y, 0, 0, 0, 0, 0, 0]) for x in (-1, 0, 1) for y in (-1, 0, 1)]

Runner = Callable[[int], int]  # number of calls -> world steps


def batch(see: str, drawn: bool, copied: bool, options: dict[str, Any]) -> Runner:
    """Plays a batch of our games."""
    world = make_world("pong/2p", WORLDS, seed=1, see=see, **options)
    world.reset()
    rng = np.random.default_rng(2)
    pool = rng.integers(0, 6, (POOL, WORLDS, 2))
    copy = np.empty_like(world.timestep.observation[see])

    def run(calls: int) -> int:
        for call in range(calls):
            action = pool[call % POOL] if drawn else rng.integers(0, 6, (WORLDS, 2))
            timestep = world.step(action)
            if copied:
                np.copyto(copy, timestep.observation[see])
            if timestep.over.any():
                world.reset(timestep.over)
        return calls * WORLDS

    return run


def peer_game(env: Any) -> Runner:
    """Plays the published game without its pictures."""
    game, actions = env._game, np.random.default_rng(3).integers(0, 6, (4096, 2)).tolist()

    def run(calls: int) -> int:
        for call in range(calls):
            if game.step(*actions[call % len(actions)])[1]:
                game.reset_game()
        return calls

    return run


def peer_pictures(env: Any) -> Runner:
    """Plays the published environment: both pictures in every step."""
    actions = np.random.default_rng(4).integers(0, 6, (4096, 2)).tolist()

    def run(calls: int) -> int:
        for call in range(calls):
            if env.step(actions[call % len(actions)])[2]:
                env.reset()
        return calls

    return run


def published(path: str, ball: float, bats: float) -> Any:
    """The environment of a checkout; it prints when an episode ends, which is kept quiet."""
    os.environ |= {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    sys.path.insert(0, path)
    from arena.env import pong2p_env

    vars(pong2p_env)["print"] = lambda *_: None
    random.seed(0)  # the global one is where it draws its serves
    env = pong2p_env.Pong2pEnv(ball_speed=ball, bat_speed=bats)
    env.reset()
    return env


def play_in_step(env: Any, options: dict[str, Any]) -> str:
    """Compares rules and pictures for `COMPARED` steps; what was compared, in words.

    Where a corner of the ball just touches a bat the published code lets rounding decide whether it does; for us it does. So a step may differ
    if ours is theirs from a place a little beside.

    Raises:
        AssertionError: where they differ otherwise.
    """
    world: Any = make_world("pong/2p", see="pictures", classic_quirks=True, rounds=99, **options)
    world.reset()
    rng, smaller = np.random.default_rng(5), small_pictures()
    hits = touches = 0
    for _ in range(COMPARED):
        game, before = env._game, theirs(env._game)
        chase = np.where(before[1] + BALL_HEIGHT / 2 > before[4:6] + BAT_HEIGHT / 2, DOWN, UP)
        action = np.where(rng.random(2) < 0.5, rng.integers(0, 6, 2), chase)
        images, rewards, done, _ = env.step(action.tolist())
        after = None if any(rewards) else theirs(game)
        timestep = step_from(world, before, action)
        if differs(world, after):
            touches += 1
            assert any(not differs_from(world, before + nudge, action, after) for nudge in NUDGES)
        else:
            assert timestep.reward[0].tolist() == list(rewards)
            if after is not None:
                hits += after[2] * before[2] < 0
                compare_pictures(world, after, images, smaller)
        if done:
            env.reset()
        if world.timestep.over[0]:
            world.reset()
    small = " small pictures too," if smaller else ""
    return f"{COMPARED:,} steps, {hits:,} hits: alike,{small} but for {touches} touches that rounding decided there"


def step_from(world: Any, place: Array, action: Array) -> Any:
    """Our game's next time step from a place, as `theirs` gives it."""
    put(world, place)
    return world.step(action[None])


def put(world: Any, place: Array) -> None:
    """Sets our game to a place."""
    ball, bat = world.state.ball, world.state.bat
    for name, value in zip(("x", "y", "vx", "vy"), place[:4], strict=True):
        ball[name][0] = value
    bat["y"][0], bat["speed"][0] = place[4:6], place[6:8]


def differs(world: Any, after: Array | None) -> bool:
    """Whether our game stands elsewhere; None stands for a point and a new serve."""
    if after is None or world.state.ball["round_step"][0] == 0:
        return (after is None) != (world.state.ball["round_step"][0] == 0)
    ball, bat = world.state.ball, world.state.bat
    moving = [ball[name][0] for name in ("x", "y", "vx", "vy")]
    return bool(np.abs(np.array([*moving, *bat["y"][0], *bat["speed"][0]]) - after).max() > NEAR)


def differs_from(world: Any, place: Array, action: Array, after: Array | None) -> bool:
    """Whether a step from this place leads elsewhere."""
    if world.timestep.over[0]:
        world.reset()
    step_from(world, place, action)
    return differs(world, after)


def compare_pictures(
    world: Any, after: Array, images: Sequence[Array], smaller: Callable[[Array], Array] | None
) -> None:
    """Both players' pictures: our small ones with what cv2, if it is there, makes of our whole ones, and the fields of these with theirs."""
    for seat in (0, 1) if smaller is not None else ():
        newest = world.timestep.observation["pictures"][0, seat, ..., -1].astype(int)
        assert np.abs(newest - smaller(picture(world.state, 0, seat))).max() <= 1
    put(world, after)  # or a millionth of a pixel beside, which might be another whole pixel
    for seat in (0, 1):
        assert np.array_equal(picture(world.state, 0, seat)[TOP:], images[seat][TOP:])


def small_pictures() -> Callable[[Array], Array] | None:
    """The usual way to (84, 84) grey pictures; None without cv2."""
    try:
        import cv2
    except ImportError:
        return None

    def shrink(image: Array) -> Array:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        small: Array = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(int)
        return small

    return shrink


def theirs(game: Any) -> Array:
    """Ball and bats of the published game."""
    ball, bats = game._ball, (game._left_bat, game._right_bat)
    y = ball.centery() - BALL_HEIGHT / 2
    moving = [ball.centerx() - 1, y, ball.speed_x(), ball.speed_y()]
    return np.array([*moving, *(bat.top() for bat in bats), *(bat.speed() for bat in bats)], float)


def measure(
    rows: dict[str, Runner], blocks: int = BLOCKS, seconds: float = BLOCK_SECONDS
) -> dict[str, list[float]]:
    """World steps per CPU second of each row in each block."""
    calls = {}
    for name, run in rows.items():
        run(4)
        began, made = time.process_time(), 0
        while time.process_time() - began < seconds:
            run(8)
            made += 8
        calls[name] = made
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(blocks):
        for name, run in rows.items():
            began = time.process_time()
            steps = run(calls[name])
            found[name].append(steps / (time.process_time() - began))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", metavar="PATH", help="a checkout of Arena to measure beside ours")
    parser.add_argument("--speeds", nargs=2, type=float, default=(4.0, 16.0), metavar=("S", "V"))
    given = parser.parse_args()
    ball, bats = given.speeds
    options = {"ball_speed": ball, "bat_speeds": (bats, bats)}
    pin(1)
    rows: dict[str, Runner] = {}
    for see in BARS:
        rows[f"{see}, drawn before"] = batch(see, drawn=True, copied=False, options=options)
        rows[f"{see}, in the loop"] = batch(see, drawn=False, copied=False, options=options)
        rows[f"{see}, copied"] = batch(see, drawn=True, copied=True, options=options)
    if given.peer is not None:
        env = published(given.peer, ball, bats)
        print(play_in_step(env, options))
        rows |= {"published game": peer_game(env), "published pictures": peer_pictures(env)}
    found = measure(rows)
    print(f"world steps/s, {WORLDS} games, one core")
    print(f"{'row':24} {'best':>11} {'median':>11} {'spread':>7} {'bar':>9} {'x peer':>7}")
    peers = {"numbers": found.get("published game"), "pictures": found.get("published pictures")}
    for name, rates in found.items():
        median, kind = statistics.median(rates), name.partition(",")[0]
        bar = f"{BARS[kind]:9,}" if kind in BARS else " " * 9
        peer = peers.get(kind)
        times = (
            ""
            if peer is None
            else f"{statistics.median(a / b for a, b in zip(rates, peer, strict=True)):7.0f}"
        )
        print(
            f"{name:24} {max(rates):11,.0f} {median:11,.0f} {(max(rates) - min(rates)) / median:6.0%} {bar} {times}"
        )


if __name__ == "__main__":
    main()
