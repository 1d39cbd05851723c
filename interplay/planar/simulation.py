"""Simulation, Group and Module (appendix A of the paper) over a batch of worlds.

A `Simulation` holds an ordered list of groups; a `Group` is bodies that share one set of modules; a `Module` adds
a mechanic through five callbacks. A callback serves the whole batch at once: it gets masks over worlds and bodies.

Callbacks of built-in modules are compiled phases; adjacent phases are fused, so that one compiled call runs them world by world. A
user-defined module is a plain Python class, which splits the fused call at its place in the list. Both run the same phases, so they agree
bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from interplay.core.chunks import Chunks
from interplay.core.errors import UserError
from interplay.core.guides import Guides
from interplay.core.ranges import Range

Plan = list["np.ndarray | Callable[[], None]"]


class Module:
    """One mechanic of a group: zero or more of five callbacks.

    Subclasses override what they need. A module may serve two groups; it spawns and despawns only through groups.

    Attributes:
        group: the group that the module serves; during a callback, the group it runs for.
        phases: callback -> numbers of its compiled phases, for built-in modules.
        despawns: callback -> names of the groups from which that callback's phases may take bodies ("" = own).
        spawns: callback -> names of the groups to which they may add bodies.
    """

    phases: ClassVar[Mapping[str, tuple[int, ...]]] = {}
    despawns: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    spawns: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    group: Group

    @property
    def simulation(self) -> Simulation:
        return self.group.simulation

    def post_reset(self, which: np.ndarray) -> None:
        """After the worlds in the mask `which` (W,) were reset."""

    def pre_step(self) -> None:
        """Before the physics of a step; `self.simulation.active` (W,) marks the worlds that step."""

    def post_step(self) -> None:
        """After the physics of a step."""

    def post_spawn(self, bodies: np.ndarray) -> None:
        """Bodies of the group, a mask (W, n), have been spawned; other modules have not been notified yet."""

    def pre_despawn(self, bodies: np.ndarray) -> None:
        """Bodies of the group, a mask (W, n), leave; their rows still hold their last values."""

    def arrays(self) -> Mapping[str, np.ndarray]:
        """The module's own state: name -> array with the world axis first; saved, loaded and hashed with the world."""
        return {}

    def ranges(self) -> Mapping[str, Range]:
        """Allowed values of `arrays`: name -> range (`interplay.core.ranges`); bools need none."""
        return {}

    def fields(self) -> Mapping[str, tuple[int, ...]]:
        """Observations of this mechanic: name -> shape of one agent's field. A mask is named ``<name>_mask``."""
        return {}

    def observe(self, out: Mapping[str, np.ndarray]) -> None:
        """Fills the module's fields: name -> (W, A, *shape) float32, after every reset and step."""

    def guides(self, agent: int) -> Guides:
        """Labels of the module's fields of one agent (`interplay.core.guides`)."""
        return {}

    def draw(self, canvas: Any, world: int) -> None:
        """Draws the mechanic into the scene of one world."""


class Group:
    """Bodies that share one set of modules.

    Args:
        name: unique within the simulation.
        count: n, number of body rows.
        modules: in the order in which their callbacks run.
        solid: whether the bodies have contacts; sensors are only seen and picked up.

    Attributes:
        first, end: the group's rows in the simulation's body table.
    """

    def __init__(self, name: str, count: int, modules: Sequence[Module], solid: bool = False) -> None:
        self.name, self.count, self.solid = name, count, solid
        self.modules: list[Module] = []
        self.first = self.end = 0
        self.simulation: Simulation
        for module in modules:
            self.add(module)

    def add(self, module: Module) -> None:
        """Appends a module: its callbacks run after those of the others."""
        self.modules.append(module)
        module.group = self

    @property
    def present(self) -> np.ndarray:
        """(W, n) bool, bodies in the room: a view."""
        return self.simulation.state.bodies.present[:, self.first : self.end]

    def get_module(self, kind: type[Module]) -> Module:
        """The group's first module of a class."""
        for module in self.modules:
            if isinstance(module, kind):
                return module
        raise UserError(f"group {self.name} has no {kind.__name__}; add one to its modules")

    def spawn(self, bodies: np.ndarray, position: np.ndarray, angle: float = 0.0) -> None:
        """Places bodies, at rest.

        Args:
            bodies: (W, n) bool.
            position: (W, n, 2) metres; rows outside the mask are ignored.
            angle: radians.
        """
        table, rows = self.simulation.state.bodies, slice(self.first, self.end)
        worlds, index = np.nonzero(bodies)
        row = index + self.first
        table.present[:, rows] |= bodies
        table.position[worlds, row] = position[worlds, index]
        table.velocity[worlds, row] = 0.0
        table.spin[worlds, row] = 0.0
        table.angle[worlds, row] = angle
        table.turn[worlds, row] = np.cos(angle), np.sin(angle)
        self.simulation.notify(self, "post_spawn", bodies)

    def despawn(self, bodies: np.ndarray) -> None:
        """Takes bodies, a mask (W, n), out of the room; the modules' `pre_despawn` runs first."""
        self.simulation.notify(self, "pre_despawn", bodies)
        self.present[...] &= ~bodies


class Simulation:
    """Wraps the physics of W worlds and holds the groups; its two operations are `reset` and `step`.

    Args:
        state: a NamedTuple of arrays with the fields that the phases read, `bodies`, `came` and `left` among them.
        rules: the NamedTuple of numbers that the phases read.
        scratch: work space with a leading thread axis.
        table: the same rules as kernels read them.
        run: the compiled kernel ``run(state, table, scratch, plan, active, thread, first_world, end_world)``.
        groups: in callback order; their rows must have been set.
        frame: phases around the modules' callbacks: begin_reset, end_reset, begin_step, physics, end_step.
        names: number -> name of the phases, for `describe`.
        threads: chunks of worlds run in parallel; results do not depend on it.
        fused: False runs every phase over the whole batch by itself, as the paper's framework does.
    """

    def __init__(
        self,
        state: Any,
        rules: Any,
        table: Any,
        scratch: Any,
        run: Callable[..., None],
        groups: Sequence[Group],
        frame: Mapping[str, Sequence[int]],
        names: Mapping[int, str],
        threads: int = 1,
        fused: bool = True,
    ) -> None:
        self.state, self.rules, self.scratch, self._run = state, rules, scratch, run
        self._table, self._names = table, names
        self.groups = tuple(groups)
        self.num_worlds = len(state.bodies.present)
        self.active = np.zeros(self.num_worlds, bool)
        self._fused = fused
        self._chunks = Chunks(self.num_worlds, threads)
        for group in self.groups:
            group.simulation = self
        self._reset_plan = self._merge(
            [*_alone(frame["begin_reset"]), *self.compose("post_reset"), *_alone(frame["end_reset"])]
        )
        middle = [*self.compose("pre_step"), *_alone(frame["physics"]), *self.compose("post_step")]
        self._step_plan = self._merge([*_alone(frame["begin_step"]), *middle, *_alone(frame["end_step"])])

    def describe(self) -> str:
        """The phases of a reset and a step, one per line, with the group of each; a user's callback is ``Class.callback``."""
        rows = {(group.first, group.end): group.name for group in self.groups}
        lines = []
        for title, plan in (("reset", self._reset_plan), ("step", self._step_plan)):
            lines.append(title)
            for step in plan:
                if callable(step):
                    lines.append(f"  {step.__name__}")
                else:
                    lines += [
                        f"  {self._names[n]} {rows.get((first, end), '')}".rstrip() for n, first, end in step
                    ]
        return "\n".join(lines)

    def close(self) -> None:
        """Ends the threads."""
        self._chunks.close()

    def group(self, name: str) -> Group:
        """The group of a name."""
        found = self._find(name)
        if found is None:
            raise UserError(f"no group {name!r}; there are {', '.join(g.name for g in self.groups)}")
        return found

    def reset(self, which: np.ndarray) -> None:
        """Resets the worlds in the mask `which` (W,); their streams must be at the episode's start."""
        self.active = which
        self._carry_out(self._reset_plan)

    def step(self, active: np.ndarray) -> None:
        """One environment step of the worlds in the mask `active` (W,)."""
        self.active = active
        self._carry_out(self._step_plan)

    def run(self, numbers: Sequence[int], group: Group | None = None) -> None:
        """Runs phases by themselves in all worlds, for views after the state was written from outside.

        Args:
            numbers: of the phases.
            group: of the phases; None: no group.
        """
        self.active = np.ones(self.num_worlds, bool)
        rows = (0, 0) if group is None else (group.first, group.end)
        self._carry_out(self._merge([np.array([[number, *rows]]) for number in numbers]))

    def compose(self, callback: str) -> Plan:
        """The callback of every module, group by group, as phases and Python calls in the order they run."""
        plan: Plan = []
        for group in self.groups:
            for module in group.modules:
                plan += self._of_module(module, group, callback)
        return plan

    def notify(self, group: Group, callback: str, bodies: np.ndarray) -> None:
        """Notifies the modules of a group of bodies added or removed through `Group.spawn` or `Group.despawn`."""
        flags = self.state.body["came" if callback == "post_spawn" else "left"]
        flags[:, group.first : group.end] = bodies
        for module in group.modules:
            for step in self._merge(self._of_module(module, group, callback, listener=True)):
                self._carry_out([step])

    # -- plans ------------------------------------------------------------------------------------

    def _of_module(self, module: Module, group: Group, callback: str, listener: bool = False) -> Plan:
        plan: Plan = []
        compiled = _compiled(type(module), callback)
        if compiled is None:
            plan.append(self._call(module, group, callback))
        plan += [np.array([[number, group.first, group.end]]) for number in compiled or ()]
        if not listener:
            plan = self._with_listeners(module, group, callback, plan)
        return plan

    def _with_listeners(self, module: Module, group: Group, callback: str, plan: Plan) -> Plan:
        """Adds the callbacks of modules with bodies that this callback's phases may spawn or despawn."""
        before: Plan = []
        after: Plan = []
        for targets, event, flags in (
            (module.despawns, "pre_despawn", self.state.body["left"]),
            (module.spawns, "post_spawn", self.state.body["came"]),
        ):
            for name in targets.get(callback, ()):
                target = group if not name else self._find(name)
                if target is None:
                    continue
                calls: Plan = []
                for listening in target.modules:
                    calls += self._of_module(listening, target, event, listener=True)
                if any(callable(call) for call in calls):
                    # A Python listener reads the flags, so only these phases may have set them.
                    before.append(_clearer(flags, target))
                after += calls
        return [*before, *plan, *after]

    def _find(self, name: str) -> Group | None:
        return next((group for group in self.groups if group.name == name), None)

    def _call(self, module: Module, group: Group, callback: str) -> Callable[[], None]:
        method = getattr(module, callback)

        def call() -> None:
            module.group = group  # a module may serve two groups
            method(*((self.active,) if callback == "post_reset" else ()))

        call.__name__ = name = f"{type(module).__name__}.{callback} {group.name}"
        if callback in ("post_reset", "pre_step", "post_step"):
            return call
        flags = self.state.body["came" if callback == "post_spawn" else "left"]

        def notify() -> None:
            bodies = flags[:, group.first : group.end] & self.active[:, None]
            if bodies.any():
                module.group = group
                method(bodies)

        notify.__name__ = name
        return notify

    def _merge(self, plan: Plan) -> Plan:
        """Joins adjacent phases, so that one compiled call runs them world by world."""
        if not self._fused:
            return plan
        merged: Plan = []
        for step in plan:
            if merged and isinstance(step, np.ndarray) and isinstance(merged[-1], np.ndarray):
                merged[-1] = np.concatenate([merged[-1], step])
            else:
                merged.append(step)
        return merged

    def _carry_out(self, plan: Plan) -> None:
        for step in plan:
            if isinstance(step, np.ndarray):
                self._run_phases(step)
            else:
                step()

    def _run_phases(self, phases: np.ndarray) -> None:
        self._chunks.run(
            lambda thread, lo, hi: self._run(
                self.state, self._table, self.scratch, phases, self.active, thread, lo, hi
            )
        )


def _compiled(kind: type[Module], callback: str) -> tuple[int, ...] | None:
    """The phases of a callback, or None if Python carries it out; the most derived class decides."""
    for parent in kind.__mro__:
        if parent is Module:
            break
        if callback in parent.__dict__.get("phases", ()):
            return parent.__dict__["phases"][callback]
        if callback in parent.__dict__:
            return None
    return ()


def _alone(numbers: Sequence[int]) -> Plan:
    """Phases that belong to no group."""
    return [np.array([[number, 0, 0]]) for number in numbers]


def _clearer(flags: np.ndarray, group: Group) -> Callable[[], None]:
    def clear() -> None:
        flags[:, group.first : group.end] = False

    clear.__name__ = f"clear flags {group.name}"
    return clear


def lay_out(groups: Sequence[Group], order: Sequence[str]) -> int:
    """Assigns rows of the body table to each group, solid groups first.

    Args:
        order: names in the order of the table; other groups follow in their own order.

    Returns:
        N, the number of rows.
    """
    named = {group.name: group for group in groups}
    if len(named) != len(groups):
        raise UserError(f"groups {[g.name for g in groups]}: names must be unique; rename one")
    rest = [group for group in groups if group.name not in order]
    row = 0
    for group in [*(named[name] for name in order if name in named), *rest]:
        group.first, group.end = row, row + group.count
        row += group.count
    return row
