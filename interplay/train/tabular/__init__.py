"""Trainers for one simulation under a manager: policies, episodes, tables, and a look at what happens in an episode."""
