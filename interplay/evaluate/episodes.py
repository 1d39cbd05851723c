"""Plays a fixed set of episodes, each to its end.

Taking the first N episodes that finish in a batch would favour short ones. Here the episodes are chosen beforehand by their seeds,
and worlds take them in that order as they become free. The table does not depend on the number of worlds, if the policy does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.data_frames import frame_of
from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.evaluate.lineup import FIRST, Lineup, line_of, players_of, with_game
from interplay.evaluate.policy_map import act
from interplay.evaluate.results import (
    NAMES,
    OUTCOME,
    Results,
    Share,
    has_outcome,
    limit_ended,
    results,
    sides_by_name,
)
from interplay.evaluate.statistics import Difference, Estimate, difference, estimate
from interplay.evaluate.units import PER_SLOT, PER_TEAM, STEPS, unit_of

MOST_AGENTS = 16  # that a table lists one by one
ROUNDING = 1e-6  # of a sum of float32 rewards, as a share of their sizes

OnStep = Callable[[World, np.ndarray], None]


class Seating(NamedTuple):
    """The sides of E episodes in which several policies played.

    Attributes:
        names: of the sides; none of a population in a world with respawns, because a slot's metrics are of several populations there.
        number: (E, A) int64, index of each slot's side; -1: none.
        own: (E, A) bool, slots of the policy under study.
        learner: names of the sides that it can play; empty, as is `own`, if slots change players within an episode.
    """

    names: tuple[str, ...]
    number: np.ndarray
    own: np.ndarray
    learner: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class EpisodeTable:
    """One row per episode, in the order of the episodes' seeds.

    Attributes:
        world: id.
        policy: name.
        seed: from which the episodes' seeds derive.
        agents: slot names, length A.
        columns: name -> (E,) or (E, A) array: ``seed``, ``steps``, ``truncated`` (a limit ended it: the world's own, or `max_steps`),
            ``return`` (E, A) float64, and the world's metrics at the episode's end. ``outcome`` is NaN where `max_steps` ended it.
            With `World.respawns` also ``life`` and ``life_return`` (E,): mean steps and return of the lives that ended.
        actions: how trained policies act, "sampled" or "greedy"; empty if all policies are scripted.
        teams: name -> slots that win and lose together, in worlds with an ``outcome``; a single agent is a team of one.
        units: column -> "per agent", "per team", "per episode", or a unit.
        players: side -> description of its player, or all -> the only one; see `interplay.evaluate.lineup.line_of`.
        seating: None if one policy played all slots.
        num_worlds: side by side; they share the policies' random streams, so the draws of an episode depend on it.
    """

    world: str
    policy: str
    seed: int
    agents: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    actions: str = ""
    teams: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    players: Mapping[str, str] = field(default_factory=dict)
    seating: Seating | None = None
    num_worlds: int = 1

    def __len__(self) -> int:
        return len(self.columns["steps"])

    def __getitem__(self, name: str) -> np.ndarray:
        """A column; UserError for an unknown name."""
        if name not in self.columns:
            raise UserError(f"{self.world}: no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def frame(self) -> Any:
        """Returns a pandas data frame: a row per episode, a column per agent (``return[red_0]``)."""
        return frame_of(self.columns.items(), self.agents)

    def results(self) -> dict[str, Results]:
        """Results of each side, episode by episode; empty if the world has no ``outcome``.

        Sides are those of `seating` if each wins and loses as one, else the world's teams.
        """
        if not self.teams:
            return {}
        outcome, truncated = self.columns[OUTCOME], self.columns["truncated"]
        by_side = {} if self.seating is None else self._by_side(outcome)
        if not by_side or any(_differ(own) for own in by_side.values()):
            by_side = {side: outcome[:, list(slots)] for side, slots in self.teams.items()}
        return {side: results(own, truncated) for side, own in by_side.items()}

    @property
    def repeats(self) -> bool:
        """Whether there are several episodes, equal in every column: without any draws they are one, and intervals mean nothing."""
        rows = [values for name, values in self.columns.items() if name != "seed"]
        return len(self) > 1 and all(np.array_equal(a[1:], a[:-1], equal_nan=True) for a in rows)

    def learner_results(self) -> Results | None:
        """Results of the policy under study over episodes shared with other policies; None without any."""
        if not self.teams or self.seating is None or not self._mixed.any():
            return None
        rows = self._mixed
        return results(self._of(self.columns[OUTCOME])[rows], self.columns["truncated"][rows])

    def shares(self) -> dict[str, dict[str, Share]]:
        """Side -> ``won``, ``lost``, ``drawn`` and ``cut`` -> its share of the episodes with its interval."""
        return {side: found.shares() for side, found in self.results().items()}

    def summary(self) -> dict[str, Estimate]:
        """Estimates each column over episodes, leaving out NaN.

        - A column of 0 and 1 alone, of all agents, is a share, with Wilson's 95 % interval; ``steps`` are none. Other means have a standard
          error alone, also those over several agents that differ within an episode.
        - ``outcome``: ``won[side]``, ``lost[side]``, ``drawn[side]`` and ``cut[side]``, as in `shares`.
        - A column per agent: the mean over agents, counted once per episode because agents of one episode are not independent; and
          each agent's as ``name[agent]``.
        - With several policies the mean is over the agents of the policy under study, and each side's is ``name[side]``.
        - A column that sums to zero over the sides of every episode has no mean over all sides. That of the policy under study is then
          over the episodes shared with other policies, as are its ``won``, ``lost``, ``drawn`` and ``cut``.
        """
        found: dict[str, Estimate] = {}
        for name, values in self.columns.items():
            if name == "seed":
                continue
            if name == OUTCOME and self.teams:
                if own_results := self.learner_results():
                    found |= {
                        share: estimate(own, share=True) for share, own in own_results._asdict().items()
                    }
                found |= {
                    f"{share}[{side}]": estimate(own, share=True)
                    for side, each in self.results().items()
                    for share, own in each._asdict().items()
                }
                continue
            if values.ndim == 1:
                found[name] = estimate(values, share=False if self.unit(name) == STEPS else None)
                continue
            share = None if np.isin(values[~np.isnan(values)], (0.0, 1.0)).all() else False
            mean = self._mean_over_teams if self.unit(name) == PER_TEAM and self.teams else _mean_over_agents
            of_side = mean if self.seating else _mean_over_agents  # without a seating a side is one team
            by_side = {side: of_side(own) for side, own in self._by_side(values).items()}
            zero_sum = _sums_to_zero(list(by_side.values()) or list(values.T))
            if self.seating and zero_sum:
                found[name] = estimate(mean(self._of(values))[self._mixed], share)
            elif not zero_sum:
                found[name] = estimate(mean(self._of(values)), share)
            if zero_sum or self.seating:
                found |= {f"{name}[{side}]": estimate(own, share) for side, own in by_side.items()}
            for slot, agent in enumerate(self.agents):
                found[f"{name}[{agent}]"] = estimate(values[:, slot], share)
        return found

    @property
    def line(self) -> str:
        """One line with the players of every side."""
        return line_of(self.players) if self.players else self.policy

    def is_of_agent(self, name: str) -> bool:
        """Whether a name of `summary` belongs to a single agent, not to a side."""
        bracket = name.endswith("]") and name[:-1].partition("[")[2]
        if self.seating is not None:
            return bool(bracket) and bracket not in self.seating.names
        return bracket in list(map(str, self.agents))

    def __repr__(self) -> str:
        return f"EpisodeTable({self.world}, {len(self)} episodes, {self.line}; columns {', '.join(self.columns)})"

    @property
    def sides(self) -> tuple[str, ...]:
        """Sides that appear in brackets in `summary`, beside the agents."""
        return tuple(self.teams) if self.seating is None else self.seating.names

    @property
    def _mixed(self) -> np.ndarray:
        """(E,) bool, episodes in which the policy under study shares the world with others."""
        own = np.ones((len(self), 1), bool) if self.seating is None else self.seating.own
        return np.asarray(own.any(axis=1) & ~own.all(axis=1))

    def _of(self, values: np.ndarray) -> np.ndarray:
        """(E, A) values, NaN for agents of other policies."""
        return values if self.seating is None else np.where(self.seating.own, values, np.nan)

    def _by_side(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Side -> (E, agents) values, NaN for agents of other sides."""
        if self.seating is None:
            return {side: values[:, list(slots)] for side, slots in self.teams.items()}
        number = self.seating.number
        return {side: np.where(number == n, values, np.nan) for n, side in enumerate(self.seating.names)}

    def _mean_over_teams(self, values: np.ndarray) -> np.ndarray:
        """(E,) means over the teams of each one's mean over its agents, without NaN."""
        teams = [_mean_over_agents(values[:, list(slots)]) for slots in self.teams.values()]
        return _mean_over_agents(np.stack(teams, axis=1))

    def unit(self, name: str) -> str:
        """The unit of a name of `summary`; empty if unknown."""
        return self.units.get(name) or self.units.get(name.partition("[")[0]) or unit_of(name)

    def _repr_html_(self) -> str:
        """Shares and means, for notebooks; single agents are left out if there are many."""
        rows = [row for row in self.rows() if not self.is_of_crowd(row[0])]
        title = f"{self.line}, on {self.world}, {len(self)} episodes: mean ± standard error, share [95 %]"
        return html_table(title, ("", "mean", "unit"), rows)

    def is_of_crowd(self, name: str) -> bool:
        """Whether a name of `summary` belongs to one of too many agents or teams to list one by one."""
        if self._is_share(name):
            return len(self.shares()) > MOST_AGENTS
        return self.is_of_agent(name) and len(self.agents) > MOST_AGENTS

    def _is_share(self, name: str) -> bool:
        return any(name == f"{share}[{side}]" for side in self.shares() for share in NAMES)

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and unit of each entry of `summary`: means with standard errors, shares with intervals."""
        return [(name, str(found), self.unit(name)) for name, found in self.summary().items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "world": self.world,
            "policy": self.policy,
            "players": dict(self.players),
            "seed": self.seed,
            "agents": list(self.agents),
            "episodes": len(self),
            "num_worlds": self.num_worlds,
            "actions": self.actions,
            "results": {
                side: {name: share._asdict() for name, share in own.items()}
                for side, own in self.shares().items()
            },
            "units": dict(self.units),
            "columns": {name: values.tolist() for name, values in self.columns.items()},
        }


def play(
    world: World,
    policy: Policy,
    episodes: int,
    seed: int = 0,
    *,
    max_steps: int | None = None,
    on_step: OnStep | None = None,
) -> EpisodeTable:
    """Plays `episodes` episodes, each to its end.

    Args:
        world: a batch; it is reset.
        policy: acts for all agents; see `PolicyMap` for one policy per slot.
        episodes: episode e starts from seed e of `seeding.world_seeds(seed, episodes)`.
        seed: of the episodes and of the policy's stream.
        max_steps: cuts episodes at that length; required for worlds without an end.
        on_step: called after every step with the world and the episode (W,) that each world plays, -1 for none.

    Raises:
        UserError: for no episodes, or a persistent world without `max_steps`.
    """
    if episodes < 1:
        raise UserError(f"episodes = {episodes}: play at least one")
    if max_steps is not None and max_steps < 1:
        raise UserError(f"max_steps = {max_steps}: an episode has at least one step")
    if max_steps is None and world.persistent:
        raise UserError(f"{world.id}: its worlds may run for ever; pass max_steps (--max-steps)")
    ledger = _EpisodeRows(world, seeding.world_seeds(seed, episodes))
    timestep = world.reset(seeds=ledger.first_seeds(seed))
    policy = with_game(policy, world)
    policy.start(world, seed)
    lineup = policy if isinstance(policy, Lineup) else None
    if lineup is not None:
        lineup.draw(np.ones(world.num_worlds, bool), ledger.seeds)
    while ledger.unfinished:
        acted = timestep.acting.copy()
        timestep = world.step(act(policy, timestep))
        ledger.add(timestep, acted)
        if on_step is not None:
            on_step(world, ledger.episode)
        at_limit = limit_ended(timestep.truncated, timestep.over)
        done = ledger.finish(timestep.over, at_limit, max_steps, lineup)
        if done.any():
            again = ledger.assign(done)
            if again.any():
                timestep = world.reset(again, ledger.seeds)
                policy.forget(again)
                if lineup is not None:
                    lineup.draw(again, ledger.seeds)
    columns, players = ledger.columns(), players_of(policy, world)
    per_team = world.per_team if world.teams else ()
    return EpisodeTable(
        world.id,
        policy.name,
        seed,
        world.agents,
        columns,
        policy.actions,
        sides_by_name(world) if has_outcome(world) else {},
        {name: unit_of(name, a.ndim > 1, per_team) for name, a in columns.items() if name != "seed"}
        | ({"return": PER_SLOT} if world.respawns else {}),
        players,
        ledger.seating(lineup) if lineup is not None and len(players) > 1 else None,
        world.num_worlds,
    )


def compare(a: EpisodeTable, b: EpisodeTable) -> dict[str, Difference]:
    """Compares the columns that both tables have, a against b, as independent samples."""
    ours, theirs = a.summary(), b.summary()
    return {name: difference(ours[name], theirs[name]) for name in ours if name in theirs}


class _EpisodeRows:
    """Which world plays which episode, and the rows of finished episodes."""

    def __init__(self, world: World, episode_seeds: np.ndarray) -> None:
        self._world = world
        self._episode_seeds = episode_seeds
        self._next = min(world.num_worlds, len(episode_seeds))
        self._rows: dict[int, dict[str, Any]] = {}
        self._seated: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # sides and players at an episode's end
        self.episode = np.where(np.arange(world.num_worlds) < self._next, np.arange(world.num_worlds), -1)
        self._steps = np.zeros(world.num_worlds, np.int64)
        self._returns = np.zeros((world.num_worlds, len(world.agents)))
        self._life = np.zeros((*self._returns.shape, 3))  # of current lives: 1, steps, return
        self._ended = np.zeros((world.num_worlds, 3))  # their sums over the lives that ended
        self.seeds = np.zeros(world.num_worlds, np.uint64)

    @property
    def unfinished(self) -> bool:
        return len(self._rows) < len(self._episode_seeds)

    def first_seeds(self, seed: int) -> np.ndarray:
        """Seeds (W,) of the first episodes; spare worlds get further seeds."""
        self.seeds[:] = seeding.world_seeds(seed, len(self.seeds), first=len(self._episode_seeds))
        self.seeds[: self._next] = self._episode_seeds[: self._next]
        return self.seeds

    def add(self, timestep: TimeStep, acted: np.ndarray) -> None:
        """Adds a step; `acted` is the acting mask before it."""
        self._steps += 1
        self._returns += timestep.reward
        if self._world.respawns:
            self._life[..., 0] = acted
            self._life[..., 1] += acted
            self._life[..., 2] += np.where(acted, timestep.reward, 0.0)
            gone = timestep.terminated | timestep.truncated
            self._ended += np.where(gone[..., None], self._life, 0.0).sum(axis=1)
            self._life[gone] = 0.0

    def finish(
        self, over: np.ndarray, at_limit: np.ndarray, max_steps: int | None, lineup: Lineup | None = None
    ) -> np.ndarray:
        """Writes the rows of episodes that ended now; returns the (W,) mask of their worlds.

        `at_limit` marks episodes ended by a limit of the world.
        """
        stopped = np.zeros_like(over) if max_steps is None else ~over & (self._steps >= max_steps)
        done: np.ndarray = (over | stopped) & (self.episode >= 0)
        if done.any():
            metrics = dict(self._world.metrics)
            if self._world.respawns:
                lives = np.where(self._ended[:, :1], self._ended[:, :1], np.nan)
                metrics["life"], metrics["life_return"] = (self._ended[:, 1:] / lives).T
            if has_outcome(self._world):  # an episode stopped by max_steps has none
                metrics[OUTCOME] = np.where(stopped[:, None], np.nan, metrics[OUTCOME])
            if lineup is not None:
                number, seats = lineup.sides_now(), lineup.seats()
                self._seated |= {int(self.episode[w]): (number[w], seats[w]) for w in np.flatnonzero(done)}
            for w in np.flatnonzero(done):
                self._rows[int(self.episode[w])] = {
                    **{name: np.array(values[w]) for name, values in metrics.items()},
                    "seed": self.seeds[w],
                    "steps": self._steps[w],
                    "truncated": stopped[w] or at_limit[w],
                    "return": self._returns[w].copy(),
                }
        return done

    def assign(self, done: np.ndarray) -> np.ndarray:
        """Assigns the next episodes to the worlds in `done`; returns the mask of worlds that got one."""
        again = np.zeros_like(done)
        for w in np.flatnonzero(done):
            self.episode[w] = -1
            if self._next < len(self._episode_seeds):
                self.episode[w] = self._next
                self.seeds[w] = self._episode_seeds[self._next]
                self._next += 1
                again[w] = True
        self._steps[again] = 0
        self._returns[again] = 0.0
        self._life[again] = self._ended[again] = 0.0
        return again

    def seating(self, lineup: Lineup) -> Seating:
        """The sides of all episodes; without a learner every slot counts as own."""
        number, seats = (
            np.stack([self._seated[episode][part] for episode in sorted(self._seated)]) for part in range(2)
        )
        names = tuple(side.name for side in lineup.lasting)
        if lineup.reseats:
            return Seating(names, number, np.zeros(seats.shape, bool), ())
        own = seats == FIRST if lineup.learner else np.ones(seats.shape, bool)
        return Seating(names, number, own, lineup.learner)

    def columns(self) -> dict[str, np.ndarray]:
        rows = [self._rows[episode] for episode in sorted(self._rows)]
        first = ["seed", "steps", "truncated", "return"]
        most = max(rows, key=len)  # a metric may appear during play; earlier episodes lack it
        none = {name: np.full(np.shape(most[name]), np.nan) for name in most}
        names = first + [name for name in most if name not in first]
        return {name: np.stack([row.get(name, none[name]) for row in rows]) for name in names}


def _differ(outcome: np.ndarray) -> bool:
    """Whether agents of a side, (E, agents) with NaN elsewhere, end an episode with different outcomes."""
    known = ~np.isnan(outcome)
    most = np.where(known, outcome, -np.inf).max(axis=1)
    least = np.where(known, outcome, np.inf).min(axis=1)
    return bool((known.any(axis=1) & (most != least)).any())


def _sums_to_zero(sides: Sequence[np.ndarray]) -> bool:
    """Whether the (E,) values of several sides sum to zero in every episode, and are not all zero.

    Example:
        >>> _sums_to_zero([np.array([1.0, -2.0]), np.array([-1.0, 2.0])]), _sums_to_zero([np.zeros(2)] * 2)
        (True, False)
    """
    each = np.nan_to_num(np.stack(sides).astype(np.float64))
    total, size = np.abs(each.sum(axis=0)), np.abs(each).sum(axis=0)
    return len(sides) > 1 and bool(size.any() and (total <= ROUNDING * size).all())


def _mean_over_agents(values: np.ndarray) -> np.ndarray:
    """(E,) means over each episode's agents, without NaN; NaN if all are."""
    missing = np.isnan(values)
    if not missing.any():
        return values.mean(axis=1, dtype=np.float64)
    sums = np.where(missing, 0.0, values).sum(axis=1, dtype=np.float64)
    cases = (~missing).sum(axis=1)
    return np.divide(sums, cases, out=np.full(len(values), np.nan), where=cases > 0)
