"""A player that writes into what it is shown changes no match and no training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from interplay import make_policy, make_world
from interplay.core.policy import RandomPolicy
from interplay.evaluate import PolicyMap, play
from interplay.evaluate.tournaments.matches import play_block
from interplay.evaluate.tournaments.matchups import Matchup
from interplay.train.trainer import train
from tests.evaluate.writer import Writer
from tests.train.runs import arrays_of, short_run

WORLDS = {
    "survival/1v1-heals-low": "hunter",
    "battle/3m": "attack_move",
    "pong/2p": "follow",
    "werewolf/7": "bayes",
}


@pytest.mark.parametrize("world", WORLDS)
def test_a_writer_changes_no_episode(world: str) -> None:
    tables = []
    for other in (RandomPolicy(), Writer()):
        batch = make_world(world, num_worlds=4)
        policies = PolicyMap({0: other}, others=make_policy(world, WORLDS[world]))
        tables.append(play(batch, policies, 4, seed=3, max_steps=200))
    assert tables[0].columns.keys() == tables[1].columns.keys()
    for name, column in tables[0].columns.items():
        np.testing.assert_array_equal(column, tables[1].columns[name], err_msg=name)


@pytest.mark.parametrize("world", ["survival/1v1-heals-low", "battle/3m"])
def test_a_writer_changes_no_match(world: str) -> None:
    played = [
        play_block(
            make_world(world, num_worlds=4),
            [make_policy(world, WORLDS[world]), other],
            Matchup((0, 1), 0),
            range(4),
            3,
            max_steps=200,
        )
        for other in (RandomPolicy(), Writer())
    ]
    assert str(played[0]) == str(played[1])


def test_a_writer_alone_changes_no_episode() -> None:
    tables = [
        play(make_world("survival/1v1-heals-low", num_worlds=4), policy, 4, seed=3)
        for policy in (RandomPolicy(), Writer())
    ]
    for name, column in tables[0].columns.items():
        np.testing.assert_array_equal(column, tables[1].columns[name], err_msg=name)


@pytest.mark.slow
def test_a_writer_changes_no_training(tmp_path: Path) -> None:
    runs = [
        train(
            short_run("pong/2p", {"opponents": {"right": name}, "sides": {"by": "seat"}},
                      {"train": {"max_updates": 2, "quiet": True}}),
            tmp_path / name.rpartition(":")[2],
        )
        for name in ("tests.evaluate.writer:Plain", "tests.evaluate.writer:Writer")
    ]  # fmt: skip
    assert arrays_of(runs[0]) == arrays_of(runs[1])
