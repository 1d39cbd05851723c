"""The checkpoints of other runs that a run names are those that it began with, wherever it goes on; else it is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.seals import canonical, digest, sealed_toml
from interplay.evaluate.lineup import Lineup
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.registry import make_world
from interplay.train.over_machines import values
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.run.copies import fetch
from interplay.train.run.manifest import _checksum, read_manifest
from interplay.train.run.pins import find_player as find_pinned
from interplay.train.run.settings_file import settings_of as settings_in
from interplay.train.settings import TrainSettings
from interplay.train.sweep.plan import SweepSettings, plan
from interplay.train.sweep.sweep import _pinned
from interplay.train.trainer import resume, train, with_checkpoints
from interplay.verbs.pairing import Admission, seat_pair
from interplay.verbs.players import find_player
from interplay.view.run_table import differing_keys, read_row
from tests.train.runs import arrays_of, go_on, short_run

pytestmark = pytest.mark.slow

WORLD = "matrix/rock-paper-scissors"
SMALL = {"ppo": {"rollout": 8, "minibatch": 64}, "train": {"quiet": True, "max_updates": 1}}
OTHER = "runs/other"
FIXED = {"meets": [{"by": "fixed", "play": OTHER, "share": 0.5}, {"by": "self", "share": 0.5}]}
ROADS: dict[str, dict[str, Any]] = {
    "opponents": {
        "sides": {"by": "seat"},
        "opponents": {"any": [{"play": OTHER, "share": 0.75}, {"play": "random", "share": 0.25}]},
    },
    "league": {"league": {"learners": {"main": FIXED}, "period": 128}},
    "evaluate_against": {
        "train": {"evaluate_against": [OTHER], "evaluate_every": 64, "evaluate_episodes": 4}
    },
    "start_from": {"train": {"start_from": OTHER}},
}
NUMBER = "000000000128"  # of the only checkpoint of either other run


def settings_for(road: str | None = None, **own: Any) -> TrainSettings:
    return short_run(WORLD, SMALL, {} if road is None else ROADS[road], **own)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Beside each other: two runs of one length, and runs with the first as runs/other, stopped after one update and after two.

    They began in a folder that is gone.
    """
    folder, began = tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("began")
    for seed in (3, 4):
        train(settings_for(seed=seed), folder / f"seed{seed}")
        assert (folder / f"seed{seed}/checkpoints/{NUMBER}").is_dir()
    shutil.copytree(folder / "seed3", began / OTHER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(began)
        for road in ROADS:
            train(settings_for(road), f"runs/{road}")
        train(settings_for("opponents", train={"max_updates": 2}), "runs/whole")
    shutil.move(began, folder / "tree")
    (folder / "where").write_text(str(began))
    return folder


@pytest.fixture
def began(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the runs began, with all of them, as the working folder."""
    began = Path((kept / "where").read_text())
    shutil.copytree(kept / "tree", began)
    monkeypatch.chdir(began)
    yield began
    monkeypatch.undo()
    shutil.rmtree(began, ignore_errors=True)


def put(kept: Path, seed: int, place: Path = Path(OTHER)) -> None:
    """Another run in the place of the player."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(kept / f"seed{seed}", place)


def pin_of(kept: Path, seed: int) -> str:
    return str(read_manifest(kept / f"seed{seed}/checkpoints/{NUMBER}")["checksum"])[:16]


def pins_in(run: Path | str) -> dict[str, str]:
    return settings_in(latest_checkpoint(run) or "").pins.players


@pytest.mark.parametrize("road", ["opponents", "league", "evaluate_against"])
def test_a_run_does_not_go_on_with_another_checkpoint(kept: Path, began: Path, road: str) -> None:
    """And is left as it was; the refusal names the player, its place and both checkpoints."""
    run = Path("runs") / road
    before = arrays_of(run), (run / "metrics.jsonl").read_bytes()
    put(kept, 4)
    with pytest.raises(UserError) as refusal:
        go_on(run, 2)
    words = str(refusal.value)
    for part in (f"{road}", f"{OTHER}/checkpoints/{NUMBER}", pin_of(kept, 3), pin_of(kept, 4)):
        assert part in words
    assert "\n" not in words
    assert (arrays_of(run), (run / "metrics.jsonl").read_bytes()) == before
    shutil.rmtree(OTHER)
    with pytest.raises(UserError):
        go_on(run, 2)


def test_it_is_not_played_against_another_checkpoint_either(kept: Path, began: Path) -> None:
    found = find_player("runs/opponents")
    assert isinstance(found.policy, Lineup)
    world = make_world(WORLD, 4)
    found.policy.start(world, 1)
    put(kept, 4)
    again = find_player("runs/opponents").policy
    with pytest.raises(UserError, match=pin_of(kept, 3)):
        again.start(world, 1)


@pytest.mark.parametrize("where", ["another working folder", "a copy of the whole tree"])
def test_it_goes_on_from_elsewhere_with_the_same_bits(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Though in that working folder another run has the player's path, or the folder in which the run began holds another."""
    expected = arrays_of(Path("runs/whole"))
    monkeypatch.chdir(tmp_path)
    if where == "another working folder":
        put(kept, 4)
        run = began / "runs/opponents"
    else:
        shutil.copytree(kept / "tree/runs", "runs")
        put(kept, 4, began / OTHER)
        run = Path("runs/opponents")
    assert arrays_of(go_on(run, 2)) == expected
    assert pins_in(run) == {f"{OTHER}/checkpoints/{NUMBER}": pin_of(kept, 3)}


def test_a_folder_with_the_name_of_a_policy_is_not_the_player(kept: Path, began: Path) -> None:
    put(kept, 4, Path("random"))
    assert arrays_of(go_on(Path("runs/opponents"), 2)) == arrays_of(Path("runs/whole"))


def test_another_checkpoint_is_accepted_once(
    kept: Path, began: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = Path("runs/opponents")
    put(kept, 4)
    file = run / "settings.toml"
    file.write_text(file.read_text().replace("max_updates = 1 ", "max_updates = 2 "))
    resume(run, accept_settings=True)
    assert pin_of(kept, 4) in capfd.readouterr().err
    assert pins_in(run) == {f"{OTHER}/checkpoints/{NUMBER}": pin_of(kept, 4)}
    assert arrays_of(run) != arrays_of(Path("runs/whole"))
    put(kept, 3)
    with pytest.raises(UserError):
        go_on(run, 3)


def strip(run: Path) -> None:
    """The run as an earlier version would have written it, which knew no pins."""
    manifest = json.loads((file := (latest_checkpoint(run) or run) / "manifest.json").read_text())
    settings = settings_in(file.parent)
    was = {key: value for key, value in manifest["settings"]["values"].items() if not key.startswith("pins.")}
    manifest["settings"] = {"sha256": digest(was), "values": was}
    file.write_text(json.dumps(manifest | {"checksum": _checksum(manifest)}))
    none = settings.model_copy(update={"pins": type(settings.pins)()})
    lines = sealed_toml(none).splitlines(keepends=True)
    (run / "settings.toml").write_text("".join(lines[: lines.index("[pins]\n")]).partition("\n")[2])


def test_a_run_of_an_earlier_version_gets_its_pin_when_it_goes_on(
    kept: Path, began: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = Path("runs/opponents")
    strip(run)
    assert pins_in(run) == {}
    resume(run)  # writes no checkpoint, so that the newest one has no pin
    assert pin_of(kept, 3) in capfd.readouterr().err
    assert pins_in(run) == {f"{OTHER}/checkpoints/{NUMBER}": pin_of(kept, 3)}
    assert arrays_of(go_on(run, 2)) == arrays_of(Path("runs/whole"))
    assert pin_of(kept, 3) not in capfd.readouterr().err
    put(kept, 4)
    with pytest.raises(UserError):
        go_on(run, 3)


@pytest.mark.parametrize("now", ["0123456789abcdef", None])
def test_an_edited_pin_is_an_edit(kept: Path, began: Path, now: str | None) -> None:
    file = Path("runs/opponents/settings.toml")
    pin = f'"{OTHER}/checkpoints/{NUMBER}" = "{pin_of(kept, 3)}"'
    assert pin in file.read_text()
    file.write_text(file.read_text().replace(pin, "" if now is None else pin.replace(pin_of(kept, 3), now)))
    with pytest.raises(UserError, match=r"settings\.toml was changed"):
        resume("runs/opponents")


def test_first_weights_are_pinned_until_the_run_has_its_own(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Path("runs/start_from")
    put(kept, 4)
    again = shutil.copytree(run, Path("runs/again"))
    shutil.rmtree(OTHER)
    go_on(run, 2)
    put(kept, 4)
    for path in (again / "checkpoints").iterdir():
        shutil.rmtree(path)
    with pytest.raises(UserError, match=r"train\.start_from"):
        resume(again)
    put(kept, 3)
    monkeypatch.chdir(tmp_path)
    resume(began / again)
    assert arrays_of(began / again) == arrays_of(kept / "tree/runs/start_from")


def test_a_rating_added_later_is_pinned_then(
    kept: Path, began: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its run is looked up as the other players are, and another run there later is refused."""
    run = Path("runs/opponents")
    put(kept, 4, Path("runs/rated"))
    file = run / "settings.toml"
    file.write_text(file.read_text().replace("evaluate_against = []", 'evaluate_against = ["runs/rated"]'))
    go_on(run, 2)
    rated = f"runs/rated/checkpoints/{NUMBER}"
    assert pins_in(run)[rated] == pin_of(kept, 4)
    put(kept, 3, Path("runs/rated"))
    with pytest.raises(UserError, match=rated):
        go_on(run, 3)


def test_a_new_run_from_a_settings_file_keeps_its_pins(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its paths are those of a command: from the working folder alone."""
    settings = settings_in(latest_checkpoint("runs/opponents") or "")
    assert with_checkpoints(settings).pins == settings.pins
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        with pytest.raises(UserError, match=pin_of(kept, 3)):
            with_checkpoints(settings)
    put(kept, 4)
    with pytest.raises(UserError, match=pin_of(kept, 3)):
        with_checkpoints(settings)


def test_players_of_a_league_are_pinned_by_its_checkpoint(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And found with the player's name from elsewhere; an absolute path needs no folder."""
    (number,) = (path.name for path in (began / "runs/league/checkpoints").iterdir())
    pin = str(read_manifest(began / "runs/league/checkpoints" / number)["checksum"])[:16]
    settings = with_checkpoints(settings_for(train={"evaluate_against": ["runs/league@main"]}))
    (name,) = settings.train.evaluate_against
    assert (name, settings.pins.players) == (f"runs/league/checkpoints/{number}@main", {name: pin})
    monkeypatch.chdir(tmp_path)
    assert find_pinned(settings.pins, name) == f"{began}/{name}"
    absolute = with_checkpoints(settings_for(train={"evaluate_against": [f"{began}/runs/league@main"]}))
    assert (absolute.pins.folder, absolute.pins.players) == ("", {f"{began}/{name}": pin})


def test_machines_with_other_checkpoints_do_not_begin_together(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = values(with_checkpoints(settings_for("league")))
    monkeypatch.chdir(tmp_path)
    put(kept, 3)
    assert values(with_checkpoints(settings_for("league"))) == here
    put(kept, 4)
    there = values(with_checkpoints(settings_for("league")))
    key = f"pins.players.{OTHER}/checkpoints/{NUMBER}"
    assert {name for name in here if here[name] != there[name]} == {key}


def test_all_runs_of_a_sweep_play_one_checkpoint(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seed that joins later plays that of the first, though its run has trained on; another run in its place is refused."""
    monkeypatch.chdir(tmp_path)
    put(kept, 3)
    asked = {"world": {"id": WORLD}, "seed": 0, **ROADS["opponents"]}
    runs = plan(SweepSettings(settings=asked, seeds=[0, 1, 2]))
    with ResultsLog(Path("sweep.jsonl")) as log:
        first = _pinned(runs[0], log, tmp_path)
    go_on(Path(OTHER), 2)
    assert (latest_checkpoint(OTHER) or Path()).name != NUMBER
    with ResultsLog(Path("sweep.jsonl")) as log:
        second = _pinned(runs[1], log, tmp_path)
        assert second.opponents == first.opponents
        assert second.pins.players == first.pins.players == {f"{OTHER}/checkpoints/{NUMBER}": pin_of(kept, 3)}
        put(kept, 4)
        with pytest.raises(UserError, match=pin_of(kept, 3)):
            _pinned(runs[2], log, tmp_path)


def test_pins_are_no_setting_of_a_planned_run() -> None:
    """A sweep that was begun by a version without pins is the same sweep."""
    (run,) = plan(SweepSettings(settings={"world": {"id": WORLD}}, seeds=[0]))
    values = canonical(run.settings)
    assert run.digest == digest({key: values[key] for key in values if not key.startswith("pins")})


def test_a_copy_fetched_elsewhere_goes_on_where_its_player_lies_as_before(
    kept: Path, began: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    train(settings_for("opponents", train={"copy_to": f"file://{tmp_path}/copies"}), "runs/copied")
    put(kept, 4)
    monkeypatch.chdir(tmp_path)
    run = fetch(f"file://{tmp_path}/copies/copied")
    with pytest.raises(UserError, match=pin_of(kept, 3)):
        go_on(run, 2)
    put(kept, 3)
    assert arrays_of(go_on(run, 2)) == arrays_of(kept / "tree/runs/whole")


def test_runs_differ_in_the_checkpoints_behind_one_name(kept: Path, began: Path) -> None:
    """Runs with players of other names differ in these names alone."""
    put(kept, 4)
    train(settings_for("opponents"), "runs/against4")
    train(settings_for("opponents", opponents={"any": "random"}), "runs/random")
    first, second, third = (read_row(Path("runs") / name) for name in ("opponents", "against4", "random"))
    assert differing_keys([first, second]) == [f"pins.players.{OTHER}/checkpoints/{NUMBER}"]
    assert differing_keys([first, third]) == ["opponents.any"]
    assert first.asked != second.asked


def test_a_match_of_the_page_says_that_the_player_is_another_now(kept: Path, began: Path) -> None:
    names = ["main", f"{OTHER}/checkpoints/{NUMBER}"]

    def called() -> list[str]:
        world, pair = seat_pair(Path("runs/league"), names, Admission(began))
        world.close()
        return [pair.of(slot)[1] for slot in (0, 1)]

    assert called() == names
    put(kept, 4)
    assert called()[0] == names[0]
    assert called()[1] != names[1]
