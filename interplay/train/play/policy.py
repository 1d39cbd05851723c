"""Loads policies of runs: from a run folder, one checkpoint, or one checkpoint after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import is_folder, origin, split_player
from interplay.core.policy import Policy
from interplay.core.trust import Untrusted
from interplay.core.world import World
from interplay.train.curriculum import admit_options, in_stage, played_stage
from interplay.train.interfaced import InterfacedTrainedPolicy, with_interfaces
from interplay.train.play.stored_world import KEY
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.run.checkpoint import find_checkpoint, list_checkpoints, problem, read_part
from interplay.train.run.manifest import damaged, read_manifest
from interplay.train.run.pins import find_player, is_path
from interplay.train.run.records import check_keys
from interplay.train.run.restoring import check_weights
from interplay.train.run.settings_file import settings_of
from interplay.train.run.warm_start import policy_stem, present_player
from interplay.train.settings import TrainSettings

_ONLY = "pop0"  # the population of a run with one set of weights


def load_policy(
    run: Path | str, greedy: bool = False, populations: Sequence[str] | None = None, trust: bool = False
) -> TrainedPolicy | InterfacedTrainedPolicy:
    """Loads the policy of a run or of one of its checkpoints.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder; of a league RUN@PLAYER, e.g. ``runs/first@main-0003``.
        greedy: take the likeliest action instead of sampling.
        populations: of a run with several, those that play, e.g. ``["pop3"]``; None: all of them, of a league its first learner, or its newest copy in the first period after a restart.
        trust: the run's settings may name user-defined programs; needed once, for a run from elsewhere.

    Raises:
        UserError: if there is no sound checkpoint, a population's file is missing or damaged, or the run names untrusted
            programs.
    """
    return _load(run, greedy, populations, trust, beside=True)


def load_learner(
    run: Path | str, greedy: bool = False, trust: bool = False
) -> TrainedPolicy | InterfacedTrainedPolicy:
    """As `load_policy`, without the run's opponents."""
    return _load(run, greedy, None, trust, beside=False)


def _load(
    run: Path | str, greedy: bool, populations: Sequence[str] | None, trust: bool, beside: bool
) -> TrainedPolicy | InterfacedTrainedPolicy:
    folder, player = split_player(str(run))
    path = find_checkpoint(folder)
    record = read_part(path, [])[0]
    check_keys(path, record, "curriculum")
    stored = record.get(KEY)
    settings, make = _settings(path, trust, stored)
    if make is None:
        admit_options(settings, record, path.parent.parent, trust)
    settings = in_stage(settings, record)
    if populations is None and settings.league.learners:
        player = player or restarted_copy(path, settings)
        populations = [player or next(iter(settings.league.learners))]
    elif player is not None:
        raise UserError(
            f"{folder}@{player}: this run has no league, so no players of their own; leave out @{player}"
        )
    names, tensors = read_populations(path, populations)
    of = "" if player is None else f" {player}"
    manifest = read_manifest(path)
    name = f"{settings.world.id}{of} {manifest['agent_steps']:,}"
    foreign = {} if populations is not None else settings.foreign
    others = {population: find_opponent(settings, population) for population in foreign if beside}
    policy = TrainedPolicy(settings, names, tensors, greedy, name, others)
    policy.words = words_of_checkpoint(path, player or "")
    policy.absent = () if beside else tuple(foreign)
    policy.stored, policy.make_world = stored, make
    if populations is None or len(populations) == 1:
        policy.checkpoint = "@".join((manifest["checksum"], *(populations or ())))
    return with_interfaces(policy)


def _settings(
    path: Path, trust: bool, stored: Mapping[str, Any] | None
) -> tuple[TrainSettings, Callable[..., World] | None]:
    """The settings of a checkpoint's run, and a function that makes its world (None: from the settings).

    If only the world's module is missing, the policy plays by the spaces in the checkpoint, and the function raises.
    """
    try:
        return settings_of(path, trust), None
    except Untrusted as error:
        settings, refusal = settings_of(path, acts=False), error
    names = [(key, value) for key, value in settings.code_names() if isinstance(value, str)]
    if stored is None or names != [("world.id", settings.world.id)] or origin(settings.world.id):
        raise refusal

    def make(**_: Any) -> World:
        raise refusal

    return settings, make


def words_of_checkpoint(checkpoint: Path, player: str = "") -> str:
    """A checkpoint as text, ``runs/a at 300,000``; by name alone for a run outside the working folder.

    Args:
        checkpoint: its folder.
        player: of the run's league; empty: none.
    """
    run = checkpoint.parent.parent
    try:
        shown = run.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        shown = run.resolve().name
    shown = run.resolve().name if shown == "." else shown
    steps = f"{shown}{'@' if player else ''}{player} at {int(read_manifest(checkpoint)['agent_steps']):,}"
    stage, _ = played_stage(read_part(checkpoint, [])[0])
    steps += f", stage {stage}" if stage else ""
    return steps if checkpoint.name.isdecimal() else f"{steps} ({checkpoint.name})"


def stage_options(run: Path | str) -> dict[str, Any]:
    """World options of a run's or checkpoint's curriculum stage."""
    record, _ = read_part(find_checkpoint(split_player(str(run))[0]), [])
    return played_stage(record)[1]


def load_population(run: Path | str, population: str, greedy: bool = False, trust: bool = False) -> Policy:
    """Loads the player of one population of a run: its trained weights, or its opponent.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder.
        population: its name; ignored for a run with one set of weights.
        greedy: take the likeliest action instead of sampling.
        trust: as in `load_policy`.

    Raises:
        UserError: if there is no sound checkpoint, no such population, or the run is not trusted.
    """
    path = find_checkpoint(run)
    names, settings = population_names(path), settings_of(path, trust)
    if population not in names and population in settings.foreign:
        return find_opponent(settings, population)
    return load_policy(path, greedy, None if names == [_ONLY] else [population], trust)


def find_opponent(settings: TrainSettings, population: str) -> Policy:
    """The opponent that plays a population, by ``opponents``; of several the most frequent."""
    return open_opponent(settings, f"opponents.{population}", settings.foreign[population], population)


def open_opponent(settings: TrainSettings, key: str, value: str, population: str | None = None) -> Policy:
    """A policy named in the settings; another run needs its own trust.

    Args:
        key: of the setting, e.g. ``opponents.left``.
        population: of a run with several, the one that plays; None: all do.
    """
    try:
        path = find_player(settings.pins, value)
        if is_path(settings.pins, value) and is_folder(path):
            folder, player = split_player(path)
            checkpoint = find_checkpoint(folder)
            if player is not None:
                return load_policy(f"{checkpoint}@{player}")
            all_play = population is None or population_names(checkpoint) == [_ONLY]
            return load_policy(checkpoint, populations=None if all_play else [str(population)])
        if "/" in value and ":" not in value:
            raise UserError(f"{value}: no such run folder; name a run, a checkpoint or a scripted policy")
        from interplay.registry import make_scripted

        return make_scripted(settings.world.id, value)
    except UserError as error:
        kind = Untrusted if isinstance(error, Untrusted) else UserError
        raise kind(f"{key}: {error}") from None


def restarted_copy(checkpoint: Path, settings: TrainSettings) -> str | None:
    """The copy that stands for a league's first learner, see `present_player`; None: the learner itself plays."""
    learners = tuple(settings.league.learners)
    first = settings.league.learners[learners[0]]
    if first.restart_after is None and first.restart_above is None:
        return None
    player = present_player(read_part(checkpoint, ["pool"])[1][0], learners, learners[0])
    return None if player == learners[0] else player


def population_names(checkpoint: Path) -> list[str]:
    """The populations with weights in a checkpoint, in file order."""
    return list(_stems(checkpoint))


def read_populations(
    checkpoint: Path, wanted: Sequence[str] | None
) -> tuple[list[str], list[dict[str, np.ndarray]]]:
    """Names and weights of some populations of a checkpoint, or of all; reads no other files."""
    stems = _stems(checkpoint)
    odd = [name for name in wanted or () if name not in stems]
    if odd:
        raise UserError(f"{checkpoint}: no population {odd[0]}; there are {', '.join(stems)}")
    record, _ = read_part(checkpoint, [])
    recorded = record.get("populations", list(stems))
    if not isinstance(recorded, list) or sorted(map(str, recorded)) != sorted(stems):
        raise damaged(checkpoint / "record.json", "populations are not those that have files")
    names = list(wanted) if wanted is not None else list(recorded)
    tensors = read_part(checkpoint, [stems[name] for name in names])[1]
    return names, [
        check_weights(f"{checkpoint}: {name}", one) for name, one in zip(names, tensors, strict=True)
    ]


def _stems(checkpoint: Path) -> dict[str, str]:
    """Population -> stem of the file with its weights."""
    stems = [name.removesuffix(".safetensors") for name in read_manifest(checkpoint)["files"]]
    prefix = policy_stem("")
    return {stem.removeprefix(prefix): stem for stem in stems if stem.startswith(prefix)}


def sound_checkpoints(run: Path | str) -> tuple[list[Path], list[str]]:
    """A run's sound checkpoints, oldest first, and the problems of the others."""
    found = {path: problem(path) for path in list_checkpoints(split_player(str(run))[0])}
    sound = [path for path, reason in found.items() if reason is None]
    if not sound:
        what = f"none of the {len(found)} checkpoints is sound" if found else "holds no checkpoints"
        raise UserError(f"{run}: {what}; name a run folder, made by `interplay train`")
    return sound, [reason for reason in found.values() if reason is not None]


def policies_at(
    policy: TrainedPolicy | InterfacedTrainedPolicy, run: Path | str, checkpoints: list[Path]
) -> Iterator[Path]:
    """Loads the weights of one checkpoint after another into a run's policy, compiled once.

    Args:
        run: its folder; of a league RUN@PLAYER.
        checkpoints: of that run.
    """
    named, learners = split_player(str(run))[1], policy.settings.league.learners
    for path in checkpoints:
        player = named if named or not learners else restarted_copy(path, policy.settings)
        names = [player or next(iter(learners))] if learners else policy.names
        policy.load_weights(read_populations(path, names)[1])
        policy.words = words_of_checkpoint(path, player or "")
        yield path
