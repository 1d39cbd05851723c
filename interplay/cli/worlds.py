"""`interplay worlds`: what can be made here, and what one world is made of."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

import typer

from interplay.cli.declared import declared

if TYPE_CHECKING:
    from interplay.view.facts import Facts, Leaf, Option


@declared(world="WORLD")
def worlds(world: str | None = None, *, json: bool = False) -> None:
    """Lists the worlds, built in and installed, or describes one of them.

    Args:
        world: one world: what agents see and do, options, players, metrics; or a family: its worlds.

    Example:
        interplay worlds
        interplay worlds survival/1v1-heals-low
    """
    from interplay.core.loading import load
    from interplay.registry import list_worlds

    specs = list_worlds()
    family = [] if world is None else [s for s in specs if s.id.startswith(f"{world.rstrip('/')}/")]
    if world is not None and (not family or world in [s.id for s in specs]):
        from dataclasses import asdict

        from interplay.view.facts import facts_of

        facts = facts_of(world)
        if json:
            typer.echo(json_text.dumps(asdict(facts), indent=1))
        else:
            _tell(facts)
        return
    specs = tuple(family) or specs
    missing = [load(s.missing)() if s.missing else "" for s in specs]
    if json:
        rows = [
            {"id": s.id, "summary": s.summary, **({"missing": cure} if cure else {})}
            for s, cure in zip(specs, missing, strict=True)
        ]
        typer.echo(json_text.dumps(rows, indent=2))
        return
    width = max((len(s.id) for s in specs), default=0)
    for spec, cure in zip(specs, missing, strict=True):
        typer.echo(f"{spec.id:<{width}}  {spec.summary}{cure and f' (missing: {cure})'}")


def _tell(facts: Facts) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{escape(facts.id)}[/]  {escape(facts.summary)}")
    for kind in facts.kinds:
        console.print(f"\n{len(kind.agents)} x {escape(kind.name)}: {escape(_short(kind.agents))}")
        for title, leaves in (("observation", kind.observation), ("action", kind.action)):
            console.print(_table(title, leaves))
    for number, team in enumerate(facts.teams):
        console.print(f"team {number}: {escape(_short(team))}")
    for title, names in (
        ("populations", facts.populations),
        ("players", facts.policies),
        ("metrics", facts.metrics),
    ):
        if names:
            console.print(f"{title}: {escape(', '.join(names))}")
    if facts.state is not None:
        console.print(
            f'a central critic may see {facts.state} numbers (network.critic = "world")', markup=False
        )
    for trait in facts.traits:
        console.print(escape(trait))
    if facts.options:
        options = Table("option", "default", "what it is", box=None, pad_edge=False)
        for option in facts.options:
            options.add_row(escape(option.name), escape(option.default), escape(_says(option)))
        console.print()
        console.print(options)


def _table(title: str, leaves: tuple[Leaf, ...]):  # type: ignore[no-untyped-def]
    from rich.table import Table

    table = Table(title, "shape", "type", "values", box=None, pad_edge=False)
    for leaf in leaves:
        shape = " x ".join(map(str, leaf.shape)) or "one"
        table.add_row(leaf.name or "-", shape, leaf.dtype, leaf.says)
    return table


def _short(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:3])}, ..., {names[-1]}"


def _says(option: Option) -> str:
    """What an option is; of a choice among names also these, where the words leave one out."""
    named = option.allowed.removeprefix("one of ").split(", ") if option.allowed.startswith("one of ") else []
    if option.says and all(name in option.says for name in named):
        return option.says
    return f"{option.says} ({option.allowed})" if option.says else option.allowed
