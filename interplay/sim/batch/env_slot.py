"""One environment, read into and stepped from its row of the batch's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.sim.batch.info_numbers import Columns, EpisodeNumbers
from interplay.sim.batch.layout import MASK, Buffers, KindLayout, Layout, Leaf, by_parts, mask_of, row_of

_OUTPUTS = ("reward", "acting", "terminated", "truncated")


class EnvSlot:
    """World w of the batch.

    Args:
        env: a PettingZoo parallel environment.
        layout: of the environment.
        buffers: of the whole batch.
        w: the row.
        columns: of the numbers in infos, for all worlds of the process.

    Attributes:
        steps: of the episode under way, the one that is being taken included; 0 while it is reset.
    """

    def __init__(self, env: Any, layout: Layout, buffers: Buffers, w: int, columns: Columns) -> None:
        self.env, self.steps = env, 0
        self._layout = layout
        self._buffers = buffers
        self._w = w
        self._numbers = EpisodeNumbers(columns, w)
        self._place = {
            layout.agents[slot]: (slot, column, kind)
            for kind in layout.kinds
            for column, slot in enumerate(kind.kind.slots)
        }
        # Views of this world's rows: buffers are looked up once, not for every agent and step.
        self._row = {name: buffers[name][w] for name in _OUTPUTS}
        self._seeing = {
            kind.kind.name: _rows(kind, "observation", kind.observation, buffers, w) for kind in layout.kinds
        }
        self._doing = {
            kind.kind.name: _rows(kind, "action", kind.action, buffers, w) for kind in layout.kinds
        }
        self._legal = {kind.kind.name: _rows(kind, "mask", kind.masks, buffers, w) for kind in layout.kinds}

    def reset(self, seed: int) -> None:
        """Starts an episode; the row then shows its beginning."""
        self.steps = 0
        self._numbers.begin()
        observation, infos = self.env.reset(seed=seed)
        self._clear()
        self._show(observation, infos, self.env.agents)
        self._count(infos, self.env.agents)
        self._buffers["over"][self._w] = not self.env.agents

    def step(self) -> None:
        """Steps with the row's actions; a world that is over stands still."""
        row = self._row
        if self._buffers["over"][self._w]:
            row["reward"][:] = 0.0
            row["terminated"][:] = row["truncated"][:] = False
            return
        self.steps += 1
        before = list(self.env.agents)
        actions = {agent: self._action(agent) for agent in before}
        observation, rewards, terminations, truncations, infos = self.env.step(actions)
        self._clear()
        living = set(self.env.agents)
        for agent in before:
            slot = self._place[agent][0]
            # Who leaves without a word has left by the rules.
            left = agent not in living and not truncations.get(agent)
            terminated = bool(terminations.get(agent)) or left
            row["reward"][slot] = rewards.get(agent, 0.0)
            row["terminated"][slot] = terminated
            row["truncated"][slot] = bool(truncations.get(agent)) and not terminated
            if terminations.get(agent) or truncations.get(agent):
                living.discard(agent)  # some environments list them for one more step
        self._show(observation, infos, living)
        self._count(infos, living)
        self._buffers["over"][self._w] = not living

    def _count(self, infos: Mapping[Any, Any], living: Any) -> None:
        """Reads the numbers of infos, of agents that left too; an info that waits for its agent's turn is read then."""
        for agent, info in infos.items():
            if not info or agent not in self._place:
                continue
            if info.get("acting", True) or agent not in living:
                self._numbers.add(self._place[agent][0], agent, info, self.steps > 0)

    def _clear(self) -> None:
        for row in self._row.values():
            row[:] = 0
        for rows in self._seeing.values():
            for _, row in rows:
                row[:] = 0
        for _, row in (pair for pairs in self._legal.values() for pair in pairs):
            row[:] = True

    def _show(self, observation: Mapping[Any, Any], infos: Mapping[Any, Any], living: Any) -> None:
        for agent, seen in observation.items():
            if agent not in self._place:
                continue  # PettingZoo allows keys beside the agents
            slot, column, kind = self._place[agent]
            for leaf, row in self._seeing[kind.kind.name]:
                _write(leaf, row, column, seen, agent)
            info = infos.get(agent, {})
            # An agent that is listed but cannot act may say so in its info, as our own PettingZoo adapter does.
            acting = agent in living and info.get("acting", True)
            self._row["acting"][slot] = acting
            if kind.masks and acting:
                mask = by_parts(self.env, agent, seen[MASK] if kind.mask_in_observation else info.get(MASK))
                for leaf, row in self._legal[kind.kind.name]:
                    part = mask_of(leaf, mask)
                    if part is not None:
                        row[column] = row_of(leaf, part)

    def _action(self, agent: Any) -> Any:
        _, column, kind = self._place[agent]
        rows = {leaf.path: _plain(leaf.space, row[column]) for leaf, row in self._doing[kind.kind.name]}
        return _nest(rows)


def _rows(
    kind: KindLayout, part: str, leaves: tuple[Leaf, ...], buffers: Buffers, w: int
) -> list[tuple[Leaf, np.ndarray]]:
    return [(leaf, buffers[kind.key(part, leaf)][w]) for leaf in leaves]


def _write(leaf: Leaf, row: np.ndarray, column: int, seen: Any, agent: Any) -> None:
    for key in leaf.path:
        seen = seen[key]
    shape, given = row.shape[1:], np.shape(seen)
    if given != shape and (given, shape) != ((), (1,)):  # a bare number is a point of a box with one element
        raise UserError(
            f"observation{f' {leaf.name}' if leaf.path else ''} of {agent} has shape {given}, its space says {shape}; mend either"
        )
    row[column] = seen


def _plain(space: spaces.Space[Any], row: np.ndarray) -> Any:
    """A number of the space's type where the space is Discrete, otherwise a copy that the environment may keep."""
    return np.int64(row) if isinstance(space, spaces.Discrete) else row.copy()


def _nest(rows: Mapping[tuple[Any, ...], Any]) -> Any:
    """A point of a nested space from its leaves by path."""
    if () in rows:
        return rows[()]
    point: dict[Any, Any] = {}
    for path, value in rows.items():
        inner = point
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    return point
