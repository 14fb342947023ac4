"""Small functions that carry the time: a native body, compiled on first use, beside a plain twin.

Each native function has a plain torch twin with the same signature, which a test compares and which
works where there is no compiler. Nothing here knows what a model is.
"""
