"""Numbers of infos as metrics: names, rules, agents, and refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import interplay
from interplay.checker import check_world
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.evaluate.tournaments.matches import agent_scores
from interplay.registry import make_world
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.info_numbers import MOST
from tests.connect.telling_envs import PLAYED, Alone, InTurns, Told, by_turns, together

HERE = "tests.connect.telling_envs:"
NAN = np.nan


def metrics_of(world, steps):
    """name -> (agents,) of the only world after some steps."""
    world.reset(seeds=3)
    action = np.zeros((1, len(world.agents)), np.int64)
    for _ in range(steps):
        world.step(action)
    return {
        name: values[0].tolist() for name, values in world.metrics.items() if not name.startswith("episode_")
    }


def told(*script, declared=None):
    return ParallelEnvWorld(partial(Told, script, declared))


def test_every_number_counts_by_its_last_value() -> None:
    script = (
        {"a": {"start": 7}},
        {"a": {"energy": 0.5, "won": False, "level": np.int64(3), "gap": 1.0}, "b": {"energy": 9.0}},
        {"a": {"energy": 1.5, "won": True, "gap": NAN, "far": np.inf}, "b": {}},
        {
            "a": {
                "energy": -2,
                "zero": np.array(4.0),
                "list": [1],
                "text": "7",
                "array": np.ones(1),
                "none": None,
                5: 6.0,
            }
        },
    )
    found = metrics_of(told(*script), 3)
    assert list(found) == ["energy", "far", "gap", "level", "start", "won", "zero"]
    np.testing.assert_equal(
        found,
        {
            "energy": [-2.0, 9.0],
            "far": [NAN, NAN],
            "gap": [NAN, NAN],  # the last is none
            "level": [3.0, NAN],
            "start": [7.0, NAN],
            "won": [1.0, NAN],
            "zero": [4.0, NAN],
        },
    )


def test_rules_sum_average_and_lead_into_nested_dicts() -> None:
    script = (
        {"a": {"energy": 100.0, "level": 5}},
        {"a": {"energy": 1.0, "speed": 2.0, "parts": {"fuel": 3.0}}, "b": {"energy": 4.0}},
        {"a": {"energy": 2.0, "speed": NAN, "parts": {}, "other": 1.0}, "b": {"energy": None}},
        {"a": {"speed": 4.0, "parts": {"fuel": 0.5}}},
    )
    rules = {"energy": "sum", "speed": "mean", "parts.fuel": "sum", "level": "last", "never": "sum"}
    world = told(*script, declared=rules)
    world.reset()
    assert list(world.metrics)[2:] == list(rules)  # before the first step
    np.testing.assert_equal(
        metrics_of(world, 3),
        {
            "energy": [3.0, 4.0],  # not what the reset told
            "speed": [3.0, NAN],
            "parts.fuel": [3.5, NAN],
            "level": [5.0, NAN],
            "never": [NAN, NAN],
        },
    )


def test_a_new_episode_begins_without_numbers() -> None:
    world = told({}, {"a": {"energy": 1.0}}, {}, declared={"energy": "sum"})
    assert metrics_of(world, 1) == {"energy": [1.0, pytest.approx(NAN, nan_ok=True)]}
    for _ in range(2):
        metrics_of(world, 2)
    assert world.metrics["energy"][0, 0] == 1.0


def test_names_of_the_log_and_brackets_give_way() -> None:
    found = metrics_of(
        told({}, {"a": {"kl": 1.0, "outcome": 0.3, "door[2]": 4, "acting": True, "episode_length": 9}}), 1
    )
    assert {name: values[0] for name, values in found.items()} == {
        "info.kl": 1.0, "info.outcome": 0.3, "door(2)": 4.0, "info.episode_length": 9.0
    }  # fmt: skip


def test_in_turns_an_info_counts_once_a_turn() -> None:
    found = metrics_of(ParallelEnvWorld(InTurns), 6)
    assert found == {"gain": [1.0 + 3.0 + 5.0, 2.0 + 4.0 + 6.0], "ratio": [3.0, 4.0]}


def test_a_gymnasium_environment_tells_its_only_agent() -> None:
    table = interplay.evaluate("random", Alone, episodes=3)
    assert table.summary()["success"].mean == 1.0
    assert table["success"].shape == (3, 1)


@pytest.mark.parametrize("name", ["seeded", "with_rules"])
def test_processes_tell_the_same(name: str) -> None:
    tables = []
    for processes in (0, 2):
        world = make_world(HERE + name, num_worlds=3, processes=processes)
        tables.append(play(world, RandomPolicy(), 20, seed=1))
        world.close()
    one, two = (table.columns for table in tables)
    assert list(one) == list(two)
    assert {"speed", "won", "late"} <= set(one)
    for column in one:
        np.testing.assert_array_equal(one[column], two[column])


def test_a_table_of_episodes_is_what_was_told() -> None:
    """Recomputed from the infos; the number of worlds changes nothing."""
    for name, worlds in (("seeded", 1), ("with_rules", 1), ("seeded", 4)):
        PLAYED.clear()
        world = make_world(HERE + name, num_worlds=worlds)
        table = play(world, RandomPolicy(), 12, seed=5)
        if worlds > 1:
            again = play(make_world(HERE + name), RandomPolicy(), 12, seed=5)
            assert list(table.columns) == list(again.columns)
            np.testing.assert_array_equal(table["late"], again["late"])
            continue
        by = (lambda own: own[-1]) if name == "seeded" else np.mean
        wanted = [[by([i["speed"] for i in infos[a][1:]]) for a in "ab"] for infos in PLAYED]
        np.testing.assert_allclose(table["speed"], wanted, rtol=1e-12)
        late = [[next((i["late"] for i in infos[a] if "late" in i), NAN) for a in "ab"] for infos in PLAYED]
        np.testing.assert_array_equal(table["late"], late)
        assert 0 < np.isnan(late).sum() < np.size(late)
        assert table.summary()["late"].mean == pytest.approx(late_mean(late))
        if name == "seeded":
            assert np.isnan(table["load"][:, 1]).all()
            assert table.summary()["load"].mean == pytest.approx(table["load"][:, 0].mean())
        else:
            fuel = [[sum(i["parts"]["fuel"] for i in infos[a][1:]) for a in "ab"] for infos in PLAYED]
            np.testing.assert_array_equal(table["parts.fuel"], fuel)


def late_mean(late):
    """Over the episodes, and then the agents of each, that have a number."""
    return np.mean([np.nanmean(row) for row in late if not np.isnan(row).all()])


@pytest.mark.parametrize("make", [together, by_turns])
def test_a_simulation_goes_on_with_its_numbers(make) -> None:
    world, other = SimulationWorld(make, 2), SimulationWorld(make, 2, seed=9)
    world.reset()
    for _ in range(3):
        world.step(np.zeros((2, 2), np.int64))
    other.load(world.save())
    np.testing.assert_array_equal(other.metrics["way"], world.metrics["way"])
    for _ in range(5):
        for one in (world, other):
            one.step(np.zeros((2, 2), np.int64))
    assert world.timestep.over.all()
    np.testing.assert_array_equal(other.metrics["way"], world.metrics["way"])
    assert world.metrics["won"].tolist() == [[1.0, 0.0]] * 2


def test_a_number_decides_matches() -> None:
    world = told({}, {"a": {"gold": 4}, "b": {"gold": 1}}, declared={"gold": "last"})
    metrics_of(world, 1)
    assert agent_scores(world, "gold").tolist() == [[4.0, 1.0]]


@pytest.mark.parametrize("name", ["seeded", "with_rules", "together"])
def test_the_checker_finds_nothing(name: str) -> None:
    report = check_world(partial(make_world, HERE + name), steps=60)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("script", "declared", "words"),
    [
        (({}, {}), {"energy": "max"}, "metrics"),
        (({}, {}), ["energy"], "metrics"),
        (({}, {"b": {"energy": np.ones(2)}}), {"energy": "sum"}, "agent b.*energy"),
        (({}, {"a": {"energy": "much"}}), {"energy": "last"}, "agent a.*energy"),
        (({}, {"a": {f"n{i}": i for i in range(MOST + 1)}}), None, f"n{MOST}"),
    ],
)
def test_refusals(script, declared, words: str) -> None:
    with pytest.raises(UserError, match=words):
        metrics_of(told(*script, declared=declared), 1)


def test_a_score_that_was_not_named_beforehand_is_refused() -> None:
    world = told({}, {"a": {"gold": 4}})
    world.reset()
    with pytest.raises(UserError, match=r'metadata\["metrics"\]'):
        agent_scores(world, "gold")
