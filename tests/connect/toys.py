"""Two small worlds with everything that a connector has to get right: deaths, masks, limits, kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.hashing import mix64
from interplay.core.world import ArrayWorld, Kind, TimeStep, World

EDGE = 6
LIMIT = 40


class LineState(NamedTuple):
    """Axes: W worlds, A agents."""

    stream: np.ndarray  # (W, 3) uint64
    clock: np.ndarray  # (W,) int64 steps of this episode
    place: np.ndarray  # (W, A) int64
    alive: np.ndarray  # (W, A) bool
    gone: np.ndarray  # (W, A) bool, the slot is empty
    moves: np.ndarray  # (W, A) int64 metric
    self_: np.ndarray  # (W, A, 2) float32 place and alive
    others: np.ndarray  # (W, A, A - 1, 1) float32
    reward: np.ndarray
    acting: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray
    legal: np.ndarray  # (W, A, 5) bool, heads of MultiDiscrete([3, 2])


class Line(ArrayWorld):
    """Agents walk on a line with wind; one past the edge dies, and goes on earning -1 until the world is over.

    Args:
        masked: stepping beyond the edge is illegal, so only the wind kills.
        leave: a dead agent's life ends at once and its slot is free.
    """

    def __init__(
        self,
        num_worlds: int,
        seed: int = 0,
        agents: int = 3,
        masked: bool = False,
        leave: bool = False,
        first: int = 0,
    ) -> None:
        space = spaces.Dict(
            {
                "self": spaces.Box(-np.inf, np.inf, (2,), np.float32),
                "others": spaces.Box(-np.inf, np.inf, (agents - 1, 1), np.float32),
            }
        )
        slots = tuple(range(agents))
        names = [f"agent_{slot}" for slot in slots]
        super().__init__(num_worlds, names, [Kind("agent", slots, space, spaces.MultiDiscrete([3, 2]))], seed)
        self._seeds = seeding.world_seeds(seed, num_worlds, first)
        self.masked, self.leave = masked, leave
        w, a = num_worlds, agents
        self.state = LineState(
            seeding.new_stream(w),
            np.zeros(w, np.int64),
            np.zeros((w, a), np.int64),
            np.zeros((w, a), bool),
            np.zeros((w, a), bool),
            np.zeros((w, a), np.int64),
            np.zeros((w, a, 2), np.float32),
            np.zeros((w, a, a - 1, 1), np.float32),
            np.zeros((w, a), np.float32),
            np.zeros((w, a), bool),
            np.zeros((w, a), bool),
            np.zeros((w, a), bool),
            np.zeros(w, bool),
            np.ones((w, a, 5), bool),
        )

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"steps": self.state.clock, "moves": self.state.moves}

    def _draw(self) -> np.ndarray:
        """(W, A) draws in 0..2, one per agent."""
        s = self.state
        agents = s.place.shape[1]
        with np.errstate(over="ignore"):
            key = mix64(s.stream[:, 0]) ^ mix64(s.stream[:, 1] + np.uint64(77))
            bits = mix64(key[:, None] + s.stream[:, 2, None] + np.arange(agents, dtype=np.uint64))
        s.stream[:, 2] += np.uint64(agents)
        return (bits % np.uint64(3)).astype(np.int64)

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        saved = s.stream.copy()
        places = self._draw() - 1
        np.copyto(s.stream, np.where(which[:, None], s.stream, saved))
        for array, value in ((s.clock, 0), (s.moves, 0), (s.reward, 0), (s.alive, True), (s.gone, False)):
            array[which] = value
        for array in (s.terminated, s.truncated, s.over):
            array[which] = False
        s.place[which] = places[which]
        return self._read()

    def _step(self, action: np.ndarray) -> TimeStep:
        s = self.state
        on = ~s.over
        saved = s.stream.copy()
        wind = self._draw() - 1
        s.stream[s.over] = saved[s.over]
        step = (action[..., 0] - 1) * (1 + action[..., 1])
        moving = s.alive & on[:, None]
        s.place[:] += np.where(moving, step + wind, 0)
        s.moves[:] += np.where(moving & (step != 0), 1, 0)
        s.clock[on] += 1
        dead = moving & (np.abs(s.place) > EDGE)
        s.alive[dead] = False
        present = on[:, None] & ~s.gone
        s.reward[:] = np.where(present, np.where(s.alive, 1.0, -1.0), 0.0)
        finished = on & ~s.alive.any(axis=1)
        late = on & ~finished & (s.clock >= LIMIT)
        s.terminated[:] = present & finished[:, None]
        s.truncated[:] = present & late[:, None]
        if self.leave:
            s.terminated[:] |= dead
            s.gone[:] |= dead
        s.over[:] |= finished | late
        return self._read()

    def _read(self) -> TimeStep:
        s = self.state
        s.acting[:] = s.alive & ~s.over[:, None]
        s.self_[..., 0] = np.where(s.alive, s.place, 0)
        s.self_[..., 1] = s.alive
        agents = s.place.shape[1]
        for a in range(agents):
            s.others[:, a, :, 0] = s.self_[:, [b for b in range(agents) if b != a], 0]
        mask = None
        if self.masked:
            s.legal[..., 0] = s.place > -EDGE + 2
            s.legal[..., 2] = s.place < EDGE - 2
            mask = {"action": s.legal}
        return TimeStep(
            {"self": s.self_, "others": s.others}, s.reward, s.acting, s.terminated, s.truncated, s.over, mask
        )


class Hunt(ArrayWorld):
    """Two kinds: hunters (slots 0 and 2) choose a side, the prey (slot 1) a push; 10 steps."""

    class State(NamedTuple):
        stream: np.ndarray
        clock: np.ndarray
        push: np.ndarray  # (W, 1, 2) float32
        side: np.ndarray  # (W, 2) int64
        reward: np.ndarray
        acting: np.ndarray
        ended: np.ndarray
        never: np.ndarray
        over: np.ndarray

    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        kinds = [
            Kind(
                "hunter",
                (0, 2),
                spaces.Dict({"push": spaces.Box(-1, 1, (2,), np.float32)}),
                spaces.Discrete(3),
            ),
            Kind(
                "prey",
                (1,),
                spaces.Dict({"sides": spaces.MultiDiscrete([3, 3]), "clock": spaces.Discrete(11)}),
                spaces.Box(-1.0, 1.0, (2,), np.float32),
            ),
        ]
        super().__init__(num_worlds, ["hunter_0", "prey_0", "hunter_1"], kinds, seed)
        w = num_worlds
        self.state = self.State(
            seeding.new_stream(w),
            np.zeros(w, np.int64),
            np.zeros((w, 1, 2), np.float32),
            np.zeros((w, 2), np.int64),
            np.zeros((w, 3), np.float32),
            np.zeros((w, 3), bool),
            np.zeros((w, 3), bool),
            np.zeros((w, 3), bool),
            np.zeros(w, bool),
        )

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        for array in (s.clock, s.push, s.side, s.reward, s.ended, s.over):
            array[which] = 0
        return self._read()

    def _step(self, action: Any) -> TimeStep:
        s = self.state
        on = ~s.over
        s.push[on] = action["prey"][on]
        s.side[on] = action["hunter"][on]
        s.clock[on] += 1
        s.reward[:] = on[:, None] * np.array([1, 2, 3], np.float32) * s.push[:, :, 0]
        s.ended[:] = (on & (s.clock >= 10))[:, None]
        s.over[:] |= s.ended[:, 0]
        return self._read()

    def _read(self) -> TimeStep:
        s = self.state
        s.acting[:] = ~s.over[:, None]
        observation = {
            "hunter": {"push": np.broadcast_to(s.push, (self.num_worlds, 2, 2))},
            "prey": {"sides": s.side[:, None], "clock": s.clock[:, None]},
        }
        return TimeStep(observation, s.reward, s.acting, s.ended, s.never, s.over)


class Fighter(World):
    """One agent for five steps; in its action `move` stands before `attack`, and only `move` 0 with `attack` 2 is legal."""

    def __init__(self, num_worlds: int = 1, seed: int = 0) -> None:
        acts = spaces.Dict(move=spaces.Discrete(4), attack=spaces.Discrete(3))
        seen = spaces.Dict(clock=spaces.Box(0, 5, (1,), np.float32))
        super().__init__(num_worlds, ["a"], [Kind("agent", (0,), seen, acts)], seed)
        self.clock = 0

    def _read(self) -> TimeStep:
        shape = (self.num_worlds, 1)
        over, none = np.full(shape, self.clock == 5), np.zeros(shape, bool)
        mask = {"move": np.eye(4, dtype=bool)[:1], "attack": np.eye(3, dtype=bool)[2:]}
        return TimeStep(
            {"clock": np.full((*shape, 1), self.clock, np.float32)},
            np.zeros(shape, np.float32),
            ~over,
            over,
            none,
            over[:, 0],
            {key: np.broadcast_to(row, (*shape, row.shape[1])) for key, row in mask.items()},
        )

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        self.clock = 0
        return self._read()

    def _step(self, action: Any) -> TimeStep:
        assert not action["move"].any()
        assert (action["attack"] == 2).all()
        self.clock += 1
        return self._read()

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {}

    def save(self) -> dict[str, np.ndarray]:
        return {"clock": np.array([self.clock])}

    def load(self, snapshot: Any) -> TimeStep:
        self.clock = int(snapshot["clock"][0])
        return self._read()
