"""Runs with opponents: every verb plays them as they were trained, and the numbers are those of the match set up by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.replay import ReplayReader
from interplay.core.replay.exact import read_actions
from interplay.core.replay.layout import ACTIONS
from interplay.core.settings import build
from interplay.evaluate import PolicyMap, play
from interplay.evaluate.lineup import Lineup, line_of
from interplay.registry import make_policy, make_world
from interplay.train.play.policy import load_policy
from interplay.train.run.checkpoint import list_checkpoints
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.verbs.contestants import choose_world
from interplay.verbs.players import find_player, seat
from interplay.verbs.viewing import Players
from interplay.view.server.play import Play
from tests.cli.command import refusal, typed
from tests.view.server.asking import Watcher, beneath, served

pytestmark = pytest.mark.slow

# World, its options, side of the script by settings and as it is shown, script, and the script's slots.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str, str, tuple[int, ...]]] = {
    "battle": ("battle/3m", {}, {"sides": {"by": "team"}}, "team1", "attack_move", (3, 4, 5)),
    "pong": ("pong/2p", {}, {"sides": {"by": "seat"}}, "right", "follow", (1,)),
    "grid": (
        "gridworld/team-battle",
        {"num_agents": 8},
        {"sides": {"by": "team"}},
        "team2",
        "random",
        (2, 6),
    ),
    "pommerman": (
        "pommerman/team",
        {},
        {"population": {"by": "name", "groups": {"us": ["*_0", "*_2"], "them": ["*_1", "*_3"]}}},
        "them",
        "simple",
        (1, 3),
    ),
}
STEPS = 40  # of an episode at most


def run_of(folder: Path, world: str, options: dict[str, Any], **own: Any) -> Path:
    values = {
        "world": {"id": world, "options": options},
        "num_worlds": 2,
        "steps": 10**9,
        "train": {"shards": 1, "workers": 1, "max_updates": 1, "checkpoint_seconds": 0.0, "keep_at": [0]},
        "ppo": {"rollout": 8, "minibatch": 16, "epochs": 1, "target_kl": "off"},
        "network": {"kind": "mlp", "hidden": [8]},
        **own,
    }
    return train(build(TrainSettings, values, "test"), folder)


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory) -> tuple[Path, str, str, tuple[int, ...]]:
    """A run, the side that a script plays as lines call it, the script, and its slots."""
    world, options, own, side, script, slots = CASES[request.param]
    run = run_of(
        tmp_path_factory.mktemp("runs") / request.param, world, options, opponents={side: script}, **own
    )
    return run, "blue" if request.param == "battle" else side, script, slots


def by_hand(run: Path, script: str, slots: tuple[int, ...]) -> tuple[Any, PolicyMap]:
    """The world of a run, and the run against the script, set up without the settings' opponents."""
    settings = interplay.Run(run).settings
    world = make_world(settings.world.id, num_worlds=3, **settings.world.options)
    ours = load_policy(run, populations=[next(iter(populations(run)))])
    theirs = make_policy(settings.world.id, script)
    return world, PolicyMap({n: theirs if n in slots else ours for n in range(len(world.agents))})


def populations(run: Path) -> list[str]:
    from interplay.train.play.policy import population_names

    return population_names(list_checkpoints(run)[-1])


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in other.columns)


def test_evaluate_is_the_match_set_up_by_hand(case):
    run, side, script, slots = case
    table = interplay.evaluate(run, episodes=7, num_worlds=3, max_steps=STEPS, seed=6)
    world, policy = by_hand(run, script, slots)
    assert same(table, play(world, policy, episodes=7, max_steps=STEPS, seed=6))
    assert table.players[side] == script
    assert table.line.endswith(f"{side}: {script}") or f"{side}: {script} ·" in table.line
    assert (~table.seating.own).nonzero()[1].tolist() == list(slots) * 7
    theirs = np.nanmean(table["return"][:, list(slots)])
    assert table.summary()[f"return[{side}]"].mean == pytest.approx(theirs)


def test_the_run_against_itself_is_another_match(case):
    run, side, _, _ = case
    if interplay.Run(run).settings.sides.by == "population":
        with pytest.raises(UserError):  # it has no weights for that side
            interplay.evaluate(run, roles=[f"{side}=self"], episodes=3)
        return
    against = interplay.evaluate(run, episodes=4, num_worlds=2, max_steps=STEPS)
    itself = interplay.evaluate(run, episodes=4, num_worlds=2, max_steps=STEPS, roles=[f"{side}=self"])
    named = interplay.evaluate(run, episodes=4, num_worlds=2, max_steps=STEPS, roles=[f"{side}={run}"])
    alone = interplay.evaluate(load_policy(run), episodes=4, num_worlds=2, max_steps=STEPS)
    assert same(itself, alone)
    assert same(named, alone)
    assert not same(against, alone)
    assert list(itself.players) == ["all"]
    assert itself.seating is None


def test_recorded_actions_of_the_opponents_are_the_script_s_own(case, tmp_path):
    run, _, script, slots = case
    interplay.record(run, tmp_path / "a.replay", max_steps=STEPS, seed=4)
    settings = interplay.Run(run).settings
    world = make_world(settings.world.id, num_worlds=1, **settings.world.options)
    with ReplayReader(tmp_path / "a.replay") as reader:
        recorded = [
            one for chunk in reader.of(ACTIONS) for one in read_actions(world, reader.inflated(chunk))
        ]
        header = reader.header
    assert [header.players[slot] for slot in slots] == [script] * len(slots)
    assert header.policy == line_of(header.lineup)
    timestep = world.reset(seeds=4)
    policy = by_hand(run, script, slots)[1]
    policy.start(world, 4)
    met = 0
    for action in recorded:
        expected = world.by_kind(policy.act(timestep))
        given = world.by_kind(action)
        for kind in world.kinds:
            acting = timestep.acting[0, list(kind.slots)] & np.isin(kind.slots, slots)
            for key, leaf in leaves(expected[kind.name]).items():
                np.testing.assert_array_equal(leaves(given[kind.name])[key][0][acting], leaf[0][acting])
            met += int(acting.sum())
        timestep = world.step(action)
    assert met > 4


def leaves(action: Any) -> dict[str, np.ndarray]:
    return (
        {k: np.asarray(a) for k, a in action.items()}
        if isinstance(action, dict)
        else {"": np.asarray(action)}
    )


def test_the_page_seats_the_opponents(case):
    run, _, script, slots = case
    said: list[str] = []
    cast = Players(seed=3).cast("run", str(run), say=said.append)
    try:
        play_ = Play(cast, 3)
        words = [cast.player(slot)[1] for slot in range(len(cast.world.agents))]
        assert [slot for slot, one in enumerate(words) if one == script] == list(slots)
        assert cast.words in said[0]
        assert script in cast.words
        assert all(play_.agent(slot, False)["policy"] == script for slot in slots)
        assert all(play_.agent(slot, False)["value"] is None for slot in slots)
        play_.step()
    finally:
        cast.world.close()


@pytest.mark.parametrize("case", ["battle"], indirect=True)
def test_the_page_says_who_plays_and_plays_on_with_a_newer_checkpoint(case, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(case[0], run)
    last = list_checkpoints(run)[-1]
    last.rename(tmp_path / last.name)
    cast = Players(seed=3).cast("run", str(run))
    play_ = Play(cast, 3)
    assert cast.words == "red: run at 0, sampled · blue: attack_move"
    play_.step()
    assert not play_.renew()
    (tmp_path / last.name).rename(last)
    assert play_.renew()
    assert play_.cast.words == f"red: run at {int(last.name):,}, sampled · blue: attack_move"
    assert [play_.agent(slot, False)["policy"] for slot in (0, 5)] == [
        f"run at {int(last.name):,}, sampled",
        "attack_move",
    ]
    play_.close()
    with served(beneath(run), Players(seed=3).cast) as address, Watcher(address, "run:0") as page:
        assert page.hear()["policy"] == play_.cast.words


def test_rows_of_checkpoints_are_each_checkpoint_evaluated_alone(case, capsys):
    run, side, script, _ = case
    few = ("--episodes", 3, "--num-worlds", 2, "--max-steps", STEPS, "--json")
    told = json.loads(typed(capsys, "evaluate", run, *few, "--at-checkpoints")[1])
    assert told["players"][side] == script
    assert len(told["checkpoints"]) == 2
    for row, path in zip(told["checkpoints"], list_checkpoints(run), strict=True):
        alone = json.loads(typed(capsys, "evaluate", path, *few)[1])
        assert alone["players"][side] == script
        assert row["episode_return"] == alone["metrics"]["return"]["mean"]
        assert row[f"episode_return[{side}]"] == alone["metrics"][f"return[{side}]"]["mean"]
        assert row["learner"] == alone["learner"]
        assert side not in row["learner"]


def test_shares_are_drawn_for_every_episode(tmp_path, capsys):
    listed = [
        {"play": "follow", "share": 0.3},
        {"play": "self", "share": 0.3},
        {"play": "past", "share": 0.4},
    ]
    run = run_of(
        tmp_path / "run", "pong/2p", {}, sides={"by": "seat"}, opponents={"any": listed}, pool={"every": 1}
    )
    table = interplay.evaluate(run, episodes=100, num_worlds=50, max_steps=2)
    others = ~table.seating.own
    assert (others.sum(axis=1) <= 1).all()
    assert abs(others.sum() - 30) < 4 * np.sqrt(100 * 0.3 * 0.7)
    assert 0 < others[:, 0].sum() < others.sum()
    assert set(table.players) == {"left", "right", "any"}
    assert table.players["any"].endswith(
        "30 % follow, 30 % the learner, 40 % the learner for its past selves"
    )
    assert table.seating.learner == ("left", "right")
    fixed = interplay.evaluate(run, episodes=6, num_worlds=2, max_steps=2, roles=["right=follow"])
    assert set(fixed.players) == {"left", "right"}
    assert fixed.players["right"] == "follow"
    assert (fixed.seating.own == [True, False]).all()


def test_a_run_that_learned_all_sides_says_so_and_plays_as_before(tmp_path, capsys):
    past = {"populations": ["pop0"], "every": 1, "share": 0.2}
    run = run_of(tmp_path / "run", "pong/2p", {}, sides={"by": "seat"}, pool=past)
    table = interplay.evaluate(run, episodes=4, num_worlds=2, max_steps=20)
    assert same(table, interplay.evaluate(load_policy(run), episodes=4, num_worlds=2, max_steps=20))
    assert list(table.players) == ["all"]
    assert table.players["all"].endswith(", sampled, also for its past selves")
    assert "all: " in typed(capsys, "evaluate", run, "--episodes", 2, "--max-steps", 5)[1]
    other = interplay.evaluate(run, episodes=4, num_worlds=2, max_steps=20, roles=["right=follow"])
    assert other.seating.learner == ("left",)
    assert "no side" in refusal(capsys, "evaluate", run, "--roles", "rigth=follow")


def test_an_opponent_that_is_gone_can_be_replaced(tmp_path, capsys):
    first = run_of(tmp_path / "first", "pong/2p", {})
    second = run_of(tmp_path / "second", "pong/2p", {}, sides={"by": "seat"}, opponents={"right": str(first)})
    few = {"episodes": 2, "num_worlds": 2, "max_steps": 5}
    table = interplay.evaluate(second, **few, greedy=True)
    assert table.players["left"].endswith("greedy")
    assert table.players["right"].endswith("sampled")
    first.rename(tmp_path / "elsewhere")
    assert "--roles right=PLAYER" in refusal(capsys, "evaluate", second, "--episodes", 2, "--max-steps", 5)
    table = interplay.evaluate(second, roles=[f"right={tmp_path / 'elsewhere'}"], **few)
    assert table.players["right"].startswith("elsewhere at ")


def test_villagers_meet_the_wolves_of_their_training(tmp_path):
    run = run_of(tmp_path / "run", "werewolf/6", {}, opponents={"werewolf": "random_target"})
    table = interplay.evaluate(run, episodes=8, num_worlds=4, seed=2)
    ours, theirs = load_policy(run, populations=["villager"]), make_policy("werewolf/6", "random_target")
    by_hand = PolicyMap({"villager": ours, "werewolf": theirs}, by="population")
    assert same(table, play(make_world("werewolf/6", num_worlds=4), by_hand, episodes=8, seed=2))
    assert table.players["werewolf"] == "random_target"
    assert isinstance(interplay.Run(run).policy().beside["werewolf"], type(theirs))
    assert not isinstance(interplay.Run(run).policy(), Lineup)


def test_options_of_a_run_that_are_not_read_with_those_asked_for_go(tmp_path: Path) -> None:
    shaped = {"seconds": 1.0, "reward": "shaped", "weights": [1, 1, 0.01, 0.01]}
    values = {"world": {"id": "soccer/1v1", "options": shaped}, "num_worlds": 2, "steps": 64}
    run = train(
        build(TrainSettings, values | {"ppo": {"rollout": 16}, "train": {"shards": 1, "workers": 1}}, "test"),
        tmp_path / "run",
    )
    plain = {"seconds": 1.0, "reward": "plain"}
    assert find_player(str(run), options={"reward": "plain"}).options == plain
    assert seat(load_policy(run), options={"reward": "plain"}).options == plain
    assert choose_world([str(run)], "", {"reward": "plain"}, "") == ("soccer/1v1", plain)
    assert find_player(str(run), options={"seconds": 2.0}).options == shaped | {"seconds": 2.0}
