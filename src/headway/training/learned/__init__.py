"""What a run learns at its end, besides the weights."""
