"""What the page's tests compare with: streams, recordings, colours and digests, made by Python each time anew.

python -m tests.page.fixtures FOLDER
"""

from __future__ import annotations

import base64
import json
import sys
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.frames import Decoder, Encoder
from interplay.core.replay import Mark, ReplayReader, ReplayWriter
from interplay.core.scene import DOTS, Canvas, Scene, scene_of
from interplay.core.settings import build
from interplay.evaluate.lifetimes.overlays import Study, find_overlay
from interplay.evaluate.tournaments.round_robins import round_robin
from interplay.registry import make_policy, make_world
from interplay.train.play.values import values_of
from interplay.train.settings import TrainSettings
from interplay.train.settings.run import RecordGroup
from interplay.train.trainer import train
from interplay.verbs.players import find_player
from interplay.verbs.playing import record
from interplay.view import cones, palette
from interplay.view.legend import entries
from interplay.view.picture import MARGIN, render
from interplay.view.server.overlay_frames import cells_of, describe_cells, encode_cells
from tests.core.drawings import KINDS, draw
from tests.page.canonical import digest

TICKS, AGENTS, SIDE = 250, 40, 24
SEEN = 60  # the tick whose picture is compared
# Worlds of ours whose pictures are compared, one of each family that has places: id, player, options.
WORLDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "survival": ("survival/2v2-all-low", "hunter", {}),
    "mmo": ("mmo/combat", "fighter", {"interior": 16, "slots": 24, "cap": 24}),
    "battle": ("battle/2s3z", "hit_and_run", {}),
    "pommerman": ("pommerman/team-fog", "simple", {}),
    "pong": ("pong/2p", "follow", {}),
    "foragers": ("gridworld/hunters-foragers", "greedy", {}),
    "traffic": ("gridworld/traffic-corridor", "courteous", {}),
    "pacman": ("gridworld/pacman", "hungry", {}),
    "town": ("navigation/town", "walker", {}),
    "corridor": ("simulation/multi-corridor", "random", {}),
    "werewolf": ("werewolf/10", "random", {}),
}
BROKEN = {False: "", True: "dashes", DOTS: "dots"}  # as the page calls it
LINES, PEAK = 5_000, 50.0  # of a run's log
ROWS = (4, 4, 4, 0, 6, 6, 6, 3, 3, 3, 65, 65)


def write_all(folder: Path) -> None:
    """Writes every fixture into a folder that is there."""
    write_streams(folder / "streams.json")
    write_cones(folder / "cones.json")
    write_palette(folder / "palette.json")
    write_legends(folder / "legends.json")
    write_match(folder / "match.replay")
    write_tables(folder / "tables.replay")
    write_run(folder / "first")
    _write(folder / "every.json", RecordGroup().every)
    players = {name: make_policy("dilemma/fixed", name) for name in ("random", "tit_for_tat", "grim")}
    round_robin(players, "dilemma/fixed", matches=4, out=folder / "cup", record=1)
    digests, seen = {}, {}
    for name in ("match", "tables"):
        with ReplayReader(folder / f"{name}.replay") as reader:
            digests[name] = [digest(frame.scene) for frame in reader.frames()]
    _write(folder / "digests.json", digests)
    for name, (world, player, options) in WORLDS.items():
        record(player, folder / f"{name}.replay", world, options, max_steps=SEEN, seed=3)
    write_overlays(folder / "overlays.json", folder)
    for name in ("match", *WORLDS):
        with ReplayReader(folder / f"{name}.replay") as reader:
            tick = min(SEEN, reader.ticks - 1)
            seen[name] = {"tick": tick, "means": blocks(reader.frame(tick).scene)}
    _write(folder / "blocks.json", seen)
    whole = (folder / "match.replay").read_bytes()
    (folder / "cut.replay").write_bytes(whole[: int(len(whole) * 0.7)])
    damaged = bytearray(whole)
    with ReplayReader(folder / "match.replay") as reader:
        second = [chunk for chunk in reader.chunks if chunk.tag == b"SCNE"][1]
    damaged[second.offset + 200] ^= 255
    (folder / "damaged.replay").write_bytes(damaged)
    (folder / "future.replay").write_bytes(whole[:8] + b"\x09\x00" + whole[10:])


def train_small(out: Path, world: str, options: dict[str, Any]) -> Path:
    """A run as short as can be: its networks expect something, and nothing sensible."""
    settings = {
        "world": {"id": world, "options": options},
        "num_worlds": 2,
        "steps": 1,
        "train": {"shards": 1, "quiet": True},
        "ppo": {"rollout": 4, "minibatch": 64, "epochs": 1, "target_kl": "off"},
        "algorithm": "ppo",
        "network": {"kind": "mlp", "hidden": [4]},
    }
    return train(build(TrainSettings, settings, "small"), out)


def write_overlays(path: Path, folder: Path) -> None:
    """What every overlay that the page offers has to show: of a run at the first moment of seed 0, of a recording up to a tick."""
    mmo = train_small(folder / "small", "mmo/combat", {"npop": 2, "slots": 16, "interior": 24, "maps": 1})
    planar = train_small(folder / "standing", "survival/2v2-all-low", {})
    _write(
        path,
        {
            "values": expected("values", mmo, population=1),
            "dependence": expected("dependence", mmo, population=1),
            "place_values": expected("place_values", planar, agent=2),
            "visits": counted("visits", folder / "survival.replay"),
            "exploration": counted("exploration", folder / "mmo.replay"),
            "combat": counted("combat", folder / "mmo.replay"),
        },
    )


def expected(name: str, run: Path, population: int | None = None, agent: int | None = None) -> dict[str, Any]:
    """What a run's networks expect at the first moment of seed 0, of one population or of one agent."""
    player = find_player(str(run), "", {})
    world = player.make_world(num_worlds=1, seed=0)
    world.reset(seeds=0)
    value = values_of(player.policy, world)
    own = int(world.population[0, agent or 0])
    study = Study(world, population, networks=value, agent=agent, expects=lambda seen: value(seen, own))
    return {"population": population, "agent": agent, **told(name, study)}


def counted(name: str, recording: Path) -> dict[str, Any]:
    """What agents have done from a recording's first tick to `SEEN`, of all populations."""
    overlay = find_overlay(name)
    assert overlay.live is not None
    with ReplayReader(recording) as reader:
        last = min(SEEN, reader.ticks - 1)
        world = reader.world_at(0)
        read = overlay.reader(world)
        recorders = {need: overlay.needs[need](world) for need in overlay.live.needs}
        ticks = (tick for tick, _ in reader.play_on(world, 0, most=TICKS))
        for _ in islice(chain([0], ticks), last + 1):
            now = read(world)
            for recorder in recorders.values():
                recorder.add(now)
    return {"population": None, "agent": None, "tick": last, **told(name, Study(world, recorders=recorders))}


def told(name: str, study: Study) -> dict[str, Any]:
    """An overlay's panel as the page gets it: the ends of its scale, what it is, and a byte for each cell."""
    overlay = find_overlay(name)
    assert overlay.live is not None
    layer = overlay.live.show(study, {})
    cells = cells_of(layer)
    size = cells.values.size
    return {
        "ends": [cells.lowest, cells.highest],
        "shape": list(cells.values.shape),
        "cells": list(encode_cells(0, 0, cells)[20 : 20 + size]),
        **describe_cells(layer, cells),
    }


def write_streams(path: Path) -> None:
    """Frames of scenes by chance, live and recorded: all kinds of layers alone and together, widened columns among them."""
    streams = []
    for number, kinds in enumerate([KINDS, *((kind,) for kind in KINDS), KINDS[:4], KINDS[1:]]):
        for recording in (False, True):
            streams.append(_stream(kinds, np.random.default_rng(number), recording))
    _write(path, streams)


def _stream(kinds: tuple[str, ...], rng: np.random.Generator, recording: bool) -> dict[str, Any]:
    # Every other scene is drawn twice, so that layers stay the same or change in a few rows.
    scenes = [draw(kinds, rng, count, odd=t in (2, 8)) for t, count in enumerate(ROWS)]
    scenes = [scene for scene in scenes for _ in range(2)]
    encoder = Encoder(scenes[0], recording)
    decoder = Decoder(encoder.schema)
    frames, digests = [], []
    for t, scene in enumerate(scenes):
        frame = encoder.encode(scene, t + 5, key=t == 17, first=t == 0, last=t == 11)
        decoder.decode(frame)
        frames.append(base64.b64encode(frame).decode())
        digests.append(digest(decoder.scene()))
    schema = encoder.schema.model_dump(mode="json")
    name = f"{', '.join(kinds)}, {'recording' if recording else 'live'}"
    return {"name": name, "schema": schema, "frames": frames, "digests": digests}


def write_cones(path: Path) -> None:
    """A room of boxes and discs by chance, as the page reads it, and the cones that are seen in it."""
    rng = np.random.default_rng(5)
    canvas = Canvas((-10, -10, 10, 10), "north")
    canvas.boxes("walls", [0.0], [0.0], 9.5, 9.5, fill=False, width=0.5)
    x, y, angle = *rng.uniform(-9, 9, (2, 12)), rng.uniform(-9, 9, 12)
    half_x, half_y = rng.uniform(0.3, 2, (2, 12))
    canvas.boxes("boxes", x, y, half_x, half_y, angle, absent=rng.random(12) < 0.2)
    x, y, angle = *rng.uniform(-9, 9, (2, 30)), rng.uniform(-9, 9, 30)
    looks = {"dimmed": rng.random(30) < 0.2, "sight": (7.0, 1.3, 3, ("walls", "boxes", "agents"))}
    canvas.circles("agents", x, y, radius=0.4, angle=angle, **looks)
    encoder = Encoder(canvas.scene(), recording=False)
    decoder = Decoder(encoder.schema)
    frame = encoder.encode(canvas.scene(), 0, key=True)
    decoder.decode(frame)
    agents, layers = decoder.scene().layer("agents"), decoder.scene().layers
    blocked = cones.blockers(agents, layers)
    parts = [agents.value(part) for part in ("x", "y", "angle", "sight.depth", "sight.angle")]
    seen = [
        cones.cone(cones.Eye(*map(float, eye)), 3, blocked).ravel().tolist()
        for eye in zip(*parts, strict=True)
    ]
    schema, data = encoder.schema.model_dump(mode="json"), base64.b64encode(frame).decode()
    _write(path, {"schema": schema, "frame": data, "cones": seen})


def write_palette(path: Path) -> None:
    """Corners, and results of the functions of interplay/view/palette.py."""
    said: dict[str, Any] = {"CORNERS": palette.CORNERS}
    said["shapes_of"] = [palette.shape_of(number) for number in range(49)]
    said["rgb"] = [palette.rgb(number) for number in range(21)]
    said["tiles"] = palette.tile_colours("terrain").tolist()
    colours = [palette.rgb(number) for number in range(7)]
    ink = palette.rgb(palette.INK)
    said["mixed"] = [
        palette.mix(colour, ink, share) for colour in colours for share in (0.22, 0.45, 0.5, 0.55)
    ]
    said["signs"] = [palette.sign_on(palette.rgb(number)) for number in range(7)]
    said["bars"] = [
        palette.bar_colour(place, bars, share)
        for bars in (1, 3, 5)
        for place in range(bars)
        for share in (0.2, 0.8)
    ]
    _write(path, said)


def write_legends(path: Path) -> None:
    """What pictures of worlds tell below them, beside the schemas that the page has."""
    small = {"interior": 16, "slots": 24, "cap": 24}
    options: dict[str, dict[str, Any]] = {"mmo/combat": small, "survival/2v2-all-low": {}, "battle/2s3z": {}}
    told = []
    for name in (*options, "pommerman/team-fog"):
        world = make_world(name, num_worlds=1, seed=3, **options.get(name, {}))
        world.reset()
        scene = scene_of(world)
        world.close()
        lines = [
            [one.kind, "#{:02x}{:02x}{:02x}".format(*palette.rgb(one.colour)), one.words, BROKEN[one.dashed]]
            for one in entries(scene)
        ]
        schema = Encoder(scene, recording=False).schema.model_dump(mode="json")
        told.append({"world": name, "schema": schema, "lines": lines})
    _write(path, told)


def write_match(path: Path) -> None:
    """A match of walkers on tiles that change: births, deaths, bars and marks, in three chunks."""
    rng = np.random.default_rng(3)
    ground = rng.integers(0, 6, (SIDE, SIDE))
    x, y = rng.uniform(1, SIDE - 1, (2, AGENTS))
    angle, health = rng.uniform(0, 6, AGENTS), np.full(AGENTS, 10.0)
    alive, fallen = np.ones(AGENTS, bool), np.zeros(AGENTS, bool)

    def drawn(tick: int, born: np.ndarray) -> Scene:
        canvas = Canvas((0, 0, SIDE, SIDE))
        canvas.tiles("ground", ground)
        canvas.circles(
            "agents",
            x,
            y,
            radius=0.45,
            angle=angle,
            colour=np.arange(AGENTS, dtype=np.uint8) % 9,
            absent=~alive,
            jump=born,
            dimmed=fallen,
            glyph="team",
            bars={"health": (health, 10)},
            marks={"frozen": health < 3},
            sight=(3.0, 1.0, 16, ("agents",)),
            labels=[str(number) for number in range(AGENTS)],
        )
        canvas.labels("causes", [2.0], [2.0], [f"<b>tick {tick}</b>"])
        canvas.table("status", ["tick", "alive"], [[tick, int(alive.sum())]], caption=True)
        canvas.table("<i>words</i>", ["who", "says"], [["0", "<img src=x onerror=alert(1)>"], ["1", None]])
        return canvas.scene()

    header = {
        "world": "toys:Walkers",
        "agents": tuple(f"walker {number}" for number in range(AGENTS)),
        "policy": "random walk",
    }
    nobody = np.zeros(AGENTS, bool)
    with ReplayWriter(path, drawn(0, nobody), header) as writer:
        for tick in range(TICKS):
            marks, born = [], nobody.copy()
            if tick:
                x[:] = np.clip(x + 0.2 * np.cos(angle), 0.5, SIDE - 0.5)
                y[:] = np.clip(y + 0.2 * np.sin(angle), 0.5, SIDE - 0.5)
                angle[:] += rng.normal(0, 0.2, AGENTS)
                health[:] = np.maximum(health - rng.integers(0, 2, AGENTS) * 0.1, 0)
                ground[rng.integers(SIDE), rng.integers(SIDE)] = rng.integers(6)
            if tick % 40 == 20:
                who = int(tick // 40)
                alive[who] = False
                fallen[who + 20] = True
                marks.append(Mark(tick, "death", (who, who + 20)))
            if tick % 40 == 35:
                who = int(tick // 40)
                alive[who], born[who], health[who] = True, True, 10.0
                x[who], y[who] = rng.uniform(1, SIDE - 1, 2)
                marks.append(Mark(tick, "birth", (who,)))
            if tick == TICKS - 1:
                marks.append(Mark(tick, "end"))
            writer.add_scene(drawn(tick, born), tick, tick == 0, tick == TICKS - 1, marks)


def blocks(scene: Scene) -> list[list[list[float]]]:
    """The mean colours of square parts of the picture that interplay/view/picture.py draws, SIDE of them from left to right."""
    scale = 25  # pixels of a part
    assert scene.bounds is not None
    x0, y0, x1, y1 = scene.bounds
    width, height = scale * SIDE, round(scale * SIDE * (y1 - y0) / (x1 - x0))
    margin = round(min(width, height) * MARGIN / (1 - 2 * MARGIN))
    bare = scene._replace(layers=tuple(layer for layer in scene.layers if layer.kind != "table"))
    picture = render(bare, (width + 2 * margin, height + 2 * margin)).astype(float)
    rows, columns = ([margin + scale * i for i in range(length // scale + 1)] for length in (height, width))
    return [
        [picture[top:bottom, left:right].mean(axis=(0, 1)).tolist() for left, right in pairwise(columns)]
        for top, bottom in pairwise(rows)
    ]


def write_tables(path: Path) -> None:
    """A world without places."""

    def drawn(tick: int) -> Scene:
        canvas = Canvas()
        canvas.table(
            "rounds",
            ["round", "left", "right"],
            [[i, i % 2 == 0, 0.5 * i] for i in range(tick)],
            history=["right"],
        )
        return canvas.scene()

    header = {"world": "toys:Tables", "agents": ("left", "right"), "policy": "nobody"}
    with ReplayWriter(path, drawn(0), header) as writer:
        for tick in range(5):
            writer.add_scene(drawn(tick), tick, tick == 0, tick == 4)


def write_run(folder: Path) -> None:
    """A run's log with one high peak among many lines."""
    folder.mkdir()
    (folder / "settings.toml").write_text('[world]\nid = "dilemma/fixed"\n')
    returns = [PEAK if i == LINES // 3 else i / LINES for i in range(LINES)]
    lines = [{"agent_steps": 100 * (i + 1), "episode_return": value} for i, value in enumerate(returns)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, default=list), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
