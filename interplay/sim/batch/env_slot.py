"""One environment, read into and stepped from its row of the batch's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.sim.batch.layout import MASK, Buffers, KindLayout, Layout, Leaf, by_parts, mask_of, row_of
from interplay.sim.batch.leaf_column import LeafColumn
from interplay.sim.batch.scalars import end_of, reward_of

_OUTPUTS = ("reward", "acting", "terminated", "truncated")

LeafColumns = Mapping[str, list[LeafColumn]]  # kind name -> what its agents see


class EnvSlot:
    """World w of the batch.

    Args:
        env: a PettingZoo parallel environment.
        layout: of the environment.
        buffers: of the whole batch.
        w: the row.
        leaves: what agents see, in the worlds of this process.
        at: which of these worlds it is.

    Attributes:
        steps: of the episode under way, the one that is being taken included; 0 while it is reset.
    """

    def __init__(
        self, env: Any, layout: Layout, buffers: Buffers, w: int, leaves: LeafColumns, at: int
    ) -> None:
        self.env, self.steps = env, 0
        self._leaves, self._at = leaves, at
        self._buffers = buffers
        self._w = w
        self._place = {
            layout.agents[slot]: (slot, column, kind)
            for kind in layout.kinds
            for column, slot in enumerate(kind.kind.slots)
        }
        # Views of this world's rows: buffers are looked up once, not for every agent and step.
        self._row = {name: buffers[name][w] for name in _OUTPUTS}
        self._doing = {
            kind.kind.name: _rows(kind, "action", kind.action, buffers, w) for kind in layout.kinds
        }
        self._legal = {kind.kind.name: _rows(kind, "mask", kind.masks, buffers, w) for kind in layout.kinds}

    def reset(self, seed: int) -> None:
        """Starts an episode; the row then shows its beginning."""
        self.steps = 0
        observation, infos = self.env.reset(seed=seed)
        self._clear()
        self._show(observation, infos, self.env.agents)
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
            ended, cut = terminations.get(agent), truncations.get(agent)
            if type(ended) is not bool or type(cut) is not bool:
                ended, cut = end_of(ended, agent), end_of(cut, agent)
            # Who leaves without a word has left by the rules.
            terminated = ended or (agent not in living and not cut)
            try:
                row["reward"][slot] = rewards.get(agent, 0.0)
            except (TypeError, ValueError):
                row["reward"][slot] = reward_of(rewards[agent], agent)
            row["terminated"][slot] = terminated
            row["truncated"][slot] = cut and not terminated
            if ended or cut:
                living.discard(agent)  # some environments list them for one more step
        self._show(observation, infos, living)
        self._buffers["over"][self._w] = not living

    def _clear(self) -> None:
        for row in self._row.values():
            row[:] = 0
        for leaves in self._leaves.values():
            for seen in leaves:
                seen.rows[self._at] = 0
        for _, row in (pair for pairs in self._legal.values() for pair in pairs):
            row[:] = True

    def _show(self, observation: Mapping[Any, Any], infos: Mapping[Any, Any], living: Any) -> None:
        for agent, seen in observation.items():
            if agent not in self._place:
                continue  # PettingZoo allows keys beside the agents
            slot, column, kind = self._place[agent]
            for part in self._leaves[kind.kind.name]:
                part.write(self._at, column, seen)
            info = infos.get(agent, {})
            # An agent that is listed but cannot act may say so in its info, as our own PettingZoo adapter does.
            acting = agent in living and info.get("acting", True)
            self._row["acting"][slot] = acting
            if kind.masks and acting:
                mask = by_parts(self.env, agent, seen[MASK] if kind.mask_in_observation else info.get(MASK))
                for leaf, row in self._legal[kind.kind.name]:
                    legal = mask_of(leaf, mask)
                    if legal is not None:
                        row[column] = row_of(leaf, legal)

    def _action(self, agent: Any) -> Any:
        _, column, kind = self._place[agent]
        rows = {leaf.path: _plain(leaf.space, row[column]) for leaf, row in self._doing[kind.kind.name]}
        return _nest(rows)


def leaves_of(layout: Layout, buffers: Buffers, worlds: slice) -> LeafColumns:
    """What agents see in some worlds of a batch, for the slots of these worlds."""
    return {kind.kind.name: _leaves_of_kind(kind, layout, buffers, worlds) for kind in layout.kinds}


def _leaves_of_kind(kind: KindLayout, layout: Layout, buffers: Buffers, worlds: slice) -> list[LeafColumn]:
    slots = list(kind.kind.slots)
    agents = [layout.agents[slot] for slot in slots]
    acting, truncated = buffers["acting"][worlds], buffers["truncated"][worlds]

    def read() -> np.ndarray:
        rows: np.ndarray = (acting | truncated)[:, slots]
        return rows

    return [
        LeafColumn(leaf, agents, buffers[kind.key("observation", leaf)][worlds], read)
        for leaf in kind.observation
    ]


def _rows(
    kind: KindLayout, part: str, leaves: tuple[Leaf, ...], buffers: Buffers, w: int
) -> list[tuple[Leaf, np.ndarray]]:
    return [(leaf, buffers[kind.key(part, leaf)][w]) for leaf in leaves]


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
