"""The mask wrapper: the original's observations with a mask and as a vector (specification 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseParallelWrapper

from interplay.connect.werewolf.spaces import observed_spaces
from interplay.connect.werewolf.written import ByAgent, WrittenEnv
from interplay.core.errors import UserError

Boards = Literal["one_hot", "scaled"]


class MaskedEnv(BaseParallelWrapper[str, Any, Any]):
    """A `WrittenEnv` with observations for a network with masks.

    An observation is a Dict of ``action_mask`` (``n * (1 + L)`` int8, of the seat's own next action; of an ended seat all 0),
    ``array_obs`` (flat float32) and ``dict_obs`` (the original one). The vector holds the one-hots of the fields with one
    number, then the bits, then the boards, each in the order of the table; see `layout`.

    Args:
        boards: each entry of a board as a one-hot (the first place: no entry), or as one number from 0 (no entry) to 1.

    Attributes:
        layout: field -> slice of ``array_obs``.

    Example:
        >>> from interplay.connect.werewolf.written import make_written
        >>> env = MaskedEnv(make_written("werewolf/9"), boards="scaled")
        >>> env.layout["day"], env.layout["status_map"], env.layout["targets"]
        (slice(0, 10, None), slice(23, 32, None), slice(32, 41, None))
    """

    def __init__(self, env: WrittenEnv, boards: Boards = "one_hot") -> None:
        if boards not in ("one_hot", "scaled"):
            raise UserError(f"{env.world.id}: boards = {boards!r}; choose one_hot or scaled")
        super().__init__(env)
        self.boards = boards
        self._parts = _in_order(observed_spaces(env.world.settings))
        self.layout = layout_of(self._parts, boards)
        self._size = max(place.stop for place in self.layout.values())
        n, length = env.world.settings.n_players, env.world.settings.signal_length
        self._choices = n * (1 + length)
        self.observation_spaces = {
            name: spaces.Dict(
                {
                    "action_mask": spaces.Box(0, 1, (self._choices,), np.int8),
                    "array_obs": spaces.Box(0.0, 1.0, (self._size,), np.float32),
                    "dict_obs": env.observation_spaces[name],
                }
            )
            for name in self.possible_agents
        }

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Starts a game, as `WrittenEnv.reset`."""
        observations, infos = self.env.reset(seed, options)
        return self._seen(observations, infos), infos

    def step(self, actions: Mapping[str, Any]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Plays a phase, as `WrittenEnv.step`."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        return self._seen(observations, infos), rewards, terminated, truncated, infos

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def flatten(self, observation: Mapping[str, Any]) -> np.ndarray:
        """(size,) float32 of one of the original's observations; see `layout`."""
        flat = np.zeros(self._size, np.float32)
        for name, part in self._parts.items():
            flat[self.layout[name]] = _numbers(part, observation[name], self.boards)
        return flat

    def _seen(self, observations: ByAgent, infos: ByAgent) -> ByAgent:
        none = np.zeros(self._choices, np.int8)
        return {
            name: {
                "action_mask": infos[name].get("action_mask", none),
                "array_obs": self.flatten(original),
                "dict_obs": original,
            }
            for name, original in observations.items()
        }


def layout_of(parts: Mapping[str, spaces.Space[Any]], boards: Boards) -> dict[str, slice]:
    """Field -> its slice of the flat vector."""
    layout, at = {}, 0
    for name, part in parts.items():
        size = len(_numbers(part, part.sample(), boards))
        layout[name] = slice(at, at + size)
        at += size
    return layout


def _in_order(fields: Mapping[str, spaces.Space[Any]]) -> dict[str, spaces.Space[Any]]:
    """Fields with one number, then bits, then boards, each in the table's order."""
    order = (spaces.Discrete, spaces.MultiBinary, spaces.Box)
    return {name: part for kind in order for name, part in fields.items() if isinstance(part, kind)}


def _numbers(space: spaces.Space[Any], value: Any, boards: Boards) -> np.ndarray:
    if isinstance(space, spaces.Discrete):
        return np.eye(int(space.n), dtype=np.float32)[int(value)]
    if isinstance(space, spaces.MultiBinary):
        return np.asarray(value, np.float32)
    assert isinstance(space, spaces.Box)
    places = int(space.high.flat[0]) + 2  # no entry is -1
    entry = np.asarray(value, np.int64).ravel() + 1
    if boards == "scaled":
        return entry.astype(np.float32) / np.float32(places - 1)
    return np.eye(places, dtype=np.float32)[entry].ravel()
