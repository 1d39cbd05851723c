"""Specification viewer 5: a recording that holds states goes on from any of its ticks, in other hands."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.core.replay.exact import read_actions
from interplay.core.replay.layout import ACTIONS
from interplay.core.replay.marks import Mark
from interplay.registry import make_world
from interplay.train.play.policy import load_policy
from interplay.train.run.checkpoint import list_checkpoints
from interplay.train.run.manifest import read_manifest
from interplay.train.settings.network import NetworkGroup
from interplay.train.trainer import train
from interplay.verbs.playing import record
from interplay.verbs.viewing import Players, find_opened, serve_page
from interplay.view.server.eyes import OWN_EYES, STANDS
from interplay.view.server.networks import Checkpoints, Named
from interplay.view.server.play import Cast, Play
from interplay.view.server.sessions import Continued, _gone, continue_at
from interplay.view.server.sources import Sources
from tests.core.drawings import check_alike
from tests.view.server.asking import Watcher, beneath, served
from tests.view.server.folders import record as bare
from tests.view.server.tables import TableWorld
from tests.view.server.test_recorded_networks import settings

WORLD, TICKS = "survival/1v1-heals-low", 300
# One of each kind: with births, with turns, some of whose agents leave before the others, with several episodes, with hidden roles.
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "survival": (WORLD, "hunter", {"max_steps": TICKS}),
    "mmo": ("mmo/combat", "fighter", {"options": {"interior": 16, "slots": 24, "cap": 24}, "max_steps": 40}),
    "turns": ("simulation/multi-corridor-turns", "random", {"max_steps": 40}),
    "corridor": ("simulation/multi-corridor", "random", {"options": {"end": 6}}),
    "dilemma": ("dilemma/fixed", "tit_for_tat", {"episodes": 2}),
    "werewolf": ("werewolf/10", "random", {}),
}


class Again(Policy):
    """Does from a tick on what was done in a recording."""

    name = "again"

    def __init__(self, path: Path, tick: int) -> None:
        self._path, self._tick = path, tick

    def start(self, world, seed=0):
        super().start(world, seed)
        with ReplayReader(self._path) as reader:
            data = [reader.inflated(chunk) for chunk in reader.of(ACTIONS)]
        actions = [one for part in data if part is not None for one in read_actions(world, part)]
        self._left = [one for one in actions[self._tick :] if one is not None]

    def act(self, timestep):
        return self._left.pop(0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A folder of recordings; their numbers are in the order of their names."""
    root = tmp_path_factory.mktemp("recorded")
    for name, (world, player, more) in KINDS.items():
        record(player, root / f"{name}.replay", world, seed=3, **more)
    return root


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A folder with a run and a recording of it."""
    root = tmp_path_factory.mktemp("played")
    run = train(settings(), root / "run")
    record(str(run), root / "match.replay", max_steps=20, seed=3)
    return root


def source(name: str, tick: int) -> str:
    return f"recording:{sorted(KINDS).index(name)}@{tick}"


def continued(path: Path, tick: int) -> Continued:
    return continue_at(path, tick, Checkpoints(Sources(beneath(path.parent))))


def begin(path: Path, tick: int, policy: Policy) -> Play:
    found = continued(path, tick)
    return Play(Cast(found.world, policy, "test", under_way=found.under_way))


def reason(root: Path, source: str, players: Players | None = None) -> str:
    """Why a source is not shown."""
    cast = (players or Players()).cast
    with served(beneath(root), cast) as address, Watcher(address, source) as page:
        said = page.hear()
    assert (said["type"], said["again"]) == ("bye", False)
    assert str(root) not in said["reason"]
    return str(said["reason"])


@pytest.mark.parametrize("name", KINDS)
def test_it_begins_with_the_recorded_scene_and_goes_on_alike(recorded, name):
    path = recorded / f"{name}.replay"
    with ReplayReader(path) as reader:
        for tick in sorted({0, 1, reader.ticks // 2, max(reader.ticks - 3, 0), reader.ticks - 1}):
            play = begin(path, tick, Again(path, tick))
            for now in range(tick, min(tick + 4, reader.ticks)):
                frame, moment = reader.frame(now), play.moment()
                check_alike(frame.scene, moment.scene, reader.header.scene)
                other = reader.world_at(now)
                over = bool(
                    other.timestep.over[0]
                )  # a frame is the last one also where the recorder was stopped
                assert (moment.tick, moment.first, moment.last) == (now, frame.first, over)
                assert play.world.hash().tolist() == other.hash().tolist()
                other.close()
                if now < reader.ticks - 1:
                    play.step()
            play.close()


def test_what_happened_is_marked_as_it_was_recorded(recorded):
    told = set()
    for name in ("survival", "mmo", "corridor", "dilemma"):
        path = recorded / f"{name}.replay"
        with ReplayReader(path) as reader:
            tick, marks = reader.ticks // 2, reader.marks()
            play = begin(path, tick, Again(path, tick))
            found = [mark for _ in range(tick + 1, reader.ticks) for mark in play.step()]
        assert found == [mark for mark in marks if mark.tick > tick]
        told |= {mark.kind for mark in found}
        play.close()
    assert {"death", "end"} <= told


def test_who_is_alone_at_the_end_has_no_turns(recorded):
    path = recorded / "corridor.replay"
    with ReplayReader(path) as reader:
        world = reader.world_at(0)
        ticks = [now for now, _ in reader.play_on(world, 0, 4_096) if world.timestep.acting.sum() == 1]
    alone, turns = begin(path, ticks[0], RandomPolicy()), begin(recorded / "turns.replay", 7, RandomPolicy())
    assert (alone.turn_based, alone.turn()) == (False, None)
    assert (turns.turn_based, turns.turn()) == (True, turns.somebody())
    present = [alone.agent(slot, person=False)["present"] for slot in range(len(alone.world.agents))]
    assert present == alone.world.timestep.acting[0].tolist()
    assert all(turns.agent(slot, person=False)["present"] for slot in range(len(turns.world.agents)))
    alone.reset(seed=5)
    fresh = make_world("simulation/multi-corridor", end=6)
    fresh.reset(seeds=5)
    assert alone.world.hash().tolist() == fresh.hash().tolist()  # a reset is one


def test_a_person_takes_over_and_acts(recorded):
    with served(beneath(recorded), Players().cast) as address:
        with Watcher(address, source("survival", 270)) as page:
            hello = page.until("hello")
            assert (hello["tick"], hello["running"], hello["policy"]) == (
                270,
                False,
                "random in place of hunter",
            )
            assert page.until("status")["note"] == STANDS
            frame = page.until("frame")
            with ReplayReader(recorded / "survival.replay") as reader:
                assert page.decoder is not None
                check_alike(frame["scene"], reader.frame(270).scene, page.decoder.schema)
            assert frame["tick"] == 270
            page.say("wait", on=True)
            page.say("take", slot=1)
            heads = page.until("taken", slot=1)["heads"]
            page.say("select", slot=1)
            assert page.until("agent", slot=1, policy="a person")["tick"] == 270
            chosen = {head["name"]: head["n"] - 1 for head in heads}
            page.say("act", slot=1, tick=270, action=chosen)
            assert page.until("agent", tick=271)["chosen"] == chosen
            page.say("give", slot=1)
            page.until("agent", policy="random in place of hunter")
            page.stand_still()
            with Watcher(address, source("survival", 270)) as other:  # both watch the same one
                now = other.until("hello")["tick"]
                assert now > 270
            page.say("step", n=1)
            page.until("frame", tick=now + 1)  # for who stays it goes on
        begun = []
        while begun[-1:] != [270] and len(begun) < 5:  # the server may hear of the next one first
            with Watcher(address, source("survival", 270)) as page:
                begun.append(page.until("hello")["tick"])
        assert begun[-1] == 270  # all have left it


def test_under_fog_and_where_roles_are_hidden_who_plays_sees_no_more_than_in_other_worlds(recorded):
    with (
        served(beneath(recorded), Players().cast) as address,
        Watcher(address, source("werewolf", 2)) as page,
    ):
        page.say("take", slot=0)
        page.until("taken")
        page.say("select", slot=1)
        assert "roles are hidden" in page.until("refused", what="select")["reason"]
    fog = Players(fog=True).cast
    with served(beneath(recorded), fog) as address, Watcher(address, source("survival", 9)) as page:
        page.say("take", slot=0)
        assert page.until("status", fog=True)["note"] == OWN_EYES


def words(root: Path, players: Players, source: str = "recording:0@7") -> str:
    with served(beneath(root), players.cast) as address, Watcher(address, source) as page:
        return str(page.until("hello")["policy"])


def test_the_checkpoint_that_played_plays_on_where_it_is_at_hand(played, tmp_path, monkeypatch):
    own = f"run at {int(list_checkpoints(played / 'run')[-1].name):,}"
    assert words(played, Players("hunter")) == f"{own}, its own checkpoint"
    cast = Players().cast("recording", WORLD, continued=continued(played / "match.replay", 7))
    assert cast.policy.checkpoint == load_policy(played / "run").checkpoint  # type: ignore[attr-defined]
    assert cast.values is not None
    Play(cast).step()
    shutil.copy(played / "match.replay", tmp_path)
    recorded = load_policy(played / "run").name
    assert words(tmp_path, Players()) == f"random in place of {recorded}"
    assert words(tmp_path, Players("hunter")) == f"hunter in place of {recorded}"
    assert words(tmp_path, Players(str(played / "run"))) == f"{own} in place of {recorded}"
    monkeypatch.setattr(NetworkGroup, "remembers", "memory = gru", raising=True)
    assert words(played, Players()) == f"{own}, its own checkpoint, whose memory begins here"


def test_nobody_else_takes_the_place_of_a_checkpoint_that_cannot_be_read(played, tmp_path):
    shutil.copytree(played, tmp_path / "all")
    (file,) = list_checkpoints(tmp_path / "all" / "run")[-1].glob("policy*.safetensors")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert "run/checkpoints" in reason(tmp_path / "all", "recording:0@7")


def test_a_policy_that_the_recorded_world_does_not_have_is_refused(recorded):
    assert "'hunter'" in reason(recorded, source("dilemma", 2), Players("hunter"))


def test_who_plays_recordings_on_can_be_named_where_there_are_some(tmp_path, monkeypatch):
    monkeypatch.setattr("interplay.verbs.viewing.serve", lambda *_: None)
    (tmp_path / "run").mkdir()
    with pytest.raises(UserError, match="runs are played by their own networks; leave --policy out"):
        serve_page(beneath(tmp_path / "run"), Players("defect"), "127.0.0.1", 0, False, str, str)
    bare(tmp_path / "run" / "a.replay", 1)
    for opened in (beneath(tmp_path), find_opened(str(tmp_path / "run" / "a.replay"))):
        serve_page(opened, Players("defect"), "127.0.0.1", 0, False, str, str)
        with pytest.raises(UserError, match=r"--policy defekt: .*did you mean 'defect'"):
            serve_page(opened, Players("defekt"), "127.0.0.1", 0, False, str, str)
    with pytest.raises(UserError, match="--option rounds: a recording has the options it was made with"):
        serve_page(opened, Players(options={"rounds": 3}), "127.0.0.1", 0, False, str, str)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"agents": ("a", "b", "c")}, "it names 3 agents, and dilemma/fixed has 2 with its options"),
        ({"world": "mmo/combat", "options": {"interior": 16_000}}, "snapshot of another world"),
    ],
)
def test_a_header_that_asks_for_another_world_is_refused_before_that_begins(
    tmp_path, monkeypatch, header, said
):
    """The map of a large one takes minutes and gigabytes, and a file of a kilobyte may ask for it."""
    from interplay.worlds.mmo.world import MmoWorld

    monkeypatch.setattr(MmoWorld, "reset", lambda *_: pytest.fail("it has begun"))
    if header.get("world"):
        large = make_world(header["world"])
        header = {**header, "agents": large.agents, "world_version": large.version}
    bare(tmp_path / "a.replay", 1, **header)
    with ReplayReader(tmp_path / "a.replay") as reader, pytest.raises(UserError, match=said):
        reader.world_at(1, most=10)


def test_a_run_that_was_made_anew_under_its_name_is_not_the_one_that_played(tmp_path):
    from tests.view.server.test_renewal import write as write_checkpoint

    class Listed:
        def runs(self) -> list[Path]:
            return [tmp_path / "run"]

    checkpoints = Checkpoints(Listed())  # type: ignore[arg-type]
    first = write_checkpoint(tmp_path / "run", 4, choice=1)
    key = read_manifest(first)["checksum"]
    assert checkpoints.find(key) == Named(first)
    shutil.rmtree(tmp_path / "run")
    again = write_checkpoint(tmp_path / "run", 4, choice=2)
    assert again == first
    assert checkpoints.find(key) is None
    assert checkpoints.find(read_manifest(again)["checksum"]) == Named(again)


def test_who_has_left_is_gone_and_who_waits_is_not(tmp_path):
    """A game with few acting at night; turns after an agent has left."""
    for world_id in ("werewolf/9-l1s9", "simulation/multi-corridor-turns"):
        path = tmp_path / f"{world_id.replace('/', '-')}.replay"
        record("random", path, world_id, {}, seed=3)
        with ReplayReader(path) as reader:
            marks, ticks = reader.marks(), reader.ticks
        checked = 0
        for tick in range(0, ticks - 1, max(ticks // 20, 1)):
            gone = {
                row
                for mark in marks
                if mark.tick <= tick and mark.kind in ("death", "cut")
                for row in mark.rows
            }
            continued = continue_at(path, tick, Checkpoints(beneath_nothing()))
            play = Play(Cast(continued.world, RandomPolicy(), "random", under_way=continued.under_way))
            assert np.flatnonzero(~play._present).tolist() == sorted(gone), tick
            checked += bool(gone)
            play.close()
        assert bool(checked) == (
            world_id != "werewolf/9-l1s9"
        )  # the dead of a village win or lose with it, and stay


def test_the_slots_that_are_gone_are_those_that_ended_and_did_not_begin_again():
    marks = [Mark(2, "death", (0, 1)), Mark(4, "birth", (1,)), Mark(5, "phase"), Mark(6, "cut", (3,))]
    marks += [Mark(6, "birth", (4,)), Mark(8, "end"), Mark(9, "death", (2,))]
    gone = [_gone(reversed(marks), tick) for tick in (1, 3, 5, 7, 8, 9)]
    assert gone == [(), (0, 1), (0,), (0, 3), (0, 3), (2,)]


def beneath_nothing() -> Any:
    class Nothing:
        def runs(self) -> list[Path]:
            return []

    return Nothing()


@pytest.mark.parametrize(
    ("header", "exact", "said"),
    [
        ({}, False, "a.replay: tick 1 cannot be played on, it holds scenes alone; watching works"),
        ({"world_version": 99}, True, "version 99; this is 1 of dilemma/fixed, version"),
        ({"world": "tests.view.server.tables:TableWorld"}, True, "which may be a program"),
        ({"options": {"rounds": "tests.view.server.tables:TableWorld"}}, True, "which may be a program"),
        ({"options": {"nothing": 3}}, True, "nothing"),
        ({"world": "dilemma/none"}, True, "dilemma/none"),
    ],
)
def test_what_cannot_be_played_on_is_refused_in_a_sentence(tmp_path, monkeypatch, header, exact, said):
    monkeypatch.setattr(TableWorld, "__init__", lambda *_, **__: pytest.fail("a file made a world"))
    bare(tmp_path / "a.replay", 1, None, exact, **header)
    assert said in reason(tmp_path, "recording:0@1", Players(trust=True))


def test_damaged_ones_and_ticks_that_are_not_there_are_refused(tmp_path):
    bare(tmp_path / "a.replay", 1)
    assert "tick 2 cannot be played on, it has ticks 0..1" in reason(tmp_path, "recording:0@2")
    data = bytearray((tmp_path / "a.replay").read_bytes())
    with ReplayReader(tmp_path / "a.replay") as reader:
        (state,) = reader.of(b"SNAP")
    data[state.offset + 40] ^= 255
    (tmp_path / "a.replay").write_bytes(data)
    assert "its states are damaged" in reason(tmp_path, "recording:0@1")


def test_links_are_not_followed(tmp_path):
    bare(tmp_path / "a.replay", 1)
    with served(beneath(tmp_path), Players().cast) as address:
        (tmp_path / "a.replay").rename(tmp_path / "b.replay")
        (tmp_path / "a.replay").symlink_to("b.replay")
        with Watcher(address, "recording:0@0") as page:
            assert "it is a link now" in page.until("bye")["reason"]


def test_where_somebody_may_be_born_later_who_does_not_act_is_not_there(tmp_path):
    world_id, policy, more = KINDS["mmo"]
    record(policy, tmp_path / "a.replay", world_id, more["options"], max_steps=more["max_steps"])
    continued = continue_at(tmp_path / "a.replay", 20, Checkpoints(beneath_nothing()))
    play = Play(Cast(continued.world, RandomPolicy(), "random", under_way=continued.under_way))
    acting = continued.world.timestep.acting[0].tolist()
    assert play._present.tolist() == acting
    assert False in acting
    play.close()
