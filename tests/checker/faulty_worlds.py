"""Worlds with one planted fault each, of the sorts that authors really make, and the laws that name them."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.guides import Guide
from interplay.core.ranges import ANYTHING, Range, count
from interplay.core.scene import Canvas
from interplay.core.world import TimeStep, World
from tests.checker.sound_worlds import (
    EAT,
    RIGHT,
    STAY,
    Camp,
    Colony,
    Drift,
    Mourners,
    Nim,
    Surveyed,
    draw_below,
)


class Fault(NamedTuple):
    """A planted fault.

    Attributes:
        world: what `check_world` is given.
        law: the law that must be among those found broken.
        story: what an author did wrong.
        steps: of the long run in which it shows.
    """

    world: type[World]
    law: str
    story: str
    steps: int


FAULTS: list[Fault] = []
SOON, LATE = 60, 170  # steps of the long run: most faults show at once, some after the first deaths and ends


def fault(law: str, story: str, steps: int = SOON) -> Any:
    """Adds a world to `FAULTS`."""

    def add(world: type[World]) -> type[World]:
        FAULTS.append(Fault(world, law, story, steps))
        return world

    return add


# -- one time step: numbers, shapes, spaces -----------------------------------------------------------


@fault("finite", "a division by zero gives NaN in an observation, after step 120 of an episode", steps=LATE)
class NanObservation(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        self.state.me[which & (self.state.clock > 120), 0, 1] = np.nan


@fault("finite", "a distance of the dead is infinite, and networks compute before they mask")
class InfiniteObservation(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        self.state.me[..., 0][which[:, None] & (self.state.health == 0)] = np.inf


@fault("finite", "a reward is divided by the number of meals")
class NanReward(Camp):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.state.reward[...] *= self.state.eaten / self.state.eaten


@fault("finite", "the reward of a meal in the storm overflows")
class InfiniteReward(Camp):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        self.state.reward[self.state.reward > 1] = np.inf


@fault("shape", "the agent axis is dropped")
class NoAgentAxis(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(observation={**step.observation, "me": self.state.me[:, 0]})


@fault("shape", "the observation loses a column late in an episode", steps=LATE)
class ShrinkingObservation(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        small = self.state.me[..., :2] if self.state.clock.max() > 90 else self.state.me
        return step._replace(observation={**step.observation, "me": small})


@fault("shape", "a declared field is not given")
class MissingField(Camp):
    def _read(self) -> TimeStep:
        return super()._read()._replace(observation={"me": self.state.me})


@fault("dtype", "observations are float64")
class WideObservation(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(observation={**step.observation, "me": self.state.me.astype(np.float64)})


@fault("dtype", "rewards are float64")
class WideReward(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(reward=step.reward.astype(np.float64))


@fault("dtype", "acting is made of numbers")
class NumberedActing(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(acting=step.acting.astype(np.int8))


@fault("in-space", "the time is told in steps, and its space ends at 100", steps=LATE)
class OutOfSpace(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        self.state.me[which, :, 2] = self.state.clock[which, None]


@fault("in-space", "an agent may stand one cell beyond the room")
class NegativeCell(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        self.state.me[which, :, 0] -= 1


# -- memory ------------------------------------------------------------------------------------------------

_BUFFERS: dict[int, np.ndarray] = {}


@fault("shared-buffers", "an output buffer is shared by all worlds of a module")
class ModuleBuffer(Camp):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        shared = _BUFFERS.setdefault(num_worlds, self.state.reward)
        self.state = self.state._replace(reward=shared)


@fault("shared-buffers", "all agents are given one row of memory")
class OneRow(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        row = self.state.larder[:, :1].copy()
        larder = np.lib.stride_tricks.as_strided(
            row, self.state.larder.shape, (row.strides[0], 0, row.strides[2])
        )
        return step._replace(observation={**step.observation, "larder": larder})


@fault("shared-buffers", "two fields are one array")
class OneFlag(Camp):
    def _read(self) -> TimeStep:
        return super()._read()._replace(truncated=self.state.terminated)


@fault("corruptible", "the observation is the state itself")
class StateHandedOut(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(observation={**step.observation, "larder": self.hand_out()})

    def hand_out(self) -> np.ndarray:
        self.state.larder[...] = self.state.food[:, None]
        return self.state.larder

    def strike(self, going: np.ndarray) -> None:
        self.state.food[going] = self.state.larder[going, 0] != 0
        super().strike(going)


@fault("action-kept", "the caller's actions are changed in place")
class ActionChanged(Camp):
    def _step(self, action: np.ndarray) -> TimeStep:
        action[~self.state.acting] = STAY
        return super()._step(action)


# -- chance ------------------------------------------------------------------------------------------------


@fault("determinism", "from step 100 of an episode on, chance comes from the operating system", steps=LATE)
class LateChance(Camp):
    def blow(self, going: np.ndarray) -> None:
        super().blow(going)
        late = going & (self.state.clock >= 100)
        self.state.storm[late] = (self.state.storm[late] + os.urandom(1)[0]) % self.cells


@fault("determinism", "a generator of the world's own, without a seed")
class UnseededGenerator(Camp):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        self.rng = np.random.default_rng()

    def grow_food(self, which: np.ndarray) -> None:
        spot = self.rng.integers(0, self.cells, self.num_worlds)
        self.state.food[which, spot[which]] = True


@fault("determinism", "who is paid how much depends on a memory address")
class AddressOrder(Camp):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        # All of the address, a byte per step: two batches never have the same one, but their remainders may be equal.
        byte = (id(self) >> 8 * (self.state.clock % 8)) & 255
        self.state.reward[...] += byte[:, None] / 256 * self.state.acting


@fault("global-random", "storms come from NumPy's global generator")
class GlobalRandom(Camp):
    def blow(self, going: np.ndarray) -> None:
        super().blow(going)
        if np.random.rand() < 0.1:  # noqa: NPY002
            self.state.storm[going] = 0


@fault("batch-size", "the number of worlds goes into a draw")
class BatchSizeDraw(Camp):
    def blow(self, going: np.ndarray) -> None:
        super().blow(going)
        self.state.storm[going] = (self.state.storm[going] + self.num_worlds) % self.cells


@fault("position", "the index in the batch goes into a draw")
class PositionDraw(Camp):
    def blow(self, going: np.ndarray) -> None:
        super().blow(going)
        self.state.storm[going] = ((self.state.storm + np.arange(self.num_worlds)) % self.cells)[going]


@fault("position", "a world is struck by its neighbour's storm", steps=LATE)
class NeighbourStorm(Camp):
    def blow(self, going: np.ndarray) -> None:
        super().blow(going)
        late = going & (self.state.clock > 60)
        self.state.storm[late] = np.roll(self.state.storm, 1)[late]


@fault("batch-size", "a shared clock: somebody else's reset changes the food here", steps=LATE)
class SharedClock(Camp):
    def grow_food(self, which: np.ndarray) -> None:
        super().grow_food(which)
        if self.state.clock.max() % 40 == 39:
            self.state.food[which] = False


@fault("seeds", "the seeds given to reset are ignored")
class SeedsIgnored(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        return super()._reset(which, None if seeds is None else np.full_like(seeds, 7))


@fault("seeds", "reset mixes the seeds in the caller's own array")
class SeedsMixed(Camp):
    def reset(self, which: Any = None, seeds: Any = None) -> TimeStep:
        step = super().reset(which, seeds)
        if isinstance(seeds, np.ndarray):
            seeds ^= np.uint64(1)
        return step


@fault("seeds", "every episode is the first one again")
class SameEpisode(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        return super()._reset(which, self.state.stream[:, 0].copy() if seeds is None else seeds)


# -- reset ---------------------------------------------------------------------------------------------------


@fault("reset-untouched", "reset of one world begins the next episode of all", steps=LATE)
class ResetTouchesStreams(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        if seeds is None:
            self.state.stream[~which, 2] += np.uint64(1)
        return super()._reset(which, seeds)


@fault("reset-untouched", "reset clears the rewards of all worlds in an array that is not saved", steps=LATE)
class ResetTouchesRewards(Camp):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        self.paid = np.zeros_like(self.state.reward)

    def _read(self) -> TimeStep:
        self.paid[...] = self.state.reward
        return super()._read()._replace(reward=self.paid)

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        step = super()._reset(which, seeds)
        self.paid[...] = 0
        return step


@fault("reset-forgets", "food of the last episode is left lying")
class FoodLeft(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        food = self.state.food.copy()
        super()._reset(which, seeds)
        self.state.food[which] |= food[which]
        self.observe(which)
        return self._read()


@fault("starts-clean", "the last reward is left after reset", steps=LATE)
class RewardLeft(Camp):
    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        reward = self.state.reward.copy()
        super()._reset(which, seeds)
        self.state.reward[...] = reward
        return self._read()


# -- lives ---------------------------------------------------------------------------------------------------


@fault("dead-acts", "an agent acts in the time step of its death")
class ActsWhileDying(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(acting=step.acting | (step.terminated & ~step.over[:, None]))


@fault("dead-acts", "the dead come back after a while, though nobody said that they may")
class Zombies(Camp):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        rising = going & ~self.state.over & (self.state.clock % 50 == 0)
        self.state.acting[rising, 0] = True


@fault("dead-acts", "the dead who stay present are asked for actions")
class DeadAreAsked(Mourners):
    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        self.state.acting[going & ~self.state.over, 0] = True


@fault("ignored-rows", "the dead still eat when their action row says so")
class GhostsEat(Mourners):
    def asked(self, going: np.ndarray) -> np.ndarray:
        return np.broadcast_to(going[:, None], self.state.acting.shape)


@fault("asks-nobody", "once in an episode nobody is asked", steps=LATE)
class NobodyAsked(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(acting=step.acting & (self.state.clock != 70)[:, None])


@fault("over", "the world is over and the last life has no end", steps=LATE)
class LastLifeOpen(Camp):
    def end_lives(self, going: np.ndarray) -> None:
        super().end_lives(going)
        self.state.terminated[self.state.over] &= (self.state.health == 0)[self.state.over]


@fault("over", "agents are asked in a world that is over", steps=LATE)
class ActsWhenOver(Mourners):
    def end_lives(self, going: np.ndarray) -> None:
        super().end_lives(going)
        self.state.acting[self.state.over] = (self.state.health > 0)[self.state.over]


@fault("ended-flags", "a death in the last step is terminated and truncated", steps=LATE)
class BothFlags(Camp):
    def end_lives(self, going: np.ndarray) -> None:
        super().end_lives(going)
        self.state.truncated[self.state.over] |= self.state.terminated[self.state.over]


@fault("ended-flags", "terminated stays true after the life has ended")
class FlagStays(Camp):
    def end_lives(self, going: np.ndarray) -> None:
        super().end_lives(going)
        self.state.terminated[...] |= going[:, None] & (self.state.health == 0)


@fault("reward-after-end", "the dead go on paying after their lives were said to have ended")
class DeadPay(Camp):
    def pay(self, going: np.ndarray) -> None:
        self.state.reward[...] -= 0.5 * (going & ~self.state.over)[:, None]


@fault("stands-still", "rewards of the last step are paid again in a world that is over", steps=LATE)
class PaidAgain(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(reward=np.where(step.over[:, None], np.float32(0.5), step.reward))


@fault("stands-still", "a world that is over goes on", steps=LATE)
class GoesOn(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        over = self.state.over
        self.state.me[over, :, 1] = np.maximum(self.state.me[over, :, 1] - 1, 0)


@fault("metrics", "the metrics are cleared when the world is over", steps=LATE)
class MetricsCleared(Camp):
    def _step(self, action: np.ndarray) -> TimeStep:
        over = self.state.over.copy()
        step = super()._step(action)
        self.state.eaten[over] = 0
        return step


@fault(
    "metrics", "a metric is divided by nothing; NaN would say that there is no case, infinity says nothing"
)
class MetricInfinite(Camp):
    @property
    def metrics(self) -> dict[str, np.ndarray]:
        with np.errstate(divide="ignore"):
            return {"pause": 1.0 / self.state.eaten}


@fault("metrics", "the outcome is a share of the points, which counts neither as won nor as lost")
class OutcomeShared(Camp):
    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"outcome": self.state.eaten / 3.0}


@fault("reward-after-end", "a newborn is paid for the step before its birth")
class PaidBeforeBirth(Colony):
    def give_birth(self, going: np.ndarray) -> None:
        before = self.state.acting.copy()
        super().give_birth(going)
        self.state.reward[self.state.acting & ~before] = 0.5


# -- masks ---------------------------------------------------------------------------------------------------


@fault("mask", "an agent that stands on food in the last cell has no legal choice")
class AllZeroMask(Camp):
    def observe(self, which: np.ndarray) -> None:
        super().observe(which)
        stuck = which[:, None] & (self.state.cell == 6) & self.state.legal[..., EAT]
        self.state.legal[stuck] = False


@fault("mask", "the mask is made of numbers")
class NumberedMask(Camp):
    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(action_mask={"action": self.state.legal.astype(np.int8)})


@fault("shape", "the mask has a column too few")
class NarrowMask(Camp):
    def _read(self) -> TimeStep:
        return super()._read()._replace(action_mask={"action": self.state.legal[..., :3]})


@fault("mask-honoured", "who steps to the left at the wall leaves the room at the other side")
class MaskIgnored(Camp):
    def move_and_eat(self, action: np.ndarray, going: np.ndarray) -> None:
        through = (action != STAY) & (self.state.cell == 0) & (action != EAT) & (action != RIGHT)
        super().move_and_eat(action, going)
        self.state.cell[through & self.asked(going)] = self.cells - 1


@fault("mask-honoured", "an illegal anchor is thrown all the same")
class AnchorInTheDeep(Drift):
    def _step(self, action: dict[str, Any]) -> TimeStep:
        deep = ~self.shallow() & ~self.state.over & (action["buoy"]["anchor"][:, 0, 0] == 1)
        self.state.place[deep, 1] *= 1.5
        return super()._step(action)


@fault("crash", "the mask allows what the rules do not know")
class MaskTooKind(Nim):
    def show(self, which: np.ndarray) -> TimeStep:
        super().show(which)
        self.state.legal[...] = True
        return self._read()


# -- save, load, hash ------------------------------------------------------------------------------------


@fault("save-load", "the random stream is not saved")
class StreamLost(Camp):
    def save(self) -> dict[str, np.ndarray]:
        return {**super().save(), "stream": np.zeros((self.num_worlds, 3), np.uint64)}

    def load(self, snapshot: Any) -> TimeStep:
        return super().load({**snapshot, "stream": self.state.stream.copy()})


@fault("save-load", "a counter lives outside the arrays that are saved")
class CounterLost(Camp):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        self.rested = np.zeros(num_worlds, np.int64)

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        self.rested[which] = 0
        return super()._reset(which, seeds)

    def strike(self, going: np.ndarray) -> None:
        super().strike(going)
        self.rested[going] += 1
        self.state.health[going & (self.rested % 9 == 0)] += 2


@fault("save-load", "the snapshot is made of views")
class SnapshotOfViews(Camp):
    def save(self) -> dict[str, np.ndarray]:
        return self._arrays()


@fault("save-load", "load keeps the caller's arrays as its state")
class LoadKeepsArrays(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        super().load(snapshot)
        self.state = self.state._replace(food=snapshot["food"])
        return self._read()


@fault("save-load", "load forgets the time step that was pending")
class PendingLost(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        super().load(snapshot)
        self.state.reward[...] = 0
        return self.timestep


@fault(
    "copies",
    "the author lets Python copy attribute by attribute: what was a view of the state is an array of its own",
)
class CopiedApart(Camp):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        step = super()._read()
        self.shown = step._replace(reward=step.reward.view(), acting=step.acting.view())

    def _read(self) -> TimeStep:
        return self.shown

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


@fault("copies", "a copy is quick, as it takes over the arrays of the original")
class CopiedByReference(Camp):
    def __deepcopy__(self, memo: dict[int, Any]) -> CopiedByReference:
        twin = type(self)(self.num_worlds)
        twin.state, twin._last, twin._seeds = self.state, self._last, self._seeds
        return twin


@fault("copies", "a copy writes its rewards where those of the original stand")
class RewardsInOnePlace(Camp):
    def __deepcopy__(self, memo: dict[int, Any]) -> RewardsInOnePlace:
        twin = type(self)(self.num_worlds)
        if self._last is None:
            twin._seeds = self._seeds.copy()
        else:
            twin.load(self.save())
            twin.state = twin.state._replace(reward=self.state.reward)
            twin._last = twin._read()
        return twin


@fault("hash", "the hash looks at the clock alone")
class LazyHash(Camp):
    def hash(self) -> np.ndarray:
        return seeding.mix64(self.state.clock.astype(np.uint64))


@fault("hash", "the hash depends on the place in the batch")
class HashOfPlace(Camp):
    def hash(self) -> np.ndarray:
        return super().hash() ^ np.arange(self.num_worlds, dtype=np.uint64)


# -- wild snapshots --------------------------------------------------------------------------------------


@fault("undeclared", "nobody says what the storm's cell may be")
class UndeclaredStorm(Camp):
    def state_ranges(self) -> dict[str, Range]:
        return {name: allowed for name, allowed in super().state_ranges().items() if name != "storm"}


@fault("undeclared", "the declared range is narrower than what the rules reach")
class NarrowRange(Camp):
    def state_ranges(self) -> dict[str, Range]:
        return {**super().state_ranges(), "health": count(29)}


@fault("wild-snapshot", "a cell beyond the row is accepted and looked up")
class AcceptsAnyCell(Camp):
    def state_ranges(self) -> dict[str, Range]:
        return {**super().state_ranges(), "storm": ANYTHING}

    def strike(self, going: np.ndarray) -> None:
        self.state.food[going, self.state.storm[going]] &= True  # where it struck a step ago
        super().strike(going)


@fault("wild-snapshot", "a faster load of its own looks at shapes alone")
class LooksAtShapesAlone(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        fits = {name: array.shape for name, array in self._arrays().items()}
        if {name: array.shape for name, array in snapshot.items()} != fits:
            return super().load(snapshot)
        for name, array in self._arrays().items():
            array[...] = snapshot[name]
        self._seeds, self._last = None, self._read()
        return self._last


@fault("wild-snapshot", "load writes the clock before it looks at the rest")
class WritesBeforeChecking(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        if set(snapshot) == set(self._arrays()) and len(snapshot["clock"]) == self.num_worlds:
            self.state.clock[...] = snapshot["clock"]
        return super().load(snapshot)


@fault("wild-snapshot", "a load of its own raises whatever it stumbles over")
class StumblesOverSnapshots(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        if (np.asarray(snapshot["health"]) > 10**6).any():
            raise OverflowError("health")
        return super().load(snapshot)


@fault("wild-snapshot", "a load of its own hands on what NumPy says")
class HandsOnValueErrors(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        if (np.asarray(snapshot["health"]) > 10**6).any():
            raise ValueError("health")
        return super().load(snapshot)


@fault("wild-snapshot", "an observation that is not finite is taken over")
class TakesOverInfinity(Camp):
    def state_ranges(self) -> dict[str, Range]:
        return {**super().state_ranges(), "reward": ANYTHING, "me": ANYTHING}

    def pay(self, going: np.ndarray) -> None:
        super().pay(going)
        self.state.reward[...] += 0 * self.state.me[..., 0]


# -- the global state -----------------------------------------------------------------------------------


@fault("global-state", "the hour runs out of the space")
class OutOfStateSpace(Surveyed):
    def global_state(self) -> np.ndarray:
        told = super().global_state()
        told[:, -1] += 120
        return told


@fault("global-state", "counts stay int64")
class WholeNumbersOfState(Surveyed):
    def global_state(self) -> np.ndarray:
        return super().global_state().astype(np.int64)


@fault("global-state", "one buffer is filled again and handed out")
class StateInOneBuffer(Surveyed):
    def __init__(self, num_worlds: int, seed: int = 0) -> None:
        super().__init__(num_worlds, seed)
        self._told = np.zeros((num_worlds, 9), np.float32)

    def reset(self, *args: Any, **kwargs: Any) -> TimeStep:
        super().reset(*args, **kwargs)
        self._told[...] = super().global_state()
        return self.timestep

    def step(self, action: Any) -> TimeStep:
        super().step(action)
        self._told[...] = super().global_state()
        return self.timestep

    def load(self, snapshot: Any) -> TimeStep:
        super().load(snapshot)
        self._told[...] = super().global_state()
        return self.timestep

    def global_state(self) -> np.ndarray:
        return self._told


@fault("global-state", "the reward's own array is handed out")
class StateIsTheReward(Camp):
    state_space = spaces.Box(-100.0, 100.0, (Camp.agents_count,), np.float32)

    def global_state(self) -> np.ndarray:
        return self.state.reward


@fault("global-state", "how often it was asked is in it")
class StateCountsQuestions(Surveyed):
    def global_state(self) -> np.ndarray:
        self._asked = getattr(self, "_asked", 0) + 1
        told = super().global_state()
        told[:, -1] = self._asked % 100
        return told


@fault("global-state", "what it remembers of the last step is not saved")
class StateOfUnsavedThings(Surveyed):
    _steps = 0

    def step(self, action: Any) -> TimeStep:
        self._steps += 1
        return super().step(action)

    def global_state(self) -> np.ndarray:
        told = super().global_state()
        told[:, -1] = self._steps % 100
        return told


@fault("global-state", "health is normalised over the batch")
class StateOverTheBatch(Surveyed):
    def global_state(self) -> np.ndarray:
        told = super().global_state()
        told[:, 4:8] /= max(told[:, 4:8].max(), 1)
        return told


class SurveyedTeams(Surveyed):
    """Two against two, each pair seen first by itself."""

    teams = ((0, 1), (2, 3))

    def team_states(self) -> np.ndarray:
        s, own = self.state, self.global_state()
        other = np.hstack([np.roll(s.cell, 2, 1), np.roll(s.health, 2, 1), s.clock[:, None]])
        return np.stack([own, other.astype(np.float32)], axis=1)


@fault("global-state", "the other team stands first")
class StatesOfTeamsReversed(SurveyedTeams):
    def team_states(self) -> np.ndarray:
        return super().team_states()[:, ::-1].copy()


@fault("global-state", "what one team remembers is not saved")
class StateOfOneTeamUnsaved(SurveyedTeams):
    _steps = 0

    def step(self, action: Any) -> TimeStep:
        self._steps += 1
        return super().step(action)

    def team_states(self) -> np.ndarray:
        told = super().team_states()
        told[:, 1, -1] = self._steps
        return told


@fault("global-state", "team states without an axis of teams")
class StatesOfTeamsFlat(SurveyedTeams):
    def team_states(self) -> np.ndarray:
        return self.global_state()


@fault("global-state", "it is a Dict, which no critic can take")
class StateOfParts(Surveyed):
    state_space = spaces.Dict(all=Surveyed.state_space)  # type: ignore[assignment]


# -- bad input and drawing -------------------------------------------------------------------------------


@fault("refusal", "step is overridden and clips what it should refuse")
class ClipsActions(Camp):
    def step(self, action: Any) -> TimeStep:
        return super().step(np.clip(np.nan_to_num(np.asarray(action)), 0, 3).astype(np.int64))


@fault("refusal", "a snapshot of another size is cut to fit")
class CutsSnapshots(Camp):
    def load(self, snapshot: Any) -> TimeStep:
        return super().load({name: array[: self.num_worlds] for name, array in snapshot.items()})


@fault("draw", "drawing draws from the stream")
class DrawingDraws(Camp):
    def draw(self, canvas: Any, world: int) -> None:
        draw_below(self.state.stream, np.arange(self.num_worlds) == world, 3)
        super().draw(canvas, world)


@fault("draw", "drawing knows the first world only")
class DrawsFirstOnly(Camp):
    def draw(self, canvas: Any, world: int) -> None:
        if world:
            raise IndexError("world")
        super().draw(canvas, world)


@fault("people", "one choice has no name")
class NamesTooFew(Camp):
    action_names = MappingProxyType({"do": ("stay", "eat", "walk")})


@fault("people", "a key means a choice that there is not")
class KeyOfNothing(Camp):
    action_names = MappingProxyType({"do": ("stay", "eat", "walk", "sleep")})

    def controls(self, slot: int) -> Controls:
        return Controls({" ": {"do": "run"}})


@fault("people", "what is visible names a layer that nobody draws")
class SeesNoLayer(Camp):
    def visible(self, world: int, slot: int) -> Any:
        return {"walkers": True}


@fault("people", "a guide says that a field hides rows which there is not")
class HiddenByNothing(Camp):
    def observation_guides(self, world: int, slot: int) -> Any:
        return {"larder": (Guide("rows", hidden="larder_mask"),)}


@fault("people", "a guide is given for a field that there is not")
class GuidesNothing(Camp):
    def observation_guides(self, world: int, slot: int) -> Any:
        return {"clocks": (Guide("numbers"),)}


@fault("people", "a field that says which rows are hidden has too few numbers")
class HidesTooFew(Camp):
    def observation_guides(self, world: int, slot: int) -> Any:
        return {"me": (Guide("rows"),), "larder": (Guide("rows", rows=4, hidden="me"),)}


@fault("people", "what spectators see has a layer more")
class LayerOfSecrets(Camp):
    privileged_view = False

    def draw(self, canvas: Canvas, world: int) -> None:
        super().draw(canvas, world)
        if self.privileged_view:
            canvas.table("secrets", ("who",), [("ann",)])


@fault("people", "the part of an episode is a number")
class NumberedPhase(Camp):
    def phase(self, world: int) -> Any:
        return 3


@fault("people", "the part of an episode cannot be told")
class NoPhase(Camp):
    def phase(self, world: int) -> str | None:
        raise KeyError("night")


@fault("identity", "the version is a string")
class NamedVersion(Camp):
    version = "1.0"  # type: ignore[assignment]


@fault("crash", "the rules fail when two agents eat in one step, late in an episode")
class LateCrash(Camp):
    def move_and_eat(self, action: np.ndarray, going: np.ndarray) -> None:
        super().move_and_eat(action, going)
        if ((self.state.reward > 0).sum(axis=1) * (self.state.clock > 30)).max() > 1:
            raise ZeroDivisionError("integer division or modulo by zero")
