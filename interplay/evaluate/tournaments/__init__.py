"""Tournaments: round robins in any world and merges of populations, kept in folders that can be resumed."""
