"""Constituency parsing (paper: section 6.3): trees as training data, and a model as a parser."""
