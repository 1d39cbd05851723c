"""Sides of a world, the policies that play them, and the line that shows both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.loading import did_you_mean
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World
from interplay.evaluate.policy_map import PopulationView, SharedPlay, population_names

ANY = "any"  # one of the sides, drawn uniformly for every episode
ALL = "all"  # the only key of `players_of` if one policy plays everything
GAME = "the game"  # plays the slots in `World.scripted`
FIRST = 0  # number of the policy under study among the players of a lineup
_STREAM = np.uint64(0x11E0_0B1A)  # separates the draws of players from those of the worlds
_SHOWN = 4  # names of sides in a line before "and 3 more"


class Side(NamedTuple):
    """A part of a world that one player controls.

    Attributes:
        name: red, team0, player_1, villager.
        slots: its slots, ascending; empty for a population.
        population: index of the world's population; None: the side is `slots`.
    """

    name: str
    slots: tuple[int, ...] = ()
    population: int | None = None

    def of(self, world: World) -> np.ndarray:
        """(W, A) bool, the current slots of this side."""
        if self.population is not None:
            return world.population == self.population
        mask = np.zeros(len(world.agents), bool)
        mask[list(self.slots)] = True
        return np.broadcast_to(mask, (world.num_worlds, len(mask)))

    def holds(self, other: Side) -> bool:
        """Whether the other side is always a part of this one."""
        return self.population == other.population and set(other.slots) <= set(self.slots)

    def cuts(self, other: Side) -> bool:
        """Whether this side contains a part of the other one, but not all."""
        common = set(other.slots) & set(self.slots)
        return bool(common) and common != set(other.slots)

    @property
    def place(self) -> int:
        """Sort key among sides."""
        return min(self.slots, default=-1) if self.population is None else self.population


class Choice(NamedTuple):
    """A player of a side in a share of the episodes.

    Attributes:
        words: its name in the settings.
        share: of the episodes.
        open: loads the policy; None: the policy under study.
    """

    words: str
    share: float = 1.0
    open: Callable[[], Policy] | None = None


class Rule(NamedTuple):
    """The players of one side; one of the choices is drawn for every episode.

    Attributes:
        side: its name, or `ANY`.
        choices: their shares sum to 1.
        chosen: the user named the player for this play, so it is refused where the game plays; other rules give way.
    """

    side: str
    choices: tuple[Choice, ...]
    chosen: bool = False


class _Game(RandomPolicy):
    """Stands for the world in the slots that it plays itself; its actions are not read."""

    name = GAME


class Lineup(SharedPlay):
    """A policy under study, and the players of the other sides.

    Rules are applied in order; a later one replaces an earlier one in the slots of both. Players are drawn once an episode, as a pure
    function of the seed given to `draw`, or of the seed of `start`, the world and the episode.

    Args:
        first: the policy under study; plays all slots without a rule.
        rules: the players of sides.
        sides_of: the sides that rules name, in display order; None: the populations of the world.
        narrow: `first` sees its own populations as the only ones, as in `PolicyMap`.

    Attributes:
        sides: shown sides, set by `bind`.
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
        parts = [f"{rule.side}={' or '.join(one.words for one in rule.choices)}" for rule in rules]
        self.name = f"{first.name} ({', '.join(parts)})" if parts else first.name

    @property
    def checkpoint(self) -> str:
        """Checkpoint of the policy under study; empty if it has none."""
        return str(getattr(self.first, "checkpoint", ""))

    @property
    def players_by_side(self) -> dict[str, str]:
        """Side -> description of its player; `ANY` -> the policies drawn for one side. Needs `bind`."""
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
        """Whether every slot has the same player in all episodes; needs `bind`."""
        return all(
            len(rule.choices) == 1 and len(targets) == 1 and targets[0].population is None
            for rule, targets in self._ruled
        )

    @property
    def lasting(self) -> tuple[Side, ...]:
        """The sides that keep their slots for whole episodes, to which an episode's metrics belong; needs `start`."""
        return tuple(side for side in self.sides if not self._moves(side))

    @property
    def reseats(self) -> bool:
        """Whether slots may change players within an episode; needs `start`."""
        return any(self._moves(side) for _, targets in self._ruled for side in targets)

    def bind(self, world: World) -> None:
        """Finds the sides in a world and loads their players."""
        if self._bound is world:
            return
        own = tuple(self._sides_of(world))
        game = [Rule(world.agents[slot], (Choice(GAME, open=_Game),)) for slot in world.scripted]
        ruled = [
            (r, own if r.side == ANY else (find_side(r.side, world, own),)) for r in (*self.rules, *game)
        ]
        for rule, targets in ruled:
            if rule.chosen and set(targets[0].slots) & set(world.scripted):
                raise UserError(f"{world.id}: the game plays {rule.side} itself; name no player for it")
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
        """Starts every player on its own random stream and draws the players of the first episodes."""
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
        """Clears the memory of players in the worlds of the (W,) mask and draws new players there."""
        super().forget(which)
        self._episode[which] += 1
        self._draw(which)

    def save(self) -> dict[str, np.ndarray]:
        """State of every player, and the drawn players."""
        return super().save() | {f"drawn/{name}": array.copy() for name, array in self._drawn().items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        super().load(arrays)
        for name, array in self._drawn().items():
            array[...] = arrays[f"drawn/{name}"]

    def draw(self, which: np.ndarray, seeds: np.ndarray) -> None:
        """Draws the players of new episodes.

        Args:
            which: (W,) bool, worlds that begin an episode.
            seeds: (W,) uint64; the players of an episode depend on its seed alone.
        """
        self._seeds[which], self._episode[which] = seeds[which], 0
        self._draw(which)

    def seats(self) -> np.ndarray:
        """(W, A) int64, index of each slot's current player; `FIRST` is the policy under study."""
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
        """The current player of a slot."""
        return self._policies[int(self.seats()[world, slot])]

    def sides_now(self) -> np.ndarray:
        """(W, A) int64, current index of each slot's side in `lasting`; -1: none."""
        found = np.full((self.world.num_worlds, len(self.world.agents)), -1)
        for number, side in enumerate(self.lasting):
            found[side.of(self.world)] = number
        return found

    def _moves(self, side: Side) -> bool:
        """Whether a new life can change the slots of a side."""
        return self.world.respawns and side.population is not None

    def _rule_of(self, side: Side) -> int | None:
        """Index of the rule for a side; None: the policy under study plays it."""
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
        """Sort key: players start in the order of their first slots or populations."""
        return min((side.place for side in self._targets[number]), default=2**31), number

    def _view(self, number: int, world: World) -> World:
        """The world as a player sees it; a player of populations sees only its own."""
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
        """(W,) float64 in [0, 1), the `number`-th draw of each world's episode."""
        with np.errstate(over="ignore"):
            counter = self._episode.astype(np.uint64) * np.uint64(2**16) + np.uint64(number + 1)
            words = mix64(mix64(self._seeds ^ _STREAM) + counter * np.uint64(0x9E3779B97F4A7C15))
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def words_of(policy: Policy) -> str:
    """A player in words: ``attack_move``, or run, agent-steps and action rule: ``runs/a at 300,000, greedy``."""
    words, others = str(getattr(policy, "words", "") or policy.name), getattr(policy, "also", "")
    also = f", also for {others}" if others else ""
    return f"{words}, {policy.actions}{also}" if policy.actions else words


def with_game(policy: Policy, world: World) -> Policy:
    """The policy, in a lineup with the game if the world plays slots itself."""
    return Lineup(policy, ()) if world.scripted and not isinstance(policy, Lineup) else policy


def players_of(policy: Policy, world: World) -> dict[str, str]:
    """Side -> description of its player; `ALL` -> the only one."""
    policy = with_game(policy, world)
    if isinstance(policy, Lineup):
        policy.bind(world)
        found = policy.players_by_side
        return found if len(set(found.values())) > 1 else {ALL: next(iter(found.values()))}
    beside: Mapping[str, Policy] = getattr(policy, "beside", {})
    if not beside:
        return {ALL: words_of(policy)}
    own = dict.fromkeys(getattr(policy, "names", ()), words_of(policy))
    return own | {name: words_of(other) for name, other in beside.items()}


def line_of(players: Mapping[str, str]) -> str:
    """Formats `players_of` as one line; sides with the same player are joined.

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
    """The policy under study: a lineup's `first`, else the policy itself."""
    return policy.first if isinstance(policy, Lineup) else policy


def find_side(name: str, world: World, own: Sequence[Side] = ()) -> Side:
    """Finds a side of a world by the name of a side, team, population or agent.

    Args:
        name: of the side; a team also as team0, team1.
        own: sides searched first.
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
    """The populations of a world as sides; a single population is all of its slots."""
    names = population_names(world)
    if world.num_populations == 1:
        return (Side(names[0], tuple(range(len(world.agents)))),)
    return tuple(Side(name, population=number) for number, name in enumerate(names))


def teams_of(world: World) -> tuple[Side, ...]:
    """The teams of a world as sides."""
    teams = world.teams or ()
    names = world.team_names or tuple(f"team{number}" for number in range(len(teams)))
    return tuple(Side(name, tuple(sorted(team))) for name, team in zip(names, teams, strict=True))


def seats_of(world: World) -> tuple[Side, ...]:
    """Every slot of a world as a side."""
    return tuple(Side(str(name), (slot,)) for slot, name in enumerate(world.agents))


def _shown(world: World, own: tuple[Side, ...], targets: Sequence[Side]) -> tuple[Side, ...]:
    """The coarsest sides not cut by a rule: the run's own, the teams, or the single slots."""
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
