"""Objective, learning rate, steps, checkpoints and runs; it prints nothing and decides little."""
