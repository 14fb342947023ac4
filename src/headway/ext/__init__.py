"""Headway's own extensions: each is a package that stands on the public names of the others."""
