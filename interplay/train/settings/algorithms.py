"""The built-in algorithms: their settings, and the list of them.

A new one is a class beside the others (`interplay.train.algorithms`), and here a group that names it and a line of `AlgorithmSettings`
(and for type checkers one of `AlgorithmKeywords`).

*Preset* is the column of specification survival 10 that follows the code of Fanti (2022).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict

from pydantic import Field, ValidationInfo, field_validator, model_validator

from interplay.core.loading import did_you_mean
from interplay.core.settings import Settings
from interplay.train.schedules import Rate, check_rate
from interplay.train.settings.run import RunSettings

# Name of a rate -> lower bound, upper bound, whether the bounds are excluded.
_BOUNDS = {
    "learning_rate": (0.0, 1.0, False),
    "clip": (0.0, 1.0, True),
    "entropy_coefficient": (0.0, math.inf, False),
}

Group = Mapping[str, Any]  # values of a group, as keyword arguments have them
_Factor = Annotated[float, Field(gt=0)]


class RatesGroup(Settings):
    """Base of the built-in algorithms, with rates that may follow a schedule and differ between populations.

    Attributes:
        implementation: the algorithm's class.
    """

    implementation: ClassVar[str]

    rollout: int = Field(32, ge=1, description="Steps of each world per update.")
    populations: dict[str, dict[str, Rate]] = Field(
        {}, description="Rates of single populations, e.g. {werewolf = {learning_rate = 1e-4}}."
    )

    @classmethod
    def rates(cls) -> tuple[str, ...]:
        """Names of the group's rates."""
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
    """Base of algorithms that learn from the rewards of their rollouts."""

    reward_scale: _Factor | dict[str, _Factor] = Field(
        1.0,
        description="Factor of all rewards; or factors by pattern of agent names, e.g. {boss = 0.01} (first match, else 1).",
    )
    normalise_reward: Literal["kind", "agent"] | None = Field(
        None,
        description="Divide rewards by the running deviation of discounted returns, per kind or per agent; off: never.",
    )
    sequence: int = Field(
        16, ge=1, description="Steps of backpropagation through memory; divides the rollout."
    )
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step, or per decision; see discount.")
    discount: Literal["step", "decision"] = Field(
        "step", description="What gamma counts: steps of the world, or an agent's own decisions."
    )


class ActorCriticGroup(RolloutGroup):
    """Common settings of a2c, vtrace and ppo."""

    rollout: int = Field(16, ge=1, description="Steps of each world per update.")
    gae_lambda: float = Field(
        1.0, ge=0, le=1, description="Lambda of the advantages; 1: returns to the end of the rollout."
    )
    learning_rate: Rate = Field(7e-4, description="RMSProp's step size; a number or a schedule.")
    entropy_coefficient: Rate = Field(
        0.01, description="Weight of the entropy bonus; a number or a schedule."
    )
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the value loss.")
    max_grad_norm: float = Field(
        0.5, gt=0, description="The gradient of each kind and population is scaled down to this norm."
    )
    normalise_advantage: bool = Field(
        False, description="Mean 0 and deviation 1 over each population's acting samples of all shards."
    )
    mask_dead: bool = Field(
        True,
        description="Learn from acting steps only; otherwise also from steps of dead agents that are present.",
    )


class PpoGroup(ActorCriticGroup):
    """Proximal policy optimisation (Schulman et al. 2017); defaults are the preset where none is named."""

    implementation = "interplay.train.algorithms.ppo:Ppo"

    rollout: int = Field(128, ge=1, description="Steps of each world per update; 256 in the preset.")
    minibatch: int = Field(
        512,
        ge=1,
        description="Most samples per gradient step, of the largest kind; with memory, padding counts.",
    )
    epochs: int = Field(
        10, ge=1, description="Most passes over a rollout; target_kl may stop earlier. 400 in the preset."
    )
    clip: Rate = Field(0.2, description="Clip range of the probability ratio; a number or a schedule.")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="Lambda of generalised advantage estimation.")
    target_kl: float | None = Field(
        0.01, gt=0, description='Epochs stop when the KL estimate exceeds 1.5 times this; "off": never.'
    )
    learning_rate: Rate = Field(3e-4, description="Adam's step size; a number or a schedule.")
    entropy_coefficient: Rate = Field(0.0, description="Weight of the entropy bonus; a number or a schedule.")
    normalise_advantage: bool = Field(
        True, description="Mean 0 and deviation 1 over each population's acting samples of all shards."
    )


class PolicyGradientGroup(RolloutGroup):
    """Policy gradient with a value baseline, one gradient step per batch (specification mmo 10).

    Defaults are those of Suarez et al. (2019) and their code.
    """

    implementation = "interplay.train.algorithms.policy_gradient:PolicyGradient"

    returns: Literal["lives", "cut"] = Field(
        "lives",
        description="lives: learn from a life after its end; cut: at once, bootstrapped with the value.",
    )
    horizon: int = Field(
        128,
        ge=1,
        description="Steps after which the older part of a running life is used anyway, bootstrapped.",
    )
    learning_rate: Rate = Field(1e-3, description="Adam's step size; a number or a schedule.")
    weight_decay: float = Field(
        1e-5, ge=0, description="L2 factor: times the weights, added to the gradient before Adam."
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
        8, ge=1, description="Steps of backpropagation through memory; divides the rollout."
    )


class A2cGroup(ActorCriticGroup):
    """Advantage actor-critic (Mnih et al. 2016), one gradient step per rollout.

    Defaults are Stable-Baselines3's, except longer rollouts and the paper's entropy bonus.
    """

    implementation = "interplay.train.algorithms.a2c:A2c"


class VtraceGroup(ActorCriticGroup):
    """Actor-critic with V-trace targets (Espeholt et al. 2018), recomputed each epoch; the paper's coefficients."""

    implementation = "interplay.train.algorithms.vtrace:Vtrace"

    rollout: int = Field(32, ge=1, description="Steps of each world per update.")
    minibatch: int | None = Field(
        2048,
        ge=1,
        description='Most samples per gradient step, of the largest kind; with memory, padding counts; "off": all of a rollout.',
    )
    epochs: int = Field(2, ge=1, description="Passes over a rollout; each corrects for those before it.")
    gae_lambda: float = Field(1.0, ge=0, le=1, description="Lambda, a factor of the weights clipped at c.")
    rho: float = Field(
        1.0, gt=0, description="Clip of the importance weights in temporal differences (rho-bar)."
    )
    c: float = Field(1.0, gt=0, description="Clip of the importance weights in the trace (c-bar).")


class VdnGroup(RatesGroup):
    """Value decomposition (Sunehag et al. 2018): the team's value is the sum of its members' utilities.

    Defaults are QMIX's of Hu et al. (2021), with their counts of episodes turned into team-steps.
    """

    implementation = "interplay.train.algorithms.value_factorisation:ValueFactorisation"

    rollout: int = Field(8, ge=1, description="Steps of each world per update.")
    sequence: int = Field(
        32,
        ge=1,
        description="Team-steps of a replayed sequence: length of backpropagation and of returns.",
    )
    replay: int = Field(
        100_000, ge=1, description="Capacity in team-steps, over all shards; stored in checkpoints."
    )
    minibatch: int = Field(
        512,
        ge=1,
        description="Team-steps per gradient step, over all shards; at least one sequence of each.",
    )
    replays: float = Field(
        8.0,
        gt=0,
        le=1000,
        description="Times a decision is learnt from, on average, without truncations; sets the gradient steps per update.",
    )
    gamma: float = Field(0.99, ge=0, le=1, description="Discount per step.")
    td_lambda: float = Field(
        0.6, ge=0, le=1, description="Lambda of the returns; 0: one step, 1: to the end."
    )
    double_q: bool = Field(
        True,
        description="Double Q-learning: the network picks the next actions, the target copy values them.",
    )
    target_every: int = Field(20, ge=1, description="Gradient steps between copies to the target network.")
    learning_rate: Rate = Field(1e-3, description="Adam's step size; a number or a schedule.")
    max_grad_norm: float = Field(
        10.0, gt=0, description="The gradient of each kind and population is scaled down to this norm."
    )
    epsilon_begin: float = Field(
        1.0, ge=0, le=1, description="Share of random choices at the start of the run, drawn per member."
    )
    epsilon_end: float = Field(0.05, ge=0, le=1, description="The same from epsilon_steps on.")
    epsilon_steps: int = Field(100_000, ge=1, description="Agent-steps of the linear decay between the two.")
    reward: Literal["mean", "sum"] = Field(
        "mean",
        description="Team reward of a step: mean or sum over the members that are present.",
    )
    reward_scale: float = Field(1.0, gt=0, description="Factor of all rewards.")
    agent_id: bool = Field(
        False, description="Add the member's index in its team to its observation, as a one-hot."
    )

    @model_validator(mode="after")
    def _replay_holds_a_minibatch(self) -> Self:
        if self.replay < self.minibatch:
            raise ValueError(
                f"replay = {self.replay} holds no minibatch of {self.minibatch}; raise it, or lower minibatch"
            )
        return self


class QmixGroup(VdnGroup):
    """QMIX (Rashid et al. 2018): a monotonic mixer with weights made from the state."""

    state: Literal["auto", "world", "team"] = Field(
        "auto",
        description="Input of the mixer: the world's state, or the team's observations; auto: the state if the world has one.",
    )
    mixing: int = Field(32, ge=1, le=65_536, description="Units of the mixing layer.")
    hyper: int = Field(64, ge=1, le=65_536, description="Units of the hypernetworks' layers.")


class AlgorithmSettings(RunSettings):
    """The list of the built-in algorithms, each with its settings."""

    ppo: PpoGroup = PpoGroup()
    policy_gradient: PolicyGradientGroup = PolicyGradientGroup()
    a2c: A2cGroup = A2cGroup()
    vtrace: VtraceGroup = VtraceGroup()
    vdn: VdnGroup = VdnGroup()
    qmix: QmixGroup = QmixGroup()


class AlgorithmKeywords(TypedDict, total=False):
    """The same as keyword arguments of `interplay.train`, for type checkers."""

    ppo: Group
    policy_gradient: Group
    a2c: Group
    vtrace: Group
    vdn: Group
    qmix: Group


# Name -> its group.
BUILT_IN: dict[str, type[RatesGroup]] = {
    name: field.annotation
    for name, field in AlgorithmSettings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, RatesGroup)
}
