"""Constituency parsing (paper: section 6.3): trees as training data, and a trained model as a parser."""
