"""Finds NaN and infinite numbers before they reach the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.errors import UserError

if TYPE_CHECKING:
    from interplay.train.rollout import Collector


def refuse_bad_numbers(collector: Collector, update: int) -> None:
    """Checks observations, rewards and network outputs of the last rollout.

    Raises:
        UserError: naming tensor and update; for observations and rewards also agent, world and step.
    """
    refuse_bad_observations(collector, update)
    buffer = collector.buffer
    values = (buffer.value[buffer.earlier :], buffer.last_value)
    for name, pending in collector.pending.items():
        new = slice(pending.kept, pending.count)
        bad = None if np.isfinite(pending.log_prob[new]).all() else "log_prob of the network"
        if bad is None and not all(np.isfinite(value).all() for value in values):
            bad = "value of the network"
        if bad is not None:
            of = f" of {name}" if len(collector.networks) > 1 else ""
            raise UserError(
                f"update {update}: {bad}{of} is not finite; check the world, or lower the learning rate"
            )
    rewards = buffer.reward[buffer.earlier :]
    if not np.isfinite(rewards).all():
        t, w, a = (int(i) for i in np.argwhere(~np.isfinite(rewards))[0])
        place = _place(collector, t, w, a)
        raise UserError(f"update {update}: reward is not finite ({rewards[t, w, a]}{place}); check the world")


def refuse_bad_observations(collector: Collector, update: int) -> None:
    """Checks the observations of the last rollout, as far as it was played.

    Raises:
        UserError: naming leaf, agent, world and step; for frames of a replay the leaf alone.
    """
    if collector.recorder is not None and collector.recorder.bad is not None:
        raise UserError(f"update {update}: {collector.recorder.bad} is not finite; check the world")
    for name, pending in collector.pending.items():
        new = slice(pending.kept, pending.count)
        layout, rows = collector.networks[name].layout, pending.seen.rows
        bad = layout.name_bad(rows, new)
        if bad is None:
            continue
        first = next(i for i in range(new.start, new.stop) if layout.name_bad(rows, slice(i, i + 1)))
        bad = layout.name_bad(rows, slice(first, first + 1))
        w, a = divmod(int(pending.slot[first]), collector.present.shape[1])
        place = _place(collector, int(pending.step[first]) - collector.buffer.earlier, w, a)
        of = f" of {name}" if len(collector.networks) > 1 else ""
        raise UserError(
            f"update {update}: {bad}{of} is not finite in float32{place}; give finite numbers that it holds"
        )


def _place(collector: Collector, t: int, w: int, a: int) -> str:
    """``", agent red_0, world 3, step 17 of the rollout"``."""
    return f", agent {collector.world.agents[a]}, world {w}, step {t + 1} of the rollout"
