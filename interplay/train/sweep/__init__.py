"""Sweeps: runs that differ in some settings, each trained exactly once in a pool of processes."""

from interplay.train.sweep.plan import PlannedRun, SweepSettings, plan
from interplay.train.sweep.sweep import SweepResult, resume_sweep, sweep

__all__ = ["PlannedRun", "SweepResult", "SweepSettings", "plan", "resume_sweep", "sweep"]
