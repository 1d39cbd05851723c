"""Frames: the golden bytes, every kind of layer there and back, sizes, and bytes that nobody encoded."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.trust_damaged_files import damage
from interplay.core.errors import UserError
from interplay.core.frames import Decoder, Encoder, Schema, schema_of, split_frames
from interplay.core.frames.codings import DIFFERENCE, FULL, PATCH, Raw
from interplay.core.frames.encoder import FRAME_HEAD, LAYER_HEAD
from interplay.core.frames.packing import Packer
from interplay.core.layers import Layer
from interplay.core.scene import Canvas, Scene
from interplay.core.settings import build
from tests.core.drawings import KINDS, check_alike, draw

# Specification viewer 4.2: tiles 2 2 4 1 and a circle at 96, 32 of colour 3; then cell 2 becomes 3, x becomes 32.
GOLDEN = (
    "010002000700000007000000280000000001000004000000040000000202040101010000010000000c000000600000002000000003000000",
    "0200020008000000070000003000000000030000040000000c00000001000000020000000300000001020000010000000c000000c0ff00000000000000000000",
)
PLACE = {"type": "u2", "scale": 1 / 64}
SCHEMA = build(
    Schema,
    {
        "bounds": (0, 0, 2, 2),
        "up": "south",
        "layers": [
            {
                "name": "ground",
                "kind": "tiles",
                "id": 0,
                "width": 2,
                "columns": [{"name": "tile", "type": "u1"}],
                "options": {"palette": "terrain", "origin": [0, 0], "cell": 1},
            },
            {
                "name": "agents",
                "kind": "circles",
                "id": 1,
                "columns": [{"name": "x", **PLACE}, {"name": "y", **PLACE}, {"name": "colour", "type": "u1"}],
                "options": {"radius": 0.4},
            },
        ],
    },
    "golden",
)


def frame(kind: int, tick: int, base: int, *layers: tuple[int, int, bytes]) -> str:
    """A frame of layers that are told as coding, rows and payload."""
    body = b"".join(
        LAYER_HEAD.pack(number, coding, 0, rows, len(payload)) + payload
        for number, (coding, rows, payload) in enumerate(layers)
    )
    return (FRAME_HEAD.pack(kind, 0, len(layers), tick, base, len(body)) + body).hex()


def test_golden_bytes_are_written():
    ground, agents = (Packer(layer) for layer in SCHEMA.layers)

    def tiles(*ids: int) -> Raw:
        return ground.pack({"tile": np.uint8(ids).reshape(2, 2)}, 4)

    def circle(x: float) -> Raw:
        return agents.pack({"x": np.float32([x]), "y": np.float32([0.5]), "colour": np.uint8([3])}, 1)

    key = frame(
        1, 7, 7,
        (FULL, 4, ground.layout.write_full(tiles(2, 2, 4, 1))),
        (FULL, 1, agents.layout.write_full(circle(1.5))),
    )  # fmt: skip
    changed = ground.layout.changed(tiles(2, 2, 4, 1), tiles(2, 2, 3, 1))
    change = frame(
        2, 8, 7,
        (PATCH, 4, ground.layout.write_patch(tiles(2, 2, 3, 1), changed)),
        (DIFFERENCE, 1, agents.layout.write_difference(circle(1.5), circle(0.5))),
    )  # fmt: skip
    assert (key, change) == GOLDEN


def test_golden_bytes_are_read():
    decoder = Decoder(SCHEMA)
    seen = []
    for text in GOLDEN:
        head = decoder.decode(bytes.fromhex(text))
        ground, agents = decoder.scene().layers
        colour = agents.columns["colour"].tolist()
        seen.append((head.tick, ground.columns["tile"].tolist(), agents.columns["x"].tolist(), colour))
    assert seen == [(7, [[2, 2], [4, 1]], [1.5], [3]), (8, [[2, 2], [3, 1]], [0.5], [3])]
    assert agents.columns["y"].tolist() == [0.5]


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=len(KINDS), unique=True),
    rows=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    odd=st.integers(0, 2**6 - 1),
    keys=st.integers(0, 2**6 - 1),
    seed=st.integers(0, 2**32),
    recording=st.booleans(),
)
@settings(max_examples=150)
def test_every_layer_comes_back_whatever_changes(kinds, rows, odd, keys, seed, recording):
    rng = np.random.default_rng(seed)
    scenes = [draw(tuple(kinds), rng, count, bool(odd >> t & 1)) for t, count in enumerate(rows)]
    encoder = Encoder(scenes[0], recording)
    decoder = Decoder(encoder.schema)
    for t, scene in enumerate(scenes):
        data = encoder.encode(scene, t + 5, key=bool(keys >> t & 1), first=t == 0, last=t == 3)
        assert len(data) % 4 == 0
        head = decoder.decode(data)
        assert head == (t == 0 or bool(keys >> t & 1), t + 5, t == 0, t == 3)
        check_alike(decoder.scene(), scene, exact_where_odd(encoder.schema, scene))


def exact_where_odd(schema: Schema, scene: Scene) -> Schema:
    """The schema without the columns whose numbers in this scene do not fit them: those have to be exact."""
    layers = []
    for said, layer in zip(schema.layers, scene.layers, strict=False):
        columns = []
        present = ~layer.columns.get("absent", np.zeros(0, bool))
        for column in said.columns:
            if column.scale is not None and not column.turn:
                numbers = layer.columns[column.name]
                raw = (numbers[present] if len(present) else numbers) - column.offset
                if raw.size and (raw.min() < -column.scale / 2 or raw.max() > (65_535 + 0.5) * column.scale):
                    column = column.model_copy(update={"scale": None})
            columns.append(column)
        layers.append(said.model_copy(update={"columns": tuple(columns)}))
    return schema.model_copy(update={"layers": tuple(layers)})


@pytest.mark.parametrize("recording", [False, True])
def test_a_frame_is_never_larger_than_a_key_frame(recording):
    first = draw(KINDS, np.random.default_rng(0), 40)
    encoder, whole = Encoder(first, recording), Encoder(first, recording)
    smaller = 0
    for t in range(60):
        scene = draw(KINDS, np.random.default_rng(t // 2), 40 - t // 2 % 4)
        size, most = len(encoder.encode(scene, t)), len(whole.encode(scene, t, key=True))
        assert size <= most
        smaller += size < most / 3
    assert smaller == 30  # every second scene is the one before


def agents(x: object, **more: object) -> Scene:
    canvas = Canvas((0, 0, 100, 100))
    canvas.circles("agents", x, np.zeros(len(x)) + 50.0, **more)  # type: ignore[arg-type]
    return canvas.scene()


def sent(*scenes: Scene, key: bool = False) -> tuple[list[np.ndarray], list[int]]:
    """The column x as it comes back, and the sizes of the frames."""
    encoder = Encoder(scenes[0])
    decoder = Decoder(encoder.schema)
    found, sizes = [], []
    for tick, scene in enumerate(scenes):
        data = encoder.encode(scene, tick, key=key)
        decoder.decode(data)
        found.append(decoder.scene().layer("agents").columns["x"])
        sizes.append(len(data))
    return found, sizes


def test_what_does_not_fit_travels_exactly_until_a_key_frame():
    near, far = np.linspace(0, 100, 64), np.linspace(0, 100, 64)
    far[3] = 54_321.0
    scenes = [agents(near), agents(far), agents(near)]
    found, _ = sent(*scenes)
    assert np.abs(found[0] - near).max() <= 100 / 32_768
    np.testing.assert_array_equal(found[1], far.astype(np.float32))
    np.testing.assert_array_equal(found[2], near.astype(np.float32))
    found, sizes = sent(*scenes, key=True)
    assert sizes[0] == sizes[2] == sizes[1] - 2 * 64
    assert np.abs(found[2] - near).max() <= 100 / 32_768


def test_places_half_the_world_away_fit_and_absent_ones_need_not():
    edge = np.array([-50.0, 150.0, 0.0, 100.0])
    found, sizes = sent(agents(edge), agents([1e30, 1.0, 2.0, 3.0], absent=None), key=True)
    assert np.abs(found[0] - edge).max() <= 100 / 32_768
    assert sizes[1] == sizes[0] + 8
    one = agents([1e30, np.nan, 3.0, 4.0], absent=np.array([True, True, False, False]))
    found, hidden = sent(one, one, key=True)
    assert hidden[0] == sizes[0] + 4  # the flags
    assert np.abs(found[0][2:] - [3, 4]).max() <= 100 / 32_768


def test_multiples_of_a_step_come_back_exactly():
    for side, exact in ((10, 1 / 2048), (118, 1 / 256), (301, 1 / 64), (818, 1 / 32), (3000, 1 / 8)):
        canvas = Canvas((4, 4, side + 4, side + 4))
        canvas.tiles("ground", np.zeros((side, 1), int), origin=(4, 4))
        x = 4 + exact * np.arange(0, side / exact, 7, dtype=int)
        canvas.circles("agents", x, x)
        scene = canvas.scene()
        decoder = Decoder(schema_of(scene))
        decoder.decode(Encoder(scene).encode(scene, 0))
        np.testing.assert_array_equal(decoder.scene().layer("agents").columns["x"], x.astype(np.float32))
        assert schema_of(scene).layers[1].columns[0].type == "u2"


def test_whole_numbers_take_a_byte_and_halves_come_back():
    def bars(value: np.ndarray) -> Scene:
        return agents(np.arange(20.0), bars={"health": (value, 100)})

    whole = np.arange(20.0)
    encoder = Encoder(bars(whole))
    column = next(c for c in encoder.schema.layers[0].columns if c.name == "bar.health")
    assert (column.type, column.scale) == ("u1", 1.0)
    decoder = Decoder(encoder.schema)
    for tick, value in enumerate((whole, whole + 0.3, whole * 1000, -whole, whole)):
        decoder.decode(encoder.encode(bars(value), tick))
        seen = decoder.scene().layer("agents").columns["bar.health"]
        np.testing.assert_array_equal(seen, value.astype(np.float32))


def test_a_cell_that_is_told_otherwise_is_sent_though_it_is_equal():
    def table(cell: object) -> Scene:
        canvas = Canvas()
        canvas.table("status", ["on"], [[cell]])
        return canvas.scene()

    encoder = Encoder(table(1))
    decoder = Decoder(encoder.schema)
    seen = []
    for tick, cell in enumerate((1, True, 1.0, 1.0)):
        decoder.decode(encoder.encode(table(cell), tick))
        seen.append(repr(decoder.scene().layer("status").text[0][0]))
    assert seen == ["1", "True", "1.0", "1.0"]


def test_frames_that_cannot_follow_are_refused_in_one_line():
    def shown(bounds=(0, 0, 9, 9), side=3, corners=3, picture=None, labels=None):
        canvas = Canvas(bounds)
        canvas.tiles("ground", np.zeros((2, side), int))
        canvas.polygons("areas", np.ones((1, corners)), np.ones((1, corners)))
        canvas.circles("agents", [1.0], [1.0], labels=labels)
        if picture:
            canvas.picture(np.zeros((4, picture, 3), np.uint8))
        return canvas.scene()

    for first, then, words in (
        ({}, {"bounds": (0, 0, 9, 8)}, "bounds"),
        ({}, {"side": 4}, "tile has 4 columns, the first frame had 3"),
        ({}, {"corners": 4}, "x has 4 columns, the first frame had 3"),
        ({}, {"picture": 4}, "picture"),
        ({"picture": 4}, {"picture": 5}, "rgb has 5 columns"),
        ({}, {"labels": ["a"]}, "labels"),
    ):
        encoder = Encoder(shown(**first))
        encoder.encode(shown(**first), 0)
        with pytest.raises(UserError, match=words) as told:
            encoder.encode(shown(**then), 1)
        assert "\n" not in str(told.value)
        encoder.encode(shown(**first), 1)  # what was refused left nothing behind


def test_more_than_sixteen_numbers_per_row_travel_as_they_are():
    bars = {f"b{i}": (np.arange(3.0), 9) for i in range(30)}
    scene = agents([1.0, 2.0, 3.0], bars=bars)
    kinds = [column.type for column in schema_of(scene).layers[0].columns]
    assert kinds.count("f4") == 16
    assert sum(column.scale is not None for column in schema_of(scene).layers[0].columns) == 16


@pytest.mark.parametrize("jump", [None, np.array([True, False])])
def test_texts_that_jump_say_so_and_those_of_older_recordings_do_not(jump):
    canvas = Canvas((0, 0, 9, 9))
    canvas.labels("causes", [1, 2], [3, 4], ["hunger", "thirst"], jump=jump)
    encoder = Encoder(canvas.scene())
    decoder = Decoder(encoder.schema)
    decoder.decode(encoder.encode(canvas.scene(), 0))
    found = decoder.scene().layer("causes")
    assert found.value("jump", False).tolist() == [jump is not None, False]
    assert ("jump" in found.columns) == (jump is not None)


def test_a_change_needs_the_frame_that_it_changes():
    scenes = [agents(np.arange(3.0) + t) for t in range(4)]
    encoder = Encoder(scenes[0])
    frames = [encoder.encode(scene, tick) for tick, scene in enumerate(scenes)]
    decoder = Decoder(encoder.schema)
    with pytest.raises(UserError, match="begin at a key frame"):
        decoder.scene()
    with pytest.raises(UserError, match="changes tick 0"):
        decoder.decode(frames[1])
    decoder.decode(frames[0])
    with pytest.raises(UserError, match="changes tick 1"):
        decoder.decode(frames[2])
    with pytest.raises(UserError, match="not at hand"):
        decoder.decode(frames[1])  # after an error nothing is at hand
    assert [bytes(one) for one in split_frames(b"".join(frames))] == frames


def test_bytes_that_nobody_encoded_end_in_one_line():
    rng, chance = np.random.default_rng(3), random.Random(3)
    scenes = [draw(KINDS, rng, 6, odd=t == 2) for t in range(4)]
    encoder = Encoder(scenes[0])
    stream = b"".join(encoder.encode(scene, tick) for tick, scene in enumerate(scenes))
    told = []
    for _ in range(800):
        harmed = damage(stream, chance)
        decoder = Decoder(encoder.schema)
        try:
            for one in split_frames(harmed):
                decoder.decode(one)
                decoder.scene()
        except UserError as error:
            told.append(str(error))
    assert len(told) > 500
    assert not any("\n" in line for line in told)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layers": [{"name": "a", "kind": "circles", "id": 1}]}, "not numbered"),
        ({"layers": [{"name": "a", "kind": "cubes", "id": 0}]}, "kind"),
        ({"layers": [{"name": "a", "kind": "table", "id": 0}]}, "tables have texts"),
        ({"layers": [{"name": "a", "kind": "tiles", "id": 0}]}, "width"),
        (
            {"layers": [{"name": "a", "kind": "boxes", "id": 0, "columns": [{"name": "x", "type": "f8"}]}]},
            "type",
        ),
        ({"bounds": (0, 0, float("inf"), 1)}, "bounds"),
        ({"scene": 2}, "scene"),
    ],
)
def test_schemas_from_elsewhere_are_looked_at(change, words):
    with pytest.raises(UserError, match=words):
        build(Schema, {**SCHEMA.model_dump(), **change}, "file")


@pytest.mark.parametrize(
    "options",
    [
        {"palette": "terrain", "origin": [0, 0], "cell": 0},
        {"palette": ["red"], "origin": [0, 0], "cell": 1},
        {"palette": "terrain", "origin": [0], "cell": 1},
        {"palette": "terrain", "origin": "ab", "cell": 1},
    ],
)
def test_constants_from_elsewhere_go_through_the_canvas(options):
    said = SCHEMA.layers[0].model_copy(update={"options": options})
    decoder = Decoder(SCHEMA.model_copy(update={"layers": (said, SCHEMA.layers[1])}))
    decoder.decode(bytes.fromhex(GOLDEN[0]))
    with pytest.raises(UserError, match="ground") as told:
        decoder.scene()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("more", [{"more": 2}, {"name": "sky"}, {"self": 1, "glow": ["a", 0.5]}])
def test_what_a_later_version_says_of_a_layer_is_left_out(more):
    """Specification viewer 5."""
    known = Decoder(SCHEMA)
    known.decode(bytes.fromhex(GOLDEN[0]))
    layers = [one.model_copy(update={"options": one.options | more}) for one in SCHEMA.layers]
    decoder = Decoder(SCHEMA.model_copy(update={"layers": tuple(layers)}))
    decoder.decode(bytes.fromhex(GOLDEN[0]))
    assert repr(decoder.scene()) == repr(known.scene())


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ({"legend": ["red", "blue"], "legend.colours": ["#ff0000", "#0000ff"]}, {"red": "#ff0000", "blue": "#0000ff"}),
        ({"legend": ["red", "blue"], "legend.colours": [1, 2]}, None),  # of a file: no colours, but its words
        ({"legend": "red", "legend.colours": ["#ff0000"]}, None),
        ({"legend.colours": ["#ff0000"]}, None),
        ({"legend": ["red"], "legend.colours": "#ff0000"}, None),
    ],
)  # fmt: skip
def test_colours_of_a_legend_come_back_and_others_are_left_out(said, back):
    layer = SCHEMA.layers[1].model_copy(update={"options": SCHEMA.layers[1].options | said})
    decoder = Decoder(SCHEMA.model_copy(update={"layers": (SCHEMA.layers[0], layer)}))
    decoder.decode(bytes.fromhex(GOLDEN[0]))
    found = decoder.scene().layers[1].options
    assert found.get("legend.colours") == (None if back is None else tuple(back.values()))
    assert list(found.get("legend", [])) == list(said.get("legend", []))


def test_too_many_rows_are_refused_before_they_are_made():
    head = LAYER_HEAD.pack(0, FULL, 0, 4, 4) + bytes(4)
    layer = LAYER_HEAD.pack(1, FULL, 0, 70_000, 5 * 70_000) + bytes(5 * 70_000)
    body = head + layer
    data = FRAME_HEAD.pack(1, 0, 2, 0, 0, len(body)) + body
    with pytest.raises(UserError, match=re.escape("70,000 rows of a layer; 65,535 are read at most")):
        Decoder(SCHEMA).decode(data)


def test_layers_of_no_columns_but_texts_come_back():
    scene = Scene(None, "south", (Layer("t", "table", 0, {}, {"titles": ("a",), "caption": False}),))
    encoder = Encoder(scene)
    decoder = Decoder(encoder.schema)
    decoder.decode(encoder.encode(scene, 0))
    assert decoder.scene() == scene
