"""Instruments for the survival world: what its agents do, step by step, and what is found in it."""
