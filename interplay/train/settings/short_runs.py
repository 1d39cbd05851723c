"""How many updates a run is, and fewer worlds where that would be too few to learn in."""

from __future__ import annotations

from interplay.core.settings import changed
from interplay.train.settings.train import TrainSettings

ALL_ACT = 0.8  # share of the slots' steps from which the least number of updates says enough
LEAST_UPDATES = 20  # of a run whose number of worlds nobody chose


def slot_steps(settings: TrainSettings, rollout: int, slots: int) -> int:
    """Steps of every slot of every world in an update, alive or not: the most agent-steps that it can have."""
    return rollout * settings.num_worlds * slots


def in_updates(settings: TrainSettings, rollout: int, slots: int) -> str:
    """A run's length in words.

    Example:
        >>> settings = TrainSettings(world={"id": "pong/2p"}, num_worlds=64, steps=300_000)
        >>> in_updates(settings, 128, 2)
        'one update is at most 16,384 agent-steps; 300,000 are 19 updates or more'
    """
    most = slot_steps(settings, rollout, slots)
    count = -(-settings.steps // most)
    return f"one update is at most {most:,} agent-steps; {settings.steps:,} are {count:,} update{'s' * (count > 1)} or more"


def in_updates_so_far(settings: TrainSettings, most: int, updates: int, agent_steps: int, last: int) -> str:
    """A run's length in words, from how many slots have acted; "" where nearly all did, or where nothing is left.

    Args:
        settings: of the run.
        most: agent-steps that an update can have.
        updates, agent_steps: that are done.
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
    """The settings with the number of worlds halved, as often as it takes and the shards allow, until a run has `LEAST_UPDATES`.

    Args:
        settings: of a run whose number of worlds is a default.
        slots: of one world.

    Example:
        >>> settings = TrainSettings(world={"id": "survival/1v1-heals-low"}, num_worlds=256, ppo={"rollout": 64}, steps=300_000)
        >>> fit_worlds(settings, 2).num_worlds, fit_worlds(settings.model_copy(update={"steps": 10}), 2).num_worlds
        (64, 4)
    """
    group = getattr(settings, settings.algorithm, None)
    if group is None:  # an algorithm of the user's own: its rollout is known when it is made
        return settings
    worlds, shards = settings.num_worlds, settings.train.shards
    while settings.steps < LEAST_UPDATES * group.rollout * worlds * slots and worlds % (2 * shards) == 0:
        worlds //= 2
    return changed(settings, {"num_worlds": worlds}, "train")
