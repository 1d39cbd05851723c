"""The settings of a run, from what a user named and typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.helping import processors
from interplay.core.loading import did_you_mean, is_code
from interplay.core.settings import build, changed, merge, nest, parse_overrides, read_toml
from interplay.core.settings_text import show
from interplay.core.trust import admit_bytes, programs
from interplay.registry import make_world, options_of, training_settings
from interplay.train.networks.pictures import find_pictures
from interplay.train.run.progress import tell
from interplay.train.settings import LeagueGroup, TrainSettings
from interplay.train.settings.league import LEAGUES
from interplay.train.settings.presets import GPU, find_preset, under, with_gpu_preset
from interplay.train.settings.short_runs import fit_worlds
from interplay.train.settings.unread import check_read, fitting
from interplay.verbs.opening import open_world
from interplay.view.extras import present_extras

if TYPE_CHECKING:
    from interplay.connect.resolved import ResolvedWorld
    from interplay.core.world import Kind


def run_settings(
    world: str,
    overrides: Sequence[str] | Mapping[str, Any],
    flags: Mapping[str, Any],
    trust: bool = False,
    league: str | None = None,
    preset: str | None = None,
    resolved: ResolvedWorld | None = None,
) -> TrainSettings:
    """The settings of a run as its world needs them: fewer worlds for a short run, convolutions for pictures.

    Prints a line for each change, and for each part of a preset that is not honoured. Arguments are those of `build_settings`.

    Args:
        resolved: a world that was handed over; None: the registry makes it.
    """
    like, make = (None, None) if resolved is None else (resolved.like, resolved.make)
    settings, counted = _merged(world, overrides, flags, trust, league, like, preset, make)
    if make is None:
        first = open_world(settings.world.id, **settings.world.options)
        first.close()
        settings = _fit_to_steps(_fit_network(settings, first.kinds), len(first.agents), counted)
    elif settings.world.options:
        raise UserError(
            f"world.options: {world} was handed over as it is; make it with {next(iter(settings.world.options))} instead"
        )
    elif "kind" not in settings.network.model_fields_set:
        first = make(num_worlds=1, seed=settings.seed, first_world=0)
        first.close()
        settings = _fit_network(settings, first.kinds)
    _tell_departures(settings, preset)
    return settings


def build_settings(
    world: str,
    overrides: Sequence[str] | Mapping[str, Any],
    flags: Mapping[str, Any],
    trust: bool = False,
    league: str | None = None,
    preset: str | None = None,
) -> TrainSettings:
    """The settings of a run: defaults, those of the world, the file, KEY=VALUE, options such as --steps; the last one wins.

    Args:
        world: id, or path of a settings file.
        overrides: KEY=VALUE, or the nested mapping that they make.
        flags: key -> value.
        trust: the file may name programs, see `interplay.core.trust`; what was typed may anyway.
        league: name of a preset, or path of a file with the keys of the group.
        preset: name of published settings, or "gpu"; they stand below all that is given and above those of the world.
    """
    return _merged(world, overrides, flags, trust, league, None, preset, None)[0]


def _merged(
    world: str,
    overrides: Sequence[str] | Mapping[str, Any],
    flags: Mapping[str, Any],
    trust: bool,
    league: str | None,
    like: str | None,
    preset: str | None,
    make: Callable[..., Any] | None,
) -> tuple[TrainSettings, bool]:
    """As `build_settings`, and whether the number of worlds was set.

    Args:
        like: id of the world whose training settings it begins with, ``""`` for none; None: of the world itself.
        make: of a world that was handed over.
    """
    if not world and preset in (None, GPU):
        raise UserError(
            "no world; name one, `interplay worlds` lists them, or a --preset that brings its own"
        )
    file = SettingsFile(Path(world), trust) if world.endswith(".toml") else None
    if file is not None and "sweep" in file.values:
        raise UserError(
            f"{world}: it has a group [sweep] and means many runs; use `interplay sweep {world} --out FOLDER`"
        )
    owner = "train" if file is None else world
    given = overrides if isinstance(overrides, Mapping) else parse_overrides(overrides)
    named = {"world": {"id": world}} if world else {}
    values = named if file is None else file.values
    if league is not None:
        values = {**values, "league": _league_of(league, trust)}
    values = merge(values, given)
    if preset not in (None, GPU):
        values = under(preset, values)
    chosen, split = values.get("world"), values.get("train", {})
    if isinstance(chosen, dict):
        _tell_options(chosen.get("id"), given, owner)
    counted = preset == GPU or "num_worlds" in {**values, **flags}
    if not isinstance(split, dict):
        return build(TrainSettings, values, owner), counted  # raises for errors, before options are merged
    if isinstance(chosen, dict) and isinstance(chosen.get("id"), str):
        if file is not None:
            file.admit([("world.id", chosen["id"])] if ":" in chosen["id"] else [], given)
        own = chosen["id"] if like is None else like
        asked = merge(values, nest(flags))
        values = merge(fitting(training_settings(own) if own else {}, values), asked)
        if preset == GPU:
            values = with_gpu_preset(values, asked, _agents(values["world"], make))
    else:
        values = merge(values, nest(flags))
    if "shards" not in split:
        usual = _shards_with(values.get("train", {}).get("actors"))
        values = merge(
            values, _shards_for(values.get("num_worlds"), values.get("train", {}).get("shards", usual))
        )
    if "workers" not in split and "train.workers" not in flags:
        shards = values.get("train", {}).get("shards", 4)
        device = values.get("train", {}).get("device", "cpu")
        on_cpu = device == "cpu" or (device == "auto" and not {"cuda12", "cuda13"} & set(present_extras()))
        several = on_cpu and not values.get("train", {}).get("actors")
        values = merge(values, {"train": {"workers": workers_for(shards) if several else 1}})
    settings = build(TrainSettings, values, owner)
    check_read(settings)
    if file is not None:
        file.admit([entry for entry in settings.code_names() if entry[0] != "world.options"], given)
    return settings, counted


def _agents(choice: Mapping[str, Any], make: Callable[..., Any] | None) -> int:
    """Slots of one world."""
    if make is not None:
        made = make(num_worlds=1, seed=0, first_world=0)
    else:
        made = make_world(choice["id"], **choice.get("options", {}))
    with closing(made) as world:
        return len(world.agents)


def _tell_options(world: Any, given: Mapping[str, Any], owner: str) -> None:
    """Raises for an option of the world that stands among settings; the line names its place."""
    unknown = [key for key in given if key not in TrainSettings.model_fields]
    for key in unknown and set(unknown) & set(options_of(str(world))):
        value = "..." if isinstance(given[key], Mapping) else show(given[key])
        raise UserError(
            f"{owner}: {key} is an option of {world}, not of training; write world.options.{key}={value}"
        )


def _league_of(name: str, trust: bool) -> dict[str, Any]:
    """The group ``league`` of a preset or a file."""
    if not name.endswith(".toml"):
        if name not in LEAGUES:
            near = did_you_mean(name, LEAGUES, f"give {', '.join(LEAGUES)}, or a file that ends with .toml")
            raise UserError(f"--league {name}: no such league; {near}")
        return LEAGUES[name]
    file = SettingsFile(Path(name), trust)
    group = file.values.get("league", file.values)
    if not isinstance(group, dict) or (len(file.values) > 1 and "league" in file.values):
        raise UserError(
            f"{name}: it holds more than [league]; leave the rest out, or train it: interplay train {name}"
        )
    found = build(LeagueGroup, group, name)
    if not found.learners:
        raise UserError(f"{name}: league.learners is missing; name a learner, e.g. [learners.main]")
    file.admit([("league.learners", name) for name in found.fixed if is_code(name)], {})
    return dict(group)


class SettingsFile:
    """A settings file that was named; programs that it names itself need the user's trust.

    Attributes:
        values: nested mapping, unchecked.
    """

    def __init__(self, path: Path, trust: bool) -> None:
        self._path, self._trust = path, trust
        self.values = read_toml(path)

    def admit(self, names: Iterable[tuple[str, Any]], typed: Mapping[str, Any]) -> None:
        """Refuses names of programs, but for those that were typed; see `interplay.core.trust`."""
        for key, name in names:
            if not _was_typed(key, typed):
                admit_bytes(f'{key} = "{name}" names a program', self._path, self._programs(), self._trust)
                return

    def _programs(self) -> bytes:
        """The programs that the file names; empty if it is no complete settings file by itself."""
        try:
            return programs(build(TrainSettings, self.values, str(self._path)))
        except UserError:
            return b""


def _was_typed(key: str, typed: Mapping[str, Any]) -> bool:
    group, _, name = key.partition(".")
    return name in typed.get(group, {})


def _shards_with(actors: Any) -> int:
    """The usual number of shards; with actors half as many, so that some play while an update learns from others."""
    if not isinstance(actors, int) or actors < 1 or actors >= 8:
        return 4
    return 2 if actors >= 4 else 1


def _shards_for(worlds: Any, shards: Any) -> dict[str, Any]:
    """Fewer shards than are usual where they could not share the worlds; what is no number is refused later."""
    if not (isinstance(worlds, int) and isinstance(shards, int) and worlds > 0 and shards > 0):
        return {}
    fit = gcd(worlds, shards)
    return {} if fit == shards == 4 else {"train": {"shards": fit}}


def workers_for(shards: Any) -> int:
    """The most worker processes that this machine's cores and the shards allow, a power of two."""
    most = min(processors(), shards) if isinstance(shards, int) and shards > 0 else 1
    return 1 << (most.bit_length() - 1)


def _fit_network(settings: TrainSettings, kinds: Iterable[Kind]) -> TrainSettings:
    """Convolutions where every kind of agents sees a picture and no network was given; a line names it."""
    if "kind" in settings.network.model_fields_set or settings.factored is not None:
        return settings
    try:
        seen = [find_pictures(kind.observation_space)[0] for kind in kinds]
        pictured = changed(settings, {"network": {"kind": "pictures"}}, "train")
        check_read(pictured)
    except UserError:  # of no picture, or of a setting that convolutions do not read
        return settings
    tell(f"network.kind=pictures: {seen[0]} is a picture; network.kind=mlp reads its numbers side by side")
    return pictured


def _tell_departures(settings: TrainSettings, preset: str | None) -> None:
    """Prints a line for each part of a preset that is not honoured."""
    if preset not in (None, GPU) and not settings.train.quiet:
        for departure in find_preset(preset).departures:
            tell(f"--preset {preset}: {departure}")


def _fit_to_steps(settings: TrainSettings, slots: int, counted: bool) -> TrainSettings:
    """Settings with fewer worlds for a short run, unless their number was set; prints a line where it changes them."""
    if counted:
        return settings
    fewer = fit_worlds(settings, slots)
    if fewer.num_worlds < settings.num_worlds:  # also in quiet runs: it changes what is learnt
        tell(
            f"{settings.steps:,} agent-steps are few for {settings.num_worlds} worlds: {fewer.num_worlds} are trained on; "
            f"--num-worlds {settings.num_worlds} keeps them"
        )
    return fewer
