"""The players of a tournament: names that a user typed, found, identified and checked against the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import is_folder, split_player
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.registry import lay_options
from interplay.verbs.players import scripted_policy


class Contestant(NamedTuple):
    """A player of a tournament.

    Attributes:
        name: as typed.
        policy: that acts.
        identity: the checkpoint and its checksum, or the scripted policy; a resumed tournament must find the same.
        populations: that it brings into a merge.
    """

    name: str
    policy: Policy
    identity: str
    populations: int = 1


def choose_world(
    names: Sequence[str], world: str, options: Mapping[str, Any], example: str, trust: bool = False
) -> tuple[str, dict[str, Any]]:
    """The tournament's world: the one that was named, else that of the first run with its options.

    With `trust` the run may name programs of its own.
    """
    if world:
        return world, dict(options)
    for name in names:
        if is_folder(name):
            trained_on = _settings_of(name, trust).world
            return trained_on.id, lay_options(trained_on.id, trained_on.options, options)
    raise UserError(f"scripted policies need a world; add for example --world {example}")


def find_contestant(
    name: str, world: World, greedy: bool = False, merged: bool = False, trust: bool = False
) -> Contestant:
    """Finds a run's trained policy, or a scripted policy of the world.

    Args:
        name: a run folder, a checkpoint's folder, or a policy's name; ``NAME@N`` is a scripted home of N populations.
        merged: the world's number of populations is the tournament's own affair.
    """
    if is_folder(name):
        return _trained(name, world, greedy, trust)
    plain, at, count = name.rpartition("@")
    if not (merged and at):
        return Contestant(name, scripted_policy(world.id, name), f"policy {name}")
    if not count.isdecimal() or not 1 <= int(count) <= 255:
        raise UserError(f"{name}: {count!r} is no number of populations; write for example {plain}@8")
    return Contestant(name, scripted_policy(world.id, plain), f"policy {plain}", int(count))


def same_as_before(typed: Sequence[str], before: Sequence[str], now: Sequence[str]) -> None:
    """Refuses players that are not those of the tournament's beginning."""
    for name, old, new in zip(typed, before, now, strict=True):
        if old != new:
            raise UserError(
                f"{name} is {new} now, the tournament began with {old}; name that checkpoint, or choose another --out"
            )


def _trained(name: str, world: World, greedy: bool, trust: bool) -> Contestant:
    from interplay.evaluate.tournaments.layouts import layout_problem
    from interplay.registry import make_world
    from interplay.train.run.checkpoint import find_checkpoint
    from interplay.train.run.manifest import read_manifest
    from interplay.verbs.trainer import load_trainer

    trainer = load_trainer()
    folder, player = split_player(name)
    found = find_checkpoint(folder)
    of = "" if player is None else f"@{player}"
    policy: Policy = trainer.load_policy(f"{found}{of}", greedy, trust=trust)
    trained_on = _settings_of(name, trust).world
    with closing(make_world(trained_on.id, 1, **trained_on.options)) as own:
        problem = layout_problem(own, world)
        populations = own.num_populations
    if problem:
        raise UserError(
            f"{name}: {problem} ({trained_on.id} against {world.id}); leave it out, or choose a world that it can read"
        )
    checksum = str(read_manifest(found)["checksum"])
    return Contestant(name, policy, f"checkpoint {found.name}{of} {checksum[:16]}", populations)


def _settings_of(name: str, trust: bool) -> Any:
    """The training settings of a run, by its folder or by that of one of its checkpoints."""
    from interplay.train.run.checkpoint import find_checkpoint
    from interplay.train.run.settings_file import settings_of

    folder = Path(split_player(name)[0])
    run = folder.resolve().parent.parent if (folder / "manifest.json").exists() else folder
    if not (run / "settings.toml").is_file():
        raise UserError(
            f"{name} holds no run: settings.toml is missing; name a run folder (RUN) or one of RUN/checkpoints"
        )
    return settings_of(find_checkpoint(folder), trust)
