"""Small worlds that keep every law, of each sort that the protocol knows; the checker must find nothing in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.hashing import mix64
from interplay.core.ranges import ANYTHING, REAL, Range, count, index
from interplay.core.world import ArrayWorld, Kind, TimeStep

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
STAY, LEFT, RIGHT, EAT = range(4)


def draw_below(stream: np.ndarray, rows: np.ndarray, bound: int) -> np.ndarray:
    """One integer below `bound` for each world in the mask `rows` (0 elsewhere), counted in its stream."""
    key = mix64(stream[:, 0] + mix64(stream[:, 1] * _GOLDEN))
    bits = mix64(key + stream[:, 2] * _GOLDEN)
    stream[rows, 2] += np.uint64(1)
    return np.where(rows, (bits % np.uint64(bound)).astype(np.int64), 0)


class CampState(NamedTuple):
    """Axes: W worlds, A = 4 agents, C = 7 cells in a row."""

    stream: np.ndarray  # (W, 3) uint64
    clock: np.ndarray  # (W,) int64 steps of this episode
    cell: np.ndarray  # (W, A) int64 where the agent stands, 0..6
    health: np.ndarray  # (W, A) int64, 0 = dead
    food: np.ndarray  # (W, C) bool
    storm: np.ndarray  # (W,) int64 the cell that was struck last
    eaten: np.ndarray  # (W, A) int64 metric
    me: np.ndarray  # (W, A, 3) float32 cell, health, clock / 100
    larder: np.ndarray  # (W, A, C) int8 where food lies
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool
    truncated: np.ndarray  # (W, A) bool
    over: np.ndarray  # (W,) bool
    legal: np.ndarray  # (W, A, 4) bool


class Camp(ArrayWorld):
    """Four agents on a row of seven cells eat, starve and are struck by storms; the last one alive ends it.

    Simultaneous moves, a mask, a random stream, deaths that end lives, a time limit.
    """

    agents_count, cells, limit, full = 4, 7, 160, 30

    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        names = [f"camper_{a}" for a in range(self.agents_count)]
        observation = spaces.Dict(
            {
                "me": spaces.Box(0, 100, (3,), np.float32),
                "larder": spaces.MultiBinary(self.cells),
            }
        )
        kind = Kind("agent", tuple(range(self.agents_count)), observation, spaces.Discrete(4))
        super().__init__(num_worlds, names, [kind], seed)
        w, a, c = self.num_worlds, self.agents_count, self.cells
        self.state = CampState(
            stream=seeding.new_stream(w),
            clock=np.zeros(w, np.int64),
            cell=np.zeros((w, a), np.int64),
            health=np.zeros((w, a), np.int64),
            food=np.zeros((w, c), bool),
            storm=np.zeros(w, np.int64),
            eaten=np.zeros((w, a), np.int64),
            me=np.zeros((w, a, 3), np.float32),
            larder=np.zeros((w, a, c), np.int8),
            reward=np.zeros((w, a), np.float32),
            acting=np.zeros((w, a), bool),
            terminated=np.zeros((w, a), bool),
            truncated=np.zeros((w, a), bool),
            over=np.zeros(w, bool),
            legal=np.zeros((w, a, 4), bool),
        )

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"eaten": self.state.eaten, "steps": self.state.clock}

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        for name in ("clock", "eaten", "reward", "terminated", "truncated", "over", "food", "storm"):
            getattr(s, name)[which] = 0
        s.health[which] = self.full
        for a in range(self.agents_count):
            s.cell[which, a] = draw_below(s.stream, which, self.cells)[which]
        s.acting[which] = True
        self.grow_food(which)
        self.observe(which)
        return self._read()

    def _step(self, action: np.ndarray) -> TimeStep:
        s = self.state
        going = ~s.over
        s.reward[...] = 0
        s.terminated[...] = False
        s.truncated[...] = False
        s.clock[going] += 1
        self.move_and_eat(np.where(self.asked(going), action, STAY), going)
        self.strike(going)
        self.grow_food(going)
        self.end_lives(going)
        self.pay(going)
        self.give_birth(going)
        self.observe(going)
        return self._read()

    def asked(self, going: np.ndarray) -> np.ndarray:
        return self.state.acting & going[:, None]

    def move_and_eat(self, action: np.ndarray, going: np.ndarray) -> None:
        s = self.state
        legal = np.take_along_axis(s.legal, action[..., None], axis=-1)[..., 0]
        action = np.where(legal, action, STAY)
        s.cell[...] = np.clip(s.cell + (action == RIGHT) - (action == LEFT), 0, self.cells - 1)
        for a in np.flatnonzero((action == EAT).any(axis=0)):
            rows = np.flatnonzero(going & (action[:, a] == EAT) & s.food[np.arange(len(going)), s.cell[:, a]])
            s.food[rows, s.cell[rows, a]] = False
            s.health[rows, a] += 2
            s.eaten[rows, a] += 1
            s.reward[rows, a] += 1

    def blow(self, going: np.ndarray) -> None:
        self.state.storm[going] = draw_below(self.state.stream, going, self.cells)[going]

    def strike(self, going: np.ndarray) -> None:
        s = self.state
        self.blow(going)
        struck = (s.cell == s.storm[:, None]) & (s.health > 0) & going[:, None]
        s.health[...] = np.maximum(s.health - 4 * struck, 0)

    def grow_food(self, which: np.ndarray) -> None:
        spot = draw_below(self.state.stream, which, self.cells)
        self.state.food[which, spot[which]] = True

    def end_lives(self, going: np.ndarray) -> None:
        s = self.state
        s.terminated[...] = self.asked(going) & (s.health == 0)
        s.acting[...] &= ~s.terminated
        late = going & (s.clock >= self.limit)
        s.over[...] |= (going & (s.acting.sum(axis=1) <= 1)) | late
        closing = (s.over & going)[:, None] & s.acting
        s.truncated[...] = closing & late[:, None]
        s.terminated[...] |= closing & ~late[:, None]
        s.acting[s.over] = False

    def pay(self, going: np.ndarray) -> None:
        s = self.state
        s.reward[...] += 0.5 * s.acting

    def give_birth(self, going: np.ndarray) -> None:
        """Nobody is born here."""

    def observe(self, which: np.ndarray) -> None:
        s = self.state
        s.me[which, :, 0] = s.cell[which]
        s.me[which, :, 1] = np.minimum(s.health[which], 100)
        s.me[which, :, 2] = s.clock[which, None] / 100
        s.larder[which] = s.food[which, None, :]
        s.legal[which, :, STAY] = True
        s.legal[which, :, LEFT] = s.cell[which] > 0
        s.legal[which, :, RIGHT] = s.cell[which] < self.cells - 1
        s.legal[which, :, EAT] = np.take_along_axis(s.food[which], s.cell[which], axis=1)

    def state_ranges(self) -> dict[str, Range]:
        return {
            "stream": ANYTHING,
            "clock": count(5_000),  # seen as hundredths, up to 100
            "cell": index(self.cells),
            "health": count(10**6),
            "storm": index(self.cells),
            "eaten": count(10**6),
            "me": Range(0, 100),
            "larder": count(1),
            "reward": REAL,
        }

    def _read(self) -> TimeStep:
        s = self.state
        observation = {"me": s.me, "larder": s.larder}
        return TimeStep(
            observation, s.reward, s.acting, s.terminated, s.truncated, s.over, {"action": s.legal}
        )


class Mourners(Camp):
    """The dead stay present: they do not act, earn -1 a step, and their lives end when the world does."""

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {**super().metrics, "alive": self.state.health > 0}

    def end_lives(self, going: np.ndarray) -> None:
        s = self.state
        s.acting[...] = (s.health > 0) & going[:, None]
        late = going & (s.clock >= self.limit)
        s.over[...] |= (going & (s.acting.sum(axis=1) <= 1)) | late
        closing = (s.over & going)[:, None]
        s.truncated[...] = closing & late[:, None]
        s.terminated[...] = closing & ~late[:, None]
        s.acting[s.over] = False

    def pay(self, going: np.ndarray) -> None:
        s = self.state
        s.reward[...] = np.where((s.health == 0) & going[:, None], -1, s.reward + 0.5 * s.acting)


class Surveyed(Camp):
    """A critic may see where everybody is, how well, and the hour."""

    state_space = spaces.Box(0.0, 160.0, (2 * Camp.agents_count + 1,), np.float32)

    def global_state(self) -> np.ndarray:
        s = self.state
        return np.hstack([s.cell, s.health, s.clock[:, None]]).astype(np.float32)


class Colony(Camp):
    """Runs for ever: slots are born and born again by chance, and now and then nobody lives."""

    persistent, respawns, full = True, True, 9

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        super()._reset(which, seeds)
        self.state.acting[which, 2:] = False
        self.state.health[which, 2:] = 0
        self.observe(which)
        return self._read()

    def end_lives(self, going: np.ndarray) -> None:
        s = self.state
        s.terminated[...] = s.acting & (s.health == 0)
        s.acting[...] &= ~s.terminated

    def give_birth(self, going: np.ndarray) -> None:
        s = self.state
        slot = draw_below(s.stream, going, 4 * self.agents_count)  # at most one birth, one time in four
        for w in np.flatnonzero(slot < self.agents_count):
            if not (s.acting[w, slot[w]] or s.terminated[w, slot[w]]):
                s.acting[w, slot[w]] = True
                s.health[w, slot[w]] = self.full
                s.cell[w, slot[w]] = 3


class NimState(NamedTuple):
    """Axes: W worlds, 2 players."""

    heap: np.ndarray  # (W,) int64 sticks left
    turn: np.ndarray  # (W,) int64 whose turn it is
    sticks: np.ndarray  # (W, 2) int64 observation
    reward: np.ndarray  # (W, 2) float32
    acting: np.ndarray  # (W, 2) bool
    terminated: np.ndarray  # (W, 2) bool
    over: np.ndarray  # (W,) bool
    legal: np.ndarray  # (W, 2, 3) bool


class Nim(ArrayWorld):
    """Turn-based, without chance: take 1 to 3 of 21 sticks, who takes the last wins. Illegal moves are refused."""

    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        kind = Kind(
            "agent", (0, 1), spaces.Dict({"sticks": spaces.Discrete(22)}), spaces.Discrete(3, start=1)
        )
        super().__init__(num_worlds, ["first", "second"], [kind], seed)
        w = num_worlds
        self.state = NimState(
            heap=np.zeros(w, np.int64),
            turn=np.zeros(w, np.int64),
            sticks=np.zeros((w, 2), np.int64),
            reward=np.zeros((w, 2), np.float32),
            acting=np.zeros((w, 2), bool),
            terminated=np.zeros((w, 2), bool),
            over=np.zeros(w, bool),
            legal=np.zeros((w, 2, 3), bool),
        )

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        s.heap[which], s.turn[which] = 21, 0
        for name in ("reward", "terminated", "over"):
            getattr(s, name)[which] = 0
        return self.show(which)

    def _step(self, action: np.ndarray) -> TimeStep:
        s = self.state
        going = np.flatnonzero(~s.over)
        taken = action[going, s.turn[going]]
        if (taken > s.heap[going]).any():
            raise ValueError("nim: more sticks than are left; choose by the mask")
        s.reward[...], s.terminated[...] = 0, False
        s.heap[going] -= taken
        won = going[s.heap[going] == 0]
        s.reward[won, s.turn[won]], s.reward[won, 1 - s.turn[won]] = 1, -1
        s.terminated[won], s.over[won] = True, True
        s.turn[going] = 1 - s.turn[going]
        return self.show(~s.over | np.isin(np.arange(self.num_worlds), won))

    def show(self, which: np.ndarray) -> TimeStep:
        s = self.state
        s.sticks[which] = s.heap[which, None]
        s.acting[...] = (np.arange(2) == s.turn[:, None]) & ~s.over[:, None]
        s.legal[which] = np.arange(1, 4) <= s.heap[which, None, None]
        return self._read()

    def state_ranges(self) -> dict[str, Range]:
        return {"heap": count(21), "turn": index(2), "sticks": count(21), "reward": Range(-1, 1)}

    def _read(self) -> TimeStep:
        s = self.state
        never = np.zeros_like(s.terminated)
        return TimeStep(
            {"sticks": s.sticks}, s.reward, s.acting, s.terminated, never, s.over, {"action": s.legal}
        )


class DriftState(NamedTuple):
    """Axes: W worlds, A = 3 drifters (two boats with Box actions, one buoy with a Dict action)."""

    stream: np.ndarray  # (W, 3) uint64
    clock: np.ndarray  # (W,) int64
    place: np.ndarray  # (W, A, 2) float64
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    ended: np.ndarray  # (W, A) bool
    over: np.ndarray  # (W,) bool


class Drift(ArrayWorld):
    """Two kinds: boats steer with a Box, the buoy with a Dict of a masked Discrete and a Box; read-only outputs."""

    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        place = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        boat = Kind("boat", (0, 2), spaces.Dict({"place": place}), spaces.Box(-1, 1, (2,), np.float32))
        anchor = spaces.Dict(
            {"anchor": spaces.MultiDiscrete([2, 3]), "pull": spaces.Box(0, 1, (), np.float32)}
        )
        fleet = spaces.Box(-np.inf, np.inf, (3, 2), np.float32)
        buoy = Kind("buoy", (1,), spaces.Dict({"fleet": fleet, "late": spaces.Discrete(2)}), anchor)
        super().__init__(num_worlds, ["boat_0", "buoy", "boat_1"], [boat, buoy], seed)
        w = num_worlds
        self.state = DriftState(
            stream=seeding.new_stream(w),
            clock=np.zeros(w, np.int64),
            place=np.zeros((w, 3, 2)),
            reward=np.zeros((w, 3), np.float32),
            acting=np.zeros((w, 3), bool),
            ended=np.zeros((w, 3), bool),
            over=np.zeros(w, bool),
        )

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        for name in ("clock", "place", "reward", "ended", "over"):
            getattr(s, name)[which] = 0
        s.place[which, :, 1] = 1
        s.acting[which] = True
        return self._read()

    def _step(self, action: dict[str, Any]) -> TimeStep:
        s = self.state
        going = ~s.over
        s.reward[...], s.ended[...] = 0, False
        s.clock[going] += 1
        tied = (action["buoy"]["anchor"][:, 0, 0] == 1) & self.shallow() & going  # as the mask said
        wind = draw_below(s.stream, going, 5) - 2
        s.place[going, :, 0] += 0.5 * wind[going, None]
        s.place[np.ix_(going, (0, 2))] += action["boat"][going]
        s.place[tied, 1] *= 1 - action["buoy"]["pull"][tied, 0, None]
        s.reward[going] = -np.abs(s.place[going]).sum(axis=-1)
        s.over[...] |= s.clock >= 50
        s.ended[...] = (s.over & going)[:, None]
        s.acting[s.over] = False
        return self._read()

    def state_ranges(self) -> dict[str, Range]:
        return {"stream": ANYTHING, "clock": count(50), "place": Range(-1e6, 1e6), "reward": REAL}

    def shallow(self) -> np.ndarray:
        return np.abs(self.state.place[:, 1, 0]) < 1

    def _read(self) -> TimeStep:
        s = self.state
        place = s.place.astype(np.float32)
        fleet = np.broadcast_to(place[:, None], (self.num_worlds, 1, 3, 2))
        late = (s.clock[:, None] > 25).astype(np.int64)
        observation = {"boat": {"place": place[:, [0, 2]]}, "buoy": {"fleet": fleet, "late": late}}
        legal = np.ones((self.num_worlds, 1, 5), bool)
        legal[:, 0, 1] = self.shallow()
        mask = {"boat": None, "buoy": {"anchor": legal}}
        never = np.zeros_like(s.ended)
        return TimeStep(observation, s.reward, s.acting, never, s.ended, s.over, mask)


SOUND = (Camp, Mourners, Surveyed, Colony, Nim, Drift)
