"""Training: PPO on batches of worlds, built from fixed shards, resumable bit for bit."""
