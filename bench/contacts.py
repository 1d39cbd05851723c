"""The contact-accuracy figures of the planar physics, as a Markdown table (docs/results/contacts.md).

Run from the repository root; the Box2D rows need ``pip install "interplay[oracle]"``::

    .venv/bin/python -m bench.contacts

The columns of the prototype and of Box2D 2.3.10 are quoted from specification survival 15; they were
not measured by this command.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.planar import measures
from tests.planar.oracle import compare_sight, drift_from_box2d

ROOMS = 150  # different starts of test 2
Row = tuple[str, str, str, str, str]


def momentum_rows() -> Iterator[Row]:
    drift = {
        e: [measures.momentum_drift(scene(e)) for scene in (measures.pairs, measures.cluster)]
        for e in (0.0, 1.0)
    }
    linear = max(d[0] for runs in drift.values() for d in runs)
    angular = [max(d[1] for d in drift[e]) for e in (0.0, 1.0)]
    yield "1 linear momentum error", "1e-12", f"{linear:.0e}", "9e-16", "9e-8"
    yield (
        "1 angular momentum error, e = 0; 1",
        "1e-10",
        f"{angular[0]:.0e}; {angular[1]:.0e}",
        "9e-15; 1.5e-14",
        "2e-2; 4e-5",
    )


def energy_rows() -> Iterator[Row]:
    static = max(measures.energy_growth(seed, boxes_dynamic=False) for seed in range(ROOMS))
    dynamic = [measures.energy_growth(seed, boxes_dynamic=True) for seed in range(ROOMS)]
    head_on = measures.bounce_energy_error(0.0)
    oblique = max(measures.bounce_energy_error(y) for y in (0.3, 0.7, 0.95))
    yield (
        f"2 energy growth per step, e = 0, static boxes, worst of {ROOMS} rooms",
        "1e-9",
        f"{static:.0e}",
        "–",
        "–",
    )
    yield (
        "2 the same, three dynamic boxes: worst; median; rooms above the bound",
        "1e-9",
        f"{max(dynamic):.0e}; {np.median(dynamic):.0e}; {sum(g > 1e-9 for g in dynamic)}",
        "–",
        "–",
    )
    yield "2 energy error at e = 1, head-on", "1e-9", f"{head_on:.0e}", "–", "–"
    yield "2 energy error at e = 1, oblique", "6e-2", f"{oblique:.0e}", "5e-2", "2e-7"


def bounce_rows() -> Iterator[Row]:
    for name, bounce in (("wall", measures.wall_bounce), ("equal circle", measures.pair_bounce)):
        ratios = [bounce(e, 5.0) + 0.0 for e in (0.0, 0.5, 1.0)]
        prototype = "0 / .500 / 1.000" if name == "wall" else "–"
        reached = " / ".join(f"{abs(r):.3f}" for r in ratios)
        yield f"3 restitution 0 / .5 / 1, {name}", "±1e-3", reached, prototype, prototype


def motion_rows() -> Iterator[Row]:
    v, spin = measures.terminal_speeds(pade=False)
    yield "4 terminal speeds", "11.698 m/s, 4.679 rad/s", f"{v:.3f}, {spin:.3f}", "–", "–"
    yield "4 free decay, relative error", "1e-12", f"{measures.decay_error():.0e}", "–", "–"
    walls = max(measures.wall_escape(speed) for speed in measures.SPEEDS)
    boxes = [measures.box_escape(speed, slant) for speed in measures.SPEEDS for slant in (0.0, 0.5)]
    beyond = sum(count for _, count in boxes)
    yield "5 walls, 5–120 m/s: deepest, mm", "1", f"{1e3 * walls:.2f}", "clean", "clean"
    deepest = f"{1e3 * max(d for d, _ in boxes):.2f}; {beyond}"
    yield "5 thin box, 5–120 m/s: deepest, mm; passages", "1; 0", deepest, "clean", "clean"


def crowd_rows() -> Iterator[Row]:
    slop = 5.0
    peak, settled = (1e3 * d for d in measures.row_of_boxes())
    in_slops = f"{peak / slop:.1f} / {settled / slop:.1f}"
    yield (
        "6 row of 3 boxes, peak / settled, mm",
        "15 / 8",
        f"{peak:.1f} / {settled:.1f}",
        "6.2 / 5.6",
        "3.0 / 0.0",
    )
    yield "6 the same in slops of 5 mm", "3 / 1.6", in_slops, "1.2 / 1.1", "0.6 / 0.0"
    runs = [measures.crowd(seed) for seed in range(5)]
    peak, settled = 1e3 * max(r[0] for r in runs), 1e3 * max(r[1] for r in runs)
    in_slops = f"{peak / slop:.1f} / {settled / slop:.1f}"
    name = "6 crowd, peak / settled, mm, worst of 5 seeds"
    yield name, "50 / 10", f"{peak:.1f} / {settled:.1f}", "33 / 3.7", "109 / 10.6"
    yield "6 the same in slops of 5 mm", "10 / 2", in_slops, "6.6 / 0.7", "21.8 / 2.1"
    steps, speed = measures.overlapped_spawn()
    yield "7 overlapped spawn: steps, leftover m/s", "20, 1", f"{steps}, {speed:.2f}", "11, .46", "2, 0"


def friction_rows() -> Iterator[Row]:
    slide = measures.slide_along_wall()
    reached = f"{slide['ratio'].max() - 0.2:.0e}; {slide['v'][-1]:.4f}; {slide['spin'][-1]:.4f}"
    yield "8 impulse ratio beyond μ; rolling m/s; rad/s", "1e-9; 2; 4", reached, "–", "–"


def oracle_rows() -> Iterator[Row]:
    try:
        import Box2D  # noqa: F401
    except ImportError:
        yield "11 oracle", "–", 'not run: pip install "interplay[oracle]"', "–", "–"
        return
    found = compare_sight(seed=0, scenes=500)
    pairs = f"{found['wrong_pairs']} of {found['pairs']} ({found['visible']} visible)"
    rays = f"{found['wrong_rays']} of {found['rays']} ({found['hits']} hits)"
    yield "11 vision against Box2D, 500 scenes: disagreements", "0", pairs, "0 of 3076 visible", "–"
    yield "11 melee rays against Box2D: disagreements", "0", rays, "0 of 1862", "–"
    at_60, at_120 = np.median(drift_from_box2d(seed=0, scenes=100, marks=(60, 120)), axis=1)
    yield (
        "11 trajectories against Box2D, median m at 60; 120",
        ".001; .05",
        f"{at_60:.0e}; {at_120:.3f}",
        "–; .016",
        "–",
    )


def main() -> None:
    parts = (momentum_rows, energy_rows, bounce_rows, motion_rows, crowd_rows, friction_rows, oracle_rows)
    print("| test | bound | interplay | prototype | Box2D 2.3.10 |")
    print("|---|---|---|---|---|")
    for part in parts:
        for row in part():
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
