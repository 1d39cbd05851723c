"""Doors to the neighbours (PettingZoo, Stable-Baselines3), one file each."""
