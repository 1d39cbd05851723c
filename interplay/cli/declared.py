"""Options of a verb that are the arguments of a Python function: its signature and its docstring declare them once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
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
    "str | Path | Policy | Run": _Kind(str, "RUN|POLICY"),
    "Sequence[str | Path]": _Kind(list[str] | None, "RUN|POLICY", read=lambda words: words or ()),
    "Sequence[str]": _Kind(list[str] | None, "SIDE=RUN|POLICY", read=lambda words: words or ()),
    "Sequence[int]": _Kind(str, "N,N,...", _numbers),
    "Mapping[str, Any] | None": _Kind(list[str] | None, "KEY=VALUE", read=_pairs),
    "int | tuple[int, int] | None": _Kind(str, "SIDE|WIDTHxHEIGHT", read=read_size),
    "int | tuple[float, float] | None": _Kind(str, "AGENT|X,Y", read=read_focus),
    "str | Path": _Kind(Path, "PATH", named_path),
    "str | Path | None": _Kind(Path | None, "PATH", named_path),
}


def declared(
    *functions: Callable[..., Any],
    arguments: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    **metavars: str,
) -> Callable[..., Any]:
    """Gives a verb the arguments of the first function, beside its own; it is called with the values that the function takes.

    A verb without ``**`` gets only those that it names.

    Args:
        functions: the first declares the arguments; the docstrings of all explain them.
        arguments: arguments that are typed without dashes, in this order.
        without: arguments that are left out.
        metavars: argument -> how its value is shown in the help.
    """
    help_ = {name: text for function in reversed(functions) for name, text in _help_of(function).items()}
    found = inspect.signature(functions[0]).parameters.values()
    every = [one for one in found if one.name not in without and one.kind is not one.VAR_KEYWORD]
    every.sort(key=lambda one: [*arguments, one.name].index(one.name))

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        added = inspect.signature(verb).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in added.values())
        own = [one for one in every if takes_all or one.name in added]

        @wraps(verb)
        def called(**given: Any) -> None:
            for one in own:
                given[one.name] = KINDS[one.annotation].read(given[one.name])
            verb(**given)

        given_names = {one.name for one in own}
        parameters = [
            _option(one, help_.get(one.name, ""), metavars.get(one.name), one.name in arguments)
            for one in own
        ]
        types = inspect.get_annotations(verb, eval_str=True)
        parameters += [
            one.replace(kind=one.KEYWORD_ONLY, annotation=types[one.name])
            for one in added.values()
            if one.kind is not one.VAR_KEYWORD and one.name not in given_names
        ]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        return called

    return decorate


def _option(
    one: inspect.Parameter, text: str, metavar: str | None = None, argument: bool = False
) -> inspect.Parameter:
    """An argument of a function as typer declares it, as an option or an argument of the verb."""
    kind, default, name = KINDS[one.annotation], one.default, one.name.replace("_", "-")
    if kind.type is bool:
        words, flag = (
            (f"Do not {text[:1].lower()}{text[1:]}", f" /--no-{name}") if default else (text, f"--{name}")
        )
        info = typer.Option(flag, help=words, show_default=False)
    else:
        repeated = kind.type == list[str] | None
        if repeated and not argument:
            text += " May be repeated."
        shown: dict[str, Any] = {"help": text, "metavar": metavar or kind.metavar, "parser": kind.parser}
        if kind.type is int:
            shown["min"] = min(default, 1)
        flag = "--option" if name == "options" else f"--{name}"
        info = typer.Argument(**shown) if argument else typer.Option(flag, **shown)
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
