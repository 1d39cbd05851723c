"""One environment, read into and stepped from its row of the batch's arrays."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.sim.batch.answers import ALL, check_all, of_reset, of_step
from interplay.sim.batch.info_numbers import Columns, EpisodeNumbers
from interplay.sim.batch.layout import Buffers, KindLayout, Layout, Leaf, mask_rows, refuse_misspelt
from interplay.sim.batch.leaf_column import LeafColumn
from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.batch.mask_rows import MASK

LOOKED = 3  # steps of an episode in which infos are searched for a misspelt mask
_OUTPUTS = ("reward", "acting", "terminated", "truncated")

LeafColumns = Mapping[str, list[LeafColumn]]  # kind name -> what its agents see


class EnvSlot:
    """World w of the batch.

    Args:
        env: a PettingZoo parallel environment.
        layout: of the environment.
        buffers: of the whole batch.
        w: the row.
        leaves: observations in the worlds of this process.
        numbers: of infos, for all worlds of the process.
        at: the world's index in this process.

    Attributes:
        steps: of the current episode, a running one included; 0 during its reset.
    """

    def __init__(
        self,
        env: Any,
        layout: Layout,
        buffers: Buffers,
        w: int,
        leaves: LeafColumns,
        numbers: Columns,
        at: int,
    ) -> None:
        self.env, self.steps = env, 0
        self._leaves, self._at = leaves, at
        self._buffers = buffers
        self._w = w
        self._numbers, self._ignored = EpisodeNumbers(numbers, w), numbers.ignored
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
        # Of kinds with a single action array: the array, and whether the space is Discrete.
        self._only = {
            name: (rows[0][1], isinstance(rows[0][0].space, spaces.Discrete))
            for name, rows in self._doing.items()
            if [leaf.path for leaf, _ in rows] == [()]
        }
        self._legal = {kind.kind.name: _rows(kind, "mask", kind.masks, buffers, w) for kind in layout.kinds}
        self._masks = {kind.kind.name: mask_rows(kind.acts, kind.action) for kind in layout.kinds}
        self._zeros, self._acting = list(self._row.values()), self._row["acting"]
        self._seen = [column for columns in leaves.values() for column in columns]
        self._ones = [row for rows in self._legal.values() for _, row in rows]
        self._warned = False
        self._ended: set[Any] = set()  # by a flag of the last step
        self._keys: set[Any] = set()  # of infos, that were searched
        # An info of an environment in turns stands until its agent's turn; others are new in each step.
        self._stands = bool(getattr(env, "infos_stand", False))
        self._gaps = isinstance(env, ManagedSimulation)  # which reports acting agents only
        self._in_form = bool(getattr(env, "in_form", False))  # an adapter of ours

    def reset(self, seed: int) -> None:
        """Starts an episode; the row then shows its beginning."""
        self.steps, self._ended = 0, set()
        self._numbers.begin()
        observation, infos = of_reset(self.env.reset(seed=seed))
        agents = self.env.agents
        self._clear(observation)
        self._check_known(agents)
        self._show(observation, infos, agents)
        self._check_seen(observation, infos, agents)
        self._count(infos, agents)
        self._buffers["over"][self._w] = not agents

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
        given = self.env.step(actions)
        observation, rewards, terminations, truncations, infos = given if self._in_form else of_step(given)
        self._clear(observation, before)
        living = set(self.env.agents)
        self._check_known(living)
        if len(rewards) != len(before) or rewards.keys() != set(before):
            self._check_paid(rewards, before, living)
        left, self._ended = self._ended, set()
        for agent in before:
            slot = self._place[agent][0]
            ended, cut = terminations.get(agent), truncations.get(agent)
            if type(ended) is not bool or type(cut) is not bool:
                ended, cut = end_of(ended, agent), end_of(cut, agent)
            if ended or cut:
                self._ended.add(agent)
                living.discard(agent)  # some environments go on listing it
                if agent in left:
                    self._warn_of(rewards.get(agent), agent, "after it has left")
                    row["reward"][slot] = row["terminated"][slot] = row["truncated"][slot] = 0
                    continue
            # An agent that leaves without a flag is terminated.
            terminated = ended or (agent not in living and not cut)
            try:
                row["reward"][slot] = rewards.get(agent, 0.0)
            except (TypeError, ValueError):
                row["reward"][slot] = reward_of(rewards[agent], agent)
            row["terminated"][slot] = terminated
            row["truncated"][slot] = cut and not terminated
        self._check_seen(observation, infos, living, before)
        if ALL in terminations or ALL in truncations:
            check_all(terminations, truncations, before, living)
        self._show(observation, infos, living)
        self._count(infos, living)
        self._buffers["over"][self._w] = not living

    def _check_known(self, agents: Collection[Any]) -> None:
        """Refuses an agent that is not among the possible ones."""
        if not self._place.keys() >= (agents if isinstance(agents, set) else set(agents)):
            odd = next(agent for agent in agents if agent not in self._place)
            raise UserError(
                f"agents holds {odd!r}, possible_agents does not; name all that may ever be there"
            )

    def _check_paid(self, rewards: Mapping[Any, Any], before: Sequence[Any], living: Collection[Any]) -> None:
        """Refuses a missing reward; warns once of a reward that does not count."""
        if not self._gaps and (missing := [a for a in before if a in living and a not in rewards]):
            raise UserError(f"rewards lack {missing[0]!r}, which is there; give 0 for no reward")
        for agent in rewards.keys() - set(before):
            if agent in self._place:
                when = "in the step in which it comes" if agent in living else "after it has left"
                self._warn_of(rewards[agent], agent, when)

    def _warn_of(self, reward: Any, agent: Any, when: str) -> None:
        """Warns once of a reward that does not count."""
        if reward and not self._warned:
            self._warned = True
            warnings.warn(
                f"{agent} is paid {when}, which does not count; pay agents that were there before the step, "
                'and keep one that is to be paid later in agents, with info["acting"] = False',
                stacklevel=2,
            )

    def _check_seen(
        self,
        observation: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        living: Collection[Any],
        before: Sequence[Any] = (),
    ) -> None:
        """Refuses a step in which an agent that acts or is truncated has no observation."""
        if observation.keys() >= self._place.keys():
            return
        for agent in living:
            if agent not in observation and (infos.get(agent) or {}).get("acting", True):
                raise UserError(
                    f'{agent} is in agents and observations lack it; give one, or set info["acting"] = False'
                )
        for agent in before:
            if agent not in observation and self._row["truncated"][self._place[agent][0]]:
                raise UserError(
                    f"{agent} is truncated and observations lack it; give its last one: its value stands for what would follow"
                )

    def _count(self, infos: Mapping[Any, Any], living: Any) -> None:
        """Reads the numbers of infos, those of departed agents included.

        In turns an info is read when its agent acts.
        """
        ignored = self._ignored
        for agent, info in infos.items():
            if not info or info.keys() <= ignored or agent not in self._place:
                continue
            if not self._stands or info.get("acting", True) or agent not in living:
                self._numbers.add(self._place[agent][0], agent, info, self.steps > 0)

    def _clear(self, observation: Mapping[Any, Any], before: Sequence[Any] = ()) -> None:
        """Clears the row, except for arrays that this step writes for all agents.

        Rewards and ends of the agents in `before` are written by the step.
        """
        if len(before) == len(self._place):
            self._acting[:] = False
        else:
            for row in self._zeros:
                row[:] = 0
        if observation.keys() != self._place.keys():
            for rows in self._seen:
                rows.rows[self._at] = 0
        for row in self._ones:
            row[:] = True

    def _show(self, observation: Mapping[Any, Any], infos: Mapping[Any, Any], living: Any) -> None:
        place, seeing, act = self._place, self._leaves, self._row["acting"]
        searched = self.steps > LOOKED
        for agent, seen in observation.items():
            if agent not in place:
                continue  # PettingZoo allows keys beside the agents
            slot, column, kind = place[agent]
            name = kind.kind.name
            info = infos.get(agent) or {}
            # A listed agent that cannot act has {"acting": False} in its info, as in our own PettingZoo adapter.
            acting = agent in living and info.get("acting", True)
            if seen is None:
                if acting:
                    raise UserError(
                        f'{agent} acts and its observation is None; give one, or set info["acting"] = False'
                    )
                for part in seeing[name]:
                    part.rows[self._at, column] = 0
                continue
            for part in seeing[name]:
                part.write(self._at, column, seen)
            if not acting:
                continue
            act[slot] = True
            mask = seen[MASK] if kind.mask_in_observation else info.get(MASK)
            if mask is not None:
                self._write_mask(name, column, agent, mask)
            elif self._legal[name] and not self._gaps:
                raise UserError(
                    f"{agent} acts without an action mask, and others of its kind had one at reset; give one, ones where all is allowed"
                )
            elif not searched and info and not self._keys.issuperset(info):
                refuse_misspelt(info, f"info of {agent}")
                self._keys.update(info)

    def _write_mask(self, kind: str, column: int, agent: Any, mask: Any) -> None:
        try:
            rows = self._masks[kind].read(mask)
        except (ValueError, TypeError) as error:
            raise UserError(f"action mask of {agent}: {error}") from None
        legal = {leaf.path: row for leaf, row in self._legal[kind]}
        for path, row in rows:
            if path not in legal:
                raise UserError(
                    f"action mask of {agent}{''.join(f' {key}' for key in path)}: the first one, and reset() had none; let every reset "
                    "give one, ones where all is allowed"
                )
            legal[path][column] = row

    def _action(self, agent: Any) -> Any:
        _, column, kind = self._place[agent]
        if kind.kind.name in self._only:
            row, counts = self._only[kind.kind.name]
            return np.int64(row[column]) if counts else row[column].copy()
        rows = {leaf.path: _plain(leaf.space, row[column]) for leaf, row in self._doing[kind.kind.name]}
        return _nest(rows)


def leaves_of(layout: Layout, buffers: Buffers, worlds: slice) -> LeafColumns:
    """The observation leaves of some worlds of a batch, for their slots."""
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
    """A number of the space's type for a Discrete, else a copy."""
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


def reward_of(reward: Any, agent: Any) -> Any:
    """The number in an array with one element.

    Raises:
        UserError: for anything else.
    """
    return _single("reward", reward, agent, "give one number")


def end_of(end: Any, agent: Any) -> bool:
    """A flag of a bool, None, or a number that is 0 or 1.

    Raises:
        UserError: for anything else.
    """
    if end is None or isinstance(end, bool | np.bool_):
        return bool(end)
    number = _single("end", end, agent, "give True or False")
    if number not in (0, 1):
        raise UserError(f"end of {agent} is {end!r}; give True or False")
    return bool(number)


def _single(thing: str, value: Any, agent: Any, cure: str) -> Any:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise UserError(f"{thing} of {agent} is {str(value)[:60]!r} (a {type(value).__name__}); {cure}")
    return array.item()
