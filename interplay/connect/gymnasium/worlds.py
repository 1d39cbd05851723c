"""A world of ours as a Gymnasium `Env`: one of its agents is played from outside, a policy plays the others."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.connect.pictures import PIXELS
from interplay.connect.readers import KindReader, idle
from interplay.core.errors import UserError
from interplay.core.masks import as_gymnasium
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.spaces import check_action
from interplay.core.world import TimeStep, World
from interplay.registry import make_policy, make_world

PATIENCE = 10_000  # steps, and episodes, until the agent is asked for the first time


class WorldGymEnv(gymnasium.Env[dict[str, Any], Any]):
    """One agent of a world; a policy acts for everybody else.

    The environment asks its agent whenever that acts in the world: steps in which it does not (others' turns, sleep) pass by
    themselves, and what it earns in them is added to its reward, as is what it earned before it was first asked. An episode ends with the
    agent's life or with the world, and truncated is what a limit cut. Episodes in which the agent would never be asked are passed over.

    Infos hold ``action_mask`` where the world has illegal actions, in the form that ``action_space.sample(mask)`` takes, and
    ``metrics/NAME`` (float), the world's metrics, 0 until the last step.

    Args:
        world: with ``num_worlds == 1``.
        agent: whom the environment plays, one of ``world.agents``; by default the first.
        others: who plays the others; by default they act at random. An `interplay.evaluate.Seats` gives each a policy of its own.
        render_mode: None or ``"rgb_array"``; `gymnasium.make` shows the second in a window for ``"human"``.
        seed: names the stream of what the others draw, until `reset` is given a seed.

    Attributes:
        world: the batch of one.
        agent: the agent's name.

    Raises:
        UserError: for a batch of several worlds, an unknown agent or render mode.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [PIXELS], "render_fps": 10}  # type: ignore[misc]

    def __init__(
        self,
        world: World,
        agent: str | None = None,
        others: Policy | None = None,
        render_mode: str | None = None,
        seed: int = 0,
    ) -> None:
        _check(world, agent, render_mode)
        self.world = world
        self.agent = agent or world.agents[0]
        self.render_mode = render_mode
        self._others = others or RandomPolicy()
        self._slot = world.agents.index(self.agent)
        number = next(n for n, kind in enumerate(world.kinds) if self._slot in kind.slots)
        self._kind, self._column = world.kinds[number], world.kinds[number].slots.index(self._slot)
        self._reader = KindReader(world, number, mask_in_observation=False)
        self._listed = [slot == self._slot for slot in range(len(world.agents))]
        self.observation_space = self._kind.observation_space
        self.action_space = self._kind.action_space
        self._seed: int | None = seed  # for the others' first start
        self._playing = False
        self._owed = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: names it, and the draws of the others; None goes on with the streams of the world and of the others.
            options: ignored; worlds take their options when they are made.

        Raises:
            UserError: if the agent is never asked.
        """
        super().reset(seed=seed)
        timestep = self.world.reset(seeds=seed)
        self._seed = self._seed if seed is None else seed
        if self._seed is None:
            self._others.forget(np.ones(1, bool))
        else:
            self._others.start(self.world, self._seed)
        self._seed, self._owed, self._playing = None, 0.0, True
        for _ in range(PATIENCE):
            timestep = self._wait(timestep, self._acts(timestep))
            if self._acts(timestep):
                return self._seen(timestep), self._told(timestep)
            timestep = self.world.reset()
            self._others.forget(np.ones(1, bool))
            self._owed = 0.0
        raise UserError(
            f"{self.world.id}: {self.agent} was never asked in {PATIENCE:,} episodes; play another agent"
        )

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Observation, what was earned until the agent is asked again, terminated, truncated and info.

        Raises:
            UserError: for an action that is not in the space, and before the first reset or after an episode's end.
        """
        if not self._playing:
            raise UserError(f"{self.world.id}: no episode is being played; call reset() first")
        rows = check_action(f"{self.world.id} {self.agent}", self.action_space, _row(action), 1, 1)
        timestep = self._advance(rows)
        timestep = self._wait(timestep, self._acts(timestep) or self._has_ended(timestep))
        reward, self._owed = self._owed, 0.0
        ended = self._has_ended(timestep)
        truncated = (
            ended and bool(timestep.truncated[0, self._slot]) and not timestep.terminated[0, self._slot]
        )
        self._playing = not ended
        return self._seen(timestep), reward, ended and not truncated, truncated, self._told(timestep, ended)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """A (512, 512, 3) uint8 picture.

        Raises:
            UserError: without a render mode, or if pictures need a package that is not installed.
        """
        if self.render_mode is None:
            raise UserError(f'{self.world.id}: no render_mode; make it with render_mode="rgb_array"')
        from interplay.view.picture import render_world

        return render_world(self.world, 0)

    def close(self) -> None:
        """Closes the world."""
        self.world.close()

    def _wait(self, timestep: TimeStep, enough: bool) -> TimeStep:
        """Lets the others play until the agent acts or has ended."""
        for _ in range(PATIENCE):
            if enough:
                return timestep
            timestep = self._advance(None)
            enough = self._acts(timestep) or self._has_ended(timestep)
        raise UserError(
            f"{self.world.id}: {self.agent} was not asked for {PATIENCE:,} steps; play another agent"
        )

    def _advance(self, rows: Any) -> TimeStep:
        """One step of the world, in which the agent does what `rows` (1, 1, ...) say, and nothing where it is None."""
        chosen = self._others.act(self.world.timestep)
        if rows is not None:
            several = len(self.world.kinds) > 1
            own = _put(self.action_space, chosen[self._kind.name] if several else chosen, self._column, rows)
            chosen = {**chosen, self._kind.name: own} if several else own
        timestep = self.world.step(chosen)
        self._owed += float(timestep.reward[0, self._slot])
        return timestep

    def _acts(self, timestep: TimeStep) -> bool:
        return bool(timestep.acting[0, self._slot])

    def _has_ended(self, timestep: TimeStep) -> bool:
        ended = timestep.terminated[0, self._slot] or timestep.truncated[0, self._slot]
        return bool(ended or timestep.over[0])

    def _seen(self, timestep: TimeStep) -> dict[str, Any]:
        if self.world.rebirths and self._has_ended(timestep) and self._acts(timestep):
            blank: dict[str, Any] = idle(self.observation_space)  # somebody else lives in the slot by now
            return blank
        fields = self.world.by_kind(timestep.observation)[self._kind.name]
        return self._reader.observe(fields, None, self._listed)[self.agent]

    def _told(self, timestep: TimeStep, ended: bool = False) -> dict[str, Any]:
        told = {
            f"metrics/{name}": self._metric(values) if ended else 0.0
            for name, values in self.world.metrics.items()
        }
        if timestep.action_mask is not None:
            legal = self.world.by_kind(timestep.action_mask)[self._kind.name]
            row = self._reader.masks(legal, self._listed).get(self.agent)
            if row is not None:
                told["action_mask"] = as_gymnasium(self.action_space, row)
        return told

    def _metric(self, values: np.ndarray) -> float:
        return float(values[0, self._slot] if np.ndim(values) == 2 else values[0])


def world_to_gym(
    world_id: str,
    *,
    agent: str | None = None,
    others: Policy | str = "random",
    seed: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> WorldGymEnv:
    """Makes one world as a Gymnasium environment; ``gymnasium.make("interplay/...")`` calls it.

    Args:
        world_id: a registered id, or anything else that `interplay.make_world` takes.
        agent: whom the environment plays; by default the first.
        others: who plays the others: a policy, or the name of a scripted one.
        seed: names the stream of episodes that `reset` without a seed goes through; None draws one, as Gymnasium has it.
        render_mode: None or ``"rgb_array"``.
        **options: the world's settings.

    Raises:
        UserError: for an unknown world, option, agent, policy or render mode.

    Example:
        >>> env = world_to_gym("simulation/multi-corridor", agent="agent1", seed=1)
        >>> observation, info = env.reset()
        >>> observation, reward, terminated, truncated, info = env.step(2)
    """
    player = make_policy(world_id, others) if isinstance(others, str) else others
    if not isinstance(player, Policy):
        raise UserError(
            f"{world_id}: others = {player!r} is no policy; give one, or the name of a scripted one"
        )
    named = secrets.randbits(63) if seed is None else seed
    world = make_world(world_id, num_worlds=1, seed=named, **options)
    return WorldGymEnv(world, agent, player, render_mode, named)


# gymnasium.make looks here for what it can show: "human" by its own window, "rgb_array_list" by its own collection.
world_to_gym.metadata = WorldGymEnv.metadata  # type: ignore[attr-defined]


def _check(world: World, agent: str | None, render_mode: str | None) -> None:
    if world.num_worlds != 1:
        raise UserError(
            f"{world.id}: a Gymnasium environment is one world, this batch has {world.num_worlds}; pass num_worlds=1"
        )
    if agent is not None and agent not in world.agents:
        raise UserError(f"{world.id}: unknown agent {agent!r}; agents are {', '.join(world.agents)}")
    if render_mode not in (None, PIXELS):
        raise UserError(f'{world.id}: render_mode = {render_mode!r}; choose "rgb_array", or None')


def _row(action: Any) -> Any:
    """One agent's action as a batch of one."""
    if isinstance(action, Mapping):
        return {key: _row(part) for key, part in action.items()}
    return None if action is None else [[action]]


def _put(space: spaces.Space[Any], chosen: Any, column: int, rows: Any) -> Any:
    """The batch's actions with those of one agent put in."""
    if isinstance(space, spaces.Dict):
        return {key: _put(part, chosen[key], column, rows[key]) for key, part in space.spaces.items()}
    batch = np.array(chosen, space.dtype)
    batch[0, column] = rows[0, 0]
    return batch
