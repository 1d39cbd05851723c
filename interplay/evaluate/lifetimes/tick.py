"""One tick of a world of many lives, the input of recorders, and `watch`, which feeds them.

Recorders depend on these arrays only. The reader named in `World.instruments` maps a world's state to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.policy import Policy
from interplay.core.world import Array, World
from interplay.evaluate.policy_map import act

STYLES = ("melee", "range", "mage")
NO_SLOT = -1  # of `Tick.struck`


class Tick(NamedTuple):
    """State after a tick; views of the world's arrays, valid until its next step.

    Attributes:
        alive: (W, A) bool, the slot has a living occupant.
        life: (W, A) int64, id of the occupant's life, unique in its world.
        population: (W, A) uint8, of the occupant.
        age: (W, A) int, of the occupant in ticks.
        row, col: (W, A) int, position.
        tiles: (W, T, T) uint8, tile ids.
        livable: (number of ids,) bool, tiles on which an agent can stand and survive.
        struck: (W, A) int, the slot hit by this slot's agent in this tick, or `NO_SLOT`. The attacker is the agent of that tick, not a
            newcomer in the slot.
        style: (W, A) int, of that attack: index into `STYLES`.
        from_row, from_col: (W, A) int, position of the attacker.
        struck_row, struck_col: (W, A) int, position of the target relative to the attacker.
        died: (W, A) bool, a life of this slot ended in this tick; its occupant may already be a newcomer.
        ended: name -> (W, A), metrics of ended lives: ``life`` (ticks), ``cause``, ``population``, ...
    """

    alive: Array
    life: Array
    population: Array
    age: Array
    row: Array
    col: Array
    tiles: Array
    livable: Array
    struck: Array
    style: Array
    from_row: Array
    from_col: Array
    struck_row: Array
    struck_col: Array
    died: Array
    ended: Mapping[str, Array]


class Recorder(Protocol):
    """Consumer of a reader's ticks, fed by `watch`."""

    def add(self, tick: Any, /) -> None:
        """Adds one tick; called after the reset, then after every step."""


def tick_reader(world: World) -> Callable[[World], Tick]:
    """The function that reads a world's current tick, named in `World.instruments`."""
    if "ticks" not in world.instruments:
        raise UserError(
            f"{world.id}: its agents live on no map of tiles; analyse a world such as mmo/combat, "
            "or name what reads yours in World.instruments"
        )
    return load(world.instruments["ticks"])


def watch(
    world: World,
    policy: Policy,
    recorders: Iterable[Recorder],
    ticks: int,
    seed: int = 0,
    burn_in: int = 0,
    progress: Callable[[int], None] | None = None,
    reader: Callable[[World], Callable[[World], Any]] = tick_reader,
) -> int:
    """Resets a world, plays it, and feeds the recorders after the burn-in and every later tick.

    Args:
        world: a batch; worlds that are over stand still.
        policy: acts for every agent.
        ticks: to record.
        seed: of the worlds' streams and of the policy's.
        burn_in: ticks played before recording.
        progress: called with the number of ticks played.
        reader: world -> function that reads the recorders' input from it.

    Returns:
        The ticks recorded: fewer than `ticks` if all worlds were over before.
    """
    if ticks < 1 or burn_in < 0:
        raise UserError(
            f"ticks = {ticks}, burn_in = {burn_in}: record at least one tick after a burn-in of 0 or more"
        )
    watching, read = tuple(recorders), reader(world)
    timestep = world.reset(seeds=seed)
    policy.start(world, seed)
    for done in range(burn_in + ticks + 1):
        if done:
            timestep = world.step(act(policy, timestep))
        tick = read(world)  # in the burn-in too: a reader may keep the previous tick
        if done >= burn_in:
            for recorder in watching:
                recorder.add(tick)
        if progress is not None:
            progress(done)
        if timestep.over.all():
            break
    if done < burn_in:
        raise UserError(f"burn_in = {burn_in}: all worlds were over after {done} ticks; choose a shorter one")
    return done - burn_in
