"""Interfaces that suit any environment: history, counters, frames, shapes, vectors (specification interfaces 10)."""
