"""The rules of grid worlds: kernels over the board, each for one agent or for all worlds of a batch."""
