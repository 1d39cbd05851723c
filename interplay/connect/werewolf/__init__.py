"""Werewolf's own adapters: the original's wrappers and spaces, and agents named by role.

``EvaluatedEnv(MaskedEnv(make_written("werewolf/9-l1s9")))`` is the original's stack: base, mask wrapper, evaluation wrapper. All
other adapters (`interplay.make`, `to_aec`, `world_to_rllib`, `SB3VecEnv`, OpenSpiel) take werewolf like any world.
"""

from interplay.connect.werewolf.evaluated import EvaluatedEnv, read_log
from interplay.connect.werewolf.masked import MaskedEnv
from interplay.connect.werewolf.named import RoleNamedEnv, make_role_named
from interplay.connect.werewolf.written import WrittenEnv, make_written

__all__ = [
    "EvaluatedEnv",
    "MaskedEnv",
    "RoleNamedEnv",
    "WrittenEnv",
    "make_role_named",
    "make_written",
    "read_log",
]
