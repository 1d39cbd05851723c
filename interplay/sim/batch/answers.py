"""The forms of an environment's `reset` and `step`, and one-line errors for deviations."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.core.errors import UserError

ALL = "__all__"
_DICT = {dict}


class Form(NamedTuple):
    """An interface of environments: its name, and the parts that its two calls return.

    Attributes:
        named: whether each part is a dict by agent; else only the last one is a dict.
    """

    name: str
    reset: tuple[str, ...]
    step: tuple[str, ...]
    named: bool


PARALLEL = Form(
    "a PettingZoo ParallelEnv",
    ("observations", "infos"),
    ("observations", "rewards", "terminations", "truncations", "infos"),
    named=True,
)
ALONE = Form(
    "a Gymnasium Env",
    ("observation", "info"),
    ("observation", "reward", "terminated", "truncated", "info"),
    named=False,
)


def require_seed(form: str, reset: Any) -> None:
    """Refuses a `reset` that takes no seed."""
    try:
        parameters = inspect.signature(reset).parameters
    except (TypeError, ValueError):
        return
    if "seed" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise UserError(f"reset() takes no seed; {form} has reset(seed=None, options=None)")


def of_reset(given: Any, form: Form = PARALLEL) -> Any:
    """The result of `reset`, if it has the form."""
    return given if _fits(given, 2, form.named) else _refuse("reset", given, form, form.reset)


def of_step(given: Any, form: Form = PARALLEL) -> Any:
    """The result of `step`, if it has the form."""
    if type(given) is tuple and len(given) == 5:  # the usual case, in one look
        usual = {*map(type, given)} == _DICT if form.named else type(given[4]) is dict
        if usual:
            return given
    return given if _fits(given, 5, form.named) else _refuse("step", given, form, form.step)


def _fits(given: Any, count: int, named: bool) -> bool:
    if not isinstance(given, tuple | list) or len(given) != count:
        return False
    return all(isinstance(part, Mapping) for part in (given if named else given[-1:]))


def _refuse(call: str, given: Any, form: Form, parts: tuple[str, ...]) -> Any:
    dicts = "each a dict by agent" if form.named else f"{parts[-1]} a dict"
    raise UserError(
        f"{call}() gave {_seen(given, form, parts)}; {form.name} gives ({', '.join(parts)}), {dicts}"
    )


def _seen(given: Any, form: Form, parts: tuple[str, ...]) -> str:
    if not isinstance(given, tuple | list):
        return f"a {type(given).__name__}"
    if len(given) != len(parts):
        return f"{len(given)} values"
    pairs = [*zip(parts, given, strict=True)][0 if form.named else -1 :]
    return next(f"{name} as {type(part).__name__}" for name, part in pairs if not isinstance(part, Mapping))


def check_all(
    terminations: Mapping[Any, Any],
    truncations: Mapping[Any, Any],
    before: Sequence[Any],
    left: Collection[Any],
) -> None:
    """Refuses RLlib's ``__all__`` where it contradicts the agents' own flags.

    Args:
        terminations, truncations: of a step; one of them has the key.
        before: agents of the step.
        left: those that go on.

    Raises:
        UserError: if no agent has a flag beside ``__all__``, or ``__all__`` is True and an agent goes on.
    """
    for name, flags in (("terminations", terminations), ("truncations", truncations)):
        alone = flags.keys() == {ALL}
        on = [agent for agent in before if agent in left]
        if alone or (flags.get(ALL) and on):
            raise UserError(
                f'{name}["{ALL}"] = {bool(flags[ALL])} {"alone" if alone else f"while {on[0]} goes on"}: {ALL} is RLlib\'s and is '
                f"not read; set {name}[agent] = True for each agent that ends"
            )
