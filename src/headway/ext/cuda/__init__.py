"""GPUs of NVIDIA: kernels that torch compiles, steps that are recorded and replayed, and a search in tensors of fixed shapes."""

from headway import __version__
from headway.extension import Extension

extension = Extension(
    name="cuda",
    version=__version__,
    operations={"cuda": f"{__name__}.gpu_operations:GpuOperations"},
    engines={"cuda": f"{__name__}.fixed_engine:make_fixed_engine"},
    gradients={"cuda": f"{__name__}.recorded_gradient:RecordedGradient"},
)
