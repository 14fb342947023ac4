"""Native functions for the slow parts, from the wheel or compiled at first use, and kernels that torch compiles for a GPU.

`headway.model.ops` has plain versions of the operations of a model. They have the same results, which tests check, and run
where there is no native code.
"""

from headway.kernels.library import compile_native

__all__ = ["compile_native"]
