"""Laws of lives: when agents may act, earn and end, and what a finished world may still do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.checker.bench import Bench
from interplay.checker.outputs import Field, copy_fields, first_difference
from interplay.core.world import Array, TimeStep, World
from interplay.sim.batch.world import EnvironmentBatch

_UNBORN, _LIVING, _ENDED = 0, 1, 2


class Lives:
    """Follows every slot of a batch from time step to time step and records what breaks the laws.

    A slot is unborn until it first acts, then living until `terminated` or `truncated`, then ended until it acts
    again. A slot that is dead but present counts as living here, as in the protocol.
    """

    def __init__(self, bench: Bench, world: World) -> None:
        self.bench, self.world = bench, world
        self.status = np.zeros((world.num_worlds, len(world.agents)), np.int8)
        self.over = np.zeros(world.num_worlds, bool)
        self.final: dict[str, Field] = {}  # outputs when worlds ended
        self.metric_names = tuple(world.metrics)
        # Agents of other people's environments may leave and come back, which none of them declares.
        self.may_return = world.respawns or isinstance(world, EnvironmentBatch)
        self.born(world.timestep, np.ones(world.num_worlds, bool), 0)

    def born(self, step: TimeStep, which: Array, t: int) -> None:
        """Looks at worlds that were just reset."""
        self.status[which] = _UNBORN
        self.over[which] = False
        for name in ("reward", "terminated", "truncated", "over"):
            array = getattr(step, name)
            rows = which if name == "over" else which[:, None]
            self._add("starts-clean", rows & (array != 0), t, name, array, "after reset")
        if not self.world.persistent:
            idle = which & ~step.acting.any(axis=1)
            self._add("starts-clean", idle, t, "acting", None, "no agent acts after reset")
        self.status[step.acting & which[:, None]] = _LIVING

    def stepped(self, step: TimeStep, t: int) -> None:
        """Looks at the time step that `World.step` gave."""
        going = ~self.over
        ended = step.terminated | step.truncated
        self._flags(step, ended, going[:, None], t)
        self._acting(step, ended, going[:, None], t)
        self._ends(step, ended, going, t)
        self._stands_still(step, t)
        self.status[ended & going[:, None]] = _ENDED
        self.status[step.acting & going[:, None]] = _LIVING
        self.over |= step.over

    def _flags(self, step: TimeStep, ended: Array, going: Array, t: int) -> None:
        both = step.terminated & step.truncated
        again = going & ended & (self.status == _ENDED)
        self._add("ended-flags", both & going, t, "terminated", None, "terminated and truncated at once")
        self._add("ended-flags", again, t, "terminated", None, "this life had ended before")
        paid = going & (self.status == _ENDED) & (step.reward != 0)
        self._add("reward-after-end", paid, t, "reward", step.reward, "this life had ended before")

    def _acting(self, step: TimeStep, ended: Array, going: Array, t: int) -> None:
        acting = step.acting & going
        if not self.may_return:
            self._add(
                "dead-acts", acting & ended, t, "acting", None, "acts in the time step in which it ended"
            )
            risen = acting & (self.status == _ENDED)
            self._add("dead-acts", risen, t, "acting", None, "acts again after its life ended")
        alive = self._alive()
        if alive is not None:
            self._add("dead-acts", acting & ~alive, t, "acting", None, "acts though it is not alive")

    def _alive(self) -> Array | None:
        hook: Callable[[World], Array] | None = self.bench.alive
        if hook is not None:
            return np.asarray(hook(self.world), bool)
        alive = np.asarray(self.world.metrics.get("alive", 0))
        return alive.astype(bool) if alive.shape == self.status.shape else None

    def _ends(self, step: TimeStep, ended: Array, going: Array, t: int) -> None:
        now_over = going & step.over
        acting = now_over[:, None] & step.acting
        self._add("over", acting, t, "acting", None, "acts in a world that is over")
        left = now_over[:, None] & (self.status == _LIVING) & ~ended
        self._add("over", left, t, "terminated", None, "the world is over and this life has no end")
        if not self.world.persistent:
            idle = going & ~step.over & ~step.acting.any(axis=1)
            self._add("asks-nobody", idle, t, "acting", None, "the world is not over, but no agent acts")

    def _stands_still(self, step: TimeStep, t: int) -> None:
        names = tuple(self.world.metrics)
        if names != self.metric_names and not (self.world.later_metrics and {*names} >= {*self.metric_names}):
            self.bench.add("metrics", "the names changed", step=t, field="metrics")
        for name in ("reward", "acting", "terminated", "truncated"):
            array = getattr(step, name)
            still = self.over[:, None] & (array != 0)
            self._add("stands-still", still, t, name, array, "in a world that was over already")
        self._add("stands-still", self.over & ~step.over, t, "over", None, "no longer over, without a reset")
        now = copy_fields(self.world, step)
        if self.over.any():
            self._compare_with_final(now, t)
        fresh = step.over & ~self.over
        if fresh.any():
            for name, (array, slots) in now.items():
                kept = self.final[name].array if name in self.final else array.copy()
                kept[fresh] = array[fresh]
                self.final[name] = Field(kept, slots)

    def _compare_with_final(self, now: dict[str, Field], t: int) -> None:
        rows = np.flatnonzero(self.over)
        for law, title in (("stands-still", "observation"), ("metrics", "metrics")):
            then = {name: part for name, part in self.final.items() if name.startswith(title)}
            same = {name: part for name, part in now.items() if name in then}
            at = first_difference(same, then, rows, rows)
            if at is not None:
                seen = "changed after the world was over"
                self.bench.add_difference(law, seen, self.world, at, int(rows[at.row]), t)

    def _add(self, law: str, bad: Array, t: int, field: str, array: Array | None, seen: str) -> None:
        """Notes the first True of a (W,) or (W, A) mask."""
        if not bad.any():
            return
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        agent = self.world.agents[at[1]] if len(at) > 1 else None
        value = array[at].item() if array is not None else None
        self.bench.add(law, seen, world=at[0], agent=agent, step=t, field=field, value=value)
