"""A world with policies as its kinds of agents.

The trainer has one network per kind. So several policies, each with its own weights, learn in one run, also where their agents
are alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.outer_world import OuterWorld
from interplay.core.world import Kind, TimeStep, World


class PolicyWorld(OuterWorld):
    """Another world with its agents grouped by policy.

    Args:
        inner: a world that was not reset yet.
        assigned: agent -> policy.
        seed, first_world: as given to the inner world.

    Raises:
        UserError: if agents of one policy have different spaces.
    """

    def __init__(
        self, inner: World, assigned: Mapping[str, str], seed: int = 0, first_world: int = 0
    ) -> None:
        self._inner = inner
        self._homes: dict[str, tuple[str, np.ndarray]] = {}  # policy -> inner kind, columns there
        kinds = [self._kind(policy, assigned) for policy in dict.fromkeys(assigned.values())]
        super().__init__(inner, inner.agents, kinds, seed, first_world)

    def save(self) -> dict[str, np.ndarray]:
        return self._inner.save()

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        self._last = self._grouped(self._inner.load(snapshot))
        self._seeds = None  # a refused snapshot leaves everything as it was
        return self._last

    def hash(self) -> np.ndarray:
        return self._inner.hash()

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        return self._grouped(self._inner.reset(which, seeds))

    def _step(self, action: Any) -> TimeStep:
        by_policy = self.by_kind(action)
        by_kind: dict[str, Any] = {}
        for policy, (home, columns) in self._homes.items():
            size = next(len(kind.slots) for kind in self._inner.kinds if kind.name == home)
            by_kind[home] = _placed(by_kind.get(home), by_policy[policy], columns, size)
        one = len(self._inner.kinds) == 1
        return self._grouped(self._inner.step(next(iter(by_kind.values())) if one else by_kind))

    def _kind(self, policy: str, assigned: Mapping[str, str]) -> Kind:
        slots = [slot for slot, agent in enumerate(self._inner.agents) if assigned[agent] == policy]
        home = next(kind for kind in self._inner.kinds if slots[0] in kind.slots)
        strangers = [self._inner.agents[slot] for slot in slots if slot not in home.slots]
        if strangers:
            raise UserError(
                f"policy {policy}: {strangers[0]} has other spaces than {self._inner.agents[slots[0]]}; give them a policy each"
            )
        self._homes[policy] = home.name, np.array([home.slots.index(slot) for slot in slots])
        return Kind(policy, tuple(slots), home.observation_space, home.action_space)

    def _grouped(self, step: TimeStep) -> TimeStep:
        seen, legal = self._inner.by_kind(step.observation), self._inner.by_kind(step.action_mask)
        observation = {policy: _picked(seen[home], at) for policy, (home, at) in self._homes.items()}
        masks: Any = None
        if step.action_mask is not None:
            masks = {policy: _picked(legal[home] or {}, at) for policy, (home, at) in self._homes.items()}
        if len(self._homes) == 1:
            (only,) = self._homes
            return step._replace(
                observation=observation[only], action_mask=None if masks is None else masks[only]
            )
        return step._replace(observation=observation, action_mask=masks)


def _picked(tree: Any, columns: np.ndarray) -> Any:
    """Some agents' columns of every array of a tree."""
    if isinstance(tree, Mapping):
        return {key: _picked(part, columns) for key, part in tree.items()}
    return tree[:, columns]


def _placed(whole: Any, part: Any, columns: np.ndarray, size: int) -> Any:
    """Some agents' columns put into arrays of all `size` agents of the kind."""
    if isinstance(part, Mapping):
        return {key: _placed(whole and whole[key], value, columns, size) for key, value in part.items()}
    if whole is None:
        whole = np.zeros((len(part), size, *part.shape[2:]), part.dtype)
    whole[:, columns] = part
    return whole
