"""A run in Python, with the verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.verbs import playing
from interplay.verbs.keywords import suggest_keyword
from interplay.verbs.run_folder import RunFolder
from interplay.verbs.showing import Media

if TYPE_CHECKING:
    from interplay.train.interfaced import InterfacedTrainedPolicy
    from interplay.train.play.trained_policy import TrainedPolicy
    from interplay.verbs.diagnosing import Diagnosis


class Run(RunFolder):
    """A run folder, finished or in training.

    Args:
        folder: as `interplay.train` or ``interplay train`` made it.
        world: the world of a run on a Python object; runs on worlds with an id need none.
        trust: the run may name programs, see `interplay.core.trust`.

    Attributes:
        folder: its path.
        trust: as given.
        resolved: the world object, or None.

    Raises:
        UserError: if the folder holds no run.
    """

    @suggest_keyword
    def policy(
        self, *, greedy: bool = False, populations: Sequence[str] | None = None
    ) -> TrainedPolicy | InterfacedTrainedPolicy:
        """The policy of the newest checkpoint; see `interplay.load_policy`."""
        from interplay.verbs.players import load_policy

        policy = load_policy(self.folder, greedy=greedy, populations=populations, trust=self.trust)
        if self.resolved is not None:
            policy.make_world = self.resolved.make
        return policy

    evaluate = playing.evaluate
    record = playing.record

    @suggest_keyword
    def curves(self, out: str | Path | None = None, columns: Sequence[str] | None = None) -> Media:
        """Draws learning curves.

        Args:
            out: a ``.png``; None: ``curves.png`` in the run's folder.
            columns: of the metrics; None: episode length and return, life, rating, as far as they were logged.
        """
        from interplay.view.curves import plot_runs

        return Media(plot_runs([self.folder], self.folder / "curves.png" if out is None else out, columns))

    def diagnose(self) -> Diagnosis:
        """Finds reasons in the log why the run does not learn; see docs/why-it-does-not-learn.md.

        Raises:
            UserError: if nothing is logged yet, or the log is damaged.
        """
        from interplay.verbs.diagnosing import diagnose

        return diagnose(self)

    @suggest_keyword
    def resume(
        self,
        steps: int | None = None,
        *,
        workers: int | None = None,
        accept_settings: bool = False,
        on_update: OnUpdate | None = None,
        device: str | None = None,
        precision: str | None = None,
        threads: int | str | None = None,
        nodes: int | None = None,
        node: int | None = None,
        coordinator: str | None = None,
        ray: str | None = None,
    ) -> Run:
        """Goes on from the newest sound checkpoint, bit for bit as if it had never stopped.

        Args:
            steps: a new total of agent-steps, to train on.
            workers: another number of processes; they change no bit.
            accept_settings: go on with the values that ``settings.toml`` has now, though it was changed.
            on_update: as for `interplay.train`.
            device: another value of ``train.device``; the bits are others from here on.
            precision: another value of ``train.precision``.
            threads: another value of ``train.threads``; they change no bit.
            nodes: as for `interplay.train`; also another number than before.
            node: the number of this machine, from 0 on.
            coordinator: HOST:PORT of machine 0, which the others reach.
            ray: as for `interplay.train`.

        Raises:
            UserError: if the run cannot go on, or was trained on a world object that was not passed.
        """
        from interplay.verbs.trainer import load_trainer, machines_of, refuse_beside_ray, resume_on_ray

        make = None if self.resolved is None else self.resolved.make
        if make is not None and workers not in (None, 1):
            raise UserError(
                f"workers = {workers}: other processes cannot make an environment that was handed over; leave it out"
            )
        if ray is not None:
            refuse_beside_ray(on_update=on_update, node=node, coordinator=coordinator)
            resume_on_ray(
                self.folder, ray, nodes, workers, steps=steps, accept_settings=accept_settings, trust=self.trust,
                device=device, precision=precision, threads=threads,
            )  # fmt: skip
            return Run(self.folder, trust=self.trust)
        load_trainer().resume(
            self.folder,
            workers,
            steps,
            make,
            accept_settings,
            self.trust,
            with_run(self.resolved, self.trust, on_update),
            device,
            precision,
            threads,
            machines_of(nodes, node, coordinator),
        )
        return Run(self.folder, self.resolved, trust=self.trust)


OnUpdate = Callable[[Run, Mapping[str, Any]], object]


def with_run(
    resolved: Any, trust: bool, on_update: OnUpdate | None
) -> Callable[[Path, Mapping[str, Any]], object] | None:
    """The callback as the trainer calls it: with the run's folder instead of the run."""
    return None if on_update is None else partial(_call, resolved, trust, on_update)


def _call(resolved: Any, trust: bool, on_update: OnUpdate, path: Path, numbers: Mapping[str, Any]) -> object:
    return on_update(Run(path, resolved, trust=trust), numbers)
