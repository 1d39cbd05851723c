"""The run on disk and in time: its folder, checkpoints, log, and what is counted."""
