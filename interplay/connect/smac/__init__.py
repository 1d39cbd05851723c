"""Battles as code for the StarCraft Multi-Agent Challenge knows them: three faces of one environment (specification 5).

`StarCraft2Env` is that of SMAC and PyMARL, `EPyMARLEnv` that of EPyMARL, `MAPPOEnv` that of the on-policy MAPPO code. They take the keyword
arguments of SMAC's constructor; one that cannot be honoured is refused by name. What they see, do and earn is `battle/...`'s own.
"""

from interplay.connect.smac.epymarl import EPyMARLEnv
from interplay.connect.smac.mappo import MAPPOEnv
from interplay.connect.smac.pymarl import StarCraft2Env

__all__ = ["EPyMARLEnv", "MAPPOEnv", "StarCraft2Env"]
