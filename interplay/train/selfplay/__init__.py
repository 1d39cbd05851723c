"""Who plays in a run beside the networks that learn: past selves, opponents, populations by turns, and ratings against them."""
