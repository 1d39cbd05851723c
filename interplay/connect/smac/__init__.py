"""Battles for code of the StarCraft Multi-Agent Challenge: three interfaces of one environment (specification 5).

`StarCraft2Env` is that of SMAC and PyMARL, `EPyMARLEnv` that of EPyMARL, `MAPPOEnv` that of the on-policy MAPPO code. They take the
keyword arguments of SMAC's constructor and refuse by name one that is not supported. Rules and rewards are those of `battle/...`.
"""

from interplay.connect.smac.epymarl import EPyMARLEnv
from interplay.connect.smac.mappo import MAPPOEnv
from interplay.connect.smac.pymarl import StarCraft2Env

__all__ = ["EPyMARLEnv", "MAPPOEnv", "StarCraft2Env"]
