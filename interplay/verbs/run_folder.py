"""A run folder in Python: its settings and its metrics."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.loading import did_you_mean
from interplay.verbs.keywords import suggest_keyword

if TYPE_CHECKING:
    import numpy as np

    from interplay.connect.resolved import ResolvedWorld
    from interplay.train.settings import TrainSettings

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


class RunFolder(os.PathLike[str]):
    """Settings and metrics of a run folder; `Run` adds the verbs.

    Attributes:
        folder: its path.
        trust: the run may name programs, see `interplay.core.trust`.
        resolved: the world of a run on a Python object; None: the registry makes it.
    """

    @suggest_keyword
    def __init__(self, folder: str | Path, world: object = None, *, trust: bool = False) -> None:
        self.folder, self.trust = Path(folder).absolute(), trust
        if not (self.folder / "settings.toml").is_file():
            raise UserError(
                f"{self.folder} holds no run: settings.toml is missing; name a run folder, interplay.train(world, out) makes one"
            )
        self.resolved: ResolvedWorld | None = None
        if world is not None:
            from interplay.connect.resolved import ResolvedWorld, resolve_world

            self.resolved = world if isinstance(world, ResolvedWorld) else resolve_world(world)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def __fspath__(self) -> str:
        return str(self.folder)

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
