"""The command line: one file per verb; everything heavy is imported inside the verb that needs it.

The four verbs of an experiment are functions of its dictionary, too::

    from interplay.cli import analyze, debug, train, visualize

so their files are called otherwise: `training`, `experiments`, `analyzing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interplay.experiment.verbs import analyze, debug, train, visualize

__all__ = ["analyze", "debug", "train", "visualize"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from interplay.core.loading import load

        return load(f"interplay.experiment.verbs:{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
