"""The base of actors, for one simulation and for a batch."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, NoReturn

import numpy as np
from gymnasium import spaces

from interplay.core.errors import Refused
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent, attach


class ActionResult(NamedTuple):
    """The result of an action.

    Attributes:
        attempted: the agent tried to act.
        success: the action worked.
        targets: agents that it hit.
    """

    attempted: bool
    success: bool
    targets: tuple[Any, ...] = ()


class Turn(NamedTuple):
    """The acting agents in this step of a batch.

    Attributes:
        order: (W, A) int32 slots, in acting order.
        length: (W,) int64, number of acting agents; 0 where a world does not move.
    """

    order: Array
    length: Array


class Outcome(NamedTuple):
    """Results of one actor's actions in this step, for the agents of a batch.

    Attributes:
        attempted: (W, A) uint8.
        success: (W, A) uint8, of moves.
        num_hits: (W, A) int32, of attacks.
        hits: (W, A, H) int32 slots of hit agents.
        kills: (W, A, H) uint8: this hit killed.
    """

    attempted: Array
    success: Array
    num_hits: Array
    hits: Array
    kills: Array


class ActorBaseComponent(GridWorldBaseComponent):
    """Base of actors, which process the channel ``key`` of agents' actions."""

    @property
    @abstractmethod
    def key(self) -> str:
        """The channel of the action that the actor reads."""

    @abstractmethod
    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> Any:
        """Carries out one agent's action."""

    def action_mask(self, agent: Any) -> Array | None:
        """Legal choices of the agent's channel; None: all are, or the channel is no Discrete."""
        return None

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]] | None:
        """Names of the choices of the agent's channel: head -> names, in the order of `World.action_names`; None: no names."""
        return None

    def idle_choices(self, agent: Any) -> dict[str, str]:
        """Head -> name of the choice that does nothing."""
        return {}

    def as_result(self, answer: Any) -> ActionResult:
        """The return value of `process_action` in the common form.

        Actors with other values than a bool, None or a pair (attempted, agents) override it.
        """
        if isinstance(answer, ActionResult):
            return answer
        if answer is None:
            return ActionResult(False, False)
        if isinstance(answer, tuple) and len(answer) == 2:
            return ActionResult(bool(answer[0]), bool(answer[1]), tuple(answer[1]))
        return ActionResult(True, bool(answer))


def as_ints(values: Any, shape: tuple[int, ...]) -> Array:
    """Integers as an array that fits int64.

    Raises:
        ValueError: for another shape; it is not broadcast.
        OverflowError: for numbers beyond 64 bits.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{array.dtype} are no integers")
    if array.shape != shape:
        raise ValueError(f"shape {array.shape} is not {shape}")
    if array.dtype == np.uint64 and (array > np.uint64(2**63 - 1)).any():
        raise OverflowError("numbers beyond 64 bits")
    return array


class BoardActor(ActorBaseComponent):
    """An actor that also acts for a whole batch at once.

    An action becomes a row of int64 codes, `width` of them.

    Attributes:
        width: codes of an action.
    """

    width: int = 1

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for agent in self.supported():
            space, null = self.channel(agent)
            attach(agent, "action", self.key, space, null)

    # -- masks: `entries` facts about the board, from which the masks of choices are built ------------------------------

    def entries(self, agent: Any) -> int:
        """Number of entries that `find_legal` writes for an agent; 0: every choice is legal."""
        return 0

    def find_legal(
        self, board: Board, overlap: Array, slots: Array, queried: Array, out: Array, lo: int, hi: int
    ) -> None:
        """Writes which entries are legal for the agents in ``slots`` (K,) where ``queried`` (W, A): (W, K, entries) bool."""

    def entry_of(self, agent: Any, point: Any) -> int | None:
        """The entry that decides whether a point of the channel is legal; None: no single one does."""
        return None

    def legal_here(self, agent: Any) -> Array:
        """(entries,) bool of an agent of this simulation."""
        board, slot = self._grid.board, self._grid.slot_of(agent)
        queried = np.ones((1, board.agents.shape[1]), bool)
        out = np.ones((1, 1, self.entries(agent)), bool)
        self.find_legal(board, self._grid.overlap, np.array([slot], np.int32), queried, out, 0, 1)
        return out[0, 0]

    def choice_entries(self, agent: Any, path: tuple[Any, ...] = ()) -> Array | None:
        """The entry of each choice of the agent's channel, or of the part of it at a path.

        Returns:
            (choices,) of a Discrete, of all heads of a MultiDiscrete; None where there is no mask of that form.
        """
        space = agent.action_space[self.key]
        if not self.supports(agent) or not self.entries(agent) or not isinstance(space, spaces.Discrete):
            return None
        # Needed in every step: id -> space, entries.
        tables: dict[str, Any] = self.__dict__.setdefault("_entries", {})
        known, entries = tables.get(agent.id, (None, None))
        if known is not space:
            found = [self.entry_of(agent, self.original(agent, choice)) for choice in range(int(space.n))]
            entries = None if any(entry is None for entry in found) else np.array(found)
            tables[agent.id] = space, entries
        return entries

    def original(self, agent: Any, choice: Any) -> Any:
        """The point of this actor's own channel for a choice; wrappers change it."""
        return choice

    def action_mask(self, agent: Any) -> Any:
        """Choices of the agent's channel that would work now, in the form of gymnasium's masks.

        Free destinations, and possible targets of attacks, none without ammo. None: every choice would work, or the channel has no such form.
        """
        entries = self.choice_entries(agent)
        return None if entries is None else self.legal_here(agent)[entries].astype(np.int8)

    @abstractmethod
    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        """The space of an agent's channel, and its null action."""

    @abstractmethod
    def bounds(self, agent: Any) -> tuple[Any, Any]:
        """The least and the greatest codes of an agent."""

    @abstractmethod
    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        """Writes a point of the channel as codes, (..., width), for one agent or a batch of them."""

    def meaning(self, agent: Any) -> str:
        """Meaning of the numbers of an agent's channel: channels with equal spaces and meanings are encoded together."""
        return ""

    def encode_all(self, agents: list[Any], values: list[Any], slots: list[int], codes: Array) -> None:
        """Writes one point for each agent into its row of ``codes``, (A, width)."""
        for agent, value, slot in zip(agents, values, slots, strict=True):
            self.encode(agent, value, codes[slot])

    @abstractmethod
    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        """Carries out the actions of the worlds lo..hi-1."""

    def most_hits(self) -> int:
        """The largest number of hits of an agent in one step."""
        return 0

    def outcome(self, num_worlds: int, num_agents: int) -> Outcome:
        """Arrays for the results of a batch's actions."""
        attempted, success = np.zeros((2, num_worlds, num_agents), np.uint8)
        hits = np.zeros((num_worlds, num_agents, self.most_hits()), np.int32)
        return Outcome(
            attempted, success, np.zeros(hits.shape[:2], np.int32), hits, np.zeros(hits.shape, np.uint8)
        )

    def limits(self) -> tuple[Array, Array, Array]:
        """Least and greatest codes (A, width) int64 by slot, and `users`."""
        number = len(self.grid.agents)
        low, high = np.zeros((2, number, self.width), np.int64)
        for agent in self.supported():
            least, greatest = self.bounds(agent)
            slot = self.grid.slot_of(agent)
            low[slot], high[slot] = least, greatest
        return low, high, self.users

    def _refuse(self, agent: GridWorldAgent, value: Any) -> NoReturn:
        """Refuses an action outside its space."""
        space, _ = self.channel(agent)
        raise Refused(
            f"agent {agent.id}: {self.key} action {value!r} is outside {space} of {type(self).__name__}; choose from it"
        )
