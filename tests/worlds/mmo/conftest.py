"""Every scene runs on the naive world and on the real one."""

from __future__ import annotations

import pytest

from tests.worlds.mmo.scenes import KernelScene, NaiveScene


@pytest.fixture(params=[NaiveScene, KernelScene], ids=["naive", "kernels"])
def scene(request):
    """A maker of scenes: scene(**options)."""
    return request.param
