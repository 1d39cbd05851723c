"""`train`, `resume` and `load_policy`: a run from its settings to its last checkpoint.

The page to read is `_lead`: what the first worker does update after update. The steps of an update are in `update.py`.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.masks import masked_heads
from interplay.core.overdue import OVERDUE
from interplay.core.settings import build, changed
from interplay.core.settings_text import show
from interplay.core.stopping import Stop, finishing
from interplay.core.waiting import WAITING
from interplay.core.world import World
from interplay.train.algorithms.ppo import KL_SLACK
from interplay.train.curriculum import Curriculum, admit_options, check_stages, sign_options
from interplay.train.devices import describe, open_device, told_as_lost_card, with_device
from interplay.train.diagnosis.live import LiveDiagnosis
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.worker import TeamWorker
from interplay.train.interfaced import through_interfaces
from interplay.train.learner import Learner
from interplay.train.networks.pictures import warn_of_flat_pictures
from interplay.train.networks.pointer import warn_of_dense_heads
from interplay.train.parallel import xla
from interplay.train.parallel.compilation import compilation
from interplay.train.parallel.exchange import Exchange, LostWorker, SingleProcess
from interplay.train.parallel.workers import check_main, worker_pool
from interplay.train.play.policy import load_policy, load_population
from interplay.train.play.stored_world import describe_world
from interplay.train.run import old_boxes
from interplay.train.run.best import Best
from interplay.train.run.checkpoint import (
    Checkpoint,
    CheckpointWriter,
    find_checkpoint,
    latest_checkpoint,
    prune_checkpoints,
    read_checkpoint,
    staging_path,
)
from interplay.train.run.ending import play_out
from interplay.train.run.episodes import EpisodeStatistics
from interplay.train.run.folder import RunFolder, default_run_path
from interplay.train.run.manifest import check_resumable
from interplay.train.run.old_boxes import refuse_old_boxes
from interplay.train.run.progress import Progress, tell
from interplay.train.run.recording import Tap
from interplay.train.run.records import check_record
from interplay.train.run.recovery import Faults
from interplay.train.run.room import check_room, told_as_lack_of_room
from interplay.train.run.warm_start import describe_spaces, warm_vectors
from interplay.train.run.writers import check_writers
from interplay.train.selfplay.alternation import check_turns
from interplay.train.selfplay.evaluation import Evaluation, check_evaluation
from interplay.train.selfplay.guessing import check_guesses
from interplay.train.selfplay.matchups import (
    check_opponents,
    check_score,
    pin,
    pinned,
    pinned_league,
    sides_of,
    with_opponents,
)
from interplay.train.selfplay.membership import Membership
from interplay.train.selfplay.never import never_happens
from interplay.train.selfplay.pool import check_pool, pool_of
from interplay.train.settings import TrainSettings
from interplay.train.settings.short_runs import in_updates, in_updates_so_far
from interplay.train.settings.unread import check_populations_read, check_read
from interplay.train.shard import MakeWorld
from interplay.train.unmasked import check_unmasked
from interplay.train.update import Worker
from interplay.train.views import find_view

__all__ = ["load_policy", "load_population", "resume", "train"]

CONTINUE, SAVE, SAVE_AND_STOP, STOP = 0, 1, 2, 3
CHANGE = 4  # beside these: the worlds are made anew with other options
FIRST_UPDATES = 200  # at most, before what learns from replay takes its first gradient step
TOLD_AGAIN = 5  # updates after which it is said how many the run will have: by then crowds have grown
DIGEST_EVERY = 50  # updates between comparisons of the workers' parameters
OnUpdate = Callable[
    [Path, Mapping[str, Any]], object
]  # run folder, numbers of an update -> true: stop; a mapping: options
SHOWN = ("life", "episode_length", "won", "episode_return", "kl", "epochs", "td_error", "epsilon")


def train(
    settings: TrainSettings,
    out: Path | str | None = None,
    make_world: MakeWorld | None = None,
    on_update: OnUpdate | None = None,
) -> Path:
    """Trains from the beginning.

    Args:
        settings: of the run.
        out: the run's folder; None makes one under ``runs/``.
        make_world: ``make_world(num_worlds=, seed=, first_world=) -> World``, importable by the workers; None asks the
            registry for ``settings.world``.
        on_update: ``on_update(run folder, numbers)``, called after every update with what the log says of it; where it gives
            True the run saves and stops; a mapping it gives are options of the world: worlds are made anew with them.

    Returns:
        The run folder.

    Raises:
        UserError: for settings that do not fit the world or memory, a folder in use, numbers that are not finite, three
            lost workers without an update in between, and if the weights of ``train.start_from`` do not fit.
    """
    check_main()
    check_read(settings)
    check_writers(settings)
    settings = with_device(with_checkpoints(settings))
    make = through_interfaces(settings, make_world or _registry_factory(settings))
    learner = make_learner(settings, make, begins=True)
    path = Path(out) if out is not None else default_run_path(settings.world.id, datetime.date.today())
    with finishing() as stop, RunFolder.create(path, settings) as run:
        try:
            _run(run, make, learner, None, stop, on_update)
        except BaseException:
            run.take_back()  # a folder with nothing to show would only be in the way of the corrected command
            raise
    return path


def first_weights(settings: TrainSettings) -> dict[str, bytes]:
    """The bytes of all weights after the first update of a run of one process that learns, which leaves nothing on disk.

    Args:
        settings: of the run.

    Returns:
        Kind of agents -> the weights of its populations.

    Raises:
        UserError: as `train`.
    """
    check_read(settings)
    settings = with_checkpoints(settings)
    make = through_interfaces(settings, _registry_factory(settings))
    learner = make_learner(settings, make, begins=True, say=str)
    with contextlib.closing(make_worker(settings, make, learner, SingleProcess())) as worker:
        for _ in range(FIRST_UPDATES):
            if worker.update()["gradient_steps"]:
                break
    return {kind: np.asarray(vectors).tobytes() for kind, vectors in learner.vectors.items()}


def with_checkpoints(settings: TrainSettings) -> TrainSettings:
    """The settings with checkpoints in the place of the runs that they name, so that all workers and later readers mean the same ones.

    Raises:
        UserError: for a run without a sound checkpoint.
    """
    train: dict[str, Any] = {"evaluate_against": tuple(map(pin, settings.train.evaluate_against))}
    if settings.train.start_from is not None:
        train["start_from"] = str(find_checkpoint(settings.train.start_from))
    league = pinned_league(settings.league).model_dump()
    return changed(settings, {"opponents": pinned(settings), "train": train, "league": league}, "train")


def resume(
    run: Path | str,
    workers: int | None = None,
    steps: int | None = None,
    make_world: MakeWorld | None = None,
    accept_settings: bool = False,
    trust: bool = False,
    on_update: OnUpdate | None = None,
    device: str | None = None,
) -> Path:
    """Goes on from a run's newest sound checkpoint; the result is the same, bit for bit, as without the stop.

    Args:
        run: the run folder.
        workers: another number of processes; None keeps it.
        steps: another total of agent-steps; None keeps it.
        make_world: as given to `train`.
        accept_settings: go on with what ``settings.toml`` says now, though the checkpoint was made with other values.
        trust: the run's settings may name programs of their own; needed once, for a run from elsewhere.
        on_update: as given to `train`.
        device: another value of ``train.device``; None keeps it. The bits are others from here on.

    Returns:
        The run folder.

    Raises:
        UserError: as `train`, and if no checkpoint is sound, the settings are not those that it was made with, or they name
            programs and are not trusted.
    """
    check_main()
    with finishing() as stop, RunFolder.open(run, TrainSettings) as folder:
        checkpoint = _newest(folder)
        folder.admit(checkpoint, accept_settings, trust)
        if checkpoint is not None:
            admit_options(folder.settings, checkpoint.record, folder.path, trust)
        folder.change(with_device(_changed(folder.settings, workers, steps, str(run), device)))
        if checkpoint is not None:
            _tell_other_device(checkpoint, folder.settings.train.device)
        folder.rewind(checkpoint.agent_steps if checkpoint else 0)
        make = through_interfaces(folder.settings, make_world or _registry_factory(folder.settings))
        learner = make_learner(folder.settings, make, begins=checkpoint is None)
        _run(folder, make, learner, checkpoint, stop, on_update)
    return Path(run)


def _tell_other_device(checkpoint: Checkpoint, name: str) -> None:
    """Says that a run goes on elsewhere than where its checkpoint was made."""
    compute = checkpoint.record.get("compute")
    was = compute.get("device", "cpu") if isinstance(compute, Mapping) else "cpu"
    if was != (now := describe(name)):
        tell(f"this run was made on {was}; from here on, on {now}, it has other bits")


def _newest(folder: RunFolder[TrainSettings]) -> Checkpoint | None:
    """The newest sound checkpoint of a run, if it has one yet."""
    path = latest_checkpoint(folder.path)
    if path is None:
        return None
    check_resumable(path)
    checkpoint = read_checkpoint(path)
    check_record(checkpoint)
    refuse_old_boxes(path, checkpoint.record)
    return checkpoint


def _run(
    folder: RunFolder[TrainSettings],
    make: MakeWorld,
    learner: Learner,
    checkpoint: Checkpoint | None,
    stop: Stop,
    on_update: OnUpdate | None = None,
) -> None:
    """Trains; goes on from the last checkpoint each time a worker is lost."""
    faults = Faults()
    while True:
        try:
            device = folder.settings.train.device
            with told_as_lost_card(device, folder.path), told_as_lack_of_room():
                _train(folder, make, learner, checkpoint, stop, faults, on_update)
            return
        except LostWorker as error:
            lost = error
        checkpoint = _newest(folder)
        folder.rewind(checkpoint.agent_steps if checkpoint else 0)
        where = f"the checkpoint at {checkpoint.agent_steps:,} agent-steps" if checkpoint else "the beginning"
        if stop:
            tell(f"{lost}; stopped at {where}; go on with `interplay resume {folder.path}`")
            return
        go_on = f"go on with `interplay resume {folder.path}`" if checkpoint else "start the run again"
        faults.count(lost, go_on)
        tell(f"{lost}; going on from {where}")
        if checkpoint is None:
            learner = make_learner(folder.settings, make, begins=True, say=str)


def _train(
    folder: RunFolder[TrainSettings],
    make: MakeWorld,
    learner: Learner,
    checkpoint: Checkpoint | None,
    stop: Stop,
    faults: Faults,
    on_update: OnUpdate | None,
) -> None:
    """Trains with one set of workers, until the end or until one of them is lost."""
    settings = folder.settings
    source = checkpoint.path if checkpoint else None
    job = (settings.model_dump_json(), make, folder.path, source)
    limited = OVERDUE.limited(settings.train.step_limit)
    with limited, worker_pool(settings.train.workers, learner.size, _follow, job) as exchange:
        worker = make_worker(settings, make, learner, exchange)
        with contextlib.closing(worker):
            if checkpoint is not None:
                reason = worker.load(checkpoint)
                if reason is not None:
                    tell(f"{reason}; this run goes on with new episodes")
            faults.begin(worker.updates)
            evaluation = Evaluation(settings, make, learner, worker.agent_steps)
            evaluation.play_with(worker.curriculum.played[1])
            with contextlib.closing(evaluation):
                _lead(worker, evaluation, folder, checkpoint, stop, faults, on_update)


def _names(world: World) -> dict[str, list[str]]:
    """Names of agents and teams, for the first line of the log: its lists are in their order."""
    teams = world.team_names or tuple(f"team{number}" for number in range(len(world.teams or ())))
    return {"agent_names": list(world.agents), "team_names": list(teams)}


def _lead(
    worker: Worker,
    evaluation: Evaluation,
    folder: RunFolder[TrainSettings],
    checkpoint: Checkpoint | None,
    stop: Stop,
    faults: Faults,
    on_update: OnUpdate | None = None,
) -> None:
    """The first worker's loop: update, log, decide, save."""
    settings = worker.settings
    before = float(checkpoint.record["seconds"]) if checkpoint else 0.0
    began = saved = time.monotonic()
    first_steps, first_update = worker.agent_steps, worker.updates
    names = {} if first_update else _names(worker.shards[0].world)
    warned = False
    shown: dict[str, float] = {}  # the latest of each: not every update completes a window of episodes
    best = Best(settings.train.best_by, settings.train.best_measurements, checkpoint)
    if checkpoint is not None:
        best.keep(checkpoint.path)
    diagnosis = LiveDiagnosis(settings, folder.metrics_path)
    enough = False
    with _progress(settings, first_steps) as progress, _tap(worker, folder, progress) as tap:
        save = functools.partial(_save, worker, folder, progress, best)
        if not complete(worker, before):
            rollout, slots = worker.learner.algorithm.rollout, len(worker.shards[0].world.agents)
            progress.say(in_updates(settings, rollout, slots))
            world = worker.shards[0].world
            if any(world.by_kind(world.timestep.action_mask).values()):
                progress.say(masked_heads(world, world.timestep))
        verdict = _first_verdict(worker, before, checkpoint, stop)
        worker.agree(verdict)
        if verdict in (SAVE, SAVE_AND_STOP):
            save(0.0)
        if verdict in (SAVE, CONTINUE):
            folder.drop_ending()
        while verdict not in (SAVE_AND_STOP, STOP):
            before_update = worker.agent_steps
            tap.open(worker.updates, worker.agent_steps)
            numbers = worker.update()
            faults.updates = worker.updates
            rated = evaluation.tell(worker.agent_steps)
            now = time.monotonic()
            numbers |= {"updates": worker.updates, "time": before + now - began, **rated}
            numbers |= worker.curriculum.logged()
            known = [*worker.metric_names, *evaluation.metric_names]
            if worker.shards[0].world.later_metrics and not numbers["episodes"]:
                known += [str(best.metric), worker.curriculum.metric]  # they may come with the first episodes
            best.add(numbers, known, worker.of_lives)
            if sides := worker.only_by_side(settings.train.best_by):
                progress.say_once(
                    f"train.best_by = {settings.train.best_by} sums to zero over the sides of an episode and chooses no checkpoint; "
                    f"give one side's, for example {sides[0]}"
                )
            shown |= {name: numbers[name] for name in SHOWN if name in numbers}
            progress.update(worker.agent_steps, {name: shown[name] for name in SHOWN if name in shown})
            numbers["agent_steps_per_s"] = (
                progress.rate or math.nan
            )  # as it is shown; the first update has none
            if rated or worker.updates % settings.train.log_every == 0:
                folder.log(worker.agent_steps, numbers | names)
                names = {}
            if line := worker.later_in_words():
                progress.say_once(line)
            for line in diagnosis.add(worker.agent_steps, numbers):
                progress.say(f"update {worker.updates}: {line}")
            if not warned and (warning := stopped_at_once(settings, numbers)):
                progress.say(f"update {worker.updates}: {warning}")
                warned = True
            if worker.updates == first_update + TOLD_AGAIN and progress.total is not None:
                at, last = worker.agent_steps, worker.agent_steps - before_update
                if words := in_updates_so_far(settings, worker.slot_steps, worker.updates, at, last):
                    progress.say(words)
            better = best.close(worker.agent_steps)
            kept = settings.train.keeps(before_update, worker.agent_steps)
            ends = complete(worker, numbers["time"])
            answer = (
                None
                if on_update is None
                else on_update(folder.path, {"agent_steps": worker.agent_steps, **numbers})
            )
            enough = bool(answer) and not isinstance(answer, Mapping)
            changes = _changes(worker, numbers, known, answer) and not ends
            if stop or enough:
                verdict = SAVE_AND_STOP
            elif ends:
                verdict = SAVE_AND_STOP if settings.train.checkpoint_at_end or better or kept else STOP
            else:
                verdict = SAVE if better or kept or _due(worker, now - saved) else CONTINUE
            _keep_step(worker, verdict, worker.curriculum.describe() if changes else None)
            if changes:
                progress.say(worker.curriculum.in_words())
                worker.shards[0].collector.tap = tap
                tap.move(worker.shards[0].world, worker.curriculum.played[1])
                evaluation.play_with(worker.curriculum.played[1])
            if verdict in (SAVE, SAVE_AND_STOP):
                save(before + now - began, better, ends)
                saved = time.monotonic()
        seconds = before + time.monotonic() - began
        _end(worker, folder, seconds, not (stop or enough), stop, progress)
    if stop or enough:
        by = "" if stop else " by on_update"
        tell(
            f"stopped{by} at {worker.agent_steps:,} agent-steps; go on with `interplay resume {folder.path}`"
        )


def _end(
    worker: Worker,
    folder: RunFolder[TrainSettings],
    seconds: float,
    ends: bool,
    stop: Stop,
    progress: Progress,
) -> None:
    """Plays the episodes under way at the end of a complete run to their ends, and logs them; other workers do the same in `_follow`."""
    if not worker.agree(int(ends and not folder.has_ending)):
        return
    played = play_out(worker, lambda: bool(stop))
    if played is None:
        return
    where = {"updates": worker.updates, "time": seconds, "slot_steps": worker.updates * worker.slot_steps}
    if played.lines:
        folder.log_ending(worker.agent_steps, [{**line, **where} for line in played.lines])
    if played.left and played.steps:
        progress.say(
            f"{played.left:,} episodes had not ended {played.steps:,} steps after the end of the run; the log is without them"
        )


def _changes(worker: Worker, numbers: Mapping[str, Any], known: Sequence[str], answer: object) -> bool:
    """Whether the worlds are made anew after an update: a stage is over, or on_update gave other options."""
    if isinstance(answer, Mapping):
        worker.curriculum.given = {**worker.curriculum.given, **answer}
    worker.curriculum.add(numbers, known, worker.share, worker.agent_steps)
    return worker.curriculum.is_due


def _first_verdict(worker: Worker, seconds: float, checkpoint: Checkpoint | None, stop: Stop) -> int:
    """What is to be done before the first update."""
    if stop:
        return STOP if checkpoint is not None else SAVE_AND_STOP
    if complete(worker, seconds):
        tell(
            f"nothing to do: the run had ended at {worker.agent_steps:,} agent-steps; go further with --steps, "
            f"or with a later train.max_* in its settings.toml where that ended it"
        )
        return STOP
    # From a checkpoint on the run that this one begins with is not needed any more.
    begins_with_another = checkpoint is None and worker.settings.train.start_from is not None
    kept = checkpoint is None and worker.settings.train.keeps(-1, worker.agent_steps)
    return SAVE if begins_with_another or kept else CONTINUE


def complete(worker: Worker, seconds: float) -> bool:
    """Whether a run has done what its settings ask for."""
    train = worker.settings.train
    done = (worker.agent_steps, worker.updates, worker.episodes, seconds)
    most = (worker.settings.steps, train.max_updates, train.max_episodes, train.max_seconds)
    return any(limit is not None and count >= limit for count, limit in zip(done, most, strict=True))


def stopped_at_once(settings: TrainSettings, numbers: Mapping[str, Any]) -> str:
    """What to change where an update ended within its first epoch, so that most of what was played taught nothing; "" elsewhere.

    Example:
        >>> from interplay.train.settings import WorldChoice
        >>> stopped_at_once(TrainSettings(world=WorldChoice(id="pong/2p")), {"epochs": 0.25})
        'only 0.25 epochs before the policy had moved by 1.5 ppo.target_kl = 0.01; lower ppo.learning_rate = 0.0003, or raise ppo.target_kl'
    """
    if numbers.get("epochs", 1.0) >= 1:  # what learns from replay has none
        return ""
    epochs = f"only {numbers['epochs']:.2g} epochs before"
    if settings.algorithm != "ppo":
        return f"{epochs} {settings.algorithm} had enough; lower its learning rate"
    ppo = settings.ppo
    return (
        f"{epochs} the policy had moved by {KL_SLACK} ppo.target_kl = {ppo.target_kl:g}; "
        f"lower ppo.learning_rate = {show(ppo.learning_rate)}, or raise ppo.target_kl"
    )


def _due(worker: Worker, seconds: float) -> bool:
    """Whether it is time for a checkpoint, so many seconds after the last one."""
    train = worker.settings.train
    return seconds >= train.checkpoint_seconds or (
        train.checkpoint_updates is not None and worker.updates % train.checkpoint_updates == 0
    )


def _progress(settings: TrainSettings, done: int) -> Progress:
    train = settings.train
    otherwise = train.max_updates or train.max_episodes or train.max_seconds
    stream = io.StringIO() if train.quiet else None
    total = None if otherwise else settings.steps
    return Progress(total, done, stream=stream, clock=_working_seconds, before="compiling", unmeasured=True)


def _tap(worker: Worker, folder: RunFolder[TrainSettings], progress: Progress) -> contextlib.closing[Tap]:
    """What records the run's first world, which is the first worker's."""
    shard = worker.shards[0]
    shard.collector.tap = Tap(folder.path, shard.world, worker.settings, progress.say)
    shard.collector.tap.move(shard.world, worker.curriculum.played[1])
    return contextlib.closing(shard.collector.tap)


def _working_seconds() -> float:
    """A clock that stands still while something is compiled, which happens once: the time left goes by it."""
    return time.monotonic() - compilation().seconds


def _follow(
    exchange: Exchange,
    settings_json: str,
    make: MakeWorld,
    run: Path,
    source: Path | None,
) -> None:
    """Another worker's loop: the same updates and saves, in the same order, told by the first."""
    settings = TrainSettings.model_validate_json(settings_json)
    OVERDUE.limit = settings.train.step_limit or math.inf
    learner = make_learner(settings, make, source is None, say=str, first=False)
    worker = make_worker(settings, make, learner, exchange)
    if source is not None:
        worker.load(read_checkpoint(source))
    with contextlib.closing(worker):
        verdict = worker.agree(CONTINUE)
        while True:
            if verdict in (SAVE, SAVE_AND_STOP):
                worker.agree(0)  # the staging folder is there
                worker.write_shards(staging_path(run, worker.agent_steps))
                worker.agree(0)  # every worker has written
            if verdict in (SAVE_AND_STOP, STOP):
                if worker.agree(0):
                    play_out(worker)
                return
            worker.update()
            verdict = _keep_step(worker, CONTINUE)


def _keep_step(worker: Worker, verdict: int, state: Mapping[str, Any] | None = None) -> int:
    """Tells all workers the verdict, and the curriculum's state where it changed; compares parameters now and then."""
    code = worker.agree(verdict + (CHANGE if state is not None else 0))
    verdict = code % CHANGE
    if code >= CHANGE:
        worker.begin_stage(state)
    if verdict != CONTINUE or worker.updates % DIGEST_EVERY == 0:
        worker.compare_digests()
    return verdict


def _save(
    worker: Worker,
    folder: RunFolder[TrainSettings],
    progress: Progress,
    best: Best,
    seconds: float,
    better: bool = False,
    ends: bool = False,
) -> None:
    """Writes a checkpoint: every worker its shards, the first the learner, the manifest last."""
    world = worker.shards[0].world
    with CheckpointWriter(folder.path, worker.agent_steps) as writer:
        worker.agree(0)
        reason = worker.write_shards(writer.staging)
        worker.agree(0)
        for stem, arrays in worker.learner.save().items():
            writer.write(stem, arrays)
        record = {
            "updates": worker.updates,
            "episodes": worker.episodes,
            "slot_steps": worker.updates * worker.slot_steps,
            "seconds": seconds,
            "spaces": describe_spaces(network.kind for network in worker.learner.networks.values()),
            **describe_world(world),
            old_boxes.KEY: old_boxes.UNIT,
            "compute": {**xla.describe(), "device": describe(worker.settings.train.device)},
            **worker.learner.describe(),
            **worker.describe(),
            **best.describe(),
        }
        sign_options(folder.settings, record, folder.path)
        path = writer.commit(record, world_id=world.id, world_version=world.version, settings=folder.settings)
        best.keep(path, better, ends)
    folder.sync()
    prune_checkpoints(folder.path, worker.settings.train.keep_checkpoints, worker.settings.train.keeps)
    if reason is not None:
        progress.say_once(f"{reason}; a resumed run will begin new episodes")


def make_learner(
    settings: TrainSettings,
    make: MakeWorld,
    begins: bool,
    say: Callable[[str], object] = tell,
    first: bool = True,
) -> Learner:
    """The networks for a world's kinds of agents; where a run begins, with the weights of ``train.start_from``.

    Args:
        settings: of the run.
        make: makes its world.
        begins: whether the run has no checkpoint of its own yet.
        say: told one line for each kind that `train.start_from` does not have.
        first: whether this is the first worker, who sees that memory will do for all.
    """
    open_device(settings.train.device)  # before anything is computed
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
        WAITING.train_on(settings.world.id, settings.algorithm, settings.network.kind)
        learner = (
            TeamLearner(world, settings, populations)
            if settings.factored is not None
            else Learner(world.kinds, settings, populations, find_view(settings, world, populations))
        )
        if settings.alternate.metric is not None:
            members = Membership(settings, world, populations, learner.learns, learner.kinds_that_learn)
            metrics = EpisodeStatistics(world, sides=members.logged).logged
            check_turns(settings.alternate, populations, metrics)
        if first and begins:
            for line in never_happens(settings, world, learner):
                warnings.warn(line, stacklevel=2)
    finally:
        world.close()
    if begins and settings.train.start_from is not None:
        checkpoint = read_checkpoint(find_checkpoint(settings.train.start_from))
        refuse_old_boxes(checkpoint.path, checkpoint.record)
        names = learner.populations.own
        learner.begin_with(warm_vectors(checkpoint, learner.networks, names, settings.network, say))
    return learner


def make_worker(settings: TrainSettings, make: MakeWorld, learner: Learner, exchange: Exchange) -> Worker:
    """One worker of a run, who learns as the learner does: from rollouts, or from replay."""
    if isinstance(learner, TeamLearner):
        return TeamWorker(settings, make, learner, exchange)
    return Worker(settings, make, learner, exchange)


def _registry_factory(settings: TrainSettings) -> MakeWorld:
    from interplay.registry import make_world

    return functools.partial(make_world, settings.world.id, **settings.world.options)


def _changed(
    settings: TrainSettings, workers: int | None, steps: int | None, owner: str, device: str | None = None
) -> TrainSettings:
    values: dict[str, Any] = settings.model_dump()
    if device is not None:
        values["train"] |= {"device": device} | ({} if device == "cpu" else {"workers": 1})
    if workers is not None:
        values["train"]["workers"] = workers
    if steps is not None:
        values["steps"] = steps
    return build(TrainSettings, values, owner)
