"""Anybody's PettingZoo parallel environment as a `World`, so that everything here can play and train it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from interplay.connect.foreign.crews import InLine, Processes
from interplay.connect.foreign.layout import ForeignKind
from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.world import TimeStep, World
from interplay.registry import load


class ParallelEnvWorld(World):
    """W environments of somebody else, or W simulations of `interplay.sim` under a manager, stepped together.

    Agents with different spaces become kinds, named by what their agents' names have in common. Observations that are no Dict are
    called ``"observation"``; nested ones are flattened to names with dots. Action masks are read from
    ``info["action_mask"]``, if the first reset shows them there, or from the observation's ``"action_mask"``.
    An agent that leaves is terminated. An info ``{"acting": False}`` marks an agent that is listed but cannot act.
    Environments are reset only by `reset`, each time with a seed of the world's own stream; whether that seed
    decides everything is up to the environment.

    Metrics: ``episode_length`` (W,) steps and ``episode_return`` (W, A).

    Args:
        factory: ``"module:function"``, or, with ``processes=0``, any function that makes the environment or the manager.
        num_worlds: W, the number of environments.
        seed, first_world: name the worlds' random streams.
        processes: 0 steps all environments in this process; N > 0 in N worker processes. A script that uses
            them needs the usual ``if __name__ == "__main__":``, as workers import it anew.
        kwargs: passed to the factory.

    Raises:
        UserError: if the factory cannot be found or makes no parallel environment, or a space has no array form.
    """

    def __init__(
        self,
        factory: str | Callable[..., Any],
        num_worlds: int = 1,
        seed: int = 0,
        processes: int = 0,
        first_world: int = 0,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if processes < 0:
            raise UserError(f"processes = {processes}: pass 0 for none, or how many")
        if num_worlds < 1:
            raise UserError(
                f"num_worlds = {num_worlds}: a batch has at least one world; pass num_worlds >= 1"
            )
        named = isinstance(factory, str)
        if processes and not named:
            raise UserError(
                f'processes = {processes}: worker processes import the factory; name it as "module:function"'
            )
        options = dict(kwargs or {})
        self._crew: InLine | Processes
        if processes:
            self._crew = Processes(str(factory), options, num_worlds, processes)
        else:
            make = load(factory, users=True) if isinstance(factory, str) else factory
            self._crew = InLine(partial(make, **options), num_worlds)
        layout = self._crew.layout
        self.id = str(factory) if named else layout.name
        agents = [str(agent) for agent in layout.agents]
        super().__init__(num_worlds, agents, [kind.kind for kind in layout.kinds], seed, first_world)
        self._foreign = layout.kinds
        self._buffers = self._crew.buffers
        self._stream = seeding.new_stream(num_worlds)
        self._lengths = np.zeros(num_worlds, np.int64)
        self._returns = np.zeros((num_worlds, len(agents)))
        self._step_of_buffers = self._time_step()

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        return {"episode_length": self._lengths, "episode_return": self._returns}

    def save(self) -> dict[str, np.ndarray]:
        """Refused: nobody can look into somebody else's environment.

        Raises:
            UserError: always.
        """
        raise UserError(
            f"{self.id}: a PettingZoo environment cannot be saved; resume from the start of an episode"
        )

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise UserError(f"{self.id}: a PettingZoo environment cannot be restored; reset it instead")

    def close(self) -> None:
        self._crew.close()

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        seeding.begin_episode(self._stream, which, seeds)
        self._buffers["which"][:] = which
        self._buffers["seed"][:] = environment_seeds(self._stream)
        self._lengths[which] = 0
        self._returns[which] = 0.0
        self._crew.reset()
        return self._step_of_buffers

    def _step(self, action: Any) -> TimeStep:
        by_kind = self.by_kind(action)
        for kind in self._foreign:
            for leaf in kind.action:
                value = by_kind[kind.kind.name]
                for key in leaf.path:
                    value = value[key]
                self._buffers[kind.key("action", leaf)][:] = value
        self._lengths += ~self._buffers["over"]
        self._crew.step()
        self._returns += self._buffers["reward"]
        return self._step_of_buffers

    def _time_step(self) -> TimeStep:
        seen = {kind.kind.name: self._observation(kind) for kind in self._foreign}
        legal = {
            kind.kind.name: {"action": self._buffers[kind.key("mask")]} if kind.masked else {}
            for kind in self._foreign
        }
        one = self._foreign[0].kind.name if len(self._foreign) == 1 else ""
        return TimeStep(
            observation=seen[one] if one else seen,
            reward=self._buffers["reward"],
            acting=self._buffers["acting"],
            terminated=self._buffers["terminated"],
            truncated=self._buffers["truncated"],
            over=self._buffers["over"],
            action_mask=(legal[one] if one else legal) if any(legal.values()) else None,
        )

    def _observation(self, kind: ForeignKind) -> dict[str, np.ndarray]:
        return {leaf.name: self._buffers[kind.key("observation", leaf)] for leaf in kind.observation}


def environment_seeds(stream: np.ndarray) -> np.ndarray:
    """The seeds (W,) int64, 31 bits, that environments are reset with: one for each world and episode.

    Args:
        stream: (W, 3) uint64, see `interplay.core.seeding`.
    """
    with np.errstate(over="ignore"):
        mixed = mix64(mix64(stream[:, seeding.SEED]) + stream[:, seeding.EPISODE])
    return (mixed >> np.uint64(33)).astype(np.int64)
