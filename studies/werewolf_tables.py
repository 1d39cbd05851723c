"""Tables of the study of werewolf, in Markdown; what they mean stands in docs/results/werewolf.md. See `studies.werewolf_study`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from interplay.evaluate.statistics import wilson
from studies.werewolf_measures import Measures, Run, half_width, last_line, random_wins

GOOD, COLLAPSED = 0.8, 0.5  # win rates at or above which villagers have learnt, and below which they have not
WOLVES = ("random_target", "static_signal", "muted_wolf", "mimic_wolf", "avoid_wolves", "unite", "revenge")
ARMS = ("signals_off", "signals_shuffled", "targets_off", "talk_off")
CROSSPLAY_GAMES, CROSSPLAY = 500, "9-l1s9"

Cell = tuple[tuple[str, str], list[Run]]  # study and variant, and their runs


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Runs that differ in their seeds alone."""
    order = sorted(runs, key=lambda run: (run.study, run.variant, run.seed))
    return [(key, list(own)) for key, own in groupby(order, key=lambda run: (run.study, run.variant))]


def wins(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """Each run, and each cell, against its own opponents."""
    yield from head("study", "world", "seed", "villagers win", "95 %", "agent-steps", "wall time, s")
    for run in runs:
        said, last = measures.wins(run), last_line(run)
        low, high = wilson(said["won"], said["games"])
        yield row(
            run.study,
            run.variant,
            run.seed,
            f"{share(said):.3f}",
            f"{low:.3f} .. {high:.3f}",
            f"{last['agent_steps']:,}",
            f"{last['time']:.0f}",
        )
    chance = random_wins()
    yield ""
    yield from head(
        "study", "world", "seeds", "villagers win", "skill", f"at {GOOD} or above", f"below {COLLAPSED}"
    )
    for key, own in cells(runs):
        won = [share(measures.wins(run)) for run in own]
        skill = [(p - chance) / (1 - chance) for p in won]
        good, bad = (sum(test) for test in ([p >= GOOD for p in won], [p < COLLAPSED for p in won]))
        yield row(*key, len(own), over(won), over(skill), f"{good} of {len(own)}", f"{bad} of {len(own)}")


def other_wolves(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """Villagers that learnt against random wolves, against others."""
    yield from head("world", "wolves", "villagers win, mean over seeds", "by seed")
    for (_, variant), group in cells(run for run in runs if run.study == "random"):
        for name in WOLVES:
            won = [share(measures.wins(run, werewolf=name)) for run in group]
            yield row(variant, f"`{name}`", over(won), " ".join(f"{value:.3f}" for value in won))


def arms(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """What villagers lose when talk is taken away, against the wolves that they learnt against."""
    yield from head(
        "study", "world", "taken away", "lost win rate, mean over seeds", "by seed", "seeds that lose"
    )
    talking = (run for run in runs if run.study in ("random", "both") and "-l" in run.variant)
    for (study, variant), group in cells(talking):
        found = [measures.arms(run) for run in group]
        for arm in (arm for arm in ARMS if arm in found[0]):
            lost = [f[arm]["difference"] for f in found]
            loses = sum(f[arm]["difference"] > 1.96 * (f[arm]["error"] or 0) for f in found)
            each = " ".join(f"{value:+.3f}" for value in lost)
            yield row(study, variant, f"`{arm}`", over(lost, "+"), each, f"{loses} of {len(found)}")


def talk(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """What words tell, run by run, and how much another word moves who learnt, over seeds."""
    talking = [run for run in runs if run.study in ("random", "both") and "-l" in run.variant]
    told = [(run, measures.talk(run)) for run in talking]
    yield from head(
        "study", "world", "seed", "signal-role, bits", "null 95 %", "p", "signal-vote p", "heard-vote p",
        "probe AUC", "its null 95 %", "villagers' words", "commonest", "wolves' words", "commonest", "signals",
    )  # fmt: skip
    for run, found in told:
        yield row(run.study, run.variant, run.seed, *instruments(found))
    yield ""
    yield from head("study", "world", "who", "phase", "seeds", "whom it names, nats", "what it says, nats")
    moved: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run, found in told:
        for edit in found["edits"]:
            moved.setdefault((run.study, run.variant, edit["population"], edit["phase"]), []).append(edit)
    for key, edits in moved.items():
        parts = ([edit[part]["mean"] for edit in edits] for part in ("name", "word"))
        yield row(*key, len(edits), *(over(values) for values in parts))


def instruments(found: dict[str, Any]) -> list[str]:
    """The figures of a run's words as cells."""
    role, probe, words = found["role"], found["probe"], found["language"]
    cells = [f"{role['observed']:.4f}", f"{role['null_95']:.4f}", chance_of(role)]
    cells += [chance_of(found["vote"]), chance_of(found["heard"])]
    cells += [f"{probe['observed']:.3f}", f"{probe['null_95']:.3f}"] if probe else ["-", "-"]
    for team in ("villagers", "wolves"):
        said = words.get(team)
        cells += [str(said["unique"]), f"{said['commonest']:.2f}"] if said else ["-", "-"]
    return [*cells, "yes" if found["signalling"] else "no"]


def beliefs(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """How good guesses are, run by run, beside an exact observer's."""
    yield from head(
        "study",
        "world",
        "seed",
        "beliefs",
        "Brier, players",
        "exact observer",
        "the same for all",
        "players - observer",
    )
    for run in (run for run in runs if run.study in ("listening", "speaking")):
        found = measures.beliefs(run)
        own, exact = found["own"], found["exact"]
        yield row(
            run.study,
            run.variant,
            run.seed,
            f"{own['beliefs']:,}",
            f"{own['brier']['mean']:.4f}",
            f"{exact['brier']['mean']:.4f}",
            f"{own['base_brier']:.4f}",
            error(own["against_brier"]),
        )


def crossplay(runs: Sequence[Run], measures: Measures) -> Iterator[str]:
    """Villagers of each seed against wolves of each."""
    own = [run for run in runs if run.study == "both" and run.variant == CROSSPLAY]
    if not own:
        return
    won = np.array(
        [
            [share(measures.wins(v, CROSSPLAY_GAMES, werewolf=str(w.path))) for w in own] for v in own
        ]
    )  # fmt: skip
    yield from head(f"villagers win, {CROSSPLAY_GAMES} games each", *(f"wolves {run.seed}" for run in own))
    for run, line in zip(own, won, strict=True):
        yield row(f"villagers {run.seed}", *(f"{p:.3f}" for p in line))
    yield ""
    yield f"With their own wolves: {over(won.diagonal().tolist())}"
    if len(own) > 2:
        # Against the mean of a run's row and of its column: neither good villagers nor good wolves count as belonging together.
        elsewhere = (won.sum(axis=0) + won.sum(axis=1) - 2 * won.diagonal()) / (2 * len(own) - 2)
        yield f"with others' wolves, or others with theirs: {over(elsewhere.tolist())}"
        yield f"difference, run by run: {over((won.diagonal() - elsewhere).tolist(), '+')}"


def share(won: dict[str, Any]) -> float:
    """A win rate."""
    return float(won["won"] / won["games"])


def over(values: Sequence[float], sign: str = "") -> str:
    """Mean over seeds with its 95 % interval."""
    if not values:
        return "-"
    half = half_width(values)
    return f"{np.mean(values):{sign}.3f}" + ("" if half is None else f" ± {half:.3f}")


def error(value: dict[str, Any]) -> str:
    """Mean over viewers with its 95 % interval."""
    spread = value["standard_error"]
    return f"{value['mean']:.4f}" + ("" if spread is None else f" ± {1.96 * spread:.4f}")


def chance_of(finding: dict[str, Any] | None) -> str:
    """The share of permutations that reach a figure."""
    return "-" if finding is None else f"{finding['p']:.3g}"


def head(*names: str) -> Iterator[str]:
    """The first two lines of a table."""
    yield row(*names)
    yield row(*["---"] * len(names))


def row(*cells: Any) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"
