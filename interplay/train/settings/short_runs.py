"""The number of updates of a run, and fewer worlds where it would be too low."""

from __future__ import annotations

from interplay.core.settings import changed
from interplay.train.settings.train import TrainSettings

ALL_ACT = 0.8  # from this share of acting slots on, the least number of updates is a good estimate
LEAST_UPDATES = 20  # of a run with a default number of worlds


def slot_steps(settings: TrainSettings, rollout: int, slots: int) -> int:
    """Steps of all slots of all worlds in an update, an upper bound of its agent-steps."""
    return rollout * settings.num_worlds * slots


def in_updates(settings: TrainSettings, rollout: int, slots: int) -> str:
    """The run's length in updates, as text.

    Example:
        >>> settings = TrainSettings(world={"id": "pong/2p"}, num_worlds=64, steps=300_000)
        >>> in_updates(settings, 128, 2)
        'one update is at most 16,384 agent-steps; 300,000 are 19 updates or more'
    """
    most = slot_steps(settings, rollout, slots)
    count = -(-settings.steps // most)
    return f"one update is at most {most:,} agent-steps; {settings.steps:,} are {count:,} updates or more"


def in_updates_so_far(settings: TrainSettings, most: int, updates: int, agent_steps: int, last: int) -> str:
    """The run's length in updates as text, from the acting share of the last update.

    Empty where nearly all slots acted, or the run is complete.

    Args:
        most: upper bound of an update's agent-steps.
        updates, agent_steps: done so far.
        last: agent-steps of the last update.

    Example:
        >>> settings = TrainSettings(world={"id": "werewolf/7p"}, steps=20_000)
        >>> in_updates_so_far(settings, 576, 5, 560, 112)
        'the last update had 112 agent-steps of 576, not every slot acts in every step; 20,000 will be about 179 updates'
    """
    rest = settings.steps - agent_steps
    if rest <= 0 or last > ALL_ACT * most:
        return ""
    whole = updates + -(-rest // max(last, 1))
    return (
        f"the last update had {last:,} agent-steps of {most:,}, not every slot acts in every step; "
        f"{settings.steps:,} will be about {whole:,} updates"
    )


def fit_worlds(settings: TrainSettings, slots: int) -> TrainSettings:
    """Halves the number of worlds until the run has `LEAST_UPDATES`, as far as the shards allow.

    Args:
        settings: of a run with a default number of worlds.
        slots: of one world.

    Example:
        >>> settings = TrainSettings(world={"id": "survival/1v1-heals-low"}, num_worlds=256, ppo={"rollout": 64}, steps=300_000)
        >>> fit_worlds(settings, 2).num_worlds, fit_worlds(settings.model_copy(update={"steps": 10}), 2).num_worlds
        (64, 4)
    """
    group = settings.own_group
    if group is None:  # a user-defined algorithm: its rollout is not known yet
        return settings
    worlds, shards = settings.num_worlds, settings.train.shards
    while settings.steps < LEAST_UPDATES * group.rollout * worlds * slots and worlds % (2 * shards) == 0:
        worlds //= 2
    return changed(settings, {"num_worlds": worlds}, "train")
