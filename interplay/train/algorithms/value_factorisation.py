"""Value factorisation: a mixer joins the members' utilities to one value (Sunehag et al. 2018; Rashid et al. 2018)."""

from __future__ import annotations

import optax

from interplay.train.reward_scale import Groups, Scale
from interplay.train.schedules import Schedules
from interplay.train.settings import VdnGroup

TORCH_EPSILON = 1e-8  # torch's default for Adam, used by the code of Hu et al. (2021)


class ValueFactorisation:
    """Q-learning of teams from replayed sequences, see `interplay.train.factored`.

    Args:
        settings: the run's group ``vdn`` or ``qmix``.
    """

    horizon = 0  # the replay keeps samples for later updates
    minibatch: int | None = None
    by_decision = False
    normalise_reward: Groups | None = None
    mask_dead = True
    reward_scale: Scale = 1.0  # of the buffer; a team's frames use the settings' own

    def __init__(self, settings: VdnGroup) -> None:
        self.settings = settings
        self._schedules = Schedules(settings)
        self.rollout, self.sequence = settings.rollout, settings.sequence
        self.gamma, self.gae_lambda = settings.gamma, settings.td_lambda

    def rates(self, share: float, population: str) -> dict[str, float]:
        """The rates of a population after a share of the run."""
        return self._schedules.at(share, population)

    def epsilon(self, agent_steps: int) -> float:
        """The share of random choices after a number of agent-steps."""
        own = self.settings
        way = min(agent_steps / own.epsilon_steps, 1.0)
        return (1.0 - way) * own.epsilon_begin + way * own.epsilon_end

    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with the gradient of each kind and population clipped to a norm."""
        return optax.chain(
            optax.clip_by_global_norm(self.settings.max_grad_norm), optax.scale_by_adam(eps=TORCH_EPSILON)
        )
