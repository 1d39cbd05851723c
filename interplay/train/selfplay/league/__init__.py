"""A league inside a run: players, matchmaking, results (specification interfaces 11)."""
