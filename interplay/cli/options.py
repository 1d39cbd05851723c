"""Arguments that several verbs take, and telling names from `key=value` pairs among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.core.errors import UserError

Roles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=RUN|POLICY",
        help="Who plays a population of the world instead, e.g. werewolf=revenge; may be given several times.",
    ),
]

Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Open what was not made by you on this machine although it names programs (module:name), which are run then; "
        "it is signed, so it is asked for once.",
    ),
]


def named_path(typed: str | Path) -> Path:
    """A path that was typed; an empty one, as of a shell variable that is not set, would mean the working folder.

    Raises:
        typer.BadParameter: for no path.
    """
    text = str(typed)  # a default comes through here as the path that it is
    if not text.strip() or "\0" in text:
        raise typer.BadParameter(f"{text!r} is no path; name a file or folder, or . for this one")
    return Path(text)


def split_options(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Separates names from options.

    Args:
        words: what was typed, e.g. ``["survival/1v1-heals-low", "health_cap=100"]``.

    Returns:
        The words without ``=``, and the others as a nested mapping of values.

    Raises:
        UserError: if only options were given, or a pair cannot be read.
    """
    from interplay.core.settings import parse_overrides

    names = [word for word in words if "=" not in word]
    if not names:
        raise UserError(
            f"{' '.join(words)}: only options, no world; name at least one, `interplay worlds` lists all"
        )
    return names, parse_overrides([word for word in words if "=" in word])
