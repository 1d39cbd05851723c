"""Scripted players: what they know, how they choose, whom they follow."""
