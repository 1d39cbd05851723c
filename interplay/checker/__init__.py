"""The conformance checker: plays a world and reports every law of the protocol that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection

from interplay.checker.bench import Bench, Broken, MakeWorld, described
from interplay.checker.copies import check_copies
from interplay.checker.global_state import check_global_state
from interplay.checker.layout import check_identity, check_layout, check_memory
from interplay.checker.lockstep import run_in_step
from interplay.checker.masks import check_masks
from interplay.checker.people import check_people
from interplay.checker.refusals import check_refusals
from interplay.checker.report import LAWS, Finding, Report
from interplay.checker.scenes import check_scenes
from interplay.checker.snapshots import check_arrays, check_snapshots
from interplay.checker.streams import check_streams
from interplay.checker.wild import check_declared, check_wild_snapshots
from interplay.core.errors import CannotSave, UserError
from interplay.core.masks import masked_heads
from interplay.core.overdue import OVERDUE
from interplay.core.world import Array, World

BLOCKED = 120.0  # seconds after which a step that does not come back is a finding

__all__ = ["LAWS", "Finding", "Report", "check_world"]


def check_world(
    make: MakeWorld,
    *,
    steps: int = 300,
    seed: int = 0,
    num_worlds: int = 4,
    alive: Callable[[World], Array] | None = None,
    ignore: Collection[str] = (),
) -> Report:
    """Plays a world with random legal actions and checks every law of the protocol (`LAWS`).

    It builds several batches of the world: equal twins, other sizes (1, 3, 7), turned positions. A fault that
    shows only after a while is found if it shows within `steps` steps.

    Args:
        make: ``make(num_worlds, seed)`` builds one more batch.
        steps: length of the long run, over as many episodes as fit.
        seed: of the run; the same seed gives the same report.
        num_worlds: W of the reference batch; two or more, or resets of chosen worlds cannot be judged.
        alive: the living agents, (W, A) bool, in worlds where the dead stay present; by default the (W, A) metric
            ``alive``, if the world has one. Other agents may not act.
        ignore: laws that are not to be reported.

    Returns:
        The report; ``report.ok`` is True if every law holds.

    Example:
        >>> from interplay.checker import LAWS
        >>> "determinism" in LAWS
        True
    """
    unknown = sorted(set(ignore) - set(LAWS))
    if unknown:
        raise UserError(f"check_world: ignore names unknown laws {', '.join(unknown)}; see LAWS")
    if steps < 1 or num_worlds < 1:
        raise UserError(f"check_world: steps = {steps}, num_worlds = {num_worlds}; both are at least 1")
    report = Report("world", ignore=frozenset(ignore))
    bench = Bench(make, steps, seed, num_worlds, report, alive)
    try:
        with OVERDUE.limited(BLOCKED):
            _check(bench)
    finally:
        for name in bench.generators.touched():
            bench.add("global-random", f"the world used the global generator of {name}", field=name)
        bench.generators.restore()
    return report


def _check(bench: Bench) -> None:
    """The parts of the check, in order; a part is skipped if an earlier one that it needs is broken."""
    report = bench.report
    if not _passes(bench, _look):
        report.skipped.append("everything else, until the first time step is sound")
        return
    _passes(bench, check_refusals)
    if not _passes(bench, run_in_step):
        report.skipped.append("the rest of the long run, which broke off")
    ground = {"determinism", "crash", "shape", "dtype"}
    if report.broken(ground) or bench.generators.touched():
        report.skipped.append("seeds, snapshots and masks, until the world is deterministic and whole")
        return
    _passes(bench, check_streams)
    if bench.can_save and not _passes(bench, check_declared):
        report.skipped.append("snapshots, copies and masks, until the world's own states lie in their ranges")
        _passes(bench, check_scenes)
        return
    if bench.can_save:
        _passes(bench, check_snapshots)
    if not bench.can_save and not report.broken({"save-load"}):
        report.skipped.append("what needs snapshots: copies, the global state, whether masks are honoured")
    elif not bench.can_save or report.broken({"save-load"}):
        report.skipped.append(
            "copies, the global state, wild snapshots and whether masks are honoured, until snapshots are exact"
        )
    else:
        _passes(bench, check_masks)
        _passes(bench, check_copies)
        _passes(bench, check_global_state)
        _passes(bench, check_wild_snapshots)
    _passes(bench, check_scenes)
    _passes(bench, check_people)


def _passes(bench: Bench, part: Callable[[Bench], None]) -> bool:
    try:
        part(bench)
    except Broken:
        return False
    return True


def _look(bench: Bench) -> None:
    """The first look: one batch, one reset."""
    world = bench.build()
    bench.report.world = world.id or type(world).__name__
    if not isinstance(world, World) or world.num_worlds != bench.num_worlds:
        bench.add(
            "identity", f"make({bench.num_worlds}, seed) did not give a World of that many", field="make"
        )
        raise Broken
    check_identity(bench, world)
    step = bench.attempt(world.reset, "reset", 0)
    check_layout(bench, world, step, 0)
    bench.report.masks = masked_heads(world, step)
    check_memory(bench, world, step)
    _check_saves(bench, world)


def _check_saves(bench: Bench, world: World) -> None:
    """Whether the world can be saved, as arrays by world: if not, a finding, or a note for worlds without snapshots, and the check continues."""
    try:
        check_arrays(bench, world, world.save(), 0)
    except CannotSave as error:
        bench.report.skipped.append(f"save and load, which this world does not promise ({error})")
        bench.can_save = False
    except Broken:
        bench.can_save = False
    except Exception as error:
        bench.add("save-load", f"save raised {described(error)}", step=0, field="save")
        bench.can_save = False
