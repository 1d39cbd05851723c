"""The two kinds of tournament, from what was typed or from the folder of one that goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.core.processes import HERE, Place
from interplay.core.settings import build
from interplay.core.shared_folder import check_mark
from interplay.evaluate.tournaments.farm import give_up
from interplay.evaluate.tournaments.folder import kind_of, read_settings
from interplay.evaluate.tournaments.matches import default_score
from interplay.evaluate.tournaments.merge import MergeSettings, members, run_merge
from interplay.evaluate.tournaments.round_robins import (
    Blocks,
    Farm,
    RoundRobinSettings,
    plan_recordings,
    run_round_robin,
)
from interplay.verbs.contestants import Contestant, choose_world, find_contestant, same_as_before
from interplay.verbs.opening import open_world

_SET_BY_MERGES = ("npop", "quotas", "cap", "slots", "cap_draw", "maps")


class Kind(NamedTuple):
    """A tournament that is ready to be played.

    Attributes:
        run: (out, resume, on_progress) -> results.
        unit: what progress counts.
    """

    run: Callable[..., Any]
    unit: str


def standing_in(
    out: Path,
    trust: bool = False,
    workers: int = 1,
    record: int = 0,
    place: Place = HERE,
    step_limit: float | None = None,
) -> Kind:
    """The tournament of a folder, with the players that its settings name.

    Args:
        trust: its settings may name programs; the runs among its players are not trusted with it.
    """
    if kind_of(out) == "merge":
        if record or workers > 1 or place is not HERE:
            raise UserError(
                f"{out}: merges do not read --workers, --ray and --record; leave them out; "
                "`interplay record RUN --out match.replay` records a run"
            )
        homes = read_settings(out, MergeSettings, trust)
        kept = homes.model_dump(exclude={"kind", "homes", "identities", "runs", "populations"})
        return merge(homes.homes, kept, homes.identities)
    asked = read_settings(out, RoundRobinSettings, trust)
    kept = asked.model_dump(exclude={"kind", "players", "identities"})
    return round_robin(
        asked.players,
        kept,
        asked.identities,
        workers=workers,
        record=record,
        place=place,
        step_limit=step_limit,
    )


def round_robin(
    players: Sequence[str],
    values: Mapping[str, Any],
    before: Sequence[str] | None = None,
    trust: bool = False,
    workers: int = 1,
    record: int = 0,
    place: Place = HERE,
    step_limit: float | None = None,
) -> Kind:
    """A round robin of these players.

    Args:
        values: of `RoundRobinSettings`, but for players and identities; a score of None is `default_score`.
        before: identities that the players must have.
        place: starts the processes, which are always used elsewhere than `HERE`.
        step_limit: seconds of a call of a player or an environment after which a process is given up.
    """
    world_id, options = choose_world(
        players, values["world"], values["options"], "survival/1v1-heals-low", trust
    )
    with closing(open_world(world_id, 1, **options)) as world:
        found = [find_contestant(name, world, values["greedy"], trust=trust) for name in players]
        world.reset()
        score = values["score"] or default_score(world)
    identities = tuple(contestant.identity for contestant in found)
    same_as_before(players, before or identities, identities)
    settings = build(
        RoundRobinSettings,
        {
            **values,
            "world": world_id,
            "options": options,
            "score": score,
            "players": tuple(players),
            "identities": identities,
        },
        "tournament",
    )
    farm = None
    if workers > 1 or place is not HERE:
        farm = Farm(workers, begin_round_robin, (settings.model_dump_json(), trust, step_limit), place)
    policies = [contestant.policy for contestant in found]
    return Kind(partial(run_round_robin, settings, policies, farm=farm, record=record), "matches")


def begin_round_robin(
    settings_json: str, trust: bool, step_limit: float | None, mark: str = "", record: int = 0
) -> Callable[[Any], Any]:
    """Begins a process of a round robin: finds the players; returns `Blocks.play`.

    Args:
        mark: a file in the tournament's folder, for `check_mark`.
        record: matches of every matchup and seat to record, in that folder.
    """
    if record:
        check_mark(mark)
    OVERDUE.limit, OVERDUE.give_up = step_limit or math.inf, give_up
    settings = RoundRobinSettings.model_validate_json(settings_json)
    with closing(open_world(settings.world, 1, **settings.options)) as world:
        found = [find_contestant(name, world, settings.greedy, trust=trust) for name in settings.players]
    same_as_before(settings.players, settings.identities, [contestant.identity for contestant in found])
    plan = plan_recordings(settings, Path(mark).parent, record) if record else None
    return Blocks(settings, [contestant.policy for contestant in found], plan).play


def merge(
    homes: Sequence[str],
    values: Mapping[str, Any],
    before: Sequence[str] | None = None,
    trust: bool = False,
) -> Kind:
    """A tournament of merges of these homes.

    Args:
        values: of `MergeSettings`, but for homes and what follows from them.
        before: identities that the homes must have.
    """
    runs = [members(home) for home in homes]
    world_id, options = choose_world(
        [run for home in runs for run in home], values["world"], values["options"], "mmo/forage", trust
    )
    options = {key: value for key, value in options.items() if key not in _SET_BY_MERGES}
    with closing(open_world(world_id, 1, **options)) as world:
        found = [
            [find_contestant(run, world, values["greedy"], True, trust) for run in home] for home in runs
        ]
    identities = tuple(", ".join(contestant.identity for contestant in home) for home in found)
    same_as_before(homes, before or identities, identities)
    settings = build(
        MergeSettings,
        {
            **values,
            "world": world_id,
            "options": options,
            "homes": tuple(homes),
            "identities": identities,
            "runs": tuple(map(len, found)),
            "populations": tuple(_populations(name, home) for name, home in zip(homes, found, strict=True)),
        },
        "merge tournament",
    )
    policies = [tuple(contestant.policy for contestant in home) for home in found]
    return Kind(partial(run_merge, settings, policies), "maps")


def _populations(name: str, home: Sequence[Contestant]) -> int:
    counts = {contestant.populations for contestant in home}
    if len(counts) > 1:
        known = ", ".join(f"{contestant.name} has {contestant.populations}" for contestant in home)
        raise UserError(
            f"{name}: its trainings differ in their populations ({known}); make them homes of their own"
        )
    return counts.pop()
