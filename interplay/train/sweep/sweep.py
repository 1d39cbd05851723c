"""`sweep` and `resume_sweep`: train every run of a plan exactly once, whatever is killed meanwhile.

A sweep's folder has a run folder per run, ``sweep.toml`` (its settings), ``sweep.jsonl`` (finished runs) and ``logs/`` (output of
each run). Only the coordinator writes ``sweep.jsonl``. An unfinished run resumes from its last checkpoint, to the same bits as
without a stop.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from interplay.core.errors import UserError
from interplay.core.files import FileLock, os_errors_as_user_errors, refuse_links, short_path
from interplay.core.processes import HERE, Place
from interplay.core.reading import METRICS_FILE
from interplay.core.seals import sealed_toml
from interplay.core.settings import changed
from interplay.core.shared_folder import marked
from interplay.core.stopping import Stop, finishing
from interplay.core.trust import read_settings, write_settings
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.train.run.checkpoint import list_checkpoints
from interplay.train.run.metrics_log import last_step
from interplay.train.run.pins import named, pin_players, renamed
from interplay.train.run.progress import Progress, duration, tell
from interplay.train.run.settings_file import NAME
from interplay.train.settings import TrainSettings
from interplay.train.sweep.plan import PlannedRun, SweepSettings, duplicates_note, plan
from interplay.train.sweep.pool import Pool
from interplay.train.sweep.work import DONE, FAILED, Job, Outcome

SETTINGS, RESULTS, LOGS = "sweep.toml", "sweep.jsonl", "logs"
_PLAYER = "player"  # key of a run that the settings name, in the log
LOSSES = 3  # lost processes after which a run fails
_POLL = 0.5  # seconds between updates of the progress


class SweepResult(NamedTuple):
    """Result of a sweep.

    Attributes:
        folder: of the sweep.
        runs: folders of all runs, in the order of the plan.
        done: names of complete runs.
        failed: name -> error, of runs that failed this time; resuming the sweep retries them.
        stopped: it was stopped before all runs were done.
    """

    folder: Path
    runs: tuple[Path, ...]
    done: tuple[str, ...]
    failed: dict[str, str]
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether every run is done."""
        return len(self.done) == len(self.runs)


def sweep(
    settings: SweepSettings,
    out: Path | str,
    workers: int | None = None,
    stream: TextIO | None = None,
    place: Place = HERE,
) -> SweepResult:
    """Trains every unfinished run of a sweep; the same call resumes a stopped one.

    Call it under ``if __name__ == "__main__":`` in a script, since its processes import the script.

    Args:
        settings: of the sweep. Points and seeds that the folder lacks are added to it.
        out: the sweep's folder.
        workers: runs at a time; None: one per core of the place.
        stream: of progress; standard error if None.
        place: starts the processes.

    Raises:
        UserError: for wrong settings, a folder in use, or one whose runs were made with other settings.
    """
    out, runs = Path(out).absolute(), plan(settings)
    if note := duplicates_note(settings):
        tell(note, stream)
    for name in (NAME, METRICS_FILE):
        if (out / name).exists():
            raise UserError(f"{out} is the folder of a run, it holds {name}; choose another --out")
    with os_errors_as_user_errors("creating the sweep's folder", out):
        out.mkdir(parents=True, exist_ok=True)
    refuse_links(out, (".lock", SETTINGS, RESULTS), (LOGS, *(run.name for run in runs)))
    with finishing() as stop, FileLock(out / ".lock"), ResultsLog(out / RESULTS) as log:
        _check_same(runs, log, out)
        gone = [run.name for run in runs if _done(run.name) in log.results and not (out / run.name).is_dir()]
        if gone:
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            tell(f"{out / gone[0]}{more}: done, but its folder is missing; trained again", stream)
            log.drop([key(name) for name in gone for key in (_begun, _done)])
        write_settings(out / SETTINGS, settings, sealed_toml(settings))
        with os_errors_as_user_errors("creating the logs' folder", out):
            (out / LOGS).mkdir(exist_ok=True)
        waiting = {run.name: _pinned(run, log, out) for run in runs if _done(run.name) not in log.results}
        coordinator = _Coordinator(runs, waiting, out, log, stop, stream)
        with (
            marked(out) as mark,
            contextlib.closing(Pool(workers or place.cores(), mark, place)) as pool,
            coordinator.progress,
        ):
            coordinator.run(pool)
    done = tuple(run.name for run in runs if _done(run.name) in log.results)
    stopped = bool(stop) and len(done) < len(runs)
    if stopped:
        tell(f"stopped: {len(done):,} of {len(runs):,} runs are done in {short_path(out)}; "
             f"go on with `interplay sweep --resume --out {short_path(out)}`", stream)  # fmt: skip
    return SweepResult(out, tuple(out / run.name for run in runs), done, coordinator.failed, stopped)


def resume_sweep(
    out: Path | str,
    workers: int | None = None,
    trust: bool = False,
    stream: TextIO | None = None,
    place: Place = HERE,
) -> SweepResult:
    """Resumes a sweep with the settings in its folder.

    Args:
        out: the sweep's folder.
        workers, stream, place: as for `sweep`.
        trust: its settings may name user-defined programs; needed once, for a sweep from elsewhere.

    Raises:
        UserError: as `sweep`, and if the folder holds no sweep or names untrusted programs.
    """
    file = Path(out) / SETTINGS
    if not file.is_file():
        raise UserError(f"{out} holds no sweep: {SETTINGS} is missing; name the folder that --out named")
    return sweep(read_settings(file, SweepSettings, trust), out, workers, stream, place)


class _Position(NamedTuple):
    """The state of a run's folder.

    Attributes:
        agent_steps: of its newest checkpoint.
        log: modification time (ns) and size of its log, which may be ahead of the checkpoint until the run resumes.
    """

    agent_steps: int
    log: tuple[int, int]


class _Coordinator:
    """Distributes runs to the pool and keeps their outcomes."""

    def __init__(
        self,
        runs: list[PlannedRun],
        waiting: Mapping[str, TrainSettings],
        out: Path,
        log: ResultsLog,
        stop: Stop,
        stream: TextIO | None,
    ) -> None:
        self.failed: dict[str, str] = {}
        self._out, self._log, self._stop, self._settings = out, log, stop, waiting
        self._runs = {run.name: run for run in runs}
        self._waiting = deque(run for run in runs if run.name in waiting)
        self._positions = {run.name: _position_of(out / run.name) for run in self._waiting}
        self._losses: dict[str, int] = {}
        total = None if any(map(_has_limits, runs)) else sum(run.settings.steps for run in runs)
        self.progress = Progress(total, self._agent_steps(()), stream=stream, unmeasured=True)

    def run(self, pool: Pool) -> None:
        """Trains the waiting runs until all are done, or until a stop is requested and all have saved."""
        asked = False
        if self._waiting and not self._stop:
            self.progress.say(
                f"runs begin; each process compiles its programs before its first update: see {self._out / LOGS}"
            )
        while pool.busy or (self._waiting and not self._stop):
            if self._waiting and not self._stop:
                pool.start(len(self._waiting))
            while self._waiting and pool.free and not self._stop:
                self._begin(pool, self._waiting.popleft())
            if self._stop and not asked:
                pool.request_stop()
                asked = True
            for name, outcome in pool.outcomes(_POLL):
                self._settle(name, outcome)
            self._show(pool.busy)

    def _begin(self, pool: Pool, run: PlannedRun) -> None:
        self._log.append({_begun(run.name): {"settings": run.digest}})
        log = self._out / LOGS / f"{run.name}.log"
        pool.submit(run.name, Job(self._out / run.name, log, self._settings[run.name].model_dump_json()))

    def _settle(self, name: str, outcome: Outcome | int | None) -> None:
        """Records the outcome of a run; after a lost process it waits again, up to `LOSSES` times."""
        self._positions[name] = _position_of(self._out / name)
        if isinstance(outcome, Outcome):
            if outcome.status == DONE:
                steps = steps_of(self._out / name)
                self._log.append({_done(name): {"agent_steps": steps, "seconds": round(outcome.seconds, 3)}})
                self.progress.say(f"{name}: {steps:,} agent-steps in {duration(outcome.seconds)}")
            elif outcome.status == FAILED:
                self._fail(name, outcome.error)
            return
        if self._stop:
            return
        self._losses[name] = self._losses.get(name, 0) + 1
        if self._losses[name] < LOSSES:
            self.progress.say(
                f"{name}: its process was lost (exit code {outcome}); it goes on from its checkpoint"
            )
            self._waiting.appendleft(self._runs[name])
            return
        log = self._out / LOGS / f"{name}.log"
        self._fail(name, f"its process was lost {LOSSES} times, at last with exit code {outcome}; see {log}")

    def _fail(self, name: str, error: str) -> None:
        self.failed[name] = error
        self.progress.say(f"{name} failed: {error}")

    def _show(self, busy: list[str]) -> None:
        done = sum(_done(name) in self._log.results for name in self._runs)
        counts = {"runs": len(self._runs), "done": done, "running": len(busy)}
        if quiet := sum(self._reached(name) == self._positions[name].agent_steps for name in busy):
            counts["before their first update"] = quiet
        if self.failed:
            counts["failed"] = len(self.failed)
        self.progress.update(self._agent_steps(busy), counts)

    def _agent_steps(self, busy: Any) -> int:
        """Agent-steps of all runs so far."""
        total = 0
        for name, run in self._runs.items():
            if _done(name) in self._log.results:
                total += run.settings.steps
            else:
                reached = self._reached(name) if name in busy else self._positions[name].agent_steps
                total += min(reached, run.settings.steps)
        return total

    def _reached(self, name: str) -> int:
        """Agent-steps of a run in training: those of its checkpoint until its log changes."""
        path, position = self._out / name, self._positions[name]
        return position.agent_steps if _log_of(path) == position.log else steps_of(path)


def steps_of(run: Path) -> int:
    """Agent-steps that a run has logged so far; 0 where its log cannot be read."""
    try:
        return last_step(run / METRICS_FILE)
    except (OSError, UserError):
        return 0


def _position_of(run: Path) -> _Position:
    try:
        newest = next(reversed(list_checkpoints(run)), None)
    except UserError:  # the run itself reports it
        newest = None
    return _Position(int(newest.name) if newest else 0, _log_of(run))


def _log_of(run: Path) -> tuple[int, int]:
    try:
        found = (run / METRICS_FILE).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _check_same(runs: list[PlannedRun], log: ResultsLog, out: Path) -> None:
    """Refuses a plan with other settings for a run that was begun, or without a run in the folder."""
    for run in runs:
        begun = log.results.get(_begun(run.name))
        if begun is not None and begun.get("settings") != run.digest:
            raise UserError(
                f"{out}: run {run.name} was begun with other settings than now; choose another --out, "
                f"or go on as it was with `interplay sweep --resume --out {out}`"
            )

    planned = {run.name for run in runs}
    for key in log.results:
        kind, _, name = key.partition(" ")
        if kind != _PLAYER and name not in planned and (out / name / NAME).exists():
            raise UserError(
                f"{out}: run {name} is in the folder, but not among the {len(runs):,} of this command; add it "
                "(seeds, draws, values), or choose another --out"
            )


def _pinned(run: PlannedRun, log: ResultsLog, out: Path) -> TrainSettings:
    """The settings of a run with the checkpoints that the sweep began with, in the places of the runs that they name.

    Raises:
        UserError: if others lie there now.
    """
    typed = [name for _, name in named(run.settings, begins=True)]
    kept = {name: log.results[key] for name in typed if (key := f"{_PLAYER} {name}") in log.results}
    own = {str(player["checkpoint"]): str(player["checksum"]) for player in kept.values()}
    settings = renamed(run.settings, lambda name: str(kept.get(name, {"checkpoint": name})["checkpoint"]))
    settings = changed(settings, {"pins": {"players": own}}, str(out))
    settings = pin_players(settings, typed=True, begins=True, cure="choose another --out")
    for name, (_, checkpoint) in zip(typed, named(settings, begins=True), strict=True):
        if checksum := settings.pins.players.get(checkpoint):
            log.append({f"{_PLAYER} {name}": {"checkpoint": checkpoint, "checksum": checksum}})
    return settings


def _has_limits(run: PlannedRun) -> bool:
    """Whether a limit other than agent-steps may end a run."""
    train = run.settings.train
    return any(limit is not None for limit in (train.max_updates, train.max_episodes, train.max_seconds))


def _begun(name: str) -> str:
    return f"begun {name}"


def _done(name: str) -> str:
    return f"done {name}"
