"""Settings of a run itself: its world and stages, its processes, devices, checkpoints, limits, ratings, logs and recordings."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from interplay.core.settings import Settings
from interplay.core.settings_text import show
from interplay.train.settings.populations import Distinct

CONDITION = re.compile(
    r"\s*(?P<metric>[^<>\s]+)\s*(?P<sign>[<>])\s*(?P<value>[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*"
)


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


class StageGroup(Settings):
    """One stage."""

    options: dict[str, Any] = Field({}, description="World options of this stage, over world.options.")
    until: float | str | None = Field(
        None,
        description='End: a share of the run (up to 1), agent-steps (above 1), or a metric, "won > 0.8"; off: none.',
    )

    @field_validator("until")
    @classmethod
    def _is_a_border(cls, until: float | str | None) -> float | str | None:
        if isinstance(until, str) and CONDITION.fullmatch(until) is None:
            raise ValueError(f'{show(until)} is no condition; write a metric and a bound, "won > 0.8"')
        if not isinstance(until, str) and until is not None and until <= 0:
            raise ValueError(f"{until:g} is not above 0; give a share of the run, or agent-steps")
        return until


class CurriculumGroup(Settings):
    """Stages in order; each begins with new worlds."""

    stages: tuple[StageGroup, ...] = Field(
        (), description="In order; every stage but the last has an end, `until`."
    )
    episodes: int = Field(
        100,
        ge=1,
        description="Episode metrics are averaged over at least this many latest ones of the stage.",
    )

    @model_validator(mode="after")
    def _each_ends_but_the_last(self) -> CurriculumGroup:
        for number, stage in enumerate(self.stages, 1):
            if (stage.until is None) != (number == len(self.stages)):
                cure = "leave it out" if stage.until is not None else "set it"
                raise ValueError(
                    f"stages: until = {show(stage.until)} of stage {number} of {len(self.stages)}; {cure}: each but the last has an end"
                )
        return self


class TrainGroup(Settings):
    """Processes, devices, checkpoints, limits, ratings and logs of the run."""

    shards: int = Field(
        4, ge=1, le=1024, description="Fixed parts of the run (specification scale 3); part of the result."
    )
    workers: int = Field(
        1, ge=1, le=1024, description="Processes that share the shards; not part of the result."
    )
    actors: int = Field(
        0,
        ge=0,
        le=256,
        description="Shards that play ahead in threads while the learner learns, for slow worlds; 0: none. At least train.shards, "
        "each with num_worlds / shards worlds; runs do not repeat bit for bit.",
    )
    most_age: int = Field(
        8, ge=1, description="Updates after which a rollout of an actor is too old and dropped."
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
    precision: Literal["float32", "bfloat16"] = Field(
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
    copy_to: str | None = Field(
        None,
        min_length=1,
        description="An fsspec address, e.g. s3://bucket/runs; each checkpoint is copied to a folder of the run's name there.",
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

    @field_validator("precision", mode="before")
    @classmethod
    def _products_that_fail(cls, precision: Any) -> Any:
        if precision == "tf32":
            raise ValueError(
                "'tf32' ended in an error of cuBLASLt on an H200 (docs/results/devices.md); give float32 or bfloat16"
            )
        return precision

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
        if 0 < self.actors < self.shards:
            raise ValueError(
                f"actors = {self.actors}: an update needs the rollouts of shards = {self.shards}; raise actors, or lower shards"
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


class RecordGroup(Settings):
    """Windows: stretches of play of the run's first world, recorded to ``recordings/``.

    They do not change training. A window that would take more than 3 % of the time is left out.
    """

    every: int = Field(
        25,
        ge=0,
        description="Updates between two windows; 0: none. While a viewer watches, windows are consecutive.",
    )
    ticks: int = Field(500, ge=1, le=100_000, description="Steps of the world in a window.")
    keep: int = Field(
        20,
        ge=1,
        le=10_000,
        description="Most windows kept: the first, the newest, and others spread evenly over the run; 1: the newest.",
    )


class PinsGroup(Settings):
    """Written by the run: the checkpoints of other runs that it names, so that it never goes on with others."""

    folder: str = Field(
        "", description="Where the run began; relative paths of players are looked up from there first."
    )
    players: dict[str, str] = Field(
        {},
        description="Checksum of each checkpoint that plays, or that gives the first weights.",
    )


class RunSettings(Settings):
    """The settings of a run that come before those of its algorithm."""

    seed: int = Field(0, ge=0, lt=2**63, description="Names every random stream of the run.")
    num_worlds: int = Field(64, ge=1, description="Worlds stepped together, over all shards.")
    steps: int = Field(
        1_000_000, ge=1, description="Agent-steps in total: steps of one agent, summed over all."
    )
    algorithm: str = "ppo"  # `TrainSettings` describes it, where all names are known
    algorithm_options: dict[str, Any] = Field({}, description="Settings of your own algorithm.")
    name: str = Field(
        "", max_length=60, description="Label of runs with these settings in tables and pictures."
    )
    world: WorldChoice
    curriculum: CurriculumGroup = CurriculumGroup()
    train: TrainGroup = TrainGroup()
    record: RecordGroup = RecordGroup()

    @model_validator(mode="after")
    def _shards_share_worlds(self) -> Self:
        if self.num_worlds % self.train.shards:
            raise ValueError(
                f"num_worlds = {self.num_worlds} cannot be split over train.shards = {self.train.shards} evenly; "
                f"use a multiple of {self.train.shards}"
            )
        return self
