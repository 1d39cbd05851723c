"""Settings: strict, frozen pydantic models, read from TOML and the command line; errors are one line.

TOML has no null: a value that is switched off is written ``"off"``, which a field that may be None reads as None.
"""

from __future__ import annotations

import difflib
import tomllib
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import pydantic
from pydantic_core import PydanticCustomError

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.reading import cut, parse_toml, read_toml
from interplay.core.settings_text import allowed, show, union_members, write_toml

__all__ = [
    "Reward",
    "Settings",
    "build",
    "changed",
    "from_toml",
    "lay_over",
    "merge",
    "nest",
    "parse_overrides",
    "read_toml",
    "to_toml",
]

M = TypeVar("M", bound="Settings")

MOST_DEPTH = 32  # groups of an override; a real one has three
MOST = 2**63 - 1  # of a whole number without a closer bound: kernels count in int64

# Rewards are float32, which adds these up without overflow.
Reward = Annotated[float, pydantic.Field(ge=-1_000_000, le=1_000_000)]


class Settings(pydantic.BaseModel):
    """The base of every settings model: unknown keys, wrong types, NaN and integers beyond int64 are refused; instances are frozen.

    A float field accepts whole numbers, a tuple field lists, and an optional field ``"off"``.

    Example:
        >>> class Clock(Settings):
        ...     seconds: float = pydantic.Field(1.0, gt=0, description="Length of a tick, seconds.")
        >>> build(Clock, {"seconds": 2}, "clock").seconds
        2.0
        >>> build(Clock, {"second": 2}, "clock")
        Traceback (most recent call last):
        interplay.core.errors.UserError: clock: unknown key second; did you mean seconds?

    Attributes:
        also_called: name of a key in other packages -> its name here, in any group, for suggestions.
        most_integer: of a whole number without a closer bound.
        read_with: key -> another key, and the value of that with which the first is read; another value than its default is refused without.
    """

    also_called: ClassVar[Mapping[str, str]] = {}
    most_integer: ClassVar[int] = MOST
    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {}
    # An option of a world may be inf, which as JSON would become null by default.
    model_config = pydantic.ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants"
    )

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """Key and value of each program name, ``module:attribute``, and of its options; a name comes before its options.

        See `interplay.core.trust`.
        """
        yield from ()

    @pydantic.field_validator("*", mode="after")
    @classmethod
    def _fits_int64(cls, value: Any) -> Any:
        """Runs after a field's own bounds, which are closer."""
        if _beyond(value, cls.most_integer):
            raise PydanticCustomError("beyond_int64", "beyond int64")
        return value

    @pydantic.model_validator(mode="after")
    def _reads_all(self) -> Self:
        for name, (owner, value) in self.read_with.items():
            usual, wanted = type(self).model_fields[name].default, f"{owner} = {show(value)}"
            if getattr(self, owner) != value and getattr(self, name) != usual:
                raise ValueError(f"{name} does nothing without {wanted}; set that too, or leave it out")
        return self

    @pydantic.model_validator(mode="before")
    @classmethod
    def _read_toml_forms(cls, values: Any) -> Any:
        """Reads TOML's forms of what TOML lacks: None and tuples."""
        if not isinstance(values, Mapping):
            return values
        return {
            key: _python_form(value, cls.model_fields[key].annotation) if key in cls.model_fields else value
            for key, value in values.items()
        }


def build(model: type[M], values: Mapping[str, Any], owner: str) -> M:
    """Checks values against a settings model.

    Args:
        values: nested mapping; groups that are left out take their defaults.
        owner: where the values come from, named first in an error, e.g. ``"runs/a/settings.toml"``.

    Raises:
        UserError: one line with the key path, the value, what is allowed, and the near miss of an unknown key.
    """
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        # A union fails once per member: equal lines are one problem.
        lines = list(dict.fromkeys(_describe(model, one) for one in error.errors(include_url=False)))
        more = f" ({len(lines) - 1} more after this one)" if len(lines) > 1 else ""
        raise UserError(f"{owner}: {lines[0]}{more}") from None


def changed(settings: M, overrides: Mapping[str, Any], owner: str) -> M:
    """The settings with some values replaced, checked again as a whole.

    Example:
        >>> class Clock(Settings):
        ...     seconds: float = pydantic.Field(1.0, gt=0)
        >>> changed(Clock(), {"seconds": 3}, "clock").seconds
        3.0
    """
    return build(type(settings), merge(settings.model_dump(), overrides), owner)


def parse_overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Reads ``a.b=3`` pairs into a nested mapping; later pairs win.

    Values are TOML scalars, arrays or inline tables; a bare word is a string.

    Example:
        >>> parse_overrides(["ppo.clip=0.1", "world.id=survival/1v1-heals-low", "network.hidden=[64, 64]"])
        {'ppo': {'clip': 0.1}, 'world': {'id': 'survival/1v1-heals-low'}, 'network': {'hidden': [64, 64]}}
    """
    nested: dict[str, Any] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        parts, owner = path.strip().split("."), f"override {cut(pair, 80)!r}"
        if not equals or not text.strip() or not all(parts):
            raise UserError(f"{owner} is not KEY=VALUE; write for example ppo.clip=0.1")
        if len(parts) > MOST_DEPTH:
            raise UserError(f"{owner} goes {len(parts)} groups deep; give a key of the settings")
        group = nested
        for part in parts[:-1]:
            group = group.setdefault(part, {})
            if not isinstance(group, dict):
                raise UserError(f"{owner}: {part} was given a value before; give one of the two")
        if isinstance(group.get(parts[-1]), dict):
            raise UserError(f"{owner}: keys below {parts[-1]} were given before; give one of the two")
        group[parts[-1]] = _parse_value(text.strip(), owner)
    return nested


def _parse_value(text: str, owner: str) -> Any:
    try:
        document = parse_toml(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except ValueError as error:
        raise UserError(f"{owner}: {error}; give a value that a setting can have") from None
    value = document["value"]
    # A newline could smuggle in further keys, and dates are no settings: both are taken as the words they are.
    if len(document) > 1 or not isinstance(value, bool | int | float | str | list | dict):
        return text
    return value


def merge(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `base` with the keys of `overrides` put in, group by group."""
    merged = dict(base)
    for key, value in overrides.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(old, value) if both else value  # type: ignore[arg-type]
    return merged


TWICE = "option {} is given twice, by its group and with dots; leave one out"


def nest(options: Mapping[str, Any], twice: str = TWICE) -> dict[str, Any]:
    """Groups options by the dots in their names.

    Args:
        options: name -> value, or a group of values.
        twice: the error for a repeated name, with ``{}`` for the name.

    Example:
        >>> nest({"obs.role": False, "obs": {"history": 2}, "wolves": 3})
        {'obs': {'role': False, 'history': 2}, 'wolves': 3}
    """
    nested: dict[str, Any] = {}
    for name, value in options.items():
        for part in reversed(name.split(".")):
            value = {part: value}
        nested = _join(nested, value, twice.format(name))
    return nested


def _join(one: Mapping[str, Any], other: Mapping[str, Any], twice: str) -> dict[str, Any]:
    """Both mappings in one; no value of theirs is lost."""
    out = dict(one)
    for key, value in other.items():
        if key in out and not (isinstance(out[key], Mapping) and isinstance(value, Mapping)):
            raise UserError(twice)
        out[key] = _join(out[key], value, twice) if key in out else value
    return out


def lay_over(model: type[Settings], below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merges two nested mappings: groups of the model key by key, all other values are replaced whole.

    A mapping of free keys, such as a line-up, is one value. What lies below and is not read with what lies above goes (`Settings.read_with`).

    Example:
        >>> class Fog(Settings):
        ...     read_with = {"metres": ("fog", True)}
        ...     fog: bool = False
        ...     metres: float = 9.0
        >>> lay_over(Fog, {"fog": True, "metres": 4.0}, {"fog": False})
        {'fog': False}
    """
    idle = {name for name, (owner, value) in model.read_with.items() if above.get(owner, value) != value}
    below = {name: value for name, value in below.items() if name not in idle}
    groups = {name for name, field in model.model_fields.items() if _is_group(field.annotation)}
    joined = {
        name: merge(below[name], value)
        for name, value in above.items()
        if name in groups and isinstance(below.get(name), Mapping) and isinstance(value, Mapping)
    }
    return {**below, **above, **joined}


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def to_toml(settings: Settings) -> str:
    """The settings as TOML, every value written out, with each field's description behind it.

    ``from_toml`` of the text gives equal settings.
    """
    return write_toml(settings)


def from_toml(path: Path | str, model: type[M]) -> M:
    """Reads a settings file for inspection; to act on it, use `interplay.core.trust.read_settings`."""
    return build(model, read_toml(path), str(path))


def _beyond(value: Any, most: int) -> bool:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        return any(_beyond(part, most) for part in value)
    return isinstance(value, int) and not -MOST - 1 <= value <= most


def _python_form(value: Any, annotation: Any) -> Any:
    options = union_members(annotation)
    if value == "off" and type(None) in options:
        return None
    if isinstance(value, list) and any(typing.get_origin(option) is tuple for option in options):
        return tuple(value)
    return value


def _describe(model: type[Settings], problem: Any) -> str:
    """One problem of a validation in the form thing, value, cure."""
    parts = [str(part) for part in problem["loc"]]
    path, kind, value = ".".join(parts), problem["type"], problem["input"]
    if kind == "extra_forbidden":
        return f"unknown key {path}; {_near_miss(model, parts)}"
    if kind == "missing":
        return f"{path} is missing; give {allowed(_field(model, parts)[0])}"
    if kind == "value_error":
        message = str(problem["ctx"]["error"])
        return f"{path}: {message}" if path else message
    field, known = _field(model, parts)
    if field is not None and len(union_members(field.annotation)) > 1:
        # pydantic also names the member of the union that it tried last, which is no key.
        path = ".".join(parts[:known])
    wanted = allowed(field) if field is not None else problem["msg"].lower()
    if kind == "beyond_int64":
        wanted += ", within 64 bits"
    choices = _choices(model, parts) if kind == "literal_error" else ()
    if choices and parts[-1].isdecimal():  # of a list one value is wrong, and was named
        wanted = f"one of {', '.join(choices)}"
    near = did_you_mean(str(value), choices, "")
    return f"{path} = {show(value)} is not allowed; give {wanted}{f'; {near}' if near else ''}"


def _choices(model: type[Settings], parts: Sequence[str]) -> tuple[str, ...]:
    """The valid names at a problem's path, in a field or in a list of it; empty if other values are valid too."""
    field, known = _field(model, parts)
    kinds = list(union_members(field.annotation)) if field is not None else []
    for _ in parts[known:]:
        kinds = [one for kind in kinds for one in _elements(kind) if one is not ...] or kinds
    if not all(typing.get_origin(kind) is typing.Literal for kind in kinds):
        return ()  # of a union each member fails, and in the same words
    return tuple(str(choice) for kind in kinds for choice in typing.get_args(kind))


def _near_miss(model: type[Settings], parts: Sequence[str]) -> str:
    """A suggestion for an unknown key: one spelt alike, here or in another group, or ours for another package's name."""
    keys = [key for key, _ in _keys(model)]
    group = "".join(f"{part}." for part in parts[:-1])
    here = [key.removeprefix(group) for key in keys if key.startswith(group)]
    here = [key for key in here if "." not in key]
    close = [group + key for key in difflib.get_close_matches(parts[-1], here, n=1)]
    if meant := (key_called(model, parts[-1], group) or next(iter(close), "")):
        return f"did you mean {meant}?"
    return f"the keys there are {', '.join(here)}"


def key_called(model: type[Settings], name: str, group: str = "") -> str:
    """The path of the key that this model, or another package, calls so; "" if there is none.

    Args:
        group: with a dot behind it; the key there comes first, then those at the top, then those of groups as they are declared.

    Example:
        >>> class Clock(Settings):
        ...     also_called = {"dt": "seconds"}
        ...     seconds: float = 1.0
        >>> key_called(Clock, "dt"), key_called(Clock, "hours")
        ('seconds', '')
    """
    keys = [key for key, _ in _keys(model)]
    for wanted in dict.fromkeys((name, model.also_called.get(name, name))):
        named = [key for key in keys if key.rpartition(".")[2] == wanted]
        if named:
            return group + wanted if group + wanted in named else min(named, key=lambda key: key.count("."))
    return ""


def _keys(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, pydantic.fields.FieldInfo]]:
    """Every key path of a model with its field, groups included."""
    for name, field in model.model_fields.items():
        yield prefix + name, field
        for group in union_members(field.annotation):
            if isinstance(group, type) and issubclass(group, Settings):
                yield from _keys(group, f"{prefix}{name}.")


def _field(model: type[Settings], parts: Sequence[str]) -> tuple[pydantic.fields.FieldInfo | None, int]:
    """The last field on a problem's path, and the number of parts that lead to it; further parts lead into its elements."""
    found, known, inside = None, 0, [model]
    for length, part in enumerate(parts, 1):
        groups = [one for one in inside if isinstance(one, type) and issubclass(one, Settings)]
        field = next((one.model_fields[part] for one in groups if part in one.model_fields), None)
        if field is not None:
            found, known, inside = field, length, list(union_members(field.annotation))
        else:  # a key of a mapping, a place of a list, or the member of a union that was tried
            inside = [one for kind in inside for one in _elements(kind)] or inside
    return found, known


def _elements(kind: Any) -> list[Any]:
    """The type of the elements of a mapping or a list type."""
    origin, types = typing.get_origin(kind), typing.get_args(kind)
    if origin is dict:
        return list(union_members(types[1]))
    return [one for part in types for one in union_members(part)] if origin in (tuple, list) else []
