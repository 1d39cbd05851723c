"""Refusals of the core."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core import seeding
from interplay.core.frames import schema_of
from interplay.core.frames.encoder import MAX_TEXT_BYTES, write_text
from interplay.core.loading import load
from interplay.core.playthrough import read_head, record_playthrough
from interplay.core.policy import RandomPolicy
from interplay.core.replay.marks import read_marks
from interplay.core.scene import Canvas
from interplay.core.settings import parse_overrides
from interplay.core.space_json import from_json, to_json
from interplay.core.spaces import action_choices, check_action
from tests.checker.sound_worlds import Camp, Drift
from tests.core.test_frames import agents as frame_agents
from tests.core.test_scene import agents, canvas, past
from tests.refusals import case, refuses

DEEP, DIGITS = 100_000, "9" * 5_000
HEAD = (
    "interplay playthrough\nworld: x\nversion: {version}\nseed: {seed}\nevery: {every}\noptions: {options}\n"
)
WRITTEN = {"version": "1", "seed": "1", "every": "25", "options": "{}"}
HEADS = {
    "every": ("0", "-3"),
    "seed": ("-1", "9" * 5000, str(2**63)),
    "version": ("-1",),
    "options": ("[]", '{"a": 1, "a": 2}', '{"a": -1e999}', "[" * 5000, '{"a": NaN}'),
}
LARGE = {"box": [[0.0], [1.0]], "shape": [10**6, 10**6], "dtype": "float32"}


def tiles(ids=((1,),), **options):
    canvas().tiles("ground", np.array(ids), **options)


def circles(x=(1,), **options):
    canvas().circles("ground", x, x, **options)


def follows(**changes):
    agents(**changes).scene().check_follows(agents().scene())


def action(key, space, given):
    return case(key, check_action, "w", space, given, 1, 2)


def float32(low, high):
    return spaces.Box(low, high, (), np.float32)


CHOICE, PART, BYTE = (
    spaces.Discrete(3),
    spaces.Dict({"a": spaces.Discrete(2)}),
    spaces.Box(0, 255, (), np.uint8),
)
MARKS = [
    b"[]",
    b"{}",
    b'{"tick": -1, "kind": "a", "rows": []}',
    b'{"tick": 1, "kind": "a", "rows": [9]}',
    b"x",
]
REFUSED = [
    *(case("0 to 2", seeding.world_seeds, seed, 1) for seed in (-1, 2**64)),
    *(case("first_world = ", seeding.world_seeds, 0, 3, at) for at in (-2, 2**64 - 2, 2**64, 1.5, "0", None)),
    case("num_worlds = 2", lambda: record_playthrough(Camp(2), RandomPolicy(), 3)),
    case("does not begin", read_head, "hello\n"),
    *(
        case("does not begin", read_head, HEAD.format(**{**WRITTEN, k: v}))
        for k, vs in HEADS.items()
        for v in vs
    ),
    case("agents.*x of row 1", agents, x=[1.0, np.nan]),
    case("agents.*has shape", agents, y=[1.0, 2.0, 3.0]),
    case("agents.*pass numbers", agents, x=["a", "b"]),
    *(case("agents", agents, radius=radius) for radius in (-1.0, [0.5, -0.5], float("inf"))),
    case("agents.*pass booleans", agents, absent=[0, 1]),
    *(case("agents.*#rrggbb", agents, colour=colour) for colour in ("red", "#12345")),
    *(case("agents.*0..255", agents, colour=colour) for colour in (256, [0.5, 1.0])),
    case("agents.*colour", agents, colour=np.zeros((3, 3), np.uint8)),
    case("agents.*from 0", agents, opacity=1.5),
    *(
        case("field.*corners", canvas().polygons, "field", np.zeros(x), np.zeros(y), (1, 2, 3))
        for x, y in (((2, 4), (2, 3)), ((2, 2), (2, 2)), ((1, 2, 3), (1, 2, 3)))
    ),
    *(case("agents.*2 strings", agents, labels=labels) for labels in (["only one"], "ab", ["a", 2])),
    *(
        case("agents.*1000 characters", agents, labels=labels)
        for labels in (["a", "x" * 2000], ["x" * 1001, ""])
    ),
    case("agents.*pass angle too", agents, sight=(10.0, 1.0)),
    case("agents.*at most 5", agents, marks={str(i): np.array([True, False]) for i in range(6)}),
    case("agents.*at least 0", agents, bars={"health": ([1.0, 2.0], -1)}),
    case("radius changed from 0.5 to 0.7", follows, radius=0.7),
    case("constant and array", follows, radius=[0.5, 0.5]),
    case("absent", follows, absent=np.array([True, False])),
    case("food", follows, bars={"food": ([1.0, 2.0], 10)}),
    *(case("ids", tiles, ids) for ids in (np.zeros(3, int), np.full((2, 2), 256), np.full((2, 2), -1))),
    *(case("ids", tiles, ids) for ids in (np.zeros((2, 2)), np.zeros((0, 2), int))),
    *(case("palette", tiles, palette=palette) for palette in ("lava", (), ("#12345",))),
    *(case("cell", tiles, cell=cell) for cell in (0, np.inf)),
    case("origin", tiles, origin=(0, np.nan)),
    case("dashed", lambda: canvas().segments("ground", [1], [1], [2], [2], dashed="dotted")),
    case("65536", circles, np.zeros(65_536)),
    case("row 0", lambda: canvas().table("ground", ["a", "b"], [[1]])),
    case("row 0", lambda: canvas().table("ground", ["a"], [[[1, 2]]])),
    case("width", circles, width=np.nan),
    *(case("chords", circles, angle=0, sight=(1, 1, chords)) for chords in (0, 361)),
    case("votes", past, history=["votes"]),
    case("vote", past, history="vote"),
    case("nowhere", past, history=["vote"], heads="nowhere"),
    *(case("bounds", Canvas, bounds=bounds) for bounds in ((0, 0, 0, 1), (0, 1, 1, 0), (0, 0, np.nan, 1))),
    action("shape", CHOICE, None),
    action("integers", CHOICE, [[0.0, 1.0]]),
    action("integers", CHOICE, [["a", "b"]]),
    action(r"shape \(2,\), expected \(1, 2\)", CHOICE, [0, 1]),
    action("outside", CHOICE, np.array([[0, 2**63]], np.uint64)),
    action(r"index \(0, 1, 1\) is outside 0\.\.2", spaces.MultiDiscrete([2, 3]), [[[0, 0], [1, 3]]]),
    action("outside", spaces.MultiBinary(1), [[[0], [2]]]),
    action("no number", float32(-1, 1), [[0.0, np.nan]]),
    action("no number", float32(-np.inf, np.inf), [[0.0, np.inf]]),
    action("no number in", float32(-1, 1), [[0.0, 1.01]]),
    action("no number in", BYTE, [[0, 256]]),
    action("dtype float64, expected uint8", BYTE, [[0.0, 0.5]]),
    action("keys a", PART, {"b": [[0, 0]]}),
    action("keys a", PART, [[0, 0]]),
    action("w, action a", PART, {"a": [[0, 2]]}),
    case("not supported", action_choices, spaces.Text(3)),
    case("", to_json, spaces.Text(3), error=TypeError),
    *(case("numbers", from_json, large, error=ValueError) for large in (LARGE, {"multibinary": [10**12]})),
    case("half a character", write_text, (("\ud800",),)),
    case("40 digits", write_text, ((10**40,),)),
    case("a frame holds", write_text, ("x" * MAX_TEXT_BYTES,)),
    case("at most 64", lambda: schema_of(frame_agents([1.0], bars={f"b{i}": ([1.0], 9) for i in range(63)}))),
    *(case("a mark is damaged", read_marks, line + b"\n", 2) for line in MARKS),
    *(case(repr(pairs[-1]), parse_overrides, pairs) for pairs in (["a"], ["=1"], ["a="], ["a..b=1"])),
    *(case(repr(pairs[-1]), parse_overrides, pairs) for pairs in (["a=1", "a.b=2"], ["a.b=2", "a=1"])),
    *(case("64 levels", parse_overrides, [p]) for p in ("a={" + "a." * DEEP + "a=1}", "a=" + "[" * DEEP)),
    case("64 levels", parse_overrides, ["a=" + "[" * 900 + "]" * 900]),
    case("groups deep", parse_overrides, ["a" + ".a" * DEEP + "=1"]),
    *(case("40 digits", parse_overrides, [pair]) for pair in (f"a={DIGITS}", f"a=0x{'f' * 20_000}")),
    case("65 bits", parse_overrides, [f"a.b={2**64}"]),
    *(case("is not KEY=VALUE", parse_overrides, [pair]) for pair in ("x" * 5_000, ".=1")),
    case(
        "obs is given twice", interplay.make_world, "werewolf/9", **{"obs.history": 1, "obs": {"history": 2}}
    ),
    case("wolves.x is given twice", interplay.make_world, "werewolf/9", **{"wolves": 2, "wolves.x": 2}),
    case("obs.histry; did you mean obs.history", interplay.make_world, "werewolf/9", **{"obs.histry": 1}),
    case("takes no num_worlds", interplay.make_world, "tests.core.test_targets:single"),
    case("no 'WHERE'", partial(load, users=True), "colorsys:WHERE"),
    case("num_worlds = 0", Camp, 0),
    case("2 kinds", lambda: Drift(2).action_space),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_short_line_that_names_its_key(call, key, error):
    assert len(refuses(call, key, error)) < 500
