"""Instruments for the survival world: actions and events of its agents, step by step."""
