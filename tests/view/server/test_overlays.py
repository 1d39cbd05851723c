"""Specification viewer 6.1 and 8: overlays of a world in play, as a page gets them."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.mmo.ghosts import CLIP, livable, moments, value_map
from interplay.evaluate.lifetimes.mmo.overlays.recorders import visits
from interplay.evaluate.lifetimes.overlays import (
    Layer,
    Live,
    Overlay,
    OverlayData,
    register_overlay,
    registry,
)
from interplay.evaluate.lifetimes.places import PlaceRecorder, read_places
from interplay.evaluate.lifetimes.tick import watch
from interplay.view.server.config import COUNTING_SECONDS
from interplay.view.server.messages import read_message
from interplay.view.server.overlay_frames import HEAD, LEVELS, Cells, cells_of, encode_cells
from interplay.view.server.overlays import Overlays
from interplay.view.server.play import Cast, Play
from interplay.view.server.visitor import Visitor
from tests.evaluate.commons import common, taste
from tests.view.scenes import WalkWorld
from tests.view.server.asking import Watcher, cast_of, no_root, served
from tests.view.server.tables import TableWorld


def values():
    """What a run has: values of the world's copy."""
    return lambda world: taste


def valued(kind: str, name: str) -> Cast:
    """Random play of a small persistent world, with a value function."""
    return Cast(common(seed=3), RandomPolicy(), "somebody", None, values)


@pytest.fixture(scope="module")
def address():
    with served(no_root(["mmo"]), valued) as address:
        yield address


def cells_seen(page: Watcher, **asked) -> tuple[dict, dict]:
    """The description of an overlay, and its cells."""
    page.say("overlay", **asked)
    return page.until("overlay", name=asked["name"]), page.until("cells")


def test_cells_are_a_byte_each_and_0_is_no_value():
    found = encode_cells(
        7, 1234, Cells(np.array([[np.nan, -1.0, 0.0], [1.0, 9.0, -9.0]]), -1.0, 1.0, True, False)
    )
    assert found.hex() == "030703000200000" + "0d2040000000080bf0000803f" + "000180ffff010000"


def test_counts_go_by_their_logarithm_and_none_is_no_value():
    layer = Layer("n", "n", np.array([[[0, 1], [3, 0]], [[0, 0], [4, 0]]]), "map", "population", "n", "N.")
    cells = cells_of(layer)
    assert (cells.lowest, cells.highest, cells.log, cells.diverging) == (0.0, 7.0, True, False)
    told = np.frombuffer(encode_cells(0, 0, cells)[20:], np.uint8)
    assert told.tolist() == [0, 1 + round(LEVELS * np.log(2) / np.log(8)), 255, 0]


def test_values_are_those_of_ghosts_in_the_world_as_it_stands(address):
    with Watcher(address) as page:
        hello = page.hear()
        there = {one["name"]: one for one in hello["overlays"]}
        assert {"values", "exploration", "dependence", "combat"} <= there.keys()
        assert there["values"]["options"]["ghost"][:2] == ["full", "no food"]
        assert hello["populations"] == ["0", "1"]
        page.stand_still()
        page.say("reset", seed=5)
        tick = page.until("frame")["tick"]
        page.say("step", n=30)
        page.until("frame", tick=tick + 30)
        told, found = cells_seen(page, name="values", population=1, options={"ghost": "no food"})
        assert (found["tick"], found["id"]) == (tick + 30, told["id"])
        world, policy = common(seed=3), RandomPolicy()
        step = world.reset(seeds=5)
        policy.start(world, 5)
        for _ in range(30):
            step = world.step(policy.act(step))
        expected = value_map(world, taste, 1, "no food")
        ground = livable(world.state.tiles[0]) & np.isfinite(expected)
        mean, spread = moments(expected, world.state.tiles[0])
        ends = (mean - CLIP * spread, mean + CLIP * spread)
        assert (found["lowest"], found["highest"]) == pytest.approx(ends)
        assert told["seen"] == pytest.approx([expected[ground].min(), expected[ground].max()])
        share = np.clip((expected[ground] - ends[0]) / (ends[1] - ends[0]), 0, 1)
        assert np.array_equal(found["cells"] > 0, ground)
        np.testing.assert_allclose(found["cells"][ground], 1 + LEVELS * share, atol=0.51)


def test_who_asks_for_what_another_page_was_shown_at_this_tick_is_shown_it_too(address):
    """Time stands still, as after a reload: nothing new is computed by itself."""
    asked = {"name": "values", "population": 0, "options": {"ghost": "full"}}
    with Watcher(address) as one:
        one.stand_still()
        _, first = cells_seen(one, **asked)
        with Watcher(address) as other:
            _, second = cells_seen(other, **asked)
    assert (second["tick"], second["cells"].tobytes()) == (first["tick"], first["cells"].tobytes())


def test_exploration_counts_every_tick_of_the_episode_since_it_was_asked_for():
    ready = Ready()
    ready.ask("exploration", 0)
    assert ready.came() is not None
    for _ in range(3):
        ready.step()
    ready.play.reset(5)  # what was counted before may be of another map
    ready.overlays.note()
    began = ready.play.tick
    for _ in range(40):
        ready.step()
    told, frame = ready.came()
    world = common(seed=3)
    recorder = visits(world)
    watch(world, RandomPolicy(), [recorder], 40, seed=5)
    counts = recorder.counts[0] * livable(world.state.tiles[0])
    share = np.log1p(counts) / np.log1p(counts.max())
    assert told["since"] == began
    assert told["seen"] == [counts[counts > 0].min(), counts.max()]
    cells = np.frombuffer(frame, np.uint8, counts.size, HEAD.size).reshape(counts.shape)
    assert np.array_equal(cells, np.where(counts > 0, 1 + np.rint(LEVELS * share), 0))


def test_a_plane_is_counted_where_agents_are_drawn():
    world, recorder = WalkWorld(), PlaceRecorder()
    world.reset(seeds=1)
    for _ in range(3):
        recorder.add(read_places(world))
    assert recorder.counts is not None
    assert recorder.counts.shape == (2, 48, 48)
    for slot in range(2):
        row, col = (int(place[0, slot] / 10 * 48) for place in (world.state.y, world.state.x))
        assert recorder.counts[slot, row, col] == 3
        assert recorder.counts[slot].sum() == 3


def test_one_agent_of_the_plane_is_looked_at():
    with served(no_root(["walk"]), cast_of(WalkWorld)) as own, Watcher(own) as page:
        page.stand_still()
        both = cells_seen(page, name="visits")[1]["cells"]
        told, found = cells_seen(page, name="visits", agent=1, options={"whose": "selected agent"})
        assert told["origin"] == [0.0, 0.0]
        assert told["cell"] == pytest.approx(10 / 48)
        assert (int((both > 0).sum()), int((found["cells"] > 0).sum())) == (2, 1)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "valves"}, "choose from values"),
        ({"name": "exploration", "population": 2}, "population 2"),
        ({"name": "exploration", "agent": 12}, "slot 12"),
        ({"name": "values", "options": {"ghost": "hungry"}}, "no choice"),
        ({"name": "values", "options": {"spirit": "full"}}, "no choice"),
    ],
)
def test_what_there_is_not_is_refused(address, asked, words):
    with Watcher(address) as page:
        page.say("overlay", **asked)
        refused = page.until("refused", what="overlay")
        assert words in refused["reason"]


def test_values_of_who_expects_nothing_are_refused():
    cast = cast_of(lambda: common(seed=3))
    with served(no_root(["mmo"]), cast) as own, Watcher(own) as page:
        page.say("overlay", name="dependence")
        assert "random" in page.until("refused", what="overlay")["reason"]


def test_overlays_are_kept_back_from_who_plays_where_roles_are_hidden():
    with served(no_root(["table"]), cast_of(lambda: TableWorld(hides=True))) as own, Watcher(own) as page:
        page.say("take", slot=0)
        page.say("overlay", name="visits")
        assert "roles are hidden" in page.until("refused", what="overlay")["reason"]


def test_overlays_end_while_somebody_plays_under_fog():
    foggy = lambda kind, name: valued(kind, name)._replace(fog=True)  # noqa: E731
    with served(no_root(["mmo"]), foggy) as own, Watcher(own) as player, Watcher(own) as other:
        cells_seen(other, name="exploration")
        player.say("take", slot=0)
        assert "under fog" in other.until("refused", what="overlay")["reason"]
        player.say("overlay", name="exploration")
        assert "under fog" in player.until("refused", what="overlay")["reason"]
        player.say("give", slot=0)
        player.until("status", holders={})
        cells_seen(player, name="exploration")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "overlay"},
        {"type": "overlay", "name": 3},
        {"type": "overlay", "name": "x" * 101},
        {"type": "overlay", "name": "values", "population": -1},
        {"type": "overlay", "name": "values", "options": {"ghost": 1}},
        {"type": "overlay", "name": "values", "options": {str(i): "" for i in range(17)}},
        {"type": "overlay", "name": "values", "place": "x"},
    ],
)
def test_messages_of_another_form_are_none(message):
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it is, the connection is closed
        read_message(json.dumps(message))


class Ready:
    """Overlays of a world that stands still, with a clock of its own, and one page that draws."""

    def __init__(self, cast: Cast | None = None, seed: int = 0) -> None:
        self.now, self.woken = 0.0, threading.Semaphore(0)
        self.play = Play(cast or valued("world", "mmo"), seed)
        self.overlays = Overlays(self.play, lambda: self.now, self.woken.release, str)
        self.page = Visitor(lambda: None)

    def ask(self, name: str, population: int | None = None, agent: int | None = None) -> None:
        asked = {"type": "overlay", "name": name, "population": population, "agent": agent}
        self.overlays.ask(self.page, read_message(json.dumps(asked)))

    def step(self) -> None:
        """A tick, half a second later."""
        self.now += 0.5
        self.play.step()
        self.overlays.note()

    def came(self, wait: float = 20.0):
        """What was begun and came; None where nothing was begun."""
        self.overlays.show()
        return self.page.fetch_overlay() if self.woken.acquire(timeout=wait) else None


def test_two_a_second_at_most_and_none_of_a_tick_that_was_told():
    ready = Ready()
    ready.ask("exploration")
    assert ready.came() is not None
    ready.now += 10
    assert ready.came(0.1) is None
    assert ready.overlays.wait() == np.inf
    ready.play.step()
    assert ready.came() is not None
    ready.play.step()
    assert ready.overlays.wait() == pytest.approx(0.5)
    ready.now += 0.4
    assert ready.came(0.1) is None
    ready.now += 0.1
    assert ready.came() is not None


def test_pages_that_do_not_draw_and_those_that_went_cost_nothing():
    ready = Ready()
    ready.ask("exploration")
    for tick in range(2):  # on their way, and nobody says that they were shown
        ready.page._unshown.append(tick)
    assert ready.came(0.1) is None
    ready.page.shown(1)
    ready.overlays.leave(ready.page)
    assert ready.came(0.1) is None


def test_while_one_is_computed_no_other_is_begun(monkeypatch):
    begun, go = [], threading.Event()

    def slow(study):
        begun.append(study)
        go.wait(20)
        return Layer("slow", "slow", np.ones((2, 2)), "map", "diverging", "n", "N.", (0, 1))

    monkeypatch.setattr(registry._OVERLAYS, "added", {})
    register_overlay(Overlay("slow", "slow", lambda study: OverlayData("slow", "", ()), live=Live(slow)))
    ready = Ready()
    ready.ask("slow")
    for _ in range(3):
        ready.overlays.show()
        ready.play.step()
        ready.now += 1
    assert ready.overlays.wait() == np.inf
    go.set()
    assert ready.woken.acquire(timeout=20)
    assert len(begun) == 1
    assert begun[0].world is not ready.play.world  # a copy, which stood still
    assert ready.overlays.wait() == 3.0  # as long as it worked


def test_what_nobody_asks_for_stops_counting_and_begins_anew():
    ready = Ready()
    ready.ask("exploration")
    ready.step()
    ready.overlays.leave(ready.page)
    ready.now += COUNTING_SECONDS - 1.0
    ready.step()
    ready.ask("exploration")  # who comes back soon finds it
    assert ready.came()[0]["since"] == 0
    ready.overlays.leave(ready.page)
    ready.now += COUNTING_SECONDS + 1.0
    ready.step()
    ready.step()
    ready.ask("exploration")
    assert ready.came()[0]["since"] == ready.play.tick == 4


def check_it_is_refused_and_the_world_plays_on():
    with served(no_root(["mmo"]), valued) as own, Watcher(own) as page:
        page.say("overlay", name="mine")
        reason = page.until("refused", what="overlay")["reason"]
        assert reason.startswith("overlay mine raised ZeroDivisionError: somebody's own mistake")
        at = page.until("frame")["tick"]
        page.until("frame", tick=at + 3)


def test_an_overlay_of_somebodys_own_may_break_and_the_world_plays_on(monkeypatch):
    def broken(study):
        raise ZeroDivisionError("somebody's own mistake")

    monkeypatch.setattr(registry._OVERLAYS, "added", {})
    register_overlay(Overlay("mine", "mine", lambda study: OverlayData("mine", "", ()), live=Live(broken)))
    check_it_is_refused_and_the_world_plays_on()


def test_counters_of_somebodys_own_may_break_and_the_world_plays_on(monkeypatch):
    class Broken:
        def __init__(self, world):
            self.ticks = 0

        def add(self, tick):
            self.ticks += 1
            if self.ticks > 2:
                raise ZeroDivisionError("somebody's own mistake")

    monkeypatch.setattr(registry._OVERLAYS, "added", {})
    shown = Live(
        lambda study: Layer("mine", "mine", np.ones((2, 2)), "map", "diverging", "", "mine", (0.0, 1.0)),
        needs=("mine",),
    )
    register_overlay(
        Overlay("mine", "mine", lambda study: OverlayData("mine", "", ()), needs={"mine": Broken}, live=shown)
    )
    check_it_is_refused_and_the_world_plays_on()
