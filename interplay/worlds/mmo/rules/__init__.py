"""The rules of the persistent world, phase by phase; `tick` is their table of contents."""
