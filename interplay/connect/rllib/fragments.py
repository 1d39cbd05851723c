"""RLlib's episodes from the steps of a batch of worlds.

Rows of all slots are kept in the order of time and sorted by slot once, at the end of a fragment; an agent's part of an episode
is a slice of each column then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer

from interplay.core.world import TimeStep

Rows = dict[str, np.ndarray]


class RowLog:
    """Rows of slots, appended step by step, then sorted by slot."""

    def __init__(self) -> None:
        self._slots: list[np.ndarray] = []
        self._rows: list[Mapping[str, np.ndarray]] = []

    def add(self, slots: np.ndarray, rows: Mapping[str, np.ndarray]) -> None:
        if len(slots):
            self._slots.append(slots)
            self._rows.append(rows)

    def sort(self, slots: int) -> None:
        """Sorts the rows by slot, of one slot by time; `take` reads from here on."""
        every = np.concatenate(self._slots) if self._slots else np.zeros(0, np.int64)
        order = np.argsort(every, kind="stable")
        names = self._rows[0] if self._rows else ()
        self._columns = {name: np.concatenate([rows[name] for rows in self._rows])[order] for name in names}
        bounds = np.searchsorted(every[order], np.arange(slots + 1))
        self._next, self._last = bounds[:-1].tolist(), bounds[1:] - 1

    def take(self, slot: int, number: int) -> Rows:
        """The slot's next rows."""
        begin = self._next[slot]
        self._next[slot] = end = begin + number
        return {name: column[begin:end] for name, column in self._columns.items()}

    def last(self, slots: np.ndarray) -> Rows:
        """The last row of each slot."""
        return {name: column[self._last[slots]] for name, column in self._columns.items()}


class Part(NamedTuple):
    """One agent's part of an episode; it has begun after `begun` steps of the agent."""

    slot: int
    module: int
    begun: int
    steps: int
    terminated: bool
    truncated: bool


class ModuleLogs(NamedTuple):
    """The rows of one module's agents: observations, with the last ones; actions and what comes with them; rewards."""

    seen: RowLog
    acted: RowLog
    earned: RowLog


class Fragments:
    """Agents' steps of all worlds, cut into episodes.

    A step of an agent lasts from its action to its next observation, in which it acts or ends; its reward is the sum of those
    between. Rewards before the first action are dropped, as RLlib drops them.

    Args:
        agents: the slots' names.
        worlds: W.
        modules: ids of the modules.
        new_episode: makes an empty episode of a world, which maps agents to modules.

    Attributes:
        module: (W, A) index among `modules` of each slot's module.
        listed: (W, A) bool, the agent has not ended.
        returns: (W, A) of the present episodes.
        agent_steps: (W, A) int of the present episodes; `steps`: of the present fragment.
        length: (W,) int world steps of the present episodes; `begun`: at the beginning of the present fragment.
    """

    def __init__(
        self,
        agents: Sequence[str],
        worlds: int,
        modules: Sequence[str],
        new_episode: Callable[[int], MultiAgentEpisode],
    ) -> None:
        self._agents, self._modules, self._new_episode = agents, list(modules), new_episode
        shape = (worlds, len(agents))
        self.module, self.agent_steps, self.steps = np.zeros((3, *shape), np.int64)
        self.returns, self._reward = np.zeros((2, *shape))
        self.listed, self._pending, self._terminated, self._truncated = np.zeros((4, *shape), bool)
        self.length, self.begun = np.zeros((2, worlds), np.int64)
        self._episodes: list[Any] = [None] * worlds
        self._closed: list[tuple[MultiAgentEpisode, list[Part]]] = []
        self._logs, self._cut = self._new_logs(), np.zeros(worlds, bool)
        self.begin(np.ones(worlds, bool))

    def begin(self, which: np.ndarray) -> None:
        """Begins an episode in the worlds of a mask (W,)."""
        for w in np.flatnonzero(which).tolist():
            episode = self._episodes[w] = self._new_episode(w)
            self.module[w] = [self._modules.index(episode.module_for(agent)) for agent in self._agents]
        for array in (self.agent_steps, self.steps, self.returns, self._reward):
            array[which] = 0
        for array in (self._pending, self._terminated, self._truncated):
            array[which] = False
        self.listed[which] = True
        self.length[which] = self.begun[which] = 0

    def act(self, module: int, slots: np.ndarray, seen: Rows, acted: Rows) -> None:
        """Keeps the observations of agents, their actions and the module's other outputs."""
        self._logs[module].seen.add(slots, seen)
        self._logs[module].acted.add(slots, acted)
        self._pending.reshape(-1)[slots] = True

    def step(self, timestep: TimeStep) -> tuple[np.ndarray, np.ndarray]:
        """Adds the rewards of a time step, and ends agents.

        Returns:
            (W, A) bool, the agents that are shown to RLlib; and those of them that took a step and ended in it, of which `end`
            needs the last observations.
        """
        terminated = timestep.terminated | (timestep.over[:, np.newaxis] & ~timestep.truncated)
        gone = self.listed & (terminated | timestep.truncated)
        shown = (self.listed & timestep.acting) | gone
        self._reward[self._pending] += timestep.reward[self._pending]
        complete = self._pending & shown
        for m, logs in enumerate(self._logs):
            (slots,) = np.nonzero((complete & (self.module == m)).reshape(-1))
            logs.earned.add(slots, {"": self._reward.reshape(-1)[slots]})
        self.returns[complete] += self._reward[complete]
        self.agent_steps += complete
        self.steps += complete
        self._reward[complete] = 0
        self._pending &= ~complete
        self.listed &= ~gone
        self._terminated |= gone & terminated
        self._truncated |= gone & ~terminated
        self._cut = (gone & ~terminated).any(axis=1)
        self.length += 1
        return shown, complete & gone

    def end(self, module: int, slots: np.ndarray, seen: Rows) -> None:
        """Keeps the last observations of agents."""
        self._logs[module].seen.add(slots, seen)

    def close(self, w: int) -> None:
        """Closes a world's episode, or its part up to here; `end` has its agents' last observations."""
        episode = self._episodes[w]
        episode.env_t_started, episode.env_t = int(self.begun[w]), int(self.length[w])
        if not self.listed[w].any():
            episode.is_terminated, episode.is_truncated = bool(~self._cut[w]), bool(self._cut[w])
        begun = self.agent_steps - self.steps
        columns = (self.module, begun, self.steps, self._terminated, self._truncated)
        stepped = np.flatnonzero(self.steps[w]).tolist()
        parts = [
            Part(w * len(self._agents) + a, *(column[w, a].item() for column in columns)) for a in stepped
        ]
        self._closed.append((episode, parts))

    def take(self, weights: int) -> list[MultiAgentEpisode]:
        """The closed episodes and parts; actions whose step goes on stay.

        Args:
            weights: number of the weights.
        """
        for logs in self._logs:
            for log in logs:
                log.sort(self.module.size)
        episodes = [episode for episode, parts in self._closed if parts]
        for episode, parts in self._closed:
            for part in parts:
                agent = self._agents[part.slot % len(self._agents)]
                episode.agent_episodes[agent] = self._filled(part, agent, episode, weights)
                episode.agent_t_started[agent] = part.begun
        self._closed = []
        old, self._logs = self._logs, self._new_logs()
        for m, logs in enumerate(old):
            (slots,) = np.nonzero((self._pending & (self.module == m)).reshape(-1))
            if len(slots):
                self.act(m, slots, logs.seen.last(slots), logs.acted.last(slots))
        self._go_on()
        return episodes

    def _go_on(self) -> None:
        """Continues the present episodes in new parts."""
        for w, episode in enumerate(self._episodes):
            self._episodes[w] = MultiAgentEpisode(
                episode.id_,
                observation_space=episode.observation_space,
                action_space=episode.action_space,
                agent_module_ids=episode._agent_to_module_mapping,
                agent_to_module_mapping_fn=episode.agent_to_module_mapping_fn,
            )
        self.begun[:] = self.length
        self.steps[:] = 0

    def _new_logs(self) -> list[ModuleLogs]:
        return [ModuleLogs(RowLog(), RowLog(), RowLog()) for _ in self._modules]

    def _filled(self, part: Part, agent: str, episode: MultiAgentEpisode, weights: int) -> SingleAgentEpisode:
        logs, n = self._logs[part.module], part.steps
        seen, outputs = logs.seen.take(part.slot, n + 1), logs.acted.take(part.slot, n)
        return SingleAgentEpisode(
            agent_id=agent,
            module_id=self._modules[part.module],
            multi_agent_episode_id=episode.id_,
            observations=InfiniteLookbackBuffer(seen.get("", seen)),
            observation_space=episode.observation_space[agent],
            actions=InfiniteLookbackBuffer(outputs.pop("actions")),
            action_space=episode.action_space[agent],
            rewards=InfiniteLookbackBuffer(logs.earned.take(part.slot, n)[""]),
            infos=[{}] * (n + 1),
            terminated=part.terminated,
            truncated=part.truncated,
            extra_model_outputs=outputs | {"weights_seq_no": np.full(n, weights)},
            t_started=part.begun,
            len_lookback_buffer=0,
        )
