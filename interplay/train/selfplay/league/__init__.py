"""A league inside of a run: players, who meets whom, what came of it (specification interfaces 11)."""
