"""Matches, metrics and ratings; no jax here."""
