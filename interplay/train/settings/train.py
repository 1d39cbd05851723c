"""Settings of a training run: its algorithm, network, populations and opponents beside those of `settings.run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean, is_code
from interplay.core.settings_text import show
from interplay.interfaces.names import from_settings
from interplay.train.settings.algorithms import (
    BUILT_IN,
    AlgorithmKeywords,
    AlgorithmSettings,
    Group,
    RatesGroup,
    RolloutGroup,
    VdnGroup,
)
from interplay.train.settings.league import LeagueGroup
from interplay.train.settings.network import CLASS, NetworkGroup
from interplay.train.settings.populations import (
    AlternateGroup,
    BeliefGroup,
    PoolGroup,
    PopulationGroup,
    SidesGroup,
    is_share,
    shares_of,
)
from interplay.train.settings.run import PinsGroup

_READ_KNOWN_LEAVES = ("seats", "tiles", "tiles_attention")  # networks that ignore an additional leaf

# Names of settings in papers, Stable-Baselines3, CleanRL and RLlib -> ours, for the suggestion in an error.
ALSO_CALLED = {
    "lr": "learning_rate",
    "step_size": "learning_rate",
    "discount_factor": "gamma",
    "lam": "gae_lambda",
    "lambda": "gae_lambda",
    "lambda_": "gae_lambda",
    "ent_coef": "entropy_coefficient",
    "entropy": "entropy_coefficient",
    "entropy_coeff": "entropy_coefficient",
    "vf_coef": "value_coefficient",
    "vf_loss_coeff": "value_coefficient",
    "clip_range": "clip",
    "clip_coef": "clip",
    "clip_param": "clip",
    "n_steps": "rollout",
    "num_steps": "rollout",
    "rollout_fragment_length": "rollout",
    "batch_size": "minibatch",
    "minibatch_size": "minibatch",
    "n_epochs": "epochs",
    "num_epochs": "epochs",
    "update_epochs": "epochs",
    "grad_clip": "max_grad_norm",
    "norm_adv": "normalise_advantage",
    "normalize_advantage": "normalise_advantage",
    "reward_scaling": "reward_scale",
    "n_envs": "num_worlds",
    "num_envs": "num_worlds",
    "total_timesteps": "steps",
    "timesteps": "steps",
    "env_id": "id",
    "num_workers": "workers",
    "hidden_sizes": "hidden",
    "net_arch": "hidden",
}


def code_names(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """As `Settings.code_names`, for the nested values of a run, which need not be valid."""
    world, network, train, curriculum, league, opponents = (
        found if isinstance(found := values.get(name), Mapping) else {}
        for name in ("world", "network", "train", "curriculum", "league", "opponents")
    )
    if _is_program(world.get("id")):
        yield "world.id", world["id"]
        yield "world.options", world.get("options", {})
        stages = curriculum.get("stages", ())
        for stage in stages if isinstance(stages, list | tuple) else ():
            yield "curriculum.stages", stage.get("options", {}) if isinstance(stage, Mapping) else stage
    if _is_program(network.get("kind")):
        yield "network.kind", network["kind"]
    if _is_program(values.get("algorithm")):
        yield "algorithm", values["algorithm"]
        yield "algorithm_options", values.get("algorithm_options", {})
    players = {f"opponents.{side}": chosen for side, chosen in opponents.items()}
    players["league.learners"] = league.get("learners")
    players["train.evaluate_against"] = train.get("evaluate_against")
    for key, chosen in players.items():
        yield from ((key, name) for name in dict.fromkeys(_strings(chosen)) if is_code(name))


def _is_program(value: Any) -> bool:
    return isinstance(value, str) and ":" in value


def _strings(value: Any) -> Iterator[str]:
    """All strings inside groups and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)


class TrainSettings(AlgorithmSettings):
    """Settings of a training run; with the package, thread count and jax version they fix its result bit by bit.

    Example:
        >>> TrainSettings(world={"id": "survival/1v1-heals-low"}).ppo.clip
        0.2
    """

    also_called: ClassVar[Mapping[str, str]] = ALSO_CALLED

    algorithm: str = Field(
        "ppo",
        description=f"{', '.join(BUILT_IN)} (each with a group of its name), or your own as package.module:Class.",
    )
    population: PopulationGroup = PopulationGroup()
    sides: SidesGroup = SidesGroup()
    interfaces: dict[str, Any] = Field(
        {},
        description="Observation and action interfaces per population, side, kind, team or agent, the innermost first: "
        '{left = [{name = "FrameStack", k = 4}, "ConcatVec"]}.',
    )
    opponents: dict[str, Any] = Field(
        {},
        description="Player per population, side or any (one of them): a scripted policy, run folder or checkpoint, "
        'or a list with shares of the episodes: [{play = "random", share = 0.2}, {play = "self", share = 0.8}].',
    )
    alternate: AlternateGroup = AlternateGroup()
    pool: PoolGroup = PoolGroup()
    league: LeagueGroup = LeagueGroup()
    belief: BeliefGroup = BeliefGroup()
    network: NetworkGroup = NetworkGroup()
    pins: PinsGroup = PinsGroup()

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """World, network, algorithm and opponents that are user-defined programs."""
        yield from code_names(self.model_dump())

    @property
    def own_group(self) -> RatesGroup | None:
        """The settings of the run's algorithm; None if it is user-defined."""
        return getattr(self, self.algorithm, None)

    @property
    def factored(self) -> VdnGroup | None:
        """The settings of the run's value factorisation; None for other algorithms."""
        return self.own_group if isinstance(self.own_group, VdnGroup) else None

    @property
    def has_past_selves(self) -> bool:
        """Whether ``opponents`` names past selves."""
        return any("past" in dict(shares_of(chosen)) for chosen in self.opponents.values())

    @property
    def foreign(self) -> dict[str, str]:
        """Population -> its most frequent player, for those that the run's own networks never play."""
        each = {name: dict(shares_of(chosen)) for name, chosen in self.opponents.items()}
        some = self.sides.by == "population"
        return {
            name: max(chosen, key=lambda play: chosen[play])
            for name, chosen in each.items()
            if some and name != "any" and not {"self", "past"} & chosen.keys()
        }

    @field_validator("opponents")
    @classmethod
    def _shares_sum_to_one(cls, opponents: dict[str, Any]) -> dict[str, Any]:
        for side, chosen in opponents.items():
            if isinstance(chosen, str) and chosen:
                continue
            if not isinstance(chosen, list) or not chosen or not all(map(is_share, chosen)):
                raise ValueError(
                    f"{side} = {show(chosen)} is no player; name one, or a list of "
                    '{play = "random", share = 0.2} with shares above 0'
                )
            names = [one["play"] for one in chosen]
            if len(set(names)) < len(names):
                raise ValueError(f"{side}: {names} names a player twice; add up the shares")
            shares = [one["share"] for one in chosen]
            if abs(sum(shares) - 1.0) > 1e-6:
                raise ValueError(f"{side}: shares {shares} sum to {sum(shares):g}; make them sum to 1")
        return opponents

    @field_validator("interfaces")
    @classmethod
    def _known_interfaces(cls, interfaces: dict[str, Any]) -> dict[str, Any]:
        for name, stack in interfaces.items():
            if not isinstance(stack, list) or not stack:
                raise ValueError(
                    f'{name} = {show(stack)} is no list of interfaces; write for example ["FrameStack", "ConcatVec"]'
                )
            try:
                from_settings(stack)
            except UserError as error:
                raise ValueError(f"{name}: {error}") from None
        return interfaces

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, algorithm: str) -> str:
        if algorithm in BUILT_IN or CLASS.fullmatch(algorithm):
            return algorithm
        near = did_you_mean(
            algorithm, BUILT_IN, f"give {', '.join(BUILT_IN)} or your own as package.module:Class"
        )
        raise ValueError(f'"{algorithm}" is no algorithm; {near}')

    @model_validator(mode="after")
    def _memory_fits(self) -> Self:
        if self.belief.about and (self.network.remembers or self.network.critic != "own"):
            key = self.network.remembers.partition(" ")[0] or "critic"
            raise ValueError(
                f'belief.about = "{self.belief.about}" with network.{key} = "{getattr(self.network, key)}": '
                f"networks with a belief head have no {'other critic' if key == 'critic' else 'memory'}; leave one of them out"
            )
        group = self.own_group
        if self.network.memory == "none" or not isinstance(group, RolloutGroup):
            return self
        if group.rollout % group.sequence:
            fits = next(n for n in range(group.sequence, 0, -1) if group.rollout % n == 0)
            raise ValueError(
                f"{self.algorithm}.sequence = {group.sequence} does not divide {self.algorithm}.rollout = {group.rollout}; "
                f"use for example {fits}"
            )
        return self

    @model_validator(mode="after")
    def _league_alone(self) -> Self:
        if (group := self.own_group) is not None:
            for rate in self.league.pbt.rates:
                if rate not in group.rates():
                    near = did_you_mean(rate, group.rates(), f"there are {', '.join(group.rates())}")
                    raise ValueError(f"league.pbt.rates: {self.algorithm} has no rate {rate!r}; {near}")
        if not self.league.learners:
            return self
        update = 0 if group is None else group.rollout * self.num_worlds
        if self.league.period < update:
            raise ValueError(
                f"league.period = {self.league.period} is shorter than an update, {update} agent-steps at least "
                f"({self.algorithm}.rollout x num_worlds); raise it, or lower one of these"
            )
        self._refuse_beside(
            "league.learners",
            "a league sets learners and opponents itself; leave one out",
            {
                "opponents": self.opponents,
                "pool.populations": self.pool.populations,
                "alternate.metric": self.alternate.metric,
                "belief.about": self.belief.about,
                "population.groups": self.population.groups,
                "population.by": self.population.by if self.population.by != "world" else "",
            },
        )
        return self

    @model_validator(mode="after")
    def _factored_alone(self) -> Self:
        group = self.factored
        if group is None:
            return self
        self._refuse_beside(
            f'algorithm = "{self.algorithm}"',
            "it has no turns, beliefs or league, and uses one device; leave one out",
            {
                "league.learners": tuple(self.league.learners),
                "alternate.metric": self.alternate.metric,
                "belief.about": self.belief.about,
                "train.devices": self.train.devices if self.train.devices > 1 else None,
            },
        )
        if group.agent_id and self.network.kind in _READ_KNOWN_LEAVES:
            raise ValueError(
                f'{self.algorithm}.agent_id = true with network.kind = "{self.network.kind}", which ignores additional leaves; '
                "set network.kind = mlp, or agent_id = false"
            )
        return self

    def _refuse_beside(self, chosen: str, cure: str, others: Mapping[str, Any]) -> None:
        for key, value in others.items():
            if value:
                raise ValueError(f"{chosen} and {key} = {show(value)}: {cure}")

    @model_validator(mode="after")
    def _options_are_read(self) -> Self:
        if self.algorithm_options and ":" not in self.algorithm:
            raise ValueError(
                f"algorithm_options = {self.algorithm_options} is not read by {self.algorithm}; "
                f"its settings are under {self.algorithm}"
            )
        return self


class SettingsKeywords(AlgorithmKeywords, total=False):
    """Settings as keyword arguments of `interplay.train`, for type checkers; keys inside of groups are checked when the run begins."""

    name: str
    algorithm: str
    algorithm_options: Group
    world: Group
    curriculum: Group
    train: Group
    record: Group
    population: Group
    sides: Group
    interfaces: Group
    opponents: Group
    alternate: Group
    pool: Group
    belief: Group
    network: Group
    pins: Group
