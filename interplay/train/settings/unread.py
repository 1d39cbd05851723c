"""Settings that nobody would read: refused, because who writes them believes that they do something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.settings import Settings
from interplay.core.settings_text import show
from interplay.train.populations import Populations
from interplay.train.settings import RatesGroup, TrainSettings
from interplay.train.settings.algorithms import BUILT_IN, RolloutGroup, VdnGroup

Fields = Callable[[Settings], Iterator[tuple[str, Any]]]  # name and value of fields of a group

_ALWAYS = ("kind", "input_scale", "scale_pictures", "probability_floor", "action_masks", "memory", "critic")
_READS = {
    "attention": (
        "width",
        "heads",
        "tail",
        "activation",
        "attention_mask_additive",
        "separate_value",
        "discrete",
    ),
    "mlp": ("hidden", "activation", "stack", "discrete", "normalise"),
    "pictures": ("channels", "hidden", "activation", "discrete", "normalise"),
    "seats": ("width", "heads", "layers", "tail", "activation"),
    "tiles": ("width", "activation", "separate_heads"),
    "tiles_attention": ("width", "heads", "tail", "activation"),
}
# Whether these are set decides if others are read; they are read themselves.
_SWITCHES = {"belief.about", "league.learners", "league.pbt.rates", "alternate.metric", "pool.populations"}
_USERS = tuple(
    dict.fromkeys(
        name for names in _READS.values() for name in names if name not in ("discrete", "normalise")
    )
)  # a network of the user's own
_FACTORED = [name for name in BUILT_IN if isinstance(TrainSettings.model_fields[name].default, VdnGroup)]
_SWITCHES = {
    "league.pbt.rates",
    "pool.populations",
}  # a run without them differs in them from a run with them
# Of the network, what value factorisation does not read: it has no odds and no value of a single agent.
_NOT_FACTORED = {
    "normalise": "by {0}, which learns from replay; scale observations in the world",
    "probability_floor": "by {0}, which plays the best choice or any; see {0}.epsilon_end",
    "critic": "by {0}, which has a mixer; see qmix.state",
    "critic_hidden": "by {0}, which has a mixer; see qmix.hyper",
    "separate_value": "by {0}, whose networks have no value",
}


def check_read(settings: TrainSettings) -> None:
    """Refuses a setting that differs from its default and that the chosen network or algorithm does not read.

    Raises:
        UserError: naming it, its value, and what is read instead.
    """
    for key, value, cure in _unread(settings, _changed):
        raise UserError(f"{key} = {show(value)} is not read {cure}")


def check_populations_read(settings: TrainSettings, populations: Populations) -> None:
    """Refuses rates of a population that the run does not have, or that somebody else plays.

    Raises:
        UserError: naming it.
    """
    group = getattr(settings, settings.algorithm, None)
    for name in group.populations if isinstance(group, RatesGroup) else ():
        if name not in populations.own:
            near = did_you_mean(name, populations.own, f"there are {', '.join(populations.own)}")
            raise UserError(f"{settings.algorithm}.populations: no population {name!r} learns here; {near}")


def fitting(defaults: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """A world's own training settings without those that the user's choice of a network or an algorithm does not read.

    Args:
        defaults: nested, of the world.
        asked: nested, by the user.

    Example:
        >>> fitting({"network": {"kind": "tiles", "width": 8}}, {"network": {"kind": "mlp"}})
        {'network': {'kind': 'tiles'}}
    """
    out: dict[str, Any] = {k: dict(v) if isinstance(v, Mapping) else v for k, v in defaults.items()}
    group = asked.get("network")
    kind = group.get("kind") if isinstance(group, Mapping) else None
    if kind in _READS and "network" in out:
        out["network"] = {k: v for k, v in out["network"].items() if k in (*_ALWAYS, *_READS[kind])}
    algorithm = asked.get("algorithm", out.get("algorithm", "ppo"))
    if algorithm in _FACTORED and "network" in out:
        out["network"] = {k: v for k, v in out["network"].items() if k not in _NOT_FACTORED}
    for name in BUILT_IN:
        if name != algorithm:
            out.pop(name, None)
    return out


def keys_unread(settings: TrainSettings) -> frozenset[str]:
    """Keys that a run does not read, whatever they hold; a group of an algorithm that it does not learn by, by its name.

    Example:
        >>> asked = TrainSettings(world={"id": "pong/2p"}, algorithm="policy_gradient", network={"kind": "mlp"})
        >>> unread = keys_unread(asked)
        >>> "ppo" in unread, "network.heads" in unread, "network.hidden" in unread
        (True, True, False)
    """
    others = {group for group in BUILT_IN if group != settings.algorithm}
    return frozenset(others | {key for key, _, _ in _unread(settings, _every)} - _SWITCHES)


def _network_reads(settings: TrainSettings) -> list[str]:
    network = settings.network
    reads = [*_ALWAYS, *_READS.get(network.kind, _USERS)]
    reads += ["memory_size"] if network.memory in ("gru", "lstm") else []
    reads += ["critic_hidden"] if network.critic != "own" else []
    return [name for name in reads if settings.factored is None or name not in _NOT_FACTORED]


def _changed(group: Settings) -> Iterator[tuple[str, Any]]:
    """Fields of a group that differ from their defaults."""
    for name, field in type(group).model_fields.items():
        value = getattr(group, name)
        if value != field.get_default(call_default_factory=True):
            yield name, value


def _every(group: Settings) -> Iterator[tuple[str, Any]]:
    """All fields of a group."""
    return ((name, getattr(group, name)) for name in type(group).model_fields)


def _unread(settings: TrainSettings, fields: Fields = _changed) -> Iterator[tuple[str, Any, str]]:
    """Keys among `fields` of the groups that the run does not read, with their values and the cure."""
    network, reads = settings.network, _network_reads(settings)
    cures = {
        "memory_size": "without memory; set network.memory=gru",
        "critic_hidden": "without a critic of its own; set network.critic=team",
    }
    if settings.factored is not None:
        cures |= {name: cure.format(settings.algorithm) for name, cure in _NOT_FACTORED.items()}
    own = ", ".join(name for name in reads if name not in ("kind", *cures))
    for name, value in fields(network):
        if name not in reads:
            yield f"network.{name}", value, cures.get(name, f"by {network.kind}; it reads {own}")
    if network.kind == "seats" and settings.world.options.get("seats") == "by_role":
        yield "world.options.seats", "by_role", "by seats, to whom all seats are alike; set network.kind=mlp"
    for group in BUILT_IN:
        if group != settings.algorithm:
            for name, value in fields(getattr(settings, group)):
                yield f"{group}.{name}", value, f"by algorithm = {settings.algorithm}; set algorithm={group}"
    yield from _unread_sides(settings, fields)
    yield from _without(settings, fields, "belief", "about", "without somebody to guess; name belief.about")
    yield from _without(settings, fields, "league", "learners", "without learners; name league.learners")
    if not settings.league.pbt.rates:
        for name, value in fields(settings.league.pbt):
            yield f"league.pbt.{name}", value, "without rates; name league.pbt.rates"
    yield from _without(settings, fields, "alternate", "metric", "without turns; name alternate.metric")
    if not settings.record.every:
        for name, value in fields(settings.record):
            if name != "every":
                yield f"record.{name}", value, "without windows; set record.every"
    if settings.train.best_by is None:
        for name, value in fields(settings.train):
            if name == "best_measurements":
                yield "train.best_measurements", value, "without a metric; name train.best_by"
    if isinstance(getattr(settings, settings.algorithm, None), RolloutGroup) and network.memory == "none":
        for name, value in fields(getattr(settings, settings.algorithm)):
            if name == "sequence":
                yield f"{settings.algorithm}.sequence", value, cures["memory_size"]


def _unread_sides(settings: TrainSettings, fields: Fields) -> Iterator[tuple[str, Any, str]]:
    """Settings of sides, past selves and ratings in runs without."""
    pooled = bool(settings.pool.populations) or settings.has_past_selves
    if not (pooled or settings.opponents or settings.league.learners):
        for name, value in fields(settings.sides):
            yield f"sides.{name}", value, "without others who play; name them in opponents"
    for name, value in fields(settings.pool):
        if not pooled:
            yield (
                f"pool.{name}",
                value,
                "without past selves; set pool.populations, or play = past in opponents",
            )
        elif name == "share" and settings.has_past_selves:
            yield "pool.share", value, "where opponents gives past selves their shares; leave it out"
    for name, value in fields(settings.train):
        if name.startswith("evaluate_") and not settings.train.evaluate_against:
            yield f"train.{name}", value, "without opponents to be rated against; name train.evaluate_against"


def _without(
    settings: TrainSettings, fields: Fields, group: str, switch: str, cure: str
) -> Iterator[tuple[str, Any, str]]:
    """What is set of a group that is switched off."""
    own = getattr(settings, group)
    if not getattr(own, switch):
        for name, value in fields(own):
            if name != switch:
                yield f"{group}.{name}", value, cure
