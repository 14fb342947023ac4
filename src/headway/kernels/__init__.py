"""Native functions for the slow parts, compiled on first use, each beside a plain version in torch.

A plain version has the same result, which a test checks. It runs where there is no compiler. Nothing here knows what a model is.
"""

from headway.kernels.build import compile_native

__all__ = ["compile_native"]
