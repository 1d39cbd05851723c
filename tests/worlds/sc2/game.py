"""Puts the stand-in where the game would be."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MAPS = ("Flat64", "KairosJunctionLE")


def install(folder: Path) -> Path:
    """A folder for SC2PATH with the stand-in as its program."""
    program = folder / "Versions" / "Base75689" / "SC2_x64"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.worlds.sc2.server "$@"\n'
    )
    program.chmod(0o755)
    for name in MAPS:
        path = folder / "Maps" / "Melee" / f"{name}.SC2Map"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder
