"""Two-dimensional rigid-body worlds: bodies, contacts, sight, and simulations of groups and modules."""
