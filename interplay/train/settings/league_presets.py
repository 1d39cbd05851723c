"""Leagues by name: self-play, prioritised self-play, response oracles, exploiters (specification interfaces 11.2)."""

from __future__ import annotations

from typing import Any

_PFSP = {"by": "pfsp", "share": 0.5}

PRESETS: dict[str, dict[str, Any]] = {
    # Against itself alone; copies are kept for inspection.
    "latest": {"learners": {"main": {"meets": [{"by": "self"}]}}},
    # Four matches of five against itself, one against an earlier copy.
    "history": {
        "learners": {"main": {"meets": [{"by": "self", "share": 0.8}, {"by": "uniform", "share": 0.2}]}}
    },
    "pfsp": {"learners": {"main": {"meets": [{"by": "self", "share": 0.5}, _PFSP]}}},
    # Each period a new learner best-responds to the equilibrium of the earlier ones.
    "psro": {
        "learners": {
            "main": {
                "meets": [
                    {"by": "latest", "share": 0.2},
                    {"by": "uniform", "share": 0.2},
                    {"by": "nash", "share": 0.6},
                ],
                "restart_after": 1,
            }
        }
    },
    # Vinyals et al. 2019: exploiters learn to beat the main agent, or all players, and restart.
    "exploiters": {
        "learners": {
            "main": {"meets": [{"by": "self", "share": 0.35}, {"by": "pfsp", "share": 0.65}]},
            "main_exploiter": {
                "meets": [
                    {"by": "current", "among": ["main"], "share": 0.5},
                    {"by": "pfsp", "among": ["main"], "priority": "variance", "share": 0.5},
                ],
                "restart_after": 8,
                "restart_above": 0.7,
            },
            "league_exploiter": {
                "meets": [{"by": "pfsp", "priority": "half"}],
                "restart_after": 8,
                "restart_above": 0.7,
            },
        }
    },
}
