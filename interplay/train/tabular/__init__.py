"""Tabular trainers for one simulation under a manager."""
