"""Numbers of infos in runs: the log's means are those of the episodes that were played."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy
from interplay.registry import make_world
from interplay.sim.batch.info_numbers import TAKEN
from interplay.train.run.episodes import EpisodeStatistics
from interplay.train.run.side_sums import Balance
from tests.connect.telling_envs import PLAYED, Told
from tests.train.plain_rollout import count_episodes
from tests.train.runs import log_of

HERE = "tests.connect.telling_envs:"
SMALL: dict[str, Any] = {"network": {"kind": "mlp", "hidden": [8]}, "seed": 1, "record": {"every": 0}}


def trained(world: object, out: Path, **over: Any) -> interplay.Run:
    train = {"quiet": True, "writers": ["csv"], "shards": 2, **over.pop("train", {})}
    given = {"steps": 10**6, "workers": 1, "num_worlds": 4, **over}
    return interplay.train(world, out, train=train, ppo={"rollout": 8, "minibatch": 32}, **SMALL, **given)


@pytest.mark.parametrize("name", ["seeded", "with_rules"])
def test_the_log_has_the_means_of_what_was_played(tmp_path: Path, name: str) -> None:
    """One world: its episodes end in the order in which lines count them."""
    PLAYED.clear()
    run = trained(HERE + name, tmp_path / "run", num_worlds=1, train={"max_updates": 12, "shards": 1})
    first = 0
    for line in log_of(run.folder):
        played, first = PLAYED[first : first + line["episodes"]], first + line["episodes"]
        if not played:
            continue
        by = (lambda own: own[-1]) if name == "seeded" else np.mean
        speed = [[by([i["speed"] for i in infos[a][1:]]) for a in "ab"] for infos in played]
        assert line["speed"] == pytest.approx(np.mean(speed), rel=1e-12)
        assert line["by_agent"]["speed"] == pytest.approx(np.mean(speed, axis=0), rel=1e-12)
        late = [
            [next((i["late"] for i in infos[a] if "late" in i), np.nan) for a in "ab"] for infos in played
        ]
        known = ~np.isnan(late).all(axis=1)
        if known.any():
            assert line["late"] == pytest.approx(np.mean(np.array(late)[known]))
        assert {"speed", "won"} <= set(line["of_episodes"])
        if name == "seeded":
            load = [next(i["load"] for i in reversed(infos["a"]) if "load" in i) for infos in played]
            assert line["load"] == line["by_agent"]["load"][0] == pytest.approx(np.mean(load))
            assert line["by_agent"]["load"][1] is None or np.isnan(line["by_agent"]["load"][1])
        else:
            fuel = [[sum(i["parts"]["fuel"] for i in infos[a][1:]) for a in "ab"] for infos in played]
            assert line["parts.fuel"] == pytest.approx(np.mean(fuel))
    assert first > 20
    assert {"speed", "won", "late"} <= set(run.metrics)


def test_shards_that_saw_other_names_grow_alike() -> None:
    """Sums stay with their names when columns come between; two roads to one mean."""
    one, other = (EpisodeStatistics(make_world(f"{HERE}seeded", 3, seed)) for seed in (1, 2))
    for statistics in (one, other):
        world, policy = statistics._world, RandomPolicy()
        timestep = world.reset()
        statistics.__init__(world)  # type: ignore[misc]
        policy.start(world, 0)
        for _ in range(40):
            timestep = world.step(policy.act(timestep))
            count_episodes(statistics, timestep)
            if timestep.over.any():
                timestep = world.reset(timestep.over.copy())
    sums = other.windows.sums.sum(axis=0)
    before = other.read(sums[: other.size], Balance())
    other.grow(["a_first", "middle", "zz"])
    sums = other.windows.sums.sum(axis=0)
    after = other.read(sums[: other.size], Balance())
    assert other.later == ["a_first", "late", "load", "middle", "speed", "won", "zz"]
    assert {name: after[name] for name in before if name != "by_agent"} == {
        name: before[name] for name in before if name != "by_agent"
    }
    assert np.isnan(after["middle"])


def test_best_by_takes_a_number_that_comes_with_the_first_episodes(tmp_path: Path) -> None:
    """An update is shorter than an episode: the first line has none."""
    script = [{}] * 20 + [{"a": {"success": 1.0}, "b": {"success": 0.0}}]
    run = trained(
        partial(Told, script),
        tmp_path / "run",
        train={"max_updates": 20, "best_by": "success", "best_measurements": 2},
    )
    assert "success" not in log_of(run.folder)[0]
    assert (run.folder / "checkpoints" / "best").exists()
    assert {line["success"] for line in log_of(run.folder) if line["episodes"]} == {0.5}


@pytest.mark.parametrize("over", [
    {},
    {"algorithm": "vdn", "population": {"by": "name", "groups": {"team": ["*"]}}, "train": {"max_updates": 4, "shards": 2}},
    {"train": {"max_updates": 3, "evaluate_against": ["random"], "evaluate_every": 1}},
])  # fmt: skip
def test_no_name_of_the_log_can_be_taken(tmp_path: Path, over: dict[str, Any]) -> None:
    """Every name that a run logs by itself is one that numbers of infos get out of the way of."""
    over = {"train": {"max_updates": 3}, **over}
    if over.get("algorithm") == "vdn":
        run = interplay.train(
            HERE + "with_rules", tmp_path / "run", steps=10**6, workers=1, num_worlds=4, **SMALL, **over
        )
    else:
        run = trained(HERE + "with_rules", tmp_path / "run", **over)
    own = {"speed", "parts.fuel", "won", "late"}
    logged = {name.partition("[")[0] for line in log_of(run.folder) for name in line}
    assert logged - own <= TAKEN
