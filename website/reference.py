"""Reference pages: which modules users import, each page its docstrings."""

from __future__ import annotations

from pathlib import Path

# Page -> (title, modules), in the order in which a user meets them.
PAGES = {
    "interplay": ("interplay", ["interplay"]),
    "worlds": (
        "Worlds, time steps, policies",
        [
            "interplay.core.world",
            "interplay.core.policy",
            "interplay.core.spec",
            "interplay.registry",
            "interplay.core.errors",
        ],
    ),
    "simulations": (
        "Simulations",
        ["interplay.sim.agents", "interplay.sim.simulation", "interplay.sim.managers", "interplay.gridworld"],
    ),
    "interfaces": (
        "Interfaces",
        [
            "interplay.interfaces.interface",
            "interplay.interfaces.world",
            "interplay.interfaces.agents",
            "interplay.interfaces.names",
        ],
    ),
    "settings": ("Settings of training", ["interplay.train.settings"]),
    "connect": ("Other libraries", ["interplay.connect.pettingzoo", "interplay.connect.gymnasium"]),
    "testing": ("Checks for your own tests", ["interplay.testing"]),
}


def write_reference(target: Path) -> list[str]:
    """Writes ``reference/*.md``.

    Returns:
        Names of the pages.
    """
    folder = target / "reference"
    folder.mkdir()
    for name, (title, modules) in PAGES.items():
        text = f"# {title}\n"
        for module in modules:
            # What the package hands on stands where it is made, once.
            hidden = "\n   :exclude-members: UserError, WorldSpec" if module == "interplay" else ""
            text += f"\n## `{module}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n   :show-inheritance:{hidden}\n```\n"
        (folder / f"{name}.md").write_text(text)
    return list(PAGES)
