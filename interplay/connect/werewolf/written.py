"""Werewolf in its original form: only acting seats are reported, in the original's spaces.

Actions are ``MultiDiscrete([n] * (1 + L))``: a name, then L symbols, which are the first S of n values; ``Discrete(n)`` without
words. There is no value for a pass, so sleepers and the dead do not act. Source: specification 6 and 7 (connector).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.werewolf.spaces import (
    action_space_of,
    columns_of,
    observed_spaces,
    point_of,
    refuse_others,
)
from interplay.core.errors import UserError
from interplay.registry import find_world, make_world
from interplay.worlds.werewolf.world import WerewolfWorld

ByAgent = dict[str, Any]


class WrittenEnv(ParallelEnv[str, Any, Any]):
    """One game as a PettingZoo parallel environment or RLlib's: seats with an observation act next.

    `agents` are the seats still in the game. `reset` and `step` report the seats that act in the coming phase and those that have
    just ended. A reward adds up from report to report: rewards of sleepers and the dead are kept, in `owed`.

    Infos hold ``action_mask``, ``n * (1 + L)`` int8, the heads one after another; of an ended seat ``metrics``.

    Args:
        world: one game with one name on a ballot, one board and the original's roles, see `make_written`.

    Attributes:
        world: the game. Its roles are for policy mapping and evaluation, never for a player.
        owed: seat -> reward not reported yet.
    """

    def __init__(self, world: WerewolfWorld) -> None:
        refuse_others(world)
        self.world = world
        settings = world.settings
        self.metadata = {"name": world.id, "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents = list(world.agents)
        self._seat = {name: seat for seat, name in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.observation_spaces = {
            name: spaces.Dict(observed_spaces(settings)) for name in self.possible_agents
        }
        self.action_spaces = {name: action_space_of(settings) for name in self.possible_agents}
        self.owed = dict.fromkeys(self.possible_agents, 0.0)
        self._choices = columns_of(settings)
        self._rows = np.zeros((1, settings.n_players, 1 + settings.signal_length), np.int16)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Starts a game; observations and infos of the seats that act first.

        Args:
            seed: of the game; None continues the world's own stream.
            options: ignored.
        """
        self.world.reset(seeds=seed)
        self.agents = list(self.possible_agents)
        self.owed = dict.fromkeys(self.possible_agents, 0.0)
        queried = self.queried
        return self._seen(queried), self._infos(queried, [])

    @property
    def queried(self) -> list[str]:
        """The seats that act in the coming phase."""
        return self._flagged(self.world.timestep.acting)

    def step(self, actions: Mapping[str, Any]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Plays a phase with an action of each seat in `queried`.

        Raises:
            UserError: for an action that is missing, too many or outside its space, naming the seat; nothing has happened then.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        now = self.world.step(self._batch(actions))
        for seat, name in enumerate(self.possible_agents):
            self.owed[name] += float(now.reward[0, seat])
        cut = self._flagged(now.truncated)
        ended = self._flagged(now.terminated) + cut
        shown = self.queried
        shown = [name for name in self.agents if name in shown or name in ended]
        rewards = {name: self.owed[name] for name in shown}
        self.owed |= dict.fromkeys(shown, 0.0)
        self.agents = [name for name in self.agents if name not in ended]
        terminated = {name: name in ended and name not in cut for name in shown}
        truncated = {name: name in cut for name in shown}
        return self._seen(shown), rewards, terminated, truncated, self._infos(shown, ended)

    def render(self) -> None:
        """Draws nothing."""

    def close(self) -> None:
        self.world.close()

    def action_mask(self, agent: str) -> np.ndarray:
        """(n * (1 + L),) int8, the seat's legal names and symbols."""
        row = self.world.timestep.action_mask["action"][0, self._seat[agent]]  # type: ignore[index]
        return np.where(self._choices >= 0, row[self._choices], False).astype(np.int8)

    # -- parts of a step --------------------------------------------------------------------------

    def _flagged(self, flags: np.ndarray) -> list[str]:
        return [name for name, flag in zip(self.possible_agents, flags[0].tolist(), strict=True) if flag]

    def _batch(self, actions: Mapping[str, Any]) -> np.ndarray:
        queried = self.queried
        for name in [*actions, *queried]:
            if name not in queried:
                raise UserError(f"{self.world.id}: an action of {name}, which is idle; acting are {queried}")
            if name not in actions:
                raise UserError(f"{self.world.id}: no action of {name}, which acts; pass one")
            given = point_of(self.action_spaces[name], actions[name], f"{self.world.id}: action", name)
            self._rows[0, self._seat[name]] = self._symbols(name, given)
        return self._rows

    def _symbols(self, name: str, given: Any) -> np.ndarray:
        row = np.atleast_1d(np.asarray(given))
        settings = self.world.settings
        if (row[1:] >= settings.signal_range).any():
            raise UserError(
                f"{self.world.id}: symbol {int(row[1:].max())} of {name} is not below signal_range = {settings.signal_range}; "
                "choose by the action mask"
            )
        return row

    def _seen(self, names: list[str]) -> ByAgent:
        fields = self.world.timestep.observation
        found = {}
        for name in names:
            seat = self._seat[name]
            space = self.observation_spaces[name]
            assert isinstance(space, spaces.Dict)
            found[name] = {key: _point(part, fields[key][0, seat]) for key, part in space.items()}
        return found

    def _infos(self, shown: list[str], ended: list[str]) -> ByAgent:
        infos: ByAgent = {
            name: {} if name in ended else {"action_mask": self.action_mask(name)} for name in shown
        }
        if ended and not self.agents:
            metrics = {key: values[0].item() for key, values in self.world.metrics.items()}
            infos |= {name: {"metrics": dict(metrics)} for name in ended}
        return infos


def make_written(world_id: str = "werewolf/written", *, seed: int = 0, **options: Any) -> WrittenEnv:
    """Makes one game with the original's spaces.

    Args:
        world_id: of a werewolf variant; one with two boards gets the last visible one.
        seed: names the stream of games for `reset` without a seed.
        **options: the world's settings.

    Example:
        >>> env = make_written("werewolf/9-l1s9")
        >>> env.action_space("seat_0")
        MultiDiscrete([9 9])
        >>> observations, infos = env.reset(seed=1)
        >>> len(observations), infos[env.queried[0]]["action_mask"].shape  # three wolves
        (3, (18,))
    """
    if find_world(world_id).options.get("board", "split") == "split":
        options.setdefault("board", "last_visible")
    options.setdefault("reward_terms", True)
    world = make_world(world_id, num_worlds=1, seed=seed, **options)
    if not isinstance(world, WerewolfWorld):
        raise UserError(f"{world_id}: no game of werewolf; name one, such as werewolf/written")
    return WrittenEnv(world)


def _point(space: spaces.Space[Any], value: np.ndarray) -> Any:
    if isinstance(space, spaces.Discrete):
        return int(value)
    return value.astype(space.dtype)
