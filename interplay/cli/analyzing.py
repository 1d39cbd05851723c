"""`interplay analyze`: a script over an experiment's simulation, or overlays of a world that is played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interplay.cli.declared import declared
from interplay.core.errors import UserError
from interplay.core.loading import load


@declared(
    short={"checkpoint": "-c"}, run="RUN|POLICY", words="[SCRIPT.py | OPTION=VALUE...]", beside="RUN|POLICY"
)
def analyze(
    run: str,
    words: Sequence[str] = (),
    *,
    checkpoint: int | None = None,
    seed: int | None = None,
    overlay: Sequence[str] = (),
    out: Path | None = None,
    world: str = "",
    population: int | None = None,
    ticks: int = 1_000,
    burn_in: int = 0,
    num_worlds: int = 1,
    world_seed: int | None = None,
    beside: Sequence[str] = (),
    trust: bool = False,
) -> None:
    """Calls a script's run(sim, trainer) with the trained policies, or measures a world in play (--overlay).

    Args:
        run: a run folder; for overlays also a scripted policy.
        words: a Python file with run(sim, trainer), or with --overlay options of the world.
        checkpoint: number of a checkpoint. None: the last.
        seed: of simulation and policies.
        overlay: of mmo: values, exploration, dependence, combat, blows, niches, lives, coverage; of survival: strikes, items, deaths, zone; or
            module:name.
        out: folder for an overlay's .npz, .json and .png.
        world: the overlays' world; a run brings its own.
        population: look at this one only.
        ticks: ticks to record.
        burn_in: ticks played before.
        num_worlds: worlds side by side, on one map.
        world_seed: of the map.
        beside: another one in the overlays' pictures, in its own world.

    Example:
        interplay analyze ~/interplay_results/MultiCorridor_2025-03-01_09-05 my_analysis.py
        interplay analyze runs/first --overlay values --overlay dependence --out pictures
        interplay analyze runs/small --beside runs/large --overlay blows --out pictures
        interplay analyze forager --world mmo/forage --overlay coverage --ticks 2000 --out pictures npop=4
    """
    if overlay:
        from interplay.cli.overlays import analyse_overlays

        analyse_overlays(
            _player(run, checkpoint),
            overlay,
            words,
            out,
            world=world,
            population=population,
            ticks=ticks,
            burn_in=burn_in,
            num_worlds=num_worlds,
            seed=seed or 0,
            world_seed=world_seed,
            beside=beside,
            trust=trust,
        )
        return
    if beside:
        raise UserError(f"--beside {beside[0]}: only overlays stand beside each other; add --overlay NAME")

    command = load("interplay.experiment.commands:analyze")
    command(Path(run), _script(words), trust, checkpoint=checkpoint, seed=seed)


def _player(run: str, checkpoint: int | None) -> str:
    """The run, or one of its checkpoints."""
    if checkpoint is None:
        return run
    from interplay.train.run.checkpoint import checkpoint_path, list_checkpoints

    path = checkpoint_path(run, checkpoint)
    there = ", ".join(str(int(one.name)) for one in list_checkpoints(run))
    if there and not path.is_dir():
        raise UserError(f"-c {checkpoint}: {run} has no such checkpoint; it has {there}")
    return str(path)


def _script(words: Sequence[str]) -> str:
    if not words or len(words) > 1:
        given = " ".join(words) if words else "nothing"
        raise UserError(
            f"analyze: one SCRIPT.py or an --overlay is needed, there is {given}; see `interplay analyze --help`"
        )
    return words[0]
