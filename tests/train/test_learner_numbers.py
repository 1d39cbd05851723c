"""The log of a run with others: what the learner earned and won, by a second road through every step that was played."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from interplay.core.settings import build
from interplay.registry import make_world
from interplay.train.run.side_sums import SHARES
from interplay.train.settings import TrainSettings
from interplay.train.settings.unread import check_read
from interplay.train.shard import Shard
from interplay.train.trainer import train
from tests.train.runs import log_of, short_run, worker_of

pytestmark = pytest.mark.slow

SELF, RANDOM = {"play": "self", "share": 0.4}, {"play": "random", "share": 0.6}
PPO = {"rollout": 16, "minibatch": 128, "epochs": 1, "learning_rate": 1e-2}


def settings_of(updates: int, **own: Any) -> TrainSettings:
    algorithm = {} if "algorithm" in own else {"ppo": PPO}
    values = {"train": {"max_updates": updates, "writers": []}} | algorithm | own
    settings = short_run("tests.train.toy_worlds:Corridor", values)
    check_read(settings)
    return settings


def pong(updates: int, **own: Any) -> TrainSettings:
    """Two rounds, which the limit of a round often ends without a point."""
    options = {"rounds": 2, "round_steps": 30}
    return settings_of(updates, world={"id": "pong/2p", "options": options}, **own)


class Episode(NamedTuple):
    """One episode as a bystander saw it.

    Attributes:
        began, ended: updates.
        learner: (A,) bool, slots of the learner.
        side: (A,) number of the side of each slot.
        numbers: metric -> (A,) values; `SHARES` too.
    """

    began: int
    ended: int
    learner: np.ndarray
    side: np.ndarray
    numbers: dict[str, np.ndarray]


class Bystander:
    """Writes down the episodes of one shard, beside its world's steps.

    Args:
        shard: whose world is watched from here on.
        side: (A,) number of the side of each slot.
        closed: (A,) bool, slots that others play in every episode.
    """

    def __init__(self, shard: Shard, side: np.ndarray, closed: np.ndarray) -> None:
        self.update, self.episodes = 0, list[Episode]()
        self._casting, self._world = shard.collector.casting, shard.world
        self._side, self._closed, self._step = side, closed, shard.world.step
        worlds = shard.world.num_worlds
        self.began: list[int | None] = [None] * worlds
        self._earned = np.zeros((worlds, len(side)))
        shard.world.step = self._watch  # type: ignore[method-assign]

    def _watch(self, action: Any) -> Any:
        for w, began in enumerate(self.began):
            self.began[w] = self.update if began is None else began
        seats = [self._seats(w) for w in range(len(self.began))]
        timestep = self._step(action)
        self._earned += timestep.reward
        for w in np.flatnonzero(timestep.over):
            numbers = {"episode_return": self._earned[w].copy()}
            for name, values in self._world.metrics.items():
                if np.ndim(values) == 2:
                    numbers[name] = np.array(values[w], np.float64)
            if "outcome" in numbers:
                numbers |= shares(numbers["outcome"], bool(timestep.truncated[w].any()))
            self.episodes.append(Episode(self.began[w] or 0, self.update, seats[w], self._side, numbers))
            self.began[w], self._earned[w] = None, 0.0
        return timestep

    def _seats(self, w: int) -> np.ndarray:
        """(A,) bool, slots of the learner, from what was drawn for the episode."""
        casting, learner = self._casting, ~self._closed
        if hasattr(casting, "league"):
            return np.array(casting.player[w][self._side] < len(casting.league.names))
        for side, player in zip(casting.side[w], casting.player[w], strict=True):
            if player != -1:
                learner = learner & (self._side != side)
        return learner


def shares(outcome: np.ndarray, cut: bool) -> dict[str, np.ndarray]:
    """By hand: a winner has won, a loser lost; without either a limit cut the episode, or it was drawn."""
    even = (outcome == 0).astype(float)
    won, lost = (outcome == 1).astype(float), (outcome == -1).astype(float)
    return {"won": won, "lost": lost, "cut": even * cut, "drawn": even * (not cut)}


def watched(
    settings: TrainSettings, side: list[int], closed: list[bool] | None = None
) -> tuple[list[Mapping[str, Any]], list[list[Episode]], list[Episode]]:
    """What a run logs in each update, the episodes that are told in it, and all episodes."""
    with contextlib.closing(worker_of(settings, make_of(settings))) as worker:
        shut = np.array(closed if closed is not None else [False] * len(side))
        by = [Bystander(shard, np.array(side), shut) for shard in worker.shards]
        lines: list[Mapping[str, Any]] = []
        told: list[list[Episode]] = []
        done = -1  # the newest window that was told
        for update in range(settings.train.max_updates or 0):
            for one in by:
                one.update = update
            lines.append(worker.update())
            under_way = [began for one in by for began in one.began if began is not None]
            newest = min([update, *(began - 1 for began in under_way)])
            every = [episode for one in by for episode in one.episodes]
            told.append([episode for episode in every if done < episode.began <= newest])
            done = max(done, newest)
    return lines, told, every


def make_of(settings: TrainSettings) -> Any:
    def make(num_worlds: int, seed: int, first_world: int) -> Any:
        return make_world(
            settings.world.id, num_worlds, seed, first_world=first_world, **settings.world.options
        )

    return make


def mean(episodes: list[Episode], name: str, side: int | None = None, mixed: bool = False) -> float:
    """Over episodes of the mean over the learner's agents, or those of a side."""
    found = []
    for episode in episodes:
        agents = episode.learner if side is None else episode.side == side
        if agents.any() and not (mixed and episode.learner.all()):
            found.append(episode.numbers[name][agents].mean())
    return float(np.mean(found)) if found else math.nan


def agree(
    lines: list[Any], told: list[list[Episode]], metrics: list[str], sides: list[str], mixed: bool
) -> int:
    """Compares every number of every line; gives how many there were."""
    compared = 0
    for line, episodes in zip(lines, told, strict=True):
        assert line["episodes"] == len(episodes)
        for name in metrics if episodes else ():
            expected = {name: mean(episodes, name, mixed=mixed)}
            expected |= {f"{name}[{side}]": mean(episodes, name, at) for at, side in enumerate(sides)}
            for key, value in expected.items():
                assert (key in line) == math.isfinite(value), key
                if key in line:
                    assert line[key] == pytest.approx(value, abs=1e-9), key
                    assert key in line["of_episodes"]
                    compared += 1
    return compared


# -- with others -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opponents",
    [
        {"any": [{"play": "past", "share": 0.4}, SELF | {"share": 0.3}, RANDOM | {"share": 0.3}]},
        {"walker_1": "random"},
    ],
)
def test_the_return_is_the_learner_s_by_seat(opponents: dict[str, Any]) -> None:
    pool = {"pool": {"every": 1, "keep": 2}} if "any" in opponents else {}
    lines, told, every = watched(settings_of(10, sides={"by": "seat"}, opponents=opponents, **pool), [0, 1])
    names = ["walker_0", "walker_1"]
    assert agree(lines, told, ["episode_return", "arrived"], names, mixed=False) > 20
    assert all(line["learner"] == (names if "any" in opponents else names[:1]) for line in lines)
    assert any(not episode.learner.all() for episode in every)
    last = next(number for number in reversed(range(10)) if told[number])
    old = np.mean([episode.numbers["episode_return"].mean() for episode in told[last]])
    assert abs(lines[last]["episode_return"] - old) > 1e-3
    mixed = sum(not episode.learner.all() for episode in told[last])
    assert lines[last]["episodes_with_others"] == mixed


@pytest.mark.parametrize("algorithm", ["ppo", "vdn"])
def test_the_return_is_the_learner_s_by_population(algorithm: str) -> None:
    """One population is played by a random policy in every episode; lives are the learner's, too."""
    group = {"rollout": 16, "sequence": 4, "minibatch": 64, "replay": 256}
    settings = settings_of(
        6,
        algorithm=algorithm,
        population={"by": "name", "groups": {"left": ["walker_0"], "right": ["walker_1"]}},
        opponents={"left": "random"},
        **{algorithm: group if algorithm == "vdn" else PPO},
    )
    lines, told, _ = watched(settings, [0, 1], [True, False])
    assert agree(lines, told, ["episode_return", "arrived"], ["left", "right"], mixed=False) > 15
    some = [line for line in lines if line["episodes"]]
    for line in some:
        assert line["learner"] == ["right"]
        assert line["episode_return"] == line["episode_return[right]"] != line["episode_return[left]"]
        assert line["life_return"] == line["life_return[right]"]
        assert line["lives"] == line["lives[right]"] == line["episodes"]
        assert len(line["by_agent"]["episode_return"]) == 2
        assert line["by_agent"]["episode_return"][1] == pytest.approx(line["episode_return"])


def test_lives_are_the_learner_s_where_others_play_a_side() -> None:
    opponents = {"any": [RANDOM, SELF]}
    lines, told, _ = watched(settings_of(5, sides={"by": "seat"}, opponents=opponents), [0, 1])
    for line, episodes in zip(lines, told, strict=True):
        own = [value for e in episodes for value in e.numbers["episode_return"][e.learner]]
        assert line["lives"] == len(own) <= 2 * len(episodes)
        if own:
            assert line["life_return"] == pytest.approx(np.mean(own))


def test_a_zero_sum_return_is_of_the_episodes_with_others() -> None:
    """Where the learner plays both sides of Pong it earns nothing in sum."""
    lines, told, every = watched(pong(12, sides={"by": "seat"}, opponents={"any": [RANDOM, SELF]}), [0, 1])
    assert agree(lines, told, ["episode_return", *SHARES], ["left", "right"], mixed=True) > 50
    assert any(episode.learner.all() for episode in every)
    for line in lines:
        assert not any(key.startswith("outcome") for key in line)
        sides = ["", "[left]", "[right]"] if "won" in line else []
        for side in sides:
            assert sum(line[f"{share}{side}"] for share in SHARES) == pytest.approx(1.0)
    # The numbers do move: rounds are won, and the old mean over all agents is nothing but rounding.
    played = [line for line in lines if line.get("episode_return")]
    assert played
    assert all(abs(np.mean(line["by_agent"]["episode_return"])) < 1e-9 for line in played)


def test_a_league_s_return_is_that_of_those_who_learn() -> None:
    """Fixed players, mirrors and copies are others; a match that measures two of them is of no learner."""
    meets = [{"by": "self", "share": 0.3}, {"by": "fixed", "share": 0.4, "play": "random"}]
    meets += [{"by": "uniform", "share": 0.3}]
    league = {"learners": {"main": {"meets": meets}}, "period": 400, "keep": 2, "measure": 0.3}
    lines, told, every = watched(pong(14, league=league), [0, 1])
    assert agree(lines, told, ["episode_return", *SHARES], ["left", "right"], mixed=True) > 50
    assert {int(episode.learner.sum()) for episode in every} == {0, 1, 2}
    assert all(line["learner"] == ["left", "right"] for line in lines)


def test_several_learners_of_a_league_have_numbers_of_their_own() -> None:
    two = {"one": {"meets": [{"by": "current"}]}, "two": {"meets": [{"by": "current"}]}}
    league = {"learners": two, "period": 1_000, "measure": 0.0}
    lines, told, _ = watched(pong(10, league=league), [0, 1])
    assert agree(lines, told, ["episode_return", "won"], ["left", "right"], mixed=True) > 10
    some = [line for line in lines if "won[one]" in line and "won[two]" in line]
    assert some
    assert all(0 <= line["won[one]"] <= 1 for line in some)


# -- all is the learner's ------------------------------------------------------------------------------------


def test_self_play_of_pong_has_no_sum_over_its_sides() -> None:
    lines, told, _ = watched(pong(12), [0, 1])
    moved = 0
    for line, episodes in zip(lines, told, strict=True):
        assert not {"episode_return", "life_return", "outcome", *SHARES, "learner"} & line.keys()
        if episodes:
            for at, side in enumerate(("left", "right")):
                for name in ("episode_return", *SHARES):
                    assert line[f"{name}[{side}]"] == pytest.approx(mean(episodes, name, at))
                assert sum(line[f"{share}[{side}]"] for share in SHARES) == pytest.approx(1.0)
            assert line["episode_return[left]"] == pytest.approx(-line["episode_return[right]"])
            assert line["points"] == pytest.approx(np.mean([e.numbers["points"].mean() for e in episodes]))
            moved += line["episode_return[left]"] != 0
    assert moved


def test_self_play_of_battle_has_a_return_and_no_outcome() -> None:
    """Both sides are paid for damage, so the mean over all agents says something; who won only by side."""
    options = {"limit": 40, "reward": "smac"}
    settings = settings_of(8, world={"id": "battle/3m", "options": options})
    lines, told, _ = watched(settings, [0, 0, 0, 1, 1, 1])
    team = ["red", "blue"]
    some = 0
    for line, episodes in zip(lines, told, strict=True):
        assert not {"outcome", *SHARES} & line.keys()
        if not episodes:
            continue
        returns = [episode.numbers["episode_return"].mean() for episode in episodes]
        assert line["episode_return"] == pytest.approx(np.mean(returns))
        for at, side in enumerate(team):
            for name in ("episode_return", *SHARES):
                assert line[f"{name}[{side}]"] == pytest.approx(mean(episodes, name, at))
            assert sum(line[f"{share}[{side}]"] for share in SHARES) == pytest.approx(1.0)
        some += 1
    assert some > 1


def test_a_law_is_of_every_episode_and_of_a_stopped_run_too(tmp_path: Path) -> None:
    """Rock, paper, scissors declares nothing: its returns sum to zero in every episode, and so does no prisoners' dilemma."""
    lines, _, _ = watched(settings_of(4, world={"id": "matrix/rock-paper-scissors"}), [0, 1])
    some = [line for line in lines if "episode_return[agent_0]" in line]
    assert some
    assert all("episode_return" not in line for line in some)
    lines, _, _ = watched(settings_of(4, world={"id": "dilemma/fixed"}), [0, 1])
    some = [line for line in lines if line["episodes"]]
    assert some
    assert all("episode_return" in line and "episode_return[agent_0]" not in line for line in some)


def test_the_best_checkpoint_goes_by_one_side(tmp_path: Path) -> None:
    settings = pong(8)
    values = settings.model_dump()
    values["train"] |= {"best_by": "won[right]", "best_measurements": 2}
    run = train(build(TrainSettings, values, "test"), tmp_path / "run")
    measured = [line for line in log_of(run) if "won[right]" in line and "ending" not in line]
    blocks = [measured[at : at + 2] for at in range(0, len(measured) - 1, 2)]
    assert blocks
    value = max(
        float(
            np.average([line["won[right]"] for line in block], weights=[line["episodes"] for line in block])
        )
        for block in blocks
    )
    from interplay.train.run.checkpoint import find_checkpoint, read_checkpoint

    best = read_checkpoint(find_checkpoint(run / "checkpoints" / "best")).record["best"]
    assert best["metric"] == "won[right]"
    assert best["value"] == pytest.approx(value)
