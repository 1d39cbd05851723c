"""Tests of a world, for its author's pytest files: ``test_my_world = world_laws("my_package:MyWorld")``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import pytest

from interplay.checker import LAWS, Report, check_world
from interplay.core.world import Array, World
from interplay.registry import make_world


def world_laws(
    world: str | Callable[..., World],
    *,
    steps: int = 300,
    seed: int = 0,
    num_worlds: int = 4,
    alive: Callable[[World], Array] | None = None,
    ignore: Collection[str] = (),
    **options: Any,
) -> Callable[[str], None]:
    """A parametrised test, one case for each law of the protocol. The first case plays the world.

    A case fails with the findings of its law. It is skipped with a message if nothing was found but a part of the check could
    not run.

    Args:
        world: registry id, ``module:Class``, or ``make(num_worlds, seed)`` that builds a batch (a class may be one).
        steps, seed, num_worlds, alive: as for `interplay.checker.check_world`.
        ignore: laws that get no test.
        **options: of the world.

    Returns:
        The test; give it a name that begins with ``test_``.

    Example:
        >>> test_survival = world_laws("survival/1v1-heals-low", steps=100)
    """

    def make(count: int, seed: int) -> World:
        if isinstance(world, str):
            return make_world(world, num_worlds=count, seed=seed, **options)
        return world(count, seed, **options)

    @functools.cache
    def report() -> Report:
        return check_world(make, steps=steps, seed=seed, num_worlds=num_worlds, alive=alive, ignore=ignore)

    @pytest.mark.parametrize("law", [law for law in LAWS if law not in ignore])
    def test_law(law: str) -> None:
        found = [str(finding) for finding in report().findings if finding.law == law]
        if found:
            pytest.fail("\n".join(found), pytrace=False)
        if report().skipped:
            pytest.skip(f"nothing found, but not judged: {'; '.join(report().skipped)}")

    return test_law
