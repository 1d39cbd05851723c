"""Scripted players: their knowledge and their choices."""
