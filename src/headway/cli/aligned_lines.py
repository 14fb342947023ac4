"""Files whose lines belong together: line n of one to line n of the others."""

from typing import Any

from headway.errors import HeadwayError


def read_parallel_files(*names: str | None) -> list[Any]:
    """Return the lines of each file, and None for a file that is not given.

    Raises:
        HeadwayError: If a file has another number of lines than the first, or two are standard input.
    """
    from headway.text.lines import check_read_once, read_lines

    check_read_once(names)
    files: list[Any] = [name and list(read_lines(name)) for name in names]
    for name, lines in zip(names, files, strict=True):
        if name and len(lines) != len(files[0]):
            raise HeadwayError(
                f"{names[0]} has {len(files[0])} lines, but {name} has {len(lines)}:"
                " line n of one must belong to line n of the other"
            )
    return files
