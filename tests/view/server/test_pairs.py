"""Matches behind the cells of a payoff matrix, and live matches of pairs: by numbers alone, and admitted first."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.settings import to_toml
from interplay.core.trust import Untrusted
from interplay.evaluate.tournaments.match_recordings import MATCHES, recording_name
from interplay.evaluate.tournaments.round_robins import make_settings, round_robin
from interplay.registry import make_policy
from interplay.verbs.pairing import Admission, seat_pair
from interplay.verbs.viewing import Players, check_shown, find_opened
from interplay.view.server.sessions import Sessions
from interplay.view.server.sources import Opened, Sources
from interplay.view.server.visitor import Visitor
from tests.view.server.asking import Watcher, app_of, ask, beneath, no_root, served
from tests.view.server.folders import make_run, record

WORLD = "dilemma/fixed"
NAMES = ("cooperate", "defect", "tit_for_tat")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tournament with the first two matches of each pair recorded."""
    root = tmp_path_factory.mktemp("played")
    players = {name: make_policy(WORLD, name) for name in NAMES}
    round_robin(players, WORLD, matches=4, options={"rounds": 5}, out=root / "cup", record=1)
    return root


@pytest.fixture
def cup(played: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    shutil.copytree(played, tmp_path / "root")
    return tmp_path / "root" / "cup"


def change(cup: Path, **values: Any) -> None:
    told = json.loads((cup / "ratings.json").read_text())
    (cup / "ratings.json").write_text(json.dumps({**told, **values}))


def write_tournament(
    folder: Path, players: tuple[str, ...], identities: tuple[str, ...], world: str = WORLD
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    settings = make_settings(world=world, players=players, identities=identities, matches=2)
    (folder / "tournament.toml").write_text(to_toml(settings))


def test_matches_stand_behind_their_cells(played):
    app = app_of(beneath(played))
    told = ask(app, "/api/runs/0/ratings").json
    assert [(one["id"], one["name"]) for one in told["players"]] == list(enumerate(NAMES))
    assert told["playable"] is True
    names = {one["id"]: one["name"] for one in ask(app, "/api/sources").json["recordings"]}
    assert len(told["matches"]) == 6
    for one in told["matches"]:
        first, second = one["players"]
        low, high = sorted(one["players"])
        assert names[one["id"]] == f"cup/{MATCHES}/{recording_name((low, high), one['match'])}"
        assert (first < second) == (one["match"] == 0)
        header = ask(app, f"/api/recordings/{one['id']}").json["header"]
        assert header["players"] == [NAMES[first], NAMES[second]]
        if {first, second} == {0, 1}:  # who cooperates gets nothing, five times, wherever he sits
            assert one["scores"] == ([0.0, 25.0] if first == 0 else [25.0, 0.0])
    # Who defects wins from both seats.
    assert told["seats"]["shares"][1][0] == 1.0
    assert told["seats"]["shares"][0][1] == 0.0
    assert told["seats"]["first"] == 0.5
    assert ask(app, "/api/runs/0/players").json == {
        "players": [{"id": n, "name": name} for n, name in enumerate(NAMES)]
    }


def test_a_recorded_player_is_told_by_its_seat(played):
    app = app_of(beneath(played))
    told = ask(app, "/api/runs/0/ratings").json
    second = next(one for one in told["matches"] if one["players"] == [2, 0])
    for slot, name in enumerate(("tit_for_tat", "cooperate")):
        answer = ask(app, f"/api/recordings/{second['id']}/agent/{slot}", query=b"tick=2").json
        assert answer["policy"] == name


def test_only_recordings_that_are_there_are_told(cup):
    removed = cup / MATCHES / recording_name((0, 1), 0)
    removed.unlink()
    record(cup.parent / "secret.replay")
    (cup / MATCHES / recording_name((1, 2), 0)).unlink()
    (cup / MATCHES / recording_name((1, 2), 0)).symlink_to(cup.parent / "secret.replay")
    told = ask(app_of(beneath(cup.parent)), "/api/runs/0/ratings").json
    assert sorted((*sorted(one["players"]), one["match"]) for one in told["matches"]) == [
        (0, 1, 1), (0, 2, 0), (0, 2, 1), (1, 2, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "recorded",
    [
        7,
        [7],
        [{"players": [0, 1], "match": 0}],
        [{"players": [0, 9], "match": 0, "scores": [0, 0]}],
        [{"players": [0, -1], "match": 0, "scores": [0, 0]}],
        [{"players": [0, 0], "match": 0, "scores": [0, 0]}],
        [{"players": [0], "match": 0, "scores": [0]}],
        [{"players": [0, 1], "match": -1, "scores": [0, 0]}],
        [{"players": [0, 1], "match": True, "scores": [0, 0]}],
        [{"players": ["../../secret", 1], "match": 0, "scores": [0, 0]}],
        [{"players": [0, 1], "match": "0/../../../secret", "scores": [0, 0]}],
        [{"players": [0, 1], "match": 0, "scores": ["much", 0]}],
        [{"players": [0, 1], "match": 0, "scores": [0, 0, 0]}],
    ],
)
def test_recordings_that_no_tournament_tells_are_refused(cup, recorded):
    change(cup, recorded=recorded)
    answer = ask(app_of(beneath(cup.parent)), "/api/runs/0/ratings")
    assert (answer.status, "no standings" in answer.json["error"]) == (422, True)


@pytest.mark.parametrize(
    "seats",
    [
        [],
        {"wins": [[0]]},
        {"wins": [[0]], "matches": [[0]]},
        {"wins": [[2] * 3] * 3, "matches": [[1] * 3] * 3},
        {"wins": [[-1] * 3] * 3, "matches": [[1] * 3] * 3},
        {"wins": [["nan"] * 3] * 3, "matches": [[1] * 3] * 3},
        {"wins": [[0] * 3] * 3, "matches": [[1e300] * 3] * 3},
    ],
)
def test_seats_that_no_tournament_tells_are_refused(cup, seats):
    change(cup, seats=seats)
    assert ask(app_of(beneath(cup.parent)), "/api/runs/0/ratings").status == 422


def test_a_tournament_of_an_older_version_has_neither(cup):
    told = json.loads((cup / "ratings.json").read_text())
    del told["seats"], told["recorded"]
    (cup / "ratings.json").write_text(json.dumps(told))
    told = ask(app_of(beneath(cup.parent)), "/api/runs/0/ratings").json
    assert (told["seats"], told["matches"], told["playable"]) == (None, [], True)


def test_two_players_meet_with_the_row_in_the_first_seat(played):
    cast = partial(Players().cast, within=played)
    with served(beneath(played), cast) as address, Watcher(address, "run:0@2,1") as page:
        hello = page.until("hello")
        assert hello["policy"] == "tit_for_tat against defect"
        page.stand_still()
        for slot, name in enumerate(("tit_for_tat", "defect")):
            page.say("select", slot=slot)
            assert page.until("agent", slot=slot)["policy"] == name
        page.say("reset", seed=3)
        page.say("step", n=5)
        scene = None
        while scene is None or not scene["head"].last:
            scene = page.until("frame")
        # Tit for tat cooperates once and defects from then on, so it is five points behind.
        returns = []
        for slot in (0, 1):
            page.say("select", slot=slot)
            returns.append(page.until("agent", slot=slot, tick=scene["tick"])["return"])
        assert returns == [4.0, 9.0]


@pytest.mark.parametrize(
    "source",
    ["", "file:0", "world:-1", "world:0x0", "world:00", "world:0@1", "run:0@", "run:0@,", "run:0@1,", "run:0@,1", "run:0@0,1,2",
     "run:0@-1,0", "run:0@0, 1", "run:0@\uff11", "run:0@99999999999", "run:0@01,2", "run:00@1,2", "run:0@../cup", "run:0@0@1",
     "run:0@cooperate,defect", "recording:0", "recording:0@", "recording:00@1", "recording:0@01", "recording:0@1,2", "recording:0@-1",
     "recording:../a@1"],
)  # fmt: skip
def test_sources_are_numbers_in_one_spelling(played, source):
    refuse_source(
        Sources(Opened("", played, worlds=(WORLD,))), source, "write run:0, world:0 or recording:0@120"
    )


def refuse_source(sources: Sources, source: str, words: str, make: Any = pytest.fail) -> None:
    with pytest.raises(UserError, match=words):
        Sessions(sources, make).join(source, Visitor(lambda: None))


def test_what_is_not_there_is_refused(played, tmp_path):
    sources = Sources(Opened("", played, worlds=(WORLD,)))
    for source, words in {
        "run:0@0,3": "player 3",
        "run:7@0,1": "run 7",
        "world:1": "world 1",
        "recording:99@0": "recording 99",
    }.items():
        refuse_source(sources, source, words)
    make_run(tmp_path / "run")
    refuse_source(Sources(Opened("", tmp_path)), "run:0@0,1", "run: ")


@pytest.mark.parametrize("source", ["run:0@0,1", "world:0", "recording:0@1"])
def test_a_read_only_viewer_plays_nothing(played, source):
    refuse_source(Sources(Opened("", played, worlds=(WORLD,))), source, "--read-only", None)


def test_nobody_meets_himself_or_a_stranger(played):
    for names, words in (
        (("defect", "defect"), "it would play itself"),
        (("defect", "grim"), "no such player in"),
    ):
        with pytest.raises(UserError, match=words):
            seat_pair(played / "cup", names, Admission(played))


def test_a_run_is_opened_from_beneath_the_folder_alone(tmp_path, monkeypatch):
    opened, outside = tmp_path / "opened", tmp_path / "outside"
    for folder in (opened / "runs" / "a" / "checkpoints" / "000000000007", outside / "b", opened / "cup"):
        folder.mkdir(parents=True)
    (opened / "leads-out").symlink_to(outside)
    monkeypatch.chdir(opened)
    admission, trusted = Admission(opened), Admission(opened, trust=True)
    inside = str(opened / "runs" / "a")
    assert admission.admit("runs/a") == "runs/a"
    assert admission.admit(inside) == inside
    assert admission.admit("runs/a@main") == "runs/a@main"
    assert admission.admit("runs/a", "checkpoints/000000000007") == "runs/a/checkpoints/000000000007"
    assert admission.admit("runs/a", "checkpoints/000000000008") == "runs/a"
    for name in (
        "../outside/b",
        str(outside / "b"),
        "leads-out/b",
        "runs/../../outside/b",
        "..",
        "/",
        "leads-out/b@main",
    ):
        with pytest.raises(
            UserError,
            match="lies outside of the folder that was opened; open one that holds it too, or add --trust",
        ):
            admission.admit(name)
        assert trusted.admit(name) == name
    # Whoever is beside his runs opens a tournament alone.
    beside = Admission(opened, here=outside)
    assert beside.admit(str(outside / "b")) == str(outside / "b")
    with pytest.raises(UserError, match="lies outside of the folder that was opened"):
        Admission(opened, here=opened).admit(str(outside / "b"))
    assert admission.admit("none") is None
    assert admission.admit("no\0file") is None
    monkeypatch.chdir(tmp_path)  # whoever was sent the folder is somewhere else
    assert admission.admit("runs/a") == os.path.join(opened, "runs/a")


def test_a_run_of_a_tournament_is_admitted_first(tmp_path, monkeypatch):
    outside = make_run(tmp_path / "outside" / "a", steps=7)
    cup = tmp_path / "opened" / "cup"
    then, later = (f"checkpoint 00000000000{n} 0123456789abcdef" for n in (7, 9))
    write_tournament(cup, (str(outside), "defect"), (then, "policy defect"))
    with pytest.raises(UserError, match="lies outside of the folder that was opened"):
        seat_pair(cup, (str(outside), "defect"), Admission(tmp_path / "opened"))
    # The file may call it what it likes.
    write_tournament(
        tmp_path / "opened" / "other", (str(outside), "defect"), ("policy mine", "policy defect")
    )
    with pytest.raises(UserError, match="lies outside of the folder that was opened"):
        seat_pair(tmp_path / "opened" / "other", (str(outside), "defect"), Admission(tmp_path / "opened"))
    asked: list[str] = []
    for now, words in ((then, str(outside)), (later, f"{outside}, as it is now")):

        def find(name: str, *_: Any, now: str = now, **__: Any) -> Any:
            asked.append(name)
            return SimpleNamespace(policy=RandomPolicy(), identity=now)

        monkeypatch.setattr("interplay.verbs.pairing.find_contestant", find)
        world, pair = seat_pair(cup, ("defect", str(outside)), Admission(tmp_path))
        assert pair.name == f"defect against {words}"
        assert isinstance(pair.of(1)[0], RandomPolicy)
        world.close()
    assert asked == 2 * [str(outside / "checkpoints" / "000000000007")]  # who it was in the tournament


def test_a_program_needs_trust_whatever_the_file_says_of_it(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(
        "open('it-ran', 'w')\nfrom interplay.core.policy import RandomPolicy as Policy\n"
    )
    (tmp_path / "cup").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = "evil:Policy"
    write_tournament(tmp_path / "cup", (name, "defect"), (f"policy {name}", "policy defect"))
    with pytest.raises(Untrusted, match="evil:Policy"):
        seat_pair(tmp_path / "cup", (name, "defect"), Admission(tmp_path))
    (tmp_path / name).mkdir()  # it looks like a folder now, so it is none that settings have to admit
    with pytest.raises(UserError):
        seat_pair(tmp_path / "cup", (name, "defect"), Admission(tmp_path))
    assert not (tmp_path / "it-ran").exists()


def test_homes_of_merges_do_not_sit_against_each_other(tmp_path):
    (tmp_path / "tournament.toml").write_text('kind = "merge"\n')
    with pytest.raises(UserError, match="no two of them sit"):
        seat_pair(tmp_path, ("a", "b"), Admission(tmp_path))


def test_what_would_be_empty_for_ever_is_refused(tmp_path, played):
    check_shown(find_opened(str(played)), read_only=True)
    check_shown(no_root([WORLD]), read_only=False)
    check_shown(Opened("", tmp_path, worlds=(WORLD,)), read_only=False)
    with pytest.raises(UserError, match="a world to play, and --read-only plays nothing; leave it out"):
        check_shown(no_root([WORLD]), read_only=True)
    folder = tmp_path / "some"
    (folder / "deep").mkdir(parents=True)
    check_shown(Opened("some", folder / "deep"), read_only=False)  # empty yet
    (folder / "deep" / "letter.txt").write_text("dear")
    for read_only in (False, True):
        with pytest.raises(
            UserError, match="some: no run, tournament or recording lies there, 4 folders deep"
        ):
            check_shown(Opened("some", folder), read_only)
    with pytest.raises(UserError, match="this folder: no run"):
        check_shown(Opened("", folder, worlds=(WORLD,)), read_only=True)
    (folder / "deep" / "settings.toml").write_text("")  # training has just begun there
    check_shown(Opened("some", folder), read_only=True)
