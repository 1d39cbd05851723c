"""Patterns of agents' names."""

from __future__ import annotations

import pytest

from interplay.core.agent_names import fits_pattern


@pytest.mark.parametrize(
    ("agent", "pattern", "fits"),
    [
        ("red_0", "red_*", True),
        ("blue_0", "red_*", False),
        ("red_3", "red_[0-4]", True),
        ("robot[0].arm", "robot[0].arm", True),
        ("robot[0].arm", "robot[*].arm", True),
        ("robot[0].arm", "robot[1].arm", False),
        ("robot0.arm", "robot*.arm", True),
        ("robot0xarm", "robot0.arm", False),
    ],
)
def test_brackets_stand_for_themselves_where_a_name_has_some(agent, pattern, fits):
    assert fits_pattern(agent, pattern) is fits
