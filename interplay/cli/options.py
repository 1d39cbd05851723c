"""Telling names from `key=value` pairs among a verb's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.core.errors import UserError


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
