"""A user-defined algorithm: hysteretic actor-critic. With other agents exploring, bad outcomes are often caused by them, so negative
advantages count less than positive ones (after Matignon et al. 2007, on Q-learning).

Train with it from the repository root::

    interplay train simulation/multi-corridor algorithm=examples.own_algorithm:Hysteretic network.kind=mlp --steps 20000

`interplay.train.algorithms.Algorithm` says what an algorithm is; the trainer does the rest, with populations, opponents, memory, workers and
exact resume.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from interplay.core.errors import UserError
from interplay.train.advantage import Returns
from interplay.train.algorithms import Algorithm, Segments
from interplay.train.batches import Batch
from interplay.train.losses import Prediction, Rates, Terms
from interplay.train.settings import TrainSettings


class Hysteretic(Algorithm):
    """Actor-critic, one step along every short rollout.

    Args:
        settings: of the run; ``algorithm_options`` may hold ``learning_rate``, ``entropy_coefficient`` and ``patience``.

    Raises:
        UserError: for another option.
    """

    rollout = 16
    gae_lambda = 1.0  # returns up to the end of the rollout
    normalise = False  # which would bring the balance of both signs back

    def __init__(self, settings: TrainSettings) -> None:
        options = {"learning_rate": 1e-2, "entropy_coefficient": 0.01, "patience": 0.5}
        for name, value in settings.algorithm_options.items():
            if name not in options:
                raise UserError(f"algorithm_options: no option {name}; there are {', '.join(options)}")
            options[name] = value
        self._learning_rate = float(options["learning_rate"])
        self._entropy, self._patience = float(options["entropy_coefficient"]), float(options["patience"])

    def rates(self, share: float, population: str) -> dict[str, float]:
        """The learning rate falls to zero over the run."""
        return {"learning_rate": self._learning_rate * (1.0 - share)}

    def estimate(self, segments: Segments) -> Returns:
        """Generalised advantages, the negative ones times ``patience``."""
        found = super().estimate(segments)
        return found._replace(advantage=jnp.where(found.advantage < 0, self._patience, 1.0) * found.advantage)

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """``-log pi A``, half the squared error of the value, and an entropy bonus: sums over the rows."""
        acts, zero = samples.acts, jnp.zeros((), jnp.float32)
        error = predicted.value - samples.target
        terms = Terms(
            policy=-(predicted.log_prob * samples.advantage * acts).sum(),
            value=(error * error * counts).sum(),
            entropy=(predicted.entropy * acts).sum(),
            kl=zero,
            clipped=zero,
            acting=acts.sum(),
            guess=zero,
            rows=counts.sum(),
        )
        return terms.policy + 0.25 * terms.value - self._entropy * terms.entropy, terms

    def optimiser(self) -> optax.GradientTransformation:
        """RMSProp's direction, after the gradient was scaled down to a global norm."""
        return optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_rms(decay=0.99, eps=1e-5))
