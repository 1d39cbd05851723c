"""Overlays of the survival world: strikes, items, deaths and the zone.

Each world of the batch plays one episode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.world import Array
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay, Study
from interplay.evaluate.lifetimes.survival import kaplan_meier, median_life
from interplay.evaluate.lifetimes.survival_world import events as e
from interplay.evaluate.lifetimes.survival_world.moments import moment_reader

SPANS = {"1": (1, 1), "2-5": (2, 5), "6-20": (6, 20), "21-100": (21, 100), "> 100": (101, 2**31 - 1)}  # steps
HEALTHS = {
    "0 or less": (-(2**31), 0),
    **{f"{low + 1}-{low + 25}": (low + 1, low + 25) for low in range(0, 175, 25)},
    "> 175": (176, 2**31 - 1),
}
WINDOW = 100  # steps, of the bars of deaths
MOST_AGENTS = 8  # shown one by one


def strikes(study: Study) -> OverlayData:
    """Strike rates by first object on the melee segment, and lengths of contacts."""
    recorder = study.seen("events")
    contacts = e.named(recorder.events(), [e.CONTACT])
    bars = Layer(
        "strike_share",
        "Strikes by what the melee would meet first",
        _ratio(recorder.on_ray[..., 1], recorder.on_ray[..., 0])[: _own_lines(recorder)],
        "bars",
        "plain",
        "share of steps with a strike",
        "Of the steps in which the melee segment met this first, those in which the agent struck; NaN where there was none.",
        x=e.THINGS,
        x_label="first on the segment",
        labels=_agents(recorder),
    )
    lengths = _spread(
        "contact_lengths",
        "Lengths of contacts",
        contacts["steps"],
        SPANS,
        "steps",
        "Unbroken steps with the same opponent first on the segment.",
    )
    return OverlayData(
        "strikes",
        f"{len(contacts):,} contacts in {_episodes(study)}",
        (bars, lengths),
        {"events": contacts, "on_ray": recorder.on_ray},
        ("first on the ray", "steps", "strikes", "share"),
        _strike_rows(recorder.on_ray.sum(axis=0), contacts),
    )


def _strike_rows(counts: Array, contacts: Array) -> tuple[tuple[object, ...], ...]:
    """A row per object met, from (things, 2) steps and strikes; last the first steps of contacts."""
    rows = [
        (thing, int(steps), int(struck), _share(struck, steps))
        for thing, (steps, struck) in zip(e.THINGS, counts, strict=True)
        if steps
    ]
    early, struck = int(contacts["early"].sum()), int(contacts["early_strikes"].sum())
    return *rows, (f"first {e.EARLY} steps of contacts", early, struck, _share(struck, early))


def items(study: Study) -> OverlayData:
    """Items picked up, used, given and dropped, with delays and health."""
    events = e.named(study.seen("events").events(), [e.PICK_UP, e.USE, e.GIFT, e.DROP])
    used = events[events["kind"] == e.USE]
    heals = used[used["what"] == e.HEAL]
    delays = _spread(
        "use_delays",
        "From pick-up to use",
        used["steps"],
        SPANS,
        "steps",
        "How long used items had been held; gifts count from the gift.",
    )
    healths = _spread(
        "use_healths",
        "Health as heals are used",
        heals["health"],
        HEALTHS,
        "hit points",
        "Health of agents at the use of a heal, before it healed.",
    )
    return OverlayData(
        "items",
        f"{len(used):,} items used in {_episodes(study)}",
        (delays, healths),
        {"events": events},
        ("event", "item", "times", "per episode", "steps held", "health"),
        _item_rows(events, study.world.num_worlds),
    )


def _item_rows(events: Array, worlds: int) -> tuple[tuple[object, ...], ...]:
    """A row for each kind of event and item that occurred."""
    rows = []
    for kind in (e.PICK_UP, e.USE, e.GIFT, e.DROP):
        for what in (e.HEAL, e.BOX_ITEM, e.OTHER_ITEM):
            own = events[(events["kind"] == kind) & (events["what"] == what)]
            if not len(own):
                continue
            held = own["steps"][own["steps"] >= 0] if kind != e.PICK_UP else own["steps"][:0]
            means = len(own) / worlds, _mean(held), _mean(own["health"])
            rows.append((e.KINDS[kind], e.THINGS[what], len(own), *means))
    return tuple(rows)


def deaths(study: Study) -> OverlayData:
    """Times and causes of death."""
    recorder = study.seen("events")
    found = e.named(recorder.events(), [e.DEATH])
    length, ended = _lives(study, found)
    seen = recorder.present
    middle = median_life(kaplan_meier(length[seen], ended[seen]))
    return OverlayData(
        "deaths",
        f"{len(found):,} deaths in {_episodes(study)}, {_median_words(middle)}",
        (_living(recorder, length, ended), _by_cause(found, int(length.max()))),
        {"events": found, "length": length, "ended": ended, "seen": seen},
        ("cause", "agents", "share of deaths", "median step", "outside"),
        _death_rows(found, length[seen & ~ended]),
    )


def _median_words(middle: float) -> str:
    """The median life in words; NaN if more than half of the lives go on."""
    return (
        f"median life {middle:,.0f} steps"
        if np.isfinite(middle)
        else "no median life: more than half of the lives go on"
    )


def _death_rows(found: Array, alive: Array) -> tuple[tuple[object, ...], ...]:
    """A row per cause of death that occurred; last the living, with their steps so far."""
    rows: list[tuple[object, ...]] = []
    for number, cause in enumerate(e.CAUSES):
        own = found[found["what"] == number]
        if len(own):
            middle, outside = float(np.median(own["step"])), float(own["outside"].mean())
            rows.append((cause, len(own), len(own) / len(found), middle, outside))
    nothing = float("nan")
    rows.append(
        ("none yet", len(alive), nothing, float(np.median(alive)) if len(alive) else nothing, nothing)
    )
    return tuple(rows)


def _living(recorder: Any, length: Array, ended: Array) -> Layer:
    """Survival curves of all agents together and one by one; `length` and `ended` from `_lives`."""
    times, seen = np.arange(int(length.max()) + 1), recorder.present
    own = [seen, *(seen & (np.arange(seen.shape[1]) == a) for a in range(_own_lines(recorder)))]
    curves = [
        kaplan_meier(length[one], ended[one]).at(times) if one.any() else np.full(len(times), np.nan)
        for one in own
    ]
    return Layer(
        "living",
        "Survival",
        np.stack(curves),
        "curves",
        "plain",
        "share of lives",
        "Product-limit estimate of the share of agents that live longer; those alive as their episode ends are cut there, those dead before the recording left out.",
        x=times,
        x_label="step",
        labels=("everybody", *_agents(recorder)),
        drawn="steps-post",
    )


def _by_cause(found: Array, longest: int) -> Layer:
    """Deaths in windows of steps, up to the longest life."""
    windows = np.arange(longest // WINDOW + 2) * WINDOW  # the longest life lies inside the last window
    counts = [
        np.histogram(found["step"][found["what"] == number], windows)[0] for number in range(len(e.CAUSES))
    ]
    return Layer(
        "deaths_by_cause",
        "Deaths by cause",
        np.stack(counts),
        "bars",
        "plain",
        "deaths",
        f"Deaths in windows of {WINDOW} steps.",
        x=windows[:-1] + (WINDOW - 1) / 2,  # bars stand about their places
        x_label="step, the middle of each window",
        labels=e.CAUSES,
        stacked=True,
    )


def zone(study: Study) -> OverlayData:
    """Shares of living agents inside the safe zone."""
    recorder = study.seen("events")
    share = _ratio(recorder.inside[:, 1], recorder.inside.sum(axis=1))
    standing = recorder.standing
    layer = Layer(
        "inside",
        "Living agents inside the zone",
        _ratio(standing[:, 1], standing[:, 0])[None],
        "curves",
        "plain",
        "share inside",
        "Of those alive after this step, those that the zone did not burn in it.",
        x=np.arange(len(standing)),
        x_label="step",
        labels=("everybody",),
    )
    rows = [
        ("everybody", int(recorder.inside.sum()), _share(recorder.inside[:, 1].sum(), recorder.inside.sum()))
    ]
    rows += [
        (f"agent {a}", int(recorder.inside[a].sum()), float(share[a])) for a in range(_own_lines(recorder))
    ]
    return OverlayData(
        "zone",
        f"Inside the zone in {_episodes(study)}",
        (layer,),
        {"standing": standing, "steps_inside": recorder.inside},
        ("agents", "steps lived", "inside"),
        tuple(rows),
    )


def _lives(study: Study, found: Array) -> tuple[Array, Array]:
    """(W, A) steps lived, and whether the agent died; others are censored at the current step.

    Only entries in `EventRecorder.present` are valid: the others died in the burn-in.
    """
    agents = study.world.rules.agents
    length = np.repeat(np.asarray(study.world.state.room["steps"])[:, None], agents, axis=1)
    ended = np.zeros(length.shape, bool)
    length[found["world"], found["agent"]] = found["step"]
    ended[found["world"], found["agent"]] = True
    return length, ended


def _spread(
    name: str, title: str, values: Array, spans: dict[str, tuple[int, int]], what: str, meaning: str
) -> Layer:
    """Counts of values in each span."""
    counts = [((values >= low) & (values <= high)).sum() for low, high in spans.values()]
    return Layer(
        name,
        title,
        np.array([counts], float),
        "bars",
        "plain",
        "times",
        meaning,
        x=tuple(spans),
        x_label=what,
    )


def _episodes(study: Study) -> str:
    room, count = study.world.state.room, study.world.num_worlds
    going = ~np.asarray(room["over"], bool)
    steps = int(np.asarray(room["steps"])[going].max(initial=0))
    cut = f", {going.sum()} of them cut after {steps:,} steps" if going.any() else ""
    return f"{count:,} episode{'s' * (count > 1)}{cut}"


def _own_lines(recorder: Any) -> int:
    """Number of agents shown one by one."""
    return min(len(recorder.inside), MOST_AGENTS)


def _agents(recorder: Any) -> tuple[str, ...]:
    return tuple(f"agent {a}" for a in range(_own_lines(recorder)))


def _ratio(part: Array, whole: Array) -> Array:
    with np.errstate(invalid="ignore"):
        found: Array = part / whole
    return found


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else float("nan")


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")


_NEEDS = {"events": e.EventRecorder}
STRIKES = Overlay("strikes", "what survival's agents strike", strikes, _NEEDS, reader=moment_reader)
ITEMS = Overlay("items", "what survival's agents do with items", items, _NEEDS, reader=moment_reader)
DEATHS = Overlay("deaths", "when survival's agents die, and of what", deaths, _NEEDS, reader=moment_reader)
ZONE = Overlay("zone", "time in survival's safe zone", zone, _NEEDS, reader=moment_reader)
