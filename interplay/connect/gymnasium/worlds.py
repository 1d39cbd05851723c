"""A world as a Gymnasium `Env`: one agent acts, a policy plays the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.connect.pictures import PIXELS, WorldPictures
from interplay.connect.readers import idle, readers_of
from interplay.core.errors import UserError
from interplay.core.masks import as_gymnasium
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.spaces import check_action
from interplay.core.world import TimeStep, World

MAX_WAIT = 10_000  # steps, and episodes, until the agent is asked for the first time


class WorldGymEnv(WorldPictures, gymnasium.Env[Any, Any]):
    """One agent of a world; a policy acts for all others.

    Each step is an action of the agent. Steps in which it does not act (others' turns, sleep) pass by themselves; their rewards,
    and those before its first action, are added to its reward. An episode ends with the agent's life or with the world; a limit
    truncates it. Episodes in which the agent never acts are skipped.

    Infos hold ``action_mask`` where the world has illegal actions, in the form that ``action_space.sample(mask)`` takes, and
    ``metrics/NAME`` (float), the world's metrics, 0 until the last step.

    Args:
        world: with ``num_worlds == 1``.
        agent: one of ``world.agents``; by default the first.
        others: policy of the others; by default random. An `interplay.evaluate.PolicyMap` gives each its own.
        render_mode: None or ``"rgb_array"``; `gymnasium.make` shows the second in a window for ``"human"``.
        seed: of the others' draws, until `reset` is given a seed.
        flat: True: observations are one float32 row, actions a Discrete or MultiDiscrete from 0, or a flat float32 Box, and the
            mask one row of bools; ``"discrete"``: an action is one number for all its choices (`interplay.connect.flat`).
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [PIXELS], "render_fps": 10}  # type: ignore[misc]

    def __init__(
        self,
        world: World,
        agent: str | None = None,
        others: Policy | None = None,
        render_mode: str | None = None,
        seed: int = 0,
        flat: bool | str = False,
    ) -> None:
        if agent is not None and agent not in world.agents:
            raise UserError(f"{world.id}: unknown agent {agent!r}; agents are {', '.join(world.agents)}")
        if render_mode not in (None, PIXELS):
            raise UserError(f'{world.id}: render_mode = {render_mode!r}; choose "{PIXELS}", or None')
        self.world = world
        self.agent = agent or world.agents[0]
        self.render_mode = render_mode
        self._others = others or RandomPolicy()
        self._slot = world.agents.index(self.agent)
        number = next(n for n, kind in enumerate(world.kinds) if self._slot in kind.slots)
        self._kind, self._column = world.kinds[number], world.kinds[number].slots.index(self._slot)
        self._flat = bool(flat)
        self._reader = readers_of(world, flat)[number]
        self._listed = [slot == self._slot for slot in range(len(world.agents))]
        self.observation_space = self._reader.observation_space
        self.action_space = self._reader.action_space if flat else self._kind.action_space
        self._seed: int | None = seed  # for the others' first start
        self._playing = False
        self._owed = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: of the episode and of the others' draws; None continues their streams.
            options: ignored; worlds take their options when they are made.
        """
        super().reset(seed=seed)
        timestep = self.world.reset(seeds=seed)
        self._seed = self._seed if seed is None else seed
        if self._seed is None:
            self._others.forget(np.ones(1, bool))
        else:
            self._others.start(self.world, self._seed)
        self._seed, self._owed, self._playing = None, 0.0, True
        for _ in range(MAX_WAIT):
            timestep = self._wait(timestep, self._acts(timestep))
            if self._acts(timestep):
                return self._seen(timestep), self._info(timestep)
            timestep = self.world.reset()
            self._others.forget(np.ones(1, bool))
            self._owed = 0.0
        raise UserError(f"{self.world.id}: {self.agent} never acted in {MAX_WAIT:,} episodes; play another")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns observation, reward until the agent acts again, terminated, truncated and info.

        Raises:
            UserError: for an action that is not in the space, and before the first reset or after an episode's end.
        """
        if not self._playing:
            raise UserError(f"{self.world.id}: no episode is being played; call reset() first")
        timestep = self._advance(self._checked(action))
        timestep = self._wait(timestep, self._acts(timestep) or self._has_ended(timestep))
        reward, self._owed = self._owed, 0.0
        ended = self._has_ended(timestep)
        truncated = (
            ended and bool(timestep.truncated[0, self._slot]) and not timestep.terminated[0, self._slot]
        )
        self._playing = not ended
        return self._seen(timestep), reward, ended and not truncated, truncated, self._info(timestep, ended)

    def _wait(self, timestep: TimeStep, enough: bool) -> TimeStep:
        """Steps the others until the agent acts or has ended."""
        for _ in range(MAX_WAIT):
            if enough:
                return timestep
            timestep = self._advance(None)
            enough = self._acts(timestep) or self._has_ended(timestep)
        raise UserError(f"{self.world.id}: {self.agent} did not act for {MAX_WAIT:,} steps; play another")

    def _checked(self, action: Any) -> Any:
        """The agent's action as the world takes it, (1, 1, ...)."""
        owner, space = f"{self.world.id} {self.agent}", self._kind.action_space
        if not self._flat:
            return check_action(owner, space, _row_of(action), 1, 1)
        try:
            batch = self._reader.batch({self.agent: action}, lambda slot: False)
        except (TypeError, ValueError):
            shown = " ".join(repr(action).split())
            raise UserError(f"{owner}: action {shown} is not in {self.action_space}") from None
        return _column_of(check_action(owner, space, batch, 1, len(self._kind.slots)), self._column)

    def _advance(self, rows: Any) -> TimeStep:
        """Steps the world with the agent's action `rows` (1, 1, ...); None: it is idle."""
        chosen = self._others.act(self.world.timestep.read_only())
        if rows is not None:
            several = len(self.world.kinds) > 1
            own = _put_in(
                self.action_space, chosen[self._kind.name] if several else chosen, self._column, rows
            )
            chosen = {**chosen, self._kind.name: own} if several else own
        timestep = self.world.step(chosen)
        self._owed += float(timestep.reward[0, self._slot])
        return timestep

    def _acts(self, timestep: TimeStep) -> bool:
        return bool(timestep.acting[0, self._slot])

    def _has_ended(self, timestep: TimeStep) -> bool:
        ended = timestep.terminated[0, self._slot] or timestep.truncated[0, self._slot]
        return bool(ended or timestep.over[0])

    def _seen(self, timestep: TimeStep) -> Any:
        if self.world.respawns and self._has_ended(timestep) and self._acts(timestep):
            return idle(self.observation_space)  # the slot's next life has begun
        fields = self.world.by_kind(timestep.observation)[self._kind.name]
        return self._reader.observe(fields, None, self._listed)[self.agent]

    def _info(self, timestep: TimeStep, ended: bool = False) -> dict[str, Any]:
        info: dict[str, Any] = {
            f"metrics/{name}": self._metric(values) if ended else 0.0
            for name, values in self.world.metrics.items()
        }
        if timestep.action_mask is not None:
            legal = self.world.by_kind(timestep.action_mask)[self._kind.name]
            row = self._reader.masks(legal, self._listed).get(self.agent)
            if row is not None:
                info["action_mask"] = row if self._flat else as_gymnasium(self.action_space, row)
        return info

    def _metric(self, values: np.ndarray) -> float:
        return float(values[0, self._slot] if np.ndim(values) == 2 else values[0])


def _row_of(action: Any) -> Any:
    """One agent's action as a batch of one."""
    if isinstance(action, Mapping):
        return {key: _row_of(part) for key, part in action.items()}
    return None if action is None else [[action]]


def _column_of(batch: Any, column: int) -> Any:
    """The part of one agent, (1, 1, ...)."""
    if isinstance(batch, dict):
        return {key: _column_of(part, column) for key, part in batch.items()}
    return batch[:, column : column + 1]


def _put_in(space: spaces.Space[Any], chosen: Any, column: int, rows: Any) -> Any:
    """The batch's actions with those of one agent put in."""
    if isinstance(space, spaces.Dict):
        return {key: _put_in(part, chosen[key], column, rows[key]) for key, part in space.spaces.items()}
    batch = np.array(chosen, space.dtype)
    batch[0, column] = rows[0, 0]
    return batch
