"""Reads the agents' actions, or refuses them with an `AssertionError`, as SMAC does."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import Refused


def read_actions(owner: str, actions: Any, legal: np.ndarray) -> np.ndarray:
    """(n,) int64, the chosen actions.

    Args:
        owner: named in errors.
        actions: (n,) whole numbers, or an array or tensor (n, 1), also on a GPU; in a list each is a number or holds one. SMAC takes
            ``int`` of each, so a list of lists is refused, as there.
        legal: (n, n_actions) bool.

    Raises:
        Refused: an `AssertionError`, for actions that are illegal, or none.

    Example:
        >>> read_actions("battle/3m", np.array([[1.0], [0.0]]), np.eye(2, dtype=bool)[::-1])
        array([1, 0])
        >>> read_actions("battle/3m", [0, 0], np.eye(2, dtype=bool)[::-1])
        Traceback (most recent call last):
        interplay.core.errors.Refused: battle/3m: agent 0 chose action 0, legal are [1] now; choose by get_avail_agent_actions(0)
    """
    agents, choices = legal.shape
    try:
        given = np.asarray(_on_host(actions))
    except ValueError:  # lists of several lengths
        given = np.zeros(())
    if given.shape not in ((agents,), (agents, 1)):
        raise Refused(f"{owner}: actions of shape {given.shape}; pass one number for each of {agents} agents")
    if isinstance(actions, list | tuple):
        for agent, one in enumerate(actions):
            if isinstance(one, list | tuple) or np.asarray(_on_host(one)).dtype.kind == "b":
                raise Refused(
                    f"{owner}: agent {agent}'s action is {one!r}; pass one whole number for each of {agents} agents"
                )
    given = given.reshape(-1)
    if not _are_whole(given):
        raise Refused(f"{owner}: actions = {given.tolist()}; pass whole numbers")
    outside = (given < 0) | (given >= choices)
    if outside.any():
        agent = int(outside.argmax())
        raise Refused(
            f"{owner}: agent {agent} chose action {int(given[agent])}, n_actions = {choices} here; read get_env_info() of this scenario"
        )
    numbers = given.astype(np.int64)
    wrong = ~legal[np.arange(agents), numbers]
    if wrong.any():
        agent = int(wrong.argmax())
        raise Refused(
            f"{owner}: agent {agent} chose action {numbers[agent]}, legal are {np.flatnonzero(legal[agent]).tolist()} now; "
            f"choose by get_avail_agent_actions({agent})"
        )
    return numbers


def _on_host(actions: Any) -> Any:
    """Tensors as lists of numbers: NumPy cannot read PyMARL's from a GPU."""
    if hasattr(actions, "tolist"):
        return actions.tolist()
    return [_on_host(one) for one in actions] if isinstance(actions, list | tuple) else actions


def _are_whole(numbers: np.ndarray) -> bool:
    if numbers.dtype.kind == "f":
        return bool((np.isfinite(numbers) & (numbers == np.trunc(numbers))).all())
    return numbers.dtype.kind in "iu"
