"""Sweeps from Python, and any folder of runs as one data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from interplay.core.data_frames import by_name, load_pandas
from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.loading import did_you_mean
from interplay.core.settings import build, merge, read_toml
from interplay.core.trust import admit_bytes, programs
from interplay.evaluate.last import last_of
from interplay.verbs.keywords import suggest_keyword
from interplay.verbs.run import Run
from interplay.verbs.training import nested
from interplay.view.run_log import read_run
from interplay.view.run_table import SEED, differing_keys, find_runs, read_row, read_rows, table
from interplay.view.settings_table import settings_table

if TYPE_CHECKING:
    from interplay.train.settings.train import SettingsKeywords
    from interplay.train.sweep import SweepSettings
    from interplay.view.run_log import RunLog
    from interplay.view.settings_table import SettingsTable

SHOWN = 20  # runs in a notebook


class Sweep:
    """The runs of a sweep, or of any folder of runs.

    Args:
        folder: as `interplay.sweep` or ``interplay sweep`` made it.
        trust: runs may name programs of their own, see `interplay.core.trust`.

    Attributes:
        folder: its path.
        failed: name of a run -> why it failed, of those that failed when `interplay.sweep` trained them.

    Raises:
        UserError: if no run is there.
    """

    @suggest_keyword
    def __init__(self, folder: str | Path, *, trust: bool = False) -> None:
        self.folder, self._trust = Path(folder), trust
        self.failed: dict[str, str] = {}
        self._paths()

    def _paths(self) -> list[Path]:
        return find_runs([self.folder])

    @property
    def runs(self) -> list[Run]:
        """Its runs, in the order of their names."""
        return [Run(path, trust=self._trust) for path in self._paths()]

    def __len__(self) -> int:
        return len(self._paths())

    def __repr__(self) -> str:
        return f"<Sweep: {len(self)} runs in {self.folder}>"

    def _repr_html_(self) -> str:
        rows = table(read_rows(self._paths(), print))
        cells = [[str(value) for value in row.values()] for row in rows[:SHOWN]]
        return html_table(str(self), list(rows[0]) if rows else ["run"], cells)

    def settings_table(self) -> SettingsTable:
        """What varies and what all runs share, of the settings that they read; see `interplay.view.settings_table`."""
        return settings_table([read_row(path) for path in self._paths()])

    def last(self, metrics: Sequence[str]) -> Any:
        """The last values of metrics as a pandas data frame, a row for each run and metric; see `interplay.evaluate.last`.

        Columns: ``run``; the settings in which runs differ; ``seed``; ``metric``; ``value``; ``measurements``; ``cases``, the episodes or
        lives in them.

        Raises:
            UserError: for an unknown metric, runs of which none has logged anything, or if pandas is not installed.
        """
        frame = self.frame(metrics)
        head = [name for name in frame.columns if name not in ("step", "metric", "value")]
        found = frame.drop_duplicates([*head, "metric"])[[*head, "metric"]].reset_index(drop=True)
        logs = {run: _log(self.folder, run) for run in found["run"].unique()}
        numbers = {run: dict(_numbers(log)) for run, log in logs.items()}
        asked = zip(found["run"], found["metric"], strict=True)
        lasts = [last_of(numbers[run][metric], logs[run].cases(metric)) for run, metric in asked]
        return found.assign(
            value=[last.value for last in lasts],
            measurements=[last.measurements for last in lasts],
            cases=[last.cases for last in lasts],
        )

    def frame(self, metrics: Sequence[str] | None = None) -> Any:
        """All that the runs have logged as one pandas data frame, a row for each number.

        Columns: ``run``; ``name`` where runs have one; the settings in which runs differ, by their keys (None where a run does not read one); ``seed``; ``step``
        (agent-steps of the line); ``metric``; ``value``. What was logged for every agent is ``kills[red_0]``.

        Raises:
            UserError: for an unknown metric, runs of which none has logged anything, or if pandas is not installed.
        """
        pandas = load_pandas()
        rows = [read_row(path) for path in self._paths()]
        keys, named = (
            [key for key in differing_keys(rows) if key != SEED],
            any(row.settings.get("name") for row in rows),
        )
        numbers = [(row, dict(_numbers(row.log))) for row in rows if row.log is not None]
        if not numbers:
            raise UserError(f"{self.folder}: no run has logged anything yet; wait for a first update")
        _refuse_unknown(str(self.folder), metrics, {name for _, own in numbers for name in own})
        parts = []
        for row, own in numbers:
            assert row.log is not None
            head = {
                "run": str(row.path.relative_to(self.folder)) if row.path != self.folder else row.path.name
            }
            head |= {"name": row.settings.get("name", "")} if named else {}
            head |= {key: _cell(row.settings.get(key)) for key in keys}
            head[SEED] = row.settings[SEED]
            steps = row.log.steps.astype(np.int64)
            for name in own if metrics is None else [name for name in metrics if name in own]:
                known = ~np.isnan(own[name])
                line = {"step": steps[known], "metric": name, "value": own[name][known]}
                if known.any():
                    parts.append(pandas.DataFrame({**head, **line}))
        return pandas.concat(parts, ignore_index=True)


def _log(folder: Path, run: str) -> RunLog:
    return read_run(folder if run == folder.name and not (folder / run).is_dir() else folder / run)


def sweep(
    world: str | Path,
    /,
    out: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    points: Sequence[Mapping[str, Any]] = (),
    seeds: int | Sequence[int] | None = None,
    draws: int | None = None,
    steps: int | None = None,
    num_worlds: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
    trust: bool = False,
    **settings: Unpack[SettingsKeywords],
) -> Sweep:
    """Trains every combination of settings and seeds, each run in a folder of its own; the same call goes on with what is left.

    A script that calls it does so under ``if __name__ == "__main__":``, since its processes import the script.

    Args:
        world: a world's id or a settings file, which may have a group ``[sweep]``.
        out: the sweep's folder.
        parameters: key -> the values that it takes, or words as after ``-p``: ``"0..4"``, ``"log:1e-5..1e-3"``.
        points: values by key that belong together.
        seeds: of every point; a number n means 0 to n - 1.
        draws: points that are drawn, where something is.
        steps: agent-steps of each run.
        num_worlds: of each run, stepped together.
        workers: runs at a time; None: cores.
        ray: train them on a Ray cluster, from a folder that its machines share: HOST:PORT of its head, or auto.
        trust: a settings file may name programs of its own.
        **settings: of every run, as for `interplay.train`.

    Returns:
        The sweep; `Sweep.failed` has what failed.

    Raises:
        UserError: for an unknown world, setting or value, or a folder whose runs were made with other settings.

    Example:
        >>> import tempfile
        >>> found = sweep("dilemma/fixed", tempfile.mkdtemp() + "/sweep", {"ppo.clip": [0.1, 0.3]}, seeds=2, steps=512,
        ...               workers=1, num_worlds=4, network={"kind": "mlp"})
        >>> len(found), sorted(set(found.frame(["entropy"])["ppo.clip"]))
        (4, [0.1, 0.3])
    """
    from interplay.train.sweep import sweep as train_sweep
    from interplay.verbs.trainer import place_of

    group = sweep_group(parameters or {})
    group |= {"points": [dict(point) for point in points]} if points else {}
    group |= {} if seeds is None else {"seeds": seeds if isinstance(seeds, int) else list(seeds)}
    group |= {} if draws is None else {"draws": draws}
    given = {"steps": steps, "num_worlds": num_worlds}
    typed = merge(nested(settings), {key: value for key, value in given.items() if value is not None})
    result = train_sweep(sweep_settings(str(world), typed, group, trust), out, workers, place=place_of(ray))
    if result.failed and not any((path / "settings.toml").is_file() for path in result.runs):
        name, error = next(iter(result.failed.items()))
        raise UserError(f"{out}: all {len(result.failed):,} runs failed, {name}: {error}")
    found = Sweep(out, trust=trust)
    found.failed = dict(result.failed)
    return found


def sweep_group(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of ``[sweep]`` that values by key mean."""
    from interplay.train.sweep.axes import Drawn, read_axis

    group: dict[str, Any] = {"grid": {}, "random": {}}
    for key, values in parameters.items():
        found = read_axis(f"{key}={values}")[1] if isinstance(values, str) else values
        if isinstance(found, Drawn):
            group["random"][key] = found.model_dump(exclude_defaults=True)
        elif isinstance(found, Mapping):
            group["random"][key] = dict(found)
        elif key == "seed":
            group["seeds"] = list(found)
        else:
            group["grid"][key] = list(found)
    return group


def sweep_settings(
    world: str,
    typed: Mapping[str, Any],
    varying: Mapping[str, Any],
    trust: bool = False,
    words: Mapping[str, str] | None = None,
) -> SweepSettings:
    """A sweep's settings, from what was typed and the file that it names; what was typed wins.

    Args:
        varying: keys of the group ``[sweep]``.
        words: key that varies -> how it was typed, for errors.
    """
    from interplay.train.sweep import SweepSettings

    file = Path(world) if world.endswith(".toml") else None
    values: dict[str, Any] = {"world": {"id": world}} if file is None else read_toml(file)
    group = values.pop("sweep", {})
    if not isinstance(group, dict) or "settings" in group:
        raise UserError(f"{world}: [sweep] holds what varies; settings of every run stand beside it")
    group = merge(group, varying)
    if "draws" in varying and not group["random"]:
        raise UserError(
            f"--draws {varying['draws']}: nothing is drawn; add for example -p ppo.learning_rate=log:1e-5..1e-3"
        )
    _refuse_both(typed, group, words or {}, world)
    asked = build(SweepSettings, {**group, "settings": merge(values, typed)}, world if file else "sweep")
    if file is not None:
        own = [*_leaves(typed), *_leaves(varying)]
        names = [(key, name) for key, name in asked.code_names() if isinstance(name, str) and name not in own]
        if names:
            key, name = names[0]
            admit_bytes(f'{key} = "{name}" names a program', file, programs(asked), trust)
    return asked


def _refuse_both(
    typed: Mapping[str, Any], group: Mapping[str, Any], words: Mapping[str, str], file: str
) -> None:
    """Refuses a setting that was typed and varies too, since every run would have another."""
    listed = group.get("points", [])
    varied = (
        [key for point in listed if isinstance(point, dict) for key in point]
        if isinstance(listed, list)
        else []
    )
    varied = [*group["grid"], *group["random"], *varied, *(["seed"] if group.get("seeds") else [])]
    for key in varied:
        value: Any = typed
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None and not isinstance(value, Mapping):
            where = f"-p {words[key]}" if key in words else f"[sweep] of {file}"
            word = "--steps" if key == "steps" else f"{key}={value}"
            raise UserError(f"{word} is typed, but {where} varies {key}; leave one of them out")


def _leaves(values: Any) -> Iterator[Any]:
    """Every single value inside groups and lists."""
    if isinstance(values, dict | list):
        for value in values.values() if isinstance(values, dict) else values:
            yield from _leaves(value)
    else:
        yield values


def _numbers(log: RunLog) -> Iterator[tuple[str, np.ndarray]]:
    """Every column of a log, those of agents by their names; where one of that name was logged itself, it stands."""
    for metric, values in log.agents.items():
        yield from (
            (key, own) for key, own in by_name(metric, values, *log.names).items() if key not in log.columns
        )
    yield from log.columns.items()


def _refuse_unknown(where: str, metrics: Sequence[str] | None, logged: set[str]) -> None:
    for name in metrics or ():
        if name not in logged:
            near = did_you_mean(name, sorted(logged), f"there are {', '.join(sorted(logged))}")
            raise UserError(f"{where}: no run has logged {name!r}; {near}")


def _cell(value: Any) -> Any:
    """A value that one cell holds: lists as text."""
    return str(value) if isinstance(value, list | dict) else value
