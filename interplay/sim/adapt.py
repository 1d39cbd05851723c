"""Many copies of a simulation as one `World`, for every trainer, connector, check and viewer.

The acting mask replaces the manager: all-step, one after another, or in the simulation's own order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from interplay.core.controls import Controls
from interplay.core.errors import CannotRestore, UserError
from interplay.core.fog import Visible
from interplay.core.hashing import hash_rows
from interplay.core.ranges import MOST_64, Invariant, Range, check_state, count
from interplay.core.scene import Canvas
from interplay.core.world import TimeStep
from interplay.sim.batch.history import History
from interplay.sim.batch.managed import as_simulation
from interplay.sim.batch.world import EnvironmentBatch, environment_seeds, own_picture
from interplay.sim.managers import SimulationManager

_OUTPUTS = ("over", "acting", "terminated", "truncated", "reward")
_LAWS = (Invariant("stood", "though its world is not over", lambda given: given["stood"] & ~given["over"]),)


class SimulationWorld(EnvironmentBatch):
    """W copies of a simulation, each under its own manager, stepped together.

    Agents that observe and act are the slots, in the simulation's order; those with equal spaces are one kind, named by the common
    part of their names. Observations that are no Dict are called ``"observation"``, nested ones get names with dots. An idle
    agent keeps its last observation. `get_action_mask` becomes the time step's mask for each kind that has one after the
    first reset; a kind's first mask in a later step is refused.

    A snapshot is the episode's seed and its actions: `load` resets with the seed and plays them again. It is exact for every
    simulation that draws from its `rng` alone, takes as long as the episode took, and has the length of the batch's longest episode.

    Metrics: ``episode_length`` (W,) steps of the manager and ``episode_return`` (W, A).

    Args:
        make_manager: ``"module:function"``, or, with ``processes=0``, any function that makes a new simulation under a new manager.
        num_worlds: W.
        seed, first_world: name the worlds' random streams.
        processes: 0 steps all copies in this process; N > 0 in N worker processes. A script that uses them needs the
            usual ``if __name__ == "__main__":``, as workers import it anew.
        threads: accepted, as for every world; copies are plain Python and use none.
        kwargs: passed to `make_manager`.

    Raises:
        UserError: if the function cannot be found or makes no manager, or a space has no array form.

    Example:
        >>> from interplay.sim.managers import TurnBasedManager
        >>> from interplay.worlds.corridor.simulation import MultiCorridor
        >>> world = SimulationWorld(lambda: TurnBasedManager(MultiCorridor(num_agents=2)), num_worlds=2)
        >>> world.reset().acting.tolist()
        [[True, False], [True, False]]
    """

    def __init__(
        self,
        make_manager: str | Callable[..., SimulationManager],
        num_worlds: int = 1,
        seed: int = 0,
        processes: int = 0,
        first_world: int = 0,
        threads: int = 1,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(make_manager, num_worlds, seed, processes, first_world, kwargs, as_simulation)
        environment = self._pool.environment(0)
        sim = None if environment is None else environment.manager.sim
        self._ids = self._pool.layout.agents
        self.action_names, self._controls = getattr(sim, "action_names", None), getattr(sim, "controls", None)
        self._history = History(num_worlds, self._layouts)
        self._stood = np.zeros(num_worlds, bool)  # worlds that are over and have been stepped since

    def save(self) -> dict[str, np.ndarray]:
        """Copies of seeds, actions and the last time step: name -> (W, ...).

        ``kind/action...`` (W, longest episode, A of the kind, ...) holds the actions, zeros after a world's last.
        """
        return self._fixed() | self._history.save(self._lengths)

    def hash(self) -> np.ndarray:
        return hash_rows(self._fixed() | {"actions": self._history.digest(self._lengths)})

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Plays a snapshot's episodes again, up to where it was saved.

        Raises:
            UserError: if the snapshot does not fit, or the simulation refuses an action of it.
            CannotRestore: if an episode comes out otherwise than it was saved.
            After both the batch is as it was: its own episodes are played again. Where that fails too (worker processes that have
            ended, chance that does not come from `rng`), it needs a `reset`.
        """
        saved = {name: np.asarray(array) for name, array in snapshot.items()}
        self._check(saved)
        mine, seeds = None if self._last is None else self.save(), self._seeds
        self._last = None
        try:
            self._replay(saved)
        except UserError:
            self._seeds = seeds
            self._go_back(mine)
            raise
        self._seeds, self._last = None, self._step_of_buffers
        return self._last

    def controls(self, slot: int) -> Controls | None:
        """The simulation's own `controls`, if it has some and is in this process."""
        return self._controls

    @property
    def takes_clicks(self) -> bool:
        """Whether the simulation has a ``click(agent_id, x, y)``."""
        return self._asked(0, "click") is not None

    def click(self, world: int, slot: int, x: float, y: float) -> Mapping[str, str] | None:
        """The simulation's own ``click(agent_id, x, y)``, if it has one and is in this process."""
        click = self._asked(world, "click")
        return None if click is None else cast("Mapping[str, str] | None", click(self._ids[slot], x, y))

    def visible(self, world: int, slot: int) -> Visible | None:
        """The simulation's own ``visible(agent_id)``, if it has one and is in this process."""
        visible = self._asked(world, "visible")
        return None if visible is None else cast("Visible | None", visible(self._ids[slot]))

    def _asked(self, world: int, method: str) -> Callable[..., Any] | None:
        """A method of a simulation for human players; None under a wrapper without it."""
        environment = self._pool.environment(world)
        found = None if environment is None else getattr(environment.manager.sim, method, None)
        return found if callable(found) else None

    def draw(self, canvas: Canvas, world: int) -> None:
        """The simulation's own ``draw(canvas)``, in this process; else a table of its agents.

        An environment inside the simulation (`env`, made with ``render_mode="rgb_array"``) draws itself beside the table.
        """
        environment = self._pool.environment(world)
        sim = None if environment is None else environment.manager.sim.unwrapped
        if callable(draw := getattr(sim, "draw", None)):
            draw(canvas)
            return
        super().draw(canvas, world)
        if (picture := own_picture(getattr(sim, "env", None))) is not None:
            canvas.picture(picture)

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        self._stood[which] = False
        return super()._reset(which, seeds)

    def _advance(self) -> None:
        self._history.add(self._buffers, self._lengths)
        self._stood[:] = self._buffers["over"]
        super()._advance()

    def _fixed(self) -> dict[str, np.ndarray]:
        """Copies of what has the same shape in every snapshot."""
        state = {
            "stream": self._stream,
            "stood": self._stood,
            "episode_length": self._lengths,
            "episode_return": self._returns,
        }
        return {name: array.copy() for name, array in (state | self._outputs()).items()}

    def _outputs(self) -> dict[str, np.ndarray]:
        """The buffers of the last time step."""
        names = [*_OUTPUTS]
        for kind in self._layouts:
            names += [kind.key("observation", leaf) for leaf in kind.observation]
            names += [kind.key("mask", leaf) for leaf in kind.masks]
        return {name: self._buffers[name] for name in names}

    def _check(self, saved: Mapping[str, np.ndarray]) -> None:
        mine = self._fixed()
        needed = mine.keys() | set(self._history.names)
        if saved.keys() != needed:
            odd = ", ".join(sorted(saved.keys() ^ needed))
            raise UserError(
                f"{self.id}: snapshot of another world or version (fields {odd} do not match); save it anew"
            )
        for name, array in mine.items():
            given = saved[name]
            if given.shape != array.shape or given.dtype != array.dtype:
                raise UserError(
                    f"{self.id}: snapshot field {name} is {given.dtype}{given.shape}, this batch needs {array.dtype}"
                    f"{array.shape}; load it into a simulation with the same options and num_worlds"
                )
        check_state(self.id, {name: saved[name] for name in mine}, self._ranges(), _LAWS)
        self._history.check(self.id, saved, saved["episode_length"])

    def _limit(self) -> int:
        """Steps after which an episode is cut; 0: no limit, or in another process."""
        managed = self._pool.environment(0)
        return 0 if managed is None else managed.manager.time_limit or 0

    def _ranges(self) -> dict[str, Range]:
        """Ranges of values that the replay does not compare."""
        return {"episode_length": count(self._limit() or MOST_64)}

    def _go_back(self, mine: Mapping[str, np.ndarray] | None) -> None:
        """Plays the own episodes again, after a snapshot was refused half-way."""
        if mine is None:
            return
        with contextlib.suppress(UserError, RuntimeError):
            self._replay(mine)
            self._last = self._step_of_buffers

    def _replay(self, saved: Mapping[str, np.ndarray]) -> None:
        lengths, which = saved["episode_length"], self._buffers["which"]
        longest = int(lengths.max())
        self._stream[:], self._lengths[:], self._stood[:] = saved["stream"], lengths, saved["stood"]
        self._history.load(saved, longest)
        which[:] = True
        self._buffers["seed"][:] = environment_seeds(self._stream)
        self._returns[:] = 0.0
        self._pool.reset()
        for t in range(longest):
            which[:] = t < lengths
            self._refuse_further(which, t)
            self._history.show(self._buffers, t)
            self._pool.step()
            self._returns += np.where(which[:, None], self._buffers["reward"], 0.0)
        if self._stood.any():
            which[:] = self._stood
            self._pool.step()
        self._compare(saved)

    def _refuse_further(self, which: np.ndarray, t: int) -> None:
        """Refuses a history that goes on after its episode's end, before playing the rest."""
        late = np.flatnonzero(self._buffers["over"] & which)
        if late.size:
            raise CannotRestore(
                f"{self.id}: world {late[0]} cannot be restored: played again it is over after {t} steps, and the snapshot goes on; "
                "it is damaged or not of this simulation, use another"
            )

    def _compare(self, saved: Mapping[str, np.ndarray]) -> None:
        for name, array in (self._outputs() | {"episode_return": self._returns}).items():
            one, two = (
                np.ascontiguousarray(a).reshape(self.num_worlds, -1).view(np.uint8)
                for a in (array, saved[name])
            )
            odd = np.flatnonzero((one != two).any(axis=1))
            if odd.size:
                raise CannotRestore(
                    f"{self.id}: world {odd[0]} cannot be restored: played again from its seed, {name} comes out otherwise, so the "
                    "simulation's randomness does not come from self.rng; draw from self.rng alone and set everything in reset"
                )
