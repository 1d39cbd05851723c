"""The base class of algorithms: length of a rollout, advantages and targets, loss, optimiser."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import optax

from interplay.train.advantage import Returns, generalised_advantage
from interplay.train.losses import Prediction, Rates, Terms
from interplay.train.reward_scale import Groups, Scale
from interplay.train.schedules import Schedules

if TYPE_CHECKING:
    from interplay.train.batches import Batch
    from interplay.train.settings.algorithms import RatesGroup

ADAM_EPSILON = 1e-5  # as Stable-Baselines3's policies, and with it the preset


class Rule(Protocol):
    """The part of an algorithm that rollouts read.

    Attributes:
        rollout: steps of each world per update.
        horizon: steps after which a running life's older samples are trained on anyway; 0: every sample at once.
        minibatch: most samples per gradient step, see `Shard.units_per_step`; None: all that are ready.
        gamma: discount per step, or per decision.
        gae_lambda: lambda of generalised advantage estimation; 1 gives discounted returns.
        by_decision: gamma counts a slot's own decisions, not steps of the world.
        reward_scale: rewards are multiplied by it; or factors by pattern of agents' names.
        normalise_reward: divide rewards by the running deviation of returns, of each ``kind`` or ``agent``; None: leave them.
        sequence: steps of backpropagation through time.
        mask_dead: train on acting steps only; else also on steps of dead agents that are present.
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
        """Turns one population's mean gradient into a direction; the step is ``-learning_rate`` times it."""
        ...


class Segments(NamedTuple):
    """The trajectories of a shard's slots; (H + T, W, A) jax arrays, with the H earlier steps of `Algorithm.horizon`.

    `value` is by the networks that played and `log_ratio` 0, until an algorithm that `corrects` estimates again: before further epochs,
    and with actors before the first. Then both are by the present networks, in the steps with samples.

    Attributes:
        reward: float32, earned in the step, scaled.
        value: float32, V of the observation that the step began with.
        acting: bool, the step trains the policy: the slot acted, or `mask_dead` is off and its agent is dead but present.
        ended: bool, the slot's life or its world's episode ended in the step.
        bootstrap: float32, read where `ended`: 0 if terminated, V of the last observation if truncated.
        last_value: (W, A) float32, V of the observation after the last step.
        log_ratio: float32, log-probability of the action now less that when it was drawn.
    """

    reward: Any
    value: Any
    acting: Any
    ended: Any
    bootstrap: Any
    last_value: Any
    log_ratio: Any


class Algorithm(Rule):
    """An on-policy algorithm; a subclass writes `loss` and overrides the rest as needed.

    Args:
        settings: the run's group of its name; fields with the names of attributes are copied. A user-defined class gets the run's
            `TrainSettings` instead, and writes `__init__` and `rates`.

    Attributes:
        epochs: most passes over the samples of an update.
        normalise: bring every population's advantages to mean 0 and deviation 1.
        corrects: `estimate` is called again before each further epoch, with the current values and log-probs.
        decouples: `loss` is a surrogate of probability ratios and linear in the advantage, so samples of an older policy are
            learnt from by log-probs computed anew and advantages times ``min(1, pi / pi_old)`` (`train.actors`).
    """

    rollout = 32
    horizon = 0
    minibatch: int | None = None
    epochs = 1
    gamma, gae_lambda = 0.99, 1.0
    by_decision = False
    reward_scale: Scale = 1.0
    normalise_reward: Groups | None = None
    normalise = True
    sequence = 16
    mask_dead = True
    corrects = False
    decouples = False

    def __init__(self, settings: Any) -> None:
        group: RatesGroup = settings
        self._schedules = Schedules(group)
        for name in (*Rule.__annotations__, "epochs"):
            if name in type(group).model_fields:
                setattr(self, name, getattr(group, name))
        self.by_decision = getattr(group, "discount", "step") == "decision"
        self.normalise = getattr(group, "normalise_advantage", self.normalise)

    def rates(self, share: float, population: str) -> dict[str, float]:
        """The rates of a population after a share of the run."""
        return self._schedules.at(share, population)

    def entropy_coefficient(self, rates: Rates) -> Any:
        """The weight of the entropy; None if it is 0 for the whole run, so that its gradient is not computed."""
        return rates["entropy_coefficient"] if self._schedules.ever("entropy_coefficient") else None

    def estimate(self, segments: Segments) -> Returns:
        """Advantages, not normalised, and value targets, (T, W, A) each; jitted. By default generalised advantage estimation."""
        return generalised_advantage(
            segments.reward,
            segments.value,
            segments.acting,
            segments.ended,
            segments.bootstrap,
            segments.last_value,
            self.gamma,
            self.gae_lambda,
            self.by_decision,
        )

    @abstractmethod
    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """The minimised sum over rows, and its terms.

        Args:
            predicted: by the networks that learn, (B,) each.
            samples: B rows.
            counts: (B,) float32, 1 where the row trains the value, 0 for padding.
            rates: name -> () float32, from `rates`.
        """

    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with the gradient of each kind and population clipped to a norm of 0.5."""
        return optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=ADAM_EPSILON))

    def enough(self, terms: Terms) -> Any:
        """Whether the update ends before the step of this minibatch.

        Args:
            terms: sums over all rows, jax scalars; the result is one, or a plain bool.
        """
        return False
