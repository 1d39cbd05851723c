"""The settings of a training run: one model per group, every number with its unit and source.

Sources: *preset* is the column of specification survival 10 that follows the code of Fanti (2022);
*shards* is specification scale 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from interplay.core.loading import did_you_mean, is_code
from interplay.core.settings import Settings
from interplay.core.settings_text import show
from interplay.train.schedules import Rate, check_rate
from interplay.train.settings.renamed import RENAMED

_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_ALGORITHMS = ("ppo", "policy_gradient")
_NETWORKS = ("attention", "mlp", "seats", "tiles", "tiles_attention")
_MOST_UNITS = 1_000_000  # of one layer; what fits into memory is checked when the run is made
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


# Name of a rate -> least and most of it, and whether these are out of bounds themselves.
_BOUNDS = {
    "learning_rate": (0.0, 1.0, False),
    "clip": (0.0, 1.0, True),
    "entropy_coefficient": (0.0, math.inf, False),
}


def check_groups(by: str, groups: Mapping[str, Any]) -> None:
    """Refuses groups of agents that are not asked for, or whose names would be no names of files.

    Raises:
        ValueError: for them.
    """
    if (by == "name") != bool(groups):
        raise ValueError(f'by = "{by}" with {len(groups)} groups; groups and by = "name" go together')
    for name in groups:
        if not NAME.fullmatch(name):
            raise ValueError(f"groups: {name!r} names files; use letters, digits, _, - and dots")


def shares_of(who: str | Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Those who may play a side, and their shares of the episodes, from a value of ``opponents``.

    Example:
        >>> shares_of("random"), shares_of([{"play": "self", "share": 0.75}, {"play": "past", "share": 0.25}])
        ([('random', 1.0)], [('self', 0.75), ('past', 0.25)])
    """
    return [(who, 1.0)] if isinstance(who, str) else [(one["play"], float(one["share"])) for one in who]


def is_share(one: Any) -> bool:
    """Whether it says who plays and in which share of the episodes."""
    if not isinstance(one, Mapping) or one.keys() != {"play", "share"}:
        return False
    play, share = one["play"], one["share"]
    return isinstance(play, str) and bool(play) and type(share) in (int, float) and 0.0 < share <= 1.0


class WorldChoice(Settings):
    """Which world is trained on."""

    id: str = Field(min_length=1, description="Registry id; `interplay worlds` lists them.")
    options: dict[str, Any] = Field({}, description="Options of this world, as its own settings name them.")


class TrainGroup(Settings):
    """How the run is split over processes and kept on disk."""

    shards: int = Field(4, ge=1, le=1024, description="Fixed parts of the run; part of the result (shards).")
    workers: int = Field(
        1, ge=1, le=1024, description="Processes that share the shards; never changes a bit."
    )
    checkpoint_seconds: float = Field(
        30.0, ge=0, description="Seconds of training between checkpoints; the most that a crash can cost."
    )
    keep_checkpoints: int = Field(3, ge=1, description="Newest checkpoints that are kept.")
    checkpoint_updates: int | None = Field(
        None, ge=1, description="Updates between checkpoints, besides those by time."
    )
    checkpoint_at_end: bool = Field(True, description="Save when the run is complete.")
    log_every: int = Field(1, ge=1, description="Updates per line of metrics.jsonl.")
    max_updates: int | None = Field(None, ge=1, description="The run ends after so many updates.")
    max_episodes: int | None = Field(None, ge=1, description="The run ends after so many whole episodes.")
    max_seconds: float | None = Field(None, gt=0, description="The run ends after so many seconds.")
    learners: tuple[str, ...] = Field(
        (), description="Kinds of agents, or populations, that learn; empty = all of them."
    )
    start_from: str | None = Field(
        None, min_length=1, description="Run or checkpoint whose weights the run begins with."
    )
    best_by: str | None = Field(
        None,
        min_length=1,
        description="Metric, e.g. life; the checkpoint with its highest mean is kept as checkpoints/best.",
    )
    best_updates: int = Field(20, ge=1, description="Updates that this mean is taken over.")
    evaluate_against: tuple[str, ...] = Field(
        (),
        description="Fixed opponents that the policy is rated against: policies, run folders, checkpoints.",
    )
    evaluate_every: int | None = Field(
        None, ge=1, description="Agent-steps between two ratings; off: a twentieth of the run."
    )
    evaluate_episodes: int = Field(
        32, ge=2, multiple_of=2, description="Episodes against each, half of them in each seat."
    )
    quiet: bool = Field(False, description="Show no progress.")

    @field_validator("evaluate_against")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) == len(names) and all(names):
            return names
        raise ValueError(f"{list(names)} does not name different opponents; name each once")

    @model_validator(mode="after")
    def _workers_share_shards(self) -> TrainGroup:
        if self.shards & (self.shards - 1):
            below = 1 << (self.shards.bit_length() - 1)
            raise ValueError(
                f"shards = {self.shards} is not a power of two; use for example {below} or {2 * below}"
            )
        if self.workers & (self.workers - 1) or self.workers > self.shards:
            fit = [str(1 << k) for k in range(self.shards.bit_length())]
            choice = f"{', '.join(fit[:-1])} or {fit[-1]}" if len(fit) > 1 else fit[0]
            noun = "shard" if self.shards == 1 else "shards"
            raise ValueError(
                f"{self.workers} workers cannot share {self.shards} {noun} evenly; use {choice}."
            )
        return self


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


class PpoGroup(RatesGroup):
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
    reward_scale: float = Field(1.0, gt=0, description="Rewards are multiplied by this; 1 in the preset.")
    sequence: int = Field(
        16, ge=1, description="Steps that memory is learnt through at once; it divides the rollout."
    )


class PolicyGradientGroup(RatesGroup):
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
    reward_scale: float = Field(1.0, gt=0, description="Rewards are multiplied by this.")
    sequence: int = Field(
        8, ge=1, description="Steps that memory is learnt through at once; it divides the rollout."
    )


class PopulationGroup(Settings):
    """Who shares weights with whom: every population has a network, an optimiser and metrics of its own."""

    by: Literal["world", "kind", "name"] = Field(
        "world",
        description="world: as the world says; kind: all agents of a kind are one; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {},
        description='Population to patterns of its agents\' names, e.g. {red = ["red_*"]}; by = "name" reads it.',
    )
    share_init: bool = Field(False, description="All populations begin with the same weights.")
    block: int = Field(
        256,
        ge=1,
        le=65_536,
        description="Rows of one population computed together; 256 to 512 fit a core's cache.",
    )

    @model_validator(mode="after")
    def _groups_are_named(self) -> PopulationGroup:
        check_groups(self.by, self.groups)
        return self


class SidesGroup(Settings):
    """What `opponents` and past selves play in an episode: parts of a world, also where all agents share their weights."""

    by: Literal["population", "team", "seat", "name"] = Field(
        "population",
        description="population: each is a side; team: as the world says; seat: every slot; name: by the patterns of groups.",
    )
    groups: dict[str, list[str]] = Field(
        {}, description='Side to patterns of its agents\' names, e.g. {left = ["player_0"]}; by = "name".'
    )

    @model_validator(mode="after")
    def _groups_are_named(self) -> SidesGroup:
        check_groups(self.by, self.groups)
        return self


class AlternateGroup(Settings):
    """Two populations that learn by turns (specification werewolf 15): while villagers win often wolves learn, and back."""

    metric: str | None = Field(
        None,
        min_length=1,
        description="Of an episode, e.g. win_vil; its mean says whose turn it is; off: no turns.",
    )
    at_high: str = Field("", description="Population that learns while the mean is at `high` or above.")
    at_low: str = Field("", description="Population that learns while the mean is at `low` or below.")
    high: float = Field(0.65, description="See at_high.")
    low: float = Field(0.35, description="See at_low.")
    between: Literal["last", "both", "none"] = Field(
        "last",
        description="Who learns between them: who learned last (both at the beginning), both, or neither.",
    )
    episodes: int = Field(1000, ge=1, description="The mean is over at least so many last episodes.")

    @model_validator(mode="after")
    def _two_take_turns(self) -> AlternateGroup:
        if self.metric is None:
            if self.at_high or self.at_low:
                raise ValueError("populations without a metric; give the metric that says whose turn it is")
            return self
        if not self.at_high or not self.at_low or self.at_high == self.at_low:
            raise ValueError(
                f"at_high = {self.at_high!r}, at_low = {self.at_low!r} are not two populations; name two"
            )
        if self.low >= self.high:
            raise ValueError(f"low = {self.low} is not below high = {self.high}; exchange them")
        return self


class PoolGroup(Settings):
    """Self-play with past selves: in some episodes a population is played by weights that it had before."""

    populations: tuple[str, ...] = Field((), description="That keep past selves; empty = none.")
    every: int = Field(50, ge=1, description="Updates between two snapshots.")
    keep: int = Field(8, ge=1, le=64, description="Most snapshots of a population; the oldest gives way.")
    share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Of the episodes, those in which a past self plays one of the populations.",
    )

    @field_validator("populations")
    @classmethod
    def _each_once(cls, populations: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(populations)) == len(populations):
            return populations
        raise ValueError(f"{list(populations)} names a population twice; name each once")


class BeliefGroup(Settings):
    """Optional losses that help players to talk (Sarkar et al. 2025): guess who is who from what was said, be paid for what others guess.

    The guess is a head of its own beside policy and value, fitted to the truth, which is known in training. Those who are
    guessed do not guess.
    """

    about: str = Field(
        "", description="Population whose seats are guessed, e.g. werewolf; empty: no head and neither loss."
    )
    listening: float = Field(
        0.1, gt=0, description="Weight of the guess's cross-entropy (nats, mean over seats) in the loss."
    )
    speaking: float = Field(
        0.0,
        ge=0,
        description="Reward of a step, times the change of what the others believe of those who are guessed (0 to 1); "
        "those who are guessed get its negative.",
    )


class NetworkGroup(Settings):
    """The policy and value network; defaults are the preset."""

    kind: str = Field(
        "attention",
        description="attention, mlp, seats, tiles, tiles_attention or your own package.module:Class.",
    )
    width: int = Field(32, ge=1, le=_MOST_UNITS, description="Units per embedded entity.")
    heads: int = Field(4, ge=1, description="Attention heads; they share the width evenly.")
    layers: int = Field(2, ge=0, le=8, description="seats: how often every seat hears the others.")
    tail: int = Field(64, ge=1, le=_MOST_UNITS, description="Units of the layers after the attention.")
    activation: Literal["tanh", "relu", "none"] = Field("tanh", description="Of every hidden layer.")
    attention_mask_additive: bool = Field(
        False, description="The author's mask, which hides nothing: +1 on the logits of hidden entities."
    )
    separate_value: bool = Field(False, description="A second network for the value, as in the paper's text.")
    separate_heads: bool = Field(
        False, description="tiles: a trunk for every head of the action and one for the value."
    )
    hidden: tuple[int, ...] = Field((64, 64), description="Units per hidden layer of the mlp.")
    memory: Literal["none", "gru", "lstm", "own"] = Field(
        "none",
        description="A recurrent cell before the heads; own: the network of yours remembers by itself.",
    )
    stack: int = Field(
        1,
        ge=1,
        le=1024,
        description="How many of an agent's last observations the network sees; mlp or one of your own.",
    )
    critic: Literal["own", "team", "world"] = Field(
        "own", description="What the value sees: the agent's observation, its team's, or the world's state."
    )
    critic_hidden: tuple[int, ...] = Field((64, 64), description="Units per hidden layer of such a critic.")
    memory_size: int = Field(64, ge=1, le=65_536, description="Units of the recurrent cell.")
    input_scale: bool = Field(False, description="Scale observations by the bounds of their space.")
    probability_floor: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Added to the probability of every legal choice before they are made to sum to 1.",
    )

    @property
    def remembers(self) -> str:
        """The setting by which the networks remember something, e.g. ``memory = gru``; empty if they do not."""
        if self.memory != "none":
            return f"memory = {self.memory}"
        return f"stack = {self.stack}" if self.stack > 1 else ""

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind in _NETWORKS or _CLASS.fullmatch(kind):
            return kind
        raise ValueError(
            f'"{kind}" is no network; give {", ".join(_NETWORKS)} or your own as package.module:Class'
        )

    @field_validator("hidden", "critic_hidden")
    @classmethod
    def _positive_layers(cls, hidden: tuple[int, ...]) -> tuple[int, ...]:
        if all(1 <= units <= _MOST_UNITS for units in hidden):
            return hidden
        raise ValueError(f"{list(hidden)}: every layer has 1 to {_MOST_UNITS:,} units; give such numbers")

    @model_validator(mode="after")
    def _stacks(self) -> NetworkGroup:
        if self.stack > 1 and self.memory != "none":
            raise ValueError(f"stack = {self.stack} beside memory = {self.memory}; leave one of them out")
        if self.stack > 1 and self.kind in _NETWORKS and self.kind != "mlp":
            raise ValueError(
                f"stack = {self.stack}: {self.kind} reads one observation; use kind = mlp, or memory = gru"
            )
        return self

    @model_validator(mode="after")
    def _heads_share_width(self) -> NetworkGroup:
        if self.kind in ("attention", "seats", "tiles_attention") and self.width % self.heads:
            raise ValueError(
                f"width = {self.width} cannot be shared by heads = {self.heads}; use a multiple of {self.heads}"
            )
        return self


class TrainSettings(Settings):
    """A whole training run; with the same package, thread count and jax version it fixes every bit of it.

    Example:
        >>> TrainSettings(world=WorldChoice(id="survival/1v1-heals-low")).ppo.clip
        0.2
    """

    renamed: ClassVar[Mapping[str, str]] = RENAMED

    seed: int = Field(0, ge=0, lt=2**63, description="Names every random stream of the run.")
    num_worlds: int = Field(64, ge=1, description="Worlds stepped together, over all shards.")
    steps: int = Field(
        1_000_000, ge=1, description="Agent-steps in total: steps of one agent, summed over all."
    )
    algorithm: str = Field(
        "ppo",
        description="How to learn: ppo, policy_gradient (each has a group of its name) or your own package.module:Class.",
    )
    algorithm_options: dict[str, Any] = Field({}, description="Settings of an algorithm of your own.")
    world: WorldChoice
    train: TrainGroup = TrainGroup()
    ppo: PpoGroup = PpoGroup()
    policy_gradient: PolicyGradientGroup = PolicyGradientGroup()
    population: PopulationGroup = PopulationGroup()
    sides: SidesGroup = SidesGroup()
    opponents: dict[str, Any] = Field(
        {},
        description="Population, side or any (one of them) to who plays it: a scripted policy, run folder or checkpoint, "
        'or a list with shares of the episodes: [{play = "random", share = 0.2}, {play = "self", share = 0.8}].',
    )
    alternate: AlternateGroup = AlternateGroup()
    pool: PoolGroup = PoolGroup()
    belief: BeliefGroup = BeliefGroup()
    network: NetworkGroup = NetworkGroup()

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """World, network, algorithm and opponents, where they are programs of somebody's own."""
        if ":" in self.world.id:
            yield "world.id", self.world.id
            yield "world.options", self.world.options
        if ":" in self.network.kind:
            yield "network.kind", self.network.kind
        if ":" in self.algorithm:
            yield "algorithm", self.algorithm
            yield "algorithm_options", self.algorithm_options
        for side, who in self.opponents.items():
            for play, _ in shares_of(who):
                if is_code(play):
                    yield f"opponents.{side}", play
        for who in self.train.evaluate_against:
            if is_code(who):
                yield "train.evaluate_against", who

    @property
    def has_past_selves(self) -> bool:
        """Whether ``opponents`` names past selves."""
        return any("past" in dict(shares_of(who)) for who in self.opponents.values())

    @property
    def foreign(self) -> dict[str, str]:
        """Population -> who plays it, of several the most frequent, where the run's own networks never do."""
        each = {name: dict(shares_of(who)) for name, who in self.opponents.items()}
        some = self.sides.by == "population"
        return {
            name: max(who, key=lambda play: who[play])
            for name, who in each.items()
            if some and name != "any" and not {"self", "past"} & who.keys()
        }

    @field_validator("opponents")
    @classmethod
    def _shares_sum_to_one(cls, opponents: dict[str, Any]) -> dict[str, Any]:
        for side, who in opponents.items():
            if isinstance(who, str) and who:
                continue
            if not isinstance(who, list) or not who or not all(map(is_share, who)):
                raise ValueError(
                    f"{side} = {show(who)} is nobody; name one, or a list of "
                    '{play = "random", share = 0.2} with shares above 0'
                )
            shares = [one["share"] for one in who]
            if abs(sum(shares) - 1.0) > 1e-6:
                raise ValueError(f"{side}: shares {shares} sum to {sum(shares):g}; make them sum to 1")
        return opponents

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, algorithm: str) -> str:
        if algorithm in _ALGORITHMS or _CLASS.fullmatch(algorithm):
            return algorithm
        near = did_you_mean(
            algorithm, _ALGORITHMS, f"give {', '.join(_ALGORITHMS)} or your own as package.module:Class"
        )
        raise ValueError(f'"{algorithm}" is no algorithm; {near}')

    @model_validator(mode="after")
    def _sequences_fit(self) -> TrainSettings:
        if self.belief.about and (self.network.remembers or self.network.critic != "own"):
            key = self.network.remembers.partition(" ")[0] or "critic"
            raise ValueError(
                f'belief.about = "{self.belief.about}" with network.{key} = "{getattr(self.network, key)}": '
                f"networks that guess have no {'other critic' if key == 'critic' else 'memory'}; leave one of them out"
            )
        if self.network.memory == "none" or self.algorithm not in _ALGORITHMS:
            return self
        group = getattr(self, self.algorithm)
        if group.rollout % group.sequence:
            fits = next(n for n in range(group.sequence, 0, -1) if group.rollout % n == 0)
            raise ValueError(
                f"{self.algorithm}.sequence = {group.sequence} does not divide {self.algorithm}.rollout = {group.rollout}; "
                f"use for example {fits}"
            )
        return self

    @model_validator(mode="after")
    def _options_are_read(self) -> TrainSettings:
        if self.algorithm_options and ":" not in self.algorithm:
            raise ValueError(
                f"algorithm_options = {self.algorithm_options} is not read by {self.algorithm}; "
                f"its settings are under {self.algorithm}"
            )
        return self

    @model_validator(mode="after")
    def _shards_share_worlds(self) -> TrainSettings:
        if self.num_worlds % self.train.shards:
            raise ValueError(
                f"num_worlds = {self.num_worlds} cannot be split over train.shards = {self.train.shards} evenly; "
                f"use a multiple of {self.train.shards}"
            )
        return self
