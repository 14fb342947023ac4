"""Native functions for the slow parts, compiled on first use, each beside a twin in plain torch.

A twin has the same signature and result. A test compares the two, and the twin runs where there is
no compiler. Nothing here knows what a model is.
"""

from headway.kernels.build import compile_native

__all__ = ["compile_native"]
