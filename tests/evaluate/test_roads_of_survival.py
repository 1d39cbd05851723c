"""Tables of survival's overlays against the same episodes, played and counted here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from interplay.registry import make_policy, make_world
from interplay.worlds.survival.state import ZONE
from tests.cli.command import typed
from tests.evaluate.roads import four, living, table

WORLD, WORLDS = "survival/2v2-all-low", 5


class Death(NamedTuple):
    step: int
    world: int
    agent: int
    cause: str
    outside: bool


class Played(NamedTuple):
    """The deaths, and of each step (T, W, A) agents alive and outside, (T, W) worlds that went on; worlds that still do."""

    deaths: list[Death]
    alive: np.ndarray
    outside: np.ndarray
    going: np.ndarray
    unfinished: int


def played(steps: int, cooldown: int, seed: int) -> Played:
    world = make_world(WORLD, WORLDS, seed, zone_cooldown=cooldown)
    policy = make_policy(WORLD, "hunter")
    timestep = world.reset(seeds=seed)
    policy.start(world, seed)
    body, room = world.state.body, world.state.room
    deaths, lived = [], [body["present"][:, :4].astype(bool)]
    outsides, goings = [np.zeros((WORLDS, 4), bool)], [np.ones(WORLDS, bool)]
    for step in range(1, steps + 1):
        going = ~np.array(timestep.over)
        circle = np.stack([room[name] for name in ("zone_x", "zone_y", "zone_r")], 1)
        timestep = world.step(policy.act(timestep))
        away = np.hypot(body["x"][:, :4] - circle[:, :1], body["y"][:, :4] - circle[:, 1:2])
        outside = (away > circle[:, 2:]) | (circle[:, 2:] == 0)
        now = body["present"][:, :4].astype(bool)
        for w, a in np.argwhere(lived[-1] & ~now & going[:, None]):
            cause = "zone" if body["cause"][w, a] == ZONE else "blow"
            deaths.append(Death(step, int(w), int(a), cause, bool(outside[w, a])))
        lived.append(now)
        outsides.append(outside)
        goings.append(going)
    return Played(deaths, np.array(lived), np.array(outsides), np.array(goings), int((~timestep.over).sum()))


@pytest.mark.parametrize(
    ("cooldown", "seed", "burn_in", "ticks"), [(30, 4, 0, 200), (30, 4, 110, 190), (20, 3, 110, 190)]
)
def test_deaths_and_steps_in_the_zone_are_those_of_the_recorded_steps(
    capsys, tmp_path, cooldown, seed, burn_in, ticks
):
    code, out, errors = typed(
        capsys, "analyze", "hunter", "--world", WORLD, f"zone_cooldown={cooldown}", "--overlay", "deaths", "--overlay", "zone",
        "--ticks", str(ticks), "--burn-in", str(burn_in), "--num-worlds", str(WORLDS), "--seed", str(seed), "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, errors
    last = burn_in + ticks
    game = played(last, cooldown, seed)
    first = burn_in if burn_in else 1  # the reset is no step
    found = [death for death in game.deaths if death.step >= first]
    assert len(found) < len(game.deaths) or not burn_in, "some died before the recording"
    # Agents of the record: alive before its first step, in a world that went on. Those that died before it are not in it.
    there = game.alive[first - 1] & game.going[first][:, None]
    ends = {(death.world, death.agent): death.step for death in found}
    length = {(int(w), int(a)): ends.get((w, a), int(game.going[1:, w].sum())) for w, a in np.argwhere(there)}
    rows = {row[0]: row[1:] for row in table(out, "deaths: ")[1:]}
    for cause in ("zone", "blow"):
        own = [death for death in found if death.cause == cause]
        assert rows.pop(cause) == [
            str(len(own)), four(len(own) / len(found)), four(float(np.median([death.step for death in own]))),
            four(float(np.mean([death.outside for death in own]))),
        ]  # fmt: skip
    alive = [steps for seat, steps in length.items() if seat not in ends]
    assert rows == {"none yet": [str(len(alive)), "-", four(float(np.median(alive))), "-"]}
    title = next(line for line in out.splitlines() if line.startswith("deaths: "))
    assert title.startswith(
        f"deaths: {len(found)} deaths in {WORLDS} episodes, {game.unfinished} of them cut after {last} steps"
    )
    curve = living(list(ends.values()), alive, last + 1)
    half = [t for t, share in enumerate(curve) if share <= 0.5]
    assert (f"median life {half[0]} steps" if half else "no median life") in title
    with np.load(tmp_path / "deaths.npz", allow_pickle=False) as arrays:
        values = arrays["living"]
        np.testing.assert_allclose(values[0], curve[: values.shape[1]])
        for a in range(4):
            mine = [s for seat, s in ends.items() if seat[1] == a]
            rest = [s for seat, s in length.items() if seat[1] == a and seat not in ends]
            np.testing.assert_allclose(values[1 + a], living(mine, rest, values.shape[1]))
    steps = np.arange(max(burn_in, 1), last + 1)
    here = game.alive[steps] & game.going[steps][:, :, None]
    inside = here & ~game.outside[steps]
    expected = {f"agent {a}": (here[:, :, a].sum(), inside[:, :, a].sum()) for a in range(4)}
    expected["everybody"] = here.sum(), inside.sum()
    told = {row[0]: row[1:] for row in table(out, "zone: ")[1:]}
    assert told == {name: [f"{all_:,}", four(part / all_)] for name, (all_, part) in expected.items()}
    assert 0 < inside.sum() < here.sum()
