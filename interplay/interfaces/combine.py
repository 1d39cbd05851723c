"""Interfaces side by side: one for each entry of a tuple (specification interfaces 2.2, L3 to L5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest


class Combine(Interface):
    """Passes entry k of a tuple to child k, observations outward and actions inward.

    A child has a context of its own: ``ctx.raw`` is its entry, and ``ctx.parent`` leads to the other entries.

    Args:
        outer: the stack nearest the environment, with a tuple as its output; None if the environment's output is one.
        children: a stack for each entry, None for an unchanged one.
    """

    def __init__(self, outer: Interface | None = None, children: Sequence[Interface | None] = ()) -> None:
        super().__init__(outer)
        self.children = tuple(Interface() if child is None else child for child in children)

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        pairs = zip(
            *(
                self._entries(name, space)
                for name, space in (("observations", obs_space), ("actions", act_space))
            ),
            strict=True,
        )
        ctx = self.ctx
        below = sum(isinstance(one, Combine) for one in self.chain[:-1])
        for k, (child, (seen, done)) in enumerate(zip(self.children, pairs, strict=True)):
            child._is_single = self._is_single
            if child.changes_rewards:
                raise UserError(
                    f"Combine: {child!r} changes rewards, which are of all entries; put it above or below"
                )
            child._bind(seen, done, ctx.rows, f"{ctx.slot}/{k}{'+' * below}", ctx.seeds, ctx)
        shown = [child.observation_space for child in self.children]
        return spaces.Tuple(shown), spaces.Tuple([child.action_space for child in self.children])

    def _entries(self, name: str, space: spaces.Space) -> tuple[spaces.Space, ...]:
        count = len(self.children)
        if not isinstance(space, spaces.Tuple):
            raise UserError(f"Combine: {count} children need a tuple of {count} {name}, not {space}")
        if len(space.spaces) != count:
            raise UserError(
                f"Combine: {count} children for a tuple of {len(space.spaces)} {name}; give one for each, None passes through"
            )
        return tuple(space.spaces)

    def _clear_children(self, which: Array, info: Any, seeds: Array | None) -> None:
        for child in self.children:
            child._clear_stack(which, info, seeds)

    def _step_outward(self, obs: Nest, which: Array | None, fresh: Array | None) -> Nest:
        return tuple(
            child._walk_observation(part, which) for child, part in zip(self.children, obs, strict=True)
        )

    def _step_inward(self, action: Nest, decided: Array) -> Nest:
        return tuple(
            child._walk_action(part, decided) for child, part in zip(self.children, action, strict=True)
        )

    def _infos(self) -> Mapping[str, Array]:
        """Those of child k get the names ``k/...``."""
        stacks = ((k, one) for k, child in enumerate(self.children) for one in child.chain)
        return {f"{k}/{name}": array for k, one in stacks for name, array in one._infos().items()}

    @property
    def restricts(self) -> bool:  # type: ignore[override]
        """Whether one of the children does."""
        return any(child.masks_actions for child in self.children)

    def _mask(self, mask: Nest) -> Nest:
        return tuple(child._walk_mask(part) for child, part in zip(self.children, mask, strict=True))

    def _set_begun(self) -> None:
        super()._set_begun()
        for child in self.children:
            child._set_begun()

    def _children(self) -> Iterator[tuple[str, Interface]]:
        return ((str(k), child) for k, child in enumerate(self.children))
