"""The memory that reading a file takes."""

import tracemalloc


def peak(path, read):
    """Return the number of items that were read and the peak of memory, in bytes."""
    tracemalloc.start()
    try:
        return read(path), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
