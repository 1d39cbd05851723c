"""Records every n-th game while it is played, each of its steps as a board."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.communication.reading import Reader
from interplay.evaluate.communication.table import BOARD_TYPES, About, Array, Boards, Games, Talk
from interplay.evaluate.episodes import play

LOG_EVERY = 500  # games per recorded one (specification 10)


class TalkRecorder:
    """Records games; its `add` is a hook of `evaluate.play`.

    Args:
        log_every: games with a multiple of this number are kept; 1: all.

    Attributes:
        kept: finished games that were not yet taken.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> from interplay.evaluate import play
        >>> from interplay.evaluate.communication.reading import BroadcastReader
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
        self._rows: list[tuple[Array, Array, Boards]] = []  # game numbers, ended or not, boards
        self._ended: list[Games] = []
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
        boards = Boards(
            *(np.concatenate(columns) for columns in zip(*(b for _, _, b in self._rows), strict=True))
        )
        number = np.concatenate([number for number, _, _ in self._rows])
        games = Games(*(np.concatenate(columns) for columns in zip(*self._ended, strict=True)))
        # A game's last row has its result; rows of a game are in order of time.
        played, last = np.unique(number[::-1], return_index=True)
        games = Games(*(column[::-1][last] for column in games))
        order = np.lexsort((boards.step, number))
        boards = Boards(*(column[order] for column in boards))
        return Talk(self._about, games, boards._replace(game=np.searchsorted(played, number[order])))

    def take(self, whole: bool = False) -> Talk | None:
        """Returns and drops the finished games, with `whole` also unfinished ones; None without any."""
        if self._about is None or not self._rows:
            return None
        over = np.unique(np.concatenate([number[ended] for number, ended, _ in self._rows]))
        talk = self.talk()
        taken = np.isin(talk.games.number, over) | whole
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
        games = self._reader.games(world)
        self._rows.append((episode[wanted].copy(), over[wanted].copy(), boards))
        self._ended.append(Games(episode[wanted].copy(), *(np.array(column[wanted]) for column in games[1:])))
        self.kept += int((over & wanted).sum())
        self._alive = shown.alive.copy()

    def _forget(self, numbers: Array) -> None:
        """Drops the rows of these games."""
        rows, ended = [], []
        for (number, over, boards), games in zip(self._rows, self._ended, strict=True):
            left = ~np.isin(number, numbers)
            if left.any():
                rows.append((number[left], over[left], Boards(*(column[left] for column in boards))))
                ended.append(Games(*(column[left] for column in games)))
        self._rows, self._ended = rows, ended


def record(world: World, policy: Any, reader: Reader, games: int, seed: int = 0, **play_options: Any) -> Talk:
    """Plays games and records all of them; arguments as of `evaluate.play`."""
    recorder = TalkRecorder(reader, log_every=1)
    play(world, policy, games, seed, on_step=recorder.add, **play_options)
    talk = recorder.talk()
    return Talk(talk.about._replace(policy=policy.name), talk.games, talk.boards)
