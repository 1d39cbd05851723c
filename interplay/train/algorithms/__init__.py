"""Algorithms: subclasses of `Algorithm`, made from the run's settings.

The trainer plays, stores samples, cuts minibatches, sums gradients over shards and steps each population's optimiser
(`interplay.train.update`). `interplay.train.settings.algorithms` lists the built-in ones and their settings.

``algorithm = "my_package.my_module:Mine"`` trains with a user-defined one, as in `examples/own_algorithm.py`. Value factorisation, which
learns from replay (`interplay.train.factored`), is only a `Rule`.
"""

from __future__ import annotations

import inspect
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.train.algorithms.base import Algorithm, Rule, Segments
from interplay.train.settings import TrainSettings

__all__ = ["Algorithm", "Rule", "Segments", "make_algorithm", "make_rule"]


def make_rule(settings: TrainSettings) -> Rule:
    """Makes the rule of the algorithm that a run's settings name.

    Raises:
        UserError: if a user's module or class cannot be found, or lacks something.
    """
    group = settings.own_group
    if group is None:
        return _users_own(settings)
    made: Rule = load(group.implementation)(group)
    return made


def make_algorithm(settings: TrainSettings) -> Algorithm:
    """Makes the on-policy algorithm that a run's settings name."""
    made = make_rule(settings)
    assert isinstance(made, Algorithm), f"{settings.algorithm} learns from replay"
    return made


def _users_own(settings: TrainSettings) -> Algorithm:
    name = settings.algorithm
    try:
        found: Any = load(name, users=True)
    except (ImportError, UserError) as error:
        raise UserError(f"algorithm = {name}: {error}") from error
    if not isinstance(found, type) or not issubclass(found, Algorithm):
        what = f"{found.__name__} does not" if isinstance(found, type) else f"a {type(found).__name__} cannot"
        raise UserError(
            f"algorithm = {name}: {what} inherit from interplay.train.algorithms.Algorithm; give a class that does"
        )
    if inspect.isabstract(found):
        raise UserError(
            f"algorithm = {name}: {found.__name__} has no {min(found.__abstractmethods__)}; write it"
        )
    algorithm: Algorithm = found(settings)
    if settings.network.memory != "none" and algorithm.rollout % algorithm.sequence:
        raise UserError(
            f"algorithm = {name}: its sequence = {algorithm.sequence} does not divide its rollout = {algorithm.rollout}, as memory needs; "
            "choose one that does"
        )
    return algorithm
