"""Makes the learner of a run, after checking settings against the world."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.helping import processors
from interplay.core.spaces import sample_actions
from interplay.core.world import World
from interplay.train.curriculum import Curriculum, check_stages
from interplay.train.device_learner import DeviceLearner
from interplay.train.devices import CPU, open_device
from interplay.train.factored.learner import TeamLearner
from interplay.train.learner import Learner
from interplay.train.networks.pictures import warn_of_flat_pictures
from interplay.train.networks.pointer import warn_of_dense_heads
from interplay.train.run.checkpoint import (
    find_checkpoint,
    read_checkpoint,
)
from interplay.train.run.episodes import EpisodeStatistics
from interplay.train.run.pins import find_player
from interplay.train.run.progress import tell
from interplay.train.run.room import check_room
from interplay.train.run.warm_start import warm_vectors
from interplay.train.selfplay.alternation import check_turns
from interplay.train.selfplay.evaluation import check_evaluation
from interplay.train.selfplay.guessing import check_guesses
from interplay.train.selfplay.matchups import (
    check_opponents,
    check_score,
    sides_of,
    with_opponents,
)
from interplay.train.selfplay.membership import Membership
from interplay.train.selfplay.never import find_ineffective
from interplay.train.selfplay.pool import check_pool, pool_of
from interplay.train.settings import TrainSettings, WorldChoice
from interplay.train.settings.unread import check_populations_read
from interplay.train.shard import MakeWorld
from interplay.train.views import find_view


def make_learner(
    settings: TrainSettings,
    make: MakeWorld,
    begins: bool,
    say: Callable[[str], object] = tell,
    first: bool = True,
) -> Learner:
    """Checks the settings against the world and makes the learner, with the weights of ``train.start_from``.

    Args:
        make: makes its world.
        begins: the run has no checkpoint of its own yet.
        say: prints a line for each kind that ``train.start_from`` lacks.
        first: this is the first worker, which makes the checks that concern all.
    """
    open_device(settings.train)  # before anything is computed
    begin = Curriculum(settings.curriculum).options
    world = make(num_worlds=1, seed=settings.seed, first_world=0, **begin)
    try:
        if first:
            check_stages(settings, make, world)
        populations = with_opponents(settings, world)
        check_populations_read(settings, populations)
        check_opponents(settings, world, populations)
        sides = sides_of(settings, world, populations)
        check_pool(pool_of(settings, populations), world, populations, sides)
        check_score(settings, world)
        check_guesses(settings.belief.about, world, populations)
        if first:
            check_evaluation(settings, world, populations)
            check_room(settings, world, populations)
            for kind in world.kinds:
                warn_of_dense_heads(settings.network.kind, kind.observation_space, kind.action_space)
                warn_of_flat_pictures(settings.network.kind, kind.observation_space)
            check_unmasked(settings, world)
        world.reset()
        if settings.factored is not None:
            learner: Learner = TeamLearner(world, settings, populations)
        else:
            make_own = Learner if settings.train.device == CPU else DeviceLearner
            learner = make_own(world.kinds, settings, populations, find_view(settings, world, populations))
        if settings.alternate.metric is not None:
            members = Membership(settings, world, learner)
            metrics = EpisodeStatistics(world, sides=members.logged).logged
            check_turns(settings.alternate, populations, metrics)
        if first and begins:
            for line in find_ineffective(settings, world, learner):
                warnings.warn(line, stacklevel=2)
    finally:
        world.close()
    if begins and settings.train.start_from is not None:
        start = find_player(settings.pins, settings.train.start_from)
        checkpoint = read_checkpoint(find_checkpoint(start))
        names = learner.populations.own
        learner.begin_with(warm_vectors(checkpoint, learner.networks, names, settings.network, say))
    return learner


def registry_factory(settings: TrainSettings) -> MakeWorld:
    return functools.partial(_make_chosen, settings.world, threads=threads_of(settings))


def _make_chosen(
    chosen: WorldChoice, *, num_worlds: int, seed: int, first_world: int, **further: Any
) -> World:
    """The settings' world with further options, those of a stage, on top."""
    from interplay.registry import lay_options, make_world

    options = {"threads": further.pop("threads"), **lay_options(chosen.id, chosen.options, further)}
    return make_world(chosen.id, num_worlds=num_worlds, seed=seed, first_world=first_world, **options)


def threads_of(settings: TrainSettings) -> int:
    """Threads that step the worlds of one process; with a GPU ``auto`` leaves two cores to the main thread."""
    asked = settings.train.threads
    if asked != "auto":
        return asked
    return 1 if settings.train.device == CPU else max(1, processors() - 2)


STEPS = 64  # of the trial


def check_unmasked(settings: TrainSettings, world: World) -> None:
    """Plays some steps with random choices, legal or not; reset the world afterwards."""
    if settings.network.action_masks:
        return
    world.reset()
    if not any(world.by_kind(world.timestep.action_mask).values()):
        raise UserError(
            f"network.action_masks = false: {world.id} has no action masks, everything is legal; leave it out"
        )
    rng = seeding.generator(settings.seed, 0x3A5C)
    for _ in range(STEPS):
        try:
            timestep = world.step(_anything(world, rng))
        except (UserError, ValueError) as error:
            raise UserError(
                f"network.action_masks = false: {world.id} refuses illegal choices ({error}); leave it out"
            ) from None
        if timestep.over.any():
            world.reset()


def _anything(world: World, rng: Any) -> Any:
    """Random actions of all slots, without masks."""
    drawn = {
        kind.name: sample_actions(kind.action_space, rng, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return drawn if len(drawn) > 1 else next(iter(drawn.values()))
