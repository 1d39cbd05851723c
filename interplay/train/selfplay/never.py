"""Finds settings without effect in a run: copies after its end, opponents in no episode, sides that do not learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.core.world import World
from interplay.train.learner import Learner
from interplay.train.populations import Populations
from interplay.train.selfplay.matchups import opponents_of, sides_of
from interplay.train.selfplay.opponents import inside
from interplay.train.selfplay.pool import pool_of
from interplay.train.settings import TrainSettings, shares_of
from interplay.train.settings.league import MeetingGroup
from interplay.train.settings.short_runs import slot_steps

STEPS = 1_000  # most steps of random play to measure an episode


def find_ineffective(settings: TrainSettings, world: World, learner: Learner) -> list[str]:
    """One line for each setting without effect in a run of this length, with its value and the cure.

    Random play may measure the length of an episode in `world`, so reset it afterwards.
    """
    populations = learner.populations
    lines = [*_periods(settings, world, learner), *_unmet_learners(settings)]
    lines += [*_snapshots(settings, world, learner), *_unlearnt(settings, learner)]
    small = [pair for pair in _meetings(settings, world, populations) if pair[1] * settings.num_worlds < 1]
    if small:
        episodes = _episodes(settings, world, learner)
        lines += [_rare(who, share * episodes) for who, share in small if share * episodes < 1]
    return lines


def _periods(settings: TrainSettings, world: World, learner: Learner) -> Iterator[str]:
    """A league with a first period that does not end before the run."""
    league, updates = settings.league, settings.train.max_updates
    most = slot_steps(settings, learner.algorithm.rollout, len(world.agents))
    steps = min(settings.steps, updates * most if updates is not None else settings.steps)
    if league.learners and league.period >= steps:
        yield (
            f"league.period = {league.period:,} agent-steps, and the run has {steps:,}: no copy of a learner is ever met; "
            f"lower it, for example to {max(steps // 10, 1):,}"
        )


def _snapshots(settings: TrainSettings, world: World, learner: Learner) -> Iterator[str]:
    """A pool that takes its first past self after the run's end, or plays none."""
    pool = pool_of(settings, learner.populations)
    if settings.league.learners or not pool.populations:
        return
    if not settings.has_past_selves and pool.share == 0:
        yield "pool.share = 0: past selves are kept and play no episode; raise it, or leave out pool.populations"
    updates, every = settings.train.max_updates, pool.every
    if (
        updates is None
        and every * slot_steps(settings, learner.algorithm.rollout, len(world.agents)) >= settings.steps
    ):
        steps, acted = _episode_of(world, settings.seed)
        sides = len(sides_of(settings, world, learner.populations).names)
        each = learner.algorithm.rollout * settings.num_worlds * acted / (steps * max(sides, 1))
        updates = int(-(-settings.steps // max(each, 1.0)))  # at most, if the learner plays one side
    if updates is not None and every >= updates:
        yield (
            f"pool.every = {every} updates, and the run has {updates} at most: no past self is ever met; "
            + (f"lower it, for example to {max(updates // 10, 1)}" if every > 1 else "train longer")
        )


def _unlearnt(settings: TrainSettings, learner: Learner) -> Iterator[str]:
    """The run's own populations and kinds that `train.learners` leaves out."""
    populations, listed = learner.populations, list(settings.train.learners)
    if not listed:
        return
    own = zip(populations.names, learner.learns, populations.played, strict=True)
    left_out = [name for name, learns, played in own if played and not learns]
    left_out += [name for name in learner.networks if name not in learner.kinds_that_learn]
    for name in left_out:
        weights = "those of train.start_from" if settings.train.start_from else "its first weights"
        yield f"train.learners = {listed} leaves out {name}, which plays with {weights} and does not learn; add it to let it learn"


def _unmet_learners(settings: TrainSettings) -> Iterator[str]:
    """Learners of a league that no other learner meets, neither themselves nor their copies."""
    learners = settings.league.learners
    for name, own in learners.items():
        others = [meeting for other, one in learners.items() if other != name for meeting in one.meets]
        if others and not any(_finds(meeting, name, own.freeze) for meeting in others):
            yield (
                f"league.learners.{name}: no other learner meets it; name it in `among` of one of their meets, or leave it out"
            )


def _finds(meeting: MeetingGroup, name: str, frozen: bool) -> bool:
    """Whether another learner's rule can choose a learner or one of its copies."""
    if meeting.by in ("self", "fixed"):
        return False
    everyone = not meeting.among and meeting.by not in ("latest", "first", "uniform")
    return (everyone or name in meeting.among) and (frozen or meeting.by == "current")


def _meetings(settings: TrainSettings, world: World, populations: Populations) -> Iterator[tuple[str, float]]:
    """Each opponent's name in the settings, and its share of all episodes."""
    if learners := settings.league.learners:
        each = (1.0 - settings.league.measure) / len(learners)
        for name, learner in learners.items():
            for meeting in learner.meets:
                if meeting.by != "self":
                    who = f"league.learners.{name}: {meeting.play or meeting.by}, share = {meeting.share:g}"
                    yield who, each * meeting.share
        return
    sides = sides_of(settings, world, populations)
    for side, who in opponents_of(settings, sides).items():
        for play, share in shares_of(who):
            if play == "self":
                continue
            yield f"opponents.{side}: {play}, share = {share:g}", share
    if settings.pool.populations and not settings.has_past_selves and settings.pool.share:
        yield f"pool.share = {settings.pool.share:g}", settings.pool.share


def _episodes(settings: TrainSettings, world: World, learner: Learner) -> float:
    """Estimates the most episodes of a run from the length of a random one."""
    steps, acted = _episode_of(world, settings.seed)
    sides = len(sides_of(settings, world, learner.populations).names)
    train, worlds = settings.train, settings.num_worlds
    ends = [settings.steps * max(sides, 1) / max(acted, 1)]  # a learner may play one side alone
    if train.max_episodes is not None:
        ends.append(float(train.max_episodes))
    if train.max_updates is not None:
        ends.append(train.max_updates * learner.algorithm.rollout * worlds / steps)
    return worlds + min(ends)


def _episode_of(world: World, seed: int) -> tuple[int, int]:
    """Steps and actions of an episode of random play, of at most `STEPS` steps."""
    played = inside(world)
    timestep, policy = played.reset(), RandomPolicy()
    policy.start(played, seed)
    acted = steps = 0
    while steps < STEPS:
        steps += 1
        acted += int(np.count_nonzero(timestep.acting[0]))
        timestep = played.step(policy.act(timestep))
        if timestep.over[0]:
            break
    return steps, acted


def _rare(who: str, expected: float) -> str:
    return f"{who}: about {expected:.2g} of the run's episodes are against it, so it is hardly ever met; raise its share, or leave it out"
