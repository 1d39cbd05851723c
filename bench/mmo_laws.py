"""What holds after every tick of a persistent world, law by law (specification 18).

A law looks at a `Moment` and says where it is broken: (W,) or (W, N) bool, true is wrong. `invariants` asks them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.state import CUT, LAVA_CAUSE, MELEE, MmoState
from interplay.worlds.mmo.tiles import FOREST, LAVA, PASSABLE, SCRUB, TILES

FULL_TILE = 255  # heads that a byte counts


class Memory(NamedTuple):
    """What is kept of the tick before, and summed since the beginning."""

    tick: np.ndarray  # (W,)
    births: np.ndarray  # (W,)
    causes: np.ndarray  # (W, 9)
    alive: np.ndarray  # (W, N)
    life_id: np.ndarray  # (W, N)
    life: np.ndarray  # (W, N)
    population: np.ndarray  # (W, N)
    survived: np.ndarray  # (W,) ticks that agents lived through since the episode began
    kills: np.ndarray  # (W,) of lives that have ended
    ground: np.ndarray  # (W, T, T) the map with all its forest


class Moment:
    """A batch after a tick, and the memory of the tick before. What several laws ask is worked out once."""

    def __init__(self, settings: MmoSettings, state: MmoState, before: Memory) -> None:
        self.settings, self.state, self.before = settings, state, before
        self.room, self.tally = state.room, state.tally
        self.terminated = state.terminated
        self.alive = np.ascontiguousarray(state.agent["alive"])
        self.moved = self.room["tick"] == before.tick + 1

    def agent(self, field: str) -> np.ndarray:
        """(W, N), a field of the agents."""
        return np.asarray(self.state.agent[field])

    @cached_property
    def place(self) -> np.ndarray:
        """(W, N), each agent's tile as an index into all tiles of the batch."""
        worlds, side, _ = self.state.tiles.shape
        base = np.arange(worlds)[:, None] * side * side
        return base + self.agent("row").astype(np.int64) * side + self.agent("col")

    @cached_property
    def inside(self) -> np.ndarray:
        """(W, N), whether an agent's place is on the map at all."""
        side = self.settings.side
        row, col = self.agent("row"), self.agent("col")
        return (row >= 0) & (row < side) & (col >= 0) & (col < side)

    @cached_property
    def survived(self) -> np.ndarray:
        """(W, N), who lived when the tick began and lives on."""
        return self.before.alive & self.moved[:, None] & ~self.terminated

    @cached_property
    def new(self) -> np.ndarray:
        """(W, N), who was born in this tick."""
        return self.alive & (self.agent("life_id") >= self.before.births[:, None])

    @cached_property
    def by_id(self) -> tuple[np.ndarray, np.ndarray]:
        """Life ids and ticks of birth of the living, in the order of the ids; the free come first, with id -1."""
        ids = np.where(self.alive, self.agent("life_id"), -1)
        order = np.argsort(ids, axis=1)
        return np.take_along_axis(ids, order, 1), np.take_along_axis(self.agent("birth"), order, 1)


def acting(m: Moment) -> np.ndarray:
    return m.state.acting != (m.alive & ~m.room["over"][:, None])


def on_the_map(m: Moment) -> np.ndarray:
    return m.alive & ~m.inside


def on_ground(m: Moment) -> np.ndarray:
    """Nobody lives on water or stone; on lava only until the next update, where lava waits for it."""
    open_to = np.zeros(256, bool)
    open_to[:TILES] = PASSABLE
    open_to[LAVA] = m.settings.lava == "next_update"
    return m.alive & ~open_to[m.state.tiles.ravel().take(m.place, mode="clip")]


def heads(m: Moment) -> np.ndarray:
    worlds, side, _ = m.state.tiles.shape
    tile, number = np.unique(m.place[m.alive & m.inside], return_counts=True)
    wrong = np.bincount(tile // (side * side), minlength=worlds) != _per_world(m.state.heads != 0)
    wrong[tile[m.state.heads.ravel()[tile] != np.minimum(number, FULL_TILE)] // (side * side)] = True
    return wrong


def living(m: Moment) -> np.ndarray:
    return m.room["living"] != m.alive.sum(axis=1)


def standing(m: Moment) -> np.ndarray:
    return _differ(_count(m.agent("population"), m.alive), m.state.standing)


def caps(m: Moment) -> np.ndarray:
    return (m.room["living"] > m.room["cap"]) | (m.room["cap"] > m.settings.slots)


def quotas(m: Moment) -> np.ndarray:
    return np.asarray((m.state.standing > m.state.quota).any(axis=1))


def births_and_deaths(m: Moment) -> np.ndarray:
    return m.room["births"] - m.room["deaths"] != m.room["living"]


def every_death_has_a_cause(m: Moment) -> np.ndarray:
    causes, cut = m.state.causes, m.state.truncated.sum(axis=1)
    wrong = causes[:, 1:CUT].sum(axis=1) != m.room["deaths"]
    wrong |= (causes[:, 0] != 0) | (causes[:, CUT] != np.where(m.moved, cut, m.before.causes[:, CUT]))
    if not m.settings.combat:
        wrong |= causes[:, MELEE:CUT].any(axis=1)
    return wrong


def causes_of_this_tick(m: Moment) -> np.ndarray:
    """What was added to the causes is what the ended lives say."""
    told = _count(m.tally["ended_cause"], m.terminated | m.state.truncated)
    return _differ(told, m.state.causes - m.before.causes)


def ids_are_unique(m: Moment) -> np.ndarray:
    ids, _ = m.by_id
    twice = (np.diff(ids, axis=1) == 0) & (ids[:, 1:] >= 0)
    return twice.any(axis=1) | (ids[:, -1] >= m.room["births"])


def ids_ascend(m: Moment) -> np.ndarray:
    """Who was born later has the higher id."""
    ids, born = m.by_id
    return np.asarray(((np.diff(born, axis=1) < 0) & (ids[:, :-1] >= 0)).any(axis=1))


def ids_are_used_up(m: Moment) -> np.ndarray:
    return m.new.sum(axis=1) != m.room["births"] - m.before.births


def one_occupant(m: Moment) -> np.ndarray:
    """A slot is lived in by the one from before, unless that life ended, or by one born in this tick."""
    kin, before = m.agent("population"), m.before
    same = (m.agent("life_id") == before.life_id) & (kin == before.population) & before.alive
    stays = m.alive & same & ~m.terminated
    ends = m.terminated & before.alive & (~m.alive | m.new)
    comes = m.alive & m.new & ~before.alive & ~m.terminated
    stays_free = ~m.alive & ~before.alive & ~m.terminated
    return ~(stays | ends | comes | stays_free)


def books_of_the_dead(m: Moment) -> np.ndarray:
    """What is kept of an ended life fits the life that the slot held."""
    tally, before = m.tally, m.before
    wrong = (tally["ended_id"] != before.life_id) | (tally["ended_population"] != before.population)
    wrong |= tally["ended_life"] != before.life
    if not m.settings.combat:
        wrong |= tally["ended_cause"] > LAVA_CAUSE
    return m.terminated & wrong


def depleted_are_scrub(m: Moment) -> np.ndarray:
    """The list of depleted tiles names each scrub tile once and nothing else."""
    worlds, side, _ = m.state.tiles.shape
    used = np.arange(m.state.depleted.shape[1]) < m.room["depleted"][:, None]
    key = (np.arange(worlds)[:, None] * side * side + m.state.depleted)[used]
    listed = np.zeros(m.state.tiles.shape, bool)
    listed.ravel()[np.clip(key, 0, listed.size - 1)] = True
    wrong = _per_world(listed != (m.state.tiles == SCRUB)) > 0
    return wrong | (_per_world(listed) != m.room["depleted"])


def ground_stays(m: Moment) -> np.ndarray:
    """Forest becomes scrub and scrub forest, no other tile changes; so forest and scrub together stay as many."""
    return _per_world(full_grown(m.state.tiles) != m.before.ground) > 0


def stats(m: Moment) -> np.ndarray:
    s = m.settings
    wrong = np.zeros(m.alive.shape, bool)
    for name, least, most in (
        ("health", 1, s.health),
        ("food", 0, s.food),
        ("water", 0, s.water),
        ("freeze", 0, s.freeze),
    ):
        wrong |= (m.agent(name) < least) | (m.agent(name) > most)
    return m.alive & wrong


def ages(m: Moment) -> np.ndarray:
    return m.alive & (m.agent("life") != m.room["tick"][:, None] - m.agent("birth"))


def rewards(m: Moment) -> np.ndarray:
    """The reward of who lives on and of who died; not looked at where other things pay, too."""
    s = m.settings
    if s.team_spirit or s.reward_kill or s.reward_food or s.reward_water or s.reward_new_tile:
        return np.zeros(m.alive.shape, bool)
    due = np.where(m.survived, s.reward_alive, np.where(m.terminated, s.reward_death, 0.0))
    return m.state.reward != due.astype(np.float32)


def ticks_add_up(m: Moment) -> np.ndarray:
    """Ticks of the ended lives and ages of the living are what agents lived through."""
    lived = m.room["life_ticks"] + np.where(m.alive, m.agent("life"), 0).sum(axis=1)
    return lived != m.before.survived + m.survived.sum(axis=1)


def kills_add_up(m: Moment) -> np.ndarray:
    """Who was struck down was struck down by somebody."""
    by_others = m.state.causes[:, MELEE:CUT].sum(axis=1)
    return by_others != m.before.kills + ended_kills(m) + np.where(m.alive, m.agent("kills"), 0).sum(axis=1)


def ended_kills(m: Moment) -> np.ndarray:
    """(W,) kills of the lives that ended in this tick."""
    return np.where(m.terminated, m.tally["ended_kills"], 0).sum(axis=1)


def full_grown(tiles: np.ndarray) -> np.ndarray:
    """The map with all its scrub grown back."""
    return np.where(tiles == SCRUB, np.uint8(FOREST), tiles)


def _count(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """(W, 256) how often each number of bytes (W, N) is there."""
    worlds = len(values)
    key = (np.arange(worlds)[:, None] * 256 + values)[where]
    return np.bincount(key, minlength=256 * worlds).reshape(worlds, 256)


def _differ(counted: np.ndarray, told: np.ndarray) -> np.ndarray:
    """(W,) whether counts are not those told (W, K), or there are any beyond K."""
    number = told.shape[1]
    return (counted[:, :number] != told).any(axis=1) | counted[:, number:].any(axis=1)


def _per_world(grids: np.ndarray) -> np.ndarray:
    """(W,) how many of the tiles (W, T, T) are true."""
    return np.array([np.count_nonzero(grid) for grid in grids])


# In the order in which they are asked: later ones may rely on earlier ones.
LAWS: dict[str, Callable[[Moment], np.ndarray]] = {
    "acts although not alive, or the other way": acting,
    "lives outside of the map": on_the_map,
    "lives where nobody can": on_ground,
    "heads are not the living on their tile": heads,
    "living are not those alive": living,
    "standing are not the living by population": standing,
    "more live than the cap": caps,
    "more of a population live than its quota": quotas,
    "births less deaths are not the living": births_and_deaths,
    "causes of death are not the deaths": every_death_has_a_cause,
    "causes of this tick are not those of the ended lives": causes_of_this_tick,
    "a life_id is there twice, or was never given": ids_are_unique,
    "life_ids do not ascend with the births": ids_ascend,
    "life_ids were given to nobody": ids_are_used_up,
    "its occupant changed without an end or a birth": one_occupant,
    "the ended life is not the one that lived here": books_of_the_dead,
    "depleted tiles are not the scrub": depleted_are_scrub,
    "a tile changed that is neither forest nor scrub": ground_stays,
    "health, food, water or freeze is out of range": stats,
    "its age is not the ticks since its birth": ages,
    "its reward is not that of living or dying": rewards,
    "ticks of ended lives and ages are not the ticks lived": ticks_add_up,
    "kills are not the deaths by attacks": kills_add_up,
}
