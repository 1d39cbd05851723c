"""The algorithms' numbers, and rates that change over a run.

Source: *preset* is the column of specification survival 10 that follows the code of Fanti (2022).
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from interplay.core.loading import did_you_mean
from interplay.core.settings import Settings
from interplay.train.schedules import Rate, check_rate

# Name of a rate -> least and most of it, and whether these are out of bounds themselves.
_BOUNDS = {
    "learning_rate": (0.0, 1.0, False),
    "clip": (0.0, 1.0, True),
    "entropy_coefficient": (0.0, math.inf, False),
}


_Factor = Annotated[float, Field(gt=0)]


class RatesGroup(Settings):
    """What algorithms have in common whose rates may change over a run, and differ from population to population."""

    populations: dict[str, dict[str, Rate]] = Field(
        {}, description="Population to rates of its own, e.g. {werewolf = {learning_rate = 1e-4}}."
    )

    @classmethod
    def rates(cls) -> tuple[str, ...]:
        """Names of the rates that the group has."""
        return tuple(name for name in _BOUNDS if name in cls.model_fields)

    @field_validator(*_BOUNDS, check_fields=False)
    @classmethod
    def _rate_in_bounds(cls, rate: Rate, info: ValidationInfo) -> Rate:
        return check_rate(rate, *_BOUNDS[str(info.field_name)])

    @model_validator(mode="after")
    def _own_rates(self) -> Self:
        for population, rates in self.populations.items():
            for name, rate in rates.items():
                where = f"populations.{population}.{name}"
                if name not in self.rates():
                    near = did_you_mean(name, self.rates(), f"there are {', '.join(self.rates())}")
                    raise ValueError(f"{where}: no such rate; {near}")
                try:
                    check_rate(rate, *_BOUNDS[name])
                except ValueError as error:
                    raise ValueError(f"{where} = {rate}: {error}") from None
        return self


class RolloutGroup(RatesGroup):
    """What algorithms have in common that learn from the rewards of their rollouts."""

    reward_scale: _Factor | dict[str, _Factor] = Field(
        1.0,
        description="Rewards are multiplied by this; or factors by pattern of agents' names, e.g. {boss = 0.01}, the first that fits, else 1.",
    )
    normalise_reward: Literal["kind", "agent"] | None = Field(
        None,
        description="Rewards are divided by the running deviation of discounted returns, of each kind or each agent; off: as they are.",
    )


class PpoGroup(RolloutGroup):
    """Proximal policy optimisation (Schulman et al. 2017); defaults are the preset where none is named."""

    rollout: int = Field(128, ge=1, description="Steps of each world per update; 256 in the preset.")
    minibatch: int = Field(512, ge=1, description="Samples per gradient step.")
    epochs: int = Field(
        10, ge=1, description="Most passes over a rollout; target_kl ends them earlier. 400 in the preset."
    )
    clip: Rate = Field(0.2, description="Clip range of the probability ratio; a number or a schedule.")
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step, or per decision; see discount.")
    discount: Literal["step", "decision"] = Field(
        "step", description="What gamma counts: steps of the world, or an agent's own decisions."
    )
    gae_lambda: float = Field(0.95, ge=0, le=1, description="Lambda of generalised advantage estimation.")
    target_kl: float | None = Field(
        0.01, gt=0, description='Epochs end when the KL estimate exceeds 1.5 times this; "off" runs them all.'
    )
    learning_rate: Rate = Field(3e-4, description="Adam's step size; a number or a schedule.")
    entropy_coefficient: Rate = Field(0.0, description="Weight of the entropy bonus; a number or a schedule.")
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the value loss.")
    max_grad_norm: float = Field(0.5, gt=0, description="Gradients are scaled down to this global norm.")
    normalise_advantage: bool = Field(
        True, description="Mean 0 and deviation 1 over each population's acting samples of all shards."
    )
    mask_dead: bool = Field(
        True, description="Learn from acting steps only; the paper's code learns from all."
    )
    sequence: int = Field(
        16, ge=1, description="Steps that memory is learnt through at once; it divides the rollout."
    )


class PolicyGradientGroup(RolloutGroup):
    """Policy gradient with a value baseline, one step per batch; defaults are those of Suarez et al. (2019) and their code.

    Read where ``algorithm = "policy_gradient"`` (specification mmo 10).
    """

    rollout: int = Field(32, ge=1, description="Steps of each world per update.")
    returns: Literal["lives", "cut"] = Field(
        "lives",
        description="lives: a life is learnt from when it has ended; cut: at once, with the value of what is to come.",
    )
    horizon: int = Field(
        128,
        ge=1,
        description="Steps after which a running life's older part is learnt from anyway, with a value at its cut.",
    )
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step, or per decision; see discount.")
    discount: Literal["step", "decision"] = Field(
        "step", description="What gamma counts: steps of the world, or an agent's own decisions."
    )
    learning_rate: Rate = Field(1e-3, description="Adam's step size; a number or a schedule.")
    weight_decay: float = Field(
        1e-5, ge=0, description="Times the weights, added to the gradient before Adam."
    )
    entropy_coefficient: Rate = Field(
        0.01, description="Weight of the entropy bonus; a number or a schedule."
    )
    value_coefficient: float = Field(
        0.25, ge=0, description="Weight of the value loss, half a squared error."
    )
    clip_element: float = Field(
        5.0, gt=0, description="Bound of each element of a population's mean gradient."
    )
    normalise_advantage: bool = Field(
        True, description="Mean 0 and deviation 1 over each population's rows of the batch."
    )
    sequence: int = Field(
        8, ge=1, description="Steps that memory is learnt through at once; it divides the rollout."
    )


class ActorCriticGroup(RolloutGroup):
    """What actor-critics have in common."""

    rollout: int = Field(16, ge=1, description="Steps of each world per update.")
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step, or per decision; see discount.")
    discount: Literal["step", "decision"] = Field(
        "step", description="What gamma counts: steps of the world, or an agent's own decisions."
    )
    gae_lambda: float = Field(
        1.0, ge=0, le=1, description="Lambda of the advantages; 1: returns up to the end of the rollout."
    )
    learning_rate: Rate = Field(7e-4, description="RMSProp's step size; a number or a schedule.")
    entropy_coefficient: Rate = Field(
        0.01, description="Weight of the entropy bonus; a number or a schedule."
    )
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the value loss.")
    max_grad_norm: float = Field(0.5, gt=0, description="Gradients are scaled down to this global norm.")
    normalise_advantage: bool = Field(
        False, description="Mean 0 and deviation 1 over each population's acting samples of all shards."
    )
    mask_dead: bool = Field(
        True,
        description="Learn from acting steps only; otherwise also from steps of dead agents that are present.",
    )
    sequence: int = Field(
        16, ge=1, description="Steps that memory is learnt through at once; it divides the rollout."
    )


class A2cGroup(ActorCriticGroup):
    """Advantage actor-critic (Mnih et al. 2016), one step along each rollout; defaults are Stable-Baselines3's, but for longer rollouts and the entropy of the paper."""


class VtraceGroup(ActorCriticGroup):
    """Actor-critic with V-trace targets (Espeholt et al. 2018), made anew for each epoch; coefficients are the paper's."""

    rollout: int = Field(32, ge=1, description="Steps of each world per update.")
    minibatch: int | None = Field(
        2048, ge=1, description='Samples per gradient step; "off": all of a rollout.'
    )
    epochs: int = Field(2, ge=1, description="Passes over a rollout; each corrects for those before it.")
    gae_lambda: float = Field(1.0, ge=0, le=1, description="Lambda, times the second weight.")
    rho: float = Field(
        1.0, gt=0, description="Most that an importance weight counts in a temporal difference."
    )
    c: float = Field(1.0, gt=0, description="Most that it counts in what is passed back to earlier steps.")


class VdnGroup(RatesGroup):
    """Value decomposition (Sunehag et al. 2018): the team's value is the sum of its members' utilities.

    Defaults are those of Hu et al. (2021), who tuned QMIX, where none is named; they count episodes where team-steps stand here.
    """

    rollout: int = Field(8, ge=1, description="Steps of each world per update.")
    sequence: int = Field(
        32,
        ge=1,
        description="Team-steps of a stretch: memory is learnt through it, returns go on to its end.",
    )
    replay: int = Field(
        100_000, ge=1, description="Team-steps that are kept, over all shards; checkpoints hold them too."
    )
    minibatch: int = Field(
        512,
        ge=1,
        description="Team-steps per gradient step, over all shards; at least a stretch of each.",
    )
    replays: float = Field(
        8.0,
        gt=0,
        le=1000,
        description="Times that a decision of a world is learnt from, on average; gradient steps of an update follow from it, at least 1.",
    )
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step.")
    td_lambda: float = Field(
        0.6, ge=0, le=1, description="Lambda of the returns; 0: one step, 1: to the end."
    )
    double_q: bool = Field(
        True, description="The network that learns chooses the next actions, its target copy values them."
    )
    target_every: int = Field(20, ge=1, description="Gradient steps between two copies to the target.")
    learning_rate: Rate = Field(1e-3, description="Adam's step size; a number or a schedule.")
    max_grad_norm: float = Field(10.0, gt=0, description="Gradients are scaled down to this global norm.")
    epsilon_begin: float = Field(
        1.0, ge=0, le=1, description="Share of random choices when the run begins; each member's by itself."
    )
    epsilon_end: float = Field(0.05, ge=0, le=1, description="The same from epsilon_steps on.")
    epsilon_steps: int = Field(
        100_000, ge=1, description="Agent-steps over which it goes from one to the other along a line."
    )
    reward: Literal["mean", "sum"] = Field(
        "mean",
        description="What the team earns in a step: mean over the members who are there, or their sum.",
    )
    reward_scale: float = Field(1.0, gt=0, description="Rewards are multiplied by this.")
    agent_id: bool = Field(
        False, description="Members are told their place in their team, as a one-hot beside what they see."
    )


class QmixGroup(VdnGroup):
    """QMIX (Rashid et al. 2018): the team's value rises with each member's utility, by weights that its state makes."""

    state: Literal["auto", "world", "team"] = Field(
        "auto",
        description="What the weights are made from: the world's state, or the team's observations; auto: the state where there is one.",
    )
    mixing: int = Field(32, ge=1, le=65_536, description="Units of the mixing layer.")
    hyper: int = Field(64, ge=1, le=65_536, description="Units of the layers that make its weights.")


# Built-in algorithms: name -> class. The group of settings has the same name in `TrainSettings`.
BUILT_IN = {
    "ppo": "interplay.train.algorithms.ppo:Ppo",
    "policy_gradient": "interplay.train.algorithms.policy_gradient:PolicyGradient",
    "a2c": "interplay.train.algorithms.a2c:A2c",
    "vtrace": "interplay.train.algorithms.vtrace:Vtrace",
    "vdn": "interplay.train.algorithms.value_factorisation:ValueFactorisation",
    "qmix": "interplay.train.algorithms.value_factorisation:ValueFactorisation",
}
