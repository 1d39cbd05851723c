"""Who plays whom: sides of a world, the policies that play them, and the line that names both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.loading import did_you_mean
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.policy_map import PopulationView, SharedPlay

ANY = "any"  # one of the sides, drawn for every episode, each equally often
ALL = "all"  # the only key of `players_of` where one policy plays everything
FIRST = 0  # number of the policy under study among the players of a lineup
_STREAM = np.uint64(0x11E0_0B1A)  # separates the draws of players from the worlds' own
_SHOWN = 4  # names of sides in a line before "and 3 more"


class Side(NamedTuple):
    """A part of a world that one player has.

    Attributes:
        name: red, team0, player_1, villager.
        slots: its slots, ascending; empty for a population.
        population: number of the world's population; None: the side is `slots`.
    """

    name: str
    slots: tuple[int, ...] = ()
    population: int | None = None

    def of(self, world: World) -> np.ndarray:
        """(W, A) bool, the slots of this side now."""
        if self.population is not None:
            return world.population == self.population
        mask = np.zeros(len(world.agents), bool)
        mask[list(self.slots)] = True
        return np.broadcast_to(mask, (world.num_worlds, len(mask)))

    def holds(self, other: Side) -> bool:
        """Whether the other side is always a part of this one."""
        return self.population == other.population and set(other.slots) <= set(self.slots)

    def cuts(self, other: Side) -> bool:
        """Whether a part of the other side is in this one, and a part is not."""
        common = set(other.slots) & set(self.slots)
        return bool(common) and common != set(other.slots)

    @property
    def place(self) -> int:
        """Where it stands among sides of its form."""
        return min(self.slots, default=-1) if self.population is None else self.population


class Choice(NamedTuple):
    """A player of a side in a share of the episodes.

    Attributes:
        words: what the settings call it.
        share: of the episodes.
        open: loads the policy; None: the policy under study plays.
    """

    words: str
    share: float = 1.0
    open: Callable[[], Policy] | None = None


class Rule(NamedTuple):
    """The players of one side; of several choices one is drawn for every episode.

    Attributes:
        side: its name, or `ANY`.
        choices: their shares sum to 1.
    """

    side: str
    choices: tuple[Choice, ...]


class Lineup(SharedPlay):
    """A policy under study, and the players of the other sides.

    Rules are applied in their order; a later one replaces an earlier one in the slots of both. Players are drawn once an episode: a pure
    function of the seed that `draw` is given, or of the seed of `start`, the world and the episode.

    Args:
        first: the policy under study; plays what no rule gives away.
        rules: the players of sides.
        sides_of: the sides that rules name, in the order in which they are shown; None: the populations of the world.
        narrow: `first` sees its own populations as the only ones, as in `PolicyMap`.

    Attributes:
        sides: that are shown, known from `bind` on.
    """

    sides: tuple[Side, ...] = ()

    def __init__(
        self,
        first: Policy,
        rules: Sequence[Rule],
        sides_of: Callable[[World], Sequence[Side]] | None = None,
        narrow: bool = False,
    ) -> None:
        self.first, self.rules, self._narrow = first, tuple(rules), narrow
        self._sides_of = populations_of if sides_of is None else sides_of
        self._bound: World | None = None
        said = [f"{rule.side}={' or '.join(one.words for one in rule.choices)}" for rule in rules]
        self.name = f"{first.name} ({', '.join(said)})"

    @property
    def checkpoint(self) -> str:
        """That of the policy under study; empty: of none."""
        return str(getattr(self.first, "checkpoint", ""))

    @property
    def who(self) -> dict[str, str]:
        """Side -> its player in words; `ANY` -> what plays one side of an episode instead. Known from `bind` on."""
        found = {}
        for side in self.sides:
            ruled = self._rule_of(side)
            found[side.name] = words_of(self.first) if ruled is None else self._words(ruled)
        for number, (rule, _) in enumerate(self._ruled):
            if rule.side == ANY:
                found[ANY] = f"one side of each episode, {self._words(number)}"
        return found

    @property
    def learner(self) -> tuple[str, ...]:
        """Names of the sides that the policy under study can play."""
        return tuple(side.name for side in self.sides if self._is_own(side))

    @property
    def stays(self) -> bool:
        """Whether every slot has the same player in all episodes; known from `bind` on."""
        return all(
            len(rule.choices) == 1 and len(targets) == 1 and targets[0].population is None
            for rule, targets in self._ruled
        )

    def bind(self, world: World) -> None:
        """Finds the sides in a world and opens the players that can appear there.

        Raises:
            UserError: for a side that the world does not have, or a player that cannot be opened.
        """
        if self._bound is world:
            return
        own = tuple(self._sides_of(world))
        ruled = [(r, own if r.side == ANY else (find_side(r.side, world, own),)) for r in self.rules]
        replaced = [
            rule.side != ANY and any(r.side != ANY and t[0].holds(targets[0]) for r, t in ruled[n + 1 :])
            for n, (rule, targets) in enumerate(ruled)
        ]
        self._ruled = [one for one, gone in zip(ruled, replaced, strict=True) if not gone]
        self.sides = _shown(world, own, [t[0] for r, t in self._ruled if r.side != ANY])
        self._policies, self._targets = [self.first], [[one for one in self.sides if self._is_own(one)]]
        self._numbers: list[np.ndarray] = []
        for rule, targets in self._ruled:
            self._numbers.append(np.zeros(len(rule.choices), np.int64))
            for number, choice in enumerate(rule.choices):
                if choice.open is not None:
                    self._numbers[-1][number] = len(self._policies)
                    self._policies.append(choice.open())
                    self._targets.append(list(targets) if rule.side != ANY else [])
        self._bound = world

    def start(self, world: World, seed: int = 0) -> None:
        """Gives every player a stream of its own, and draws the players of the first episodes."""
        super().start(world, seed)
        self.bind(world)
        there = [n for n in range(len(self._policies)) if n != FIRST or self._targets[FIRST]]
        there.sort(key=self._rank)
        self._players = [self._policies[number] for number in there]
        self._place = np.zeros(len(self._policies), np.int64)
        self._place[there] = np.arange(len(there))
        seeds = [seed] if len(there) == 1 else seeding.world_seeds(seed, len(there))
        for number, own in zip(there, seeds, strict=True):
            self._policies[number].start(self._view(number, world), int(own))
        shape = world.num_worlds, len(self._ruled)
        self._player, self._side = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._seeds = seeding.world_seeds(seed, world.num_worlds, world.first_world)
        self._episode = np.zeros(world.num_worlds, np.int64)
        self._draw(np.ones(world.num_worlds, bool))

    def forget(self, which: np.ndarray) -> None:
        """The worlds in the (W,) mask were restarted: their players forget, and new ones are drawn."""
        super().forget(which)
        self._episode[which] += 1
        self._draw(which)

    def save(self) -> dict[str, np.ndarray]:
        """What every player remembers, and the players of the episodes."""
        return super().save() | {f"drawn/{name}": array.copy() for name, array in self._drawn().items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        super().load(arrays)
        for name, array in self._drawn().items():
            array[...] = arrays[f"drawn/{name}"]

    def draw(self, which: np.ndarray, seeds: np.ndarray) -> None:
        """Draws the players of episodes that begin now.

        Args:
            which: (W,) bool, the worlds that begin one.
            seeds: (W,) uint64; the players of an episode depend on its seed alone.
        """
        self._seeds[which], self._episode[which] = seeds[which], 0
        self._draw(which)

    def seats(self) -> np.ndarray:
        """(W, A) int64, the number of each slot's player now: `FIRST`, or another."""
        world = self.world
        seated = np.zeros((world.num_worlds, len(world.agents)), np.int64)
        for number, (_, targets) in enumerate(self._ruled):
            for place, side in enumerate(targets):
                here = side.of(world) & (self._side[:, number] == place)[:, None]
                seated = np.where(here, self._player[:, number][:, None], seated)
        return seated

    def players(self) -> np.ndarray:
        return self._place[self.seats()]

    def seated(self, slot: int, world: int = 0) -> Policy:
        """The player of a slot now."""
        return self._policies[int(self.seats()[world, slot])]

    def sides_now(self) -> np.ndarray:
        """(W, A) int64, the number of each slot's side among `sides` now; -1: of none."""
        found = np.full((self.world.num_worlds, len(self.world.agents)), -1)
        for number, side in enumerate(self.sides):
            found[side.of(self.world)] = number
        return found

    def _rule_of(self, side: Side) -> int | None:
        """Number of the rule that says who plays a side; None: the policy under study does."""
        ruled = [n for n, (rule, t) in enumerate(self._ruled) if rule.side != ANY and t[0].holds(side)]
        return ruled[-1] if ruled else None

    def _is_own(self, side: Side) -> bool:
        rule = self._rule_of(side)
        return rule is None or any(choice.open is None for choice in self._ruled[rule][0].choices)

    def _words(self, number: int) -> str:
        rule, numbers = self._ruled[number][0], self._numbers[number]
        if len(rule.choices) == 1:
            return words_of(self._policies[numbers[0]])
        parts = []
        for choice, player in zip(rule.choices, numbers, strict=True):
            own = "the learner" if choice.words != "past" else "the learner for its past selves"
            words = own if choice.open is None else words_of(self._policies[player])
            parts.append(f"{100 * choice.share:g} % {words}")
        return ", ".join(parts)

    def _rank(self, number: int) -> tuple[int, int]:
        """Players are started in the order of the first slots, or populations, that they can play."""
        return min((side.place for side in self._targets[number]), default=2**31), number

    def _view(self, number: int, world: World) -> World:
        """The world as a player sees it: that of populations alone sees these as the only ones."""
        own = [side.population for side in self._targets[number]]
        if (number == FIRST and not self._narrow) or not own or None in own:
            return world
        return cast(World, PopulationView(world, tuple(n for n in own if n is not None)))

    def _drawn(self) -> dict[str, np.ndarray]:
        return {
            "player": self._player,
            "side": self._side,
            "seeds": self._seeds,
            "episode": self._episode,
        }

    def _draw(self, which: np.ndarray) -> None:
        for number, (rule, targets) in enumerate(self._ruled):
            shares = np.cumsum([choice.share for choice in rule.choices][:-1])
            drawn = np.searchsorted(shares, self._uniform(2 * number), side="right")
            self._player[which, number] = self._numbers[number][drawn][which]
            side = (self._uniform(2 * number + 1) * len(targets)).astype(np.int64)
            self._side[which, number] = side[which]

    def _uniform(self, number: int) -> np.ndarray:
        """(W,) float64 in [0, 1), draw of that number in each world's episode."""
        with np.errstate(over="ignore"):
            counter = self._episode.astype(np.uint64) * np.uint64(2**16) + np.uint64(number + 1)
            words = mix64(mix64(self._seeds ^ _STREAM) + counter * np.uint64(0x9E3779B97F4A7C15))
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def words_of(policy: Policy) -> str:
    """A player in words: ``attack_move``, or the run, its agent-steps and the rule of play, ``runs/a at 300,000, greedy``."""
    words, others = str(getattr(policy, "words", "") or policy.name), getattr(policy, "also", "")
    also = f", also for {others}" if others else ""
    return f"{words}, {policy.actions}{also}" if policy.actions else words


def players_of(policy: Policy, world: World) -> dict[str, str]:
    """Side -> its player in words; `ALL` -> the only one.

    Raises:
        UserError: as `Lineup.bind`.
    """
    if isinstance(policy, Lineup):
        policy.bind(world)
        who = policy.who
        return who if len(set(who.values())) > 1 else {ALL: next(iter(who.values()))}
    beside: Mapping[str, Policy] = getattr(policy, "beside", {})
    if not beside:
        return {ALL: words_of(policy)}
    own = dict.fromkeys(getattr(policy, "names", ()), words_of(policy))
    return own | {name: words_of(other) for name, other in beside.items()}


def line_of(players: Mapping[str, str]) -> str:
    """One line of `players_of`; sides with the same player stand together; empty for none.

    Example:
        >>> line_of({"red": "runs/a at 300,000, greedy", "blue": "attack_move"})
        'red: runs/a at 300,000, greedy · blue: attack_move'
        >>> line_of({"a": "x", "b": "x", "c": "y"}), line_of({"a": "x", "b": "x"})
        ('a, b: x · c: y', 'all: x')
    """
    if not players:
        return ""
    groups: dict[str, list[str]] = {}
    for side, words in players.items():
        groups.setdefault(words, []).append(side)
    if len(groups) == 1:
        return f"{ALL}: {next(iter(groups))}"
    return " · ".join(f"{_list(sides)}: {words}" for words, sides in groups.items())


def learner_of(policy: Policy) -> Policy:
    """The policy under study: of a lineup its first, else the policy itself."""
    return policy.first if isinstance(policy, Lineup) else policy


def find_side(name: str, world: World, own: Sequence[Side] = ()) -> Side:
    """A side of a world by its name, the name of a team, a population or an agent.

    Args:
        name: of the side; a team also as team0, team1.
        world: any batch.
        own: sides that come first.

    Raises:
        UserError: naming the sides that there are.
    """
    families = [*own, *teams_of(world), *populations_of(world), *seats_of(world)]
    numbered = {f"team{number}": side for number, side in enumerate(teams_of(world))}
    found = next((side for side in families if side.name == name), numbered.get(name))
    if found is None:
        names = list(dict.fromkeys(side.name for side in families))
        known = f"there are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
        raise UserError(f"{world.id}: no side {name!r}; {did_you_mean(name, names, known)}")
    return next((side for side in own if side[1:] == found[1:]), found)


def populations_of(world: World) -> tuple[Side, ...]:
    """The populations of a world as sides; where there is one, all of its slots."""
    names = world.population_names or tuple(f"pop{n}" for n in range(world.num_populations))
    if world.num_populations == 1:
        return (Side(names[0], tuple(range(len(world.agents)))),)
    return tuple(Side(name, population=number) for number, name in enumerate(names))


def teams_of(world: World) -> tuple[Side, ...]:
    """The teams of a world as sides; an agent without a team is none."""
    teams = world.teams or ()
    names = world.team_names or tuple(f"team{number}" for number in range(len(teams)))
    return tuple(Side(name, tuple(sorted(team))) for name, team in zip(names, teams, strict=True))


def seats_of(world: World) -> tuple[Side, ...]:
    """Every slot of a world as a side."""
    return tuple(Side(str(name), (slot,)) for slot, name in enumerate(world.agents))


def _shown(world: World, own: tuple[Side, ...], targets: Sequence[Side]) -> tuple[Side, ...]:
    """The coarsest sides of which no rule cuts one: the run's own, the teams, or the seats."""
    if any(side.population is not None for side in (*own, *targets)):
        return own + tuple(side for side in targets if side not in own)
    teams = teams_of(world)
    whole = {slot for team in teams for slot in team.slots} == set(range(len(world.agents)))
    for family in (own, teams if whole else ()):
        if family and not any(target.cuts(side) for target in targets for side in family):
            return family
    return seats_of(world)


def _list(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_SHOWN])} and {more} more"
