"""Worlds with respawns in PettingZoo: an agent is one life, in planted stories, in random ones, and in the persistent world."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.env import ParallelEnv

import interplay
from interplay.connect.pettingzoo import WorldEnv
from interplay.core.errors import UserError
from tests.checker.sound_worlds import Colony
from tests.connect.relay import CUT, DEAD, ENDS, LIVES, REBORN, RENEWED, Relay

SMALL = {"slots": 16, "interior": 24, "npop": 2, "prefill": 8, "cap_draw": "fixed", "spawn_per_tick": 2}


def relay(*story, **options):
    return WorldEnv(Relay(1, story=story, **options))


def sampled(env, infos):
    return {life: env.action_space(life).sample(infos[life].get("action_mask")) for life in env.agents}


def play(env, seed, steps):
    """Random legal play: what `reset` and each `step` gave."""
    observation, infos = env.reset(seed=seed)
    story = [(observation, {}, {}, {}, infos)]
    for step in range(steps):
        if env.over:
            break
        for life in env.agents[:1]:
            env.action_space(life).seed(seed * 1000 + step)
        story.append(env.step(sampled(env, story[-1][-1])))
    return story


def number(life):
    return int(life.removeprefix("life_"))


def follow(story):
    """Holds a story against the laws of lives: id -> (step of birth, step of end or None), returns by id."""
    born = dict.fromkeys(story[0][0], 0)
    assert story[0][4].keys() == born.keys()
    listed, ended, returns = set(born), {}, dict.fromkeys(born, 0.0)
    for t, (observation, rewards, terminations, truncations, infos) in enumerate(story[1:], 1):
        keys = observation.keys()
        assert rewards.keys() == terminations.keys() == truncations.keys() == infos.keys() == keys
        assert listed <= keys, "everybody listed is told what came of it"
        for life in sorted(keys - listed, key=number):
            assert life not in born, "an id never comes back"
            assert (rewards[life], terminations[life], truncations[life]) == (0.0, False, False)
            born[life], returns[life] = t, 0.0
        for life in keys:
            returns[life] += rewards[life]
            assert not (terminations[life] and truncations[life])
            assert infos[life].keys() == next(iter(infos.values())).keys()
            assert all(isinstance(value, bool | int | float | np.ndarray) for value in infos[life].values())
            if terminations[life] or truncations[life]:
                assert life not in ended
                ended[life] = t
        listed = keys - ended.keys()
    assert list(born) == [f"life_{n}" for n in range(len(born))], "numbered by birth"
    return {life: (t, ended.get(life)) for life, t in born.items()}, returns


def test_a_planted_story_is_told_life_by_life():
    env = relay("oo*ox-oo", "-o*oo+xo", "---oocoo")
    story = play(env, 0, 99)
    lives, returns = follow(story)
    assert lives == {
        "life_0": (0, 2),
        "life_1": (1, 2),
        "life_2": (2, 4),
        "life_3": (2, 5),
        "life_4": (3, 5),
        "life_5": (5, 6),
        "life_6": (6, 7),
        "life_7": (6, 7),
    }
    # Rewards are the slot's number + step / 100, from the step after the birth to the end.
    assert returns["life_0"] == pytest.approx(0.01 + 0.02)
    assert returns["life_2"] == pytest.approx(0.03 + 0.04)
    assert returns["life_1"] == pytest.approx(1.02)
    assert returns["life_3"] == pytest.approx(1.03 + 1.04 + 1.05)
    assert returns["life_4"] == pytest.approx(2.04 + 2.05)
    assert returns["life_5"] == pytest.approx(1.06)


def test_both_lives_of_a_slot_are_in_the_step_in_which_it_is_born_again():
    env = relay("oo*oo")
    env.reset()
    env.step({"life_0": 1})
    observation, rewards, terminations, truncations, infos = env.step({"life_0": 2})
    assert env.agents == ["life_1"]
    assert rewards == {"life_0": pytest.approx(0.02), "life_1": 0.0}
    assert terminations == {"life_0": True, "life_1": False}
    assert truncations == {"life_0": False, "life_1": False}
    assert observation["life_0"]["place"] == 0, "nothing comes after death"
    assert observation["life_1"]["place"] == 2
    assert not infos["life_0"]["acting"]
    assert infos["life_1"]["acting"]
    assert {info["slot"] for info in infos.values()} == {0}


def test_what_is_cut_is_shown_unless_the_slot_lives_again():
    env = relay("ooc-o", "oo+oo")
    env.reset()
    env.step({"life_0": 0, "life_1": 0})
    observation, _, terminations, truncations, infos = env.step({"life_0": 0, "life_1": 0})
    assert env.agents == ["life_2"]
    assert not any(terminations.values())
    assert truncations == {"life_0": True, "life_1": True, "life_2": False}
    assert [observation[f"life_{n}"]["place"] for n in range(3)] == [2, 0, 102]
    assert not infos["life_0"]["acting"]


def test_a_life_that_is_cut_does_not_terminate_too_where_the_dead_are_removed():
    env = WorldEnv(Relay(1, story=("ooc-o", "oox-o", "ooooo")), on_death="remove")
    env.reset()
    env.step(dict.fromkeys(env.agents, 0))
    _, _, terminations, truncations, _ = env.step(dict.fromkeys(env.agents, 0))
    assert terminations == {"life_0": False, "life_1": True, "life_2": False}
    assert truncations == {"life_0": True, "life_1": False, "life_2": False}


class Grave(Relay):
    """Shows a 7 where somebody has just died."""

    def _read(self):
        self.state.place[self.state.terminated & ~self.state.acting] = 7.0
        return super()._read()


def test_who_died_is_shown_nothing_though_its_slot_shows_a_grave():
    env = WorldEnv(Grave(1, story=("oox-o", "oocoo")))
    env.reset()
    env.step({"life_0": 0, "life_1": 0})
    observation, _, terminations, truncations, _ = env.step({"life_0": 0, "life_1": 0})
    assert env.world.timestep.observation["place"].tolist() == [[7.0, 102.0]]
    assert {life: float(seen["place"]) for life, seen in observation.items()} == {
        "life_0": 0.0,
        "life_1": 102.0,
    }
    assert (terminations["life_0"], truncations["life_1"]) == (True, True)


def test_actions_reach_the_slot_in_which_a_life_is_lived():
    env = relay("o*oxoo", "-ooooo")
    env.reset()
    env.step({"life_0": 2})
    assert env.agents == ["life_1", "life_2"]
    env.step({"life_2": 1, "life_1": 2})
    env.step({"life_1": 0, "life_2": 2})
    env.step({"life_2": 1})
    assert env.agents == ["life_3", "life_2"], "by slot"
    env.step({"life_2": 1, "life_3": 2})
    assert env.world.taken == [[2, 0], [2, 1], [0, 2], [0, 1], [2, 1]]


def test_nobody_may_live_while_the_world_goes_on():
    env = relay("-ox-oo")
    assert env.reset() == ({}, {})
    for agents in (["life_0"], [], [], ["life_1"]):
        env.step(dict.fromkeys(env.agents, 0))
        assert (env.agents, env.over) == (agents, False)
    _, _, terminations, _, _ = env.step({"life_1": 0})
    assert (env.agents, env.over, terminations) == ([], True, {"life_1": True})
    assert env.step({}) == ({}, {}, {}, {}, {})
    env.reset()
    env.step({})
    assert env.agents == ["life_0"], "each episode counts from 0"


def test_two_kinds_keep_their_spaces():
    env = relay("oo*oo", "-oo*o", kinds=2)
    env.reset()
    env.step({"life_0": 2})
    env.step({"life_0": 2, "life_1": 4})
    assert [int(env.action_space(f"life_{n}").n) for n in range(3)] == [3, 5, 3]
    with pytest.raises(UserError, match="unknown agent 'life_3'"):
        env.action_space("life_3")


@st.composite
def stories(draw):
    """Lines in which what follows what is lawful."""
    steps, lines = draw(st.integers(2, 12)), []
    for _ in range(draw(st.integers(1, 4))):
        line = draw(st.sampled_from([DEAD, LIVES]))
        while len(line) < steps:
            living = line[-1] in (LIVES, REBORN, RENEWED)
            line += draw(
                st.sampled_from([LIVES, LIVES, ENDS, CUT, REBORN, RENEWED] if living else [DEAD, LIVES])
            )
        lines.append(line)
    return lines


@given(stories())
@settings(max_examples=150, deadline=None)
def test_any_story_has_one_birth_and_one_end_for_each_life_and_loses_no_reward(lines):
    env = relay(*lines)
    story = play(env, 0, 99)
    lives, returns = follow(story)
    text = "".join(line[:-1] for line in lines)
    # Who is born in the last step could not act: nobody hears of it.
    births = sum(line[0] == LIVES for line in lines) + text.count(REBORN) + text.count(RENEWED)
    births += sum(
        a in (DEAD, ENDS, CUT) and b == LIVES for line in lines for a, b in itertools.pairwise(line[:-1])
    )
    assert len(lives) == births
    assert all(end is not None for _, end in lives.values())
    world = Relay(1, story=tuple(lines))
    world.reset()
    paid = sum(
        float(world.step(np.zeros((1, len(lines)), int)).reward.sum()) for _ in range(len(lines[0]) - 1)
    )
    assert sum(returns.values()) == pytest.approx(paid, abs=1e-4)


def test_random_play_of_a_world_that_is_sometimes_empty():
    env = WorldEnv(Colony(1, seed=3))
    lives, _ = follow(play(env, 5, 400))
    assert len(lives) > 10


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"respawn": "immediate", "prefill": 16, "health": 1, "starve": 5},
        {"max_ticks": 40},
        {"respawn": "none"},
        {"reward_death": -1.0, "lava": "next_update"},
    ],
)
def test_the_persistent_world_is_its_batch_life_by_life(options):
    """Ids are the world's own numbers of lives; rewards, sights and ends those of the slot that the life lived in."""
    given = SMALL | {"food": 6, "water": 6} | options
    env = interplay.make("mmo/combat", **given)
    world = interplay.make_world("mmo/combat", **given)
    timestep = world.reset(seeds=4)
    observation, infos = env.reset(seed=4)
    story, respawns = [(observation, {}, {}, {}, infos)], 0
    rng = np.random.default_rng(0)
    for _ in range(150):
        if env.over:
            break
        action = rng.integers(0, [5, 3], (1, 16, 2))
        before = {infos[life]["slot"]: life for life in env.agents}
        timestep = world.step(action)
        told = env.step({life: action[0, slot] for slot, life in before.items()})
        observation, rewards, terminations, _, infos = told
        story.append(told)
        respawns += int((timestep.terminated & timestep.acting).sum())
        for slot, life in before.items():
            assert rewards[life] == timestep.reward[0, slot]
            assert terminations[life] == timestep.terminated[0, slot]
            if terminations[life]:
                ended = {name: values[0, slot] for name, values in world.ended.items()}
                assert {name: infos[life][f"ended/{name}"] for name in ended} == ended
                assert life == f"life_{ended['id']}"
                assert not any(np.any(part) for part in observation[life].values())
        for life in env.agents:
            slot = infos[life]["slot"]
            assert life == f"life_{world.state.agent['life_id'][0, slot]}"
            assert infos[life]["population"] == world.population[0, slot]
            assert all(
                np.array_equal(observation[life][k], f[0, slot]) for k, f in timestep.observation.items()
            )
            assert np.array_equal(infos[life]["action_mask"], timestep.action_mask["action"][0, slot])
    lives, _ = follow(story)
    assert env.over == bool(timestep.over[0])
    assert env.over == ("max_ticks" in options or options.get("respawn") == "none")
    assert respawns > 0 or options.get("respawn") == "none"
    assert len(lives) >= 8


@pytest.mark.parametrize("options", [{}, {"max_ticks": 30}, {"respawn": "none", "prefill": 16}])
def test_pettingzoo_api_test(options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parallel_api_test(interplay.make("mmo/combat", **SMALL | options), num_cycles=60)
    told = [str(warning.message) for warning in caught]
    # PettingZoo's own word for worlds in which agents are born.
    assert told
    assert all("not a required part" in line or line == "No agents present" for line in told), told


def test_pettingzoo_seed_test():
    parallel_seed_test(lambda: interplay.make("mmo/forage", **SMALL), num_cycles=60)


def test_in_turns_through_pettingzoos_own_conversion():
    env = parallel_to_aec(interplay.make("mmo/combat", **SMALL, max_ticks=12))
    env.reset(seed=2)
    ended = []
    for life in env.agent_iter(4000):
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            ended.append(life)
        done = terminated or truncated
        env.step(None if done else env.action_space(life).sample(info["action_mask"]))
    assert len(ended) == len(set(ended)) > 8
    assert not env.agents


def test_there_are_no_possible_agents():
    env = interplay.make("mmo/forage", **SMALL)
    assert not hasattr(env, "possible_agents")
    with pytest.raises(AttributeError, match="an agent is one life"):
        _ = env.possible_agents


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("life_3"), "no action for life_3"),
        (lambda a: a.update(life_99=np.array([1, 0])), "unknown agent 'life_99'"),
        (lambda a: a.update(slot_1=np.array([1, 0])), "unknown agent 'slot_1'"),
        (lambda a: a.update(life_2=np.array([5, 0])), "of life_2 is not in MultiDiscrete"),
        (lambda a: a.update(life_2=None), "action None of life_2"),
    ],
)
def test_a_wrong_action_is_one_line_and_changes_nothing(change, message):
    env = interplay.make("mmo/forage", **SMALL)
    env.reset(seed=0)
    before = env.world.hash()
    actions = {life: np.array([0, 0]) for life in env.agents}
    change(actions)
    with pytest.raises(UserError, match=message) as caught:
        env.step(actions)
    assert "\n" not in str(caught.value)
    assert env.world.hash() == before


def small() -> ParallelEnv:
    return interplay.make("mmo/forage", **SMALL)
