"""Training on batches of worlds in fixed shards, resumable bit for bit; and tabular trainers for one simulation.

The tabular trainers (`interplay.train.tabular`) can be imported from here. They need neither jax nor torch and load on first
use. The package is callable: ``interplay.train(...)`` is `interplay.verbs.training.train`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from interplay.core.callable_module import make_callable

if TYPE_CHECKING:
    from interplay.train.tabular.debug import DebugTrainer
    from interplay.train.tabular.off_policy import generate_episode, off_policy
    from interplay.train.tabular.on_policy import OnPolicyMonteCarloTrainer
    from interplay.train.tabular.policies import EpsilonSoftPolicy, Policy, QTablePolicy, RandomPolicy
    from interplay.train.tabular.trainers import MultiPolicyTrainer, SinglePolicyTrainer

# XLA prints a page of warnings when compilation is slow; `interplay.core.waiting` prints one line instead, and errors are
# raised. XLA reads this variable when jax is first imported, which happens below.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

_HOMES = {
    "DebugTrainer": "debug",
    "EpsilonSoftPolicy": "policies",
    "MultiPolicyTrainer": "trainers",
    "OnPolicyMonteCarloTrainer": "on_policy",
    "Policy": "policies",
    "QTablePolicy": "policies",
    "RandomPolicy": "policies",
    "SinglePolicyTrainer": "trainers",
    "generate_episode": "off_policy",
    "off_policy": "off_policy",
}

__all__ = [
    "DebugTrainer",
    "EpsilonSoftPolicy",
    "MultiPolicyTrainer",
    "OnPolicyMonteCarloTrainer",
    "Policy",
    "QTablePolicy",
    "RandomPolicy",
    "SinglePolicyTrainer",
    "generate_episode",
    "off_policy",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"interplay.train.tabular.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


make_callable(__name__, "interplay.verbs.training:train")
