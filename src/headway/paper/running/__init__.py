"""How experiments train: jobs, trials that are kept, worker processes, text and scales."""
