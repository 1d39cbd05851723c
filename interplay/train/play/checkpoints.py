"""A run's policy at each of its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.loading import split_player
from interplay.train.interfaced import InterfacedTrainedPolicy
from interplay.train.play.policy import read_populations, words_of_checkpoint
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.run.checkpoint import list_checkpoints, problem


def sound_checkpoints(run: Path | str) -> tuple[list[Path], list[str]]:
    """A run's sound checkpoints, oldest first, and the problems of the others.

    Raises:
        UserError: if none is sound.
    """
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

    Raises:
        UserError: as `read_populations`.
    """
    player = split_player(str(run))[1]
    for path in checkpoints:
        policy.load_weights(read_populations(path, policy.names)[1])
        policy.words = words_of_checkpoint(path, player or "")
        yield path
