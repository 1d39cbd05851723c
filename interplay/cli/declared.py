"""Verbs as plain functions: a signature and its docstring declare arguments, options, help and examples once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

from interplay.cli.options import named_path, read_focus, read_size, threads, whole_number


class _Kind(NamedTuple):
    """How an argument of a type is typed.

    Attributes:
        type: the option's.
        metavar: in the help; None: typer's own.
        parser: text -> value.
        read: what was typed -> the argument, errors of which are those of the verb.
    """

    type: Any
    metavar: str | None = None
    parser: Callable[..., Any] | None = None
    read: Callable[[Any], Any] = lambda value: value


def _pairs(words: list[str] | None) -> dict[str, Any]:
    from interplay.core.settings import parse_overrides

    return parse_overrides(words or [])


def _numbers(words: str) -> tuple[int, ...]:
    """``16,32`` -> (16, 32).

    Raises:
        typer.BadParameter: for other words.
    """
    try:
        return tuple(int(part) for part in words.split(","))
    except ValueError:
        raise typer.BadParameter(f"{words!r} is no list of whole numbers; write for example 16,32") from None


_WRITTEN = {"out", "bank"}  # arguments of any verb where files will be written
_LIST = _Kind(list[str] | None, read=lambda words: words or ())
KINDS = {
    "bool": _Kind(bool),
    "str": _Kind(str),
    "str | None": _Kind(str | None),
    "object": _Kind(str),
    "int": _Kind(int),
    "int | str | None": _Kind(str | None, "auto|INTEGER", threads),
    "str | Group | None": _Kind(str | None),
    "int | None": _Kind(int | None, "INTEGER", whole_number),
    "float | None": _Kind(float | None),
    "str | Path | Policy | RunFolder": _Kind(str, "RUN|POLICY"),
    "Sequence[str | Path]": _LIST,
    "Sequence[str]": _LIST,
    "Sequence[Path]": _Kind(list[Path]),
    "Sequence[int]": _Kind(str, "N,N,...", _numbers),
    "Mapping[str, Any] | None": _Kind(list[str] | None, "KEY=VALUE", read=_pairs),
    "int | tuple[int, int] | None": _Kind(str, "SIDE|WIDTHxHEIGHT", read=read_size),
    "int | tuple[float, float] | None": _Kind(str, "AGENT|X,Y", read=read_focus),
    "Path": _Kind(Path, "PATH", named_path),
    "str | Path": _Kind(Path, "PATH", named_path),
    "Path | None": _Kind(Path | None, "PATH", named_path),
    "str | Path | None": _Kind(Path | None, "PATH", named_path),
}
# Argument -> how its value is shown, in every verb that has it.
METAVARS = {
    "coordinator": "HOST:PORT",
    "device": "cpu|gpu|gpu:N|auto",
    "font_size": "POINTS",
    "label": "KEY=TEXT",
    "players": "RUN|POLICY",
    "ray": "auto|HOST:PORT",
    "precision": "float32|bfloat16",
    "roles": "SIDE=RUN|POLICY",
    "run": "RUN",
    "size": "WIDTH[xHEIGHT]",
}
# Of every verb that has them.
HELP = {
    "compress": "Deflate what worlds in play send, for a slow line to another machine.",
    "font_size": "Of the labels of axes.  [default: 9]",
    "host": "Of the address; that under which this machine is reached lets other machines in.",
    "json": "Print JSON instead of tables.",
    "no_browser": "Print the address and open nothing.",
    "option": "An option of the world.",
    "label": "TEXT instead of a group's label; KEY is the label, or one of the group's runs.",
    "size": "Inches, e.g. 5.5 or 5.5x3; a width may be column (3.25) or page (6.75).  [default: as the panels need]",
    "title": "Above the panels.",
    "trust": "Run the programs (module:name) that a run or file from elsewhere names; it is remembered, so once for each.",
}


def declared(
    *functions: Callable[..., Any],
    arguments: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    short: Mapping[str, str] = MappingProxyType({}),
    **metavars: str,
) -> Callable[[Callable[..., None]], Any]:
    """Declares a verb by its signature and docstring, and by those of the functions that it calls.

    Positional parameters of the verb are typed without dashes, keyword-only ones are options. The section ``Example:`` of its docstring
    becomes its attribute ``example``. A verb without ``**`` gets only those arguments of the function that it names.

    Args:
        functions: the first declares further arguments; the docstrings of all explain them.
        arguments: arguments of the function that are typed without dashes, in this order.
        without: arguments of the function that are left out.
        short: option -> a letter for it, e.g. ``-n``.
        metavars: argument -> how its value is shown in the help.
    """
    shared = inspect.signature(functions[0]).parameters.values() if functions else ()
    every = [one for one in shared if one.name not in without and one.kind is not one.VAR_KEYWORD]
    every.sort(key=lambda one: [*arguments, one.name].index(one.name))

    def decorate(verb: Callable[..., None]) -> Any:
        own = inspect.signature(verb).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in own.values())
        found = {one.name: one for one in every if takes_all or one.name in own}
        typed = {*arguments}
        for one in own.values():
            if one.name not in found and one.kind is not one.VAR_KEYWORD:
                found[one.name] = one
                typed |= {one.name} if one.kind is one.POSITIONAL_OR_KEYWORD else set()
        help_ = dict(HELP)
        for function in (*reversed(functions), verb):
            help_ |= _help_of(function)

        @wraps(verb)
        def called(**given: Any) -> None:
            read = {
                name: KINDS[one.annotation].read for name, one in found.items() if one.annotation in KINDS
            }
            values = {name: read[name](value) if name in read else value for name, value in given.items()}
            for name in _WRITTEN & {one for one, value in values.items() if isinstance(value, Path)}:
                values[name] = values[name].absolute()  # an environment may change the working folder
            verb(**values)

        parameters = []
        for name, one in found.items():
            if one.annotation in KINDS:
                metavar = metavars.get(name, METAVARS.get(name))
                one = _option(one, help_.get(name, ""), metavar, name in typed, short.get(name))
            else:  # typer's own declaration
                types = inspect.get_annotations(verb, eval_str=True)
                one = one.replace(kind=one.KEYWORD_ONLY, annotation=types[name])
            parameters.append(one)
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        text, _, example = inspect.cleandoc(verb.__doc__ or "").partition("\n\nExample:\n")
        called.__doc__ = text.partition("\n\nArgs:\n")[0]
        called.example = inspect.cleandoc(example)  # type: ignore[attr-defined]
        return called

    return decorate


def _option(
    one: inspect.Parameter, text: str, metavar: str | None, argument: bool, short: str | None
) -> inspect.Parameter:
    """An argument of a function as typer declares it, as an option or an argument of the verb."""
    kind, default, name = KINDS[one.annotation], one.default, one.name.replace("_", "-")
    flags = [f"--{name}", *([short] if short else [])]
    if kind.type is bool:
        flag = f"--{name}/--no-{name}" if default else f"--{name}"
        info = typer.Option(flag, help=text, show_default=False)
    else:
        repeated = kind is _LIST or one.name in ("option", "options")
        if repeated and not argument:
            text = re.sub(r"(  \[default: .*\])?$", r" May be repeated.\1", text, count=1)
        shown: dict[str, Any] = {"help": text, "metavar": metavar or kind.metavar, "parser": kind.parser}
        if kind.type is int:
            shown["min"] = min(default, 1)
        flags = ["--option"] if name == "options" else flags
        info = typer.Argument(**shown) if argument else typer.Option(*flags, **shown)
        if isinstance(default, tuple):
            default = None if repeated else ",".join(map(str, default))
        elif default is None and kind.type is str:
            default = ""
    return one.replace(kind=one.KEYWORD_ONLY, default=default, annotation=Annotated[kind.type, info])


def _help_of(function: Callable[..., Any]) -> dict[str, str]:
    """Argument -> its help, from `Args:` of a Google docstring; entries that only refer to another function are left out."""
    section = inspect.cleandoc(function.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = [entry.strip().partition(": ")[::2] for entry in re.split(r"\n(?=    \S)", section)]
    known = inspect.signature(function).parameters

    def plain(quoted: re.Match[str]) -> str:
        return f"--{quoted[1].replace('_', '-')}" if quoted[1] in known else quoted[1]

    found = {}
    for name, text in entries:
        words = re.sub(r"(?<!`)`([\w.]+)`", plain, " ".join(text.split())).replace("``", "")
        words = re.sub(r"\. None: (.*?)\.?$", r".  [default: \1]", words)
        found[name] = words[:1].upper() + words[1:]
    return {name: text for name, text in found.items() if not re.fullmatch(r"As for [\w.]+\.", text)}
