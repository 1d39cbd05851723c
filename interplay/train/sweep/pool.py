"""The process pool of a sweep; processes stay for the next run, so that nothing is compiled twice."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.core.errors import UserError
from interplay.core.processes import HERE, LOST, Place, Starts, TaskProcess, kill_all, receive
from interplay.core.versions import versions
from interplay.train.sweep.work import Job, Outcome, work

EARLY = 9  # processes lost in a row before they begin, after which no more are started until a run ends


class Pool:
    """A pool of processes, started on demand.

    Args:
        most: number of processes.
        mark: a file in the sweep's folder.
        place: starts them.
    """

    def __init__(self, most: int, mark: str, place: Place = HERE) -> None:
        self._most, self._mark, self._place = most, mark, place
        self._all: list[TaskProcess] = []
        self._starts, self._early = Starts(), 0
        self._versions = {} if place is HERE else versions()

    @property
    def busy(self) -> list[str]:
        """Names of the runs in training."""
        return [name for one in self._all for name in one.tasks]

    @property
    def free(self) -> list[TaskProcess]:
        """Idle processes that have begun."""
        return [one for one in self._all if one.silence is not None and not one.tasks]

    def start(self, runs: int) -> None:
        """Starts processes for so many more runs.

        Raises:
            UserError: if none begins.
        """
        while self._early < EARLY and len(self._all) < min(self._most, len(self.busy) + runs):
            self._all.append(TaskProcess(work, self._versions, self._mark, place=self._place))
        self._starts.check(self._all)

    def submit(self, name: str, job: Job) -> None:
        """Begins a run in one of the `free` processes."""
        self.free[0].send(name, job)

    def outcomes(self, seconds: float) -> Iterator[tuple[str, Outcome | int | None]]:
        """Waits up to `seconds`; yields names of runs with their outcome, or the exit code of a lost process.

        Raises:
            UserError: of a machine with other versions or without the folder, or if processes are lost before they begin.
        """
        for one, outcome in receive(self._all, seconds):
            if isinstance(outcome, str):
                raise UserError(outcome)
            early = outcome is LOST and one.silence is None
            self._early = self._early + 1 if early else 0
            if outcome is LOST:
                self._all.remove(one)
                outcome = one.exit_code()
            if self._early >= EARLY and not self._all:
                raise UserError(
                    f"{self._early} processes were lost before they began, the last with exit code {outcome}; see the lines above"
                )
            if one.tasks:
                yield one.tasks.popleft(), outcome

    def request_stop(self) -> None:
        """Makes every process finish its update, save and stop."""
        for one in self._all:
            if one.tasks:
                one.terminate()

    def close(self) -> None:
        """Kills all processes."""
        kill_all(self._all)
        self._all = []
