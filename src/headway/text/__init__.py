"""Files to batches: readers, cleaning, subwords, shards on disk, and the order of training."""
