"""Refusals of the viewer, its pictures and its curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.policy import RandomPolicy
from interplay.core.scene import Canvas
from interplay.evaluate.lifetimes.overlays import Layer
from interplay.view.comparison import compare
from interplay.view.crop import Crop
from interplay.view.curves import choose_axis, plot_runs, published, split
from interplay.view.encode import write_video
from interplay.view.figures import figure_look
from interplay.view.managed import Stage
from interplay.view.output import check_output
from interplay.view.picture import render, render_world
from interplay.view.run_log import read_run
from interplay.view.server.heads import Heads
from interplay.view.server.overlay_frames import cells_of
from interplay.view.server.play import Cast, Play
from interplay.view.video import record
from studies.field_picture import plot_field
from tests.refusals import Silent, case, refuses
from tests.view.scenes import TextWorld, WalkWorld
from tests.view.server.tables import EVERY
from tests.view.server.test_playing import Street
from tests.view.test_crop import scene
from tests.view.test_curves import make_run, make_teams
from tests.view.test_field import WALLS, field
from tests.view.test_picture import square


def logged(text, *, folder):
    (folder / "metrics.jsonl").write_text(text)
    read_run(folder)


def drawn(columns=(), out="c.png", folder=None, **options):
    plot_runs([make_run(folder / "a")], folder / out, columns=columns, **options)


def parted(worlds, name, by, *, folder):
    split([read_run(make_teams(folder / str(i), world)) for i, world in enumerate(worlds)], [name], by)


def along(axis, *, folder):
    choose_axis([read_run(make_run(folder / "a"))], (), axis)


def beside_a_published_curve(*, folder):
    run = make_run(folder / "a")
    (run / "metrics.jsonl").write_text('{"agent_steps": 1, "slot_steps": 4}\n{"agent_steps": 2}\n')
    choose_axis([read_run(run)], published("survival/1v1-heals-low"))


def filmed(name, *, folder, world=None, **options):
    record(world or WalkWorld(), Silent(), folder / name, **options)


def pictured_field(moves, name="a.png", marks=None, *, folder):
    plot_field(moves, WALLS, folder / name, *([] if marks is None else [marks]))


def checked(name, *, folder):
    (folder / "folder.png").mkdir()
    check_output(folder / name, (".png",))


def no_agents():
    canvas = Canvas((0, 0, 9, 9))
    canvas.tiles("ground", np.zeros((9, 9), int))
    Crop(0)(canvas.scene())


def one_of_a_batch():
    world = WalkWorld(num_worlds=2)
    world.reset(seeds=0)
    render_world(world, 2)


def chosen(given, space=EVERY):
    legal = np.ones(13 if space is EVERY else 0, bool)
    legal[4:5] = False
    Heads(space).read(given, legal)


def named(**names):
    world = Street()
    world.action_names = names
    Play(Cast(world, RandomPolicy(), "random"))


def layer(values, form):
    cells_of(Layer("n", "n", values, form, "diverging", "n", "N.", (0, 1)))


def without_end(name, *, folder):
    world = WalkWorld(length=10**9)
    world.persistent = True
    filmed(name, world=world, folder=folder)


NAN, TEAMS, DUEL = float("nan"), "survival/2v2-all-low", "survival/1v1-heals-low"
OWN = ("given/CartPole-v1", "my.module:World", "")
BOX, WHOLE = spaces.Box(-np.inf, np.inf, (1,), np.float32), spaces.Box(0, 5, (1,), np.int64)
WIDE = spaces.Box(-(2**63), 2**63 - 1, (1,), np.int64)
REFUSED = [
    *(case("nothing logged yet", logged, text) for text in ("", '{"agent_steps": 1')),
    case("line 2 is damaged", logged, '{"agent_steps": 1}\n{broken}\n{"agent_steps": 2}\n'),
    case("no JSON object", logged, "[1]\n"),
    *(
        case("without agent_steps", logged, f"{{{keys}}}\n")
        for keys in ('"loss": 1.0', '"agent_steps": true')
    ),
    case("line 2: agent_steps = 2e", logged, '{"agent_steps": 1}\n{"agent_steps": 2e99}\n'),
    case("line 1: agent_steps = -1", logged, '{"agent_steps": -1}\n'),
    case("line 3: agent_steps fall", logged, '{"agent_steps": 2}\n\n{"agent_steps": 1}\n'),
    case("line 1: of_episodes = 5", logged, '{"agent_steps": 1, "of_episodes": 5}\n'),
    case("is no list of names", logged, '{"agent_steps": 1, "x": 1, "of_episodes": [["x"]]}\n'),
    *(case("'life'", logged, f'{{"agent_steps": 9, "life": {n}}}\n') for n in ("1e308", "-1e308", "[1e200]")),
    case("'lenght'", drawn, ["lenght"]),
    case(".png or .pdf or .svg", drawn, out="c.gif"),
    case("no run|no metrics", lambda folder: plot_runs([folder], folder / "c.png")),
    case("at least one run", lambda folder: plot_runs([], folder / "c.png")),
    case("draw it by team", parted, [TEAMS], "kills", "agent"),
    case("life", parted, [TEAMS], "life", "agent"),
    case("draw it by agent", parted, [DUEL], "kills", "team"),
    case("teams", parted, [TEAMS, DUEL], "kills", "team"),
    case("agents", parted, [TEAMS, DUEL], "kills", "agent"),
    case("side", parted, [TEAMS], "kills", "side"),
    *(case("teams are those", parted, [world], "kills", "team") for world in OWN),
    case("agent_steps, slot_steps, time", along, "steps"),
    case("lines without time", along, "time"),
    case("lines without slot_steps", beside_a_published_curve),
    *(case(".", figure_look, size) for size in ("big", "0", "5x", "100", "5x3x2", "nan")),
    case(".", figure_look, "", 1.0),
    case("no run", lambda folder: compare([folder / "nothing"])),
    case(r"\(4, 5, 2\)", pictured_field, np.zeros((4, 5, 2))),
    case("5 marks", pictured_field, field(0, 1), marks={str(i): (0, i) for i in range(5)}),
    case("unknown kind of file", pictured_field, field(0, 1), "a.gif"),
    *(case(f"focus = {focus}", lambda focus: Crop(focus)(scene()), focus) for focus in (2, -1)),
    case("focus = 101,3", lambda: Crop((101, 3))(scene())),
    case("focus = .nan, 3", lambda: Crop((NAN, 3))(scene())),
    case("focus = .1, 2, 3", lambda: Crop((1, 2, 3))(scene())),
    *(case(f"zoom = {zoom}", lambda zoom: Crop(None, zoom)(scene()), zoom) for zoom in (0, float("inf"))),
    case("focus", filmed, "a.png", world=TextWorld(), focus=0),
    case("draws no agents", no_agents),
    case("zoom = 3.0: a .replay", filmed, "a.replay", zoom=3.0),
    case("legend = False: a .replay", filmed, "a.replay", legend=False),
    *(case("16 to 4096", render, square().scene(), size) for size in (0, 15, 5000, (100,), (100, 2), 12.5)),
    case("world 2 of a batch of 2", one_of_a_batch),
    *(case(name, checked, name) for name in ("a.jpg", "a", "no/a.png", "folder.png")),
    case("end the name", filmed, "a.avi"),
    case("no folder", filmed, "no/a.mp4"),
    *(
        case(f"{key} = 0", filmed, "a.mp4", **{key: 0})
        for key in ("every", "episodes", "max_steps", "frames")
    ),
    case("world 1", filmed, "a.mp4", index=1),
    case("size = 3", filmed, "a.mp4", size=3),
    case("max_steps", without_end, "a.gif"),
    *(
        case("no frames", lambda name, folder: write_video(folder / name, iter(())), n)
        for n in ("a.mp4", "a.gif")
    ),
    case("frame delay 5", Stage, "x", frame_delay=5, record=True),
    case("jump", chosen, {"jump": 1}),
    *(case("choose from 0..3", chosen, {"move": move}) for move in (4, -1, [1])),
    case("not legal now", chosen, {"move": 0}),
    *(case("a list of 2 numbers", chosen, {"push": push}) for push in (1, [0.0])),
    *(case("out of range", chosen, {"push": [0.0, number]}) for number in (3.0, NAN)),
    case("whole numbers", chosen, {"action": [1.5]}, WHOLE),
    *(
        case("out of range|whole numbers", chosen, {"action": [n]}, s)
        for s, n in ((BOX, 1e308), (WIDE, 2.0**63))
    ),
    case("gives way 2 choices", named, way=("left", "right")),
    case("way has one name twice", named, way=("left", "stay", "left")),
    case("way has ''", named, way=("left", "", "right")),
    case("way has 'stay", named, way=("left", "stay\n", "right")),
    case("gives way 3 choices", named, way="abc"),
    case("has 2 heads", named, **{"way": ("a", "b", "c"), "else": ("a",)}),
    case("'a' means 'left'", named, way=("links", "stay", "right")),
    case("map or a window", layer, np.zeros((2, 3)), "curves"),
    case("at most", layer, np.zeros((3000, 3000)), "map"),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error, tmp_path: Path):
    names = call.func.__code__.co_varnames if hasattr(call.func, "__code__") else ()
    refuses((lambda: call(folder=tmp_path)) if "folder" in names else call, key, error)
    assert not [path for path in tmp_path.iterdir() if path.is_file() and path.name != "metrics.jsonl"]
