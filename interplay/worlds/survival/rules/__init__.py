"""The rules of the survival world, phase by phase; `step.py` lists them."""
