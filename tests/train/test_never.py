"""Settings that let something never happen: each is named once with its number, and a sound run has no line."""

from __future__ import annotations

from typing import Any

import pytest

from interplay.registry import make_world
from interplay.train.factored.learner import TeamLearner
from interplay.train.learner import Learner
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.selfplay.never import find_ineffective
from tests.train.test_learner_numbers import settings_of

GROUPS = {"by": "name", "groups": {"left": ["walker_0"], "right": ["walker_1"]}}
SELF, PAST = {"play": "self", "share": 0.5}, {"play": "past", "share": 0.5}


def lines_of(updates: int | None = 100, steps: int = 10**6, **own: Any) -> list[str]:
    train = {"shards": 2, **own.pop("train", {})} | ({} if updates is None else {"max_updates": updates})
    settings = settings_of(1, train=train, steps=steps, **own)
    world = make_world(settings.world.id, 1, **settings.world.options)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    assert not isinstance(learner, TeamLearner)
    world.reset()
    return find_ineffective(settings, world, learner)


def league(share: float = 0.5, **own: Any) -> dict[str, Any]:
    fixed = {"by": "fixed", "play": "random", "share": share}
    meets = [fixed, {"by": "uniform", "share": 1.0 - share}]
    return {
        "sides": {"by": "seat"},
        "league": {"learners": {"main": {"meets": meets}}, "period": 1_000} | own,
    }


def sided(play: str, share: float) -> dict[str, Any]:
    listed = [{"play": play, "share": share}, {"play": "self", "share": 1.0 - share}]
    return {"sides": {"by": "seat"}, "opponents": {"any": listed}}


@pytest.mark.parametrize(
    "own",
    [
        {},
        league(),
        sided("random", 0.5),
        sided("random", 0.01),
        {"sides": {"by": "seat"}, "opponents": {"any": [SELF, PAST]}, "pool": {"every": 5}},
        {"population": GROUPS, "opponents": {"left": "random"}},
        {"population": GROUPS, "opponents": {"left": "random"}, "train": {"learners": ["right"]}},
    ],
)
def test_a_sound_run_has_no_line(own: dict[str, Any]) -> None:
    assert lines_of(**own) == []


@pytest.mark.parametrize(
    ("own", "named"),
    [
        (league(period=10**6), ["league.period = 1,000,000", "25,600"]),
        (league(share=1e-6), ["share = 1e-06"]),
        (sided("random", 1e-6), ["opponents.any: random", "share = 1e-06"]),
        (
            {"sides": {"by": "seat"}, "opponents": {"any": [SELF, PAST]}, "pool": {"every": 100}},
            ["pool.every = 100"],
        ),
        ({"population": GROUPS, "train": {"learners": ["right"]}}, ["train.learners = ['right']", "left"]),
    ],
)
def test_what_never_happens_is_named_with_its_number(own: dict[str, Any], named: list[str]) -> None:
    (line,) = lines_of(**own)
    assert all(words in line for words in named)
    assert "\n" not in line


def test_a_learner_that_no_other_meets_is_named() -> None:
    def two(rule: dict[str, Any], freeze: bool = True) -> list[str]:
        learners = {"main": {"meets": [rule]}, "other": {"meets": [{"by": "current"}], "freeze": freeze}}
        return lines_of(sides={"by": "seat"}, league={"learners": learners, "period": 1_000})

    (line,) = two({"by": "self"})
    assert line.startswith("league.learners.other")
    assert len(two({"by": "uniform"})) == 1  # of its own copies
    assert two({"by": "pfsp"}) == two({"by": "current"}) == two({"by": "uniform", "among": ["other"]}) == []
    assert len(two({"by": "pfsp"}, freeze=False)) == 1


def test_a_share_is_rare_by_the_length_of_the_run() -> None:
    """An episode of the corridor has at most 20 steps of two agents: a million steps are more than 25,000 episodes."""
    share = 1e-3
    assert lines_of(updates=None, steps=10**6, **sided("random", share)) == []
    assert len(lines_of(updates=None, steps=2_000, **sided("random", share))) == 1
