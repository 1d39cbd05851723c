"""Around the table: the banner, the tally of names, the middle, and the same contents as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.scene import rgb
from interplay.core.transcript import plain
from interplay.worlds.werewolf.drawing.chronicle import (
    TEAMS,
    ballot,
    crew,
    happenings,
    heading,
    spaced,
    word,
)
from interplay.worlds.werewolf.drawing.spectator import fate_of
from interplay.worlds.werewolf.roles import NAMES, VILLAGERS, WOLVES

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.werewolf.config import WerewolfSettings
    from interplay.worlds.werewolf.drawing.spectator import Moment

WIDTH, HEIGHT = 36.0, 24.0
TOP, BOTTOM = 2.2, 20.6  # below the banner, above the tally
BANNER, BANNER_INK, BANNER_FAINT = "#20242b", "#ffffff", "#aeb6c2"
SUN, MOON = "#f0c433", "#e6e9f2"
STRIP, STRIP_INK = "#f7f8f9", "#495057"
BAR, CHOSEN_BAR = "#5c7c99", "#b3261e"
TEAM_PAINT = {VILLAGERS: "#0072b2", WOLVES: "#d55e00"}
FIRST_BAR, LAST_BAR = 5.2, 35.4
HIGHEST = 1.75  # of a bar
WIDEST = 2.0  # column of a bar


def shade(colours: tuple[str, str], moment: Moment, rows: int = 1) -> np.ndarray:
    """(rows, 3) uint8, the colour of day or night; a per-row array, because it changes over time."""
    return np.tile(rgb(colours[int(moment.night)]), (rows, 1))


def draw_banner(canvas: Canvas, moment: Moment, settings: WerewolfSettings) -> None:
    """Day and phase on the left with the next phase below, events on the right."""
    fill = rgb(_paint(moment))
    middle = TOP / 2
    canvas.boxes("banner", [WIDTH / 2], [middle], WIDTH / 2, middle, colour=fill[None])
    light = rgb(MOON if moment.night else SUN)[None]
    canvas.circles("light", [1.4], [middle], 0.72, colour=light, outline=False)
    night = np.array([not moment.night])
    canvas.circles("shade", [1.75], [middle - 0.2], 0.62, colour=fill[None], outline=False, absent=night)
    left, right = heading(moment), "; ".join(happenings(moment))
    after = "the game is over" if moment.over else f"next: {spaced(moment.following)}"
    alive = f"{int(moment.alive.sum())} of {len(moment.alive)} live"
    canvas.labels(
        "heading",
        [2.6, 2.6],
        [middle - 0.42, middle + 0.55],
        [left, f"{alive}   ·   {after}"],
        colour=np.stack([rgb(BANNER_INK), rgb(BANNER_FAINT if not moment.over else BANNER_INK)]),
        size=np.array([fit(1.15, left, 17.5), 0.72]),
        align="left",
        halo=False,
    )
    canvas.labels(
        "events",
        [WIDTH - 0.6],
        [middle],
        [right],
        colour=BANNER_INK,
        size=np.array([fit(1.15, right, 17.0)]),
        align="right",
        halo=False,
    )


def draw_tally(canvas: Canvas, moment: Moment) -> None:
    """A bar per seat for how often it was named, titled as votes or talk."""
    n, votes = len(moment.votes), moment.votes
    middle, base = (BOTTOM + HEIGHT) / 2, HEIGHT - 0.95
    canvas.boxes("strip", [WIDTH / 2], [middle], WIDTH / 2, HEIGHT - middle, colour=STRIP)
    column = min(WIDEST, (LAST_BAR - FIRST_BAR) / n)
    x = FIRST_BAR + column * (np.arange(n) + 0.5)
    unit = HIGHEST / max(3, int(votes.max(initial=0)))
    high = unit * votes
    chosen = np.arange(n) == moment.chosen
    colour = np.where(chosen[:, None], rgb(CHOSEN_BAR), rgb(BAR)).astype(np.uint8)
    half = 0.4 * column
    fresh = np.ones(n, bool)  # only a bar's position would be interpolated, not its height
    canvas.boxes("tally", x, base - high / 2, half, high / 2, colour=colour, absent=votes == 0, jump=fresh)
    title = "" if not moment.shown else "votes" if moment.counted else "named in talk"
    spoke = int(((moment.names >= 0).any(axis=1) | (moment.words >= 0).any(axis=1)).sum())
    below = f"{spoke} of {int((moment.alive | moment.fallen).sum())} spoke" if moment.shown else ""
    canvas.labels(
        "tally title",
        [0.6, 0.6],
        [middle - 0.3, middle + 0.6],
        [title, below],
        colour=STRIP_INK,
        size=np.array([0.95, 0.7]),
        align="left",
        halo=False,
    )
    if column < 0.5:
        return
    size = min(0.72, 0.95 * column)
    faint = np.where(moment.alive[:, None], rgb(STRIP_INK), rgb("#b4bac1")).astype(np.uint8)
    numbers = [str(seat) for seat in range(n)]
    canvas.labels("tally seats", x, np.full(n, base + 0.45), numbers, colour=faint, size=size, halo=False)
    counts = [str(count) if count else "" for count in votes]
    canvas.labels(
        "tally counts",
        x,
        base - high - 0.32,
        counts,
        colour=STRIP_INK,
        size=size,
        absent=votes == 0,
        jump=fresh,
        halo=False,
    )


def draw_middle(
    canvas: Canvas, moment: Moment, settings: WerewolfSettings, middle: tuple[float, float]
) -> None:
    """The text on the table: the line-up, the sleeping village, or the result."""
    text = ""
    if moment.over:
        text = "the days ran out" if moment.cut else f"{TEAMS[moment.winner]} win"
    elif moment.phase == "":
        text = crew(settings)
    elif not moment.shown:
        text = "the village sleeps" if moment.night else spaced(moment.phase)
    size = fit(2.0 if moment.over else 1.3, text, 17.0)
    x, y, over = [middle[0]], [middle[1]], np.array([moment.over])
    half = 0.23 * size * len(text) + 0.6
    canvas.boxes("plate", x, y, np.array([half]), np.array([0.95 * size]), colour=STRIP, absent=~over)
    ink = shade((BANNER, STRIP), moment) if not moment.over else rgb(_paint(moment))[None]
    canvas.labels("middle", x, y, [text], colour=ink, size=np.array([size]), halo=False)


def _paint(moment: Moment) -> str:
    """The winners' colour, if there are winners."""
    return TEAM_PAINT[moment.winner] if moment.over and moment.winner >= 0 else BANNER


def write_tables(canvas: Canvas, moment: Moment, settings: WerewolfSettings) -> None:
    """The same as tables: status, a row per seat, and the knowledge of extra roles."""
    status = [
        heading(moment),
        spaced(moment.following),
        int(moment.alive.sum()),
        "; ".join(happenings(moment)),
        moment.audience,
    ]
    canvas.table("status", ["moment", "next", "living", "events", "board seen by"], [status])
    speaks = bool(settings.word_length)
    rows = [
        [
            seat,
            NAMES[moment.roles[seat]] if moment.roles[seat] >= 0 else None,
            fate_of(moment, seat) or "alive",
            ballot(moment.names[seat]),
            *[plain(word(moment.words[seat], settings))] * speaks,
        ]
        for seat in range(len(moment.alive))
    ]
    spoken = ["names", *["word"] * speaks]
    canvas.table("board", ["seat", "role", "state", *spoken], rows, history=spoken, heads="status")
    if settings.extra_roles:
        known = [[seat, fact or None] for seat, fact in enumerate(moment.known)]
        canvas.table("knowledge", ["seat", "knows, or did"], known)


def fit(size: float, text: str, room: float) -> float:
    """The line height, reduced where the text would be longer than `room`."""
    return min(size, 2.1 * room / max(len(text), 1))
