"""Interfaces around an environment: each slot observes and acts through its own stack (specification interfaces 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.interfaces.interface import Interface
from interplay.interfaces.match import (
    MASK,
    MatchStart,
    MatchStep,
    as_rewards,
    flags,
    match,
    read_mask,
    resets_itself,
    slots_of,
    to_gymnasium_mask,
    with_outcome,
    without_members,
    wrappers_of,
)


class EnvItfWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with interfaces of slots.

    It is a Gymnasium environment with tuple spaces, which are final from construction on. It may be wrapped again, by Gymnasium's wrappers and by this one.

    Args:
        interfaces: a stack for each slot, None for an unchanged one.
        seed: of the interfaces' draws; ``reset(seed=...)`` replaces it.

    Attributes:
        interfaces: the bound stacks.
        decided: for each slot whether its action of the next step is a decision or a held one; after a step all are decisions again.
    """

    def __init__(self, env: Any, interfaces: Sequence[Interface | None], seed: int = 0) -> None:
        super().__init__(match(env))
        seen, done = slots_of(self.env)
        if len(interfaces) != len(seen):
            raise UserError(
                f"EnvItfWrapper: {len(interfaces)} interfaces for {len(seen)} slots; give one for each, None passes through"
            )
        self.interfaces = tuple(Interface() if one is None else one for one in interfaces)
        below = sum(isinstance(one, EnvItfWrapper) for one in wrappers_of(self.env))
        for slot, (stack, obs, act) in enumerate(zip(self.interfaces, seen, done, strict=True)):
            stack.setup(obs, act, slot=f"{slot}{'+' * below}" if below else slot, seed=seed)
        self._all = (True,) * len(seen)
        self.decided: Sequence[Any] = self._all
        self._resets_itself, self._over = resets_itself(self.env), False
        self.observation_space = spaces.Tuple([stack.observation_space for stack in self.interfaces])
        self.action_space = spaces.Tuple([stack.action_space for stack in self.interfaces])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        """Begins an episode; ``options["itf"][slot]`` are for that slot's interfaces (``ctx.info``)."""
        self._over, self._unread = (
            False,
            np.zeros(len(self._all), bool),
        )  # unread: no step has read the decision yet
        own_options = _per_slot(options, len(self.interfaces))
        seen, info = self.env.reset(seed=seed, options=options)
        seeds = None if seed is None else seeding.world_seeds(seed, 1)
        for stack, obs, own in zip(self.interfaces, seen, own_options, strict=True):
            stack.reset(obs, own, seeds=seeds)
        return self._seen(seen), self._info(info)

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Steps with one action per slot."""
        begins = self._over and self._resets_itself  # the environment ignores the actions of this step
        self._unread = (self._unread | flags(self.decided)) & (not begins)
        fresh, self._unread = self._unread & self._acting, self._unread & ~self._acting
        self.decided = self._all
        raw = [
            stack.act_trans(one, bool(new))
            for stack, one, new in zip(self.interfaces, action, fresh, strict=True)
        ]
        rewards: Any
        seen, rewards, terminated, truncated, info = self.env.step(tuple(raw))
        if begins:
            for stack, obs in zip(self.interfaces, seen, strict=True):
                stack.reset(obs)
            rewards = (0.0,) * len(self.interfaces)
        self._over = bool(terminated or truncated)
        given = as_rewards(rewards, len(self.interfaces))
        earned = tuple(stack.rew_trans(one) for stack, one in zip(self.interfaces, given, strict=True))
        if any(stack.changes_rewards for stack in self.interfaces):
            info = without_members(info)
        info = with_outcome(self.env, self._over, info)
        return self._seen(seen), earned, bool(terminated), bool(truncated), self._info(info)

    def _seen(self, seen: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(stack.obs_trans(obs) for stack, obs in zip(self.interfaces, seen, strict=True))

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        self._acting = flags(info.get("acting", self._all))
        infos = [stack.infos() for stack in self.interfaces]
        names = dict.fromkeys(name for one in infos for name in one)
        info = {**info, **{name: tuple(one.get(name) for one in infos) for name in names}}
        if MASK not in info and not any(stack.masks_actions for stack in self.interfaces):
            return info
        legal = zip(self.interfaces, info.get(MASK, (None,) * len(self.interfaces)), strict=True)
        return {**info, MASK: tuple(legal_outside(stack, mask) for stack, mask in legal)}


def legal_outside(stack: Interface, mask: Any) -> Any:
    """A slot's mask behind its interfaces, in Gymnasium's form; None if everything is legal."""
    return to_gymnasium_mask(
        stack.action_space, stack.mask_trans(read_mask(stack.ctx.raw_action_space, mask))
    )


def _per_slot(options: Mapping[str, Any] | None, slots: int) -> list[Any]:
    given = (options or {}).get("itf")
    if given is None:
        return [None] * slots
    if isinstance(given, Mapping) and set(given) <= set(range(slots)):
        return [given.get(slot) for slot in range(slots)]
    if not isinstance(given, list | tuple | np.ndarray) or len(given) != slots:
        raise UserError(f'options["itf"] = {given!r}: give a list of {slots} or a mapping of slots')
    return list(given)


EnvIntWrapper = EnvItfWrapper  # as published code calls it
