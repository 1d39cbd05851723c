"""Finds the policy that a user names: a run folder or a scripted policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import is_folder
from interplay.core.policy import Policy
from interplay.core.world import World


class Player(NamedTuple):
    """A policy and the world that it plays."""

    policy: Policy
    world: str  # registry id
    options: Mapping[str, Any]  # of the world

    def make_world(self, num_worlds: int, seed: int) -> World:
        """A batch of the player's world."""
        from interplay.verbs.opening import open_world

        return open_world(self.world, num_worlds, seed, **self.options)


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
