"""MultiCorridor: agents in a corridor learn to walk to its right end without bumping into each other (manual 6.1)."""
