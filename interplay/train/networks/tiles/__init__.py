"""Networks of tiles, for the persistent world."""
