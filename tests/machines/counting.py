"""State machines of Hypothesis that count their rules, and runs of them until so many were tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = 60  # rules of one example at most
EXAMPLES = 25  # of one run
_QUIET = list(HealthCheck)


class Counting(RuleBasedStateMachine):
    """A machine whose subclasses call `note` in every rule.

    Attributes:
        counts: name of the rule -> how often it was tried, over all examples of the class.
    """

    counts: dict[str, int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.counts = {}

    def note(self, name: str) -> None:
        """Counts a rule."""
        self.counts[name] = self.counts.get(name, 0) + 1


def try_rules(
    machine: type[Counting],
    rules: int,
    first_seed: int = 0,
    tell: Callable[[int], None] | None = None,
    shrink: bool = True,
) -> dict[str, int]:
    """Runs a machine until so many rules were tried.

    Args:
        machine: the class; counting begins anew.
        rules: how many at least.
        first_seed: of the examples: the same seed, the same rules.
        tell: called with the number so far after every run.
        shrink: look for the shortest way to a law that does not hold.

    Returns:
        Name of the rule -> how often it was tried.

    Raises:
        AssertionError: a law that does not hold, with the shortest way to it that Hypothesis found.
    """
    machine.counts.clear()
    chosen = settings(
        max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, database=None, derandomize=False,
        suppress_health_check=_QUIET, phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,), print_blob=False,
    )  # fmt: skip
    number = first_seed
    while sum(machine.counts.values()) < rules:
        run_state_machine_as_test(seed(number)(machine), settings=chosen)
        number += 1
        if tell is not None:
            tell(sum(machine.counts.values()))
    return dict(machine.counts)
