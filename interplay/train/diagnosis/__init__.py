"""Finds why a run does not learn: measurements of samples, rules over the log, warnings."""
