"""Ratings from who beat whom: Bradley and Terry on Elo's scale, openskill, alpha-rank, and standings with intervals."""
