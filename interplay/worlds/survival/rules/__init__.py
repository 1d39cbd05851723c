"""The rules of the survival world, phase by phase; `step.py` is their table of contents."""
