"""The environments of one process, stepped one after another; errors name world and step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from interplay.core.errors import USER_ERRORS, UserError, one_line
from interplay.core.overdue import OVERDUE, refuse_overdue
from interplay.core.user_code import where
from interplay.sim.batch.env_slot import EnvSlot, leaves_of
from interplay.sim.batch.info_numbers import Columns
from interplay.sim.batch.layout import Buffers, Layout
from interplay.sim.batch.leaf_column import are_finite
from interplay.sim.batch.managed import ManagedSimulation

T = TypeVar("T")


class SlotGroup:
    """Neighbouring worlds of a batch.

    Args:
        envs: one for each world.
        layout: of the environments.
        buffers: of the whole batch.
        first: the first world.
        index: of this process among the workers of the batch, if it is one.

    Attributes:
        numbers: columns of the numbers in infos.
    """

    def __init__(
        self, envs: Sequence[Any], layout: Layout, buffers: Buffers, first: int = 0, index: int | None = None
    ) -> None:
        worlds = slice(first, first + len(envs))
        columns = leaves_of(layout, buffers, worlds)
        self.numbers = Columns(layout.metrics, buffers["numbers"], range(worlds.start, worlds.stop))
        self.slots = [
            EnvSlot(env, layout, buffers, first + i, columns, self.numbers, i) for i, env in enumerate(envs)
        ]
        self._columns = [column for kind in columns.values() for column in kind]
        self._agents, self._rewards = layout.agents, buffers["reward"][worlds]
        self._which, self._seed = buffers["which"][worlds], buffers["seed"][worlds]
        self._first, self._at = first, None if index is None else buffers["at"][index : index + 1]
        self.calls, self.thread, self.silent, self._busy = 0, 0, False, -1
        OVERDUE.watch(self)

    def reset(self) -> None:
        """Restarts the worlds of ``buffers["which"]`` with the seeds of ``buffers["seed"]``.

        Raises:
            UserError: naming world and step.
        """
        self._run(self._seed)

    def step(self) -> None:
        """Steps the worlds of ``buffers["which"]``; those that are over stand still.

        Raises:
            UserError: naming world and step.
        """
        self._run(None)

    def busy(self) -> str:
        """See `interplay.core.overdue.Stepping`."""
        i = self._busy
        if i < 0:
            return ""
        steps = self.slots[i].steps
        return f"world {self._first + i} has not come back from {f'step {steps}' if steps else 'its reset'}"

    def close(self) -> None:
        """Closes the environments, except one whose call in another thread has not come back."""
        busy = self._busy
        for i, slot in enumerate(self.slots):
            if i != busy:
                slot.env.close()
        if busy < 0:
            self.slots = []

    def _run(self, seeds: np.ndarray | None) -> None:
        """Resets with seeds, or steps."""
        self.thread, i = threading.get_ident(), 0
        try:
            for i, slot in enumerate(self.slots):
                if self._which[i]:
                    self.calls += 1
                    self._busy = i
                    if self._at is not None:
                        self._at[0] = self._first + i
                    slot.step() if seeds is None else slot.reset(int(seeds[i]))
        except KeyboardInterrupt:
            refuse_overdue()
            raise
        except Exception as error:
            env = self.slots[i].env
            raise UserError(_one_line(self._where(i), error, _mend(env), env.possible_agents)) from error
        finally:
            self._busy = -1
        self._settle()

    def _settle(self) -> None:
        for column in self._columns:
            if (found := column.settle()) is not None:
                raise UserError(f"{self._where(found[0])}: {found[1]}")
        if not are_finite(self._rewards.reshape(-1)):
            w, a = (int(i) for i in np.argwhere(~np.isfinite(self._rewards))[0])
            agent, reward = self._agents[a], self._rewards[w, a]
            raise UserError(
                f"{self._where(w)}: reward of {agent} is {reward}; give a number that float32 holds, and not None"
            )

    def _where(self, i: int) -> str:
        steps = self.slots[i].steps
        return f"world {self._first + i}, {f'step {steps}' if steps else 'reset'}"


def made(make: Callable[[], Any], worlds: Iterable[int], accept: Callable[[Any], Any]) -> list[Any]:
    """The environments of some worlds, made and accepted.

    Raises:
        UserError: if the function fails, or returns one object for several worlds.
    """
    envs: list[Any] = []
    for w in worlds:
        try:
            envs.append(make())
        except Exception as error:
            raise UserError(_one_line(f"world {w}", error, "mend the function that makes it")) from error
    if len({id(env) for env in envs}) < len(envs):
        raise UserError("the function gives the same environment each time; make a new one in it")
    return [accept(env) for env in envs]


def named(w: int, env: Any, function: Callable[..., T], *args: Any) -> T:
    """Calls a function before the first episode; its errors name the world."""
    try:
        return function(*args)
    except Exception as error:
        raise UserError(_one_line(f"world {w}", error, _mend(env))) from error


def _mend(env: Any) -> str:
    return f"mend the {'simulation' if isinstance(env, ManagedSimulation) else 'environment'}"


def _one_line(at: str, error: Exception, cure: str, agents: Sequence[Any] = ()) -> str:
    what = one_line(error)
    if isinstance(error, USER_ERRORS):
        return f"{at}: {what}"  # which has its own cure
    place = where(error, agents)
    return f"{at}: {type(error).__name__}: {what}{f' ({place})' if place else ''}; {cure}"
