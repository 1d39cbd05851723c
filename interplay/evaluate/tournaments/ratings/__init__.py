"""Ratings from wins and losses: Bradley and Terry on Elo's scale, openskill, alpha-rank, and standings with intervals."""
