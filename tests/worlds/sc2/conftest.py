"""The stand-in instead of the game, and worlds that are closed after their test."""

from __future__ import annotations

import pytest

import interplay
from tests.worlds.sc2.game import install


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return install(tmp_path_factory.mktemp("sc2"))


@pytest.fixture(autouse=True)
def _installed(folder, monkeypatch):
    monkeypatch.setenv("SC2PATH", str(folder))


@pytest.fixture
def make():
    """Makes a world."""
    worlds = []

    def build(world_id="sc2/battle-5i", **options):
        worlds.append(interplay.make_world(world_id, **options))
        return worlds[-1]

    yield build
    for world in worlds:
        world.close()
