"""A page for each family of worlds: its variants, what agents see and do, options, players, a picture; all read from the worlds."""

from __future__ import annotations

from pathlib import Path

from interplay.registry import installed_ids
from interplay.view.facts import Facts, KindFacts, Leaf, facts_of

GUIDES = {  # family -> its guide
    "mmo": "mmo.md",
    "werewolf": "werewolf.md",
    "battle": "battle.md",
    "pommerman": "pommerman.md",
    "doom": "doom.md",
    "pong": "pong.md",
    "soccer": "soccer.md",
    "matrix": "matrix-games.md",
    "dilemma": "matrix-games.md",
    "gridworld": "gridworld.md",
    "navigation": "navigation.md",
    "simulation": "simulations.md",
    "survival": "specs/survival.md",
    "sc2": "starcraft.md",
}
PICTURES = {"simulation": ["corridor"], "navigation": ["town", "proxy"]}


def write_worlds(target: Path) -> list[str]:
    """Writes ``worlds/FAMILY.md`` for every family of installed worlds.

    Returns:
        Names of the families.
    """
    folder = target / "worlds"
    folder.mkdir()
    families: dict[str, list[Facts]] = {}
    for world_id in installed_ids():
        families.setdefault(world_id.split("/")[0], []).append(facts_of(world_id))
    for family, worlds in families.items():
        (folder / f"{family}.md").write_text(_page(target, family, worlds))
    return list(families)


def _page(target: Path, family: str, worlds: list[Facts]) -> str:
    lines = [f"# {family}", ""]
    names = PICTURES.get(family) or [family, *(w.id.split("/")[1] for w in worlds)]
    for name in names:
        if (target / "images" / f"{name}.png").exists():
            lines += [f"![{name}](../images/{name}.png)", ""]
    if family in GUIDES:
        lines += [f"Rules, rewards and players in words: [the guide](../{GUIDES[family]}).", ""]
    lines += ["## Variants", "", "| world | what it is | agents | players |", "|---|---|---|---|"]
    for world in worlds:
        agents = sum(len(kind.agents) for kind in world.kinds)
        teams = f" in {len(world.teams)} teams" if world.teams else ""
        lines.append(
            f"| `{world.id}` | {world.summary} | {agents}{teams} | {', '.join(f'`{p}`' for p in world.policies)} |"
        )
    alike: dict[object, list[Facts]] = {}
    for world in worlds:
        alike.setdefault([(k.observation, k.action) for k in world.kinds].__repr__(), []).append(world)
    for same in alike.values():
        lines += ["", f"## {', '.join(f'`{world.id}`' for world in same)}"]
        for kind in same[0].kinds:
            lines += _kind(kind, len(same[0].kinds) > 1)
        first = same[0]
        if first.state is not None:
            lines += ["", f'A central critic may see {first.state} numbers (`network.critic = "world"`).']
        if first.metrics:
            lines += ["", "It counts: " + ", ".join(f"`{name}`" for name in first.metrics) + "."]
        if first.traits:
            lines += ["", "; ".join(first.traits).capitalize() + "."]
    lines += _options(worlds)
    return "\n".join(lines) + "\n"


def _kind(kind: KindFacts, several: bool) -> list[str]:
    title = f" of `{kind.name}`" if several else ""
    return [*_table(f"Observation{title}", kind.observation), *_table(f"Action{title}", kind.action)]


def _table(title: str, leaves: tuple[Leaf, ...]) -> list[str]:
    lines = ["", f"| {title} | shape | type | values |", "|---|---|---|---|"]
    for leaf in leaves:
        shape = " x ".join(map(str, leaf.shape)) or "one number"
        lines.append(f"| `{leaf.name or '(the array itself)'}` | {shape} | {leaf.dtype} | {leaf.says} |")
    return lines


def _options(worlds: list[Facts]) -> list[str]:
    """One table for each set of options; what variants set otherwise stands below it."""
    lines: list[str] = []
    groups: dict[tuple[str, ...], list[Facts]] = {}
    for world in worlds:
        groups.setdefault(tuple(option.name for option in world.options), []).append(world)
    for names, same in groups.items():
        if not names:
            continue
        base = min(same, key=lambda one: sum(len(_others(one, other)) for other in same))
        of = "" if len(groups) == 1 else " of " + ", ".join(f"`{world.id}`" for world in same)
        lines += ["", f"## Options{of}", "", f"Defaults are those of `{base.id}`.", ""]
        lines += ["| option | default | takes | what it is |", "|---|---|---|---|"]
        for option in base.options:
            lines.append(
                f"| `{option.name}` | {_cell(option.default)} | {_cell(option.allowed)} | {_cell(option.says)} |"
            )
        for world in same:
            if other := _others(base, world):
                lines += ["", f"`{world.id}`: {', '.join(other)}."]
    return lines


def _others(base: Facts, world: Facts) -> list[str]:
    """What a variant sets otherwise than the base."""
    pairs = zip(base.options, world.options, strict=True)
    return [f"`{own.name}` = {_cell(own.default)}" for first, own in pairs if own.default != first.default]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
