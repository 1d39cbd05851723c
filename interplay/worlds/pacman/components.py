"""Agents and components of pacman's worlds: drifting through tunnels, walking rounds, eating, meeting, and their rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import Refused
from interplay.core.ranges import Range, count
from interplay.gridworld.actors.actor import ActionResult, BoardActor, Outcome, Turn
from interplay.gridworld.actors.move import DriftMoveActor
from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent, OrientationAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.rewards import BoardReward
from interplay.gridworld.states import BoardState
from interplay.sim.checks import require
from interplay.worlds.pacman import config, rules
from interplay.worlds.pacman.config import CODES


class WallAgent(GridWorldAgent):
    """Blocks every agent."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.WALL, "initial_health": 1.0, "render_shape": "s", "render_color": "blue"}
        super().__init__(**{**given, "render_size": 400, **kwargs})


class FoodAgent(GridWorldAgent):
    """Is eaten by pacman in the same cell."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.FOOD, "initial_health": 1.0, "render_size": 20, "render_color": "orange"}
        super().__init__(**{**given, **kwargs})


class _Drifter(MovingAgent, OrientationAgent, GridObservingAgent):
    """Drifts; drawn in the direction it faces."""

    drawn_facing = through_tunnels = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"initial_health": 1.0, "move_range": 1, "view_range": "FULL", **kwargs})


class PacmanAgent(_Drifter):
    """Eats; there is one, with the id ``pacman``.

    Attributes:
        kind: keeps pacman and baddies, with equal spaces, from sharing a network.
    """

    kind = "pacman"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": config.PACMAN, "render_color": "yellow", **kwargs})


class BaddieAgent(_Drifter):
    """Catches pacman."""

    kind = "baddie"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": config.BADDIE, "render_color": "red", **kwargs})


class ScriptedBaddieAgent(OrientationAgent):
    """A baddie that walks fixed rounds: it neither observes nor acts, so that only pacman learns."""

    drawn_facing = through_tunnels = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            **{"encoding": config.BADDIE, "initial_health": 1.0, "render_color": "red", **kwargs}
        )


BADDIES = (BaddieAgent, ScriptedBaddieAgent)  # classes


class TunnelDriftActor(DriftMoveActor):
    """Drifts as `DriftMoveActor`, and through tunnels: the first and last cell of a row are neighbours if both are open."""

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        if not self.supports(agent):
            return None
        code, _ = self._read(agent, action_dict[self.key])
        outcome = _alone(self, agent, code)
        return bool(outcome.success[0, self.grid.slot_of(agent)])

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        agents, cells, stream = board
        results = outcome.attempted, outcome.success
        rules.move_all(agents, cells, overlap, stream, *turn, codes, *results, self.users, lo, hi)


class RoundsState(BoardState):
    """Counts steps, the position of agents in their rounds.

    Attributes:
        clock: (W,) int64 steps of the episode.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.clock = np.zeros(1, np.int64)

    def prepare(self, board: Board) -> None:
        if len(self.clock) != len(board.agents):
            self.clock = np.zeros(len(board.agents), np.int64)

    def arrays(self) -> dict[str, Array]:
        return {"clock": self.clock}

    def ranges(self) -> dict[str, Range]:
        return {"clock": count()}

    def begin(self, board: Board, which: Array) -> None:
        self.prepare(board)
        self.clock[which] = 0

    def end_all(self, board: Board, acted: Array, lo: int, hi: int) -> None:
        rules.tick(acted, self.clock, lo, hi)


class RoundsActor(TunnelDriftActor):
    """Moves baddies along their rounds in every step; actions sent for them are ignored.

    Args:
        rounds: moves out of L, D, R, U and . (stay), repeated for ever. Id -> moves, where other baddies stay; or a list or
            tuple with moves for each baddie in the order of the agents, which may be longer than needed.
        rounds_state: counts the steps.
    """

    def __init__(self, rounds: Any = None, rounds_state: RoundsState | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert rounds_state is not None  # the simulation's own
        self._state = rounds_state
        walked = self._by_id(rounds)
        self._rounds = np.full(
            (len(self.grid.agents), max(map(len, walked.values()), default=1)), -1, np.int8
        )
        for name, moves in walked.items():
            self._rounds[self.grid.slot_of(self.agents[name]), : len(moves)] = [CODES[m] for m in moves]

    def _by_id(self, rounds: Any) -> dict[str, str]:
        """Rounds as id -> moves, checked."""
        require(
            isinstance(rounds, dict | list | tuple),
            f"rounds {rounds!r} is neither dict nor list; give id -> moves such as 'LLDDRRUU', or a list of moves",
        )
        baddies = [name for name, agent in self.agents.items() if isinstance(agent, BADDIES)]
        named = rounds if isinstance(rounds, dict) else dict(enumerate(rounds))
        for name, moves in named.items():
            fits = isinstance(moves, str) and moves != "" and set(moves) <= set(CODES)
            require(fits, f"rounds[{name!r}] is {moves!r}; write moves as letters of {''.join(CODES)}")
        if isinstance(rounds, dict):
            for name in rounds:
                require(
                    name in baddies,
                    f"rounds names {name!r}, which is no baddie; baddies: {', '.join(baddies) or 'none'}",
                )
            return dict(rounds)
        require(
            len(baddies) <= len(rounds),
            f"{len(rounds)} rounds for {len(baddies)} baddies, so {baddies[len(rounds) :]} would stand still; "
            "give rounds={id: moves} or a list with moves for each",
        )
        return dict(zip(baddies, rounds, strict=False))

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, BaddieAgent)

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        """Returns None: `run` moves all of them once a step."""
        return None

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        agents, cells, stream = board
        rounds = self._rounds, self._state.clock
        rules.walk_rounds(agents, cells, overlap, stream, turn.length, *rounds, lo, hi)


class ContactActor(BoardActor):
    """Handles agents that share a cell; it takes no actions.

    Attributes:
        pacman: its slot.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pacman = self.grid.slot_of(self.agents["pacman"])

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return False

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> Any:
        """Does nothing: `run` checks contacts once a step."""
        return None

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        raise Refused(f"{type(self).__name__} has no channel; it takes no actions")

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        return 0, 0

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        """Nothing to encode."""

    def _all_of(self, *classes: type) -> Array:
        """(A,) bool by slot."""
        return np.array([isinstance(agent, classes) for agent in self.grid.agents])


class EatActor(ContactActor):
    """Pacman eats the food in its cell."""

    key = "eat"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._food = self._all_of(FoodAgent)

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        rules.eat_all(
            board.agents, board.cells, turn.length, self.pacman, self._food, outcome.num_hits, lo, hi
        )


class MeetActor(ContactActor):
    """Pacman dies when a baddie shares its cell."""

    key = "meet"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._baddies = self._all_of(*BADDIES)

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        rules.meet_all(
            board.agents, board.cells, turn.length, self.pacman, self._baddies, outcome.num_hits, lo, hi
        )


class PacmanReward(BoardReward):
    """Pays by a scheme.

    Args:
        reward_scheme: event -> number.
    """

    def __init__(self, reward_scheme: Mapping[str, float] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reward_scheme = dict(reward_scheme or {})

    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        if key == "move" and result.attempted:
            self.pay(agent, self.reward_scheme["entropy" if result.success else "bad_move"])

    def collect_all(self, board: Board, key: str, turn: Turn, outcome: Outcome, lo: int, hi: int) -> None:
        scheme, agents = self.reward_scheme, board.agents
        if key == "move":
            rules.pay_hits(agents, self.users, outcome.success, scheme["entropy"], 1, lo, hi)
            bad = (outcome.attempted > outcome.success).view(np.uint8)
            rules.pay_hits(agents, self.users, bad, scheme["bad_move"], 1, lo, hi)
        elif key == "eat":
            rules.pay_hits(agents, self.users, outcome.num_hits, scheme["eat_food"], 1, lo, hi)
        elif key == "meet":
            rules.pay_hits(agents, self.users, outcome.num_hits, scheme.get("kill", 0.0), 1, lo, hi)
            rules.pay_hits(agents, self.users, outcome.num_hits, scheme["die"], -1, lo, hi)


def is_pacman(agent: Any) -> bool:
    """For ``only=``."""
    return isinstance(agent, PacmanAgent)


def is_baddie(agent: Any) -> bool:
    """For ``only=``."""
    return isinstance(agent, BaddieAgent)


def _alone(actor: BoardActor, agent: Any, code: int) -> Outcome:
    """The outcome of one agent's action if no other agent acts."""
    board = actor.grid.board
    number = board.agents.shape[1]
    codes = np.full((1, number, actor.width), code, np.int64)
    order = np.full((1, number), actor.grid.slot_of(agent), np.int32)
    outcome = actor.outcome(1, number)
    actor.run(board, actor.grid.overlap, Turn(order, np.ones(1, np.int64)), codes, outcome, 0, 1)
    return outcome
