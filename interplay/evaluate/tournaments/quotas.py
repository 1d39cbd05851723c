"""How two homes share the places of a merged world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from interplay.core.errors import UserError

Rule = Literal["per_home", "per_population"]


def shares(cap: int, populations: Sequence[int], rule: Rule, names: Sequence[str]) -> tuple[int, ...]:
    """The quota of every population.

    ``per_home``: every home gets the same number of places, divided over its populations as evenly as whole numbers allow.
    ``per_population``: every population gets ceil(cap / all populations), so a home of 8 gets more than one of 1.

    Returns:
        One quota per population, home after home.

    Example:
        >>> shares(16, [1, 8], "per_home", ["one", "eight"])
        (8, 1, 1, 1, 1, 1, 1, 1, 1)
        >>> shares(16, [1, 2], "per_population", ["one", "two"])
        (6, 6, 6)
    """
    total = sum(populations)
    if rule == "per_population":
        if cap < total:
            raise UserError(
                f"cap = {cap}: {' and '.join(names)} have {total} populations, which cannot share {cap} places; "
                f"give a cap of at least {total}"
            )
        return (-(-cap // total),) * total
    if cap % len(populations):
        raise UserError(
            f"cap = {cap}: {len(populations)} homes cannot have equal parts of {cap} places; "
            f"give a multiple of {len(populations)}, or --quota per_population"
        )
    part = cap // len(populations)
    quotas: list[int] = []
    for name, count in zip(names, populations, strict=True):
        if part < count:
            raise UserError(
                f"cap = {cap}: {name} has {count} populations for its {part} places; "
                f"give a cap of at least {len(populations) * max(populations)}"
            )
        quotas += [part // count + (k < part % count) for k in range(count)]
    return tuple(quotas)
