"""Runs a run's workers to its end; replaces lost workers, but not for ever, and words errors of GPU and memory."""

from __future__ import annotations

import contextlib

from interplay.core.errors import UserError
from interplay.core.files import short_path
from interplay.core.helping import processors
from interplay.core.overdue import OVERDUE
from interplay.core.stopping import Stop
from interplay.train.actors import make_worker
from interplay.train.devices import gpu_errors_as_user_errors
from interplay.train.learner import Learner
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import LostWorker
from interplay.train.parallel.machines import Network
from interplay.train.parallel.workers import worker_pool
from interplay.train.run.checkpoint import Checkpoint, latest_checkpoint, read_checkpoint
from interplay.train.run.folder import RunFolder
from interplay.train.run.progress import tell
from interplay.train.run.records import check_record
from interplay.train.run.room import memory_errors_as_user_errors
from interplay.train.selfplay.evaluation import Evaluation
from interplay.train.shard import MakeWorld
from interplay.train.update_loop import OnUpdate, follow, lead


def newest(folder: RunFolder) -> Checkpoint | None:
    """The newest sound checkpoint of a run, or None."""
    path = latest_checkpoint(folder.path)
    if path is None:
        return None
    checkpoint = read_checkpoint(path)
    check_record(checkpoint)
    return checkpoint


def supervise(
    folder: RunFolder,
    make: MakeWorld,
    learner: Learner,
    checkpoint: Checkpoint | None,
    stop: Stop,
    on_update: OnUpdate | None = None,
    network: Network | None = None,
) -> None:
    """Trains, and continues from the last checkpoint whenever a worker of a single machine is lost."""
    faults = Faults()
    _tell_of_cores(folder.settings.train.workers)
    folder.begin_copies()
    while True:
        try:
            device = folder.settings.train.device
            algorithm = folder.settings.algorithm
            with memory_errors_as_user_errors(), gpu_errors_as_user_errors(device, folder.path, algorithm):
                _train(folder, make, learner, checkpoint, stop, faults, on_update, network)
            return
        except LostWorker as error:
            if network is not None:
                cure = _cure(folder, latest_checkpoint(folder.path))
                raise LostWorker(f"{error}; {cure} on all machines") from None
            lost = error
        checkpoint = newest(folder)
        folder.rewind(checkpoint.agent_steps if checkpoint else 0)
        where = f"the checkpoint at {checkpoint.agent_steps:,} agent-steps" if checkpoint else "the beginning"
        if stop:
            tell(f"{lost}; stopped at {where}; go on with `interplay resume {short_path(folder.path)}`")
            return
        faults.count(lost, _cure(folder, checkpoint))
        tell(f"{lost}; going on from {where}")
        if checkpoint is None:
            learner = make_learner(folder.settings, make, begins=True, say=str)


def _tell_of_cores(workers: int) -> None:
    if workers > (cores := processors()):
        fit = 1 << (cores.bit_length() - 1)
        tell(
            f"train.workers = {workers} share {cores} core{'s' * (cores > 1)} and wait for each other; --workers {fit} has the same result"
        )


def _train(
    folder: RunFolder,
    make: MakeWorld,
    learner: Learner,
    checkpoint: Checkpoint | None,
    stop: Stop,
    faults: Faults,
    on_update: OnUpdate | None,
    network: Network | None,
) -> None:
    """Trains with one set of workers, until the end or until one of them is lost."""
    settings = folder.settings
    source = checkpoint.path if checkpoint else None
    job = (settings.model_dump_json(), make, folder.path, source)
    if network is not None:
        paths = (folder.path, source)
        network.share([settings.model_dump_json(), *(path and str(path.absolute()) for path in paths)])
    limited = OVERDUE.limited(settings.train.step_limit)
    with limited, worker_pool(settings.train.workers, learner.size, follow, job, network) as exchange:
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
                lead(worker, evaluation, folder, checkpoint, stop, faults, on_update)


def _cure(folder: RunFolder, saved: object) -> str:
    return f"go on with `interplay resume {short_path(folder.path)}`" if saved else "start the run again"


MOST = 3  # faults without an update between them
MOST_THERE = 8  # faults after the same update, reached again each time


class Faults:
    """Counts lost workers, in a row and after the same update.

    A fault that recurs after the same update is probably deterministic; a slow machine may hit one a few times by chance.

    Args:
        step: of progress, for the messages.
        at: words a number of steps.

    Attributes:
        updates: done so far in this attempt, set by the caller; or other steps of progress.
        in_a_row: faults without an update between them.

    Example:
        >>> faults = Faults()
        >>> faults.begin(4)
        >>> faults.updates = 7
        >>> faults.count(LostWorker("worker 1 was frozen"), "go on"), faults.in_a_row
        (None, 1)
    """

    def __init__(self, step: str = "an update", at: str = "update {}") -> None:
        self._step, self._at = step, at
        self.updates = self.in_a_row = 0
        self._begun = self._there = 0
        self._last: int | None = None

    def begin(self, updates: int) -> None:
        """Begins an attempt at this number of updates."""
        self._begun = self.updates = updates

    def count(self, lost: LostWorker, cure: str) -> None:
        """Counts one fault.

        Args:
            cure: how to go on after the final one, for the message.
        """
        self.in_a_row = self.in_a_row + 1 if self.updates == self._begun else 1
        self._there = self._there + 1 if self.updates == self._last else 1
        self._last = self.updates
        if self.in_a_row >= MOST:
            raise UserError(
                f"{lost}, the third time without {self._step} in between; find out why (memory?), then {cure}"
            )
        if self._there >= MOST_THERE:
            raise UserError(
                f"{lost}, {MOST_THERE} times after {self._at.format(self.updates)}; find out why (memory?), then {cure}"
            )
