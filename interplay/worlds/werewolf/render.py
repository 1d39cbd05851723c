"""State -> drawing primitives: the players around the table, their ballots and words, the dead, the winners.

Everything is drawn from a `spectator.Moment`, the public view; with the world's `privileged_view` it includes roles and the
pack's boards. Row i of a layer belongs to seat i, or to place i of the words in seat order.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from interplay.core.scene import rgb
from interplay.worlds.werewolf.drawing import arrows, panels, words
from interplay.worlds.werewolf.drawing.seating import MOST_ON_A_RING, Seating, beside, seats
from interplay.worlds.werewolf.drawing.spectator import HIDDEN, Moment, fate_of
from interplay.worlds.werewolf.roles import ROLES, WOLVES
from interplay.worlds.werewolf.state import FATES

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.werewolf.config import WerewolfSettings

WIDTH, HEIGHT = panels.WIDTH, panels.HEIGHT
MIDDLE = (WIDTH / 2, (panels.TOP + panels.BOTTOM) / 2)
SEAT, SHARE = 1.3, 0.3  # radius of a seat at most, also as a share of the distance between neighbours
CLEAR = 1.58  # radii covered by a seat's rings
# Half length of the ring: few seats, words beside its ends, several rings.
WIDE, NARROW, CROWD = 14.6, 12.9, 16.7
HIGHEST, CROWD_HIGH = 6.6, 7.9  # half its height at most
FEW = 12  # seats with words only above and below them
LONGEST = 12.0  # of a row of chips
EDGE_OF_PAGE = 0.25
PAGE = (EDGE_OF_PAGE, WIDTH - EDGE_OF_PAGE)
FATE = 0.8  # largest height of the line with the cause of death

# Day, night.
SKY = ("#e4ecf1", "#232c4d")
WOOD = ("#dcc09a", "#4c4a68")
EDGE = ("#a88455", "#34334f")
GONE = ("#868e96", "#8f97b3")
PAPER, INK = "#ffffff", "#20242b"


def draw_moment(canvas: Canvas, moment: Moment, settings: WerewolfSettings) -> None:
    """Draws a spectator's view."""
    canvas.show(0, 0, WIDTH, HEIGHT, up="south")
    table, layout = arrange(settings.n_players, settings.signal_length, settings.claims)
    draw_ground(canvas, moment, table)
    arrows.draw_names(canvas, moment, table, MIDDLE)
    draw_marks(canvas, moment, table)
    draw_seats(canvas, moment, table)
    draw_roles(canvas, moment, table)
    draw_fates(canvas, moment, table)
    words.draw_words(
        canvas, moment, settings, layout, *beside(table, layout.width, layout.height, CLEAR, *PAGE)
    )
    panels.draw_banner(canvas, moment, settings)
    panels.draw_tally(canvas, moment)
    panels.draw_middle(canvas, moment, settings, MIDDLE)
    panels.write_tables(canvas, moment, settings)


@cache
def arrange(n: int, length: int, claims: bool) -> tuple[Seating, words.Layout]:
    """Positions of `n` seats and the layout of their words."""
    crowd = n > MOST_ON_A_RING
    half_x = CROWD if crowd else NARROW if n > FEW and (length or claims) else WIDE
    table = seats(n, MIDDLE, (half_x, CROWD_HIGH if crowd else HIGHEST - 0.5), SEAT, SHARE)
    room = 0.92 * table.apart if crowd else min(0.92 * table.apart, WIDTH / 2 - WIDE if n > FEW else LONGEST)
    layout = words.lay_out(length, claims, room, 1 if crowd else words.MOST_ROWS)
    if not crowd:
        high = (
            (panels.BOTTOM - panels.TOP) / 2 - CLEAR * table.radius - max(layout.height, FATE) - EDGE_OF_PAGE
        )
        table = seats(n, MIDDLE, (half_x, min(HIGHEST, high)), SEAT, SHARE)
    return table, layout


def draw_ground(canvas: Canvas, moment: Moment, table: Seating) -> None:
    """Day or night, and the table."""
    canvas.boxes("sky", [WIDTH / 2], [HEIGHT / 2], WIDTH / 2, HEIGHT / 2, colour=panels.shade(SKY, moment))
    turn = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    for name, grown, colours in (("edge", 0.28, EDGE), ("table", 0.0, WOOD)):
        x = MIDDLE[0] + (table.table[0] + grown) * np.cos(turn)
        y = MIDDLE[1] + (table.table[1] + grown) * np.sin(turn)
        canvas.polygons(name, x, y, colour=panels.shade(colours, moment))


def draw_marks(canvas: Canvas, moment: Moment, table: Seating) -> None:
    """A thick ring around seats chosen or dead in this step."""
    marked = moment.fallen | (np.arange(len(moment.alive)) == moment.chosen)
    canvas.circles(
        "chosen",
        table.x,
        table.y,
        1.32 * table.radius,
        colour=panels.shade(arrows.CHOSEN, moment, len(marked)),
        fill=False,
        width=0.2 * table.radius,
        absent=~marked,
    )


def draw_seats(canvas: Canvas, moment: Moment, table: Seating) -> None:
    """Discs with numbers, faint rings for the dead, dashed rings for suspects of a revote."""
    n = len(moment.alive)
    gone = panels.shade(GONE, moment, n)
    canvas.circles(
        "agents",
        table.x,
        table.y,
        table.radius,
        colour=seat_colours(moment),
        absent=~moment.alive,
        marks={"suspect": moment.suspect},
    )
    canvas.circles(
        "dead",
        table.x,
        table.y,
        0.94 * table.radius,
        colour=gone,
        fill=False,
        width=0.07 * table.radius,
        absent=moment.alive,
    )
    known = (moment.roles != HIDDEN)[:, None]
    ink = np.where(known, rgb(PAPER), rgb(INK))
    canvas.labels(
        "numbers",
        table.x,
        table.y,
        [str(seat) for seat in range(n)],
        colour=np.where(moment.alive[:, None], ink, gone).astype(np.uint8),
        size=min(1.15 * table.radius, 1.3),
        halo=False,
    )


def seat_colours(moment: Moment) -> np.ndarray:
    """(n, 3) uint8: the team's colour, or paper if the role is hidden."""
    colours = np.tile(rgb(PAPER), (len(moment.roles), 1))
    for seat in np.flatnonzero(moment.roles != HIDDEN):
        colours[seat] = rgb(panels.TEAM_PAINT[ROLES[moment.roles[seat]].team])
    return colours.astype(np.uint8)


def draw_roles(canvas: Canvas, moment: Moment, table: Seating) -> None:
    """Each known role's letter on a badge: a diamond for the wolves' team, a square for the villagers'."""
    known = moment.roles != HIDDEN
    wolves = np.array([role != HIDDEN and ROLES[role].team == WOLVES for role in moment.roles])
    x, y = table.x - 0.86 * table.radius, table.y - 0.86 * table.radius
    half = 0.46 * table.radius
    for name, team, angle in (("badges", wolves, np.pi / 4), ("square badges", ~wolves, 0.0)):
        canvas.boxes(
            name,
            x,
            y,
            half,
            half,
            angle,
            colour=PAPER,
            absent=~(known & team),
        )
        canvas.boxes(
            f"{name}, rims",
            x,
            y,
            half,
            half,
            angle,
            colour=INK,
            fill=False,
            width=0.07 * table.radius,
            absent=~(known & team),
        )
    texts = [ROLES[role].mark if role != HIDDEN else "" for role in moment.roles]
    canvas.labels("roles", x, y, texts, colour=INK, absent=~known, size=0.85 * table.radius, halo=False)


def draw_fates(canvas: Canvas, moment: Moment, table: Seating) -> None:
    """The causes of death, in place of the words."""
    n = len(moment.alive)
    texts = [fate_of(moment, seat) for seat in range(n)]
    longest = max(map(len, FATES))
    size = min(FATE, 0.95 * table.apart / (longest * words.LETTER))
    x, y = beside(table, longest * words.LETTER * size, size, CLEAR, *PAGE)
    silent = (moment.words < 0).all(axis=1) if moment.words.shape[1] else np.ones(n, bool)
    canvas.labels(
        "fates",
        x,
        y,
        texts,
        colour=panels.shade(GONE, moment, n),
        absent=moment.alive | ~silent,
        size=size,
        halo=False,
    )
