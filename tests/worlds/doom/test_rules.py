"""Pure functions of Doom against numbers worked by hand (specification 7)."""

import struct
import types
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core.errors import MissingExtraError, UserError
from interplay.registry import make_world
from interplay.worlds.doom import batch
from interplay.worlds.doom.buttons import ACTION_SETS, buttons_of, press_table
from interplay.worlds.doom.config import COMPONENTS, VARIANTS, DoomSettings
from interplay.worlds.doom.engine import CIG_2017, CURE, add_bots, enemies_of, find_map, lumps_of, missing
from interplay.worlds.doom.observe import allocate
from interplay.worlds.doom.outcome import outcomes, place_values, rounded
from interplay.worlds.doom.player import Player
from interplay.worlds.doom.render import GAP, keys_of, side_by_side
from interplay.worlds.doom.rewards import enter_room, reward_vector
from interplay.worlds.doom.variables import COLUMN, scaled
from interplay.worlds.doom.world import DoomWorld, _frags_of_bots

SEVEN, SIX = ACTION_SETS["discrete7"], ACTION_SETS["trained6"]
ATTACK, LEFT, RIGHT, _, _, FORWARD, BACKWARD = range(7)


def test_a_reordered_list_of_buttons_gives_the_same_presses():
    buttons = (
        "attack",
        "turn_left",
        "turn_right",
        "move_right",
        "move_left",
        "move_forward",
        "move_backward",
    )
    table, other = press_table(SEVEN, buttons), press_table(SEVEN, buttons[::-1])
    assert table == np.eye(7).tolist()
    assert [held[::-1] for held in other] == table


def held_in_a_life(chosen, actions="discrete7", **options):
    """The buttons that a player holds after each of its choices: name -> value."""
    settings = DoomSettings(actions=actions, post_rules=True, **options)
    player, buttons = new_player(settings), buttons_of(settings)
    world = SimpleNamespace(settings=settings, _plain=False, _choices=ACTION_SETS[actions], _buttons=buttons)
    held = [DoomWorld._held(world, player, choice) for choice in chosen]
    return [{name: value for name, value in zip(buttons, row, strict=True) if value} for row in held]


def test_the_fourth_equal_turn_running_is_a_turn_by_degrees_with_its_sign():
    plain, turned = {"turn_left": 1}, {"turn_left_right_delta": -10}  # in each of two tics
    assert held_in_a_life([LEFT] * 9) == [plain] * 3 + [turned] * 6
    assert held_in_a_life([RIGHT] * 4, frames=5)[-1] == {"turn_left_right_delta": 4}
    assert held_in_a_life([LEFT, LEFT, RIGHT, LEFT, LEFT, LEFT])[-1] == plain


def test_every_sixteenth_equal_move_turns_round_however_long_a_life_lasts():
    held = held_in_a_life([BACKWARD, *[FORWARD] * 200])
    assert [n for n, one in enumerate(held) if one == {"turn180": 1}] == list(range(16, 201, 16))
    assert held_in_a_life([BACKWARD] * 16)[-1] == {"move_backward": 1}


def test_speed_is_dropped_for_three_decisions_after_a_shot():
    forward, attack, side = SIX.index(("move_forward", "speed")), SIX.index(("attack",)), 2
    for since in range(6):
        held = held_in_a_life([attack, *([side, side + 1] * 3)[:since], forward], "trained6")[-1]
        assert ("speed" in held) == (since >= 3), since


def test_training_of_navigation_moves_to_the_side_instead_of_shooting():
    assert held_in_a_life([ATTACK], navigate=True) == [{"move_right": 1}]


def test_places_of_a_match_and_the_mean_of_equal_ones():
    assert place_values(4).tolist() == [1, 0, -1, -1]
    assert place_values(3).tolist() == [1, 0, -1]
    assert outcomes(np.array([2, 2])).tolist() == [0, 0]
    assert outcomes(np.array([-1, 4])).tolist() == [-1, 1]
    # Places 1 to 8: 9, 7, 7, 5, 5, 5, 1, 0 -> 1 | 1, 0 | 0, 0, -1 | -1 | -1.
    given = outcomes(np.array([5, 9, 7, 5, 0, 7, 5, 1]))
    assert given.tolist() == pytest.approx([-1 / 3, 1, 0.5, -1 / 3, -1, 0.5, -1 / 3, -1])


@pytest.mark.parametrize("sides", [2, 3, 8])
def test_whatever_ties_there_are_the_values_keep_their_sum(sides):
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert outcomes(rng.integers(0, 4, sides)).sum() == pytest.approx(place_values(sides).sum())


def test_shared_places_are_won_above_a_half_and_lost_below_minus_a_half():
    for frags, result in (
        ([2, 1, 1, 0, 0, 0, 0, 0], [1, 0, 0, -1, -1, -1, -1, -1]),
        ([1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, -1, -1, -1, -1, -1]),
        ([1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0]),
    ):
        given = rounded(outcomes(np.array(frags)))
        assert given.tolist() == result
        assert not np.signbit(given[given == 0]).any()


def test_frags_of_bots_are_those_of_no_player():
    numbers, of_all = (0, 2), {f"frags_{n + 1}": frags for n, frags in enumerate((5, 7, -1, 3, 9))}
    players = [SimpleNamespace(values=variables(number=number, **of_all)) for number in numbers]
    match, settings = SimpleNamespace(players=players), DoomSettings(players=2, bots=2)
    assert _frags_of_bots(match, settings) == [7, 3]


def test_the_outcome_goes_by_the_frags_of_the_episode_as_the_metric_does():
    players = [new_player(DoomSettings(players=2)) for _ in range(2)]
    for number, (first, last) in enumerate(((0, 3), (4, 5))):
        players[number].first = variables(frags=first)
        players[number].values = variables(frags=last, number=number)
    world = SimpleNamespace(
        settings=DoomSettings(players=2, reward="engine"),
        _matches=[SimpleNamespace(players=players)],
        _outcome=np.zeros((1, 2)),
    )
    DoomWorld._rank(world, 0)
    assert [player.gained("frags") for player in players] == [3, 1]
    assert world._outcome.tolist() == [[1, -1]]


def test_a_match_gets_as_many_bots_as_were_asked_for():
    sent: list[str] = []
    add_bots(SimpleNamespace(send_game_command=sent.append), 2)
    assert sent == ["removebots", "addbot", "addbot"]


def test_enemies_are_monsters_and_players_and_nothing_else():
    categories = ("Gore", "Monster", "Self", "Player", "Weapon")
    labels = [SimpleNamespace(value=51 * n, object_category=name) for n, name in enumerate(categories)]
    shown = np.array([[0, 51], [102, 153], [204, 7]], np.uint8)
    state = SimpleNamespace(labels=labels, labels_buffer=shown)
    assert enemies_of(state).tolist() == [[0, 255], [0, 255], [0, 0]]
    labels[0].object_category = "Monster"  # of 255 things the engine gives one the value of nothing
    assert enemies_of(state).tolist() == [[0, 255], [0, 255], [0, 0]]


def variables(**given: float) -> list[float]:
    row = [0.0] * len(COLUMN)
    for name, value in given.items():
        row[COLUMN[name]] = value
    return row


def new_player(settings: DoomSettings) -> Player:
    return Player(settings, {name: array[0, 0] for name, array in allocate(settings, 1).items()})


def label(name: str, left: int = 0, wide: int = 6, place: tuple[float, float] = (0.0, 0.0)):
    x, y = place
    return SimpleNamespace(
        value=1,
        object_name=name,
        object_category=name,
        x=left,
        width=wide,
        object_position_x=x,
        object_position_y=y,
    )


@pytest.mark.parametrize(
    ("option", "shown", "held"),
    [
        (
            "avoid_barrel",
            label("ExplosiveBarrel", 78, 4, (400, 343.9)),
            True,
        ),  # middle column 80; from 400, 200
        (
            "avoid_barrel",
            label("ExplosiveBarrel", 78, 4, (400, 344)),
            False,
        ),  # its blast ends before the player
        ("avoid_barrel", label("ExplosiveBarrel", 78, 1, (400, 300)), False),
        ("avoid_barrel", label("ExplosiveBarrel", 81, 4, (400, 300)), False),
        ("avoid_barrel", label("ExplosiveBarrel", 80, 4, (501, 301)), True),
        ("avoid_barrel", label("ExplosiveBarrel", 80, 4, (502, 302)), False),
        ("avoid_barrel", label("Monster", 78, 4, (400, 300)), False),
        ("suppress_fire", label("Monster"), False),
        ("suppress_fire", label("Player"), False),
        ("suppress_fire", label("ExplosiveBarrel"), True),
        ("labels", label("ExplosiveBarrel", 78, 4, (400, 300)), False),
    ],
)
def test_which_pictures_hold_a_shot_back(option, shown, held):
    settings = DoomSettings(**{"labels": True, option: True})
    player = new_player(settings)
    empty = np.zeros((120, 160), np.uint8)
    state = SimpleNamespace(
        screen_buffer=np.zeros((120, 160, 3), np.uint8),
        game_variables=np.array(variables(x=400, y=200)),
        labels=[shown],
        labels_buffer=empty,
        depth_buffer=None,
        automap_buffer=None,
    )
    player.game = SimpleNamespace(get_state=lambda: state)
    player.read()
    assert player.holds_fire == held


@pytest.mark.parametrize(
    ("before", "after", "paid"),
    [
        ({"frags": 1}, {"frags": 2}, {"kill": 1}),
        ({"kills": 1}, {"kills": 3}, {"kill": 1}),
        ({"frags": 1}, {"frags": 0}, {"lost_frag": -1}),
        ({"ammo": 9}, {"ammo": 8}, {"wasted_shot": -1}),
        ({"ammo": 9}, {"ammo": 8, "hits": 1}, {"hit": 1}),
        ({"ammo": 9}, {"ammo": 14}, {"ammo": 1}),
        ({"ammo": 9}, {"ammo": 12}, {}),
        ({"health": 60}, {"health": 65}, {}),
        ({"health": 60}, {"health": 85}, {"heal": 1}),
        ({"health": 60}, {"health": 86}, {}),
        ({"health": 60}, {"health": 50, "hits_taken": 1}, {"hit_taken": -1}),
        ({}, {"armour": 5}, {"armour": 1}),
        ({}, {"x": 3, "y": 4}, {"movement": 0.001}),
        ({}, {"x": 3, "y": 4, "hits_taken": 1}, {"movement": -0.0005, "hit_taken": -1}),
        ({}, {"x": 0.7}, {"movement": -0.0005}),
    ],
)
def test_each_component_of_the_reward(before, after, paid):
    given = reward_vector(variables(**before), variables(**before | after), True)
    wanted = {"movement": -0.006} | paid  # of a player that stands
    assert dict(zip(COMPONENTS, given, strict=True)) == {name: wanted.get(name, 0) for name in COMPONENTS}


def test_a_dead_player_is_paid_for_frags_and_hits_alone():
    before, after = (
        variables(health=40, ammo=9),
        variables(health=-999_900, ammo=8, frags=-1, hits_taken=1, x=9),
    )
    given = reward_vector(before, after, False)
    assert {n: v for n, v in zip(COMPONENTS, given, strict=True) if v} == {
        "lost_frag": -1,
        "hit_taken": -1,
    }


def test_a_room_counts_once_until_all_were_entered():
    seen: set[tuple[int, int]] = set()
    assert [enter_room(seen, x, 0) for x in (10, 500, 513, 20, -1)] == [True, False, True, False, True]
    entered = [enter_room(seen, 512 * n, 0) for n in range(17)]
    assert entered == [False, False, *[True] * 15]
    assert not seen  # 18 rooms were entered
    assert enter_room(seen, 10, 0)


def test_observed_variables_stay_in_their_space():
    rows = [variables(health=200, ammo=50), variables(health=-999_900), variables(health=50, ammo=3)]
    assert [scaled(row, ("health", "ammo")) for row in rows] == [[1, 1], [0, 0], [0.5, pytest.approx(0.2)]]


def test_arrows_turn_and_letters_step_to_their_own_side():
    wanted = {"ArrowLeft": "turn left", "ArrowRight": "turn right", "a": "move left", "d": "move right"}
    keys = keys_of(DoomSettings()).keys
    assert {key: keys[key]["action"] for key in wanted} == wanted


def test_screens_stand_side_by_side():
    screens = np.arange(1, 4, dtype=np.uint8)[:, None, None, None] * np.ones((3, 6, 8, 1), np.uint8)
    sheet = side_by_side(screens)
    assert sheet.shape == (2 * 6 + GAP, 2 * 8 + GAP, 3)
    assert (sheet[:6, 8 + GAP :] == 2).all()
    assert (sheet[6 + GAP :, :8] == 3).all()


@pytest.mark.parametrize(
    "options",
    [
        {"actions": "buttons", "post_rules": True},
        {"buttons": ("attack", "attack")},
        {"variables": ()},
        {"resolution": "120x160"},
        {"weights": (1.0,)},
        {"wad": "/nowhere/mine.wad"},
        {"level": "map77"},
        {"suppress_fire": True},
        {"suppress_fire": True, "enemies": True, "no_cheat": True},
        {"avoid_barrel": True},
        {"players": 1, "map": "basic", "no_cheat": True},
        {"players": 1, "map": "basic", "respawn_delay": 0},
        {"map": "basic"},
        {"map": "basic", "players": 1, "bots": 1},
        {"players": 3},
        {"bots": 1},
        {"players": 1, "bots": 2},
        {"players": 1, "bots": 1, "map": "deathmatch"},
    ],
)
def test_wrong_options_are_one_line(options):
    with pytest.raises(UserError) as raised:
        make_world("doom/duel", **options)
    assert "\n" not in str(raised.value)


def test_options_that_the_engine_reads_are_accepted():
    DoomSettings(respawn_delay=0)  # the maps of death matches are hosted for one player too
    DoomSettings(map="basic", wad="mine.wad", players=2, respawn_delay=0, no_cheat=True)
    DoomSettings(map="duel", players=1, bots=1)
    DoomSettings(map="deathmatch", players=8)
    DoomSettings(map="deathmatch", wad="mine.wad", bots=7)


def test_levels_are_read_from_a_map_file_and_a_broken_one_is_refused(tmp_path):
    """The engine would play another map without a word."""
    parts = b"".join(struct.pack("<ii8s", 12, 0, name) for name in (b"MAP01", b"MAP07", b"THINGSXY"))
    whole = struct.pack("<4sii", b"PWAD", 3, 12) + parts
    file = tmp_path / "own.wad"
    file.write_bytes(whole)
    assert lumps_of(file) == {"MAP01", "MAP07", "THINGSXY"}
    assert find_map(DoomSettings(wad=str(file), level="map07")) == str(file)
    with pytest.raises(UserError, match="no level map02"):
        find_map(DoomSettings(wad=str(file), level="map02"))
    for broken in (b"", bytes(4_000), whole[:-1], struct.pack("<4sii", b"PWAD", -1, -1) + parts):
        file.write_bytes(broken)
        with pytest.raises(UserError, match=r"no whole \.wad file"):
            find_map(DoomSettings(wad=str(file), level="map07"))


def test_the_map_of_the_competition_is_named_with_its_cure():
    with pytest.raises(UserError) as raised:
        make_world("doom/deathmatch", wad="cig2017.wad")
    assert str(raised.value) == CIG_2017


def test_engines_that_take_long_to_start_are_counted_aloud(monkeypatch, capsys):
    class Slow:
        def __init__(self, looks):
            self.looks = looks

        def wait(self):
            self.looks -= 1
            return self.looks < 0

    monkeypatch.setattr(batch, "AFTER", -1.0)
    batch._wait_for([Slow(1), Slow(0), Slow(2)])
    said = [f"interplay: doom: {number} of 3 matches have started" for number in (0, 2, 2)]
    assert capsys.readouterr().err.splitlines() == said


def test_a_missing_or_old_engine_is_named_with_its_cure(monkeypatch):
    found = [types.SimpleNamespace(version="1.2.4")]
    monkeypatch.setattr("interplay.worlds.doom.engine.distributions", lambda name: found)
    assert "1.2.4" in missing()
    with pytest.raises(MissingExtraError, match=r"1\.2\.4"):
        make_world("doom/duel")
    found.clear()
    assert missing() == CURE
    with pytest.raises(MissingExtraError) as raised:
        make_world("doom/duel", wad="mine.wad")
    assert str(raised.value) == CURE


def test_height_and_width_are_not_swapped():
    assert DoomSettings(**VARIANTS["basic"], resolution="320x240").size == (240, 320)
