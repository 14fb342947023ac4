"""What a model reads of a line: segments, and phrases in the place of what stays as it is."""
