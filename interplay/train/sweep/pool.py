"""The process pool of a sweep; processes stay for the next run, so that nothing is compiled twice."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.core.processes import HERE, LOST, Place, TaskProcess, kill_all, receive
from interplay.train.sweep.work import Job, Outcome, work


class Pool:
    """A pool of processes, started on demand.

    Args:
        most: number of processes.
        place: starts them.
    """

    def __init__(self, most: int, place: Place = HERE) -> None:
        self._most, self._place = most, place
        self._all: list[TaskProcess] = []

    @property
    def busy(self) -> list[str]:
        """Names of the runs in training."""
        return [name for one in self._all for name in one.tasks]

    @property
    def free(self) -> bool:
        """Whether another run can begin."""
        return len(self.busy) < self._most

    def submit(self, name: str, job: Job) -> None:
        """Begins a run in an idle process, or in a new one."""
        one = next((one for one in self._all if not one.tasks), None)
        if one is None:
            one = TaskProcess(work, place=self._place)
            self._all.append(one)
        one.send(name, job)

    def outcomes(self, seconds: float) -> Iterator[tuple[str, Outcome | int | None]]:
        """Waits up to `seconds`; yields names of runs with their outcome, or the exit code of a lost process."""
        for one, outcome in receive(self._all, seconds):
            if outcome is LOST:
                self._all.remove(one)
                outcome = one.exit_code()
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
