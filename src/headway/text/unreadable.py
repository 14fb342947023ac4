"""Text of which too much cannot be read: the reading stops, and the message says what to do."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TypeVar

from headway.errors import HeadwayError
from headway.text.encodings import likely_encoding
from headway.text.lines import Damaged
from headway.text.readers import FileForm

FEW = 3  # unreadable lines that never stop the reading
INTERVAL = 10_000  # pairs after which their share is compared with the limit again
T = TypeVar("T")


def require_readable(
    pairs: Generator[T | Damaged],
    languages: tuple[str, str],
    form: FileForm,
    limit: float,
    name: str = "pairs",
) -> Iterator[T | Damaged]:
    """Yield pairs, as long as the share of those that cannot be read stays within a limit.

    Text of other languages than the wanted ones does not count.

    Args:
        pairs: Pairs as `read_pairs` yields them, or lines; they are closed.
        languages: Codes of source and target, which suggest an encoding for the message.
        form: How the files were read.
        limit: The largest share of pairs that may be unreadable; 0: the first one is an error.
        name: What a message calls them.

    Raises:
        HeadwayError: If the share is larger; it names the first unreadable line and the way out.
    """
    read = unreadable = 0
    first: Damaged | None = None
    with closing(pairs):
        for pair in pairs:
            if isinstance(pair, Damaged) and pair.is_elsewhere:
                yield pair
                continue
            read += 1
            if isinstance(pair, Damaged):
                unreadable += 1
                first = first or pair
                if not limit:
                    raise HeadwayError(f"{pair.error()}{_advise(pair, languages, form)}")
            if not read % INTERVAL:
                _check_share(read, unreadable, first, languages, form, limit, name)
            yield pair
    _check_share(read, unreadable, first, languages, form, limit, name)


def _check_share(
    read: int,
    unreadable: int,
    first: Damaged | None,
    languages: tuple[str, str],
    form: FileForm,
    limit: float,
    name: str,
) -> None:
    if first and limit and unreadable > limit * read + FEW:
        raise HeadwayError(
            f"{first.file}: {unreadable:,} of {read:,} {name} cannot be read; the first is in line"
            f" {first.line}: {first.reason}{_advise(first, languages, form)}"
        )


def _advise(damaged: Damaged, languages: tuple[str, str], form: FileForm) -> str:
    """Return the way out of text that is in another encoding, or an empty string."""
    if not damaged.is_foreign:
        return ""
    if form.encoding:
        return ": give its own --encoding, or convert it to UTF-8"
    return f": if it is {likely_encoding(languages)}, give --encoding {likely_encoding(languages)}"
