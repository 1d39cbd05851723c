"""The survival world once more: slow, obvious, one world, plain Python. The twin that the fast world must equal."""

from .settings import Rewards, Settings, demo, fanti2022
from .world import SurvivalTwin

__all__ = ["Rewards", "Settings", "SurvivalTwin", "demo", "fanti2022"]
