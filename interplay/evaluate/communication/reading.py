"""Reads a world's boards while it is played: the interface, its reader of broadcasts, and the choice of a reader."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import World
from interplay.evaluate.communication.table import NONE, TALK, About, Array, Games

CHANNEL = "message."  # of the observation, followed by the sender's name


class Shown(NamedTuple):
    """The boards of a batch's last step: the columns of `Boards` without game and step."""

    day: Array  # (W,)
    phase: Array  # (W,)
    round: Array  # (W,)
    public: Array  # (W,) bool
    counted: Array  # (W,)
    chosen: Array  # (W,)
    tied: Array  # (W,)
    alive: Array  # (W, n) bool, after the step
    spoke: Array  # (W, n) bool, as far as visible on the board
    names: Array  # (W, n, b)
    words: Array  # (W, n, L)
    reward: Array  # (W, n, T)


class Reader(Protocol):
    """Reads the boards of one kind of world from its arrays."""

    def about(self, world: World) -> About:
        """Meaning of the numbers."""

    def shown(self, world: World) -> Shown:
        """Boards of the last step."""

    def acting(self, world: World) -> Array:
        """(W, n) bool, speakers of the next step."""

    def games(self, world: World) -> Games:
        """Roles and result of every world's game; the column `number` is ignored."""


class BroadcastReader:
    """Reads batches with observations ``message.<sender>``.

    Args:
        bins: equal parts of the messages' range -1..1.
    """

    def __init__(self, bins: int = 8) -> None:
        self._bins = bins

    def about(self, world: World) -> About:
        if not self.acting(world).any():
            raise UserError(
                f"{world.id}: its agents see no {CHANNEL}<sender>; choose a world such as gridworld/broadcast"
            )
        return About(world=world.id, symbols=(2, self._bins))

    def shown(self, world: World) -> Shown:
        received = self._received(world)
        w, n = received.shape[:2]
        strongest = np.abs(received).argmax(axis=1)  # all receivers get the same message
        message = np.take_along_axis(received, strongest[:, None], axis=1)[:, 0]
        part = np.clip((message + 1) / 2 * self._bins, 0, self._bins - 1).astype(np.int16)
        sent = message != 0
        nothing = np.zeros(w, np.int64)
        return Shown(
            day=nothing,
            phase=nothing,
            round=nothing,
            public=np.ones(w, bool),
            counted=np.full(w, TALK),
            chosen=np.full(w, NONE),
            tied=np.zeros(w, bool),
            alive=np.ones((w, n), bool),
            spoke=self.acting(world),
            names=np.full((w, n, 1), NONE),
            words=np.stack([sent, np.where(sent, part, -1)], axis=2),
            reward=np.asarray(world.timestep.reward)[:, :, None],
        )

    def acting(self, world: World) -> Array:
        """(W, n) bool, agents with observable messages."""
        talkers = np.zeros((world.num_worlds, len(world.agents)), bool)
        for name in _leaves(world):
            talkers[:, world.agents.index(name)] = True
        return talkers

    def games(self, world: World) -> Games:
        w, n = world.num_worlds, len(world.agents)
        return Games(
            number=np.zeros(w, np.int64),
            stream=np.zeros((w, 2), np.uint64),
            role=np.zeros((w, n), np.uint8),
            team=np.zeros((w, n), np.int8),
            winner=np.full(w, NONE, np.int8),
        )

    def _received(self, world: World) -> Array:
        """(W, n, n) message by receiver and sender; 0 = none, also from an agent to itself."""
        n = len(world.agents)
        received = np.zeros((world.num_worlds, n, n))
        for kind in world.kinds:
            seen = world.by_kind(world.timestep.observation)[kind.name]
            for name, leaf in seen.items():
                if name.startswith(CHANNEL):
                    sender = world.agents.index(name.removeprefix(CHANNEL))
                    received[:, list(kind.slots), sender] = leaf[..., 0]
        received[:, np.arange(n), np.arange(n)] = 0
        return received


def _leaves(world: World) -> list[str]:
    """Names of agents with observable messages."""
    found = set()
    for kind in world.kinds:
        for name, space in kind.observation_space.spaces.items():
            if name.startswith(CHANNEL):
                found.add(name.removeprefix(CHANNEL))
            elif name == CHANNEL.rstrip(".") and isinstance(space, spaces.Dict):
                found |= set(space.spaces)
    return sorted(found & set(world.agents))


def reader_of(world: World) -> Reader:
    """The reader named in `World.instruments`, or one for messages in observations.

    Raises:
        UserError: for a world without talk.
    """
    if "talk" in world.instruments:
        return load(world.instruments["talk"])()
    reader = BroadcastReader()
    if not reader.acting(world).any():
        raise UserError(f"{world.id}: no talk; choose a world such as werewolf/9-l1s9")
    return reader
