"""Settings that the chosen network or algorithm does not use; changing them is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.settings_text import show
from interplay.train.settings.algorithms import BUILT_IN, RolloutGroup, VdnGroup
from interplay.train.settings.network import READS
from interplay.train.settings.train import TrainSettings

if TYPE_CHECKING:
    from interplay.train.populations import Populations

# Settings of networks of every kind; `READS` has those of each.
_ALWAYS = ("kind", "input_scale", "scale_pictures", "probability_floor", "action_masks", "memory", "critic")
_OWN = {name for names in READS.values() for name in names} - {"discrete", "normalise"}  # user-defined
_FACTORED = [name for name, group in BUILT_IN.items() if issubclass(group, VdnGroup)]
# Of the network: unused by value factorisation, which has no probabilities and no value of a single agent.
_NOT_FACTORED = {
    "normalise": "by {0}, which learns from replay; scale observations in the world",
    "probability_floor": "by {0}, which plays the best choice or a random one; see {0}.epsilon_end",
    "critic": "by {0}, which has a mixer; see qmix.state",
    "critic_hidden": "by {0}, which has a mixer; see qmix.hyper",
    "separate_value": "by {0}, whose networks have no value",
}
_NO_MEMORY = "without memory; set network.memory=gru"


def check_read(settings: TrainSettings) -> None:
    """Refuses an unused setting that differs from its default."""
    defaults = type(settings).model_construct()  # type: ignore[call-arg]  # without a world
    for key, reason in _unread(settings):
        if (value := _value(settings, key)) != _value(defaults, key):
            raise UserError(f"{key} = {show(value)} is not read {reason}")


def check_populations_read(settings: TrainSettings, populations: Populations) -> None:
    """Refuses rates of a population that does not learn in the run."""
    group = settings.own_group
    for name in () if group is None else group.populations:
        if name not in populations.own:
            near = did_you_mean(name, populations.own, f"there are {', '.join(populations.own)}")
            raise UserError(f"{settings.algorithm}.populations: no population {name!r} learns here; {near}")


def fitting(defaults: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """A world's training defaults without those that the user's network or algorithm does not use.

    Example:
        >>> fitting({"network": {"kind": "tiles", "width": 8}}, {"network": {"kind": "mlp"}})
        {'network': {'kind': 'tiles'}}
    """
    out: dict[str, Any] = {k: dict(v) if isinstance(v, Mapping) else v for k, v in defaults.items()}
    group = asked.get("network")
    kind = group.get("kind") if isinstance(group, Mapping) else None
    algorithm = asked.get("algorithm", out.get("algorithm", "ppo"))
    if "network" in out:
        kept = {*_ALWAYS, *READS[kind]} if kind in READS else {*out["network"]}
        kept -= _NOT_FACTORED.keys() if algorithm in _FACTORED else set()
        out["network"] = {k: v for k, v in out["network"].items() if k in kept}
    return {k: v for k, v in out.items() if k not in BUILT_IN or k == algorithm}


def keys_unread(settings: TrainSettings) -> frozenset[str]:
    """All keys that a run does not use; for the other algorithms the names of their groups too.

    Example:
        >>> asked = TrainSettings(world={"id": "pong/2p"}, algorithm="policy_gradient", network={"kind": "mlp"})
        >>> unread = keys_unread(asked)
        >>> "ppo" in unread, "network.heads" in unread, "network.hidden" in unread
        (True, True, False)
    """
    others = {group for group in BUILT_IN if group != settings.algorithm}
    return frozenset(others | {key for key, _ in _unread(settings)})


def _unread(settings: TrainSettings) -> Iterator[tuple[str, str]]:
    """Keys that a run does not use, and why."""
    for group, names, reason in (*_unread_of_networks(settings), *_unread_of_groups(settings)):
        yield from ((f"{group}.{name}", reason) for name in names)


def _value(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, Mapping) else getattr(settings, part, None)
    return settings


def _fields(settings: TrainSettings, group: str, *but: str) -> list[str]:
    return [name for name in type(_value(settings, group)).model_fields if name not in but]


def _unread_of_networks(settings: TrainSettings) -> Iterator[tuple[str, Iterable[str], str]]:
    network = settings.network
    reads = {*_ALWAYS, *READS.get(network.kind, _OWN)}
    reads |= {"memory_size"} if network.memory in ("gru", "lstm") else set()
    reads |= {"critic_hidden"} if network.critic != "own" else set()
    reasons = {
        "memory_size": _NO_MEMORY,
        "critic_hidden": "without a critic of its own; set network.critic=team",
    }
    if settings.factored is not None:
        reads -= _NOT_FACTORED.keys()
        reasons |= {name: reason.format(settings.algorithm) for name, reason in _NOT_FACTORED.items()}
    every = _fields(settings, "network")
    own = ", ".join(name for name in every if name in reads - {"kind", *reasons})
    for name in every:
        if name not in reads:
            yield "network", [name], reasons.get(name, f"by {network.kind}; it reads {own}")
    if network.kind == "seats" and settings.world.options.get("seats") == "by_role":
        yield "world.options", ["seats"], "by seats, for which all seats are alike; set network.kind=mlp"


def _unread_of_groups(settings: TrainSettings) -> Iterator[tuple[str, Iterable[str], str]]:
    algorithm, train = settings.algorithm, settings.train
    for group in BUILT_IN:
        if group != algorithm:
            yield group, _fields(settings, group), f"by algorithm = {algorithm}; set algorithm={group}"
    pooled = bool(settings.pool.populations) or settings.has_past_selves
    if not (pooled or settings.opponents or settings.league.learners):
        yield "sides", _fields(settings, "sides"), "without other players; name them in opponents"
    if not pooled:
        names = _fields(settings, "pool", "populations")
        yield "pool", names, "without past selves; set pool.populations, or play = past in opponents"
    elif settings.has_past_selves:
        yield "pool", ["share"], "where opponents gives past selves their shares; leave it out"
    if not train.evaluate_against:
        names = [name for name in _fields(settings, "train") if name.startswith("evaluate_")]
        yield "train", names, "without opponents of ratings; name train.evaluate_against"
    for group, switch, reason in (
        ("belief", "about", "without a population to predict; name belief.about"),
        ("league", "learners", "without learners; name league.learners"),
        ("league.pbt", "rates", "without rates; name league.pbt.rates"),
        ("alternate", "metric", "without turns; name alternate.metric"),
        ("record", "every", "without windows; set record.every"),
    ):
        if not _value(settings, f"{group}.{switch}"):
            yield group, _fields(settings, group, switch), reason
    if not train.actors:
        yield "train", ["most_age"], "without actors; set train.actors"
    if train.best_by is None:
        yield "train", ["best_measurements"], "without a metric; name train.best_by"
    if isinstance(settings.own_group, RolloutGroup) and settings.network.memory == "none":
        yield algorithm, ["sequence"], _NO_MEMORY
