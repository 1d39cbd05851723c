"""A run in Python: its settings, its metrics, and the verbs."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.keywords import suggest_keyword
from interplay.core.loading import did_you_mean
from interplay.verbs import playing
from interplay.verbs.showing import Media

if TYPE_CHECKING:
    import numpy as np

    from interplay.connect.handed import Handed
    from interplay.train.interfaced import InterfacedTrainedPolicy
    from interplay.train.play.trained_policy import TrainedPolicy
    from interplay.train.settings import TrainSettings
    from interplay.verbs.diagnosing import Diagnosis

SHOWN_ROWS = 10
SHOWN = (
    "agent_steps",
    "episode_length",
    "episode_return",
    "won",
    "life",
    "rating",
    "entropy",
    "kl",
    "agent_steps_per_s",
)


class Run:
    """A run folder, finished or in training.

    Args:
        folder: as `interplay.train` or ``interplay train`` made it.
        world: the world of a run on a Python object; runs on worlds with an id need none.
        trust: the run may name programs, see `interplay.core.trust`.

    Attributes:
        folder: its path.
        trust: as given.
        handed: the world object, or None.

    Raises:
        UserError: if the folder holds no run.
    """

    @suggest_keyword
    def __init__(self, folder: str | Path, world: object = None, *, trust: bool = False) -> None:
        self.folder, self.trust = Path(folder).absolute(), trust
        if not (self.folder / "settings.toml").is_file():
            raise UserError(
                f"{self.folder} holds no run: settings.toml is missing; name a run folder, interplay.train(world, out) makes one"
            )
        self.handed: Handed | None = None
        if world is not None:
            from interplay.connect.handed import Handed, hand_over

            self.handed = world if isinstance(world, Handed) else hand_over(world)

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        settings = self.settings
        rows: list[tuple[str, object]] = [
            ("world", settings.world.id),
            ("algorithm", f"{settings.algorithm}, network {settings.network.kind}"),
            ("seed", settings.seed),
            ("steps", f"{settings.steps:,} agent-steps"),
        ]
        try:
            metrics = self.metrics
        except UserError:
            rows.append(("trained", "nothing logged yet"))
        else:
            rows.append(("trained", f"{metrics['agent_steps'][-1]:,.0f} agent-steps"))
            rows += [(name, f"{metrics[name][-1]:.4g}") for name in SHOWN[1:] if name in metrics]
        return html_table(str(self.folder), ("", ""), rows)

    @cached_property
    def settings(self) -> TrainSettings:
        """The run's settings.

        Raises:
            UserError: if ``settings.toml`` cannot be read.
        """
        from interplay.core.reading import read_toml
        from interplay.core.settings import build
        from interplay.train.settings import TrainSettings

        file = self.folder / "settings.toml"
        return build(TrainSettings, read_toml(file, links=False), str(file))

    @property
    def metrics(self) -> Metrics:
        """The metrics logged so far; read anew each time.

        Raises:
            UserError: if nothing is logged yet, or the log is damaged.
        """
        from interplay.view.run_log import read_run

        log = read_run(self.folder)
        agents = {f"by_agent[{name}]": table for name, table in log.agents.items()}
        columns = {"agent_steps": log.steps, **log.columns, **agents}
        return Metrics(str(self.folder), columns, log.names)

    @suggest_keyword
    def policy(
        self, *, greedy: bool = False, populations: Sequence[str] | None = None
    ) -> TrainedPolicy | InterfacedTrainedPolicy:
        """The policy of the newest checkpoint; see `interplay.load_policy`."""
        from interplay.verbs.players import load_policy

        policy = load_policy(self.folder, greedy=greedy, populations=populations, trust=self.trust)
        if self.handed is not None:
            policy.make_world = self.handed.make
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
        on_update: Callable[[Run, Mapping[str, Any]], object] | None = None,
        device: str | None = None,
        precision: str | None = None,
        threads: int | str | None = None,
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

        Raises:
            UserError: if the run cannot go on, or was trained on a world object that was not passed.
        """
        from interplay.verbs.trainer import load_trainer
        from interplay.verbs.training import with_run

        make = None if self.handed is None else self.handed.make
        if make is not None and workers not in (None, 1):
            raise UserError(
                f"workers = {workers}: other processes cannot make an environment that was handed over; leave it out"
            )
        load_trainer().resume(
            self.folder,
            workers,
            steps,
            make,
            accept_settings,
            self.trust,
            with_run(self.handed, self.trust, on_update),
            device,
            precision,
            threads,
        )
        return Run(self.folder, self.handed, trust=self.trust)


class UnknownColumn(UserError, KeyError):
    """No such column; a `KeyError` too, as mappings raise it."""

    __str__ = Exception.__str__


class Metrics(Mapping[str, "np.ndarray"]):
    """What a run has logged: name of a column -> (N,) float64, a number for each line, NaN where it has none.

    What was logged for every agent is ``by_agent[name]`` -> (N, agents).

    Args:
        title: above the table in a notebook.
        columns: all of one length.
        names: of the agents, and of the teams; empty where they are not known.
    """

    def __init__(
        self, title: str, columns: Mapping[str, np.ndarray], names: Sequence[Sequence[str]] = ()
    ) -> None:
        self._title, self._columns, self._names = title, dict(columns), names

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            near = did_you_mean(str(name), self._columns, f"there are {', '.join(self._columns)}")
            raise UnknownColumn(f"{self._title}: no column {name!r}; {near}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"{len(self._columns['agent_steps'])} lines of {', '.join(self._columns)}"

    def frame(self) -> Any:
        """A pandas data frame with a row for each line; every agent has a column, ``kills[red_0]``.

        Raises:
            UserError: if pandas is not installed.
        """
        from interplay.core.data_frames import frame_of

        columns = [
            (name.removeprefix("by_agent[").removesuffix("]") if values.ndim > 1 else name, values)
            for name, values in self._columns.items()
        ]
        return frame_of(columns, *self._names)

    def _repr_html_(self) -> str:
        names = [name for name in SHOWN if name in self._columns]
        lines = len(self._columns["agent_steps"])
        rows = [
            [f"{self._columns[name][i]:.6g}" for name in names]
            for i in range(max(lines - SHOWN_ROWS, 0), lines)
        ]
        more = f"<p>{html.escape(', '.join(n for n in self._columns if n not in names))}</p>"
        return html_table(f"{self._title}: last of {lines} lines", names, rows) + more
