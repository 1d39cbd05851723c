"""Interfaces for Pommerman, made of the raw keys alone (specification games 3.5 and interfaces 10)."""
