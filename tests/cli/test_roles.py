"""`--roles SIDE=RUN|POLICY` of evaluate, record and transcript."""

from __future__ import annotations

import json

import pytest

from interplay.evaluate import PolicyMap, play
from interplay.registry import make_world
from interplay.worlds.werewolf.policies import POLICIES
from tests.cli.command import typed

WORLD = ("--world", "werewolf/9-l1s9")


def test_evaluate_sets_one_policy_against_another(capsys):
    games = ("--episodes", "20", "--seed", "3", "--json")
    told = json.loads(
        typed(capsys, "evaluate", "oracle", "--roles", "werewolf=avoid_wolves", *WORLD, *games)[1]
    )
    assert told["roles"] == {"werewolf": "avoid_wolves"}
    assert told["metrics"]["win_vil"]["mean"] == 1.0
    both = ("--roles", "werewolf=unite", "--roles", "villager=random")
    told = json.loads(typed(capsys, "evaluate", "oracle", *both, *WORLD, *games)[1])
    policy = PolicyMap({0: POLICIES["random"](), 1: POLICIES["unite"]()}, by="population")
    world = make_world("werewolf/9-l1s9", num_worlds=20, seed=3)
    expected = play(world, policy, episodes=20, seed=3).summary()["return"]
    assert told["metrics"]["return"]["mean"] == pytest.approx(expected.mean)


def test_the_table_says_who_played(capsys):
    _, out, _ = typed(capsys, "evaluate", "random", "--roles", "werewolf=unite", *WORLD, "--episodes", "3")
    lines = out.splitlines()
    assert lines[0].startswith("random on werewolf/9-l1s9, 3 episodes")
    assert lines[1] == "villager: random · werewolf: unite"


def test_transcript_and_record_take_roles_too(capsys, tmp_path):
    roles = ("--roles", "werewolf=muted_wolf", "--roles", "villager=password")
    _, out, _ = typed(capsys, "transcript", "random", *roles, *WORLD, "--reveal")
    wolves = [line.split() for line in out.splitlines() if " W " in line and len(line.split()) == 4]
    assert wolves
    assert {words[-1] for words in wolves} == {"0"}
    picture = tmp_path / "game.png"
    assert typed(capsys, "record", "random", *roles, *WORLD, "--out", str(picture))[0] == 0
    assert picture.stat().st_size > 0
