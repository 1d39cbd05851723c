"""The matrix games as worlds: spaces, reset, step, observations, metrics, drawing, valid ranges."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.fog import EVERYTHING, Visible
from interplay.core.ranges import ANYTHING, REAL, Invariant, Range, count, index
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.worlds.matrix import rules
from interplay.worlds.matrix.config import (
    CLIMBING,
    ROCK_PAPER_SCISSORS,
    ClimbingSettings,
    CreditSettings,
    RecallSettings,
    RockPaperScissorsSettings,
)
from interplay.worlds.matrix.rules import NONE, MatrixState, allocate_state


def unit_box(size: int) -> spaces.Box:
    """Numbers between 0 and 1."""
    return spaces.Box(0.0, 1.0, (size,), np.float32)


def one_hot(values: np.ndarray, size: int) -> np.ndarray:
    """(..., size) float32."""
    return np.eye(size, dtype=np.float32)[values]


def flat(array: np.ndarray) -> np.ndarray:
    """(W, A, ...) as (W, n)."""
    return array.reshape(len(array), -1)


class MatrixWorld(ArrayWorld):
    """W games in which all agents choose at once, a fixed number of times.

    Args:
        choices: number of choices of each agent.
        length: steps of an episode.
        fields: name -> observation space.
        size: length of the global state.

    Attributes:
        with_cues: whether agents have a cue.
    """

    version = 1
    with_cues = True

    def __init__(
        self,
        agents: int,
        choices: int,
        length: int,
        fields: Mapping[str, spaces.Space[Any]],
        size: int,
        num_worlds: int,
        seed: int,
        first_world: int,
    ) -> None:
        kind = Kind("agent", tuple(range(agents)), spaces.Dict(dict(fields)), spaces.Discrete(choices))
        super().__init__(num_worlds, [f"agent_{a}" for a in range(agents)], [kind], seed, first_world)
        self.action_names: Mapping[str, Sequence[str]] = {"choice": self._names_of(choices)}
        self.state_space = unit_box(size)
        self.choices, self.length = choices, length
        self.state: MatrixState = allocate_state(num_worlds, agents)

    def visible(self, world: int, slot: int) -> Visible:
        """Nothing of the table: it shows cues and choices that the observation hides."""
        return {}

    def draw(self, canvas: Canvas, world: int) -> None:
        """A row for each agent. Transcripts omit the titles, so each cell names its value."""
        state, choices, rows = self.state, self.action_names["choice"], []
        for a, name in enumerate(self.agents):
            last = state.last[world, a]
            chose = "no choice yet" if last == NONE else f"chose {choices[last]}"
            cue = f"cue {state.cue[world, a]}" if self.with_cues else ""
            reward = float(self.outputs.reward[world, a])
            rows.append([name, cue, chose, f"{state.hits[world, a]} right", reward])
        canvas.table("game", ["agent", "cue", "choice", "right", "reward"], rows)

    def state_ranges(self) -> Mapping[str, Range]:
        return {
            "stream": ANYTHING,
            "steps": count(self.length),
            "cue": index(self.choices),
            "last": index(self.choices, none=True),
            "hits": count(self.length),
            "joint": count(self.length),
            "returns": REAL,
            "reward": REAL,
        }

    def state_laws(self) -> Sequence[Invariant]:
        """A game is over after its last step, and all agents act until then."""
        length = self.length
        return (
            Invariant(
                "over",
                "does not match whether the last step was played",
                lambda given: given["over"] != (given["steps"] == length),
            ),
            Invariant(
                "acting",
                "does not hold all agents before the end and none after it",
                lambda given: given["acting"] == given["over"][:, None],
            ),
        )

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        rules.begin_episodes(self.state, which, seeds)
        if self.with_cues:
            rules.draw_cues(self.state, which, self.choices)

    def _advance(self, action: np.ndarray) -> None:
        reward, right = self._judge(action)
        self._go_on(rules.pay(self.state, self.outputs, action, reward, right, self.length))

    def _go_on(self, which: np.ndarray) -> None:
        """Prepares the next step of the worlds in `which`, where a game needs it."""

    def _read(self) -> TimeStep:
        return TimeStep(self._look(), *self.outputs)

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = super()._arrays()
        del arrays["truncated"]  # nothing is ever cut
        return arrays

    def _share_of_steps(self, counted: np.ndarray) -> np.ndarray:
        """Counts (W,) or (W, A) divided by the steps played; NaN before the first."""
        steps = self.state.steps.reshape(-1, *[1] * (counted.ndim - 1))
        return np.divide(counted, steps, out=np.full(counted.shape, np.nan), where=steps > 0)

    def _share(self) -> np.ndarray:
        """(W, 1) float32, the share of an episode's steps that were played."""
        return (self.state.steps / self.length).astype(np.float32)[:, None]

    def _names_of(self, choices: int) -> Sequence[str]:
        """Names of the choices."""
        return [f"cue {number}" if self.with_cues else f"number {number}" for number in range(choices)]

    @abstractmethod
    def _judge(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rewards of the choices (W, A), and which of them are right: both (W, A)."""

    @abstractmethod
    def _look(self) -> Mapping[str, np.ndarray]:
        """The observation, in new arrays."""


class RecallWorld(MatrixWorld):
    """A cue in the first step, a delay, then a choice: 1 for naming the cue. Rewards are individual."""

    def __init__(
        self, settings: RecallSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        fields = {"cue": unit_box(settings.cues), "choose": unit_box(1)}
        agents, cues, size = settings.agents, settings.cues, settings.agents * settings.cues + 1
        super().__init__(agents, cues, settings.length, fields, size, num_worlds, seed, first_world)
        self.settings = settings

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """``right`` (W, A): 1 if the agent named its cue, else 0; NaN until it chose."""
        return {"right": np.where(self.outputs.over[:, None], self.state.hits, np.nan)}

    def global_state(self) -> np.ndarray:
        """All cues and the share of steps played, (W, A * cues + 1)."""
        return np.hstack([flat(one_hot(self.state.cue, self.choices)), self._share()])

    def _judge(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        choosing = self.state.steps == self.length - 1
        reward = rules.recall_reward(self.state.cue, action, choosing)
        return reward, reward > 0

    def _look(self) -> Mapping[str, np.ndarray]:
        """``cue``, in the first step only, and ``choose``: 1 in the step of the choice."""
        state = self.state
        shown = one_hot(state.cue, self.choices) * (state.steps == 0)[:, None, None]
        choosing = np.broadcast_to(state.steps[:, None, None] == self.length - 1, (*state.cue.shape, 1))
        return {"cue": shown, "choose": choosing.astype(np.float32)}


class ClimbingWorld(MatrixWorld):
    """The climbing game, repeated: two agents find the best of nine pairs, beside the worst."""

    with_cues = False
    teams = ((0, 1),)

    def __init__(
        self, settings: ClimbingSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        choices = len(CLIMBING)
        last = unit_box(choices + 1)
        fields = {"own": last, "other": last, "round": unit_box(1)}
        size = 2 * (choices + 1) + 1
        super().__init__(2, choices, settings.rounds, fields, size, num_worlds, seed, first_world)
        self.settings = settings

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Per world (W,): ``optimal``, share of rounds with the best pair, and mean ``payoff``; NaN before."""
        s = self.state
        return {
            "optimal": self._share_of_steps(s.joint),
            "payoff": self._share_of_steps(s.returns[:, 0]),
        }

    def global_state(self) -> np.ndarray:
        """Both last choices and the share of rounds played, (W, 9)."""
        return np.hstack([flat(self._choices_seen()), self._share()])

    def visible(self, world: int, slot: int) -> Visible:
        """Both choices are public."""
        return EVERYTHING

    def _judge(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reward = rules.climbing_reward(action)
        return reward, reward == np.max(CLIMBING)

    def _look(self) -> Mapping[str, np.ndarray]:
        """``own`` and ``other``: the last choice, column 0 before the first; ``round``: the share of rounds played."""
        last = self._choices_seen()
        return {"own": last, "other": last[:, ::-1].copy(), "round": self._share()[:, None].repeat(2, 1)}

    def _choices_seen(self) -> np.ndarray:
        """Both last choices, (W, 2, choices + 1) one-hot; column 0 before the first."""
        return one_hot(self.state.last + 1, self.choices + 1)


class RockPaperScissorsWorld(MatrixWorld):
    """Two agents choose at once; choices are never observed."""

    with_cues = False

    def __init__(
        self, settings: RockPaperScissorsSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        fields = {"ready": unit_box(1)}
        super().__init__(
            2, len(ROCK_PAPER_SCISSORS), settings.rounds, fields, 1, num_worlds, seed, first_world
        )
        self.settings = settings

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """``won`` (W, A): the share of rounds won; NaN before the first."""
        return {"won": self._share_of_steps(self.state.hits)}

    def global_state(self) -> np.ndarray:
        """The share of rounds played, (W, 1)."""
        return self._share()

    def _names_of(self, choices: int) -> Sequence[str]:
        return "rock", "paper", "scissors"

    def _judge(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reward = rules.rock_paper_scissors_reward(action)
        return reward, reward > 0

    def _look(self) -> Mapping[str, np.ndarray]:
        return {"ready": np.ones((*self.state.last.shape, 1), np.float32)}


class CreditWorld(MatrixWorld):
    """A team reward dominated by an offset that actions do not change.

    Only the team's cues together explain it.
    """

    def __init__(
        self, settings: CreditSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        fields = {"cue": unit_box(settings.cues)}
        agents, cues, size = settings.agents, settings.cues, settings.agents * settings.cues
        super().__init__(agents, cues, settings.rounds, fields, size, num_worlds, seed, first_world)
        self.settings = settings
        self.teams = (tuple(range(settings.agents)),)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Shares of rounds, NaN before the first: ``right`` (W, A) cue named, ``optimal`` (W,) by all at once."""
        s = self.state
        return {"right": self._share_of_steps(s.hits), "optimal": self._share_of_steps(s.joint)}

    def global_state(self) -> np.ndarray:
        """All cues, (W, A * cues)."""
        return flat(self._look()["cue"])

    def _judge(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cue, given = self.state.cue, self.settings
        return rules.credit_reward(cue, action, given.cues, given.offset), action == cue

    def _go_on(self, which: np.ndarray) -> None:
        rules.draw_cues(self.state, which, self.choices)

    def _look(self) -> Mapping[str, np.ndarray]:
        return {"cue": one_hot(self.state.cue, self.choices)}
