"""Specification viewer 8: the value of one agent over the plane, as a page gets it of a world in play."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.play.values import ValuesBeside
from interplay.view.server.play import Cast
from tests.train.test_exporting import made
from tests.view.server.test_overlays import Ready

WORLD, TICKS = "survival/2v2-all-low", 4


def ready() -> Ready:
    """A world played by a network that remembers, and one page."""
    network = {"kind": "mlp", "hidden": [32], "memory": "gru", "memory_size": 8, "input_scale": True}
    policy, world = made(WORLD, network)
    return Ready(Cast(world, policy, "a run", values=partial(ValuesBeside, policy)), seed=3)


@pytest.fixture(scope="module")
def watched() -> Ready:
    return ready()


def test_the_agents_own_cell_has_its_value_and_the_world_plays_as_without(watched):
    watched.ask("place_values", agent=2)
    hashes = []
    for _ in range(TICKS):
        told, _ = watched.came(60)
        (asked,) = watched.overlays._requests.values()
        layer = watched.overlays._panel(watched.overlays._glance(asked))
        place = watched.play.world.state.body[0, 2]
        row, col = (
            int((place[axis] - edge) // layer.cell)
            for axis, edge in zip("yx", layer.origin[::-1], strict=True)
        )
        value = watched.play.agent(2, person=False)["value"]
        assert layer.values[row, col] == pytest.approx(value, abs=1e-5)
        known = layer.values[np.isfinite(layer.values)]
        assert np.ptp(known) > 0.05  # of networks that know nothing
        assert told["seen"] == pytest.approx([known.min(), known.max()])
        assert told["title"] == "value of agent_2 by its place"
        watched.step()
        hashes.append(int(watched.play.world.hash()[0]))
    alone = ready()
    for expected in hashes:
        alone.step()
        assert int(alone.play.world.hash()[0]) == expected


def test_where_nobody_is_looked_at_it_is_of_one_who_acts(watched):
    watched.ask("place_values")
    watched.now += 10
    told, _ = watched.came(60)
    assert (told["agent"], told["title"]) == (None, "value of agent_0 by its place")


def test_critics_that_see_more_are_refused_in_words(watched, monkeypatch):
    look = TrainedPolicy.look
    monkeypatch.setattr(TrainedPolicy, "look", lambda *a, **k: look(*a, **k)._replace(value=None))
    watched.step()
    watched.now += 10
    watched.page.fetch()
    watched.ask("place_values")
    watched.overlays.show()
    assert watched.woken.acquire(timeout=60)
    (said,), _ = watched.page.fetch()
    assert "train with network.critic=own" in said["reason"]
