"""Training: PPO on batches of worlds, built from fixed shards, resumable bit for bit; and small trainers for one simulation.

The small ones (`interplay.train.tabular`) can be imported from here. They need neither jax nor torch and are loaded when
they are first used. The package itself is what ``interplay.train(...)`` calls (`interplay.verbs.training.train`).
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

# XLA alarms the terminal with a page where it compiles long; we say that in a line of our own
# (`interplay.core.waiting`), and what fails is raised. It reads this where jax is first imported, which is below.
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
