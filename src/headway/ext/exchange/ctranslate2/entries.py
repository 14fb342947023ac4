"""The entries of a CTranslate2 vocabulary, put into Headway's order.

The order is ``<unk>``, ``</s>``, the other entries, and at the end ``<pad>``: the entry from which the
decoder starts. If the decoder starts from an ordinary entry, or from none, an entry is added that no
text is split into and that is never generated.

Shapes: V vocabulary, D d_model.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.json_file import MAX_JSON_BYTES, read_json
from headway.ext.exchange.vocabulary_order import ADDED, Order, make_order
from headway.text import PAD

MAX_ENTRIES = 300_000


def read_entries(directory: Path, side: str) -> list[str]:
    """Read a vocabulary, as JSON or as lines, for both sides or for one.

    Args:
        directory: The model directory.
        side: ``source`` or ``target``.

    Raises:
        HeadwayError: Naming the file that is missing or damaged.
    """
    for name in ("shared", side):
        file = directory / f"{name}_vocabulary.json"
        if file.is_file():
            entries = read_json(file)
            break
        file = directory / f"{name}_vocabulary.txt"
        if file.is_file():
            if file.stat().st_size > MAX_JSON_BYTES:
                raise HeadwayError(f"{file}: larger than {MAX_JSON_BYTES} bytes")
            text = file.read_text("utf-8", "replace").removesuffix("\n")
            entries = text.split("\n", MAX_ENTRIES)
            break
    else:
        raise HeadwayError(f"{directory}: no shared_vocabulary.json, and no {side}_vocabulary.json")
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise HeadwayError(f"{file}: must be a list of strings")
    if len(entries) > MAX_ENTRIES:
        raise HeadwayError(f"{file}: has more than {MAX_ENTRIES:,} entries")
    if len(set(entries)) != len(entries):
        raise HeadwayError(f"{file}: holds an entry twice")
    return entries


def find_start(
    settings: Mapping[str, Any], target: list[str], table: Tensor, is_zero: bool, file: Path
) -> tuple[str, int]:
    """Find out how the decoder starts.

    Args:
        settings: The content of ``config.json``.
        target: The entries of the target.
        table: Their embeddings, [V, D].
        is_zero: Whether the decoder starts from the zero vector.
        file: The file of the settings, for messages.

    Returns:
        The entry that becomes ``<pad>``, or an empty string if one has to be added; and the row of `target`
        from which the decoder starts, or `ADDED` for the zero vector.

    Raises:
        HeadwayError: If the caller of the model chooses the start, or it is no entry.
    """
    name = settings.get("decoder_start_token", settings.get("bos_token", "<s>"))
    if not isinstance(name, str):
        raise HeadwayError(
            f"{file}: decoder_start_token = {name!r}: the caller of a multilingual model chooses the"
            " start, which Headway does not support"
        )
    if is_zero:
        is_pad = target[-1] in (name, PAD) and not table[-1].any()
        return target[-1] if is_pad else "", ADDED
    if name not in target:
        raise HeadwayError(f"{file}: decoder_start_token = {name[:40]!r} is not in the vocabulary")
    return name if name != "</s>" else "", target.index(name)


def find_order(entries: list[str], settings: Mapping[str, Any], pad: str, directory: Path) -> Order:
    """Return a vocabulary in Headway's order.

    Args:
        entries: The original's, in the order of its ids.
        settings: The content of ``config.json``.
        pad: The result of `find_start`.
        directory: The model directory, for messages.

    Raises:
        HeadwayError: If there is no entry for unknown text or for the end.
    """
    row_of = {name: row for row, name in enumerate(entries)}
    first = [settings.get("unk_token", "<unk>"), settings.get("eos_token", "</s>")]
    for name in first:
        if not isinstance(name, str) or name not in row_of:
            raise HeadwayError(f"{directory}: the vocabulary has no {name!r:.40}")
    # The source may not have the entry from which the decoder starts.
    return make_order(entries, row_of[first[0]], row_of[first[1]], row_of.get(pad, ADDED))
