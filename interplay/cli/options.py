"""Values as they are typed: sizes, places, paths, whole numbers, and names among `key=value` pairs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import typer

from interplay.core.errors import UserError
from interplay.core.reading import MOST_NUMBER


def threads(typed: str | int) -> int | str:
    """``auto``, or a whole number from 1 to 1024."""
    if typed == "auto":
        return typed
    if str(typed).isdecimal() and 1 <= int(typed) <= 1024:
        return int(typed)
    raise typer.BadParameter(f"{str(typed)[:20]!r} is neither auto nor a whole number from 1 to 1024")


def read_size(words: str) -> int | tuple[int, int] | None:
    """Pixels from ``"512"`` or ``"900x600"``; None from ""."""
    if not words:
        return None
    sides = words.split("x")
    if len(sides) > 2 or not all(side.isdecimal() for side in sides):
        raise UserError(f"--size {words}: no size; write pixels as 512 or 900x600")
    pixels = [int(side) for side in sides]
    return pixels[0] if len(pixels) == 1 else (pixels[0], pixels[1])


def read_focus(words: str) -> int | tuple[float, float] | None:
    """An agent from ``"17"``, a place from ``"12,30.5"``; None from ""."""
    if not words:
        return None
    if words.isdecimal():
        return int(words)
    try:
        x, y = (float(part) for part in words.split(","))
    except ValueError:
        raise UserError(
            f"--focus {words}: no agent and no place; write an agent's number, 17, or a place, 12,30.5"
        ) from None
    return x, y


def named_path(typed: str | Path) -> Path:
    """A path that was typed; an empty one, as of a shell variable that is not set, would mean the working folder.

    Raises:
        typer.BadParameter: for no path.
    """
    text = str(typed)  # a default comes through here as the path that it is
    if not text.strip() or "\0" in text:
        raise typer.BadParameter(f"{text!r} is no path; name a file or folder, or . for this one")
    return Path(text)


def whole_number(typed: str | int) -> int:
    """A whole number from 0 on that was typed, also as 1_000_000 or 1e6, exactly.

    Raises:
        typer.BadParameter: for anything else, such as 1e-3 or 1.5e0.

    Example:
        >>> whole_number("1.5e6"), whole_number("1_000")
        (1500000, 1000)
    """
    try:
        number = Decimal(str(typed))
        if number == number.to_integral_value() and 0 <= number < MOST_NUMBER:
            return int(number)
    except ArithmeticError:
        pass
    raise typer.BadParameter(
        f"{typed!r} is no whole number from 0 on; write for example 1000000, 1_000_000 or 1e6"
    )


def agent_steps(typed: str | int) -> int:
    """As `whole_number`, 1 at least."""
    if (number := whole_number(typed)) < 1:
        raise typer.BadParameter(f"{typed!r} is not in the range x>=1.")
    return number


def split_options(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Separates names from options.

    Args:
        words: what was typed, e.g. ``["survival/1v1-heals-low", "health_cap=100"]``.

    Returns:
        The words without ``=``, and the others as a nested mapping of values.
    """
    from interplay.core.settings import parse_overrides

    names = [word for word in words if "=" not in word]
    if not names:
        raise UserError(
            f"{' '.join(words)}: only options, no world; name at least one, `interplay worlds` lists all"
        )
    return names, parse_overrides([word for word in words if "=" in word])
