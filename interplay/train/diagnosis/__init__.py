"""Why a run does not learn: measurements of its samples, rules over its log, and the warnings that follow."""
