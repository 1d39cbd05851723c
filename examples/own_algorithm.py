"""An algorithm of one's own: advantage actor-critic (Mnih et al. 2016), one step along every short rollout.

Train with it from the repository root::

    interplay train simulation/multi-corridor algorithm=examples.own_algorithm:ActorCritic network.kind=mlp --steps 20000

`interplay.train.algorithms.Algorithm` says what an algorithm is; the trainer does the rest, with populations, opponents, memory, workers and
exact resume.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from interplay.core.errors import UserError
from interplay.train.losses import Prediction, Rates, Terms
from interplay.train.policy_network import Batch
from interplay.train.settings import TrainSettings


class ActorCritic:
    """Advantage actor-critic.

    Args:
        settings: of the run; ``algorithm_options`` may hold ``learning_rate`` and ``entropy_coefficient``.

    Raises:
        UserError: for another option.
    """

    rollout = 16
    horizon = 0  # every sample is learnt from in the update that made it
    minibatch = None  # all samples together
    epochs = 1
    gamma, gae_lambda = 0.99, 1.0
    by_decision = False
    reward_scale = 1.0
    normalise_reward = None
    normalise = True
    sequence = 16
    mask_dead = True

    def __init__(self, settings: TrainSettings) -> None:
        options = {"learning_rate": 1e-2, "entropy_coefficient": 0.01}
        for name, value in settings.algorithm_options.items():
            if name not in options:
                raise UserError(f"algorithm_options: no option {name}; there are {', '.join(options)}")
            options[name] = value
        self._learning_rate = float(options["learning_rate"])
        self._entropy = float(options["entropy_coefficient"])

    def rates(self, share: float, population: str) -> dict[str, float]:
        """The learning rate falls to zero over the run."""
        return {"learning_rate": self._learning_rate * (1.0 - share)}

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

    def enough(self, terms: Terms) -> bool:
        """There is one step, and it is taken."""
        return False
