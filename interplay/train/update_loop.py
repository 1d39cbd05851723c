"""The loop of updates: `lead` of the first worker, which logs, decides and saves, and `follow` of the others."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.files import short_path
from interplay.core.masks import masked_heads
from interplay.core.overdue import OVERDUE
from interplay.core.settings_text import show
from interplay.core.stopping import Stop
from interplay.core.world import World
from interplay.evaluate.tournaments.matches import default_score
from interplay.train.algorithms.ppo import KL_SLACK
from interplay.train.curriculum import trust_options
from interplay.train.devices import DeviceHints, describe
from interplay.train.diagnosis.judge import LiveDiagnosis
from interplay.train.making import make_learner
from interplay.train.parallel import xla
from interplay.train.parallel.compilation import compilation
from interplay.train.parallel.exchange import Exchange
from interplay.train.play.stored_world import describe_world
from interplay.train.run.best import Best
from interplay.train.run.checkpoint import (
    Checkpoint,
    CheckpointWriter,
    prune_checkpoints,
    read_checkpoint,
    staging_path,
)
from interplay.train.run.ending import play_out
from interplay.train.run.folder import RunFolder
from interplay.train.run.progress import Progress, tell
from interplay.train.run.recording import WindowRecorder
from interplay.train.run.warm_start import describe_spaces
from interplay.train.selfplay.evaluation import Evaluation
from interplay.train.settings import TrainSettings
from interplay.train.settings.short_runs import in_updates, in_updates_so_far
from interplay.train.shard import MakeWorld
from interplay.train.update import PATIENCE, Worker

if TYPE_CHECKING:
    from interplay.train.supervision import Faults

CONTINUE, SAVE, SAVE_AND_STOP, STOP = 0, 1, 2, 3
CHANGE = 4  # added to these: the worlds are made anew with other options
REQUESTED = 8  # added to these: another machine got a signal to stop
FORECAST_AGAIN = 5  # updates before the number of updates is forecast again, since crowds grow at first
DIGEST_EVERY = 50  # updates between comparisons of the workers' parameters
OnUpdate = Callable[
    [Path, Mapping[str, Any]], object
]  # run folder, numbers of an update -> true: stop; a mapping: options
SHOWN = ("life", "episode_length", "won", "episode_return", "kl", "epochs", "td_error", "epsilon")


def lead(
    worker: Worker,
    evaluation: Evaluation,
    folder: RunFolder,
    checkpoint: Checkpoint | None,
    stop: Stop,
    faults: Faults,
    on_update: OnUpdate | None = None,
) -> None:
    """The first worker's loop: updates, logs, decides and saves."""
    settings = worker.settings
    before = float(checkpoint.record["seconds"]) if checkpoint else 0.0
    began = saved = time.monotonic()
    first_steps, first_update = worker.agent_steps, worker.updates
    names = {} if first_update else _names(worker.shards[0].world) | {"of_lives": worker.of_lives}
    warned = False
    shown: dict[str, float] = {}  # the newest of each: not every update completes a window of episodes
    best = Best(settings.train.best_by, settings.train.best_measurements, checkpoint)
    if checkpoint is not None:
        best.keep(checkpoint.path)
    diagnosis, hints = LiveDiagnosis(settings, folder.path), DeviceHints(settings)
    enough = requested = False
    ratings = evaluation.metric_names(worker.shards[0].world)
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
            numbers = worker.update()
            faults.updates = worker.updates
            rated = evaluation.evaluate(worker.agent_steps)
            now = time.monotonic()
            numbers |= {"updates": worker.updates, "time": before + now - began, **rated}
            numbers |= worker.curriculum.logged()
            known = [*worker.metric_names, *ratings]
            if worker.shards[0].world.later_metrics and not numbers["episodes"]:
                known += [str(best.metric), worker.curriculum.metric]  # they may come with the first episodes
            best.add(numbers, known, worker.of_lives)
            for line in _without_a_mean(worker):
                progress.say_once(line)
            shown |= {name: numbers[name] for name in SHOWN if name in numbers}
            progress.update(worker.agent_steps, {name: shown[name] for name in SHOWN if name in shown})
            numbers["agent_steps_per_s"] = progress.rate or math.nan  # the first update has none
            if rated or worker.updates % settings.train.log_every == 0:
                folder.log(worker.agent_steps, numbers | names)
                names = {}
                for line in diagnosis.add(worker.agent_steps, numbers):
                    progress.say(f"update {worker.updates}: {line}")
            if line := worker.later_in_words():
                progress.say_once(line)
            if not warned and (warning := stopped_at_once(settings, numbers)):
                progress.say(f"update {worker.updates}: {warning}")
                warned = True
            if line := hints.add(now - began, worker.updates - first_update):
                progress.say(line)
            if worker.updates == first_update + FORECAST_AGAIN and progress.total is not None:
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
            if stop or enough or requested:
                verdict = SAVE_AND_STOP
            elif ends:
                verdict = SAVE_AND_STOP if settings.train.checkpoint_at_end or better or kept else STOP
            else:
                verdict = SAVE if better or kept or _due(worker, now - saved) else CONTINUE
            _, requested = _keep_step(worker, verdict, worker.curriculum.describe() if changes else None)
            if changes:
                best.begin_stage()
                progress.say(worker.curriculum.in_words())
                worker.shards[0].collector.tap = tap
                tap.move(worker.shards[0].world, worker.curriculum.played[1])
                evaluation.play_with(worker.curriculum.played[1])
            if verdict in (SAVE, SAVE_AND_STOP):
                save(before + now - began, better, ends)
                saved = time.monotonic()
        worker.halt()
        seconds = before + time.monotonic() - began
        ending = _end(worker, folder, seconds, not (stop or enough or requested), stop, progress)
        late = [line for numbers in ending for line in diagnosis.add(worker.agent_steps, numbers)]
        for line in [*late, *diagnosis.close()]:
            progress.say(f"update {worker.updates}: {line}")
    if stop or enough or requested:
        by = "" if stop else " by on_update" if enough else " by another machine"
        tell(
            f"stopped{by} at {worker.agent_steps:,} agent-steps; go on with `interplay resume {short_path(folder.path)}`"
        )


def _end(
    worker: Worker,
    folder: RunFolder,
    seconds: float,
    ends: bool,
    stop: Stop,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Plays the running episodes of a complete run to their ends, as other workers do in `follow`; returns the logged lines."""
    if not worker.agree(int(ends and not folder.has_ending)):
        return []
    played = play_out(worker, lambda: bool(stop))
    if played is None:
        return []
    where = {"updates": worker.updates, "time": seconds, "slot_steps": worker.updates * worker.slot_steps}
    lines = [{**line, **where} for line in played.lines]
    if lines:
        folder.log_ending(worker.agent_steps, lines)
    if played.left and played.steps:
        progress.say(
            f"{played.left:,} of {played.begun:,} episode{'s' * (played.begun > 1)} had not ended {played.steps:,} steps after the end of the run; "
            f"without these, the longest, the log's last numbers are too low or high: `interplay evaluate {short_path(folder.path)}`"
        )
    return lines


def _names(world: World) -> dict[str, list[str]]:
    """For the first line of the log: names of agents and teams, which order its lists, and of the metrics of whole teams."""
    teams = world.team_names or tuple(f"team{number}" for number in range(len(world.teams or ())))
    per_team = world.per_team if teams else ()
    return {"agent_names": list(world.agents), "team_names": list(teams), "per_team": list(per_team)}


def _without_a_mean(worker: Worker) -> list[str]:
    """Warnings of settings that wait for a metric which is logged by side only."""
    settings = worker.settings
    waiting = (
        ("train.best_by", settings.train.best_by, "chooses no checkpoint"),
        ("alternate.metric", settings.alternate.metric, "changes no turn"),
        ("curriculum.stages: until", worker.curriculum.metric, "ends no stage"),
    )
    return [
        f"{key} = {metric} sums to zero over the sides of an episode and {effect}; give one side's, for example {sides[0]}"
        for key, metric, effect in waiting
        if (sides := worker.only_by_side(metric))
    ]


def _changes(worker: Worker, numbers: Mapping[str, Any], known: Sequence[str], answer: object) -> bool:
    """Whether the worlds are made anew: a stage is over, or `on_update` returned other options."""
    if isinstance(answer, Mapping):
        worker.curriculum.given = {**worker.curriculum.given, **answer}
    worker.curriculum.add(numbers, known, worker.share, worker.agent_steps)
    return worker.curriculum.is_due


def _first_verdict(worker: Worker, seconds: float, checkpoint: Checkpoint | None, stop: Stop) -> int:
    """The verdict before the first update."""
    if stop:
        return STOP if checkpoint is not None else SAVE_AND_STOP
    if complete(worker, seconds):
        tell(
            f"nothing to do: the run had ended at {worker.agent_steps:,} agent-steps; go further with --steps, "
            f"or with a later train.max_* in its settings.toml where that ended it"
        )
        return STOP
    # After its own first checkpoint the run does not need that of `train.start_from` any more.
    begins_with_another = checkpoint is None and worker.settings.train.start_from is not None
    kept = checkpoint is None and worker.settings.train.keeps(-1, worker.agent_steps)
    return SAVE if begins_with_another or kept else CONTINUE


def complete(worker: Worker, seconds: float) -> bool:
    """Whether a run has reached one of its limits."""
    train = worker.settings.train
    done = (worker.agent_steps, worker.updates, worker.episodes, seconds)
    most = (worker.settings.steps, train.max_updates, train.max_episodes, train.max_seconds)
    return any(limit is not None and count >= limit for count, limit in zip(done, most, strict=True))


def stopped_at_once(settings: TrainSettings, numbers: Mapping[str, Any]) -> str:
    """The advice for an update that stopped early in its first epoch, which leaves samples unused; else "".

    Example:
        >>> from interplay.train.settings import WorldChoice
        >>> stopped_at_once(TrainSettings(world=WorldChoice(id="pong/2p")), {"epochs": 0.25})
        'only 0.25 epochs before the policy had moved by 1.5 ppo.target_kl = 0.01; lower ppo.learning_rate = 0.0003, or raise ppo.target_kl'
    """
    if not numbers.get("epochs", 1.0) < 1:  # absent with replay, NaN without samples
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
    """Whether a checkpoint is due, `seconds` after the last one."""
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


@contextlib.contextmanager
def _tap(worker: Worker, folder: RunFolder, progress: Progress) -> Iterator[WindowRecorder]:
    """The recorder of the run's first world, which is the first worker's."""
    shard = worker.shards[0]
    shard.collector.tap = WindowRecorder(folder.path, shard.world, worker.settings, progress.say)
    shard.collector.tap.move(shard.world, worker.curriculum.played[1])
    with contextlib.closing(shard.collector.tap) as tap:
        try:
            yield tap
        finally:
            worker.halt(PATIENCE)


def _working_seconds() -> float:
    """A clock without the time of compilation, for the estimate of the time left."""
    return time.monotonic() - compilation().seconds


def follow(
    exchange: Exchange,
    settings_json: str,
    make: MakeWorld,
    run: Path,
    source: Path | None,
    stop: Stop | None = None,
) -> None:
    """The loop of every other worker: the same updates and saves, as the first one decides.

    Args:
        stop: of another machine's first worker, which requests a save and a stop.
    """
    settings = TrainSettings.model_validate_json(settings_json)
    OVERDUE.limit = settings.train.step_limit or math.inf
    learner = make_learner(settings, make, source is None, say=str, first=False)
    worker = Worker(settings, make, learner, exchange)
    if source is not None:
        worker.load(read_checkpoint(source))
    with contextlib.closing(worker):
        verdict = worker.agree(CONTINUE)
        while True:
            if verdict in (SAVE, SAVE_AND_STOP):
                worker.agree(0)  # the staging folder exists
                worker.write_shards(staging_path(run, worker.agent_steps))
                worker.agree(0)  # every worker has written
            if verdict in (SAVE_AND_STOP, STOP):
                if worker.agree(0):
                    play_out(worker)
                return
            worker.update()
            verdict, _ = _keep_step(worker, CONTINUE, requested=bool(stop))


def _keep_step(
    worker: Worker, verdict: int, state: Mapping[str, Any] | None = None, requested: bool = False
) -> tuple[int, bool]:
    """Sends the verdict and a changed curriculum to all workers; compares parameters every `DIGEST_EVERY` updates.

    Returns:
        The verdict, and whether another machine requests a stop.
    """
    code = worker.agree(verdict + (CHANGE if state is not None else 0), REQUESTED * requested)
    verdict = code % CHANGE
    if code % REQUESTED >= CHANGE:
        worker.begin_stage(state)
    if verdict != CONTINUE or worker.updates % DIGEST_EVERY == 0:
        worker.compare_digests()
    return verdict, code >= REQUESTED


def _save(
    worker: Worker,
    folder: RunFolder,
    progress: Progress,
    best: Best,
    seconds: float,
    better: bool = False,
    ends: bool = False,
) -> None:
    """Writes a checkpoint: all workers their shards, the first the learner, then the manifest."""
    folder.refuse_removed()
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
            "compute": {**xla.describe(), "device": describe(worker.settings.train)},
            **worker.learner.describe(),
            **worker.describe(),
            **best.describe(),
        }
        if worker.settings.league.learners:
            record["league_score"] = worker.settings.league.score or default_score(world)
        trust_options(folder.settings, record, folder.path)
        path = writer.commit(record, world_id=world.id, world_version=world.version, settings=folder.settings)
        best.keep(path, better, ends)
    folder.sync()
    prune_checkpoints(folder.path, worker.settings.train.keep_checkpoints, worker.settings.train.keeps)
    if reason is not None:
        progress.say_once(f"{reason}; a resumed run will begin new episodes")
