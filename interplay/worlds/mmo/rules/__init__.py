"""The rules of the persistent world, phase by phase; `tick` lists them in order."""
