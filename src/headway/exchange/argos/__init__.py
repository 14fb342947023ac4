"""Argos Translate packages: written, run and read."""
