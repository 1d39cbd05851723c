"""Finds the policy that a user names: a run folder or a scripted policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import is_folder, split_player
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World
from interplay.evaluate.lineup import ANY, Choice, Lineup, Rule
from interplay.registry import lay_options
from interplay.verbs.keywords import suggest_keyword
from interplay.verbs.run_folder import RunFolder
from interplay.verbs.trainer import load_trainer

if TYPE_CHECKING:
    from interplay.train.interfaced import InterfacedTrainedPolicy
    from interplay.train.play.trained_policy import TrainedPolicy
    from interplay.train.settings import TrainSettings

SELF = "self"  # of --roles: the policy under study plays the side


class Player(NamedTuple):
    """A policy and the world that it plays."""

    policy: Policy
    world: str  # registry id
    options: Mapping[str, Any]  # of the world
    make: Callable[..., World] | None = None  # of a world that was handed over; None: the registry makes it

    def make_world(self, num_worlds: int, seed: int) -> World:
        """A batch of the player's world."""
        from interplay.verbs.opening import open_world

        if self.make is not None:
            if self.options:
                raise UserError(
                    f"{self.world}: option {next(iter(self.options))!r} of a world that was handed over; make it with that option"
                )
            return self.make(num_worlds=num_worlds, seed=seed, first_world=0)
        for name in ("num_worlds", "seed", "first_world", "world_id"):
            if name in self.options:
                cure = "give --seed" if name == "seed" else "leave it out"
                raise UserError(
                    f"{name} = {self.options[name]!r} is no option of {self.world}: the policy fixes it; {cure}"
                )
        return open_world(self.world, num_worlds, seed, **self.options)


@suggest_keyword
def load_policy(
    run: str | Path, *, greedy: bool = False, populations: Sequence[str] | None = None, trust: bool = False
) -> TrainedPolicy | InterfacedTrainedPolicy:
    """Loads the policy of a run or of one of its checkpoints; see `interplay.train.play.policy.load_policy`.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder; of a league RUN@PLAYER.
        greedy: take the likeliest action instead of sampling.
        populations: of a run with several, those that play; None: all of them.
        trust: the run may name programs of its own; needed once, for a run from elsewhere.

    Raises:
        UserError: if there is no sound checkpoint, or the run is not trusted.
    """
    policy: TrainedPolicy | InterfacedTrainedPolicy = load_trainer().load_policy(
        run, greedy, populations, trust
    )
    return policy


def seat(
    player: str | Path | Policy | RunFolder,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    greedy: bool = False,
    roles: Sequence[str] = (),
    trust: bool = False,
) -> Player:
    """Finds a player and the world that it plays, by names as on the command line or by what they name.

    Args:
        player: a run, its folder, a policy's name, or a policy.
        world: anything that `interplay.train` takes; empty: the run's own world.
        options, greedy, roles, trust: as for `find_player`.
    """
    resolved = None
    if not isinstance(world, str):
        from interplay.connect.resolved import resolve_world

        resolved = resolve_world(world)
    elif isinstance(player, RunFolder) and not world:
        resolved = player.resolved
    if isinstance(player, RunFolder):
        trust = trust or player.trust
        player = player.folder
    name, make = (resolved.id, resolved.make) if resolved is not None else (str(world), None)
    if isinstance(player, Policy):
        return _policy_itself(player, name, make, options, greedy, roles)
    if make is None or is_folder(str(player)):
        found = find_player(str(player), name, options, greedy, roles=roles, trust=trust)
        # What the run's settings say of options is true of the world that was handed over, too.
        if make is None:
            return found
        from interplay.train.play.policy import stage_options

        make = partial(make, **stage_options(str(player)))
        return found._replace(make=make, options=dict(options or {}))
    if resolved is not None and resolved.like:
        from interplay.registry import make_policy

        found = Player(make_policy(resolved.like, str(player)), name, dict(options or {}), make)
        return _with_roles(found, roles, greedy, trust, resolved.like)
    if player != RandomPolicy.name:
        raise UserError(
            f"{player}: {name} has no scripted policies but random; hand over a Policy, or a run folder"
        )
    if roles:
        raise UserError(f"roles: {name} has no scripted policies; hand over a Policy, see PolicyMap")
    return Player(RandomPolicy(), name, dict(options or {}), make)


def _policy_itself(
    policy: Policy,
    world: str,
    make: Callable[..., World] | None,
    options: Mapping[str, Any] | None,
    greedy: bool,
    roles: Sequence[str],
) -> Player:
    """A policy object, with its world."""
    if greedy or roles:
        option = "greedy" if greedy else "roles"
        raise UserError(
            f"{option}: {policy.name} is a policy that was made already; load it with {option}, or name its run"
        )
    trained_on = getattr(getattr(policy, "settings", None), "world", None)
    given = dict(options or {})
    if trained_on is not None and world in ("", trained_on.id) and make is None:
        return Player(policy, trained_on.id, lay_options(trained_on.id, trained_on.options, given))
    if not world:
        raise UserError(
            f"policy {policy.name!r} needs a world; add for example world='survival/1v1-heals-low'"
        )
    return Player(policy, world, given, make)


def find_player(
    name: str,
    world: str = "",
    options: Mapping[str, Any] | None = None,
    greedy: bool = False,
    example: str = "survival/1v1-heals-low",
    roles: Sequence[str] = (),
    trust: bool = False,
    alone: bool = False,
) -> Player:
    """Finds a run's trained policy, or a scripted policy of a world.

    A run plays against the opponents of its training (`interplay.evaluate.lineup.Lineup`).

    Args:
        name: a run folder, a checkpoint's folder, or a policy's name; a folder of that name goes first.
        world: id; empty: the run's own world.
        options: of the world, on top of the run's own (if it is the run's own world).
        roles: other players for some sides, ``"blue=random"``, ``"villager=runs/first"``, ``"blue=self"``.
        trust: the runs may name programs, see `interplay.core.trust`.
        alone: a run plays all sides that it learned, as `load_policy`, without the opponents of its training.
    """
    given = dict(options or {})
    if is_folder(name):
        return _trained(name, world, given, greedy, trust, roles, alone)
    return _with_roles(Player(scripted_policy(world, name, example), world, given), roles, greedy, trust)


def scripted_policy(world: str, name: str, example: str = "") -> Policy:
    """A scripted policy of a world."""
    from interplay.registry import make_policy

    if "/" in name and ":" not in name:
        raise UserError(f"{name}: no such run folder; `interplay train WORLD --out {name}` makes one")
    if not world:
        raise UserError(f"policy {name!r} needs a world; add for example --world {example}")
    return make_policy(world, name)


def _trained(
    run: str,
    world: str,
    options: dict[str, Any],
    greedy: bool,
    trust: bool,
    roles: Sequence[str],
    alone: bool,
) -> Player:
    """A run against the opponents of its training, but for those that roles replace."""
    trainer = load_trainer()
    from interplay.train.play.policy import load_learner
    from interplay.train.selfplay.lineups import meets_past_selves, training_rules, training_sides

    policy = trainer.load_policy(run, greedy, trust=trust) if alone else load_learner(run, greedy, trust)
    settings = policy.settings
    world, trained_on = world or settings.world.id, settings.world
    if world == trained_on.id:
        options = lay_options(world, trained_on.options, options)
    rules = [] if alone else training_rules(settings)
    met = any(choice.open is not None for rule in rules for choice in rule.choices)
    if not met and not alone:
        league = bool(settings.league.learners)
        policy.also = (
            "the others of its league" if league else "its past selves" * meets_past_selves(settings)
        )
    roled = _rules(roles, lambda side, who: _role_of_run(run, settings, world, side, who, greedy, trust))
    if not met and not roled:
        return Player(policy, world, options)
    if roled:  # roles say by themselves which sides others have
        rules = [rule for rule in rules if rule.side != ANY]
    return Player(Lineup(policy, [*rules, *roled], training_sides(settings)), world, options)


def _with_roles(player: Player, roles: Sequence[str], greedy: bool, trust: bool, like: str = "") -> Player:
    """A scripted policy with others in some sides' places; `like`: the world of the scripts."""
    if not roles:
        return player
    rules = _rules(roles, lambda side, who: _role(like or player.world, side, who, greedy, trust))
    return player._replace(policy=Lineup(player.policy, rules, narrow=True))


def _rules(roles: Sequence[str], find: Callable[[str, str], Policy | None]) -> list[Rule]:
    """Roles as rules of a lineup; `find` gives the player for a side's name, None: the policy under study."""
    rules: dict[str, Rule] = {}
    for words in roles:
        side, equals, who = words.partition("=")
        if not (side and equals and who):
            raise UserError(f"--roles {words}: write SIDE=RUN or SIDE=POLICY, for example blue=random")
        if side in rules:
            raise UserError(f"--roles {words}: {side} is named twice; leave one out")
        found = find(side, who)
        choice = Choice(who) if found is None else Choice(who, open=partial(_given, found))
        rules[side] = Rule(side, (choice,), chosen=True)
    return list(rules.values())


def _given(policy: Policy) -> Policy:
    return policy


def _role(world: str, side: str, who: str, greedy: bool, trust: bool) -> Policy | None:
    """The player of a side; None: the policy under study itself."""
    if who == SELF:
        return None
    if is_folder(who):
        return _role_by_run(who, side, greedy, trust)
    return scripted_policy(world, who)


def _role_of_run(
    run: str, settings: TrainSettings, world: str, side: str, who: str, greedy: bool, trust: bool
) -> Policy | None:
    """As `_role` beside a run; its own folder is `SELF`."""
    if who != SELF and not (is_folder(who) and _same(run, who)):
        return _role(world, side, who, greedy, trust)
    if side in settings.foreign:
        raise UserError(f"--roles {side}={who}: {run} did not learn to play {side}; name another player")
    return None


def _same(run: str, other: str) -> bool:
    """Whether two names are of one checkpoint, and one player of its league."""
    from interplay.train.run.checkpoint import find_checkpoint

    (one, first), (two, second) = split_player(run), split_player(other)
    return first == second and find_checkpoint(one).resolve() == find_checkpoint(two).resolve()


def _role_by_run(who: str, side: str, greedy: bool, trust: bool) -> Policy:
    """A run's networks for a side: the population of that name, or all of them."""
    trainer = load_trainer()
    from interplay.train.play.policy import load_learner

    policy = load_learner(who, greedy, trust)
    settings = policy.settings
    if split_player(who)[1] is None and (side in settings.foreign or side in policy.names):
        found: Policy = trainer.load_population(who, side, greedy, trust)
        return found
    if settings.foreign:
        own = ", ".join(policy.names)
        raise UserError(
            f"--roles {side}={who}: that run learned {own} alone; name another player, or that side"
        )
    return policy
