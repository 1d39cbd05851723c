"""Reads a world's boards while it is played, and records every n-th game."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import World
from interplay.evaluate.communication.table import (
    BOARD_TYPES,
    NONE,
    TALK,
    About,
    Array,
    Boards,
    Games,
    Talk,
    pick,
    stack,
)
from interplay.evaluate.episodes import play

CHANNEL = "message."  # of the observation, followed by the sender's name
LOG_EVERY = 500  # games per recorded one (specification 10)


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
    """Reads batches with observations ``message.<sender>``, such as those of a `BroadcastObserver`.

    A word has two symbols: whether any agent received the message, and the bin of the message in the range -1..1.

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


class TalkRecorder:
    """Records games; its `add` is a hook of `evaluate.play`.

    Args:
        log_every: games with a multiple of this number are kept; 1: all.

    Attributes:
        kept: finished games that were not yet taken.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> from interplay.evaluate import play
        >>> from interplay.evaluate.communication.recording import BroadcastReader
        >>> from interplay.registry import make_world
        >>> recorder = TalkRecorder(BroadcastReader(), log_every=2)
        >>> world = make_world("gridworld/broadcast", num_worlds=2)
        >>> _ = play(world, RandomPolicy(), episodes=3, max_steps=5, on_step=recorder.add)
        >>> recorder.talk().games.number.tolist()
        [0, 2]
    """

    def __init__(self, reader: Reader, log_every: int = LOG_EVERY) -> None:
        if log_every < 1:
            raise UserError(
                f"log_every = {log_every}: keep one of 1 or more games; 1 keeps all, {LOG_EVERY} is usual"
            )
        self._reader, self._every = reader, log_every
        self._about: About | None = None
        self._rows: list[tuple[Array, Games, Boards]] = []  # of each step: ended or not, games, boards
        self._playing = np.zeros(0, np.int64)
        self._step = np.zeros(0, np.int64)
        self.kept = 0

    def add(self, world: World, episode: Array) -> None:
        """Adds a step.

        Args:
            world: after the step, before finished games are reset.
            episode: (W,) number of each world's game, -1 for none.
        """
        if len(self._playing) != len(episode):
            self._begin(world)
        wanted = (episode >= 0) & (episode % self._every == 0)
        fresh = episode != self._playing
        self._step = np.where(fresh, 0, self._step + 1)
        if wanted.any():
            self._keep(world, episode, wanted, fresh)
        self._playing = episode.copy()
        self._acting = np.array(self._reader.acting(world), bool)

    def talk(self) -> Talk:
        """All recorded games; cut ones end at their last step. UserError without games."""
        if self._about is None or not self._rows:
            raise UserError("talk: no games were recorded; play at least one, or lower log_every")
        games, boards = (
            stack([games for _, games, _ in self._rows]),
            stack([boards for *_, boards in self._rows]),
        )
        # A game's last row has its result; rows of a game are in order of time.
        played, last = np.unique(games.number[::-1], return_index=True)
        order = np.lexsort((boards.step, games.number))
        at = np.searchsorted(played, games.number[order])
        return Talk(self._about, pick(games, -1 - last), pick(boards, order)._replace(game=at))

    def take(self) -> Talk | None:
        """Returns and drops the finished games; None without any."""
        if self._about is None or not self._rows:
            return None
        over = np.unique(np.concatenate([games.number[ended] for ended, games, _ in self._rows]))
        talk = self.talk()
        taken = np.isin(talk.games.number, over)
        self.kept = 0
        self._forget(talk.games.number[taken])
        return talk.select(taken) if taken.any() else None

    def _begin(self, world: World) -> None:
        w = world.num_worlds
        self._about = self._reader.about(world)
        self._playing = np.full(w, -1, np.int64)
        self._step = np.zeros(w, np.int64)
        self._alive = np.zeros((w, 0), bool)
        self._acting = np.zeros((w, 0), bool)

    def _keep(self, world: World, episode: Array, wanted: Array, fresh: Array) -> None:
        shown = self._reader.shown(world)
        if not self._alive.size:
            self._alive = np.ones_like(shown.alive)
            self._acting = np.zeros_like(shown.alive)
        # The state after a reset is not recorded: all are alive then.
        alive = np.where(fresh[:, None], True, self._alive)
        spoke = np.where(fresh[:, None], shown.spoke, self._acting)
        over = np.asarray(world.timestep.over)
        rows: dict[str, Any] = shown._asdict() | {
            "game": episode,
            "step": self._step,
            "alive": alive,
            "spoke": spoke,
            "died": alive & ~shown.alive,
        }
        boards = Boards(
            *(np.array(rows[name][wanted], BOARD_TYPES.get(name, bool)) for name in Boards._fields)
        )
        games = self._reader.games(world)._replace(number=episode)
        self._rows.append((over[wanted], pick(games, wanted), boards))
        self.kept += int((over & wanted).sum())
        self._alive = shown.alive.copy()

    def _forget(self, numbers: Array) -> None:
        """Drops the rows of these games."""
        rows = []
        for over, games, boards in self._rows:
            left = ~np.isin(games.number, numbers)
            if left.any():
                rows.append((over[left], pick(games, left), pick(boards, left)))
        self._rows = rows


def record(world: World, policy: Any, reader: Reader, games: int, seed: int = 0, **play_options: Any) -> Talk:
    """Plays games and records all of them; arguments as of `evaluate.play`."""
    recorder = TalkRecorder(reader, log_every=1)
    play(world, policy, games, seed, on_step=recorder.add, **play_options)
    talk = recorder.talk()
    return Talk(talk.about._replace(policy=policy.name), talk.games, talk.boards)
