"""Native functions for the slow parts on a processor, from the wheel or compiled at first use.

`headway.model.ops` has plain versions of the operations, and `headway.translation` a plain engine. They have the same
results, which tests check, and run where there is no native code.
"""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.native.library import compile_native
    from headway.ext.native.variants import read_processor

__all__ = ["compile_native"]

extension = Extension(
    name="native",
    version=__version__,
    names={"compile_native": f"{__name__}.library:compile_native"},
    operations={"cpu": f"{__name__}.native_operations:NativeOperations"},
    engines={"cpu": f"{__name__}.native_engine:make_native_engine"},
    preparations={"cpu": f"{__name__}.library:prepare"},
    shortlist=f"{__name__}.shortlist:load_shortlist",
    sidecars={"shortlist.safetensors": "model"},
    end_steps={"shortlist": f"{__name__}.learned_shortlist"},
    arithmetic=f"{__name__}.library:build_id",
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
