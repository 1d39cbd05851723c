"""Trained policies in play: one agent at a time or all populations."""
