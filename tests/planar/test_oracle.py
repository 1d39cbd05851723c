"""Box2D 2.3.10 as an oracle: specification survival 15, number 11."""

from __future__ import annotations

import numpy as np
import pytest

from tests.planar.oracle import compare_sight, drift_from_box2d

pytest.importorskip("Box2D", reason='the oracle needs Box2D: pip install "interplay[oracle]"')


def test_11_vision_and_melee_targets_agree():
    found = compare_sight(seed=0, scenes=200)
    assert found["wrong_pairs"] == 0
    assert found["wrong_rays"] == 0
    assert found["visible"] > 2000  # the agreement is about something
    assert found["hits"] > 150


def test_11_trajectories_stay_close():
    at_60, at_120 = np.median(drift_from_box2d(seed=0, scenes=40, marks=(60, 120)), axis=1)
    assert at_60 <= 1e-3
    assert at_120 <= 5e-2


def test_11_the_damping_rule_matters():
    """The other damping rule drifts away, so the comparison would notice a wrong one."""
    (wrong,) = np.median(drift_from_box2d(seed=0, scenes=10, marks=(60,), pade=True), axis=1)
    assert wrong > 1e-3
