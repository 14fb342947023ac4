"""Native functions for the slow parts, from the wheel or compiled at first use, each beside a plain version in torch.

A plain version has the same result, which a test checks. It runs where there is no native code. Nothing here knows what a model is.
"""

from headway.kernels.library import compile_native

__all__ = ["compile_native"]
