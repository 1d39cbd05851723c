"""Scripted players (specification 4.6)."""

from __future__ import annotations

from collections.abc import Callable

from interplay.core.policy import Policy, RandomPolicy

POLICIES: dict[str, Callable[[], Policy]] = {policy.name: policy for policy in (RandomPolicy,)}
