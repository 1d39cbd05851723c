"""Interfaces: pairs of maps with memory, observations outward to a model and actions inward to an environment.

Interfaces are stacked, ``B(A())``: A is nearer the environment. The public methods walk the stack. A subclass writes its own
step only, always for a batch of rows; the walk handles single matches, rows that do not step, and copies of shared memory
(specification interfaces 2).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.ranges import ANYTHING, Range, check_state, fit_snapshot
from interplay.interfaces.arguments import brief, cloned, named, parameters
from interplay.interfaces.context import Context
from interplay.interfaces.legal import all_legal, fit_mask, map_mask
from interplay.interfaces.nests import (
    Array,
    Layout,
    Nest,
    check_inside,
    check_space,
    first_row,
    memory_of,
    owned,
    read_only,
)


class Interface:
    """The identity; subclasses write what they change.

    A subclass has a constructor with `inner` as first argument. It writes `_spaces`, and those of `_observe`, `_act`, `_mask` and
    `_reward` that are not the identity; these must not change memory. Memory is arrays that `keep` makes, written in
    `_begin`, `_note_observation` and `_note_action`, which run once for each step or decision.

    Args:
        inner: the stack below, nearer the environment; None at the inner end.

    Attributes:
        inner: the same.
        ctx: the state that the stack shares, after `setup`.
        heeds_moving: True if the hooks that write memory write rows of ``ctx.moving`` only; otherwise the other rows are restored.
        provides, needs: names in ``ctx.memory`` that this class fills, and that an interface below it has to fill.
        restricts: True if its `_mask` forbids further actions, so that it also runs if everything is legal.

    Example:
        >>> class Plus(Interface):
        ...     def _observe(self, obs):
        ...         return obs + 1
        >>> stack = Plus(Plus()).setup(spaces.Box(0, 9, ()), spaces.Discrete(2))
        >>> stack.reset(np.float32(0))
        >>> stack.obs_trans(np.float32(0))
        array(2., dtype=float32)
    """

    heeds_moving: bool = False
    restricts: bool = False
    provides: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    ctx: Context
    _arguments: Mapping[str, Any] | None
    _outer_spaces: tuple[spaces.Space, spaces.Space]
    _layouts: tuple[Layout, Layout, Layout, Layout]  # raw and outer observation, outer and raw action
    _remembered: set[int]  # the memory of all that is kept
    _title: str
    _is_single: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made._arguments = named(cls, args, kwargs)
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "_remembered" in state:  # a copy keeps its own memory
            self._remembered = {memory_of(array) for array in self._arrays().values()}

    def __init__(self, inner: Interface | None = None) -> None:
        if inner is not None and not isinstance(inner, Interface):
            raise UserError(
                f"{type(self).__name__}: {inner!r} is no interface; stack it on an interface or None"
            )
        self.inner = inner
        self._is_bound = False
        self._kept_arrays: dict[str, Array] = {}
        self._allowed: dict[str, tuple[Range, Any]] = {}

    # -- what callers use -------------------------------------------------------------------------

    def setup(
        self,
        obs_space: spaces.Space,
        act_space: spaces.Space,
        num_worlds: int | None = None,
        slot: int | str = 0,
        seed: int | Array = 0,
    ) -> Any:
        """Binds the stack to raw spaces, once, before anything else.

        Args:
            obs_space: of the environment's observations, for ONE slot; never changed.
            act_space: of its actions.
            num_worlds: B, rows of a batch; None for one match: values have no leading axis.
            slot: of the stack; each slot has other random numbers.
            seed: of the random streams, or (B,) uint64 seeds of the rows.

        Returns:
            The stack itself.
        """
        rows = 1 if num_worlds is None else int(num_worlds)
        self._is_single = num_worlds is None
        seeds = seeding.world_seeds(seed, rows) if isinstance(seed, int | np.integer) else seed
        self._bind(
            copy.deepcopy(obs_space), copy.deepcopy(act_space), rows, slot, self._row_seeds(rows, seeds)
        )
        self._remembered = {memory_of(array) for array in self._arrays().values()}
        self._title = repr(self)
        outside = (Layout(self.observation_space), Layout(self.action_space))
        self._layouts = (Layout(self.ctx.raw_observation_space), *outside, Layout(self.ctx.raw_action_space))
        return self

    def reset(
        self,
        obs: Nest = None,
        info: Any = None,
        which: Array | None = None,
        seeds: Array | None = None,
    ) -> None:
        """Clears what was remembered; the next `obs_trans` shows the first observation of an episode.

        Args:
            obs: what that will be; it is looked at then.
            which: (B,) bool, rows that begin; None is all.
            seeds: (B,) uint64, new random streams; None goes on with the next episode's.
        """
        ctx = self._context()
        mask = self._row_mask(which)
        self._clear_stack(mask, info, None if seeds is None else self._row_seeds(ctx.rows, seeds))

    def obs_trans(self, obs: Nest, which: Array | None = None) -> Nest:
        """Maps one environment step's observation from raw to model.

        Args:
            obs: in the raw space, with the axis B first in a batch.
            which: (B,) bool, rows that made a step; the memory of others is unchanged. None is all.

        Returns:
            In `observation_space`, without shared memory; rows that made no step keep their last output.
        """
        return self._shown(obs, self._row_mask(which))

    def look(self, obs: Nest) -> Nest:
        """What `obs_trans` gave for this observation, made again from what is remembered; nothing moves on."""
        return self._shown(obs, None)

    def act_trans(self, action: Nest, decided: Array | bool = True) -> Nest:
        """Maps a decision from model to raw.

        Args:
            action: in `action_space`, with the axis B first in a batch.
            decided: (B,) bool, rows in which it is a decision; a held or ignored action is none and is
                not remembered.

        Returns:
            In the raw action space, without shared memory.

        Raises:
            UserError: before `setup`, or if the action does not fit.
            RuntimeError: before the first observation.
        """
        ctx = self._context()
        mask = self._row_mask(np.full(ctx.rows, decided) if np.ndim(decided) == 0 else decided)
        outer = self._layouts[2]
        given = self._take_in("action", outer, action)
        check_inside(f"{self._title} action", outer, given)
        return self._hand_out(self._layouts[3], self._acted(given, mask), given)

    def _acted(self, given: list[Array], mask: Array) -> list[Array]:
        """The leaves of a raw action; they may share memory with the input or with kept arrays."""
        if not self.ctx.begun:
            raise RuntimeError(f"{self!r}: an action before the first observation; call reset and obs_trans")
        _, _, outer, raw = self._layouts
        return raw.fit(self._title, self._walk_action(outer.nest(given), mask), self.ctx.rows)

    def mask_trans(self, mask: Nest) -> Nest:
        """Maps a mask of legal actions from the raw action space to `action_space`.

        Args:
            mask: a nest of (B, choices) bool in the places of the space's leaves, the heads concatenated; None
                in place of a part in which everything is legal.

        Raises:
            UserError: for a mask of another length, or an interface that changes actions without a `_mask`.
        """
        ctx = self._context()
        rows = None if self._is_single else ctx.rows
        legal = self._walk_mask(fit_mask(f"{self._title} mask", ctx.raw_action_space, mask, rows))
        found = fit_mask(f"{self._title} mask outside", self.action_space, legal, ctx.rows)
        strip = (lambda array: array[0]) if self._is_single else (lambda array: array)
        return map_mask(lambda _, array: strip(array).copy(), self.action_space, found)

    def rew_trans(self, reward: Any) -> Any:
        """Maps a reward from raw to model: (B,) or vectors (B, k); for one match a number or a vector."""
        self._context()
        array = np.asarray(reward)
        found = np.array(self._walk_reward(array[None] if self._is_single else array))
        return (found[0].copy() if found.ndim > 1 else found[0].item()) if self._is_single else found

    def infos(self) -> dict[str, Any]:
        """The stack's entries of infos for the latest observation: name -> (B,), for one match a number."""
        self._context()
        found = {name: array for one in self.chain for name, array in one._infos().items()}
        return {name: array[0].item() if self._is_single else array.copy() for name, array in found.items()}

    @property
    def observation_space(self) -> spaces.Space:
        """What the model observes; known after `setup`."""
        self._context()
        return self._outer_spaces[0]

    @property
    def action_space(self) -> spaces.Space:
        """What the model answers; known after `setup`."""
        self._context()
        return self._outer_spaces[1]

    @property
    def bound(self) -> bool:
        """Whether `setup` was called."""
        return self._is_bound

    @property
    def masks_actions(self) -> bool:
        """Whether one of the stack `restricts` what is legal."""
        return any(one.restricts for one in self.chain)

    @property
    def changes_rewards(self) -> bool:
        """Whether one of the stack writes `_reward`."""
        return any(one._overrides("_reward") for one in self.chain)

    @property
    def chain(self) -> tuple[Interface, ...]:
        """The interfaces of the stack, the innermost first."""
        return (*(self.inner.chain if self.inner is not None else ()), self)

    def clone(self) -> Any:
        """A fresh stack with the same configuration, not bound to anything."""
        return type(self)(**{name: cloned(value) for name, value in self._given().items()})

    def configuration(self) -> dict[str, Any]:
        """All arguments of this interface, defaults too, but for what it is stacked on."""
        given = self._given()
        return {one.name: given.get(one.name, one.default) for one in parameters(type(self))[1:]}

    def save(self) -> dict[str, Array]:
        """Copies what the stack remembers, random streams included: name -> (B, ...)."""
        self._context()
        return {name: array.copy() for name, array in self._arrays().items()}

    def load(self, snapshot: Mapping[str, Array]) -> None:
        """Restores what `save` gave, or refuses it and leaves everything as it was."""
        self.check(snapshot)
        for name, array in self._arrays().items():
            np.copyto(array, snapshot[name])
        self._set_begun()

    def check(self, snapshot: Mapping[str, Array]) -> None:
        """Raises what `load` would; changes nothing."""
        self._context()
        fit_snapshot(repr(self), snapshot, self._arrays())
        check_state(repr(self), snapshot, self._ranges())

    def __repr__(self) -> str:
        return " -> ".join(one._called() for one in self.chain)

    # -- what authors write -----------------------------------------------------------------------

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        """The outer spaces from the inner ones; also the place to call `keep`."""
        return obs_space, act_space

    def _begin(self, which: Array, obs: Nest) -> None:
        """Begins episodes in the (B,) bool rows `which` with this observation; kept arrays are already refilled."""

    def _note_observation(self, obs: Nest) -> None:
        """Remembers what this step shows; once for each environment step."""

    def _observe(self, obs: Nest) -> Nest:
        """What the outside sees of an observation; reads what is remembered and changes nothing."""
        return obs

    def _note_action(self, action: Nest) -> None:
        """Remembers a decision, as it comes from outside; once for each decision."""

    def _act(self, action: Nest) -> Nest:
        """Maps an action inward; must not change memory."""
        return action

    def _mask(self, mask: Nest) -> Nest:
        """The mask of the outer action space; required with `_act`."""
        raise UserError(
            f"{type(self).__name__}: it changes actions without a _mask; write _mask, or play without masks"
        )

    def _reward(self, reward: Array) -> Array:
        """The model's reward, (B,) or (B, k); `ctx.raw` is still the observation before the step."""
        return reward

    def _infos(self) -> Mapping[str, Array]:
        """Entries of infos for ``ctx.raw``, name -> (B,); must not change memory."""
        return {}

    def keep(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        allowed: Range = ANYTHING,
        fill: Any = 0,
    ) -> Array:
        """Makes an array of memory: refilled when an episode begins, saved, loaded, one entry for each row.

        Args:
            allowed: valid values, for `load`.

        Returns:
            ``(B, *shape)``, to be written in place.
        """
        array = np.zeros((self.ctx.rows, *shape), dtype)
        array[...] = fill
        self._kept_arrays[name], self._allowed[name] = array, (allowed, copy.deepcopy(fill))
        return array

    # -- the walk ---------------------------------------------------------------------------------

    def _bind(
        self,
        obs_space: spaces.Space,
        act_space: spaces.Space,
        rows: int,
        slot: int | str,
        seeds: Array,
        parent: Context | None = None,
    ) -> None:
        for one in self.chain:
            if one._is_bound:
                raise UserError(
                    f"{one._called()}: it is bound already, and what it remembers is one slot's; give each slot its own, clone() makes one"
                )
        check_space(f"{self!r} observations", obs_space)
        check_space(f"{self!r} actions", act_space)
        ctx = Context(obs_space, act_space, rows, slot, seeds, parent)
        try:
            self._bind_all(ctx, obs_space, act_space)
        except Exception:
            self._unbind()  # what was refused can be bound elsewhere
            raise

    def _unbind(self) -> None:
        for one in self.chain:
            one._is_bound, one._kept_arrays, one._allowed = False, {}, {}
            for _, child in one._children():
                child._unbind()

    def _bind_all(self, ctx: Context, obs_space: spaces.Space, act_space: spaces.Space) -> None:
        provided: set[str] = set()
        for one in self.chain:
            missing = [name for name in one.needs if name not in provided]
            if missing:
                raise UserError(
                    f"{one._called()}: it needs {missing[0]!r}, which nothing below it provides; put an interface that does under it"
                )
            provided |= set(one.provides)
            one.ctx, one._is_bound = ctx, True
            one._is_single = self._is_single
            obs_space, act_space = one._outer_spaces = one._spaces(obs_space, act_space)
            check_space(f"{one._called()} observations", obs_space)
            check_space(f"{one._called()} actions", act_space)

    def _clear_stack(self, which: Array, info: Any, seeds: Array | None) -> None:
        ctx = self.ctx
        ctx.seed(which, seeds)
        ctx.step[which] = 0
        ctx.fresh |= which
        ctx.info = info
        for one in self.chain:
            for name, array in one._kept_arrays.items():
                array[which] = one._allowed[name][1]
            one._clear_children(which, info, seeds)

    def _clear_children(self, which: Array, info: Any, seeds: Array | None) -> None:
        """The children, where an interface has any."""

    def _set_begun(self) -> None:
        self.ctx.begun = True

    def _shown(self, obs: Nest, which: Array | None) -> Nest:
        self._context()
        given = self._take_in("observation", self._layouts[0], obs)
        return self._hand_out(self._layouts[1], self._observed(given, which), given)

    def _observed(self, given: list[Array], which: Array | None) -> list[Array]:
        """The leaves of the output; they may share memory with the input or with kept arrays."""
        raw, outer, _, _ = self._layouts
        shown = self._walk_observation(raw.nest(read_only(given)), which)
        return outer.fit(self._title, shown, self.ctx.rows)

    def _walk_observation(self, obs: Nest, which: Array | None) -> Nest:
        """One pass outward: rows `which` move on first; None looks only."""
        ctx = self.ctx
        ctx.raw = ctx.view = obs
        fresh = None  # rows that begin, where any do
        if which is not None:
            ctx.begun = True
            ctx.step += which
            if ctx.fresh.any():
                fresh = ctx.fresh & which
                ctx.step -= fresh
        for one in self.chain:
            obs = one._step_outward(obs, which, fresh)
        if fresh is not None:
            ctx.fresh &= ~fresh
        return obs

    def _step_outward(self, obs: Nest, which: Array | None, fresh: Array | None) -> Nest:
        """This interface's part of a pass."""
        if fresh is not None:
            self._guarded(Interface._begin, fresh, fresh, obs)
        if which is not None:
            self._guarded(Interface._note_observation, which, obs)
        return self._observe(obs)

    def _walk_action(self, action: Nest, decided: Array) -> Nest:
        """One pass inward."""
        for one in reversed(self.chain):
            action = one._step_inward(action, decided)
        return action

    def _step_inward(self, action: Nest, decided: Array) -> Nest:
        self._guarded(Interface._note_action, decided, action)
        return self._act(action)

    def _walk_mask(self, mask: Nest) -> Nest:
        for one in self.chain:
            if mask is None and one.restricts:
                mask = all_legal(one._done_inside, self.ctx.rows)
            if mask is not None and (one._overrides("_act") or one._overrides("_mask")):
                mask = one._mask(mask)
        return mask

    def _walk_reward(self, reward: Array) -> Array:
        for one in self.chain:
            reward = one._reward(reward)
        return reward

    def _guarded(self, hook: Callable[..., None], which: Array, *args: Any) -> None:
        """Calls a hook that writes memory for the rows `which`; other rows are unchanged afterwards."""
        name = hook.__name__
        if not self._overrides(name) or not which.any():
            return
        others = None if self.heeds_moving or which.all() else ~which
        before = [] if others is None else [array[others] for array in self._kept_arrays.values()]
        self.ctx.moving = which
        try:
            getattr(self, name)(*args)
        finally:
            self.ctx.moving = self.ctx.no_rows
        for array, rows in zip(self._kept_arrays.values(), before, strict=False):
            array[others] = rows

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(Interface, name)

    # -- helpers ----------------------------------------------------------------------------------

    @property
    def _done_inside(self) -> spaces.Space:
        """The action space at its inner side."""
        return self.ctx.raw_action_space if self.inner is None else self.inner.action_space

    def _given(self) -> Mapping[str, Any]:
        if self._arguments is None:
            raise UserError(
                f"{type(self).__name__}: its constructor takes *args or **kwargs beside named arguments, so it cannot be described; name all arguments"
            )
        return self._arguments

    def _context(self) -> Context:
        if not self._is_bound:
            raise UserError(f"{self!r}: it is bound to no spaces yet; call setup(obs_space, act_space)")
        return self.ctx

    def _row_mask(self, which: Any) -> Array:
        ctx = self._context()
        mask = np.ones(ctx.rows, bool) if which is None else np.asarray(which)
        if mask.shape != (ctx.rows,) or mask.dtype != bool:
            raise UserError(
                f"{self!r}: rows are named by a mask of {ctx.rows} bools, not {mask.dtype}{mask.shape}"
            )
        return mask

    def _row_seeds(self, rows: int, seeds: Any) -> Array:
        array = np.asarray(seeds)
        if array.shape != (rows,) or array.dtype != np.uint64:
            raise UserError(
                f"{self!r}: seeds are {array.dtype}{array.shape}; pass a number, or uint64 of shape ({rows},)"
            )
        return array

    def _take_in(self, what: str, layout: Layout, value: Nest) -> list[Array]:
        rows = None if self._is_single else self.ctx.rows
        return layout.fit(f"{self._title} {what}", value, rows)

    def _hand_out(self, layout: Layout, result: list[Array], given: list[Array]) -> Nest:
        """A result in its space, without memory shared with the stack or its input."""
        own = layout.nest(owned(result, self._remembered.union(map(memory_of, given))))
        return first_row(layout.space, own) if self._is_single else own

    def _arrays(self, prefix: str = "") -> dict[str, Array]:
        """Everything that is remembered, by name; the arrays themselves."""
        found = {f"{prefix}{name}": array for name, array in self.ctx.arrays().items()}
        for place, one in enumerate(self.chain):
            at = f"{prefix}{place}-{type(one).__name__}/"
            found |= {f"{at}{name}": array for name, array in one._kept_arrays.items()}
            for name, child in one._children():
                found |= child._arrays(f"{at}{name}/")
        return found

    def _ranges(self, prefix: str = "") -> dict[str, Range]:
        found = {f"{prefix}{name}": allowed for name, allowed in self.ctx.ranges().items()}
        for place, one in enumerate(self.chain):
            at = f"{prefix}{place}-{type(one).__name__}/"
            found |= {f"{at}{name}": allowed for name, (allowed, _) in one._allowed.items()}
            for name, child in one._children():
                found |= child._ranges(f"{at}{name}/")
        return found

    def _children(self) -> Iterator[tuple[str, Interface]]:
        """(name, stack) of the children, where an interface has any."""
        return iter(())

    def _called(self) -> str:
        first = parameters(type(self))[0].name
        own = [f"{name}={brief(value)}" for name, value in (self._arguments or {}).items() if name != first]
        return f"{type(self).__name__}({', '.join(own)})"
