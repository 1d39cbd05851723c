"""A run's policy as it was at each of its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.loading import split_player
from interplay.train.interfaced import SeenPolicy
from interplay.train.play.policy import load_policy, read_populations
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.run.checkpoint import list_checkpoints, problem


def sound_checkpoints(run: Path | str) -> tuple[list[Path], list[str]]:
    """The checkpoints of a run that are whole, oldest first, and what is wrong with each of the others.

    Raises:
        UserError: if none is whole.
    """
    found = {path: problem(path) for path in list_checkpoints(split_player(str(run))[0])}
    sound = [path for path, reason in found.items() if reason is None]
    if not sound:
        what = f"none of the {len(found)} checkpoints is sound" if found else "holds no checkpoints"
        raise UserError(f"{run}: {what}; name a run folder, made by `interplay train`")
    return sound, [reason for reason in found.values() if reason is not None]


def policies_at(
    run: Path | str, checkpoints: list[Path], greedy: bool = False, trust: bool = False
) -> Iterator[TrainedPolicy | SeenPolicy]:
    """The run's policy with the weights of one checkpoint after the other.

    It is one policy, whose networks are compiled once: play with it before the next one is asked for.

    Args:
        run: its folder; of a league RUN@PLAYER.
        checkpoints: of that run.
        greedy, trust: as for `load_policy`.

    Raises:
        UserError: as `load_policy`.
    """
    player = split_player(str(run))[1]
    policy = None
    for path in checkpoints:
        if policy is None:
            policy = load_policy(path if player is None else f"{path}@{player}", greedy, trust=trust)
        else:
            policy.load_weights(read_populations(path, policy.names)[1])
        yield policy
