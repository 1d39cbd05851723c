"""What the verbs hand on to their helpers goes further, to those who play, measure and keep the settings."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.cli import overlays
from interplay.cli.talking_games import Wanted, play_games
from interplay.core.errors import UserError
from interplay.evaluate import EpisodeTable
from interplay.evaluate.communication import games
from interplay.evaluate.tournaments.folder import TournamentFolder
from interplay.evaluate.tournaments.merge import MergeSettings
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings
from interplay.verbs import contestants, tournament_kinds
from tests.cli.test_handing_on import Heard, Stopped, found_player

ROUND = {
    "world": "a/world", "options": {"end": 7}, "matches": 6, "per_match": 3, "seed": 11, "score": "kills",
    "max_steps": 13, "greedy": True,
}  # fmt: skip
MERGE = {
    "world": "a/world", "options": {"end": 7}, "caps": (6, 12), "quota": "per_population", "maps": 3, "seed": 11,
    "window": 21, "horizon": 34, "greedy": True,
}  # fmt: skip


@pytest.fixture
def cast(monkeypatch):
    """Everybody who is named is found; what they were asked with is noted."""
    asked = []

    def find(name, world, greedy=False, merged=False, trust=False):
        asked.append((name, greedy, merged, trust))
        return contestants.Contestant(name, f"policy of {name}", f"identity of {name}", len(asked))

    empty = SimpleNamespace(close=lambda: None, reset=lambda: None, metrics={}, agents=())
    monkeypatch.setattr(tournament_kinds, "open_world", lambda *_, **__: empty)
    monkeypatch.setattr(tournament_kinds, "find_contestant", find)
    return asked


def test_every_setting_of_a_round_robin_is_what_was_asked_for(cast):
    kind = tournament_kinds.round_robin(["a", "b", "c"], ROUND, trust=True)
    settings, policies = kind.run.args
    stands = settings.model_dump()
    assert {key: stands[key] for key in ROUND} == ROUND
    assert stands["players"] == ("a", "b", "c")
    assert stands["identities"] == tuple(f"identity of {name}" for name in "abc")
    assert policies == [f"policy of {name}" for name in "abc"]
    assert cast == [(name, True, False, True) for name in "abc"]


def test_every_setting_of_a_merge_is_what_was_asked_for(cast):
    kind = tournament_kinds.merge(["one=a", "two=b"], MERGE, trust=True)
    settings, policies = kind.run.args
    stands = settings.model_dump()
    assert {key: stands[key] for key in MERGE} == MERGE
    assert (stands["homes"], stands["runs"], stands["populations"]) == (("one=a", "two=b"), (1, 1), (1, 2))
    assert policies == [("policy of a",), ("policy of b",)]
    assert cast == [(name, True, True, True) for name in "ab"]


@pytest.mark.parametrize(
    "settings",
    [
        RoundRobinSettings(**ROUND, players=("a", "b", "c"), identities=("1", "2", "3"), block=5),
        MergeSettings(
            **MERGE,
            homes=("one=a", "two=b"),
            identities=("1", "2"),
            runs=(1, 1),
            populations=(1, 2),
            block=5,
            burn_in=9,
        ),
    ],
)
def test_a_tournament_goes_on_with_every_setting_that_it_began_with(tmp_path, monkeypatch, settings):
    with TournamentFolder(tmp_path / "cup", settings):
        pass
    again = []
    verb = settings.kind.replace(" ", "_")
    monkeypatch.setattr(tournament_kinds, verb, lambda *args, **_: again.append(args))
    tournament_kinds.standing_in(tmp_path / "cup")
    names, values, before = again[0]
    followed = {"players", "homes", "identities", "runs", "populations", "kind"}
    stands = settings.model_dump()
    assert values == {key: value for key, value in stands.items() if key not in followed}
    assert tuple(names) == stands.get("players", stands.get("homes"))
    assert before == settings.identities


def test_a_world_is_measured_as_it_was_asked_for(monkeypatch, tmp_path):
    heard = Heard(monkeypatch)
    heard.put("interplay.verbs.players:find_player", lambda *_, **__: Player(heard))
    heard.put("interplay.evaluate.lineup:players_of", {})
    heard.put("interplay.evaluate.lifetimes.overlays:compute_overlays")
    asked = {"population": 1, "ticks": 21, "burn_in": 34, "seed": 11}
    with pytest.raises(Stopped):
        overlays.analyse_overlays(
            "hunter", ["lives", "combat"], ["npop=3", "maps=4"], tmp_path, world="mmo/forage", num_worlds=9,
            world_seed=8, trust=True, **asked,
        )  # fmt: skip
    assert {key: heard["compute_overlays"][key] for key in asked} == asked
    assert [overlay.name for overlay in heard.at("compute_overlays.overlays")] == ["lives", "combat"]
    assert heard["make_world"] == {"num_worlds": 9, "seed": 11}
    assert heard.at("find_player.options") == {"npop": 3, "maps": 4}
    assert (heard.at("find_player.name"), heard.at("find_player.world")) == ("hunter", "mmo/forage")
    assert heard.at("find_player.trust") is True
    assert heard["options"] == {"npop": 3, "maps": 4, "cap_draw": "fixed", "map_seed": 8}


class Player:
    """Found for any name; notes with which options its world is made."""

    policy, world = SimpleNamespace(), "mmo/forage"

    def __init__(self, heard, options=None):
        self._heard = heard
        self.options = options if options is not None else {"npop": 3, "maps": 4}

    def _replace(self, options):
        self._heard["options"] = dict(options)
        return Player(self._heard, options)

    def make_world(self, num_worlds, seed):
        return found_player(self._heard).make_world(num_worlds, seed)


@pytest.mark.parametrize("typed", [(), ("maps=4",), ("cap_draw=uniform",), ("maps=4", "cap_draw=uniform")])
def test_what_was_typed_of_the_maps_wins_over_what_measuring_would_have(typed):
    own = {"maps": None, "cap_draw": "own", "npop": 2}
    given = own | {word.split("=")[0]: word.split("=")[1] for word in typed}
    found = overlays.on_one_map("mmo/forage", given, typed, world_seed=None)
    for key, alike in overlays.ALIKE.items():
        assert found[key] == (given[key] if key in {word.split("=")[0] for word in typed} else alike)
    assert found["npop"] == 2
    assert "map_seed" not in found
    assert overlays.on_one_map("a/world", own, typed, world_seed=3) == own


def test_games_of_talk_are_played_as_they_were_asked_for(monkeypatch):
    heard = Heard(monkeypatch)
    heard.put("interplay.verbs.players:find_player", lambda *_, **__: talker(heard))
    heard.put("interplay.evaluate.communication.games:reader_of", None)
    heard.put("interplay.evaluate.communication.games:play")
    wanted = Wanted("hunter", "a/world", ("end=7",), "", 70, 9, True, 11, True)
    with pytest.raises(Stopped):
        play_games(wanted, lambda *_: None)
    given = {"name": "hunter", "world": "a/world", "options": {"end": 7}, "greedy": True, "trust": True}
    assert {key: heard["find_player"][key] for key in given} == given
    assert heard["make_world"] == {"num_worlds": 9, "seed": 11}
    assert (heard.at("play.episodes"), heard.at("play.seed")) == (70, 11)


@pytest.mark.parametrize("arms", [None, ["talk_off"]])
def test_arms_are_played_on_the_games_that_were_asked_for(monkeypatch, arms):
    heard = Heard(monkeypatch)
    heard.put("interplay.evaluate.communication.games:ablate")
    heard.put("interplay.evaluate.communication.games:fitting_arms", ("signals_off",))
    table = EpisodeTable("a/world", "hunter", 11, (), {"steps": np.ones(70), "days": np.ones(70)})
    world = SimpleNamespace(settings=SimpleNamespace(arm="full"))
    played = games.Played(None, table=table, world=world)
    with pytest.raises(Stopped):
        games.play_arms(played, None, None, arms, "days")
    asked = {"episodes": 70, "metric": "days", "seed": 11, "arms": arms or ["signals_off"]}
    assert {key: heard["ablate"][key] for key in asked} == asked
    assert heard.at("ablate.normal") is played.table


def talker(heard):
    found = found_player(heard)
    make = found.make_world

    def make_world(num_worlds, seed):
        make(num_worlds, seed)
        return SimpleNamespace(population_names=("a",), num_populations=1, id="a/world")

    found.make_world = make_world
    found.policy = SimpleNamespace(name="hunter")
    return found


def test_a_run_that_cannot_read_the_world_is_told_what_it_knew_and_what_it_meets(monkeypatch):
    """The first world is the run's own, the second the tournament's."""
    own = SimpleNamespace(num_populations=1, close=lambda: None)
    met = SimpleNamespace(id="b/world")
    trained = SimpleNamespace(world=SimpleNamespace(id="a/world", options={}))
    monkeypatch.setattr(contestants, "_settings_of", lambda *_: trained)
    monkeypatch.setattr("interplay.train.run.checkpoint.find_checkpoint", lambda name: Path(name))
    fake = SimpleNamespace(load_policy=lambda *_, **__: None)
    monkeypatch.setattr("interplay.verbs.trainer.load_trainer", lambda: fake)
    monkeypatch.setattr("interplay.registry.make_world", lambda *_, **__: own)
    told = {}

    def problem(trained, asked):
        told.update(trained=trained, asked=asked)
        return "it was A and is B"

    monkeypatch.setattr("interplay.evaluate.tournaments.layouts.layout_problem", problem)
    with pytest.raises(UserError, match=r"it was A and is B \(a/world against b/world\)"):
        contestants._trained("runs/a", met, False, False)
    assert (told["trained"], told["asked"]) == (own, met)
