"""A league inside of a run: who its players are, what came of their matches, and who meets whom (specification interfaces 11).

Learners are populations of the run; a frozen player is a copy of a learner's weights, a fixed one a scripted policy or another run.
All are numbered as networks are: Q learners, Q mirrors (the learners as they are, who only act), frozen places, fixed players. What
this module keeps is the same bit for bit in every worker and stands in every checkpoint: a result counts exactly once, because a run that
goes on from a checkpoint plays what came after it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import win_probability
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable, mix_league, rate_league
from interplay.evaluate.tournaments.ratings.nash import nash
from interplay.train.populations import Populations
from interplay.train.run.restoring import restore
from interplay.train.selfplay.matchmaking import near_in_strength, prioritised
from interplay.train.settings import PoolGroup
from interplay.train.settings.league import LeagueGroup, LearnerGroup, MeetingGroup

_STREAM = 0x9B71  # of the draws of population-based training
_PAIRS = 8  # least-played pairs that are looked at together
NOBODY = -1


class Decision(NamedTuple):
    """What the end of a period decided.

    Attributes:
        frozen: names of the copies that were made.
        restarted: numbers of the learners who begin anew.
        replaced: learners and those from whom they go on.
    """

    frozen: tuple[str, ...]
    restarted: tuple[int, ...]
    replaced: tuple[tuple[int, int], ...] = ()


class League:
    """The players of a run; it stands where other runs have a `Pool`.

    Args:
        settings: of the league.
        populations: of the run, the learners.
        first: kind name -> (Q, P) float32, the weights that the learners begin with.
        seed: of the run.

    Attributes:
        settings: of a pool that it is not; `keep` of them.
        first: number of the first mirror.
        stacks: kind name -> (R, P) float32, weights of mirrors and frozen players.
        owner: (F,) int64, the learner whom a frozen player was; -1 for an empty place.
        number: (F,) int64, which copy of its owner it is, from 1.
        since: (F,) int64, agent-steps when it was frozen.
        payoff: results between all N players.
        age: (Q,) int64, periods since a learner began.
        copies: (Q,) int64, of each learner so far.
        factor: (Q, rates) float64, what each learner's rates of ``pbt.rates`` are multiplied with.
        serial: (N,) int64, changes with who a number is.
        chances: (Q, N) float64, how likely a learner's opponent is each player.
        pairs: (n, 2) int64, who are to be measured.
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
        self.settings = PoolGroup(keep=min(places, 64))
        self.first = learners
        self._first = {name: np.array(vectors) for name, vectors in first.items()}
        self.stacks = {
            name: np.concatenate([vectors, np.zeros((places, vectors.shape[1]), np.float32)])
            for name, vectors in self._first.items()
        }
        self.owner = np.full(places, NOBODY)
        self.number, self.since = np.zeros((2, places), np.int64)
        self.age, self.copies = np.zeros((2, learners), np.int64)
        self._period, self._seed = np.zeros(1, np.int64), seed
        spread = np.log(settings.pbt.spread)
        drawn = self._rng().uniform(-spread, spread, (learners, len(settings.pbt.rates)))
        self.factor: np.ndarray = np.exp(drawn)
        self.players = 2 * learners + places + len(settings.fixed)
        self.payoff = Payoff.empty(self.players)
        self.serial = np.zeros(self.players, np.int64)
        self.chances, self.pairs = self._chances(), self._pairs()

    # -- who there is -----------------------------------------------------------------------------------

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
        """(1,) how many frozen players there are."""
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
    def everybody(self) -> np.ndarray:
        """Numbers of all players, mirrors left out, who are learners."""
        return np.concatenate([np.arange(self.learners), self.frozen, self.fixed])

    def members(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """The frozen players: name, and kind name -> (P,) weights."""
        for player in self.frozen:
            place = int(player) - self.learners
            yield self.name(int(player)), {name: stack[place] for name, stack in self.stacks.items()}

    def name(self, player: int) -> str:
        """What tables call a player, e.g. ``main``, ``main-0003``, ``random``."""
        if player < 2 * self.learners:
            return self.names[player % self.learners]
        at = player - 2 * self.learners
        if at < len(self.owner):
            return f"{self.names[self.owner[at]]}-{self.number[at]:04d}"
        return self.league.fixed[at - len(self.owner)]

    def rated(self, player: np.ndarray) -> np.ndarray:
        """The numbers under which results count: a mirror is its learner."""
        mirror = (player >= self.learners) & (player < 2 * self.learners)
        return np.where(mirror, player - self.learners, player)

    def ratings(self) -> dict[str, float]:
        """Elo points of everybody who met somebody, the first fixed player, or else the oldest frozen one, at 0."""
        who = self._met()
        if not len(who):
            return {}
        points, _ = rate_league(self._among(who), self._anchors(who))
        return {self.name(int(one)): float(p) for one, p in zip(who, points, strict=True)}

    def table(self, world: str, agent_steps: int) -> LeagueTable:
        """How the league stands.

        Args:
            world: id.
            agent_steps: done so far.

        Raises:
            UserError: if nobody met anybody yet.
        """
        who = self._met()
        if not len(who):
            raise UserError("league: no match was finished yet; train on with `interplay resume`")
        payoff = self._among(who)
        points, anchor = rate_league(payoff, self._anchors(who))
        at, fixed = who - 2 * self.learners, who >= self.learners + self.places
        frozen = (at >= 0) & ~fixed
        owner = np.where(frozen, self.owner[np.clip(at, 0, len(self.owner) - 1)], who)
        since = np.where(frozen, self.since[np.clip(at, 0, len(self.owner) - 1)], agent_steps)
        return LeagueTable(
            world,
            agent_steps,
            tuple(self.name(int(one)) for one in who),
            tuple("" if f else self.names[o] for f, o in zip(fixed, owner, strict=True)),
            np.where(fixed, 0, since),
            points,
            self.name(int(who[anchor])),
            payoff,
            mix_league(payoff),
        )

    def _met(self) -> np.ndarray:
        """Numbers of the players who met somebody."""
        who = self.everybody
        return who[self.payoff.met[np.ix_(who, who)].any(axis=1)]

    def _among(self, who: np.ndarray) -> Payoff:
        return Payoff(*(array[np.ix_(who, who)] for array in self.payoff))

    def _anchors(self, who: np.ndarray) -> list[int]:
        """Places in `who` of those who may have 0 points: fixed players, then frozen ones, the oldest first."""
        return [int(at) for one in [*self.fixed, *self.frozen] for at in np.flatnonzero(who == one)]

    # -- what happens -------------------------------------------------------------------------------------

    def add(self, results: np.ndarray) -> dict[str, float]:
        """Counts the matches of an update, (2, N, N) sums of outcomes and numbers, of all workers together.

        Returns:
            The mean outcome of each learner against others, as it is logged.
        """
        self.payoff.total[...] += results[0]
        self.payoff.matches[...] += results[1]
        new = Payoff(*results)
        won, met = (new.total - new.total.T).sum(axis=1), new.met.sum(axis=1)
        return {f"outcome[{name}]": won[q] / met[q] for q, name in enumerate(self.names) if met[q]}

    def advance(self, agent_steps: int, vectors: Mapping[str, Any]) -> Decision | None:
        """What follows from an update: mirrors are renewed; at the end of a period copies are made.

        Args:
            agent_steps: done so far.
            vectors: kind name -> (Q, P), the weights after it.

        Returns:
            What was decided; None within a period. The caller gives who begins anew `beginning`.
        """
        decision, period = None, agent_steps // self.league.period
        for name, stack in self.stacks.items():
            stack[: self.learners] = np.asarray(vectors[name])
        if period > self._period[0]:
            self._period[0] = period
            decision = self._decide(agent_steps)
        self.chances, self.pairs = self._chances(), self._pairs()
        return decision

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """The learners begin with other weights than those that were drawn, kind name -> (Q, P)."""
        for name, given in vectors.items():
            self._first[name] = np.array(given, np.float32)
            self.stacks[name][: self.learners] = self._first[name]

    def scale(self, rates: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each learner's rates as population-based training has changed them.

        Raises:
            UserError: if the algorithm has no such rate.
        """
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

    def beginning(self, name: str, learner: int) -> np.ndarray:
        """(P,) the weights of a kind that a learner began with."""
        return self._first[name][learner]

    def _decide(self, agent_steps: int) -> Decision:
        frozen, restarted, points = [], [], self.ratings()
        for q, rule in enumerate(self.league.learners.values()):
            self.age[q] += 1
            anew = self._begins_anew(q, rule)
            if rule.freeze:
                frozen.append(self._freeze(q, agent_steps))
            if anew:
                self.age[q] = 0
                restarted.append(q)
                self.payoff.forget(q)
                self.serial[[q, self.learners + q]] += 1
                for name, stack in self.stacks.items():
                    stack[q] = self._first[name][q]
        if self.league.decay < 1.0:
            self.payoff.total[...] *= self.league.decay
            self.payoff.matches[...] *= self.league.decay
        replaced = self._replace(points) if self.league.pbt.rates else []
        return Decision(tuple(frozen), tuple(restarted), tuple(replaced))

    def _replace(self, points: Mapping[str, float]) -> list[tuple[int, int]]:
        """Who falls behind goes on from another learner, by the ratings at the end of the period."""
        rng, pbt, replaced = self._rng(), self.league.pbt, []
        for q, name in enumerate(self.names):
            other = int(rng.choice([other for other in range(self.learners) if other != q]))
            up, ahead = rng.random(len(pbt.rates)) < 0.5, self.names[other]
            if (
                not {name, ahead} <= points.keys()
                or win_probability(points[name], points[ahead]) >= pbt.below
            ):
                continue
            replaced.append((q, other))
            self.factor[q] = self.factor[other] * np.where(up, pbt.change, 1.0 / pbt.change)
            self.payoff.forget(q)
            self.serial[[q, self.learners + q]] += 1
            for stack in self.stacks.values():
                stack[q] = stack[other]
        return replaced

    def _rng(self) -> np.random.Generator:
        """Draws of a period: a pure function of the run's seed and the period."""
        return seeding.generator(self._seed, _STREAM, int(self._period[0]))

    def _begins_anew(self, q: int, rule: LearnerGroup) -> bool:
        if rule.restart_after is not None and self.age[q] >= rule.restart_after:
            return True
        met = self.payoff.met[q] > 0
        return (
            rule.restart_above is not None
            and bool(met.any())
            and bool((self.payoff.win_rates()[q, met] > rule.restart_above).all())
        )

    def _freeze(self, q: int, agent_steps: int) -> str:
        """Keeps a copy of a learner, to whom its results so far belong: the learner goes on as a new player."""
        free = np.flatnonzero(self.owner < 0)
        if len(free):
            place = int(free[0])
        else:
            counts = np.bincount(self.owner, minlength=self.learners)
            owner = q if counts[q] == counts.max() else int(np.argmax(counts))
            most = np.flatnonzero(self.owner == owner)
            place = int(most[np.argmin(self.number[most])])
        player = 2 * self.learners + place
        self.copies[q] += 1
        self.serial[player] += 1
        self.owner[place], self.number[place], self.since[place] = q, self.copies[q], agent_steps
        self.payoff.rename(q, player)
        for stack in self.stacks.values():
            stack[self.learners + place] = stack[q]
        return self.name(player)

    # -- who meets whom -----------------------------------------------------------------------------------

    def _chances(self) -> np.ndarray:
        chances = np.zeros((self.learners, self.players))
        for q, learner in enumerate(self.league.learners.values()):
            for meeting in learner.meets:
                who, weights = self._candidates(q, meeting)
                if not len(who):
                    who, weights = np.array([q]), np.ones(1)
                chances[q, who] += meeting.share * weights
        return chances

    def _candidates(self, q: int, meeting: MeetingGroup) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of those whom a rule chooses among, and their weights, which sum to 1."""
        if meeting.by == "self":
            return np.array([q]), np.ones(1)
        if meeting.by == "fixed":
            return self.fixed[[self.league.fixed.index(meeting.play)]], np.ones(1)
        among = [self.names.index(name) for name in meeting.among]
        if meeting.by == "current":
            others = [other for other in among or range(self.learners) if other != q]
            return self.learners + np.array(others), np.full(len(others), 1.0 / len(others))
        own = meeting.by in ("latest", "first", "uniform")
        frozen = self._frozen_of(among or ([q] if own else range(self.learners)))
        if not len(frozen):
            return frozen, np.zeros(0)
        if meeting.by in ("latest", "first"):
            return frozen[[-1 if meeting.by == "latest" else 0]], np.ones(1)
        if meeting.by == "uniform":
            frozen = frozen[-meeting.last :]
            return frozen, np.full(len(frozen), 1.0 / len(frozen))
        if meeting.by == "nash":
            return frozen, nash(self.payoff.merged()[np.ix_(frozen, frozen)])
        rates = self.payoff.win_rates(meeting.matches)[q, frozen]
        if meeting.by == "pfsp":
            return frozen, prioritised(rates, meeting.priority)
        points = self.ratings()
        mine = points.get(self.names[q], 0.0)
        theirs = [points.get(self.name(int(one)), mine) for one in frozen]
        return frozen, near_in_strength(np.array([win_probability(mine, other) for other in theirs]))

    def _frozen_of(self, learners: Any) -> np.ndarray:
        frozen = self.frozen
        return frozen[np.isin(self.owner[frozen - 2 * self.learners], list(learners))]

    def _pairs(self) -> np.ndarray:
        """Who met least: pairs of which each match that measures takes one."""
        payoff, who, pairs = Payoff(*(array.copy() for array in self.payoff)), self.everybody, []
        for _ in range(_PAIRS):
            pair = payoff.least_played(who)
            if pair is None:
                break
            pairs.append(pair)
            payoff.matches[pair] += 1.0
        out = np.array(pairs, np.int64).reshape(-1, 2)
        # Learners are measured by their mirrors, who are not learnt from.
        return np.where(out < self.learners, out + self.learners, out)

    # -- checkpoints --------------------------------------------------------------------------------------

    def save(self) -> dict[str, np.ndarray]:
        """Players and results; the weights of frozen players too."""
        arrays = {name: array.copy() for name, array in self._arrays().items()}
        return arrays | {f"first/{name}": array for name, array in self._first.items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if the league was another one.
        """
        most = 2**53
        bounds = {
            "owner": (NOBODY, self.learners - 1),
            "number": (0, most),
            "since": (0, most),
            "age": (0, most),
            "copies": (0, most),
            "serial": (0, most),
            "period": (0, most),
        }
        owner = "checkpoint: league"
        restore(
            self._arrays() | {f"first/{name}": array for name, array in self._first.items()},
            arrays,
            owner,
            bounds,
        )
        self.chances, self.pairs = self._chances(), self._pairs()

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("owner", "number", "since", "age", "copies", "serial", "factor")
        named = {name: getattr(self, name) for name in names}
        named |= {"period": self._period, "total": self.payoff.total, "matches": self.payoff.matches}
        return named | {f"stack/{name}": stack for name, stack in self.stacks.items()}
