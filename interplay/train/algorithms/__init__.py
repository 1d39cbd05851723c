"""Algorithms: what a run learns from its samples, and how.

An algorithm is a class that is made of the run's settings and has what `Algorithm` says. The trainer does the rest: it plays, keeps
samples, estimates advantages, cuts minibatches, adds gradients up over shards and moves every population by its own optimiser
(`interplay.train.update` is the page that shows it).

``algorithm = "my_package.my_module:Mine"`` trains with one of your own; `examples/own_algorithm.py` has one in a page. What learns from replay (`interplay.train.factored`) is a `Rule` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import jax
import optax

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.train.algorithms.policy_gradient import PolicyGradient
from interplay.train.algorithms.ppo import Ppo
from interplay.train.algorithms.value_factorisation import ValueFactorisation
from interplay.train.losses import Prediction, Rates, Terms
from interplay.train.reward_scale import Groups, Scale
from interplay.train.settings import TrainSettings

if TYPE_CHECKING:
    from interplay.train.policy_network import Batch

__all__ = ["Algorithm", "PolicyGradient", "Ppo", "Rule", "ValueFactorisation", "make_algorithm", "make_rule"]

_METHODS = ("rates", "loss", "optimiser", "enough")
_NUMBERS = (
    "rollout",
    "horizon",
    "minibatch",
    "epochs",
    "gamma",
    "gae_lambda",
    "by_decision",
    "reward_scale",
    "normalise_reward",
    "normalise",
    "sequence",
    "mask_dead",
)


class Rule(Protocol):
    """What playing asks of an algorithm.

    Attributes:
        rollout: steps of each world per update.
        horizon: steps after which a running life's older samples are learnt from anyway; 0: every sample at once.
        minibatch: samples per gradient step, over all shards; None: all that are ready.
        gamma: discount per step, or per decision.
        gae_lambda: lambda of generalised advantage estimation; 1 gives discounted returns.
        by_decision: gamma counts a slot's own decisions, not steps of the world.
        reward_scale: rewards are multiplied by it; or factors by pattern of agents' names.
        normalise_reward: divide rewards by the running deviation of returns, of each ``kind`` or ``agent``; None: leave them.
        sequence: steps that memory is learnt through at once.
        mask_dead: learn from steps whose action was read; else also from those of the dead who are present.
    """

    rollout: int
    horizon: int
    minibatch: int | None
    gamma: float
    gae_lambda: float
    by_decision: bool
    reward_scale: Scale
    normalise_reward: Groups | None
    sequence: int
    mask_dead: bool

    def rates(self, share: float, population: str) -> dict[str, float]:
        """Numbers that change over the run, for one population; ``learning_rate`` is among them.

        Args:
            share: of the run that is done, 0 to 1.
            population: its name.
        """
        ...

    def optimiser(self) -> optax.GradientTransformation:
        """From one population's mean gradient to the direction in which it goes ``learning_rate`` times the way."""
        ...


class Algorithm(Rule, Protocol):
    """What the trainer asks of an algorithm that learns from its rollouts.

    Attributes:
        epochs: most passes over the samples of an update.
        normalise: bring every population's advantages to mean 0 and deviation 1.
    """

    epochs: int
    normalise: bool

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """What is minimised, a sum over rows, and its terms.

        Args:
            predicted: by the networks that learn, (B,) each.
            samples: B rows.
            counts: (B,) float32, 1 where the row teaches the value, 0 for padding.
            rates: name -> () float32, as `rates` gave them.
        """
        ...

    def enough(self, terms: Terms) -> Any:
        """Whether the terms of a minibatch, sums over all rows, say that this update has learnt enough: its step is not taken.

        It is compiled with the rest: terms are jax scalars, and the answer is one or a plain bool.
        """
        ...


def make_rule(settings: TrainSettings) -> Rule:
    """What playing asks of the algorithm that a run's settings name.

    Raises:
        UserError: as `make_algorithm`.
    """
    group = settings.factored
    return make_algorithm(settings) if group is None else ValueFactorisation(group)


def make_algorithm(settings: TrainSettings) -> Algorithm:
    """The algorithm that a run's settings name, one that learns from its rollouts.

    Raises:
        UserError: if a user's module or class cannot be found, or lacks something.
    """
    if settings.algorithm == "ppo":
        return Ppo(settings.ppo)
    if settings.algorithm == "policy_gradient":
        return PolicyGradient(settings.policy_gradient)
    return _users_own(settings)


def _users_own(settings: TrainSettings) -> Algorithm:
    name = settings.algorithm
    try:
        found: Any = load(name, users=True)
    except (ImportError, UserError) as error:
        raise UserError(f"algorithm = {name}: {error}") from error
    if not isinstance(found, type):
        raise UserError(f"algorithm = {name}: a {type(found).__name__} is no algorithm; give a class")
    made: Any = found(settings)
    lacking = [part for part in (*_METHODS, *_NUMBERS) if not hasattr(made, part)]
    if lacking:
        raise UserError(
            f"algorithm = {name}: {found.__name__} has no {lacking[0]}; see interplay.train.algorithms.Algorithm"
        )
    algorithm: Algorithm = made
    if settings.network.memory != "none" and algorithm.rollout % algorithm.sequence:
        raise UserError(
            f"algorithm = {name}: its sequence = {algorithm.sequence} does not divide its rollout = {algorithm.rollout}, as memory needs; "
            "choose one that does"
        )
    return algorithm
