"""From what a user asks for to a run: a new one, one that goes on, or one that starts from a model."""
