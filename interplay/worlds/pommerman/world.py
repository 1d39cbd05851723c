"""Pommerman as a world: spaces, reset, step, metrics, valid ranges (specification 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls, arrows, direction_to
from interplay.core.errors import UserError
from interplay.core.fog import Visible
from interplay.core.kernel_world import KernelWorld
from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count, index, one_of
from interplay.core.scene import Canvas
from interplay.core.world import Kind, Outputs, TimeStep
from interplay.worlds.pommerman import observe
from interplay.worlds.pommerman.config import BOMB_LIFE, FLAME_LIFE, MOST_AMMO, START_BLAST, PommermanSettings
from interplay.worlds.pommerman.render import draw, visible
from interplay.worlds.pommerman.rules import step
from interplay.worlds.pommerman.state import (
    ACTIONS,
    EXTRA_BOMB,
    KICK,
    MORE_RANGE,
    PASSAGE,
    RIGHT,
    RIGID,
    WOOD,
    PommermanState,
    allocate_scratch,
    allocate_state,
    plan_of,
    rules_of,
)


def ranges_of(s: PommermanSettings) -> dict[str, Range]:
    """Name -> range of every field of `jit.arrays_of`, as far as the rules rely on them.

    The rim is rigid, so agents and fire stay on the board. There is a slot for every bomb, because no player lays two in one step.
    """
    cells, most, blast = (s.size + 2) ** 2, count(s.limit), Range(START_BLAST, s.most_blast)
    return {
        "agent.cell": index(cells),
        "agent.ammo": count(MOST_AMMO),
        "agent.blast": blast,
        "agent.outcome": Range(-1, 1),
        "agent.ranges": most,
        "agent.kicks": count(1),
        "agent.extra_bombs": most,
        "agent.bombs_laid": most,
        "agent.returns": REAL,
        "bomb.cell": index(cells),
        "bomb.life": count(BOMB_LIFE),
        "bomb.blast": Range(START_BLAST, s.most_blast, (0,)),
        "bomb.direction": index(RIGHT + 1),
        "bomb.owner": index(s.players),
        "room.steps": most,
        "room.bombs": count(s.bombs),
        "stream": ANYTHING,
        "ground": one_of(PASSAGE, RIGID, WOOD, EXTRA_BOMB, MORE_RANGE, KICK),
        "item": one_of(0, EXTRA_BOMB, MORE_RANGE, KICK),
        "flame": count(FLAME_LIFE),
        "words": count(s.vocabulary - 1),
        "reward": REAL,
    }


def laws_of(s: PommermanSettings) -> list[Invariant]:
    """Invariants between fields."""
    side = s.size + 2
    inner = np.zeros((side, side), bool)
    inner[1:-1, 1:-1] = True
    rim = ~inner.reshape(-1)

    def live(given: Arrays) -> Any:
        return np.arange(s.bombs) < given["room.bombs"][:, None]

    def under(given: Arrays, name: str) -> Any:
        return np.take_along_axis(given["ground"], given[name].astype(np.int64), axis=1)

    def invalid_bombs(given: Arrays) -> Any:
        life = given["bomb.life"]
        wrong = (under(given, "bomb.cell") != PASSAGE) | (life == 0) | (life == BOMB_LIFE)
        return live(given) & (wrong | (given["bomb.blast"] == 0))

    def twins(given: Arrays) -> Any:
        key = given["bomb.owner"].astype(np.int64) * (BOMB_LIFE + 1) + given["bomb.life"]
        return _repeated(np.where(live(given), key, -1 - np.arange(s.bombs)))

    def stacked(given: Arrays) -> Any:
        return _repeated(np.where(live(given), given["bomb.cell"], -1 - np.arange(s.bombs)))

    def burns(given: Arrays) -> Any:
        return (given["flame"] > 0) & (given["ground"] != PASSAGE)

    def buried(given: Arrays) -> Any:
        ground = under(given, "agent.cell")
        return rim[given["agent.cell"]] | (given["agent.alive"] & (ground != PASSAGE))

    def crowded(given: Arrays) -> Any:
        return _repeated(np.where(given["agent.alive"], given["agent.cell"], -1 - np.arange(s.players)))

    return [
        Invariant("ground", "is not rigid on the rim", lambda given: rim & (given["ground"] != RIGID)),
        Invariant(
            "bomb.life",
            "is of an impossible bomb: in a wall, on an item, spent, or without reach",
            invalid_bombs,
        ),
        Invariant("bomb.life", "is that of two bombs of one owner", twins),
        Invariant("bomb.cell", "has two bombs", stacked),
        Invariant("flame", "burns in a wall or on an open item", burns),
        Invariant("agent.cell", "is on the rim, or a living agent's in a wall or on an item", buried),
        Invariant("agent.cell", "has two agents", crowded),
        Invariant("acting", "does not hold the living agents of running games", _wrong_acting),
        Invariant("agent.ended", "is True for a living agent of a running game", _wrong_ended),
        Invariant(
            "room.steps", "is the limit, but its game is not over", lambda given: _is_too_long(s, given)
        ),
    ]


def _repeated(keys: Any) -> Any:
    """(W, n) bool: the number is a repetition within its row."""
    order = np.sort(keys, axis=1)
    wrong = np.zeros(keys.shape, bool)
    wrong[:, 1:] = order[:, 1:] == order[:, :-1]
    return wrong


def _wrong_acting(given: Arrays) -> Any:
    return given["acting"] != (given["agent.alive"] & ~given["room.over"][:, None])


def _wrong_ended(given: Arrays) -> Any:
    return given["agent.ended"] & given["agent.alive"] & ~given["room.over"][:, None]


def _is_too_long(s: PommermanSettings, given: Arrays) -> Any:
    return (given["room.steps"] >= s.limit) & ~given["room.over"]


class PommermanWorld(KernelWorld):
    """W games of bombs on a small board: two or four players, each for itself or two against two.

    A dead player does not act. If it can earn nothing more its life ends (``terminated``). Otherwise (teams,
    ``reward="zero_sum"``, rewards for others' actions) it stays present and is paid when the game ends. `threads` does not change
    the results.

    Attributes:
        state: the arrays (`state.PommermanState`); after writing to them call `refresh`.
        eyes: the player of the fog that `draw` shows; None draws everything with all windows.
    """

    version = 1
    frames_per_step = 4
    per_team = ("fallen", "felled")
    eyes: int | None = None

    def __init__(
        self,
        settings: PommermanSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        self.settings = settings
        space = observe.observation_space(settings)
        kind = Kind("agent", tuple(range(settings.players)), space, action_space(settings))
        names = [f"agent_{a}" for a in range(settings.players)]
        super().__init__(num_worlds, names, [kind], seed, first_world, threads)
        words = ["silence", *(f"word {number}" for number in range(1, settings.vocabulary))]
        heads = {f"say {number + 1}": words for number in range(settings.words)} if settings.radio else {}
        self.action_names = {"move": ("stay", "up", "down", "left", "right", "bomb"), **heads}
        if settings.teams:
            self.teams = ((0, 2), (1, 3))
        self.state: PommermanState = allocate_state(settings, num_worlds)
        self.state_space = observe.state_space(settings)
        self._sight = observe.allocate_sight(settings, num_worlds)
        self._scratch = allocate_scratch(settings, self._chunks.threads)
        self._table, self._plan = rules_of(settings), plan_of(settings)
        self.dead_stay = bool(self._table[0]["stays"])
        self._action = np.zeros((num_worlds, settings.players, 1 + self.state.words.shape[2]), np.int64)
        s = self.state
        self.outputs = Outputs(s.reward, s.acting, s.terminated, s.truncated, s.room["over"])
        self._views = TimeStep(observe.fields_of(self._sight, settings), *self.outputs)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of the current episode, per agent (W, A); the length in steps is (W,).

        ``outcome`` is +1, 0 for a tie, or -1 for the agent's side; NaN until the game is over. ``fallen`` counts dead members of its side,
        ``felled`` dead enemies; ``ranges``, ``kicks`` and ``extra_bombs`` count its own items.
        """
        agent, over = self.state.agent, np.asarray(self.state.room["over"])
        dead, s = ~agent["alive"], self.settings
        sides = np.arange(s.players) % 2 if s.teams else np.arange(s.players)
        same = (sides[:, None] == sides).astype(np.int64)
        return {
            "episode_length": np.array(self.state.room["steps"]),
            "episode_return": agent["returns"].copy(),
            "outcome": np.where(over[:, None], agent["outcome"], np.nan),
            "alive": agent["alive"].copy(),
            "fallen": dead @ same,
            "felled": dead @ (1 - same),
            **{
                name: agent[name].astype(np.int64)
                for name in ("ranges", "kicks", "extra_bombs", "bombs_laid")
            },
        }

    def global_state(self) -> np.ndarray:
        """The whole board with hidden items, and every agent's numbers (`observe.global_state`)."""
        return observe.global_state(self.state, self.settings)

    def controls(self, slot: int) -> Controls:
        """Arrows move, Space lays a bomb; without a key the player stays."""
        return Controls({**arrows("move"), " ": {"move": "bomb"}}, {"move": "stay"})

    def click(self, world: int, slot: int, x: float, y: float) -> dict[str, str] | None:
        """A step to a neighbouring cell, or a bomb on the own cell."""
        row, col = divmod(int(self.state.agent["cell"][world, slot]), self.settings.size + 2)
        dx, dy = np.floor(x) - (col - 1), np.floor(y) - (row - 1)
        move = "bomb" if dx == dy == 0 else direction_to(dx, dy)
        return None if move is None else {"move": move}

    def visible(self, world: int, slot: int) -> Visible:
        """Everything, or the window within the fog."""
        return visible(self.state, self.settings, world, slot)

    def draw(self, canvas: Canvas, world: int) -> None:
        draw(canvas, self.state, self.settings, world, self.eyes)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        self.state.bomb[which] = np.zeros((), self.state.bomb.dtype)  # unused rows count in hashes too
        failed: list[int] = []
        self._chunks.run(
            lambda thread, lo, hi: failed.append(
                step.begin_worlds(
                    self.state, self._sight, self._plan, self._table, self._scratch, which, thread, lo, hi
                )
            )
        )
        if max(failed) >= 0:
            s = self.settings
            raise UserError(
                f"{self.id}: rigid = {s.rigid} and wood = {s.wood}: no {s.size} x {s.size} board with connected passages was found; lower rigid"
            )

    def _advance(self, action: np.ndarray) -> None:
        np.copyto(self._action, action.reshape(self._action.shape), casting="unsafe")
        self._chunks.run(
            lambda thread, lo, hi: step.step_worlds(
                self.state, self._sight, self._table, self._scratch, self._action, thread, lo, hi
            )
        )

    def _look_anew(self) -> None:
        self._chunks.run(
            lambda thread, lo, hi: step.look_at_worlds(
                self.state, self._sight, self._table, self._scratch, thread, lo, hi
            )
        )

    def state_ranges(self) -> Mapping[str, Range]:
        return ranges_of(self.settings)

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.settings)


def action_space(settings: PommermanSettings) -> spaces.Space:
    """Stop, up, down, left, right, bomb; with radio a head for each word (specification 3.3 and 3.5)."""
    if settings.radio:
        return spaces.MultiDiscrete([ACTIONS] + [settings.vocabulary] * settings.words)
    return spaces.Discrete(ACTIONS)
