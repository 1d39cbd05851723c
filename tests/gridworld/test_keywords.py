"""Misspelt keywords of builders."""

from __future__ import annotations

import pytest

from interplay.gridworld.smart import SmartGridWorldSimulation
from tests.gridworld.boards import named, walker


def test_misspelt_keywords_of_builders_are_named():
    """B4: unknown keywords are handed on; one that is nearly a known one is a slip."""
    parts = {"states": ["PositionState"], "actors": ["MoveActor"], "observers": ["AbsolutePositionObserver"]}
    with pytest.raises(AssertionError, match=r"unknown keyword 'overlaping'; did you mean 'overlapping'\?"):
        SmartGridWorldSimulation.build_sim(3, 3, agents=named(walker("me")), overlaping={1: {1}}, **parts)
    with pytest.raises(AssertionError, match="did you mean 'no_overlap_at_reset'"):
        SmartGridWorldSimulation.build_sim(3, 3, agents=named(walker("me")), no_overlap_at_rest=True, **parts)
    SmartGridWorldSimulation.build_sim(3, 3, agents=named(walker("me")), temperature=21, **parts)
