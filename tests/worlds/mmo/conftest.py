"""Every scene runs on the naive world and on the real one."""

from __future__ import annotations

import pytest

from tests.worlds.mmo.scenes import NaiveScene


@pytest.fixture(params=[NaiveScene], ids=["naive"])
def scene(request):
    """A maker of scenes: scene(**options)."""
    return request.param
