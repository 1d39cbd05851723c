"""A world of agents that observe and act through interfaces, for training with them (specification interfaces 2 to 5).

Each (world, slot) of a group is a row of its interface's batch; a team of one slot is one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.hashing import hash_rows, mix64
from interplay.core.outer_world import OuterWorld
from interplay.core.ranges import REAL, check_state, fit_snapshot
from interplay.core.world import Array, Kind, TimeStep, World
from interplay.interfaces.groups import Group, make_groups
from interplay.interfaces.interface import Interface
from interplay.interfaces.legal import map_mask, settled
from interplay.interfaces.names import from_settings
from interplay.interfaces.naming import (
    from_mapping,
    mask_as_mapping,
    mask_from_mapping,
    named_space,
)
from interplay.interfaces.nests import Layout, flat, map_nest
from interplay.interfaces.wrappers.teams import REWARDS

OURS = "interfaces/"  # what names in snapshots begin with


class InterfacedWorld(OuterWorld):
    """Another world, with the slots of each group behind an interface. A group is a kind of its own.

    An interface's output that is no mapping of arrays becomes one (`naming`). Illegal choices are played and remembered as the first
    legal one of their head, or as the first illegal one if the world ignores them. Each life begins with an empty memory: at the start of an
    episode, and in worlds that respawn when a slot gets a new agent.

    Args:
        world: its next `reset` is the first of this one.
        interfaces: name of a group -> input of `from_settings`, a stack (a clone of which is bound), or None. Groups are kinds, teams
            (``team0``, ...), agents, or names of `groups`. Slots of no group are unchanged, as kinds of their own.
        groups: user-defined names -> slots.
        teams: whether each team of a group is one slot; its interface gets a tuple of the members. It acts while one of them does and
            lives until the last of them has died.
        reward: of such a team: ``mean``, ``sum`` or ``first`` of its members.

    Example:
        >>> from interplay.registry import make_world
        >>> world = InterfacedWorld(make_world("dilemma/fixed"), {"agent": ["PrevActObs", "ConcatVec"]})
        >>> list(world.observation_space)
        ['observation']
    """

    def __init__(
        self,
        world: World,
        interfaces: Mapping[str, Any],
        groups: Mapping[str, Sequence[int]] | None = None,
        teams: bool = False,
        reward: str = "mean",
    ) -> None:
        if reward not in REWARDS:
            raise UserError(f"{world.id}: reward = {reward!r} of a team; it is one of {', '.join(REWARDS)}")
        stacks = {name: _stack(one) for name, one in interfaces.items()}
        self._inner, self._team_reward = world, reward
        self._groups = make_groups(world, stacks, groups, teams)
        for group in self._groups:
            if group.stack is not None:
                seen, done = group.raw_spaces
                group.stack.setup(seen, done, num_worlds=world.num_worlds * len(group.units), slot=group.name)
        self._layouts = {
            group.name: Layout(self._kind(group, np.zeros(0)).observation_space) for group in self._groups
        }
        # Outer slots are in the order of their first members.
        units = sorted((unit, name) for name, group in enumerate(self._groups) for unit in group.units)
        self._units = [unit for unit, _ in units]
        self._columns = [
            np.array([slot for slot, (_, owner) in enumerate(units) if owner == name])
            for name in range(len(self._groups))
        ]
        self._lone = all(len(unit) == 1 for unit in self._units)
        self._payers = [
            (group.stack, columns)
            for group, columns in zip(self._groups, self._columns, strict=True)
            if group.stack is not None and group.stack.changes_rewards
        ]
        agents = [
            world.agents[unit[0]] if len(unit) == 1 else "+".join(world.agents[s] for s in unit)
            for unit in self._units
        ]
        kinds = [
            self._kind(group, columns) for group, columns in zip(self._groups, self._columns, strict=True)
        ]
        super().__init__(world, agents, kinds, first_world=world.first_world)
        self._seeds = None if world._seeds is None else world._seeds.copy()
        self.teams = self._outer_teams()
        self._living = np.zeros((world.num_worlds, len(world.agents)), bool)
        slots = (world.num_worlds, len(self._units))
        self._others: tuple[Any, Array] | None = None
        self._reward = np.zeros(slots, np.float32)
        self._terminated, self._truncated = np.zeros((2, *slots), bool)

    @property
    def inner(self) -> World:
        """The world that is seen through the interfaces."""
        return self._inner

    def override(self, action: Any, where: Array) -> None:
        """Overrides the actions of some slots in the next step, bypassing the interfaces.

        Args:
            action: of all slots, in the form of the world inside.
            where: (W, A) bool, slots inside with actions that are used.
        """
        self._others = (action, where)

    @property
    def interfaces(self) -> Mapping[str, Interface | None]:
        """The bound stacks, by group; None where a group is handed on."""
        return {group.name: group.stack for group in self._groups}

    @property
    def metrics(self) -> Mapping[str, Array]:
        """The world's metrics; a team has the mean of its members, for bools whether any is True, of `outcome` the mean's sign."""
        found = {name: self._of_units(values) for name, values in self._inner.metrics.items()}
        return found | {name: np.sign(found[name]) for name in ("outcome",) if name in found}

    @property
    def population(self) -> Array:
        """The world's; a team has that of its first member."""
        return (
            self._inner.population
            if self._lone
            else self._inner.population[:, [unit[0] for unit in self._units]]
        )

    def save(self) -> dict[str, Array]:
        """The world's snapshot, and what the interfaces remember."""
        return self._inner.save() | {name: array.copy() for name, array in self._remembered().items()}

    def load(self, snapshot: Mapping[str, Array]) -> TimeStep:
        """Restores what `save` gave, or refuses it and leaves everything as it was."""
        ours = {name: array for name, array in snapshot.items() if name.startswith(OURS)}
        self._check(ours)
        step = self._inner.load({name: array for name, array in snapshot.items() if name not in ours})
        self._recall(ours)
        self._seeds = None
        self._last = self._time_step(step, None)
        return self._last

    def hash(self) -> Array:
        with np.errstate(over="ignore"):
            return mix64(self._inner.hash() + mix64(hash_rows(self._remembered())))

    def _reset(self, which: Array, seeds: Array | None) -> TimeStep:
        step = self._inner.reset(which, seeds)
        self._begin_episodes(step, which, seeds)
        return self._time_step(step, which)

    def _step(self, action: Any) -> TimeStep:
        going = ~self.timestep.over
        step = self._inner.step(self._inward(self.by_kind(action)))
        self._live_on(step)
        return self._time_step(step, going)

    def _begin_episodes(self, step: TimeStep, which: Array, seeds: Array | None) -> None:
        self._living[which] = step.acting[which] | (not self.respawns)  # a slot that waits for its turn lives
        for array in (self._reward, self._terminated, self._truncated):
            array[which] = 0
        for group in self._groups:
            if group.stack is not None:
                rows = np.repeat(which, len(group.units))
                group.stack.reset(which=rows, seeds=None if seeds is None else _row_seeds(seeds, group))

    def _live_on(self, step: TimeStep) -> None:
        """Ends lives with their rewards, then begins new ones."""
        before, ended = self._living.copy(), step.terminated | step.truncated
        np.copyto(self._living, (before & ~ended) | step.acting)
        self._end(step, before)
        self._earn(step, before)
        if self.respawns:
            self._begin_lives(step.acting & (~before | ended))

    def _inward(self, by_kind: Mapping[str, Any]) -> Any:
        """All slots' actions in the form of the world inside."""
        acting = self.timestep.acting
        inside: dict[str, Any] = {}
        legal = self.by_kind(self.timestep.action_mask)
        for group, columns in zip(self._groups, self._columns, strict=True):
            given, stack = by_kind[group.name], group.stack
            if stack is None:
                raw = map_nest(_as_rows, named_space(group.raw_spaces[1]), given)
            else:
                outer = named_space(stack.action_space)
                rows = map_nest(
                    _as_rows, outer, settled(outer, given, legal[group.name], self.ignores_illegal)
                )
                nest = from_mapping(stack.action_space, rows)
                # `World.step` has held it against the space already.
                own = stack._acted(flat(stack.action_space, nest), acting[:, columns].reshape(-1))
                raw = stack._layouts[3].nest(own)
            for seat, part in group.each(raw):
                inside[seat.kind] = _placed(inside.get(seat.kind), part, seat, self.num_worlds)
        whole = inside if len(self._inner.kinds) > 1 else next(iter(inside.values()))
        others, self._others = self._others, None
        return whole if others is None else _overridden(self._inner, whole, *others)

    def _end(self, step: TimeStep, before: Array) -> None:
        """Lives end; a team's does with the last of its members'."""
        if self._lone:  # slots outside are those inside
            np.copyto(self._terminated, step.terminated)
            np.copyto(self._truncated, step.truncated)
            return
        cut = step.truncated
        for k, unit in enumerate(self._units):
            at = list(unit)
            over = before[:, at].any(axis=1) & (step.over | ~self._living[:, at].any(axis=1))
            limited = cut[:, at].any(axis=1)
            self._terminated[:, k], self._truncated[:, k] = over & ~limited, over & limited

    def _earn(self, step: TimeStep, before: Array) -> None:
        """Rewards of the living go through the interfaces that change them."""
        self._reward = self._of_members(step.reward).astype(np.float32)
        for stack, columns in self._payers:
            raw = self._reward[:, columns]
            paid = np.asarray(stack.rew_trans(raw.reshape(-1)))
            if paid.shape != (raw.size,):
                raise UserError(f"{stack!r}: rewards of shape {paid.shape}; a world pays numbers")
            alive = self._any(before)[:, columns]
            self._reward[:, columns] = np.where(alive, paid.reshape(raw.shape), raw)

    def _begin_lives(self, born: Array) -> None:
        for group in self._groups:
            rows = born[:, [unit[0] for unit in group.units]].reshape(-1)
            if group.stack is not None and rows.any():
                group.stack.reset(which=rows)

    def _time_step(self, step: TimeStep, moved: Array | None) -> TimeStep:
        """The time step outside; worlds in `moved` made a step, None only looks."""
        seen, legal = self._inner.by_kind(step.observation), self._inner.by_kind(step.action_mask)
        observation: Any = {}
        masks: Any = {}
        for group in self._groups:
            raw = group.seen(seen)
            if group.stack is None:
                observation[group.name] = self._by_world(self._layouts[group.name].flat(raw), group)
                masks[group.name] = _picked(legal[group.seats[0].kind], group.seats[0].columns)
                continue
            shown = self._shown(group, group.stack, raw, moved)
            observation[group.name] = self._by_world(shown, group, writeable=False)
            masks[group.name] = self._masks(group, group.stack, legal)
        if len(self._groups) == 1:
            (name,) = observation
            observation, masks = observation[name], masks[name]
        elif not any(mask is not None for mask in masks.values()):
            masks = None
        acting = self._any(step.acting)
        return TimeStep(
            observation, self._reward, acting, self._terminated, self._truncated, step.over, masks
        )

    def _shown(self, group: Group, stack: Interface, raw: Any, moved: Array | None) -> list[Array]:
        """The leaves of a group's output, as rows; views, valid until the world's next call."""
        given = stack._take_in("observation", stack._layouts[0], raw)
        return stack._observed(given, None if moved is None else np.repeat(moved, len(group.units)))

    def _masks(self, group: Group, stack: Interface, legal: Mapping[str, Any]) -> Any:
        if not (stack.masks_actions or any(legal[seat.kind] for seat in group.seats)):
            return None
        parts = [
            map_mask(
                lambda _, rows, at=seat.columns: rows[:, at].reshape(-1, rows.shape[-1]),  # type: ignore[misc]
                seat.action_space,
                mask_from_mapping(seat.action_space, legal[seat.kind]),
            )
            for seat in group.seats
        ]
        whole: Any = tuple(parts) if group.joint else parts[0]
        if all(part is None for part in parts):
            if not stack.masks_actions:
                return None
            whole = None
        named = mask_as_mapping(stack.action_space, stack.mask_trans(whole))
        shape = (self.num_worlds, len(group.units), -1)
        return None if named is None else {key: rows.reshape(shape) for key, rows in named.items()}

    def _by_world(self, leaves: list[Array], group: Group, writeable: bool = True) -> Any:
        """Rows as (W, slots, ...), in a mapping; read-only arrays may be an interface's memory."""
        shape = (self.num_worlds, len(group.units))
        arrays = [rows.reshape(*shape, *rows.shape[1:]) for rows in leaves]
        if not writeable:
            for array in arrays:
                array.flags.writeable = False
        return self._layouts[group.name].nest(arrays)

    # -- teams that are one slot --------------------------------------------------------------------

    def _any(self, values: Array) -> Array:
        """(W, A) bools -> (W, slots outside): for a team whether any member is True."""
        if self._lone:
            return values
        return np.stack([values[:, list(unit)].any(axis=1) for unit in self._units], axis=1)

    def _of_members(self, rewards: Array) -> Array:
        """(W, A) rewards -> (W, slots outside)."""
        if self._lone:
            return rewards
        combine = {"mean": np.mean, "sum": np.sum, "first": lambda own, axis: own[:, 0]}[self._team_reward]
        return np.stack([combine(rewards[:, list(unit)], axis=1) for unit in self._units], axis=1)  # type: ignore[operator]

    def _of_units(self, values: Any) -> Array:
        array = np.asarray(values)
        if array.ndim != 2 or self._lone:
            return array
        if array.dtype == bool:
            return self._any(array)
        return np.stack([_mean_without_nan(array[:, list(unit)]) for unit in self._units], axis=1)

    def _outer_teams(self) -> tuple[tuple[int, ...], ...] | None:
        inside = self._inner.teams
        if inside is None or self._lone:
            return inside
        return tuple(tuple(k for k, unit in enumerate(self._units) if unit[0] in team) for team in inside)

    # -- what is remembered -------------------------------------------------------------------------

    def _own(self) -> dict[str, Array]:
        return {
            "living": self._living,
            "reward": self._reward,
            "terminated": self._terminated,
            "truncated": self._truncated,
        }

    def _remembered(self) -> dict[str, Array]:
        """Everything beside the world's own, by name; the world axis first."""
        found = {OURS + name: array for name, array in self._own().items()}
        for group in self._groups:
            if group.stack is not None:
                for name, array in group.stack._arrays().items():
                    found[f"{OURS}{group.name}/{name}"] = array.reshape(
                        self.num_worlds, len(group.units), *array.shape[1:]
                    )
        return found

    def _check(self, ours: Mapping[str, Array]) -> None:
        """Refuses what `_recall` cannot take; changes nothing."""
        fit_snapshot(self.id, ours, self._remembered())
        check_state(self.id, {name: ours[OURS + name] for name in self._own()}, {"reward": REAL})
        for group in self._groups:
            if group.stack is not None:
                group.stack.check(_memory_of(group, ours))

    def _recall(self, ours: Mapping[str, Array]) -> None:
        for group in self._groups:
            if group.stack is not None:
                group.stack.load(_memory_of(group, ours))
        for name, array in self._own().items():
            array[...] = ours[OURS + name]

    def _kind(self, group: Group, columns: Array) -> Kind:
        seen, done = group.raw_spaces
        if group.stack is not None:
            seen = named_space(group.stack.observation_space, "observation")
            done = named_space(group.stack.action_space)
        return Kind(group.name, tuple(columns.tolist()), seen, done)  # type: ignore[arg-type]


def _stack(one: Any) -> Interface | None:
    return one.clone() if isinstance(one, Interface) else from_settings(one)


def _memory_of(group: Group, ours: Mapping[str, Array]) -> dict[str, Array]:
    """A group's part of a snapshot in its interface's form: one row for each (world, slot)."""
    start = f"{OURS}{group.name}/"
    rows = {name: np.asarray(array) for name, array in ours.items() if name.startswith(start)}
    return {name[len(start) :]: array.reshape(-1, *array.shape[2:]) for name, array in rows.items()}


def _row_seeds(seeds: Array, group: Group) -> Array:
    """A seed for each row: of its world's and its first slot's."""
    first = np.array([unit[0] for unit in group.units], np.uint64)
    with np.errstate(over="ignore"):
        return mix64(seeds[:, None] + mix64(first + np.uint64(1))[None]).reshape(-1)


def _picked(legal: Mapping[str, Array] | None, columns: Any) -> dict[str, Array] | None:
    return {key: rows[:, columns] for key, rows in legal.items()} if legal else None


def _overridden(world: World, action: Any, others: Any, where: Array) -> Any:
    """An action with some slots, (W, A) bool, replaced."""
    if len(world.kinds) > 1:
        return {
            kind.name: _chosen(action[kind.name], others[kind.name], where[:, list(kind.slots)])
            for kind in world.kinds
        }
    return _chosen(action, others, where)


def _chosen(ours: Any, theirs: Any, where: Array) -> Any:
    if isinstance(ours, Mapping):
        return {key: _chosen(value, theirs[key], where) for key, value in ours.items()}
    return np.where(where.reshape(*where.shape, *[1] * (np.ndim(ours) - 2)), theirs, ours)


def _as_rows(_: Any, array: Array) -> Array:
    return array.reshape(-1, *array.shape[2:])


def _placed(whole: Any, part: Any, seat: Any, worlds: int) -> Any:
    """Rows of actions in their columns of arrays of the whole kind."""
    if isinstance(part, dict):
        return {key: _placed(whole and whole[key], value, seat, worlds) for key, value in part.items()}
    shape = (worlds, -1, *part.shape[1:])
    if isinstance(seat.columns, slice) and len(part) == worlds * seat.size:  # all, in order
        return part.reshape(shape)
    if whole is None:
        whole = np.zeros((worlds, seat.size, *part.shape[1:]), part.dtype)
    whole[:, seat.columns] = part.reshape(shape)
    return whole


def _mean_without_nan(values: Array) -> Array:
    """(W,) means over the members that have a number; NaN where none has."""
    missing = np.isnan(values)
    if not missing.any():
        mean: Array = values.mean(axis=1)
        return mean
    cases = (~missing).sum(axis=1)
    sums = np.where(missing, 0.0, values).sum(axis=1)
    return np.divide(sums, cases, out=np.full(len(values), np.nan), where=cases > 0)
