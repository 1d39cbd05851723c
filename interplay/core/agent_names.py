"""Patterns of agents' names."""

from __future__ import annotations

from fnmatch import fnmatchcase


def fits_pattern(agent: str, pattern: str) -> bool:
    """Whether a name matches a shell pattern; brackets match themselves if the name contains brackets.

    Example:
        >>> [fits_pattern(agent, "robot[1]") for agent in ("robot[1]", "robot1", "robot[2]")]
        [True, True, False]
        >>> fits_pattern("red[0].arm", "red[*].arm")
        True
    """
    literal = pattern.replace("[", "[[]") if "[" in agent else pattern
    return fnmatchcase(agent, literal)
