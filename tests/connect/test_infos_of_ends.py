"""What infos say of lives, of their ends and of the world's, at every adapter of worlds with respawns: the world's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.connect.dense import DenseEnv
from interplay.connect.gymnasium import WorldGymEnv
from interplay.connect.pettingzoo import WorldEnv
from tests.connect.relay import CUT, DEAD, ENDS, LIVES, REBORN, RENEWED, Relay
from tests.connect.toys import Line

BIRTHS = (LIVES, REBORN, RENEWED)


class Parish(Relay):
    """Keeps books: the n-th life of slot a is of population (a + n) mod 3; what is known of the dead is theirs."""

    num_populations = 3

    def _tell(self, going):
        step = super()._tell(going)
        clock, shape = self.state.clock, (self.num_worlds, len(self.agents))
        now = np.zeros(shape, np.uint8)
        self.ended = {name: np.zeros(shape, np.int64) for name in ("population", "life", "cause")}
        for w, a in np.ndindex(shape):
            births = [
                t
                for t in range(int(clock[w]) + 1)
                if self.story[a, t] in (REBORN, RENEWED)
                or (self.story[a, t] == LIVES and (t == 0 or self.story[a, t - 1] not in BIRTHS))
            ]
            now[w, a] = (a + max(len(births) - 1, 0)) % 3
            if step.terminated[w, a] or step.truncated[w, a]:
                own = (
                    births[:-1]
                    if step.acting[w, a] or self.story[a, clock[w]] in (REBORN, RENEWED)
                    else births
                )
                self.ended["population"][w, a] = (a + len(own) - 1) % 3
                self.ended["life"][w, a], self.ended["cause"][w, a] = clock[w] - own[-1], 1 + a
        self._population = now
        return step

    @property
    def population(self):
        return self._population

    @property
    def metrics(self):
        slots = np.arange(len(self.agents))
        return {"steps": self.state.clock, "worth": self.state.clock[:, None] * 10 + slots}


@st.composite
def stories(draw):
    """Lines in which what follows what is lawful."""
    steps, lines = draw(st.integers(3, 9)), []
    for _ in range(draw(st.integers(1, 3))):
        line = draw(st.sampled_from([DEAD, LIVES]))
        while len(line) < steps:
            going = [LIVES, LIVES, ENDS, CUT, REBORN, RENEWED]
            line += draw(st.sampled_from(going if line[-1] in BIRTHS else [DEAD, LIVES]))
        lines.append(line)
    return tuple(lines)


def told(world: Parish, slot: int, ended: bool, over: bool = False) -> dict[str, Any]:
    """The expected info of a slot; `ended`: a life ended there."""
    known = {
        f"ended/{name}": float(values[0, slot]) if ended else 0.0 for name, values in world.ended.items()
    }
    last = ended or over
    known |= {"metrics/steps": float(world.state.clock[0]) if last else 0.0}
    return known | {"metrics/worth": float(world.metrics["worth"][0, slot]) if last else 0.0}


def holds(info: dict[str, Any], expected: dict[str, Any]) -> None:
    assert {key: info[key] for key in expected} == expected


@settings(max_examples=80)
@given(stories())
def test_who_ends_is_told_of_its_own_life_and_who_lives_of_its_slot(story):
    env = WorldEnv(Parish(1, story=story))
    world = env.world
    _, infos = env.reset()
    while not env.over:
        before = {life: infos[life]["slot"] for life in env.agents}
        _, _, terminated, truncated, infos = env.step(dict.fromkeys(env.agents, 0))
        for life, info in infos.items():
            gone = terminated[life] or truncated[life]
            slot = info["slot"]
            assert slot == before.get(life, slot)
            population = world.ended["population"] if gone else world.population
            flagged = bool((world.timestep.terminated | world.timestep.truncated)[0, slot])
            holds(info, {
                "population": int(population[0, slot]) if flagged or not gone else info["population"],
                "acting": not gone and bool(world.timestep.acting[0, slot]),
                **(told(world, slot, gone) if flagged or not gone else {}),
            })  # fmt: skip


@settings(max_examples=80)
@given(stories())
def test_slots_are_told_of_who_ended_there_and_all_of_them_how_the_world_did(story):
    env = WorldEnv(Parish(1, story=story), slots=True)
    world = env.world
    _, infos = env.reset()
    while True:
        over = bool(world.timestep.over[0])
        for slot, name in enumerate(env.possible_agents):
            died, cut = bool(world.timestep.terminated[0, slot]), bool(world.timestep.truncated[0, slot])
            holds(infos[name], {
                "population": int(world.population[0, slot]),
                "acting": bool(world.timestep.acting[0, slot]),
                "life_terminated": died,
                "life_truncated": cut,
                **told(world, slot, died or cut, over),
            })  # fmt: skip
        if not env.agents:
            break
        infos = env.step(dict.fromkeys(env.agents, 0))[4]


@settings(max_examples=40)
@given(stories())
def test_who_has_left_goes_on_being_told_what_was_said_at_its_end(story):
    lives = sum(line.count(letter) for line in story for letter in BIRTHS)
    kept, env = (
        WorldEnv(Parish(1, story=story), lives=lives + 1, on_death="keep"),
        WorldEnv(Parish(1, story=story)),
    )
    if not any(LIVES in line[:-1] for line in story):
        return  # nobody is ever born, so the numbered form passes over all of it
    _, ours = kept.reset()
    _, theirs = env.reset()
    while not env.agents and not env.over:
        theirs = env.step({})[4]
    last: dict[str, Any] = {}
    while kept.agents:
        for name in kept.possible_agents:
            if name in theirs:
                last[name] = theirs[name]
            expected = last.get(name, {"acting": False, "slot": -1, "metrics/steps": 0.0, "ended/life": 0.0})
            known = {key: value for key, value in expected.items() if key not in ("acting", "action_mask")}
            holds(ours[name], known)
            assert ours[name]["acting"] == (name in theirs and theirs[name]["acting"])
        ours = kept.step(dict.fromkeys(kept.agents, 0))[4]
        theirs = env.step(dict.fromkeys(env.agents, 0))[4]
        while not env.agents and not env.over:
            theirs = {**theirs, **env.step({})[4]}


class Summed(Line):
    """Has a metric in an array of float64 that is written in place."""

    @property
    def metrics(self):
        return super().metrics | {"total": self.total}

    def _reset(self, which, seeds):
        self.total = getattr(self, "total", np.zeros((self.num_worlds, len(self.agents))))
        return super()._reset(which, seeds)

    def _step(self, action):
        self.total += [0.5, 0.75, 1.25]
        return super()._step(action)


@pytest.mark.parametrize("leave", [False, True])
@pytest.mark.parametrize("adapter", ["parallel", "dense", "gymnasium"])
def test_metrics_are_zero_until_an_end_and_then_the_worlds_own(adapter, leave):
    """Of whoever ends in this step, or of all where the adapter knows one end alone; numbers, not views of the world's arrays."""
    world = Summed(1, leave=leave)
    makers = {
        "parallel": WorldEnv,
        "dense": DenseEnv,
        "gymnasium": lambda world: WorldGymEnv(world, "agent_1"),
    }
    env = makers[adapter](world)
    rng, ends, told = np.random.default_rng(0), 0, []
    for seed in range(6):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            if adapter == "parallel":
                actions = {name: rng.integers([3, 2]) for name in env.agents}
                _, _, terminated, truncated, infos = env.step(actions)
                ended = {name for name in infos if terminated[name] or truncated[name]}
                rows = [(infos[name], name in ended, world.agents.index(name)) for name in infos]
                over = not env.agents
            else:
                action = rng.integers([3, 2], size=(3, 2) if adapter == "dense" else (2,))
                _, _, terminated, truncated, info = env.step(action)
                over = terminated or truncated
                rows = [(info, over, slice(None) if adapter == "dense" else 1)]
            for info, last, slot in rows:
                for name, values in world.metrics.items():
                    now = values[0, slot] if values.ndim == 2 else values[0]
                    expected = np.asarray(now if last else np.zeros_like(now), float)
                    assert np.array_equal(info[f"metrics/{name}"], expected), (name, last)
                    told.append((info[f"metrics/{name}"], expected.copy()))
                ends += last
    assert ends >= 6
    assert all(np.array_equal(value, then) for value, then in told)
