"""``docs/defaults.md``: every default of the trainer and of the worlds, written from the code and committed.

    .venv/bin/python website/defaults.py

A changed default makes the page stale, which fails a test: no default changes without a line in a diff.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from interplay.core.loading import load  # noqa: E402
from interplay.core.settings import Settings  # noqa: E402
from interplay.core.settings_text import toml_value  # noqa: E402
from interplay.registry import list_worlds  # noqa: E402
from interplay.train.settings import TrainSettings  # noqa: E402

PAGE = ROOT / "docs" / "defaults.md"
BEGINNING = """\
# Defaults

Every setting of training and every option of a world, with its default; written from the code by `website/defaults.py`. `"off"` means no value,
`*` any name or number.
What settings mean together stands in [training](train.md) and its [reference](training-reference.md). `interplay worlds ID` describes the options of a world.
"""


def page() -> str:
    """The whole page."""
    specs = [
        spec for spec in list_worlds() if spec.make.startswith("interplay.")
    ]  # not those of other packages
    lines = [BEGINNING, "## Training", "", "| setting | default | what it is |", "|---|---|---|"]
    lines += [f"| `{key}` | {_code(value)} | {_cell(says)} |" for key, value, says in _fields(TrainSettings)]
    lines += ["", "## What worlds suggest for training", "", "| world | settings |", "|---|---|"]
    suggested = {spec.id: ", ".join(_pairs(spec.training)) for spec in specs if spec.training}
    lines += [f"| {worlds} | {settings} |" for settings, worlds in _grouped(suggested)]
    models = {spec.id: spec.settings for spec in specs if spec.settings}
    for settings, worlds in _grouped(models):
        family = worlds.split("/")[0].strip("`")
        alone = {own for world, own in models.items() if world.startswith(f"{family}/")} == {settings}
        lines += ["", f"## {family if alone else worlds}", "", "| option | default |", "|---|---|"]
        lines += [f"| `{key}` | {_code(value)} |" for key, value, _ in _fields(load(settings))]
        own = [spec for spec in specs if spec.settings == settings and spec.options]
        lines += [line for spec in own for line in ("", f"`{spec.id}`: {', '.join(_pairs(spec.options))}.")]
    return "\n".join(lines) + "\n"


def _fields(model: type[Settings], group: str = "") -> Iterator[tuple[str, Any, str]]:
    """(key, default, description) of each field that has a default, groups taken apart; ``*`` is any name or number of a group."""
    for name, field in model.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if isinstance(default, Settings):
            yield from _fields(type(default), f"{group}{name}.")
            continue
        if not field.is_required():
            yield f"{group}{name}", default, field.description or ""
        for several in _models(field.annotation):
            yield from _fields(several, f"{group}{name}{'' if field.is_required() else '.*'}.")


def _models(annotation: Any) -> Iterator[type[Settings]]:
    """The groups that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _grouped(found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(value, its worlds) in order; worlds of equal values together."""
    for value in dict.fromkeys(found.values()):
        yield value, ", ".join(f"`{world}`" for world, own in found.items() if own == value)


def _pairs(values: Mapping[str, Any], group: str = "") -> Iterable[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{group}{key}.")
        else:
            yield f"`{group}{key} = {toml_value(value)}`"


def _code(value: Any) -> str:
    return "`" + toml_value(value).replace("|", "\\|") + "`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page())
