"""The verbs of other kinds of model."""
