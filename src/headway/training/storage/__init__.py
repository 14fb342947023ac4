"""What a run keeps on a disk: settings, checkpoints, logs, models and their cards."""
