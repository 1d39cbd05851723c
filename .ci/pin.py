"""Prints constraints.txt: the version of every package that `interplay[all]` pulls in, as installed here.

.venv/bin/python .ci/pin.py > constraints.txt
"""

import re
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BUILD = ("pip", "interplay")  # what makes the environment, and ourselves


def closure(name: str, extras: frozenset[str], found: dict[str, frozenset[str]]) -> None:
    """Adds to `found` every installed distribution that `name[extras]` needs."""
    name = canonicalize_name(name)
    known = found.get(name)
    if known is not None and extras <= known:
        return
    try:
        requirements = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return  # another platform's dependency
    found[name] = (known or frozenset()) | extras
    for text in requirements:
        requirement = Requirement(text)
        wanted = found[name] or frozenset({""})
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": e}) for e in {"", *wanted}
        ):
            closure(requirement.name, frozenset(requirement.extras), found)


def main() -> None:
    found: dict[str, frozenset[str]] = {}
    closure("interplay", frozenset({"all"}), found)
    print(
        f"# Pinned by `.ci/pin.py` on Python {sys.version_info.major}.{sys.version_info.minor}; see CONTRIBUTING.md."
    )
    for name in sorted(set(found) - set(BUILD)):
        # A local label (torch 2.13.0+cpu) names a build, not a version anybody can install by name.
        version = re.sub(r"\+.*", "", metadata.version(name))
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
