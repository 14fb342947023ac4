"""How experiments train: trials that are kept, worker processes, text and scales."""
