"""What a picture of a game shows: rows of the layers against the state, and pictures that are there whole."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy
from interplay.view import palette
from interplay.view.picture import render
from interplay.view.video import play, record
from interplay.worlds.werewolf import render as drawing
from interplay.worlds.werewolf.drawing import arrows, panels, words
from interplay.worlds.werewolf.state import BY_TEETH, BY_VOTE
from tests.view.colour_blindness import SIGHTS, contrast, distance
from tests.worlds.werewolf.hand_made import DAY_EXECUTION, DAY_TALK, NIGHT_KILL, NIGHT_TALK, Game, drawn

VILLAGE = ["villager", "villager", "werewolf", "villager", "villager", "seer"]


def day() -> Game:
    """A vote: 0 and 1 name 3, who names itself; 2 names 0; 5 was eaten before, 3 is executed."""
    game = Game(VILLAGE, signal_length=2, signal_range=12).played(DAY_EXECUTION, NIGHT_TALK)
    game.board({0: 3, 1: 3, 2: 0, 3: 3, 4: -1}, {0: (1, 11), 1: (0, 0), 2: (7, 3), 3: (2, 2), 4: (5, 6)})
    game.died(5, BY_TEETH, step=2).died(3, BY_VOTE)
    game.room["chosen"] = 3
    return game


def test_seats_stand_in_a_ring_and_do_not_touch():
    for n in (3, 9, 21, 32, 44, 45, 64, 256):
        for length in (0, 1, 9, 21):
            table, layout = drawing.arrange(n, length, False)
            place = np.stack([table.x, table.y], axis=1)
            apart = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1)) + 9.0 * np.eye(n)
            assert apart.min() > 2.0 * table.radius, (n, length)
            assert (place[0] == [place[:, 0].mean().round(6), place[:, 1].min()]).any()
            assert ((place - table.radius) > (0, panels.TOP)).all()
            assert ((place + table.radius) < (panels.WIDTH, panels.BOTTOM)).all()
            assert layout.shown <= length


@pytest.mark.parametrize("n", [3, 5, 9, 13, 21, 32])
@pytest.mark.parametrize("length", [1, 3, 9, 21])
def test_words_cover_neither_discs_nor_each_other(n, length):
    table, layout = drawing.arrange(n, length, False)
    x, y = drawing.beside(table, layout.width, layout.height, drawing.CLEAR, *drawing.PAGE)
    half = np.array([layout.width, layout.height]) / 2
    for a in range(n):
        assert abs(x[a] - panels.WIDTH / 2) + half[0] <= panels.WIDTH / 2
        assert y[a] - half[1] >= panels.TOP
        assert y[a] + half[1] <= panels.BOTTOM
        nearest = np.maximum(np.abs([table.x - x[a], table.y - y[a]]) - half[:, None], 0)
        assert (np.hypot(*nearest) > table.radius).all(), a
    for a, b in combinations(range(n), 2):
        assert abs(x[a] - x[b]) > 1.9 * half[0] or abs(y[a] - y[b]) > 1.9 * half[1], (a, b)


def test_arrows_lead_from_each_seat_to_whom_it_named():
    scene = day().scene()
    assert np.flatnonzero(drawn(scene, "names")).tolist() == [2]
    assert np.flatnonzero(drawn(scene, "names of the chosen")).tolist() == [0, 1]
    assert np.flatnonzero(drawn(scene, "own names")).tolist() == [3]
    table, _ = drawing.arrange(6, 2, False)
    arrow = scene.layer("names").columns
    corners = np.stack([arrow["x"][2], arrow["y"][2]], axis=1)
    for seat, tolerance in ((2, 1.1), (0, 1.2)):
        away = np.hypot(corners[:, 0] - table.x[seat], corners[:, 1] - table.y[seat]).min()
        assert 0.9 * table.radius < away < tolerance * table.radius, seat
    wide = np.hypot(
        *(corners - corners[::-1]).T
    )  # an arrow is symmetric, so these are its widths from the start to the tip
    assert wide.max() > 2 * wide[0], "the head shows the direction"
    assert wide.argmax() > len(wide) // 2 - 3
    others = [np.hypot(corners[:, 0] - table.x[s], corners[:, 1] - table.y[s]).min() for s in (1, 3, 4, 5)]
    assert min(others) > table.radius


def test_no_arrow_runs_through_a_seat_that_is_neither_end():
    for n in (9, 21, 32):
        table, _ = drawing.arrange(n, 3, False)
        for step in range(2, n - 1):
            name = (np.arange(n) + step) % n
            x, y = arrows.outlines(table, name, drawing.MIDDLE, 0.1 * table.radius)
            for seat in range(n):
                away = np.hypot(x - table.x[seat], y - table.y[seat]).min(axis=1)
                others = (np.arange(n) != seat) & (name != seat)
                assert away[others].min() > 0.95 * table.radius, (n, step, seat)


def test_words_are_chips_with_their_symbols_numbers():
    scene = day().scene()
    chips = scene.layer("word").columns
    assert drawn(scene, "word").reshape(6, 2).all(axis=1).tolist() == [True] * 5 + [False]
    assert scene.layer("symbols").text[:4] == ("1", "11", "0", "0")
    shades = [tuple(colour) for colour in chips["rgb"][:6].tolist()]
    assert shades[:4] == [palette.rgb(words.SYMBOLS[number]) for number in (1, 11 % 9, 0, 0)]
    table, _ = drawing.arrange(6, 2, False)
    first, second = chips["x"][:2]
    assert first < second
    assert (first + second) / 2 == pytest.approx(table.x[0])


def test_a_word_that_has_no_room_is_cut_and_says_by_how_much():
    game = Game(["werewolf", *["villager"] * 20], signal_length=60).played(DAY_TALK, DAY_EXECUTION)
    game.board({0: 1}, {0: np.arange(60) % 9})
    scene = game.scene()
    shown = scene.layer("word").rows // 21
    assert 5 < shown < 60
    assert scene.layer("rest").text[0] == f"+{60 - shown}"
    assert np.flatnonzero(drawn(scene, "rest")).tolist() == [0]


def test_the_dead_are_rings_with_their_fate_and_the_chosen_is_marked():
    scene = day().scene()
    assert np.flatnonzero(~drawn(scene, "agents")).tolist() == [3, 5]
    assert np.flatnonzero(drawn(scene, "dead")).tolist() == [3, 5]
    assert np.flatnonzero(drawn(scene, "chosen")).tolist() == [3]
    assert scene.layer("fates").text == ("", "", "", "executed", "", "eaten")
    assert np.flatnonzero(drawn(scene, "fates")).tolist() == [5]  # 3 still has its word there
    assert scene.layer("events").text == ("seat 3 is executed",)


def test_the_tally_counts_votes_and_says_what_they_are():
    game = day()
    scene = game.scene()
    assert scene.layer("tally counts").text == ("1", "", "", "3", "", "")
    high = scene.layer("tally").columns["half_y"]
    assert high[3] == pytest.approx(3 * high[0])
    assert scene.layer("tally title").text == ("votes", "5 of 5 spoke")
    game.played(DAY_TALK, DAY_EXECUTION)
    assert game.scene().layer("tally title").text[0] == "named in talk"


def test_bars_of_the_tally_and_their_counts_do_not_glide():
    for name in ("tally", "tally counts"):  # a bar's height does not, and its foot would leave the ground
        assert day().scene().layer(name).columns["jump"].all(), name


def test_roles_are_drawn_where_they_are_known():
    public, privileged = day().scene(), day().scene(privileged=True)
    assert not drawn(public, "roles").any()
    assert (public.layer("agents").columns["rgb"] == 255).all()
    assert privileged.layer("roles").text == ("v", "v", "W", "v", "v", "s")
    assert np.flatnonzero(drawn(privileged, "badges")).tolist() == [2]
    assert len(np.unique(privileged.layer("agents").columns["rgb"], axis=0)) == 2
    ended = day().over(0).scene()
    assert ended.layer("roles").text == privileged.layer("roles").text
    assert ended.layer("middle").text == ("the villagers win",)


def test_night_is_dark_and_tells_who_was_eaten():
    game = Game(VILLAGE).played(NIGHT_KILL, DAY_TALK, day=1).died(0, BY_TEETH)
    scene = game.scene()
    sky = [game.scene().layer("sky").columns["rgb"][0].sum() for game in (day(), game)]
    assert sky[1] < 0.5 * sky[0]
    assert scene.layer("heading").text == ("day 1, night kill", "5 of 6 live   ·   next: day talk")
    assert scene.layer("events").text == ("seat 0 is eaten",)
    assert scene.layer("middle").text == ("the village sleeps",)


def test_suspects_of_a_new_vote_wear_a_ring():
    game = day()
    game.state.suspect[0, [0, 2]] = True
    assert not game.scene().layer("agents").columns["mark.suspect"].any()  # left over from an earlier vote
    game.room["stage"] = 1
    assert np.flatnonzero(game.scene().layer("agents").columns["mark.suspect"]).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("world_id", "options"),
    [
        ("werewolf/9-l1s9", {}),
        ("werewolf/multi-round", {}),
        ("werewolf/aiwolf13", {"claims": True, "signal_length": 3, "ballot_len": 4, "reveal_role": True}),
        ("werewolf/21-l21s21", {"n_players": 50, "max_days": 2}),
    ],
)
@pytest.mark.parametrize("privileged", [False, True])
def test_all_frames_have_the_same_layers(world_id, options, privileged):
    world = interplay.make_world(world_id, **options)
    world.privileged_view = privileged
    first, *others = [scene for scene, _, _ in play(world, RandomPolicy(), max_steps=16)]
    for scene in others:
        scene.check_follows(first)
        assert [layer.rows for layer in scene.layers] == [layer.rows for layer in first.layers]
    assert render(others[-1], (300, 200), 1).shape == (200, 300, 3)


@pytest.mark.parametrize("n", [3, 256])
def test_the_smallest_and_the_largest_village_can_be_drawn(n):
    game = Game(["werewolf", *["villager"] * (n - 1)], signal_length=2, first_phase="day_talk")
    game.played(DAY_TALK, DAY_EXECUTION).board({seat: (seat + 1) % n for seat in range(n)}, {1: (1, 2)})
    picture = render(game.scene(), (450, 300), 1)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


def test_a_game_becomes_a_film_at_reading_pace_and_a_picture_of_any_step(tmp_path):
    av = pytest.importorskip("av")
    world = interplay.make_world("werewolf/6")
    path = record(world, RandomPolicy(), tmp_path / "game.mp4", size=(180, 120), frames=3)
    steps = int(world.state.stream[0, 2])
    with av.open(str(path)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 3 * (steps + 1) + 19
    for step in (0, steps):
        record(world, RandomPolicy(), tmp_path / f"{step}.png", step=step)
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / f"{steps}.png").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"game.mp4", "0.png", f"{steps}.png"}


@pytest.mark.parametrize("sight", SIGHTS)
def test_symbols_can_be_told_apart_and_their_numbers_read(sight):
    assert words.SYMBOLS[: len(palette.POPULATIONS)] == palette.POPULATIONS
    least = min(combinations(words.SYMBOLS, 2), key=lambda pair: distance(*pair, sight))
    assert distance(*least, sight) > 10, least
    for number, colour in enumerate(words.SYMBOLS):
        ink = palette.PAPER if number in words.LIGHT_INK_ON else palette.INK
        assert contrast(ink, colour) > 3.9, colour
    assert palette.rgb(palette.INK) == words.INK


@pytest.mark.parametrize("sight", SIGHTS)
def test_what_colours_tell_can_be_told_apart(sight):
    teams = [panels.TEAM_PAINT[team] for team in (0, 1)]
    assert set(teams) <= set(palette.POPULATIONS)
    assert distance(*teams, sight) > 40
    for night in (0, 1):
        grounds = (drawing.SKY[night], drawing.WOOD[night])
        for ground in grounds:
            assert distance(arrows.ARROW[night], ground, sight) > 30
            assert distance(arrows.CHOSEN[night], ground, sight) > 30
            assert distance(palette.PAPER, ground, sight) > 6
        assert contrast(drawing.GONE[night], drawing.SKY[night]) > 2.5
    assert distance(drawing.SKY[0], drawing.SKY[1], sight) > 50
