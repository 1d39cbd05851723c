"""Settings as text: TOML with the fields' descriptions, and what a field allows in words."""

from __future__ import annotations

import json
import math
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import annotated_types
import pydantic

from interplay.core.errors import UserError
from interplay.core.reading import cut

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", type(None): '"off"'}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(settings: pydantic.BaseModel) -> str:
    """Every field of a model as TOML: scalars first, then one table per group."""
    return "\n".join(_lines(settings, ())) + "\n"


def show(value: Any) -> str:
    """A value as a user would have written it; long ones are cut."""
    if isinstance(value, Mapping):
        text = "a group of keys"
    else:
        try:
            text = toml_value(value)
        except UserError:
            text = repr(value)
    return cut(text, 80)


def allowed(field: pydantic.fields.FieldInfo | None) -> str:
    """What a field takes, in words: ``a number above 0, below 1``."""
    if field is None:
        return "a value"
    members = union_members(field.annotation)
    rules = [*field.metadata, *(rule for member in members for rule in _rules(member))]
    words = (("gt", "above "), ("ge", "at least "), ("lt", "below "), ("le", "at most "))
    bounds = [
        word + toml_value(bound)
        for name, word in (*words, ("multiple_of", "a multiple of "))
        for rule in rules
        if isinstance(rule, annotated_types.BaseMetadata) and (bound := getattr(rule, name, None)) is not None
    ]
    kinds = " or ".join(_type_words(member) for member in members if member is not type(None))
    # Bounds are those of the numbers, so they come before the alternative "off".
    off = ' or "off"' if type(None) in members else ""
    return " ".join([kinds, *([", ".join(bounds)] if bounds else [])]) + off


def union_members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union type, or the one type."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def toml_value(value: Any) -> str:
    """One value in TOML; None is written ``"off"``.

    Example:
        >>> toml_value({"room": 20, "sides": [1.5, 2.0], "boxes": False})
        '{ room = 20, sides = [1.5, 2.0], boxes = false }'
    """
    if value is None:
        return '"off"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but TOML also requires DEL to be escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, pydantic.BaseModel):
        return toml_value(value.model_dump(exclude_defaults=True))
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise UserError(
        f"value {value!r} of type {type(value).__name__} cannot be kept in settings; use numbers, texts, lists"
    )


def _lines(settings: pydantic.BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    fields = type(settings).model_fields
    groups: list[tuple[tuple[str, ...], pydantic.BaseModel]] = []
    for name, field in fields.items():
        value = getattr(settings, name)
        if isinstance(value, pydantic.BaseModel):
            groups.append(((name,), value))
            continue
        if (
            value
            and isinstance(value, Mapping)
            and all(isinstance(v, pydantic.BaseModel) for v in value.values())
        ):
            groups += [((name, str(key)), own) for key, own in value.items()]
            continue
        comment = f"  # {' '.join(field.description.split())}" if field.description else ""
        yield f"{_key(name)} = {toml_value(value)}{comment}"
    for place, group in groups:
        yield ""
        yield f"[{'.'.join(map(_key, (*path, *place)))}]"
        yield from _lines(group, (*path, *place))


def _key(key: Any) -> str:
    return str(key) if _BARE_KEY.fullmatch(str(key)) else toml_value(str(key))


def _rules(kind: Any) -> list[Any]:
    """The constraints of ``Annotated[kind, Field(ge=1)]``, in words."""
    if typing.get_origin(kind) is not typing.Annotated:
        return []
    found: list[Any] = []
    for item in typing.get_args(kind)[1:]:
        found += item.metadata if isinstance(item, pydantic.fields.FieldInfo) else [item]
    return found


def _type_words(kind: Any) -> str:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _type_words(inside[0])
    if origin is typing.Literal:
        return f"one of {', '.join(str(choice) for choice in inside)}"
    if origin in (tuple, list):
        count = "" if origin is list or inside[-1:] == (...,) else f"{len(inside)} "
        return f"a list of {count}{_plural(inside[0])}"
    if origin is dict or (isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)):
        return "a group of keys"
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))


def _plural(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        return "groups of keys"
    if typing.get_origin(kind) is typing.Literal:
        return f"values among {', '.join(str(choice) for choice in typing.get_args(kind))}"
    return {int: "whole numbers", float: "numbers", str: "texts", bool: "true or false"}.get(kind, "values")
