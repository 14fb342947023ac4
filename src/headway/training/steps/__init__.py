"""The optimizer steps of a model: loss, gradients, optimizers, rates, and the order of the data; no files."""
