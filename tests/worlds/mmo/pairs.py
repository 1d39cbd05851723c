"""The naive world and one world of a batch, compared number for number."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.seeding import world_seeds
from interplay.worlds.mmo.config import MmoSettings
from tests.naive.mmo import MmoTwin
from tests.naive.mmo_tasks import progress

STATS = (
    "row",
    "col",
    "health",
    "food",
    "water",
    "life",
    "freeze",
    "damage",
    "population",
    "life_id",
    "kills",
    "eaten",
    "drunk",
    "harm",
)


def twins(settings: MmoSettings, num_worlds: int, seed: int = 0) -> list[MmoTwin]:
    """One naive world for each world of a batch made with `seed`, reset."""
    worlds = [MmoTwin(settings, int(s)) for s in world_seeds(seed, num_worlds)]
    for world in worlds:
        world.reset()
    return worlds


def compare(batch: Any, w: int, twin: MmoTwin, when: str) -> None:
    """Asserts that world `w` of the batch equals the naive world in every number that is defined."""
    compare_state(batch, w, twin, when)
    compare_timestep(batch, w, twin, when)
    compare_ends(batch, w, twin, when)


def compare_state(batch: Any, w: int, twin: MmoTwin, when: str) -> None:
    state, side = batch.state, twin.settings.side
    assert state.stream[w].tolist() == [twin.stream.seed, twin.stream.episode, twin.stream.draws], when
    assert int(state.room["cap"][w]) == twin.cap, when
    assert np.array_equal(state.reachable[w], twin.reachable), when
    assert np.array_equal(state.tiles[w], twin.tiles), f"tiles {when}"
    eaten = [divmod(int(k), side) for k in state.depleted[w, : state.room["depleted"][w]]]
    assert eaten == twin.depleted, when
    living = [agent.slot for agent in twin.living()]
    assert np.flatnonzero(state.agent["alive"][w]).tolist() == living, when
    heads = np.zeros((side, side), int)
    for agent in twin.living():
        heads[agent.row, agent.col] += 1
        record = state.agent[w, agent.slot]
        mine = {name: int(record[name]) for name in STATS}
        assert mine == {name: getattr(agent, name) for name in STATS}, f"slot {agent.slot} {when}"
    assert np.array_equal(state.heads[w], np.minimum(heads, 255)), f"heads {when}"


def compare_timestep(batch: Any, w: int, twin: MmoTwin, when: str) -> None:
    step = batch.timestep
    assert bool(step.over[w]) == twin.over, f"over {when}"
    for name in ("terminated", "truncated"):
        assert np.array_equal(getattr(step, name)[w], getattr(twin, name)), f"{name} {when}"
    assert np.array_equal(step.acting[w], twin.acting()), f"acting {when}"
    assert np.allclose(step.reward[w], twin.reward, rtol=1e-6, atol=1e-6), f"reward {when}"
    for agent in twin.living():
        for name, wanted in twin.seen[agent.slot].items():
            seen = step.observation[name][w, agent.slot]
            assert np.array_equal(seen, wanted), f"slot {agent.slot} {name} {when}\n{seen}\n{wanted}"
        legal = step.action_mask["action"][w, agent.slot].tolist()
        assert legal == list(twin.legal[agent.slot]), f"slot {agent.slot} mask {when}"


def compare_ends(batch: Any, w: int, twin: MmoTwin, when: str) -> None:
    for slot, agent in twin.ended.items():
        wanted = {
            "life": agent.survived,
            "cause": agent.cause,
            "population": agent.population,
            "kills": agent.kills,
            "food": agent.eaten,
            "water": agent.drunk,
            "harm": agent.harm,
            "id": agent.life_id,
        }
        mine = {name: int(batch.ended[name][w, slot]) for name in wanted}
        assert mine == wanted, f"slot {slot} {when}"
        if twin.settings.task:
            assert abs(batch.ended["task"][w, slot] - progress(twin, agent)) < 1e-9, f"slot {slot} {when}"
