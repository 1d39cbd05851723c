"""Tables of the hyper-parameters of runs: those that vary, and those that all runs share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.settings_text import show
from interplay.train.run.settings_file import PACE
from interplay.view.output import check_output
from interplay.view.run_log import one_line
from interplay.view.run_table import SEED, Run, differing_keys, shared_label
from interplay.view.table_text import latex_table, markdown_table

KEPT = "train.keep_"  # prefix of settings of disk use, which do not affect learning
NONE = "-"  # for a setting that a run does not read


class SettingsTable(NamedTuple):
    """Settings of runs, without their seeds.

    Attributes:
        groups: the ``name`` of each group's runs, numbered if groups share it; numbers alone if a group has none.
        varied: key -> a value for each group; `NONE` if the group does not read it.
        seeds: of each group.
        shared: key -> the value of all runs that read it.
        partly: keys of `shared` that only some groups read -> these groups.
    """

    groups: list[str]
    varied: dict[str, list[str]]
    seeds: list[list[int]]
    shared: dict[str, str]
    partly: dict[str, list[str]]


def settings_table(runs: Sequence[Run]) -> SettingsTable:
    """Tabulates the settings of runs, grouped by equal settings but for the seed."""
    if not runs:
        raise UserError("no run with readable settings; name a folder of runs")
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(json.dumps(_settings(run), sort_keys=True), []).append(run)
    firsts = [_settings(own[0]) for own in groups.values()]
    names = [shared_label(own) for own in groups.values()]
    names = (
        [
            f"{name} {names[:at].count(name) + 1}" if names.count(name) > 1 else name
            for at, name in enumerate(names)
        ]
        if all(names)
        else [str(number + 1) for number in range(len(names))]
    )
    keys = dict.fromkeys(key for settings in firsts for key in settings)
    differing = [key for key in differing_keys([own[0] for own in groups.values()]) if key in keys]
    shared, partly = {}, {}
    for key in keys:
        readers = [number for number, settings in enumerate(firsts) if key in settings]
        if key not in differing:
            shared[key] = _text(firsts[readers[0]][key])
            if len(readers) < len(firsts):
                partly[key] = [names[number] for number in readers]
    varied = {
        key: [_text(settings[key]) if key in settings else NONE for settings in firsts] for key in differing
    }
    seeds = [sorted(run.settings[SEED] for run in own) for own in groups.values()]
    return SettingsTable(names, varied, seeds, shared, partly)


def write(table: SettingsTable, out: Path) -> Path:
    """Writes the table as ``.md`` or ``.tex``."""
    words = {".md": markdown, ".tex": latex}
    target = check_output(out, tuple(words))
    with os_errors_as_user_errors("writing", target):
        replace_file(target, words[target.suffix.lower()](table), "table")
    return target


def markdown(table: SettingsTable) -> str:
    """Two tables: settings that vary, with a row for each group, and shared settings."""
    parts = [markdown_table(rows, "l") for rows in (_varied(table), _shared(table)) if len(rows) > 1]
    return "\n\n".join(parts) + "\n"


def latex(table: SettingsTable) -> str:
    """The two tables as LaTeX, for the package booktabs."""
    parts = [latex_table(rows, "l") for rows in (_varied(table), _shared(table)) if len(rows) > 1]
    return "% interplay runs --settings\n" + "\n".join(parts)


def _varied(table: SettingsTable) -> list[list[str]]:
    """A row for each group; empty for a single group."""
    rows = [["group", *table.varied, "seeds"]]
    for number, (group, seeds) in enumerate(zip(table.groups, table.seeds, strict=True)):
        values = [column[number] for column in table.varied.values()]
        rows.append([one_line(group), *values, _listed(seeds)])
    return rows if len(table.groups) > 1 else []


def _shared(table: SettingsTable) -> list[list[str]]:
    head = ["setting", "value", *(["read by"] if table.partly else [])]
    rows = [head]
    for key, value in table.shared.items():
        readers = _listed(table.partly.get(key, [])) or "all"
        rows.append([key, value, *([readers] if table.partly else [])])
    return rows if len(table.groups) > 1 else [*rows, ["seeds", _listed(table.seeds[0])]]


def _listed(numbers: Sequence[int | str]) -> str:
    return ", ".join(map(str, numbers))


def _settings(run: Run) -> dict[str, Any]:
    """The settings of a run without its seed, speed, disk use, and empty values."""
    return {
        key: value
        for key, value in run.settings.items()
        if (key == "steps" or key not in PACE)
        and key != SEED
        and not key.startswith(KEPT)
        and value not in ("", [], {})
    }


def _text(value: Any) -> str:
    return one_line(value if isinstance(value, str) else show(value))
