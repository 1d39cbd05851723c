"""Settings of a whole run: its world, its split over processes, and all groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean, is_code
from interplay.core.settings import Settings
from interplay.core.settings_text import show
from interplay.interfaces.names import from_settings
from interplay.train.settings.algorithms import (
    BUILT_IN,
    A2cGroup,
    PolicyGradientGroup,
    PpoGroup,
    QmixGroup,
    VdnGroup,
    VtraceGroup,
)
from interplay.train.settings.curriculum import CurriculumGroup
from interplay.train.settings.league import LeagueGroup
from interplay.train.settings.network import CLASS, NetworkGroup
from interplay.train.settings.populations import (
    AlternateGroup,
    BeliefGroup,
    Distinct,
    PoolGroup,
    PopulationGroup,
    SidesGroup,
    is_share,
    shares_of,
)
from interplay.train.settings.record import RecordGroup
from interplay.train.settings.synonyms import ALSO_CALLED

_READ_KNOWN_LEAVES = ("seats", "tiles", "tiles_attention")  # networks that ignore an additional leaf


class WorldChoice(Settings):
    """The world of the run."""

    id: str = Field(min_length=1, description="Registry id; `interplay worlds` lists them.")
    options: dict[str, Any] = Field({}, description="Options of the world; `interplay worlds ID` lists them.")

    @field_validator("options")
    @classmethod
    def _set_by_the_run(cls, options: dict[str, Any]) -> dict[str, Any]:
        for name in ("num_worlds", "seed", "first_world", "world_id"):
            if name in options:
                cure = (
                    "leave it out"
                    if name in ("first_world", "world_id")
                    else f"write {name}, without world.options"
                )
                raise ValueError(f"{name} = {show(options[name])} is set by the run; {cure}")
        return options


class TrainGroup(Settings):
    """Processes, devices, checkpoints, limits, ratings and logs of the run."""

    shards: int = Field(
        4, ge=1, le=1024, description="Fixed parts of the run (specification scale 3); part of the result."
    )
    workers: int = Field(
        1, ge=1, le=1024, description="Processes that share the shards; not part of the result."
    )
    device: str = Field(
        "cpu",
        description="Device of the networks: cpu, gpu, gpu:1 (the second GPU), or auto (a GPU if there is one); part of "
        "the result. Worlds are stepped on the CPU.",
    )
    devices: int = Field(
        1,
        ge=1,
        le=8,
        description="GPUs of this machine that share every minibatch, from `device` on: 1, 2, 4 or 8; part of the result.",
    )
    precision: Literal["float32", "tf32", "bfloat16"] = Field(
        "float32",
        description="Precision of matrix products on a GPU; sums, gradients and moments stay float32. Part of the result.",
    )
    threads: Literal["auto"] | Annotated[int, Field(ge=1, le=1024)] = Field(
        "auto",
        description="Threads that step worlds, in each process; not part of the result. auto: 1, with a GPU the cores less two. "
        "Worlds in plain Python use none.",
    )
    checkpoint_seconds: float = Field(
        30.0, ge=0, description="Seconds of training between checkpoints, the most a crash can lose."
    )
    keep_checkpoints: int = Field(3, ge=1, description="Number of newest checkpoints to keep.")
    keep_at: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        (),
        description="Agent-steps with a permanent checkpoint: of each the first update that reaches it.",
    )
    keep_every: int | None = Field(None, ge=1, description="Agent-steps between permanent checkpoints.")
    checkpoint_updates: int | None = Field(
        None, ge=1, description="Updates between checkpoints, besides those by time."
    )
    checkpoint_at_end: bool = Field(True, description="Save when the run is complete.")
    log_every: int = Field(1, ge=1, description="Updates per line of metrics.jsonl.")
    max_updates: int | None = Field(None, ge=1, description="The run ends after this many updates.")
    max_episodes: int | None = Field(None, ge=1, description="The run ends after this many whole episodes.")
    max_seconds: float | None = Field(None, gt=0, description="The run ends after this many seconds.")
    step_limit: float | None = Field(
        None,
        gt=0,
        description="Time limit of an environment step in seconds; beyond it the run ends. With "
        "world.options.processes = 1 or more the process is replaced instead and the episodes of its worlds are truncated.",
    )
    learners: tuple[str, ...] = Field(
        (), description="Kinds of agents, or populations, that learn; empty = all of them."
    )
    start_from: str | None = Field(
        None, min_length=1, description="Run or checkpoint with the initial weights."
    )
    best_by: str | None = Field(
        None,
        min_length=1,
        description="Metric, e.g. life; the checkpoint with its highest mean is kept as checkpoints/best.",
    )
    best_measurements: int | None = Field(
        None,
        ge=1,
        description="Measurements in this mean: updates, or ratings, that have the metric; "
        "off: a tenth of those so far, at least 5.",
    )
    evaluate_against: Distinct = Field(
        (),
        description="Fixed opponents of ratings: policies, run folders, checkpoints.",
    )
    evaluate_every: int | None = Field(
        None, ge=1, description="Agent-steps between two ratings; off: a twentieth of the run."
    )
    evaluate_episodes: int = Field(
        32, ge=2, multiple_of=2, description="Episodes against each, half of them in each seat."
    )
    evaluate_actions: Literal["greedy", "sampled", "both"] = Field(
        "greedy",
        description="Actions in ratings: the likeliest, sampled ones, or a rating with each. Value factorisation is always greedy.",
    )
    evaluate_score: Literal["outcome", "return"] | None = Field(
        None,
        description="What decides an episode of a rating; off: the outcome where the world has one, else the return.",
    )
    quiet: bool = Field(False, description="Show no progress.")
    writers: tuple[Literal["auto", "tensorboard", "csv", "wandb", "mlflow"], ...] = Field(
        ("auto",),
        description="Writers of the metrics besides metrics.jsonl; auto: TensorBoard where it is installed.",
    )

    def keeps(self, before: int, now: int) -> bool:
        """Whether the checkpoint at `now` is permanent: `keep_at` or `keep_every` has a number in (before, now].

        Example:
            >>> group = TrainGroup(keep_at=(0, 700), keep_every=500)
            >>> [group.keeps(*pair) for pair in ((-1, 0), (0, 480), (480, 500), (500, 690), (690, 710))]
            [True, False, True, False, True]
        """
        at = any(before < steps <= now for steps in self.keep_at)
        return at or (
            self.keep_every is not None and now // self.keep_every > max(before, 0) // self.keep_every
        )

    @field_validator("device")
    @classmethod
    def _known_device(cls, device: str) -> str:
        if not re.fullmatch(r"cpu|auto|gpu(:\d{1,3})?|host:\d{1,3}", device):
            raise ValueError(f"{device!r} is no device; give cpu, gpu, gpu:1 or auto")
        return device

    @model_validator(mode="after")
    def _workers_share_shards(self) -> TrainGroup:
        if self.shards & (self.shards - 1):
            below = 1 << (self.shards.bit_length() - 1)
            raise ValueError(
                f"shards = {self.shards} is not a power of two; use for example {below} or {2 * below}"
            )
        if self.workers & (self.workers - 1) or self.workers > self.shards:
            fit = ", ".join(str(1 << k) for k in range(self.shards.bit_length()))
            raise ValueError(
                f"workers = {self.workers} cannot share shards = {self.shards}; use one of {fit}"
            )
        if self.workers > 1 and self.device not in ("cpu", "auto"):
            raise ValueError(
                f"workers = {self.workers} with device = {self.device}: one process feeds a GPU; leave workers out, train.threads steps worlds"
            )
        if self.devices > 1 and (self.devices & (self.devices - 1) or self.device == "cpu"):
            raise ValueError(
                f"devices = {self.devices} with device = {self.device}: give 2, 4 or 8 and device = gpu, or leave it out"
            )
        if self.precision != "float32" and (self.device == "cpu" or self.device.startswith("host")):
            raise ValueError(
                f"precision = {self.precision} is for GPUs; leave it out with device = {self.device}"
            )
        return self


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


class TrainSettings(Settings):
    """Settings of a training run; with the package, thread count and jax version they fix its result bit by bit.

    Example:
        >>> TrainSettings(world=WorldChoice(id="survival/1v1-heals-low")).ppo.clip
        0.2
    """

    also_called: ClassVar[Mapping[str, str]] = ALSO_CALLED

    seed: int = Field(0, ge=0, lt=2**63, description="Names every random stream of the run.")
    num_worlds: int = Field(64, ge=1, description="Worlds stepped together, over all shards.")
    steps: int = Field(
        1_000_000, ge=1, description="Agent-steps in total: steps of one agent, summed over all."
    )
    algorithm: str = Field(
        "ppo",
        description=f"{', '.join(BUILT_IN)} (each with a group of its name), or your own as package.module:Class.",
    )
    algorithm_options: dict[str, Any] = Field({}, description="Settings of your own algorithm.")
    name: str = Field(
        "", max_length=60, description="Label of runs with these settings in tables and pictures."
    )
    world: WorldChoice
    curriculum: CurriculumGroup = CurriculumGroup()
    train: TrainGroup = TrainGroup()
    record: RecordGroup = RecordGroup()
    ppo: PpoGroup = PpoGroup()
    policy_gradient: PolicyGradientGroup = PolicyGradientGroup()
    a2c: A2cGroup = A2cGroup()
    vtrace: VtraceGroup = VtraceGroup()
    vdn: VdnGroup = VdnGroup()
    qmix: QmixGroup = QmixGroup()
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

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """World, network, algorithm and opponents that are user-defined programs."""
        yield from code_names(self.model_dump())

    @property
    def factored(self) -> VdnGroup | None:
        """The group of the run's value factorisation; None for other algorithms."""
        own = getattr(self, self.algorithm, None)
        return own if isinstance(own, VdnGroup) else None

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
    def _sequences_fit(self) -> TrainSettings:
        if self.belief.about and (self.network.remembers or self.network.critic != "own"):
            key = self.network.remembers.partition(" ")[0] or "critic"
            raise ValueError(
                f'belief.about = "{self.belief.about}" with network.{key} = "{getattr(self.network, key)}": '
                f"networks with a belief head have no {'other critic' if key == 'critic' else 'memory'}; leave one of them out"
            )
        if self.network.memory == "none" or self.algorithm not in BUILT_IN or self.factored is not None:
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
    def _league_alone(self) -> TrainSettings:
        known = list(getattr(self, self.algorithm).rates()) if self.algorithm in BUILT_IN else []
        for rate in self.league.pbt.rates:
            if known and rate not in known:
                near = did_you_mean(rate, known, f"there are {', '.join(known)}")
                raise ValueError(f"league.pbt.rates: {self.algorithm} has no rate {rate!r}; {near}")
        if self.league.learners and self.algorithm in BUILT_IN:
            update = getattr(self, self.algorithm).rollout * self.num_worlds
            if self.league.period < update:
                raise ValueError(
                    f"league.period = {self.league.period} is shorter than an update, {update} agent-steps at least "
                    f"({self.algorithm}.rollout x num_worlds); raise it, or lower one of these"
                )
        if self.league.learners:
            for key, others in (
                ("opponents", self.opponents),
                ("pool.populations", self.pool.populations),
                ("alternate.metric", self.alternate.metric),
                ("belief.about", self.belief.about),
                ("population.groups", self.population.groups),
                ("population.by", self.population.by if self.population.by != "world" else ""),
            ):
                if others:
                    raise ValueError(
                        f"league.learners and {key} = {show(others)}: a league sets learners and opponents itself; leave one out"
                    )
        return self

    @model_validator(mode="after")
    def _factored_alone(self) -> TrainSettings:
        group = self.factored
        if group is None:
            return self
        for key, value in (
            ("league.learners", tuple(self.league.learners)),
            ("alternate.metric", self.alternate.metric),
            ("belief.about", self.belief.about),
        ):
            if value:
                raise ValueError(
                    f'{key} = {show(value)} with algorithm = "{self.algorithm}", which has no turns, beliefs or '
                    'league; leave it out, or set algorithm = "ppo"'
                )
        if self.train.devices > 1:
            raise ValueError(
                f'train.devices = {self.train.devices} with algorithm = "{self.algorithm}", which uses one device; leave it out'
            )
        if group.agent_id and self.network.kind in _READ_KNOWN_LEAVES:
            raise ValueError(
                f'{self.algorithm}.agent_id = true with network.kind = "{self.network.kind}", which ignores additional leaves; '
                "set network.kind = mlp, or agent_id = false"
            )
        if group.replay < group.minibatch:
            raise ValueError(
                f"{self.algorithm}.replay = {group.replay} holds no minibatch of {group.minibatch}; raise it, or lower {self.algorithm}.minibatch"
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
