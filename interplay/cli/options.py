"""Arguments that several verbs take, and telling names from `key=value` pairs among them."""

from __future__ import annotations

from collections.abc import Sequence
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
