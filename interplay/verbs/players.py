"""Finds the policy that a user names: a run folder or a scripted policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.keywords import says_near_miss
from interplay.core.loading import is_folder
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World

if TYPE_CHECKING:
    from interplay.train.interfaced import SeenPolicy
    from interplay.train.play.trained_policy import TrainedPolicy
    from interplay.verbs.run import Run


class Player(NamedTuple):
    """A policy and the world that it plays."""

    policy: Policy
    world: str  # registry id
    options: Mapping[str, Any]  # of the world
    make: Callable[..., World] | None = None  # of a world that was handed over; None: the registry makes it

    def make_world(self, num_worlds: int, seed: int) -> World:
        """A batch of the player's world.

        Raises:
            UserError: for an option of a world that was handed over, or if that world is not at hand now.
        """
        from interplay.verbs.opening import open_world

        if self.make is not None:
            if self.options:
                raise UserError(
                    f"{self.world}: option {next(iter(self.options))!r} of a world that was handed over; make it with that option"
                )
            return self.make(num_worlds=num_worlds, seed=seed, first_world=0)
        for name in ("num_worlds", "seed", "first_world"):
            if name in self.options:
                cure = "give --seed" if name == "seed" else "leave it out"
                raise UserError(
                    f"{name} = {self.options[name]!r} is no option of {self.world}: what plays says that; {cure}"
                )
        return open_world(self.world, num_worlds, seed, **self.options)


@says_near_miss
def load_policy(
    run: str | Path, *, greedy: bool = False, populations: Sequence[str] | None = None, trust: bool = False
) -> TrainedPolicy | SeenPolicy:
    """Loads the policy of a run or of one of its checkpoints; see `interplay.train.play.policy.load_policy`.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder; of a league RUN@PLAYER.
        greedy: take the likeliest action instead of sampling.
        populations: of a run with several, those that play; None: all of them.
        trust: the run may name programs of its own; needed once, for a run from elsewhere.

    Raises:
        UserError: if there is no sound checkpoint, or the run is not trusted.
    """
    from interplay.verbs.trainer import load_trainer

    policy: TrainedPolicy | SeenPolicy = load_trainer().load_policy(run, greedy, populations, trust)
    return policy


def seat(
    player: str | Path | Policy | Run,
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

    Raises:
        UserError: as `find_player`, and for a policy that says by itself how it plays.
    """
    from interplay.verbs.run import Run

    handed = None
    if not isinstance(world, str):
        from interplay.connect.handed import hand_over

        handed = hand_over(world)
    elif isinstance(player, Run) and not world:
        handed = player.handed
    if isinstance(player, Run):
        trust = trust or player.trust
        player = player.folder
    name, make = (handed.id, handed.make) if handed is not None else (str(world), None)
    if isinstance(player, Policy):
        return _policy_itself(player, name, make, options, greedy, roles)
    if make is None or is_folder(str(player)):
        found = find_player(str(player), name, options, greedy, roles=list(roles), trust=trust)
        # What the run's settings say of options is true of the world that was handed over, too.
        return found if make is None else found._replace(make=make, options=dict(options or {}))
    if handed is not None and handed.like:
        from interplay.registry import make_policy

        return Player(make_policy(handed.like, str(player)), name, dict(options or {}), make)
    if player != RandomPolicy.name:
        raise UserError(
            f"{player}: {name} has no scripted policies but random; hand over a Policy, or a run folder"
        )
    return Player(RandomPolicy(), name, dict(options or {}), make)


def _policy_itself(
    policy: Policy,
    world: str,
    make: Callable[..., World] | None,
    options: Mapping[str, Any] | None,
    greedy: bool,
    roles: Sequence[str],
) -> Player:
    """A policy that somebody holds in his hands."""
    if greedy or roles:
        asked = "greedy" if greedy else "roles"
        raise UserError(
            f"{asked}: {policy.name} is a policy that was made already; load it with {asked}, or name its run"
        )
    trained_on = getattr(getattr(policy, "settings", None), "world", None)
    given = dict(options or {})
    if trained_on is not None and world in ("", trained_on.id) and make is None:
        return Player(policy, trained_on.id, {**trained_on.options, **given})
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
    roles: Sequence[str] | None = None,
    trust: bool = False,
) -> Player:
    """Finds a run's trained policy, or a scripted policy of a world.

    Args:
        name: a run folder, a checkpoint's folder, or a policy's name; a folder of that name goes first.
        world: id; empty: the run's own world.
        options: of the world, on top of the run's own (if it is the run's own world).
        greedy: a trained policy takes its likeliest action instead of drawing one.
        example: a world that is named where one is missing.
        roles: who plays some populations instead, ``"werewolf=revenge"``, ``"villager=runs/first"``.
        trust: the runs that are named may name programs of their own, see `interplay.core.trust`.

    Raises:
        UserError: for an unknown policy, world or run, a policy without a world, or a run that is not trusted.
    """
    if roles:
        player = find_player(name, world, options, greedy, example, trust=trust)
        return _with_roles(player, name, greedy, roles, trust)
    given = dict(options or {})
    if is_folder(name):
        return _trained(Path(name), world, given, greedy, trust)
    if "/" in name and ":" not in name:
        raise UserError(f"{name}: no such run folder; `interplay train WORLD --out {name}` makes one")
    if not world:
        raise UserError(f"policy {name!r} needs a world; add for example --world {example}")
    from interplay.registry import make_policy

    return Player(make_policy(world, name), world, given)


def _trained(run: Path, world: str, options: dict[str, Any], greedy: bool, trust: bool) -> Player:
    from interplay.verbs.trainer import load_trainer

    policy = load_trainer().load_policy(run, greedy, trust=trust)
    trained_on = policy.settings.world
    if world in ("", trained_on.id):
        options = {**trained_on.options, **options}
    return Player(policy, world or trained_on.id, options)


def _with_roles(player: Player, name: str, greedy: bool, roles: Sequence[str], trust: bool) -> Player:
    """The player, with others in some populations' places.

    Raises:
        UserError: for what is no NAME=RUN|POLICY, a name that is given twice, or an unknown policy or run.
    """
    from interplay.evaluate import PolicyMap

    playing: dict[str, Policy] = {}
    for words in roles:
        population, equals, who = words.partition("=")
        if not (population and equals and who):
            raise UserError(f"--roles {words}: write NAME=RUN or NAME=POLICY, for example werewolf=revenge")
        if population in playing:
            raise UserError(f"--roles {words}: {population} is named twice; leave one out")
        playing[population] = _parts(who, player, greedy, trust)(population)
    return player._replace(policy=PolicyMap(playing, _parts(name, player, greedy, trust), by="population"))


def _parts(who: str, player: Player, greedy: bool, trust: bool) -> Callable[[str], Policy]:
    """Gives the policy for a population by its name: of a run, the one that was trained for it."""
    if is_folder(who):
        from interplay.verbs.trainer import load_trainer

        trainer = load_trainer()
        return lambda population: trainer.load_population(who, population, greedy, trust)
    policy = find_player(who, player.world, player.options, greedy).policy
    return lambda _: policy
