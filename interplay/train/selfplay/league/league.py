"""A league inside a run: its players, their results, and the matchmaking (specification interfaces 11).

Learners are populations of the run; a frozen player is a copy of a learner's weights, a fixed one a scripted policy or another run. All
have the numbers of networks: Q learners, Q mirrors (copies of the present weights, which only act), frozen places, fixed players. The
state is the same bit for bit in every worker and is in every checkpoint, so each result counts exactly once, also after resuming.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.train.populations import Populations
from interplay.train.run.restoring import restore
from interplay.train.selfplay.league.decisions import EMPTY, Decision, decide
from interplay.train.selfplay.league.meetings import chances, least_played
from interplay.train.selfplay.league.standing import ratings
from interplay.train.selfplay.pool import Others
from interplay.train.settings.league import LeagueGroup

_STREAM = 0x9B71  # of the draws of population-based training


class League(Others):
    """The players of a run.

    Args:
        first: kind name -> (Q, P) float32, the learners' initial weights.

    Attributes:
        stacks: mirrors, then frozen players.
        owner: (F,) int64, the learner of which a frozen player is a copy; -1 for an empty place.
        number: (F,) int64, number of the copy among its owner's, from 1.
        since: (F,) int64, agent-steps at the copy.
        payoff: results between all N players.
        age: (Q,) int64, periods since a learner began.
        copies: (Q,) int64, of each learner so far.
        factor: (Q, rates) float64, factors of each learner's ``pbt.rates``.
        serial: (N,) int64, changes when a number gets another player.
        chances: (Q, N) float64, probability of each player as a learner's opponent.
        pairs: (n, 2) int64, pairs for matches that only measure.
    """

    def __init__(
        self,
        settings: LeagueGroup,
        populations: Populations,
        first: Mapping[str, np.ndarray],
        seed: int = 0,
    ) -> None:
        self.league, self.names = settings, populations.names
        learners, places = len(populations.names), settings.keep
        self.first = learners
        self._first = {name: np.array(vectors) for name, vectors in first.items()}
        self.stacks = {
            name: np.concatenate([vectors, np.zeros((places, vectors.shape[1]), np.float32)])
            for name, vectors in self._first.items()
        }
        self.owner = np.full(places, EMPTY)
        self.number, self.since = np.zeros((2, places), np.int64)
        self.age, self.copies = np.zeros((2, learners), np.int64)
        self._period, self._seed = np.zeros(1, np.int64), seed
        spread = np.log(settings.pbt.spread)
        drawn = self.rng().uniform(-spread, spread, (learners, len(settings.pbt.rates)))
        self.factor: np.ndarray = np.exp(drawn)
        self.logged = [f"outcome[{name}]" for name in self.names]
        self.players = 2 * learners + places + len(settings.fixed)
        self.payoff = Payoff.empty(self.players)
        self.serial = np.zeros(self.players, np.int64)
        self.update_matchmaking()

    # -- players ----------------------------------------------------------------------------------------

    @property
    def learners(self) -> int:
        """Q."""
        return len(self.names)

    @property
    def places(self) -> int:
        """R: networks beside the learners' own."""
        return self.learners + len(self.owner)

    @property
    def there(self) -> np.ndarray:
        """(1,) number of frozen players."""
        return np.array([np.count_nonzero(self.owner >= 0)])

    @property
    def frozen(self) -> np.ndarray:
        """Numbers of the frozen players, the oldest first."""
        at = np.flatnonzero(self.owner >= 0)
        return 2 * self.learners + at[np.lexsort((self.owner[at], self.since[at]))]

    @property
    def fixed(self) -> np.ndarray:
        """Numbers of the fixed players."""
        return self.learners + self.places + np.arange(len(self.league.fixed))

    @property
    def all_players(self) -> np.ndarray:
        """Numbers of all players without mirrors."""
        return np.concatenate([np.arange(self.learners), self.frozen, self.fixed])

    def members(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """The frozen players: name, and kind name -> (P,) weights."""
        for player in self.frozen:
            place = int(player) - self.learners
            yield self.name(int(player)), {name: stack[place] for name, stack in self.stacks.items()}

    def mirrors(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """The learners' present weights: name, and kind name -> (P,)."""
        for learner, name in enumerate(self.names):
            yield name, {kind: stack[learner] for kind, stack in self.stacks.items()}

    def name(self, player: int) -> str:
        """A player's name, e.g. ``main``, ``main-0003``, ``random``."""
        if player < 2 * self.learners:
            return self.names[player % self.learners]
        at = player - 2 * self.learners
        if at < len(self.owner):
            return f"{self.names[self.owner[at]]}-{self.number[at]:04d}"
        return self.league.fixed[at - len(self.owner)]

    def frozen_of(self, learners: Collection[int]) -> np.ndarray:
        """Numbers of the copies of some learners, the oldest first."""
        frozen = self.frozen
        return frozen[np.isin(self.owner[frozen - 2 * self.learners], list(learners))]

    def rated(self, player: np.ndarray) -> np.ndarray:
        """The numbers that results count for: a mirror's count for its learner."""
        mirror = (player >= self.learners) & (player < 2 * self.learners)
        return np.where(mirror, player - self.learners, player)

    # -- updates ------------------------------------------------------------------------------------------

    def add(self, results: np.ndarray) -> dict[str, float]:
        """Counts an update's matches, (2, N, N) sums of outcomes and numbers over all workers.

        Returns:
            Metrics: each learner's mean outcome against others.
        """
        self.payoff.total[...] += results[0]
        self.payoff.matches[...] += results[1]
        new = Payoff(*results)
        won, met = (new.total - new.total.T).sum(axis=1), new.met.sum(axis=1)
        return {f"outcome[{name}]": won[q] / met[q] for q, name in enumerate(self.names) if met[q]}

    def end_update(self, updates: int, agent_steps: int, vectors: Mapping[str, Any]) -> Decision | None:
        """Updates the mirrors, and ends the period when due."""
        decision, period = None, agent_steps // self.league.period
        for name, stack in self.stacks.items():
            stack[: self.learners] = jax.device_get(vectors[name])
        if period > self._period[0]:
            self._period[0] = period
            decision = decide(self, agent_steps)
        self.update_matchmaking()
        return decision

    def go_on(self, agent_steps: int) -> None:
        """Periods are counted on from so many agent-steps, by the length that they have now."""
        self._period[0] = agent_steps // self.league.period

    def update_matchmaking(self) -> None:
        """Updates the matchmaking from players and results."""
        self.chances, self.pairs = chances(self), least_played(self)

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Replaces the learners' initial weights, kind name -> (Q, P)."""
        for name, given in vectors.items():
            self._first[name] = np.array(given, np.float32)
            self.stacks[name][: self.learners] = self._first[name]

    def scale(self, rates: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each learner's rates with the factors of population-based training."""
        chosen = self.league.pbt.rates
        for rate in chosen:
            if rate not in rates[0]:
                raise UserError(
                    f"league.pbt.rates: the algorithm has no rate {rate!r}; it has {', '.join(rates[0])}"
                )
        return [
            dict(own) | {rate: own[rate] * float(f) for rate, f in zip(chosen, factor, strict=True)}
            for own, factor in zip(rates, self.factor, strict=True)
        ]

    def rng(self) -> np.random.Generator:
        """A generator for the period, from the run's seed."""
        return seeding.generator(self._seed, _STREAM, int(self._period[0]))

    def beginning(self, name: str, learner: int) -> np.ndarray:
        """(P,) a learner's initial weights of a kind."""
        return self._first[name][learner]

    def ratings(self) -> dict[str, float]:
        return ratings(self)

    # -- checkpoints --------------------------------------------------------------------------------------

    def save(self) -> dict[str, np.ndarray]:
        """Players, results, and the weights of frozen players."""
        arrays = {name: array.copy() for name, array in self._arrays().items()}
        return arrays | {f"first/{name}": array for name, array in self._first.items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores `save`."""
        most = 2**53
        bounds = {
            "owner": (EMPTY, self.learners - 1),
            "number": (0, most),
            "since": (0, most),
            "age": (0, most),
            "copies": (0, most),
            "serial": (0, most),
        }
        owner = "checkpoint: league"
        restore(
            self._arrays() | {f"first/{name}": array for name, array in self._first.items()},
            arrays,
            owner,
            bounds,
        )
        if (np.abs(self.payoff.total) > self.payoff.matches).any() or (self.factor <= 0).any():
            raise UserError(
                f"{owner}: outcomes beyond the number of matches, or rates below zero; choose an earlier checkpoint"
            )
        self._check_players(owner)
        self.update_matchmaking()

    def _check_players(self, owner: str) -> None:
        """Checks that copies are numbered in order, and that results are of present players."""
        at = np.flatnonzero(self.owner >= 0)
        copies = {(int(q), int(number)) for q, number in zip(self.owner[at], self.number[at], strict=True)}
        made = all(1 <= number <= self.copies[q] for q, number in copies)
        if len(copies) < len(at) or not made:
            raise UserError(
                f"{owner}: copies are numbered as no league numbers them; choose an earlier checkpoint"
            )
        absent = np.setdiff1d(np.arange(self.players), self.all_players)
        matches = self.payoff.matches
        if matches.diagonal().any() or self.payoff.met[absent].any() or (matches > 2**53).any():
            raise UserError(f"{owner}: results that no league could have; choose an earlier checkpoint")

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("owner", "number", "since", "age", "copies", "serial", "factor")
        named = {name: getattr(self, name) for name in names}
        named |= {"total": self.payoff.total, "matches": self.payoff.matches}
        return named | {f"stack/{name}": stack for name, stack in self.stacks.items()}
