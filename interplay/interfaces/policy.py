"""A policy that was trained in a world behind interfaces, in the raw world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.interfaces.world import OURS, InterfacedWorld

THEIRS = "policy/"  # what names of the policy's own memory begin with


class InterfacedPolicy(Policy):
    """Plays a raw world with a policy of an `InterfacedWorld`: the same raw actions as with the interfaces around the world.

    Only random numbers of interfaces differ: they depend on the worlds' seeds there and on the policy's here.

    Args:
        interfaces, groups: as for `InterfacedWorld`; teams that are one slot are not played this way.
    """

    def __init__(
        self, policy: Policy, interfaces: Mapping[str, Any], groups: Mapping[str, Any] | None = None
    ) -> None:
        self.policy, self._interfaces, self._named = policy, dict(interfaces), groups
        self.name = policy.name

    @property
    def actions(self) -> str:  # type: ignore[override]
        """As of the policy inside."""
        return self.policy.actions

    def start(self, world: World, seed: int = 0) -> None:
        """Binds the interfaces to the world's spaces."""
        super().start(world, seed)
        self.view = InterfacedWorld(world, self._interfaces, self._named)
        self.policy.start(self.view, seed)
        self._restarted, self._over = np.ones(world.num_worlds, bool), np.zeros(world.num_worlds, bool)

    def forget(self, which: np.ndarray) -> None:
        self._restarted |= which
        self.policy.forget(which)

    def act(self, timestep: TimeStep) -> Any:
        view, restarted = self.view, self._restarted
        going = restarted.copy()
        if not restarted.all():
            going |= ~self._over
            view._live_on(timestep)
        if restarted.any():
            view._begin_episodes(timestep, restarted, None)
        view._last = view._time_step(timestep, going)
        self._restarted, self._over = np.zeros_like(restarted), timestep.over.copy()
        return view._inward(view.by_kind(self.policy.act(view.timestep)))

    def save(self) -> dict[str, np.ndarray]:
        kept = {name: array.copy() for name, array in self.view._remembered().items()}
        own = {"restarted": self._restarted.copy(), "over": self._over.copy()}
        return own | kept | {THEIRS + name: array for name, array in self.policy.save().items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores what `save` gave, after a `start` with the same world."""
        for name in ("restarted", "over"):
            given = np.asarray(arrays.get(name, ()))
            if given.shape != self._over.shape or given.dtype != bool:
                raise UserError(
                    f"{self.name}: its {name} is {given.dtype}{given.shape}, not {len(self._over)} bools; save it again"
                )
        ours = {name: array for name, array in arrays.items() if name.startswith(OURS)}
        self.view._check(ours)
        self.policy.load(
            {name[len(THEIRS) :]: array for name, array in arrays.items() if name.startswith(THEIRS)}
        )
        self.view._recall(ours)
        self._restarted, self._over = arrays["restarted"].copy(), arrays["over"].copy()
